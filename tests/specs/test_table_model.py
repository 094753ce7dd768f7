"""Tables from hand-written schedules, model-checked: correct ones pass, each corruption is found at its place."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from certree.extras.reports.pictures.network import MARK
from certree.extras.tla.check import table_constants, table_model
from certree.extras.tla.check.table_model import model_check_tables
from certree.hw.tables.lowering import lower
from certree.models.common.errors import TableFormatError, UnsupportedError
from certree.models.machine.machine import load_machine
from certree.models.network.spec import parse_topology
from certree.models.schedule.collective import Collective, CollectiveKind, parse_collective
from certree.models.schedule.schedule import make_schedule
from certree.models.schedule.schedule_columns import NO_ROOT, Op
from certree.models.tables.table_columns import NIL, ROW_COLUMNS, RowOp

MACHINE = load_machine("multitree")


def schedule_of(spec, kind, transfers, roots=None, **fields):
    """`transfers`: (chunk, op, src, dst, step), op `R` or `G`."""
    chunk, op, src, dst, step = zip(*transfers, strict=True)
    columns = {name: np.array(column, np.int32) for name, column in [("chunk", chunk), ("src", src), ("dst", dst), ("step", step)]}
    columns["op"] = np.array([Op.REDUCE if letter == "R" else Op.COPY for letter in op], np.int8)
    roots = [NO_ROOT] * (max(chunk) + 1) if roots is None else roots
    return make_schedule(
        parse_topology(spec), kind if isinstance(kind, Collective) else parse_collective(kind), roots, columns, **fields
    )


def up(cycle):
    """One tree per root: both neighbours on the cycle, and the node opposite behind the next one."""
    n = len(cycle)
    return [
        row
        for f in range(n)
        for row in (
            (f, "R", cycle[(f + 2) % n], cycle[(f + 1) % n], 0),
            (f, "R", cycle[(f + 3) % n], cycle[f], 0),
            (f, "R", cycle[(f + 1) % n], cycle[f], 1),
        )
    ]


def down(cycle, first):
    return [(f, "G", dst, src, first + 1 - step) for f, _, src, dst, step in up(cycle)]


def ring():
    """ring:4 all-reduce in four slots."""
    return schedule_of("ring:4", "all-reduce", up([0, 1, 2, 3]) + down([0, 1, 2, 3], 2))


def paths(delay, steps, repeats):
    """mesh:2x2, optimal packing: chunk f along the path that leaves one side out; period 3."""
    cycle = [0, 1, 3, 2]
    rows = []
    for f in range(4):
        a, b, c, d = (cycle[(f + k) % 4] for k in range(4))
        hops = [("R", d, c), ("R", c, b), ("R", a, b), ("G", b, a), ("G", b, c), ("G", c, d)]
        rows += [(f, op, src, dst, step) for (op, src, dst), step in zip(hops, steps, strict=True)]
    return schedule_of("mesh:2x2", "all-reduce", rows, delay=delay, period=3, repeats=repeats)


# one chunk along the nodes that are left of a ring, ids 1 to 4
LINE = schedule_of(
    "ring:5,without-node=0",
    "all-reduce",
    [(0, "R", 1, 2, 0), (0, "R", 4, 3, 0), (0, "R", 3, 2, 1), (0, "G", 2, 1, 2), (0, "G", 2, 3, 2), (0, "G", 3, 4, 3)],
)


def tables_of(schedule, size=65536):
    return lower(schedule, size, MACHINE)


def row_of(tables, node, op, flow):
    """Number of the node's first such row, in the tables and within the node."""
    row = int(np.flatnonzero((tables.node == node) & (tables.op == op) & (tables.flow == flow))[0])
    return row, row - int(np.flatnonzero(tables.node == node)[0])


def changed(column, place, value):
    column = column.copy()
    column[place] = value
    return column


