"""Tables: what the rows of the interfaces make them do, and the schedule that is read back from them."""

import dataclasses

import numpy as np
import pytest

from certree.models.common.errors import TableFormatError
from certree.models.machine.machine import load_machine
from certree.models.network.spec import parse_topology
from certree.models.schedule.collective import parse_collective
from certree.models.schedule.schedule_columns import NO_ROOT
from certree.models.tables.table_columns import MAX_TABLE_STEPS, NIL, RowOp
from certree.models.tables.tables import Tables
from tests.models.examples import pair_all_reduce, schedule

NOP, REDUCE, GATHER = RowOp


def tables(topology, collective, chunks, rows, **fields):
    """Tables of (node, op, flow, parent, children, step) rows; what this module does not read is filled with nil."""
    width = max(len(row[4]) for row in rows)
    node, op, flow, parent, children, step = zip(*rows, strict=True)
    names = ("arrival_node", "arrival_op", "arrival_flow", "arrival_peer")
    columns = {"node": node, "op": op, "flow": flow, "parent": parent, "step": step, "route": [NIL] * len(rows)}
    columns["children"] = [[*some, *[NIL] * (width - len(some))] for some in children]
    defaults = {"delay": 1, "period": None, "repeats": 1, "message_bytes": 64, "chunk_bytes": 16, "slot_cycles": 160}
    return Tables(
        topology=parse_topology(topology),
        collective=parse_collective(collective),
        machine=load_machine("multitree"),
        chunks=chunks,
        schedule_digest="",
        **(defaults | fields),
        **{name: np.array(values, np.int32) for name, values in (columns | dict.fromkeys(names, ())).items()},
        addr=np.zeros(len(rows), np.int64),
        size=np.ones(len(rows), np.int64),
    )


def test_rows_become_transfers():
    """A REDUCE goes to its parent, a GATHER to each of its children; NOPs and empty fields send nothing."""
    made = tables(
        "ring:3",
        "all-reduce",
        1,
        [(0, GATHER, 0, NIL, [1, 2], 1), (0, NOP, 0, NIL, [], 2), (1, REDUCE, 0, 0, [], 0), (2, REDUCE, 0, 0, [NIL, 1], 0)],
    )
    columns = {name: column.tolist() for name, column in made.transfers().items()}
    assert columns == {
        "row": [2, 3, 0, 0],
        "chunk": [0, 0, 0, 0],
        "op": [0, 0, 1, 1],
        "step": [0, 0, 1, 1],
        "src": [1, 2, 0, 0],
        "dst": [0, 0, 1, 2],
        "route": [-1, -1, -1, -1],
    }
    expected = schedule("ring:3", "all-reduce", [NO_ROOT], [(0, 0, 0, 1, 0), (0, 0, 0, 2, 0), (0, 1, 1, 0, 1), (0, 1, 1, 0, 2)])
    assert made.schedule.digest == expected.digest


def test_delay_period_and_repeats_are_kept():
    made = tables("ring:2", "all-reduce", 1, [(0, GATHER, 0, NIL, [1], 1), (1, REDUCE, 0, 0, [], 0)], delay=2, period=3, repeats=4)
    assert made.schedule.digest == pair_all_reduce(delay=2, period=3, repeats=4).digest


def test_roots_of_an_all_gather_send_without_receiving():
    rows = [(0, GATHER, 0, NIL, [1], 0), (0, GATHER, 1, 1, [2], 1), (1, GATHER, 1, NIL, [0], 0), (1, GATHER, 0, 0, [2], 1)]
    assert tables("mesh:3", "all-gather", 2, rows[:3]).schedule.chunk_root.tolist() == [0, 1]
    assert tables("mesh:3", "all-gather", 2, rows).schedule.chunk_root.tolist() == [0, 1]


def test_roots_of_a_reduce_scatter_receive_without_sending():
    rows = [(0, REDUCE, 0, 1, [], 0), (1, REDUCE, 0, 2, [], 1), (2, REDUCE, 1, 1, [], 0), (1, REDUCE, 1, 0, [], 1)]
    assert tables("mesh:3", "reduce-scatter", 2, rows).schedule.chunk_root.tolist() == [2, 0]


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([(0, GATHER, 0, NIL, [1], 0)], "flow 1 has 0 roots; expected exactly one"),
        ([(0, GATHER, 0, NIL, [1], 0), (2, GATHER, 0, NIL, [1], 1), (1, GATHER, 1, NIL, [0], 0)], "flow 0 has 2 roots"),
        ([(0, GATHER, 0, NIL, [1], 0), (1, GATHER, 0, 0, [0], 0), (1, GATHER, 1, NIL, [0], 1)], "flow 0 has 0 roots"),
    ],
)
def test_rooted_collectives_need_one_root_a_flow(rows, reason):
    with pytest.raises(TableFormatError, match=reason):
        _ = tables("ring:3", "all-gather", 2, rows).schedule


def test_steps_that_no_schedule_could_list_are_refused():
    """A row of a few bytes must not make a schedule of gigabytes."""
    assert tables("ring:2", "all-gather", 1, [(0, GATHER, 0, NIL, [1], 100)]).schedule.steps == 101
    for step in (MAX_TABLE_STEPS, 1 << 30):
        with pytest.raises(TableFormatError, match=f"step row 0: {step}; allowed: 0 to {MAX_TABLE_STEPS - 1}"):
            tables("ring:2", "all-gather", 1, [(0, GATHER, 0, NIL, [1], step)])


def test_tables_are_frozen():
    made = tables("ring:2", "all-reduce", 1, [(1, REDUCE, 0, 0, [], 0)])
    with pytest.raises(dataclasses.FrozenInstanceError):
        made.delay = 2
