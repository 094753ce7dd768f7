"""The abstract machine: executes one iteration of a schedule on sets of contributions.

Every cell (buffer of an endpoint or a reducing switch, chunk) holds a set of contributions, one bit each; the cells of switches, of
scratch buffers and of endpoints that take no part start empty. In each step the transfers sent `delay` steps earlier land first
(with fine slots, those that have landed by then), then the transfers of the step leave with the contents of their source. A copy
replaces the contents of the destination; a reduce adds to them, and must add new contributions only: a contribution that both sides
have would be counted twice. As long as no such fault has been found, every cell holds a contribution at most once, so the sets
*are* the multisets.

The iterations of a repeating schedule do the same on separate chunks, `period` steps apart. No cell belongs to two of them, so a
property of one iteration holds for all; they share links only, which `contention` checks.

Cost: transfers × ranks / 64 words of work, three times that of memory, in groups of chunks of at most GROUP_BYTES; one vector
operation per step with transfers.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from certree.models.common.budget import spend
from certree.models.common.columns import distinct
from certree.models.fine.slots import fine_times
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import Op
from certree.verify.rules.obligations import EVERYONE, Int64, Promise

GROUP_BYTES = 1 << 28
LISTED_CELLS = 40  # cells that miss something, told apart


@dataclass(frozen=True)
class Outcome:
    """Faulty rows and cells (chunk · places + place), rows in the order of their steps.

    `empty_source`: rows whose source cell was empty; they carry nothing. `empty_target`: reduces into an empty cell of an endpoint
    (the first reduce into a switch stores its data). `doubled`: reduces that counted a contribution twice. `unmet`: some of the
    `unmet_count` cells that must be complete at the end and are not.
    """

    empty_source: Int64
    empty_target: Int64
    doubled: Int64
    unmet: Int64
    unmet_count: int


def execute(schedule: Schedule, promise: Promise, executed: NDArray[np.bool_]) -> Outcome:
    """Execute the flagged rows (between different cells; no copy meets another transfer in a cell)."""
    rows = np.flatnonzero(executed)
    if (schedule.step[1:] < schedule.step[:-1]).any():
        rows = rows[np.argsort(schedule.step[rows], kind="stable")]
    work = f"contents after {len(rows):,} transfers, with up to {promise.contributions:,} contributions each"
    spend(8 * len(rows) * promise.words, work)
    empty_source: list[int] = []
    empty_target: list[int] = []
    doubled: list[int] = []
    complete = [promise.complete_from_start()]
    for group in _groups(schedule, promise, rows):
        execution = _Execution(schedule, promise, group)
        complete.append(execution.run())
        empty_source += execution.empty_source
        empty_target += execution.empty_target
        doubled += execution.doubled
    unmet, unmet_count = _unmet(promise, distinct(np.concatenate(complete)))
    faults = [execution_order(schedule, np.array(found, np.int64)) for found in (empty_source, empty_target, doubled)]
    return Outcome(faults[0], faults[1], faults[2], unmet, unmet_count)


def execution_order(schedule: Schedule, rows: Int64) -> Int64:
    """Rows by step, and within a step in the order in which they land: by destination, then by row."""
    return rows[np.lexsort((rows, schedule.chunk[rows], schedule.dst[rows], schedule.step[rows]))]


def _groups(schedule: Schedule, promise: Promise, rows: Int64) -> Iterator[Int64]:
    """The rows, in order, divided by chunk such that each group's sets take at most GROUP_BYTES."""
    limit = max(1, GROUP_BYTES // (3 * 8 * promise.words))
    ends = np.cumsum(np.bincount(schedule.chunk[rows], minlength=schedule.chunks))
    if len(rows) <= limit:
        yield rows
        return
    group = (ends // limit)[schedule.chunk[rows]]
    order = np.argsort(group, kind="stable")
    yield from np.split(rows[order], np.flatnonzero(np.diff(group[order])) + 1)


def _any(sets: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Flags of the sets that are not empty."""
    return np.asarray(sets[:, 0] != 0 if sets.shape[1] == 1 else sets.any(axis=1))


def _unmet(promise: Promise, complete: Int64) -> tuple[Int64, int]:
    """Some due cells that are not among the sorted `complete` ones, and their number. O(chunks + complete).

    At most LISTED_CELLS per chunk, so that different faults of different chunks show.
    """
    per_chunk = np.bincount(complete // promise.places, minlength=len(promise.due))
    lacking = promise.due_cells() - per_chunk
    cells: list[int] = []
    chunks = np.flatnonzero(lacking)
    each = max(1, LISTED_CELLS // max(1, len(chunks)))
    for chunk in chunks[:LISTED_CELLS].tolist():
        alone = int(promise.due[chunk])
        due = np.flatnonzero(promise.members) if alone == EVERYONE else np.array([alone])
        low, high = np.searchsorted(complete, [chunk * promise.places, (chunk + 1) * promise.places])
        cells += np.setdiff1d(chunk * promise.places + due, complete[low:high], assume_unique=True)[:each].tolist()
    return np.array(cells, np.int64), int(lacking.sum())


class _Execution:
    """The cells that one group of rows touches, and their execution."""

    def __init__(self, schedule: Schedule, promise: Promise, rows: Int64) -> None:
        self.rows, self.promise, self.delay = rows, promise, schedule.delay
        self.step, self.is_copy = schedule.step[rows], schedule.op[rows] == Op.COPY
        self.landing = fine_times(schedule).landing_slot[rows] if schedule.has_fine_slots else None
        place, self.src = promise.place_of(len(schedule.topology.kind)), schedule.chunk[rows].astype(np.int64)
        self.src *= promise.places
        self.dst = self.src.copy()
        self.src += place[schedule.src[rows]]
        self.dst += place[schedule.dst[rows]]
        if schedule.src_buffer is not None and schedule.dst_buffer is not None:
            self.src += promise.scratch(schedule.src_buffer[rows])
            self.dst += promise.scratch(schedule.dst_buffer[rows])
        self.cell = self._number_cells(promise.places)
        self.may_be_empty = promise.places > promise.ranks or bool((promise.holder != EVERYONE).any()) or not promise.members.all()
        self.is_switch = promise.is_switch(self.cell % promise.places)
        self.empty_source: list[int] = []
        self.empty_target: list[int] = []
        self.doubled: list[int] = []

    def _number_cells(self, places: int) -> Int64:
        """The cells that the group touches, and `src` and `dst` as positions among them; all cells of its chunks where most are."""
        if not len(self.rows):
            return self.src
        first, last = min(self.src.min(), self.dst.min()) // places, max(self.src.max(), self.dst.max()) // places
        if (last - first + 1) * places <= 2 * len(self.rows):
            self.src -= first * places
            self.dst -= first * places
            return np.arange(first * places, (last + 1) * places)
        cell, number = np.unique(np.concatenate((self.src, self.dst)), return_inverse=True)
        self.src, self.dst = number[: len(self.rows)], number[len(self.rows) :]
        return cell

    def run(self) -> Int64:
        """Execute all steps; returns the due cells that are complete at the end."""
        self.state = self.promise.initial(*np.divmod(self.cell, self.promise.places))
        if self.landing is None:
            self._run_in_steps()
        else:
            self._run_apart(self.landing)
        complete = (self.state == self.promise.complete).all(axis=1)
        done: Int64 = self.cell[complete & self.promise.is_due(*np.divmod(self.cell, self.promise.places))]
        return done

    def _run_apart(self, landing: Int64) -> None:
        """Run the rows where each lands in a step of its own."""
        order = np.argsort(landing, kind="stable")
        times = distinct(np.concatenate((self.step.astype(np.int64), landing)))
        bounds = [np.searchsorted(column, times, side=side) for column in (self.step, landing[order]) for side in ("left", "right")]
        carried = np.zeros((len(self.rows), self.promise.words), np.uint64)
        for begin, end, low, high in zip(*(bound.tolist() for bound in bounds), strict=True):
            if low < high:
                which = np.sort(order[low:high])
                self._land(which, carried[which])
            if begin < end:
                carried[begin:end] = self._send(begin, end)

    def _run_in_steps(self) -> None:
        """Run the rows where all that is sent in one step lands in one step."""
        fresh = np.ones(len(self.step), np.bool_)
        np.not_equal(self.step[1:], self.step[:-1], out=fresh[1:])
        times = distinct(np.concatenate((self.step[fresh], self.step[fresh] + np.int32(self.delay))))  # below 2^31
        first, last = np.searchsorted(self.step, times), np.searchsorted(self.step, times, side="right")
        sent = np.searchsorted(self.step, times - np.int32(self.delay))
        landed = np.searchsorted(self.step, times - np.int32(self.delay), side="right")
        flying: dict[int, NDArray[np.uint64]] = {}
        for begin, end, low, high in zip(first.tolist(), last.tolist(), sent.tolist(), landed.tolist(), strict=True):
            if low < high:
                self._land(slice(low, high), flying.pop(low))
            if begin < end:
                flying[begin] = self._send(begin, end)

    def _send(self, begin: int, end: int) -> NDArray[np.uint64]:
        """The contributions that the rows begin..end carry."""
        payload: NDArray[np.uint64] = self.state[self.src[begin:end]]
        if self.may_be_empty:
            self.empty_source += self.rows[begin:end][~_any(payload)].tolist()
        return payload

    def _land(self, which: slice | Int64, payload: NDArray[np.uint64]) -> None:
        """Apply some rows; a copy has its destination to itself."""
        target, rows, is_copy = self.dst[which], self.rows[which], self.is_copy[which]
        if self.may_be_empty:
            loaded = _any(payload)
            nothing = ~is_copy & loaded & ~self.is_switch[target] & ~_any(self.state[target])
            self.empty_target += rows[nothing].tolist()
            if not loaded.all():
                target, rows, is_copy, payload = target[loaded], rows[loaded], is_copy[loaded], payload[loaded]
        if is_copy.all():
            self.state[target] = payload
            return
        self.state[target[is_copy]] = payload[is_copy]
        reduces = np.flatnonzero(~is_copy)
        reduces = reduces[np.argsort(target[reduces], kind="stable")]
        self._reduce(target[reduces], rows[reduces], payload[reduces])

    def _reduce(self, target: Int64, rows: Int64, payload: NDArray[np.uint64]) -> None:
        """Add to each target, in row order within it; `total` is what it holds after each row: a prefix sum by doubling."""
        first = np.ones(len(target), np.bool_)
        first[1:] = target[1:] != target[:-1]
        held = self.state[target]
        if not first.all():
            index = np.arange(len(target))
            place = index - np.maximum.accumulate(np.where(first, index, 0))
            total = held | payload
            reach = 1
            while reach <= place.max():
                behind = np.flatnonzero(place >= reach)
                total[behind] |= total[behind - reach]
                reach *= 2
            held[~first] = total[np.flatnonzero(~first) - 1]
        self.doubled += rows[(held & payload).any(axis=1)].tolist()
        last = np.append(first[1:], True)[: len(target)]
        self.state[target[last]] = (held | payload)[last]
