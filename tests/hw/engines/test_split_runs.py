"""Schedules that use a place twice, paced part by part."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from certree.hw.engines.schedule_run import Plan
from certree.hw.engines.simulator import simulate
from certree.hw.engines.split_runs import cuts, simulate_in_parts, simulate_paced
from certree.hw.tables.lowering import lower
from certree.models.common.errors import UnsupportedError
from certree.models.machine.machine import load_machine
from certree.models.network.spec import parse_topology
from certree.models.schedule.collective import parse_collective
from certree.synth.method import Request, load_methods

MACHINE, SIZE = load_machine("multitree"), 96 * 1024


def made(spec, method, **options):
    request = Request(parse_topology(spec), parse_collective("all-reduce"), SIZE, MACHINE, options=options)
    return load_methods()[method](request)


def conflicts(schedule, before):
    """Whether some place sees a REDUCE after a COPY of an earlier step of the same part: by looking at all pairs."""
    part = np.searchsorted(before, schedule.step, side="right")
    touches = {}
    for row in range(schedule.transfers):
        for node in (schedule.src[row], schedule.dst[row]):
            touches.setdefault((int(node), int(schedule.chunk[row]), int(part[row])), []).append(
                (schedule.step[row], schedule.op[row])
            )
    return any(
        (one[0] < other[0] and one[1] == 1 and other[1] == 0) or (other[0] < one[0] and other[1] == 1 and one[1] == 0)
        for seen in touches.values()
        for one, other in combinations(seen, 2)
    )


@pytest.mark.parametrize(
    ("spec", "expected"), [("torus:3x3", [4]), ("mesh:3x3", [4]), ("torus:2x3", [2, 4]), ("torus:2x2x2", [2, 4])]
)
def test_cuts_are_needed_and_suffice(spec, expected):
    """Two all-reduces of 2·(n - 1) steps each; where the dimensions differ, those that begin with the other one end elsewhere."""
    schedule = made(spec, "ring-2d")
    assert cuts(schedule) == expected
    assert not conflicts(schedule, expected)
    for fewer in combinations(expected, len(expected) - 1):
        assert conflicts(schedule, list(fewer))


def test_what_has_tables_is_one_part():
    """The same run as that of its tables."""
    for method in ("ring", "multitree"):
        schedule = made("torus:3x3", method)
        result = simulate_in_parts(schedule, SIZE, MACHINE)
        alone = simulate(lower(schedule, SIZE, MACHINE), "paced")
        assert (result.parts, result.cycles, result.contention_cycles) == (1, alone.cycles, alone.contention_cycles)
        assert result.data_ok


def test_a_barrier_in_a_ring_of_rings():
    """On a square torus all nodes do the same at the same time: two parts, twice the time of one."""
    schedule = made("torus:4x4", "ring-2d")
    result = simulate_in_parts(schedule, SIZE, MACHINE)
    assert (result.parts, result.data_ok) == (2, True)
    half = replace(
        schedule,
        **{name: getattr(schedule, name)[schedule.step < 6] for name in ("chunk", "op", "step", "src", "dst", "route")},
        rounds=schedule.rounds[:6],
    )
    assert result.cycles == 2 * simulate(lower(half, SIZE, MACHINE), "paced").cycles
    assert simulate_in_parts(schedule, SIZE, MACHINE, "packet").cycles > result.cycles


def test_wrong_data_is_seen():
    schedule = made("torus:3x3", "ring-2d")
    kept = np.arange(schedule.transfers) != np.flatnonzero(schedule.op == 1)[-1]
    lost = replace(schedule, **{name: getattr(schedule, name)[kept] for name in ("chunk", "op", "step", "src", "dst", "route")})
    assert not simulate_in_parts(lost, SIZE, MACHINE).data_ok


def test_what_is_refused():
    with pytest.raises(UnsupportedError, match="one iteration and of delay 1"):
        simulate_in_parts(made("mesh:2x2", "packing", rate="optimal"), SIZE, MACHINE)
    with pytest.raises(UnsupportedError):
        simulate_in_parts(made("hypercube:3", "recursive-doubling"), SIZE, MACHINE)


def test_paced_in_parts_where_need_be():
    """What has tables runs from them; what cannot be cut either is refused for the reason that holds for the whole."""
    ring = Plan.of(made("torus:3x3", "ring-2d"), SIZE, MACHINE)
    result = simulate_paced(ring, "packet")
    assert result == simulate_in_parts(made("torus:3x3", "ring-2d"), SIZE, MACHINE, "packet")
    assert (result.parts, result.max_link_utilization, result.messages) == (2, None, made("torus:3x3", "ring-2d").transfers)
    tree = made("torus:3x3", "multitree")
    tables = lower(tree, SIZE, MACHINE)
    assert simulate_paced(tables) == simulate(tables, "paced")
    whole = replace(simulate_in_parts(tree, SIZE, MACHINE), parts=1)
    assert whole == simulate(tables, "paced")
    with pytest.raises(UnsupportedError, match="receives it later; without tables only slots keep the two apart"):
        simulate_paced(Plan.of(made("hypercube:3", "recursive-doubling"), SIZE, MACHINE))
