"""Tables: every field that can lie, does, and is caught by the rule that names it."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from certree.hw.tables.lowering import lower
from certree.models.common.errors import TableFormatError
from certree.models.machine.machine import load_machine
from certree.models.schedule.collective import CollectiveKind
from certree.models.tables.table_columns import ARRIVAL_COLUMNS, NIL, RowOp
from certree.models.tables.tables import Tables
from certree.verify.checker import verify_schedule
from certree.verify.tables.table_checker import verify_tables
from tests.hw.made import in_order, tables_of, with_rows
from tests.hw.trees import tree_schedule
from tests.verify.build import build, path_all_reduce

MACHINE = load_machine("multitree")


def exported(topology: str = "mesh:2x2", collective: str = "all-reduce", size: int = 1 << 16) -> Tables:
    return tables_of("multitree", topology, size, collective=collective)


def rules(tables: Tables) -> set[str]:
    verdict = verify_tables(tables)
    assert all("\n" not in violation.message for violation in verdict.violations)
    assert all(0 <= row < len(tables.node) for violation in verdict.violations for row in violation.rows)
    return {violation.rule for violation in verdict.violations}


def changed(tables: Tables, column: str, row: int, value: Any) -> Tables:
    values = getattr(tables, column).copy()
    values[row] = value
    return replace(tables, **{column: values})


@pytest.mark.parametrize("collective", ["all-reduce", "all-gather", "reduce-scatter"])
@pytest.mark.parametrize("topology", ["ring:4", "mesh:2x3", "torus:4x4,without-link=0-1", "mesh:3x3,without-node=8"])
def test_exported_tables_are_right(topology: str, collective: str) -> None:
    assert verify_tables(exported(topology, collective)).valid


def first_waiting(tables: Tables) -> int:
    return int(np.flatnonzero((tables.op == RowOp.REDUCE) & (tables.children[:, 0] != NIL))[0])


def dependent_gather(tables: Tables) -> int:
    return int(np.flatnonzero((tables.op == RowOp.GATHER) & (tables.parent != NIL))[0])


def with_arrivals(tables: Tables, order: Any) -> Tables:
    return replace(tables, **{name: getattr(tables, name)[order] for name in ARRIVAL_COLUMNS})


FAULTS: dict[str, tuple[Callable[[Tables], Tables], set[str]]] = {
    "address of another chunk": (lambda t: changed(t, "addr", 3, t.addr[3] + 1), {"address"}),
    "size of one granule less": (lambda t: changed(t, "size", 3, t.size[3] - 1), {"size"}),
    "chunks cut too small": (lambda t: replace(t, chunk_bytes=t.chunk_bytes - 16), {"size"}),
    "another message": (lambda t: replace(t, message_bytes=t.message_bytes * 2), {"size", "address", "slot"}),
    "a digest of something else": (lambda t: replace(t, schedule_digest="0" * 64), {"digest"}),
    "slot one cycle too short": (lambda t: replace(t, slot_cycles=t.slot_cycles - 1), {"slot"}),
    "dependency dropped": (lambda t: changed(t, "children", first_waiting(t), NIL), {"dependency"}),
    "gather that waits for nothing": (lambda t: changed(t, "parent", dependent_gather(t), NIL), {"dependency"}),
    "gather that waits for another": (
        lambda t: changed(t, "parent", dependent_gather(t), t.node[dependent_gather(t)]), {"dependency"},
    ),
    "arrival not expected": (lambda t: with_arrivals(t, slice(1, None)), {"arrivals"}),
    "arrival from nobody": (lambda t: changed(t, "arrival_peer", 0, 3 - t.arrival_peer[0]), {"arrivals"}),
    "arrivals unsorted": (lambda t: with_arrivals(t, slice(None, None, -1)), {"arrivals"}),
    "row of nothing": (lambda t: changed(t, "op", 0, RowOp.NOP), {"row", "arrivals", "digest", "missing"}),
    "rows swapped": (lambda t: with_rows(t, [1, 0, *range(2, len(t.node))]), {"order"}),
    "row fires a slot early": (lambda t: changed(t, "step", dependent_gather(t), 0), {"dependency", "digest"}),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_has_its_rule(fault: str) -> None:
    change, expected = FAULTS[fault]
    tables = exported("mesh:2x2", size=3000)
    assert expected <= rules(change(tables)), verify_tables(change(tables)).violations
    assert verify_tables(tables).valid


def test_no_row_reads_what_is_being_written() -> None:
    """The machine lets the copy land after the reduce has left; hardware may be faster, so tables must not rely on it."""
    harmless = build("mesh:1x3", "reduce-scatter", "0+1;; 1+2", roots=[2], delay=2)
    assert verify_tables(lower(harmless, 1000, MACHINE)).valid
    racing = build("full:3", "reduce-scatter", "; 0>1; 0+2 1+2", roots=[2], delay=2)
    assert verify_schedule(racing).valid
    violations = verify_tables(lower(racing, 1000, MACHINE)).violations
    assert [violation.rule for violation in violations] == ["dependency"]
    assert "while a transfer into it is in flight" in violations[0].message
    for apart in (";; 0>1 0+2 1+2", "0>1@3;; 0+2 1+2"):  # sent with the reduce or later, it is not there in time to disturb it
        assert verify_tables(lower(build("full:3", "reduce-scatter", apart, roots=[2], delay=2), 1000, MACHINE)).valid


@pytest.mark.parametrize(
    "change",
    [{"chunks": 0}, {"repeats": 0}, {"delay": 0}, {"period": 0}, {"message_bytes": 0}, {"message_bytes": 1 << 70},
     {"slot_cycles": 1.5},
     {"node": np.array([0, 1], np.int32)}, {"flow": np.array([0.5])}],
)  # fmt: skip
def test_what_is_no_table_is_bad_input(change: dict[str, Any]) -> None:
    with pytest.raises(TableFormatError):
        verify_tables(replace(exported(), **change))


@pytest.mark.parametrize(
    ("column", "value"),
    [("node", 4), ("flow", 99), ("step", 1 << 25), ("parent", -2), ("op", 3), ("route", 0), ("arrival_peer", 4)],
)
def test_entries_out_of_range_are_bad_input(column: str, value: int) -> None:
    with pytest.raises(TableFormatError, match=column):
        verify_tables(changed(exported(), column, 0, value))


def test_one_row_for_the_children_of_one_slot() -> None:
    """They ascend; two rows that agree in step, op and flow are unknown to the contract, whatever they command."""
    tables = lower(path_all_reduce(), 1000, MACHINE)
    row = int(np.flatnonzero((tables.op == RowOp.GATHER) & (tables.children[:, 1] != NIL))[0])
    assert tables.children[row].tolist() == [0, 2]
    assert rules(changed(tables, "children", row, [2, 0])) == {"row"}
    split = with_rows(tables, np.sort(np.append(np.arange(len(tables.node)), row)))
    split = changed(changed(split, "children", row, [0, NIL]), "children", row + 1, [2, NIL])
    assert rules(split) == {"order"}


def routed() -> Tables:
    """Random trees on a fat tree: every message passes switches."""
    return lower(tree_schedule("fattree:2x3", CollectiveKind.ALL_REDUCE, 2, delay=1, repeats=1, seed=7), 1 << 12, MACHINE)


def test_tables_with_source_routes_are_right() -> None:
    assert len(routed().routes) > 0
    assert verify_tables(routed()).valid


def test_routes_are_checked_link_by_link() -> None:
    """Another row's route leads elsewhere; a chunk of several children cannot share one; and a detour meets others on its route."""
    tables = routed()
    row = int(np.argmax(tables.route != tables.route[0]))
    assert "link" in rules(changed(tables, "route", row, tables.route[0]))
    wide = np.pad(tables.children, ((0, 0), (0, 1)), constant_values=NIL)
    gather = int(np.argmax((tables.op == RowOp.GATHER) & (tables.children[:, 0] < 5)))
    assert "row" in rules(changed(replace(tables, children=wide), "children", gather, [*tables.children[gather].tolist(), 5]))
    assert "row" not in rules(tables)
    assert "capacity" in rules(in_order(replace(tables, step=np.zeros_like(tables.step))))
