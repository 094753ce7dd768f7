"""Schedules that use a place twice, paced part by part."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from certree.hw.engines.runs import Options
from certree.hw.engines.schedule_run import cuts, parts
from certree.hw.run import run
from certree.hw.tables.lowering import lower
from certree.models.common.errors import UnsupportedError
from certree.models.machine.clocks import Clocks
from tests.hw.made import MULTITREE as MACHINE
from tests.hw.made import made as made_for

SIZE = 96 * 1024


def made(spec, method, **options):
    return made_for(method, spec, SIZE, MACHINE, **options)


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


def paced(schedule, framing="message", **options):
    return run(schedule, Options(mode="paced", framing=framing, **options), message_bytes=SIZE, machine=MACHINE)


def test_what_has_tables_is_one_part():
    """The tables are the same as without cutting."""
    for method in ("ring", "multitree"):
        schedule = made("torus:3x3", method)
        (alone,) = parts(schedule, SIZE, MACHINE)
        assert replace(paced(alone.schedule), parts=1) == run(lower(schedule, SIZE, MACHINE), Options(mode="paced"))


def test_a_barrier_in_a_ring_of_rings():
    """On a square torus all nodes do the same at the same time: two parts, twice the time of one."""
    schedule = made("torus:4x4", "ring-2d")
    result = paced(schedule)
    assert (result.parts, result.data_ok, result.max_link_utilization, result.source) == (2, True, None, "tables")
    assert result.messages == schedule.transfers
    half = replace(
        schedule,
        **{name: getattr(schedule, name)[schedule.step < 6] for name in ("chunk", "op", "step", "src", "dst", "route")},
        rounds=schedule.rounds[:6],
    )
    assert result.cycles == 2 * run(lower(half, SIZE, MACHINE), Options(mode="paced")).cycles
    assert paced(schedule, "packet").cycles > result.cycles
    assert paced(schedule, step_time="exact").data_ok


def test_parts_on_every_engine():
    """Lanes, and routers that add nothing, take the same time; those that do have each part to themselves."""
    schedule = made("torus:3x3", "ring-2d")
    fast, lanes, flit = (paced(schedule, engine=engine) for engine in ("fast", "lanes", "flit"))
    assert (fast.engine, lanes.engine, flit.engine) == ("fast", "lanes", "flit")
    assert fast.cycles == lanes.cycles == flit.cycles
    assert flit.data_ok
    node = replace(MACHINE, router=replace(MACHINE.router, interfaces="node"))
    shared = run(schedule, Options(mode="paced"), message_bytes=SIZE, machine=node)
    alone = [run(part, Options(mode="paced", engine="flit")).cycles for part in parts(schedule, SIZE, node)]
    assert (shared.engine, shared.parts, shared.data_ok, shared.cycles) == ("flit", 2, True, sum(alone))
    with pytest.raises(UnsupportedError, match="the fast engine is not exact with these routers"):
        run(schedule, Options(mode="paced", engine="fast"), message_bytes=SIZE, machine=node)


def test_wrong_data_is_seen():
    schedule = made("torus:3x3", "ring-2d")
    kept = np.arange(schedule.transfers) != np.flatnonzero(schedule.op == 1)[-1]
    lost = replace(schedule, **{name: getattr(schedule, name)[kept] for name in ("chunk", "op", "step", "src", "dst", "route")})
    result = paced(lost)
    assert (result.parts, result.data_ok) == (2, False)


def test_what_is_refused():
    """What cannot be cut either is refused for the reason that holds for the whole."""
    with pytest.raises(UnsupportedError, match="one iteration and of delay 1"):
        list(parts(made("mesh:2x2", "packing", rate="optimal"), SIZE, MACHINE))
    with pytest.raises(UnsupportedError, match="receives it later; only slots keep the two apart"):
        paced(made("hypercube:3", "recursive-doubling"))
    for needs_one_run in ({"in_parts": False}, {"clocks": Clocks.equal(9)}, {"longest_wait": 9}):
        with pytest.raises(UnsupportedError, match="only slots keep the two apart"):
            paced(made("torus:3x3", "ring-2d"), **needs_one_run)