@pytest.mark.parametrize(
    ("schedule", "message"),
    [
        (ring(), "all states"),
        (schedule_of("mesh:2x2", "all-reduce", up([0, 1, 3, 2]) + down([0, 1, 3, 2], 2)), "all states"),
        (paths(1, (0, 1, 1, 2, 2, 3), 5), "all states, 4 of 5 iterations"),
        (paths(2, (0, 2, 2, 4, 4, 6), 3), "all states, 3 of 3 iterations"),
        (schedule_of("ring:4", "reduce-scatter", up([0, 1, 2, 3]), roots=[0, 1, 2, 3]), "all states"),
        (schedule_of("ring:4", "all-gather", down([0, 1, 2, 3], 0), roots=[0, 1, 2, 3]), "all states"),
        (LINE, "all states"),
    ],
    ids=["ring", "mesh", "repeating", "delay2", "reduce-scatter", "all-gather", "without node 0"],
)
def test_right_tables_hold(schedule, message):
    result = model_check_tables(tables_of(schedule))
    assert (result.result, result.mode, result.message) == ("success", "exhaustive", message)
    assert result.as_expected
    assert (result.trace, result.picture) == ("", "")
    assert result.distinct_states <= result.total_states


def test_simulation_says_so(monkeypatch):
    monkeypatch.setattr(table_model, "EXHAUSTIVE_WORK", 0)
    result = model_check_tables(tables_of(paths(1, (0, 1, 1, 2, 2, 3), 2)), seed=11)
    assert (result.result, result.mode, result.distinct_states) == ("success", "simulation", None)
    assert result.message == "2 random runs, seed 11, 2 of 2 iterations"


def test_simulation_runs_to_the_end(monkeypatch):
    """An expected arrival that no row sends shows only when everything else is over: as a deadlock."""
    monkeypatch.setattr(table_model, "EXHAUSTIVE_WORK", 0)
    tables = tables_of(ring())
    row, _ = row_of(tables, 3, RowOp.GATHER, 2)
    result = model_check_tables(replace(tables, **{name: np.delete(getattr(tables, name), row, axis=0) for name in ROW_COLUMNS}))
    assert result.result == "deadlock"
    assert "node 0 (GATHER of flow 2 from node 3), slot 3: never comes" in result.message


def refuted(tables, property_name, *places):
    result = model_check_tables(tables)
    assert result.result == "safety"
    assert not result.as_expected
    assert result.message.startswith(f"{property_name}: ")
    for place in places:
        assert place in result.message
    return result


def test_wrong_parent():
    """Told as a table of slots and as a picture: an arrow along the message, a ring round its sender, the finding in words."""
    tables = tables_of(ring())
    row, local = row_of(tables, 2, RowOp.REDUCE, 0)
    wrong = replace(tables, parent=changed(tables.parent, row, 3))
    result = refuted(wrong, "OnlyExpected", f"node 2, row {local} (REDUCE of flow 0 to node 3), slot 0")
    assert result.trace.splitlines()[0].split() == ["slot", "node", "row", "what", "what", "happened"]
    assert f"0     2     {local}    REDUCE of flow 0 to node 3  fires" in result.trace
    assert result.picture.count(MARK) == 3 + 1 + 2  # shaft and barbs of one arrow, one ring, two lines of words
    assert "OnlyExpected: node 2, row " in result.picture
    assert result.picture == model_check_tables(wrong).picture


def test_parent_that_is_no_neighbour():
    tables = tables_of(ring())
    row, local = row_of(tables, 2, RowOp.REDUCE, 0)
    place = f"node 2, row {local} (REDUCE of flow 0 to node 0), slot 0: there is no link to node 0"
    refuted(replace(tables, parent=changed(tables.parent, row, 0)), "LinksExist", place)


def test_dropped_dependency():
    tables = tables_of(ring())
    row, local = row_of(tables, 1, RowOp.REDUCE, 0)
    place = f"node 1, row {local} (REDUCE of flow 0 to node 0), slot 1"
    refuted(replace(tables, children=changed(tables.children, row, NIL)), "EveryArrivalAwaited", place)


def test_two_rows_on_one_link():
    tables = tables_of(ring())
    row, _ = row_of(tables, 0, RowOp.GATHER, 0)
    wrong = replace(tables, step=changed(tables.step, row, 3))
    refuted(
        wrong, "NoBusyPort", "node 0, row 5 (GATHER of flow 3 to node 1), slot 3: the port to node 1 is busy with GATHER of flow 0"
    )


