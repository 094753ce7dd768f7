"""Arithmetic of the numbers in papers that exclude each other, as listed in docs/benchmarks/errata.md."""

from fractions import Fraction

import pytest

from certree.extras.costs.model.formulas.genmodel import load_genmodel


def test_genmodel_figure_9_holds_without_additions_only():
    servers, server = 12, load_genmodel("gentree").server
    ring, cps = 3 * (servers - 1), servers + 1  # accesses of a server, in parts of the vector
    assert round(1 - Fraction(cps, ring), 2) == Fraction(61, 100)
    gamma, delta = server.gamma_seconds_per_float, server.delta_seconds_per_float
    saved = 1 - ((servers - 1) * gamma + cps * delta) / ((servers - 1) * gamma + ring * delta)
    assert round(saved, 2) == Fraction(29, 100)


def test_multitree_reduction_by_81_percent():
    assert round(1 / (1 - Fraction(81, 100)), 1) == Fraction("5.3")


def test_ace_resnet_iterations():
    computing = 3 * 32 * Fraction("4.09e9") / (65536 * 700 * 10**6)
    assert round(1000 * computing, 1) == Fraction("8.6")
    assert round(Fraction(9) / Fraction("2.71"), 1) == Fraction("3.3")
    iterations = Fraction("61.5") / Fraction("0.009")
    assert round(iterations) == 6833
    assert round(Fraction(1_280_000) / iterations) == 187
    assert round(Fraction(187, 64)) == 3
    assert 1_280_000 // (32 * 64) == 625
    assert round(625 * Fraction("0.009"), 1) == Fraction("5.6")


@pytest.mark.parametrize(
    ("megabytes", "iteration", "ring", "netreduce", "images", "four", "many"),
    [
        (236, "60.62", "47.12", "31.10", "307.5", "7.51", "5.05"),
        (528, "185.08", "111.98", "74.64", "115.2", "7.07", "5.00"),
        (98, "89.19", "23.04", "19.29", "276.0", "6.38", "3.81"),
    ],
)
def test_netreduce_bandwidths(megabytes, iteration, ring, netreduce, images, four, many):
    computing = Fraction(iteration) - Fraction(ring)
    assert round(Fraction(6, 4) * megabytes / Fraction(ring), 2) == Fraction(four)
    left = 1000 * 32 / Fraction(images) - computing
    assert round(Fraction(62, 32) * megabytes / left, 2) == Fraction(many)
    ratio = Fraction(ring) / Fraction(netreduce)
    assert (round(ratio, 1) == Fraction("1.5")) == (megabytes != 98)
