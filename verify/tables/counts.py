"""Rows that wait for numbers of arrivals (`blocks`, `buffers`): rules `tree`, `dependency` and `memory`."""

import numpy as np
from numpy.typing import NDArray

from certree.models.schedule.schedule_columns import Op
from certree.models.tables.table_columns import Profile
from certree.models.tables.tables import Tables
from certree.verify.rule import Stage, Subject, check, rule
from certree.verify.tables.dependencies import Moves, check_arrivals, tell_rows
from certree.verify.verdict import Findings

Int64 = NDArray[np.int64]


class _Landings:
    """The transfers that rows command, by the cell that they write and the step in which they were sent."""

    def __init__(self, tables: Tables, moves: Moves) -> None:
        self.cell = tables.cells(moves.dst, moves.chunk, tables.dst_buffer[moves.row])
        order = np.lexsort((moves.step, self.cell))
        self.cell, self.sent = self.cell[order], moves.step[order].astype(np.int64)
        self._cells, number = np.unique(self.cell, return_inverse=True)
        self.op, self.row, self.lands = moves.op[order], moves.row[order], moves.landing(tables)[order]
        self._span = int(max(self.lands.max(initial=0), tables.step.max(initial=0))) + 2
        self._key, self._landing = number * self._span + self.sent, np.sort(number * self._span + self.lands)

    def sent_before(self, cell: Int64, step: Int64) -> Int64:
        """How many of the transfers into each cell leave before a step."""
        base = self._base(cell)
        return np.searchsorted(self._key, base + step) - np.searchsorted(self._key, base)

    def landed_by(self, cell: Int64, step: Int64) -> Int64:
        """How many of the transfers into each cell have landed when a step begins."""
        base = self._base(cell)
        return np.searchsorted(self._landing, base + step, side="right") - np.searchsorted(self._landing, base)

    def _base(self, cell: Int64) -> Int64:
        """The places at which the keys of each cell begin; for a cell that nothing comes to, a place behind all of them."""
        number = np.searchsorted(self._cells, cell)
        known = np.append(self._cells, -1)[number] == cell
        return np.where(known, number, len(self._cells)) * self._span


@check(Subject.TABLES, Stage.WIRING)
def check_counts(tables: Tables, findings: Findings) -> None:
    """Report arrivals that rows do not cause, and rows that wait for other arrivals than have landed. O(rows log rows)."""
    if not tables.is_counted:
        return
    moves = Moves.of(tables)
    check_arrivals(tables, findings)
    landings = _Landings(tables, moves)
    reads = tables.cells(tables.node, tables.flow, tables.src_buffer)
    _check_waits(tables, reads, landings, findings)
    _check_meetings(tables, landings, findings)
    _check_in_flight(tables, reads, landings, findings)
    if tables.profile is Profile.BLOCKS:
        _check_paths(tables, moves, findings)


def _check_waits(tables: Tables, reads: Int64, landings: _Landings, findings: Findings) -> None:
    """Check rule `dependency`: A5 of the table contract."""
    step, rows = tables.step.astype(np.int64), np.arange(len(tables.step))
    landed, sent = landings.landed_by(reads, step), landings.sent_before(reads, step)
    tell_rows(
        tables, findings, "dependency", tables.wait != landed, rows,
        lambda i: f"waits for {tables.wait[i]} arrivals; {landed[i]} have landed in the cell that it reads",
    )  # fmt: skip
    tell_rows(
        tables, findings, "dependency", sent > landed, rows, lambda _: "reads its chunk while a transfer into it is in flight"
    )


def _check_meetings(tables: Tables, landings: _Landings, findings: Findings) -> None:
    """Check rule `dependency`: A6 of the table contract. Neighbours in the order of steps are enough: what meets one meets the
    next. With fine slots rule `in-flight` covers this."""
    if tables.fine_slots:
        return
    apart = np.diff(landings.sent)
    near = (np.diff(landings.cell) == 0) & (apart > 0) & (apart < tables.delay)
    copies = landings.op == Op.COPY
    tell_rows(
        tables,
        findings,
        "dependency",
        near & (copies[1:] | copies[:-1]),
        landings.row[1:],
        lambda _: "is in flight to a cell together with another transfer, and either may land first",
    )


@rule(
    "memory",
    "with several iterations in flight: an iteration uses a cell, or its counter, before the one that had it is done with it",
    "tests/verify/tables/test_counted.py",
    Subject.TABLES,
)
def _check_in_flight(tables: Tables, reads: Int64, landings: _Landings, findings: Findings) -> None:
    """Check rule `memory`: D6 of the table contract."""
    if not tables.period or not len(landings.cell) or tables.in_flight == tables.repeats:
        return
    cells, first = np.unique(landings.cell, return_index=True)
    last = np.append(first[1:], len(landings.cell)) - 1
    again = landings.sent[first] + tables.in_flight * tables.period  # when iteration W sends to the cell for the first time
    landed = np.maximum.reduceat(landings.lands, first)
    tell_rows(
        tables, findings, "memory", landed > again, landings.row[last],
        lambda i: f"has not landed in step {again[i]}, in which iteration {tables.in_flight} uses the cell",
    )  # fmt: skip
    place = np.minimum(np.searchsorted(cells, reads), len(cells) - 1)
    late = (cells[place] == reads) & (tables.step > again[place])
    tell_rows(
        tables, findings, "memory", late, np.arange(len(reads)),
        lambda i: f"reads a cell that iteration {tables.in_flight} uses from step {again[place[i]]} on",
    )  # fmt: skip


def _check_paths(tables: Tables, moves: Moves, findings: Findings) -> None:
    """Check rule `tree`: P4 of the table contract."""
    assert tables.chunk_root is not None
    for node, fault in (
        (moves.src, "sends a chunk that has already left its node"),
        (moves.dst, "is not the only one to reach its node"),
    ):
        key = node.astype(np.int64) * tables.chunks + moves.chunk
        order = np.argsort(key, kind="stable")
        again = np.concatenate(([False], np.diff(key[order]) == 0))[: len(key)]
        tell_rows(tables, findings, "tree", again, moves.row[order], lambda _, fault=fault: fault)  # type: ignore[misc]
    back = moves.dst == tables.chunk_root[moves.chunk]
    tell_rows(tables, findings, "tree", back, moves.row, lambda i: f"sends a chunk back to its source, node {moves.dst[i]}")
    tell_rows(tables, findings, "tree", moves.op != Op.COPY, moves.row, lambda _: "is a REDUCE; tables of blocks have none")
