"""Tables changed in one place by someone who also mends digest and arrivals: rejected, or harmless by brute force."""

from dataclasses import replace
from random import Random

import numpy as np
from hypothesis import given

from certree.hw.tables.lowering import lower
from certree.models.common.errors import InputError
from certree.models.machine.machine import load_machine
from certree.models.network.topology import NodeKind
from certree.models.schedule.schedule_columns import Op
from certree.models.tables.table_columns import NIL, RowOp
from certree.models.tables.tables import Tables
from certree.verify.tables.table_checker import verify_tables
from tests.drawn import examples, given_at_least, rngs
from tests.hw.made import with_rows
from tests.verify.brute import brute_force
from tests.verify.schedules import random_schedule

MACHINE = load_machine("multitree")
FIELDS = ("op", "flow", "parent", "children", "step", "addr", "size", "node")


def random_tables(rng: Random) -> Tables:
    """Tables of a random valid schedule on a direct network."""
    while True:
        schedule = random_schedule(rng)
        if schedule.chunk_target is None and not (schedule.topology.kind == NodeKind.SWITCH).any():
            return lower(schedule, rng.randint(1, 10**6), MACHINE)


def with_one_change(rng: Random, tables: Tables) -> tuple[str, Tables]:
    """One entry of one column replaced by another number that is in range."""
    name, row = rng.choice(FIELDS), rng.randrange(len(tables.node))
    column = getattr(tables, name).copy()
    nodes = len(tables.topology.kind)
    place = (row, rng.randrange(column.shape[1])) if name == "children" else row
    high = {"op": 3, "flow": tables.chunks, "step": int(tables.step.max()) + 3, "addr": 9, "size": 9}.get(name, nodes)
    choices = range(NIL if name in ("parent", "children") else 1 if name == "op" else 0, high)
    choices = [node for node in choices if tables.topology.rank[node] >= 0] if name == "node" else choices
    column[place] = rng.choice([number for number in choices if number != column[place]] or [column[place]])
    return name, replace(tables, **{name: column})


def mended(tables: Tables) -> Tables:
    """Rows sorted, arrivals and digest as the changed rows have them."""
    tables = with_rows(tables, np.lexsort((tables.children[:, 0], tables.flow, tables.op, tables.step, tables.node)))
    moves = tables.transfers()
    op = np.where(moves["op"] == Op.REDUCE, RowOp.REDUCE, RowOp.GATHER).astype(np.int32)
    order = np.lexsort((moves["src"], moves["chunk"], op, moves["dst"]))
    tables = replace(
        tables,
        arrival_node=moves["dst"][order],
        arrival_op=op[order],
        arrival_flow=moves["chunk"][order],
        arrival_peer=moves["src"][order],
    )
    return replace(tables, schedule_digest=tables.schedule.digest)


@given(rngs)
@examples(60)
def test_exported_tables_are_valid(rng: Random) -> None:
    verdict = verify_tables(random_tables(rng))
    assert verdict.valid, verdict.violations


@given_at_least(140, rngs)
@examples(150)  # three times as many take 10 s
def test_a_changed_table_is_rejected(rng: Random) -> bool:
    """Whatever entry is changed, something no longer fits: nothing in a row is left unchecked."""
    tables = random_tables(rng)
    name, changed = with_one_change(rng, tables)
    is_changed = bool((getattr(changed, name) != getattr(tables, name)).any())
    assert verify_tables(changed).valid != is_changed, name
    return is_changed


@given_at_least(10, rngs)
@examples(200)  # twice as many take 14 s
def test_a_mended_table_is_rejected_or_harmless(rng: Random) -> bool:
    _, changed = with_one_change(rng, random_tables(rng))
    try:
        changed = mended(changed)
    except InputError:
        return False  # no roots: checked by rule `tree`, in the test above
    if not verify_tables(changed).valid:
        return False
    assert brute_force(changed.schedule).clean
    _assert_no_row_reads_early(changed)
    return True


def _assert_no_row_reads_early(tables: Tables) -> None:
    """No row reads a cell after something was sent to it and before that has landed, however early it really arrives."""
    moves = tables.transfers()
    sent = list(zip(*(moves[name].tolist() for name in ("chunk", "dst", "step")), strict=True))
    for flow, node, step in zip(tables.flow.tolist(), tables.node.tolist(), tables.step.tolist(), strict=True):
        assert not any(f == flow and n == node and s < step < s + tables.delay for f, n, s in sent)
