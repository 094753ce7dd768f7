"""`race_of`: whether the data of a schedule are right at any timing, or only while messages come in their slots, equal or fine.

A *unit* is what one row sends: transfers of one source, step, operation and cell. A node fires its units in order, each once the
transfers that had landed in its cell by its step have counted. So a unit *knows* of another one of a node n, in every run, if the
chain of such waits leads from that one to it. Arrivals of one iteration are never taken for those of another: interfaces count them
iteration by iteration (`docs/reference/tables.md`, A11).

A schedule is right at any timing if (1) the sender of a transfer into a cell at n knows of all units of n that read the cell before
it comes, and (2) of two transfers into one cell, one of them a copy, the sender of the second knows of a unit that has waited for
the first. Proof: take the first event of a run, in time, that comes too early: a transfer m that has landed in a cell before a unit
u that should not see it has fired. The sender of m knew of u: a chain of waits leads from u to it, and all units of the chain fired
before m landed, thus with exactly the arrivals that they should have had, since m is the first. So each of them fired after the one
before it in the chain, and u fired before m was sent. The same for (2).

If (1) fails for u and m, no chain leads from u to the sender of m: everything that the sender needs can happen without u. A network
in which u's node is slow enough brings m before u fires, and u sends what it should not have: the condition is also necessary where
delays may be of any length. Of copies that is so only where the two bring different data.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from certree.models.common.budget import spend
from certree.models.common.columns import within_words
from certree.models.fine.slots import landing_steps
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import Op
from certree.models.schedule.timing import ceil_div
from certree.verify._proofs import known_units

Int64 = NDArray[np.int64]
#: units times nodes up to which chains of waits are followed
MOST_KNOWN = 1 << 25


@dataclass(frozen=True)
class Race:
    """Two transfers, rows of the schedule in steps of one round or fine slots, that only slots keep in order; `what` they would
    spoil.

    `first` reads the cell (chunk at node), or writes it; `second` writes it, and should come later. None for both where iterations
    share a cell, for `first` also where no unit reads the cell, and where chains of waits were too many to be followed."""

    node: int
    chunk: int
    what: str
    first: int | None = None
    second: int | None = None


@lru_cache(maxsize=2)
def race_of(plan: Schedule, in_flight: int | None = None) -> Race | None:
    """A race of a valid schedule in steps of one round (`timing.slotted`) or in fine slots; None where its data are right at any
    timing. Errors as `landing_steps`.

    `in_flight`: W of its tables (`docs/reference/tables.md`, D6); None: as the exporter chooses it. For schedules too large to be
    examined some race is returned, unless every unit waits for all that its cell ever gets. O(units · nodes +
    transfers log transfers) time, at most MOST_KNOWN entries of memory; computed once while the same plan is examined.
    """
    if not plan.transfers:
        return None
    cells = _Cells(plan)
    shared = _shared_by_iterations(plan, cells, in_flight)
    if shared is not None:
        return shared
    reads, copies = cells.reads_before(), cells.copies_before()
    if not (reads[0].size or copies[0].size):
        return None
    if cells.units * len(plan.topology.kind) > MOST_KNOWN:
        second = int((reads if reads[0].size else copies)[1][0])
        return Race(int(plan.dst[second]), int(plan.chunk[second]), "keeps", second=second)
    known = _known(cells)
    for (unit, transfer), what in ((reads, "sends"), (copies, "keeps")):
        ignorant = (unit < 0) | (known[cells.unit_of[transfer], plan.dst[transfer]] <= cells.place[unit])
        if ignorant.any():
            at = int(np.argmax(ignorant))
            second = int(transfer[at])
            first = int(cells.first_of[unit[at]]) if unit[at] >= 0 else None
            return Race(int(plan.dst[second]), int(plan.chunk[second]), what, first, second)
    return None


class _Cells:
    """The transfers of a plan by unit and by the cell that they come into. `lands`: of each, the first step that has it.

    `unit_of`: of each transfer; units are numbered in the order of their steps. `source`, `step`, `reads` (cell), `place` (number
    among the units of its node) and `first_of` (a transfer) of each unit. `arrivals`: transfers by cell, then landing; `keys`: of
    both.
    """

    def __init__(self, plan: Schedule) -> None:
        self.plan, self.lands = plan, landing_steps(plan)
        self.span = max(plan.steps, int(self.lands.max(initial=0))) + 1
        zero = np.zeros(plan.transfers, np.int32)
        sent = zero if plan.src_buffer is None else plan.src_buffer
        into = zero if plan.dst_buffer is None else plan.dst_buffer
        cells = self._cell(plan.src, sent), self._cell(plan.dst, into)
        self.reads_of, self.writes = within_words(self.span, *cells)
        is_copy = (plan.op == Op.COPY).astype(np.int64)
        keys = (into, sent, plan.chunk, is_copy, plan.src, plan.step)  # rows of a node in the order of its table
        order = np.lexsort(keys)
        fresh = np.ones(plan.transfers, np.bool_)
        fresh[1:] = np.any([np.diff(key[order]) != 0 for key in keys], axis=0)
        self.units = int(fresh.sum())
        self.unit_of = np.empty(plan.transfers, np.int64)
        self.unit_of[order] = np.cumsum(fresh) - 1
        self.first_of = order[fresh]
        self.source, self.step = plan.src[self.first_of].astype(np.int64), plan.step[self.first_of].astype(np.int64)
        self.reads = self.reads_of[self.first_of]
        by_node = np.argsort(self.source, kind="stable")
        starts = np.searchsorted(self.source[by_node], np.arange(len(plan.topology.kind)))
        self.place = np.empty(self.units, np.int64)
        self.place[by_node] = np.arange(self.units) - starts[self.source[by_node]]
        self.arrivals = np.argsort(self.writes * self.span + self.lands, kind="stable")
        self.keys = (self.writes * self.span + self.lands)[self.arrivals]
        self.readers = np.argsort(self.reads * self.span + self.step, kind="stable")
        self.reader_keys = (self.reads * self.span + self.step)[self.readers]

    def _cell(self, node: NDArray[np.integer], buffer: NDArray[np.integer]) -> Int64:
        cell: Int64 = (node.astype(np.int64) * self.plan.chunks + self.plan.chunk) * self.plan.buffers + buffer
        return cell

    def awaited(self) -> tuple[Int64, Int64]:
        """(first, past the last) by unit: the places in `arrivals` of what has landed in its cell by its step."""
        base = self.reads * self.span
        return np.searchsorted(self.keys, base), np.searchsorted(self.keys, base + self.step + 1)

    def reads_before(self) -> tuple[Int64, Int64]:
        """(unit, transfer): for each transfer the last unit that reads its cell without it, where there is one."""
        base = self.writes * self.span
        first = np.searchsorted(self.reader_keys, base)
        last = np.searchsorted(self.reader_keys, base + self.lands)
        found = np.flatnonzero(last > first)
        # among the readers of the last of these steps, the last in the table of its node
        return self.readers[last[found] - 1], found

    def copies_before(self) -> tuple[Int64, Int64]:
        """(unit, transfer): for each transfer behind another one into its cell, one of the two a copy, the first unit that has
        waited for the first of them, -1 where none has."""
        arrivals, keys = self.arrivals, self.keys
        cell = keys // self.span
        is_copy = self.plan.op[arrivals] == Op.COPY
        number = np.arange(len(arrivals))
        start = np.searchsorted(cell, cell)
        latest_copy = np.maximum.accumulate(np.where(is_copy, number, -1))
        latest_copy = np.concatenate(([-1], latest_copy[:-1]))
        before = np.where(is_copy, number - 1, latest_copy)
        found = np.flatnonzero(before >= start)
        reader = np.searchsorted(self.reader_keys, keys[before[found]])
        known = np.append(self.reader_keys, -1)[reader] // self.span == cell[found]
        unit = np.where(known, np.append(self.readers, 0)[reader], -1)
        return unit, arrivals[found]


def _known(cells: _Cells) -> NDArray[np.int32]:
    """How many units of each node have fired, as every unit knows when it fires, itself included; shape (units, nodes)."""
    low, high = cells.awaited()
    waits, nodes = int((high - low).sum()), len(cells.plan.topology.kind)
    spend((cells.units + waits) * nodes, f"{waits:,} waits of {cells.units:,} messages, among {nodes:,} nodes")
    return known_units(cells.source, cells.place, low, high, cells.unit_of[cells.arrivals], nodes)


def _shared_by_iterations(plan: Schedule, cells: _Cells, in_flight: int | None) -> Race | None:
    """A work cell (D4) that iterations i and i + W use: nothing but slots keeps the second from coming before the first is read."""
    if not plan.is_repeating:
        return None
    if plan.buffers > 1:
        works = (cells.writes % plan.buffers) != 0
    elif plan.chunk_target is not None:
        works = plan.dst != plan.chunk_target[plan.chunk]
    else:
        return None
    if not works.any():
        return None
    used, written = np.unique(cells.writes, return_inverse=True)
    first, last = np.full(len(used), cells.span), np.zeros(len(used), np.int64)
    np.minimum.at(first, written, plan.step)
    np.maximum.at(last, written, cells.lands)
    read = np.minimum(np.searchsorted(used, cells.reads_of), len(used) - 1)
    inside = used[read] == cells.reads_of
    np.maximum.at(last, read[inside], plan.step[inside])
    window = in_flight or ceil_div(max(1, int((last - first).max())), plan.period_rounds)
    if plan.repeats <= window:
        return None
    transfer = int(np.argmax(works))
    return Race(int(plan.dst[transfer]), int(plan.chunk[transfer]), f"uses a work cell for iteration 0 and for iteration {window}")
