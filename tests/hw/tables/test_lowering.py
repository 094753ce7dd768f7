"""Lowering: the rows execute the schedule, and schedules that rows cannot represent are refused."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certree.hw.tables.lowering import lower
from certree.models.common.errors import InputError
from certree.models.network.routing import routes_between
from certree.models.schedule.collective import CollectiveKind, parse_collective
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import NO_ROOT
from certree.models.schedule.timing import slot_timing, slotted
from certree.models.tables.table_columns import NIL, Profile, RowOp
from certree.models.tables.table_form import require_sound
from tests.drawn import examples
from tests.hw.trees import MULTITREE, schedules, tree_schedule
from tests.models.examples import schedule as schedule_of
from tests.transfers import transfers

ALL_REDUCE = parse_collective("all-reduce")


def by_hand(spec: str, rows: str, **fields: int) -> Schedule:
    found = transfers(rows)
    return schedule_of(spec, "all-reduce", [NO_ROOT] * (1 + max(row[0] for row in found)), found, **fields)


def table_of(tables, node: int) -> list[tuple]:
    return [
        (
            RowOp(tables.op[row]).name,
            int(tables.flow[row]),
            int(tables.parent[row]),
            [child for child in tables.children[row].tolist() if child != NIL],
            int(tables.step[row]),
        )
        for row in np.flatnonzero(tables.node == node)
    ]


def test_rows_of_a_tree_by_hand():
    # Root 0 of ring:4 with children 1 and 3; 2 hangs below 1. The root serves its children in different steps.
    schedule = by_hand("ring:4", "2+1 3+0; 1+0; 0>1; 0>3 1>2")
    tables = lower(schedule, 64, MULTITREE)
    assert table_of(tables, 0) == [("GATHER", 0, NIL, [1], 2), ("GATHER", 0, NIL, [3], 3)]
    assert table_of(tables, 1) == [("REDUCE", 0, 0, [2], 1), ("GATHER", 0, 0, [2], 3)]
    assert table_of(tables, 2) == [("REDUCE", 0, 1, [], 0)]
    assert table_of(tables, 3) == [("REDUCE", 0, 0, [], 0)]
    arrivals = zip(tables.arrival_node, tables.arrival_op, tables.arrival_flow, tables.arrival_peer, strict=True)
    expected = [(0, 1, 0, 1), (0, 1, 0, 3), (1, 1, 0, 2), (1, 2, 0, 0), (2, 2, 0, 1), (3, 2, 0, 0)]
    assert [tuple(map(int, arrival)) for arrival in arrivals] == expected
    assert tables.schedule.digest == schedule.digest == tables.schedule_digest


def test_children_served_in_one_slot_share_a_row():
    schedule = by_hand("ring:3", "1+0 2+0; 0>2 0>1")
    assert table_of(lower(schedule, 64, MULTITREE), 0) == [("GATHER", 0, NIL, [1, 2], 1)]


@given(schedules(routed=True), st.integers(1, 10**7))
@examples(60)
def test_the_rows_execute_the_schedule(schedule: Schedule, size: int):
    tables = lower(schedule, size, MULTITREE)
    require_sound(tables)
    assert tables.schedule.digest == tables.schedule_digest == schedule.digest
    timing = slot_timing(schedule, size, MULTITREE)
    assert (tables.slot_cycles, tables.chunk_bytes) == (timing.slot_cycles, timing.chunk_bytes)
    granules = timing.chunk_bytes // MULTITREE.flit_bytes
    assert (tables.size == granules).all()
    assert (tables.addr == tables.flow * granules).all()


def test_long_steps_become_unit_rounds():
    base = tree_schedule("ring:4", CollectiveKind.ALL_REDUCE, 2, delay=1, repeats=1, seed=1)
    long = replace(base, rounds=np.full(base.steps, 2, np.int32))
    lowered, spread = lower(long, 4096, MULTITREE).schedule, slotted(long, 4096, MULTITREE)[0]
    assert (spread.rounds == 1).all()
    assert spread.delay > 1
    for name in ("chunk", "op", "step", "src", "dst"):
        order = np.lexsort((spread.dst, spread.src, spread.chunk, spread.op, spread.step))
        assert (getattr(lowered, name) == getattr(spread, name)[order]).all()


@pytest.mark.parametrize("rows", ["1+0; 1+2", "3:0>1; 3:2>1", "0+1 0+1", "0+1 1+0", "0+1; 2>1"])
def test_other_forms_than_trees_get_counted_rows(rows):
    """Two REDUCE or two GATHER of a chunk, sums that nobody passes on, and neighbours that exchange sums."""
    tables = lower(by_hand("ring:3", rows), 64, MULTITREE)
    assert (tables.profile, tables.is_counted) == (Profile.BUFFERS, True)


def test_each_destination_on_a_route_has_a_row():
    """Node 0 of ring:5 copies to its neighbours 1 and 4 and over 1 and 4 to 2 and 3, all in one step."""
    schedule = by_hand("ring:5,capacity=2", "0>1 0>2 0>3 0>4")
    route, routes = routes_between(schedule.topology, schedule.src, schedule.dst)
    tables = lower(replace(schedule, route=np.where(route < 0, route, route + 1), routes=((0,), *routes)), 64, MULTITREE)
    assert [(children, int(index)) for (*_, children, _), index in zip(table_of(tables, 0), tables.route, strict=True)] == [
        ([1, 4], NIL),
        ([2], 0),
        ([3], 1),
    ]
    assert tables.routes == routes  # the route that nobody takes is gone
    require_sound(tables)
    assert tables.schedule.digest == tables.schedule_digest


def test_roots_that_the_transfers_do_not_show_are_written_down():
    schedule = tree_schedule("ring:4", CollectiveKind.ALL_GATHER, 1, delay=1, repeats=1, seed=2)
    tables = lower(replace(schedule, chunk_root=np.roll(schedule.chunk_root, 1)), 64, MULTITREE)
    assert tables.profile is Profile.BUFFERS
    assert tables.chunk_root is not None
    assert tables.chunk_root.tolist() == [3, 0, 1, 2]


def test_a_transfer_without_link_is_bad_input():
    with pytest.raises(InputError, match="no link"):
        lower(by_hand("ring:4", "0+2"), 64, MULTITREE)


def test_no_bytes_is_bad_input():
    with pytest.raises(InputError, match="0 bytes; allowed: 1 or more"):
        lower(tree_schedule("ring:4", CollectiveKind.ALL_REDUCE, 1, delay=1, repeats=1, seed=3), 0, MULTITREE)
