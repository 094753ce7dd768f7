"""The verifier on valid schedules, and on schedules that differ from a valid one in one place."""

import re
from dataclasses import replace

import numpy as np
import pytest

from certree.models.network.spec import parse_topology
from certree.verify.checker import verify_schedule
from tests.verify.build import COPY, PATH_ROWS, REDUCE, build, chain_all_reduce, network, path_all_reduce


def test_a_right_schedule_is_valid_and_its_quality_recomputed() -> None:
    verdict = verify_schedule(path_all_reduce())
    quality = verdict.quality
    assert verdict.valid
    assert quality is not None
    assert (quality.bandwidth_time, quality.bandwidth_bound, quality.latency_steps, quality.latency_bound) == (2, 1, 2, 2)
    assert (quality.optimal_in, quality.gap) == (("latency",), {"bandwidth": 1, "latency": 0})
    assert [bound["quantity"] for bound in quality.witnesses] == ["bandwidth", "latency"]


def test_a_schedule_for_another_topology_is_refused() -> None:
    schedule = path_all_reduce()
    assert verify_schedule(schedule, topology=parse_topology("mesh:1x3")).valid
    for other in ("ring:3", "mesh:3x2", "mesh:1x3,capacity=2", "mesh:1x4,without-node=3"):
        verdict = verify_schedule(schedule, topology=parse_topology(other))
        assert [violation.rule for violation in verdict.violations] == ["topology"]


@pytest.mark.parametrize("delay", [1, 2, 3, 7])
def test_delay_boundary(delay: int) -> None:
    """Every transfer but the first waits for the one before."""
    schedule = chain_all_reduce(delay)
    assert verify_schedule(schedule).valid
    for row in range(1, 6):
        early = replace(schedule, step=schedule.step - (np.arange(6) == row))
        violation = verify_schedule(early).violations[0]
        assert (violation.rule, violation.rows) == ("causality", (row, row - 1))


def test_many_violations_are_counted_and_the_earliest_listed() -> None:
    rows = [(0, REDUCE, 50 - step, 0, 2) for step in range(50)]
    verdict = verify_schedule(build("mesh:1x3", "all-reduce", [*rows, *PATH_ROWS]))
    links = [violation for violation in verdict.violations if violation.rule == "link"]
    assert verdict.counts["link"] == 50
    assert [violation.rows for violation in links] == [(49 - place,) for place in range(20)]
    steps = [int(re.search(r"step (\d+)", violation.message)[1]) for violation in links]  # type: ignore[index]
    assert steps == sorted(steps)


def test_names_from_files_stay_on_one_line() -> None:
    schedule = path_all_reduce("0>2")
    named = replace(schedule, topology=replace(schedule.topology, name="a\nname\t" + "x" * 500))
    for verdict in (
        verify_schedule(named),
        verify_schedule(schedule, topology=replace(parse_topology("ring:3"), name="two\nlines")),
    ):
        assert all("\n" not in violation.message and len(violation.message) < 500 for violation in verdict.violations)


def test_capacity_beyond_64_bits_is_no_less() -> None:
    """Parallel links of 2^33 and 2^34 chunks a round, in a step of 2^30 rounds."""
    for links in (1 << 13, 1 << 14):
        wide = network("ee", [(0, 1, 1 << 20)] * links + [(1, 0, 1)])
        assert verify_schedule(build(wide, "all-gather", "0>1", roots=[0], rounds=[1 << 30])).valid


def test_a_long_history_is_searched_once() -> None:
    """Forty thousand copies that change nothing: refused in a second, where a search from the start for each took minutes."""
    ring = parse_topology("ring:8")
    rows = [(0, COPY, step, int(ring.src[step % 16]), int(ring.dst[step % 16])) for step in range(40_000)]
    verdict = verify_schedule(build(ring, "all-reduce", rows))
    assert verdict.counts == {"missing": 8}


def test_on_a_direct_network_every_node_forwards() -> None:
    for rows, counts in (("0>2; 0>1", {}), ("0>2 0>1", {"capacity": 1})):
        passing = build("mesh:1x3", "all-gather", rows, roots=[0], route=[0, -1], routes=((0, 2),))
        assert verify_schedule(passing).counts == counts
