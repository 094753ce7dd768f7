"""Schedules that the methods make, as tables, in the TLA+ model; and one corrupted table among them."""

from dataclasses import replace

import numpy as np
import pytest

from certree.extras.tla.check.table_model import model_check_tables
from certree.hw.tables.lowering import lower
from certree.models.machine.machine import load_machine
from certree.models.network.spec import parse_topology
from certree.models.schedule.collective import parse_collective
from certree.models.schedule.schedule_columns import Op
from certree.models.tables.table_columns import NIL, RowOp
from certree.synth.method import Request, load_methods

MACHINE = load_machine("multitree")


def tables_of(spec, method, size=1 << 16):
    request = Request(parse_topology(spec), parse_collective("all-reduce"), size, MACHINE)
    return lower(load_methods()[method](request), size, MACHINE)


@pytest.mark.parametrize(("spec", "size", "method"), [("mesh:2x3", 1 << 16, "multitree"), ("switch:4", 1 << 16, "multitree")])
def test_schedules_of_methods_hold(spec, size, method):
    result = model_check_tables(tables_of(spec, method, size))
    assert (result.result, result.mode, result.message) == ("success", "exhaustive", "all states")


def test_a_repeating_packing_holds():
    tables = tables_of("mesh:2x3", "packing", 1 << 26)
    assert tables.repeats > 100
    result = model_check_tables(tables)
    assert (result.result, result.mode) == ("success", "exhaustive")
    assert result.message == f"all states, 5 of {tables.repeats} iterations"


def resorted(tables, step):
    """The tables with other slots, their rows in order."""
    order = np.lexsort((tables.first_destination, tables.flow, tables.op, step, tables.node))
    columns = {name: getattr(tables, name)[order] for name in ("node", "op", "flow", "parent", "children", "addr", "size", "route")}
    return replace(tables, step=step[order], **columns), order


def tight_row(tables):
    """The first row that fires in the slot in which the last of what it waits for is just there."""
    moves = tables.transfers()
    for row in np.argsort(tables.step, kind="stable").tolist():
        op = Op.COPY if tables.op[row] == RowOp.GATHER and tables.parent[row] != NIL else Op.REDUCE
        feeds = (moves["dst"] == tables.node[row]) & (moves["chunk"] == tables.flow[row]) & (moves["op"] == op)
        if feeds.any() and moves["step"][feeds].max() + tables.delay == tables.step[row]:
            return row
    raise AssertionError("no row waits for the slot before")


@pytest.mark.parametrize(
    ("spec", "method", "size"),
    [
        ("mesh:2x2", "multitree", 1 << 16),
        ("mesh:3x3", "multitree", 1 << 16),
        ("switch:4", "multitree", 1 << 16),
        ("mesh:2x3", "packing", 1 << 26),
    ],
)
def test_a_row_a_slot_too_early_is_refuted_with_node_row_and_slot(spec, method, size):
    tables = tables_of(spec, method, size)
    row = tight_row(tables)
    wrong, order = resorted(tables, tables.step - (np.arange(len(tables.step)) == row))
    place = int(np.flatnonzero(order == row)[0])
    local = place - int(np.flatnonzero(wrong.node == wrong.node[place])[0])
    result = model_check_tables(wrong)
    assert result.result == "safety"
    assert result.message.split(":")[0] in ("NoLateRow", "NoBusyPort")
    assert f"node {wrong.node[place]}, row {local} ({RowOp(wrong.op[place]).name} of flow {wrong.flow[place]}" in result.message
    assert f", slot {wrong.step[place]}: " in result.message


def test_two_messages_over_one_link_of_their_routes():
    """Nodes 0 and 1 of a switch send to node 2 in one slot: each from its own port, but over one link out of the switch."""
    tables = tables_of("switch:4", "multitree")
    arrivals = [(int(s), int(d)) for s, d in zip(tables.transfers()["src"], tables.transfers()["dst"], strict=True)]
    assert len(set(arrivals)) > 4
    late = int(np.flatnonzero(tables.op == RowOp.REDUCE)[-1])
    step = tables.step.copy()
    step[late] = 0 if step[late] else 1
    result = model_check_tables(resorted(tables, step)[0])
    assert result.result == "safety"
    assert result.message.split(":")[0] in ("NoBusyPort", "NoLateRow")
    assert ", slot " in result.message
    assert "row " in result.message