def test_row_in_too_early_a_slot():
    tables = tables_of(LINE)
    row, local = row_of(tables, 3, RowOp.REDUCE, 0)
    place = f"node 3, row {local} (REDUCE of flow 0 to node 2), slot 0: late: waits for REDUCE of flow 0 from node 4"
    refuted(replace(tables, step=changed(tables.step, row, 0)), "NoLateRow", place)


def test_repeating_table_that_collides_with_its_next_period():
    place = "slot 2: the port to node 2 is busy with REDUCE of flow 1, iteration 1"
    refuted(tables_of(replace(paths(1, (0, 1, 1, 2, 2, 3), 3), period=2)), "NoBusyPort", "iteration 0)", place)


@pytest.mark.parametrize(("cycles", "holds"), [(0, True), (-1, False)])
def test_slot_at_and_one_cycle_below_what_it_needs(cycles, holds):
    tables = tables_of(ring())
    shorter = replace(tables, slot_cycles=tables.slot_cycles + cycles)
    if holds:
        assert model_check_tables(shorter).result == "success"
    else:
        refuted(shorter, "NoLateRow", "slot 1: late: waits for REDUCE of flow")


@pytest.mark.parametrize("work", [table_model.EXHAUSTIVE_WORK, 0], ids=["all states", "random runs"])
def test_short_slot_that_makes_no_row_late(monkeypatch, work):
    """Checked at the end of a run, which random runs must be long enough to reach.

    Everything waits one slot longer than it must: the run would go well, the promise of the table does not hold."""
    monkeypatch.setattr(table_model, "EXHAUSTIVE_WORK", work)
    rows = [(chunk, op, src, dst, 2 * step) for chunk, op, src, dst, step in up([0, 1, 2, 3]) + down([0, 1, 2, 3], 2)]
    tables = tables_of(schedule_of("ring:4", "all-reduce", rows))
    need = tables.slot_cycles
    refuted(replace(tables, slot_cycles=need - 1), "SlotIsLongEnough", f"a slot of {need - 1} cycles", f"need {need} at delay 1")


def test_destination_that_is_no_node():
    tables = tables_of(LINE)
    row, local = row_of(tables, 1, RowOp.REDUCE, 0)
    place = f"node 1, row {local} (REDUCE of flow 0 to node 0), slot 0: there is no link to node 0"
    refuted(replace(tables, parent=changed(tables.parent, row, 0)), "LinksExist", place)


def test_node_that_takes_no_part():
    """Node 4 sends nothing and expects nothing, so it is done before it begins, and has not the sum."""
    rows = [(0, "R", 1, 2, 0), (0, "R", 3, 2, 0), (0, "G", 2, 1, 1), (0, "G", 2, 3, 1)]
    tables = tables_of(schedule_of("ring:5,without-node=0", "all-reduce", rows))
    place = "node 4 finishes flow 0 of iteration 0 without the contribution of node 1, node 2, node 3"
    refuted(tables, "RightSum", "node 4 (at the start), slot 0", place)


def test_unsorted_rows_are_executed_by_slot():
    tables = tables_of(ring())
    rows = np.arange(len(tables.node))
    first, last = np.flatnonzero(tables.node == 0)[[0, -1]]
    rows[[first, last]] = last, first
    columns = {name: getattr(tables, name)[rows] for name in ("op", "flow", "parent", "children", "step", "addr", "size", "route")}
    assert model_check_tables(replace(tables, **columns)).result == "success"


@pytest.mark.parametrize(
    ("column", "value", "reason"),
    [
        ("node", 9, "node row 0: 9; allowed: 0 to 3"),
        ("arrival_node", 9, "arrival_node row 0: 9; allowed: 0 to 3"),
        ("flow", 4, "flow row 0: 4; allowed: 0 to 3"),
        ("arrival_flow", -1, "arrival_flow row 0: -1; allowed: 0 to 3"),
        ("op", 0, r"table row 0 \(NOP .*\) commands nothing"),
        ("arrival_op", 3, "arrival_op row 0: 3; allowed: 1 to 2"),
    ],
)
def test_malformed_tables_are_refused(column, value, reason):
    tables = tables_of(ring())
    with pytest.raises(TableFormatError, match=reason):
        model_check_tables(replace(tables, **{column: changed(getattr(tables, column), 0, value)}))


