"""Rules `tree`, `dependency` and `arrivals`: rows wait for what reaches their node, and it has landed when they fire."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from certree.models.common.errors import TableFormatError
from certree.models.fine.slots import fine_times
from certree.models.network.topology import Int32
from certree.models.schedule.schedule_columns import Op
from certree.models.tables.table_columns import NIL, RowOp
from certree.models.tables.table_form import Fault, arrival_faults, faults_of_rows
from certree.models.tables.tables import Tables
from certree.verify.rule import Stage, Subject, check, rule
from certree.verify.verdict import Findings
from certree.verify.wording import list_text

Int64 = NDArray[np.int64]
NEVER = -1


@dataclass(frozen=True)
class Moves:
    """The transfers commanded by the rows (columns as `Tables.transfers`), and their order in `Tables.schedule`."""

    row: Int32
    chunk: Int32
    op: Int32
    step: Int32
    src: Int32
    dst: Int32
    route: Int32
    src_buffer: Int32 | None = None
    dst_buffer: Int32 | None = None

    @classmethod
    def of(cls, tables: Tables) -> Self:
        """The moves of the tables."""
        return cls(**tables.transfers())

    @property
    def order(self) -> Int64:
        """The move of each row of `Tables.schedule`."""
        buffers = () if self.src_buffer is None or self.dst_buffer is None else (self.dst_buffer, self.src_buffer)
        return np.lexsort((*buffers, self.route, self.dst, self.src, self.chunk, self.op, self.step))

    def landing(self, tables: Tables) -> Int64:
        """The first step that can use what each move carries; with fine slots that of `delay` where the rows make no schedule."""
        lands = self.step.astype(np.int64) + tables.delay
        if not tables.fine_slots:
            return lands
        with suppress(TableFormatError):  # a rooted collective whose chunks have no roots, which is reported
            lands[self.order] = fine_times(tables.schedule).landing_slot
        return lands


class _Arrivals:
    """Moves of one op by (destination, flow, source), with the step in which each lands."""

    def __init__(self, tables: Tables, moves: Moves, op: Op) -> None:
        chosen = np.flatnonzero(moves.op == op)
        self._chunks, self._nodes = tables.chunks, len(tables.topology.kind)
        cell = self.cell(moves.dst[chosen], moves.chunk[chosen])
        lands = moves.landing(tables)[chosen]
        order = np.lexsort((lands, moves.src[chosen], cell))
        self.cells, self.peers, self.lands = cell[order], moves.src[chosen][order].astype(np.int64), lands[order]
        self.rows = moves.row[chosen][order]
        self.sent = moves.step[chosen][order].astype(np.int64)

    def cell(self, node: Int32, flow: Int32) -> Int64:
        """One number for each node and flow."""
        return node.astype(np.int64) * self._chunks + flow

    def at(self, cell: Int64) -> tuple[Int64, Int64]:
        """The places at which the arrivals of each cell begin and end."""
        return np.searchsorted(self.cells, cell), np.searchsorted(self.cells, cell, side="right")

    def last_landing(self, cell: Int64) -> Int64:
        """The step in which the last arrival of each cell lands; NEVER where none does."""
        if not len(self.cells):
            return np.full(len(cell), NEVER, np.int64)
        begin, end = self.at(cell)
        starts = np.flatnonzero(np.concatenate(([True], np.diff(self.cells) != 0)))
        latest = np.maximum.reduceat(self.lands, starts)
        group = np.searchsorted(self.cells[starts], cell)
        return np.where(end > begin, latest[np.minimum(group, len(latest) - 1)], NEVER)


def report(faults: Iterable[Fault], findings: Findings) -> None:
    """Report each case of each fault, by its rule."""
    for fault in faults:
        findings.add_each(fault.rule, fault.cases, fault.tell)


def tell_rows(
    tables: Tables, findings: Findings, rule: str, broken: NDArray[np.bool_], rows: NDArray[Any], reason: Callable[[int], str]
) -> None:
    """Report `rows[i]` for each faulty i, with the message `reason(i)`."""
    report(faults_of_rows(tables, rule, broken, rows, reason), findings)


@check(Subject.TABLES, Stage.WIRING)
def check_moves(tables: Tables, findings: Findings) -> None:
    """Report arrivals and dependencies of `trees` that do not fit what the rows move."""
    if tables.is_counted:
        return
    moves = Moves.of(tables)
    check_arrivals(tables, findings)
    check_dependencies(tables, moves, findings)


@rule(
    "dependency",
    "a REDUCE does not wait for exactly the reductions that its node receives, a GATHER does not wait for its copy, or (at the "
    "root) a row fires before its arrivals have counted, or reads its chunk while a transfer into it is in flight; in `blocks` and "
    "`buffers` a row waits for another number of arrivals than have landed, or a copy may land before or after another transfer",
    "parent.1 = 0",
    Subject.TABLES,
)
def check_dependencies(tables: Tables, moves: Moves, findings: Findings) -> None:
    """Report rows that do not wait for exactly what they pass on, or fire before it has landed. O(rows log rows)."""
    reduces, copies = (_Arrivals(tables, moves, op) for op in (Op.REDUCE, Op.COPY))
    _check_trees(tables, reduces, copies, findings)
    _check_reduce_rows(tables, reduces, findings)
    _check_gather_rows(tables, reduces, copies, findings)
    for arrivals in (reduces, copies):
        _check_reads(tables, arrivals, findings)


@rule(
    "tree",
    "a node sends the REDUCE of a flow twice, gets its GATHER twice, or does not pass on what is reduced into it; a flow has no "
    "root, or several; in `blocks` a chunk leaves or reaches a node twice, returns to its source, or is reduced",
    "rows = [0, 1, 1, 2]; step.2 = 2; children.2 = [2, -1]; arrivals = [0, 1, 2, 3, 3]",
    Subject.TABLES,
)
def _check_trees(tables: Tables, reduces: _Arrivals, copies: _Arrivals, findings: Findings) -> None:
    """Check rule `tree`: a node sends each flow's REDUCE once, gets its GATHER once, and passes on what is reduced into it."""
    rows = np.flatnonzero(tables.op == RowOp.REDUCE)
    sent = reduces.cell(tables.node[rows], tables.flow[rows])
    order = np.argsort(sent, kind="stable")
    again = np.zeros(len(rows), np.bool_)
    again[order[1:]] = np.diff(sent[order]) == 0
    tell_rows(tables, findings, "tree", again, rows, lambda _: "sends a REDUCE that its node has already sent")
    again = np.concatenate(([False], np.diff(copies.cells) == 0))[: len(copies.cells)]
    receiver = copies.cells // tables.chunks
    tell_rows(tables, findings, "tree", again, copies.rows, lambda i: f"is not the only GATHER that reaches node {receiver[i]}")
    begin, end = copies.at(reduces.cells)
    lost = (end > begin) & ~np.isin(reduces.cells, sent)
    into = reduces.cells // tables.chunks
    tell_rows(
        tables, findings, "tree", lost, reduces.rows, lambda i: f"reduces into node {into[i]}, which does not pass the sum on"
    )


