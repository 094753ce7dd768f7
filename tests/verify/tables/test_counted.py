"""Tables of `blocks` and `buffers`: every field that can lie, does, and is caught by the rule that names it."""

from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from certree.hw.tables.lowering import lower
from certree.models.common.errors import InputError
from certree.models.schedule.collective import CollectiveKind
from certree.models.tables.table_columns import ARRIVAL_COLUMNS, NIL, RowOp
from certree.models.tables.tables import Tables
from certree.verify.tables.table_checker import verify_tables
from tests.drawn import examples, given_at_least, rngs
from tests.hw.counted import blocks, counted_schedules, exchanges
from tests.hw.made import with_rows
from tests.hw.trees import MULTITREE
from tests.verify.tables.test_table_check import changed, rules

SUMS = lower(exchanges(2, 2, 2, 0, 9), 1 << 16, MULTITREE)
BLOCKS = lower(blocks("mesh:1x4", CollectiveKind.ALL_TO_ALL, 1, 12, 9, 1), 1 << 14, MULTITREE)
FIELDS = ("op", "flow", "wait", "children", "step", "addr", "size", "node")
ARRIVAL_FIELDS = ("arrival_node", "arrival_flow", "arrival_count", "arrival_addr")


def waiting(tables: Tables) -> int:
    """A row that waits."""
    return int(np.flatnonzero(tables.wait > 0)[0])


def with_lines(tables: Tables, lines: Any) -> Tables:
    return replace(tables, **{name: getattr(tables, name)[lines] for name in ARRIVAL_COLUMNS})


FAULTS: dict[str, tuple[Tables, Callable[[Tables], Tables], set[str]]] = {
    "waits for one less": (SUMS, lambda t: changed(t, "wait", waiting(t), 0), {"dependency"}),
    "waits for one more": (SUMS, lambda t: changed(t, "wait", waiting(t), 2), {"dependency"}),
    "a block that nobody waits for": (BLOCKS, lambda t: changed(t, "wait", waiting(t), 0), {"dependency"}),
    "reads another chunk": (SUMS, lambda t: changed(t, "addr", 3, t.addr[3] + 1), {"address"}),
    "reads another block": (BLOCKS, lambda t: changed(t, "addr", 0, 0), {"address"}),
    "writes elsewhere": (BLOCKS, lambda t: changed(t, "arrival_addr", 0, 0), {"address"}),
    "size of one granule less": (SUMS, lambda t: changed(t, "size", 3, t.size[3] - 1), {"size"}),
    "counts one arrival too many": (SUMS, lambda t: changed(t, "arrival_count", 0, 3), {"arrivals"}),
    "an arrival not expected": (SUMS, lambda t: with_lines(t, slice(1, None)), {"arrivals"}),
    "arrivals unsorted": (SUMS, lambda t: with_lines(t, slice(None, None, -1)), {"arrivals"}),
    "an arrival in two lines": (
        SUMS,
        lambda t: changed(changed(with_lines(t, [0, *range(len(t.arrival_node))]), "arrival_count", 0, 1), "arrival_count", 1, 1),
        {"arrivals"},
    ),
    "a slot too short": (SUMS, lambda t: replace(t, slot_cycles=t.slot_cycles - 1), {"slot"}),
    "a digest of something else": (BLOCKS, lambda t: replace(t, schedule_digest="0" * 64), {"digest"}),
    "too few iterations in flight": (BLOCKS, lambda t: replace(t, in_flight=t.in_flight - 1), {"memory"}),
    "counters used too early": (SUMS, lambda t: replace(t, in_flight=t.in_flight - 1), {"memory"}),
    "a copy in place of a sum": (SUMS, lambda t: changed(t, "op", waiting(t), RowOp.GATHER), {"digest"}),
    "a sum of blocks": (BLOCKS, lambda t: changed(t, "op", waiting(t), RowOp.REDUCE), {"tree", "digest"}),
    "rows swapped": (SUMS, lambda t: with_rows(t, [1, 0, *range(2, len(t.node))]), {"order"}),
    "a row of nothing": (SUMS, lambda t: changed(t, "children", 0, NIL), {"row", "arrivals", "digest"}),
    "a target that is another node": (
        BLOCKS, lambda t: replace(t, chunk_target=np.roll(t.chunk_target, 1)), {"digest", "address"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_has_its_rule(fault: str) -> None:
    tables, change, expected = FAULTS[fault]
    assert verify_tables(tables).valid
    assert expected <= rules(change(tables)), verify_tables(change(tables)).violations


def test_a_read_while_something_is_under_way() -> None:
    """Node 0 passes chunk 0 on a slot too late: the next sum is in flight to it."""
    row = int(np.flatnonzero((SUMS.node == 0) & (SUMS.flow == 0))[1])
    later = changed(SUMS, "step", row, SUMS.step[row] + 1)
    assert {"dependency"} <= rules(later)
    assert any("in flight" in violation.message for violation in verify_tables(later).violations)


def test_a_copy_that_may_land_first() -> None:
    tables = changed(SUMS, "op", int(np.flatnonzero(SUMS.node == 1)[0]), RowOp.GATHER)
    step = int(np.flatnonzero(SUMS.node == 2)[2])
    moved = changed(tables, "step", step, 1)
    assert any("either may land first" in violation.message for violation in verify_tables(moved).violations)


def with_one_change(rng: Random, tables: Tables) -> tuple[str, Tables]:
    """One entry of one column replaced by another number that is in range."""
    name = rng.choice(FIELDS + ARRIVAL_FIELDS)
    column = getattr(tables, name).copy()
    row, nodes = rng.randrange(len(column)), len(tables.topology.kind)
    place = (row, rng.randrange(column.shape[1])) if name == "children" else row
    high = {"op": 3, "step": int(tables.step.max()) + 3, "addr": 9, "size": 9, "wait": 4, "arrival_count": 4, "arrival_addr": 9}
    low = {"children": NIL, "op": 1, "arrival_count": 1}.get(name, 0)
    top = tables.chunks if name.endswith("flow") else high.get(name, nodes)
    choices = [number for number in range(low, top) if "node" not in name or tables.topology.rank[number] >= 0]
    column[place] = rng.choice([number for number in choices if number != column[place]] or [column[place]])
    return name, replace(tables, **{name: column})


@given_at_least(100, rngs, counted_schedules())
@examples(150)
def test_a_changed_table_is_rejected(rng: Random, schedule: Any) -> bool:
    """Whatever entry is changed, something no longer fits: nothing in a row or an arrival is left unchecked."""
    tables = lower(schedule, rng.randint(1, 10**6), MULTITREE)
    name, other = with_one_change(rng, tables)
    is_changed = bool((getattr(other, name) != getattr(tables, name)).any())
    assert verify_tables(other).valid != is_changed, name
    return is_changed


@given(counted_schedules())
@examples(30)
def test_bad_input_is_not_an_internal_error(schedule: Any) -> None:
    tables = lower(schedule, 1000, MULTITREE)
    for fields in ({"buffers": 2}, {"in_flight": 0}, {"chunk_root": np.array([99])}, {"wait": np.array([0.5])}):
        try:
            verify_tables(replace(tables, **fields))  # type: ignore[arg-type]
        except InputError:
            continue
        assert fields == {"buffers": 2}