@pytest.mark.parametrize(("column", "more"), [("addr", 1), ("addr", -1), ("size", 1), ("size", -1)])
def test_rows_that_move_other_data_than_their_chunk_are_refused(column, more):
    """The model carries chunks, not addresses: it would call these tables right."""
    tables = tables_of(ring())
    row, _ = row_of(tables, 1, RowOp.GATHER, 1)
    wrong = replace(tables, **{column: changed(getattr(tables, column), row, getattr(tables, column)[row] + more)})
    with pytest.raises(
        TableFormatError,
        match=r"table row \d+ \(GATHER of flow 1 at node 1, step \d\) has (address|size) \d+; needed: 1024 granules",
    ):
        model_check_tables(wrong)


def wide(transfers):
    """The two nodes with two lanes each way: a port that sends twice at once is not busy."""
    return tables_of(schedule_of("ring:3,without-node=2,capacity=2", "all-reduce", transfers))


TO_AND_FRO = [(0, "R", 1, 0, 0), (0, "G", 0, 1, 1)]


def test_a_row_that_is_there_twice_sends_twice():
    tables = wide(TO_AND_FRO)
    assert model_check_tables(tables).result == "success"
    row, _ = row_of(tables, 0, RowOp.GATHER, 0)
    twice = {name: np.insert(getattr(tables, name), row, getattr(tables, name)[row], axis=0) for name in ROW_COLUMNS}
    refuted(replace(tables, **twice), "StepsAsScheduled", "node 1 (GATHER of flow 0 from node 0)")


def test_a_child_that_is_there_twice_is_refused():
    tables = wide(TO_AND_FRO)
    row, _ = row_of(tables, 0, RowOp.GATHER, 0)
    children = np.hstack((tables.children, np.full((len(tables.node), 1), NIL, np.int32)))
    children[row] = 1
    with pytest.raises(TableFormatError, match=r"table row \d+ \(GATHER of flow 0 at node 0, .* names a child twice"):
        model_check_tables(replace(tables, children=children))


def test_time_limit_is_unknown():
    result = model_check_tables(tables_of(ring()), time_limit=0.05)
    assert (result.result, result.as_expected) == ("unknown", False)


@pytest.mark.parametrize(
    ("flow", "around", "property_name", "place"),
    [
        pytest.param(3, (0, 1, 2, 3), "NoLateRow", "late: waits for REDUCE of flow 3 from node 0", id="longer route"),
        pytest.param(1, (0, 3, 2, 1), "NoBusyPort", "the port to node 3 is busy with REDUCE of flow 1", id="port taken"),
    ],
)
def test_rows_to_one_node_go_by_their_own_routes(flow, around, property_name, place):
    tables = tables_of(ring())
    row, _ = row_of(tables, 0, RowOp.REDUCE, flow)
    links = tuple(
        int(np.flatnonzero((tables.topology.src == a) & (tables.topology.dst == b))[0]) for a, b in itertools.pairwise(around)
    )
    refuted(replace(tables, route=changed(tables.route, row, 0), routes=(links,)), property_name, place)


def test_too_many_cycles_are_refused():
    with pytest.raises(UnsupportedError, match="more than TLC can count"):
        model_check_tables(tables_of(ring(), size=1 << 40))


def test_too_large_a_state_is_refused(monkeypatch):
    monkeypatch.setattr(table_constants, "MAX_COUNTERS", 10)
    with pytest.raises(UnsupportedError, match="4 nodes, 4 chunks and 1 iterations are too many for TLC: 64 counters"):
        model_check_tables(tables_of(ring()))


def test_many_roots():
    """A broadcast of 17 chunks has 2^17 beginnings, which TLC need not make."""
    rows = [(chunk, "G", 0, 1, chunk) for chunk in range(17)]
    tables = tables_of(schedule_of("mesh:1x2", Collective(CollectiveKind.BROADCAST, 0), rows, roots=[0] * 17))
    assert "BeginsAsPromised" in table_model.table_model_files(tables)["GeneratedCheckNILockstep.cfg"]
    assert model_check_tables(tables).result == "success"
