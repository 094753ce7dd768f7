"""What networks are built of, counted by hand."""

from dataclasses import replace
from fractions import Fraction

import pytest

from certree.extras.costs.model.hardware import Hardware, hardware_of, prices_from_shares
from certree.models.common.errors import InputError
from certree.models.machine.machine import load_machine
from certree.models.network.spec import parse_topology

MACHINE = load_machine("switch-fc")


def test_a_package_on_two_local_switches() -> None:
    """Two nodes, each with a cable of two lanes to each of two switches, 90 cycles long."""
    network = parse_topology("switch-fc:2x2")
    lanes = 2 * 2 * 2 * 2  # nodes x switches x directions x width
    found = hardware_of(network, MACHINE)
    assert found == Hardware(
        wires=lanes * 90,
        buffers=(lanes + 2 * 4) * 2 * 5000,  # behind each lane, and behind the four of each node's interfaces
        crosspoints=2 * 8 * 8 + 2 * 4 * 4,
        endpoints=2,
    )
    shared = replace(MACHINE, router=replace(MACHINE.router, interfaces="node"))
    assert hardware_of(network, shared).crosspoints == 2 * 5 * 5 + 2 * 4 * 4


def test_wires_without_a_stated_length_have_the_machines() -> None:
    assert hardware_of(parse_topology("ring:3"), MACHINE).wires == 6 * 90


def test_prices_by_shares() -> None:
    found = Hardware(10, 20, 30, 4)
    shares = {"wires": Fraction(1, 2), "buffers": Fraction(1, 4), "crosspoints": Fraction(1, 4), "endpoints": Fraction(0)}
    prices = prices_from_shares(found, shares)
    assert prices["wires"] == Fraction(1, 20)
    assert found.price(prices) == 1
    assert Hardware(20, 20, 30, 9).price(prices) == Fraction(3, 2)
    with pytest.raises(InputError, match="wires cannot have a share of 1/2: the network has none"):
        prices_from_shares(Hardware(0, 20, 30, 4), shares)
