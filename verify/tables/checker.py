"""`verify_tables`: the rows of network interfaces in, a verdict out. The exporter is not trusted.

The tables are judged by what their rows do: the schedule they play goes through every rule of `verify_schedule`, and what rows say
besides
(addresses, sizes, dependencies, arrivals, slot length, digest) is computed once more. Transfer numbers in messages count the
transfers of `Tables.schedule`; `rows` of a violation are table rows, counted over all nodes from 0.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from certree.models.common.errors import InputError, TableFormatError
from certree.models.common.quantities import MAX_SIZE
from certree.models.schedule.schedule import MAX_CHUNKS, MAX_STEPS
from certree.models.schedule.timing import chunk_bytes_of, slot_timing
from certree.models.tables import MAX_TABLE_STEPS, NIL, RowOp, Tables
from certree.verify.certificates.quality import quality_of
from certree.verify.checker import check_transfers
from certree.verify.rule import Stage, Subject, check, checks, rule
from certree.verify.tables.dependencies import Moves, table_row_text, tell_rows
from certree.verify.verdict import Findings, Verdict

MAX_BYTES = 1 << 60  # sums of addresses stay within 64 bits


@rule(
    "digest",
    "the rows are those of another schedule than the one named",
    'schedule_digest = "0000"',
    Subject.TABLES,
)
def verify_tables(tables: Tables) -> Verdict:
    """The verdict on the tables of all nodes. Raises TableFormatError when the columns are no tables at all (lengths, ranges).

    The rules, beside those of `verify_schedule`, are listed in `docs/reference/rules.md`.
    O(rows log rows + transfers · endpoints / 64), independent of `repeats` and of the message.
    """
    _check_form(tables)
    findings = Findings()
    for entry in checks(Subject.TABLES, Stage.FORM, Stage.WIRING):
        entry.run(tables, findings)
    try:
        schedule = tables.schedule
    except InputError as error:  # no root for a flow, or several, or one that is no endpoint
        findings.add("tree", 0, (), f"the rows make no {tables.collective.kind}: {error}")
        return findings.verdict()
    if schedule.digest != tables.schedule_digest:
        findings.add(
            "digest", schedule.steps, (), f"the rows play the schedule {schedule.digest[:16]}..., not the one they are said to be"
        )
    played = Findings()
    check_transfers(schedule, played)
    moves = Moves.of(tables)
    findings.include(played, moves.row[moves.order])
    for entry in checks(Subject.TABLES, Stage.LOAD, Stage.CONTENTS, Stage.FURTHER):
        entry.run(tables, findings)
    return findings.verdict(quality_of(schedule))


def _check_form(tables: Tables) -> None:
    """Raise TableFormatError for columns of different lengths, of another type, or with entries out of range."""
    nodes = len(tables.topology.kind)
    highest = {
        "chunks": MAX_CHUNKS, "delay": MAX_STEPS, "period": MAX_STEPS, "repeats": MAX_STEPS,
        "message_bytes": MAX_SIZE, "chunk_bytes": MAX_BYTES, "slot_cycles": MAX_BYTES,
    }  # fmt: skip
    for name, high in highest.items():
        value = getattr(tables, name)
        if not (name == "period" and value is None) and (type(value) is not int or not 1 <= value <= high):
            raise TableFormatError(f"{name} is {value!r}; allowed: whole numbers from 1 to {high}")
    last_node, last_flow, any_number = nodes - 1, tables.chunks - 1, np.iinfo(np.int64).max
    limits = {
        "node": (0, last_node), "op": (0, 2), "flow": (0, last_flow), "parent": (NIL, last_node), "children": (NIL, last_node),
        "step": (0, MAX_TABLE_STEPS - 1), "addr": (0, any_number), "size": (0, any_number), "route": (NIL, len(tables.routes) - 1),
        "arrival_node": (0, last_node), "arrival_op": (1, 2), "arrival_flow": (0, last_flow), "arrival_peer": (0, last_node),
    }  # fmt: skip
    for name, (low, high) in limits.items():
        column = getattr(tables, name)
        rows = len(tables.arrival_node if name.startswith("arrival") else tables.node)
        if column.ndim != (2 if name == "children" else 1) or column.dtype.kind != "i" or len(column) != rows:
            raise TableFormatError(
                f"table column {name}: {column.dtype} of shape {column.shape}; expected {rows} rows of whole numbers"
            )
        wrong = (column < low) | (column > high)
        bad = np.flatnonzero(wrong.any(axis=1) if wrong.ndim == 2 else wrong)
        if len(bad):
            raise TableFormatError(f"table row {bad[0]}: {name} is {column[bad[0]]}; allowed: {low} to {high}")


@check(Subject.TABLES, Stage.FORM)
@rule(
    "row",
    "a row commands nothing, or has a child after a nil, twice or out of order",
    "children.1 = [2, 0]",
    Subject.TABLES,
)
def check_rows(tables: Tables, findings: Findings) -> None:
    """Every row commands something; its children ascend and nil comes after them."""
    empty = tables.children == NIL
    idle = (
        (tables.op == RowOp.NOP)
        | ((tables.op == RowOp.REDUCE) & (tables.parent == NIL))
        | ((tables.op == RowOp.GATHER) & empty.all(axis=1))
    )
    left, right = tables.children[:, :-1], tables.children[:, 1:]
    gap = (empty[:, :-1] & ~empty[:, 1:]).any(axis=1)
    mixed = (~empty[:, :-1] & ~empty[:, 1:] & (left >= right)).any(axis=1)
    several = (tables.op == RowOp.GATHER) & (tables.route != NIL) & ~empty[:, 1:].all(axis=1)
    rows = np.arange(len(idle))
    tell_rows(tables, findings, "row", idle, rows, lambda _: "commands nothing")
    tell_rows(tables, findings, "row", gap, rows, lambda _: "has a child after a nil")
    tell_rows(tables, findings, "row", mixed, rows, lambda _: "names a child twice or behind a larger one")
    tell_rows(tables, findings, "row", several, rows, lambda _: "has one route for several destinations")


@check(Subject.TABLES, Stage.FORM)
@rule("order", "rows are not sorted, or two agree in step, op and flow", "rows = [1, 0, 2]", Subject.TABLES)
def check_order(tables: Tables, findings: Findings) -> None:
    """Rows by node, then step, op, flow, first destination; no two alike in all five, and of rows without a route no
    two alike in the first four, which one row could be."""
    columns = (tables.node, tables.step, tables.op, tables.flow, tables.first_destination)
    keys = np.stack([column.astype(np.int64) for column in columns])
    direct = np.flatnonzero(tables.route == NIL)
    for rows, depth in ((np.arange(len(tables.node)), 5), (direct, 4)):
        difference = np.diff(keys[:depth, rows], axis=1)
        leading = (difference != 0).argmax(axis=0)
        bad = np.flatnonzero(np.take_along_axis(difference, leading[None], axis=0)[0] <= 0)
        if len(bad):
            findings.add_each("order", bad.tolist(), _order_teller(tables, rows))
            return


def _order_teller(tables: Tables, rows: NDArray[np.int64]) -> Callable[[int], tuple[int, tuple[int, ...], str]]:
    def tell(place: int) -> tuple[int, tuple[int, ...], str]:
        first, second = rows[place : place + 2].tolist()
        before, behind = table_row_text(tables, first), table_row_text(tables, second)
        message = f"{behind} stands behind {before}; rows are sorted by step, op and flow, and no two agree in all three"
        return int(tables.step[second]), (first, second), message

    return tell


@check(Subject.TABLES, Stage.FORM)
@rule("size", "a row's size is not what message, K, repeats and granule make it", "size.0 = 1", Subject.TABLES)
@rule("address", "a row's address is not what message, K, repeats and granule make it", "addr.0 = 1", Subject.TABLES)
def check_sizes(tables: Tables, findings: Findings) -> None:
    """Chunk size from message, K, repeats and granule; chunk c of iteration 0 at c · size."""
    needed = chunk_bytes_of(tables.message_bytes, tables.chunks, tables.repeats, tables.machine)
    if tables.chunk_bytes != needed:
        cut = f"{tables.message_bytes} bytes in {tables.chunks} x {tables.repeats} chunks of whole {tables.machine.flit_bytes}-byte"
        findings.add("size", 0, (), f"chunks of {tables.chunk_bytes} bytes; {cut} granules take {needed} each")
    granules = needed // tables.machine.flit_bytes
    for name, column, right in (
        ("size", tables.size, np.full(len(tables.flow), granules)),
        ("address", tables.addr, tables.flow.astype(np.int64) * granules),
    ):
        rows = np.flatnonzero(column != right)
        tell_rows(tables, findings, name, np.ones(len(rows), np.bool_), rows, _wrong_number(name, column[rows], right[rows]))


def _wrong_number(rule: str, column: NDArray[np.int64], right: NDArray[np.int64]) -> Callable[[int], str]:
    return lambda index: f"has {rule} {column[index]}; needed: {right[index]} granules"


@check(Subject.TABLES)
@rule(
    "slot",
    "a slot is shorter than serialization, latency and reduction need (`models/schedule/timing.py`, computed again)",
    "slot_cycles = 1",
    Subject.TABLES,
)
def check_slot(tables: Tables, findings: Findings) -> None:
    """A slot lasts at least as long as its slowest transfer and reduction need; of rows without a link that is not known."""
    if findings.rules & {"link", "self"}:
        return
    timing = slot_timing(tables.schedule, tables.message_bytes, tables.machine)
    if tables.slot_cycles < timing.slot_cycles:
        terms = (
            f"serialization {timing.ser}, latency {timing.lat}, reduction {timing.red}, work {timing.work}, delay {tables.delay}"
        )
        findings.add("slot", 0, (), f"a slot of {tables.slot_cycles} cycles is too short; needed: {timing.slot_cycles} ({terms})")
