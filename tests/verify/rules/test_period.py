"""Repeating schedules: collisions across iterations, told from stage and residue, and what the period is worth."""

from fractions import Fraction
from typing import Any

import pytest

from certree.models.schedule.schedule import Schedule
from certree.verify.checker import verify_schedule
from tests.transfers import transfers
from tests.verify.brute import brute_force
from tests.verify.build import COPY, PATH, PATH_ROWS, build, chain_all_reduce


def two_chunks(shift: int, network: str = "mesh:1x3", **fields: Any) -> Schedule:
    """An all-reduce of two chunks, the second `shift` steps behind the first on the same links."""
    return build(network, "all-reduce", PATH_ROWS + transfers(PATH, chunk=1, later=shift), **fields)


@pytest.mark.parametrize(
    ("shift", "period", "most"),  # iterations `most` + 1 in a row meet: the second chunk of one, the first of that many later
    [(4, 4, 1), (4, 2, 2), (4, 1, 4), (6, 3, 2), (5, 5, 1), (12, 2, 6)],
)
def test_collision_boundary(shift: int, period: int, most: int) -> None:
    assert verify_schedule(two_chunks(shift, period=period, repeats=most)).valid
    verdict = verify_schedule(two_chunks(shift, period=period, repeats=most + 1))
    assert set(verdict.counts) == {"period"}
    assert verdict.violations[0].rows == (0, 4)
    assert f"of iteration {most} (its step 0)" in verdict.violations[0].message
    assert f"step {shift}: link 0>1" in verdict.violations[0].message


@pytest.mark.parametrize(("shift", "period"), [(4, 3), (4, 5), (5, 2), (7, 3), (2, 3)])
def test_residues_apart_never_collide(shift: int, period: int) -> None:
    verdict = verify_schedule(two_chunks(shift, period=period, repeats=10**6))
    assert verdict.valid
    assert verdict.quality is not None
    assert verdict.quality.bandwidth_time == Fraction(period, 2)


def test_capacity_is_shared_among_overlapping_iterations() -> None:
    assert verify_schedule(two_chunks(4, "mesh:1x3,capacity=2", period=2, repeats=1000)).valid
    three = [row for k in range(3) for row in transfers(PATH, chunk=k, later=4 * k)]
    for repeats, valid in ((4, True), (5, False)):
        schedule = build("mesh:1x3,capacity=2", "all-reduce", three, period=2, repeats=repeats)
        assert verify_schedule(schedule).valid == valid == brute_force(schedule).clean


def test_a_step_too_full_by_itself_is_a_matter_of_capacity() -> None:
    assert set(verify_schedule(two_chunks(0, period=5, repeats=3)).counts) == {"capacity"}


def test_iterations_do_not_meet_in_cells() -> None:
    """Steps far beyond the period: a node holds several iterations of a chunk number at once, each in its own chunk."""
    schedule = chain_all_reduce(3, period=1, repeats=20)
    assert verify_schedule(schedule).valid
    assert brute_force(schedule).clean


@pytest.mark.parametrize("repeats", [1, 2, 10**6])
def test_a_period_that_lasts_is_what_counts(repeats: int) -> None:
    quality = verify_schedule(two_chunks(3, period=2, repeats=repeats)).quality
    assert quality is not None
    assert (quality.bandwidth_time, quality.bandwidth_bound) == (Fraction(1), Fraction(1))
    assert quality.optimal_in == ("bandwidth",)


def test_a_period_that_cannot_last_is_worth_nothing() -> None:
    """Valid for few repeats, but no message grows on it: the bound cannot be beaten by stating a short period."""
    for repeats in (1, 2, 3, 4):
        quality = verify_schedule(two_chunks(4, period=1, repeats=repeats)).quality
        assert quality is not None
        assert quality.bandwidth_time == Fraction(5 + repeats, 2 * repeats) > quality.bandwidth_bound == 1
    assert not verify_schedule(two_chunks(4, period=1, repeats=5)).valid


def test_many_chunks_and_repeats_are_not_expanded() -> None:
    """100,000 rows, a million iterations: 10^11 transfers, verified on one period."""
    rows = [(k, op, k % 1000 + 1000 * (op == COPY), src, dst) for k in range(25_000) for _, op, _, src, dst in PATH_ROWS]
    for capacity, valid in ((25, True), (24, False)):
        schedule = build(f"mesh:1x3,capacity={capacity}", "all-reduce", rows, period=1000, repeats=10**6)
        assert verify_schedule(schedule).valid == valid