def _check_reduce_rows(tables: Tables, reduces: _Arrivals, findings: Findings) -> None:
    """Check that a REDUCE waits for exactly the reductions that its node receives of the flow, all of which have landed."""
    rows = np.flatnonzero(tables.op == RowOp.REDUCE)
    cell = reduces.cell(tables.node[rows], tables.flow[rows])
    begin, end = reduces.at(cell)
    named = np.sort(tables.children[rows], axis=1)
    counts = (named != NIL).sum(axis=1)
    wrong = counts != end - begin
    # where the numbers agree, compare the i-th child with the i-th arrival, both ascending
    width = named.shape[1]
    for place in range(width):
        has = np.flatnonzero(~wrong & (counts > place))
        wrong[has] |= named[has, width - counts[has] + place] != reduces.peers[begin[has] + place]

    def waits(index: int) -> str:
        children, arriving = named[index][named[index] != NIL], reduces.peers[begin[index] : end[index]]
        return f"waits for reductions from {_peers(children)}; those that its node receives come from {_peers(arriving)}"

    tell_rows(tables, findings, "dependency", wrong, rows, waits)
    landed = reduces.last_landing(cell)
    late = landed > tables.step[rows]
    tell_rows(
        tables, findings, "dependency", late, rows, lambda i: f"fires before the last reduction has landed, in step {landed[i]}"
    )


def _check_gather_rows(tables: Tables, reduces: _Arrivals, copies: _Arrivals, findings: Findings) -> None:
    """Check that a GATHER waits for its copy, or at the root for all reductions of the flow; they have landed when it fires."""
    rows = np.flatnonzero(tables.op == RowOp.GATHER)
    cell, parent, step = copies.cell(tables.node[rows], tables.flow[rows]), tables.parent[rows], tables.step[rows]
    begin, end = copies.at(cell)
    comes = end > begin
    source = np.full(len(rows), NIL, np.int64)
    source[comes] = copies.peers[begin[comes]]
    tell_rows(
        tables, findings, "dependency", parent != source, rows,
        lambda i: f"waits for {_copy_of(int(parent[i]))}; its node receives {_copy_of(int(source[i]))}",
    )  # fmt: skip
    landed = np.where(comes, copies.last_landing(cell), reduces.last_landing(cell))
    late = landed > step
    tell_rows(
        tables, findings, "dependency", late, rows, lambda i: f"fires before what it passes on has landed, in step {landed[i]}"
    )


def _check_reads(tables: Tables, arrivals: _Arrivals, findings: Findings) -> None:
    """Check that no row reads its chunk while a transfer into it is in flight: it may arrive before step s + delay."""
    cell = arrivals.cell(tables.node, tables.flow)
    number = np.searchsorted(arrivals.cells, cell)  # of the cell: where its arrivals begin
    span = int(max(arrivals.lands.max(initial=0), tables.step.max(initial=0))) + 2
    first = np.searchsorted(arrivals.cells, arrivals.cells) * span
    now = number * span + tables.step
    sent, landed = (np.sort(first + when) for when in (arrivals.sent, arrivals.lands))
    flying = np.searchsorted(sent, now) > np.searchsorted(landed, now, side="right")
    begin, end = arrivals.at(cell)
    rows = np.arange(len(cell))
    tell_rows(
        tables,
        findings,
        "dependency",
        flying & (end > begin),
        rows,
        lambda _: "reads its chunk while a transfer into it is in flight",
    )


def _peers(nodes: NDArray[Any]) -> str:
    return list_text(nodes.tolist()) or "no node"


def _copy_of(node: int) -> str:
    return "no copy" if node == NIL else f"a copy from node {node}"


@rule(
    "arrivals",
    "the expected arrivals are not the transfers that end at each node, one to one, in order",
    "arrival_peer.0 = 0",
    Subject.TABLES,
)
def check_arrivals(tables: Tables, findings: Findings) -> None:
    """Check that the expected arrivals are the transfers that end at each node, one to one, in order. O(n log n)."""
    report(arrival_faults(tables), findings)
