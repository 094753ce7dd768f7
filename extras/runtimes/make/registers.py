"""Buffers of a schedule for the places of a program: which of them each chunk of each rank needs.

A schedule has for each endpoint and chunk a data buffer, where the own contribution starts and the result is due, and scratch
buffers. A program has an input, an output and scratch. Places of one rank that hold the same chunk one after the other share a
buffer, and a copy between places is left out where the first is not needed any more.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, permutations
from typing import Protocol

from certree.extras.runtimes.check.execution import Arrival, cell_words
from certree.extras.runtimes.make.staging import without_staging
from certree.extras.runtimes.model.layout import Cell, Layout, Part
from certree.extras.runtimes.model.program import Buffer
from certree.models.common.errors import UnsupportedError
from certree.models.schedule.collective import CollectiveKind

_SUMS = (CollectiveKind.ALL_REDUCE, CollectiveKind.REDUCE, CollectiveKind.REDUCE_SCATTER)
_END = 1 << 60


@dataclass(frozen=True)
class Transfer:
    """A transfer of a chunk between buffers: (rank, buffer) to (rank, buffer), read and written at these positions of the run.
    `level`: as of an `Arrival`."""

    chunk: int
    adds: bool
    src: tuple[int, int]
    dst: tuple[int, int]
    read: int
    written: int
    level: int


@dataclass(frozen=True)
class Chunks:
    """The chunks of a schedule: `root` and `target` of each, as ranks; -1 where there is none."""

    layout: Layout

    def of(self, part: Part) -> int | None:
        """The number of the chunk that a contribution belongs to; None for a rank's own block, which nobody moves."""
        rank, offset = part
        kind, k, at = self.layout.kind, self.layout.block, self.layout.order[rank]
        root = 0 if self.layout.root is None else self.layout.order[self.layout.root]
        match kind:
            case CollectiveKind.ALL_REDUCE | CollectiveKind.REDUCE | CollectiveKind.BROADCAST | CollectiveKind.REDUCE_SCATTER:
                return offset
            case CollectiveKind.ALL_GATHER:
                return at * k + offset
            case CollectiveKind.GATHER:
                return None if at == root else (at - (at > root)) * k + offset
            case CollectiveKind.SCATTER:
                target = offset // k
                return None if target == root else (target - (target > root)) * k + offset % k
            case CollectiveKind.ALL_TO_ALL:
                target = self.layout.target(rank, offset)
                return None if target == rank else self._pairs[rank, target] + offset - self.layout.starts[0][rank, target]

    @cached_property
    def _pairs(self) -> dict[tuple[int, int], int]:
        """The first chunk of each pair of an all-to-all."""
        pairs = list(permutations(self.layout.members, 2))
        return dict(zip(pairs, accumulate((self.layout.size(*pair) for pair in pairs), initial=0), strict=False))

    def ends(self) -> tuple[list[int], list[int]]:
        """(root, target) of every chunk."""
        kind, k, members, root = self.layout.kind, self.layout.block, self.layout.members, self.layout.root
        others = [rank for rank in members if rank != root]
        match kind:
            case CollectiveKind.ALL_REDUCE:
                return [-1] * self.layout.chunks, []
            case CollectiveKind.REDUCE | CollectiveKind.BROADCAST:
                return [root or 0] * self.layout.chunks, []
            case CollectiveKind.REDUCE_SCATTER | CollectiveKind.ALL_GATHER:
                return [rank for rank in members for _ in range(k)], []
            case CollectiveKind.GATHER:
                return [rank for rank in others for _ in range(k)], [root or 0] * (k * len(others))
            case CollectiveKind.SCATTER:
                return [root or 0] * (k * len(others)), [rank for rank in others for _ in range(k)]
            case CollectiveKind.ALL_TO_ALL:
                pairs = [pair for pair in permutations(members, 2) for _ in range(self.layout.size(*pair))]
                return [a for a, _ in pairs], [b for _, b in pairs]


class Run(Protocol):
    """The transfers of a run of a program; `layout` counts chunks as the run does. `sizes`: of chunks that differ, else empty."""

    layout: Layout
    in_place: bool
    arrivals: list[Arrival]

    @property
    def sizes(self) -> Mapping[Part, int]:
        """The size of each contribution."""
        ...


def transfers_of(execution: Run) -> list[Transfer]:
    """The transfers of a run between buffers, in the order in which they were written.

    UnsupportedError where a place holds contributions to different chunks, which no schedule says. O(arrivals · log arrivals).
    """
    return _Allocation(execution).transfers


class _Allocation:
    """Gives each place a buffer, arrival by arrival."""

    def __init__(self, execution: Run) -> None:
        self.arrivals, self.chunks = without_staging(execution.arrivals), Chunks(execution.layout)
        self.reads: defaultdict[Cell, list[int]] = defaultdict(list)
        self.changes: defaultdict[Cell, list[int]] = defaultdict(list)
        self.copies: defaultdict[Cell, list[int]] = defaultdict(list)
        for number, arrival in enumerate(self.arrivals):
            self.reads[arrival.src].append(arrival.read)
            (self.changes if arrival.adds else self.copies)[arrival.dst].append(number)
        for found in self.reads.values():
            found.sort()
        self.due = {
            execution.layout.place((rank, Buffer.OUTPUT, offset), in_place=execution.in_place)
            for rank in range(execution.layout.ranks)
            for offset in range(execution.layout.sizes(rank)[1])
        }
        #: of each place its chunk and buffer; of each (rank, chunk) the places in each of its buffers
        self.buffer: dict[Cell, tuple[int, int]] = {}
        self.places: defaultdict[tuple[int, int], dict[int, list[Cell]]] = defaultdict(dict)
        self.transfers: list[Transfer] = []
        #: buffers by the position from which on they hold something else: sources of messages are those of when they were read
        self.history: defaultdict[Cell, list[tuple[int, int]]] = defaultdict(list)
        for rank in range(execution.layout.ranks):
            for offset in range(execution.layout.sizes(rank)[0]):
                chunk = self.chunks.of((rank, offset))
                if chunk is not None:
                    self._settle(execution.layout.place((rank, Buffer.INPUT, offset), in_place=execution.in_place), chunk, 0, 0)
        for number, arrival in enumerate(self.arrivals):
            self._arrive(number, arrival)
        self._finish()

    def _arrive(self, number: int, arrival: Arrival) -> None:
        chunk = self._chunk(arrival)
        if chunk is None:
            return
        src, dst = arrival.src, arrival.dst
        sender = self._buffer_at(src, arrival.read)
        if not arrival.adds:
            local = src[0] == dst[0]
            if local and self._may_share(number, arrival):
                self._settle(dst, chunk, sender, arrival.written)
                return
            self._settle(dst, chunk, self._free_buffer(dst, chunk, number, arrival.written), arrival.written)
        receiver = self._buffer_at(dst, arrival.written)
        row = Transfer(chunk, arrival.adds, (src[0], sender), (dst[0], receiver), arrival.read, arrival.written, arrival.level)
        self.transfers.append(row)

    def _chunk(self, arrival: Arrival) -> int | None:
        if arrival.value.fault:
            raise UnsupportedError(f"{cell_words(arrival.dst)} holds what has no meaning in a schedule: {arrival.value.fault}")
        found = {self.chunks.of(part) for part in arrival.value.parts}
        if len(found) > 1:
            numbers = sorted(offset for _, offset in arrival.value.parts)
            raise UnsupportedError(
                f"{cell_words(arrival.dst)} mixes chunks {numbers[0]} and {numbers[-1]}; a schedule keeps them apart"
            )
        return next(iter(found))

    def _buffer_at(self, cell: Cell, position: int) -> int:
        """The buffer of a place at a position of the run."""
        history = self.history[cell]
        return history[bisect_right(history, (position, _END)) - 1][1]

    def _settle(self, cell: Cell, chunk: int, buffer: int, position: int) -> None:
        if cell in self.buffer:
            old = self.buffer.pop(cell)
            self.places[cell[0], old[0]][old[1]].remove(cell)
        self.buffer[cell] = (chunk, buffer)
        self.places[cell[0], chunk].setdefault(buffer, []).append(cell)
        self.history[cell].append((position, buffer))

    def _next_write(self, cell: Cell, number: int, *, copies_only: bool = False) -> int:
        """The position of the next arrival at a place after arrival `number`; _END where there is none."""
        found = [self.copies[cell]] if copies_only else [self.copies[cell], self.changes[cell]]
        after = [entries[at] for entries in found if (at := bisect_right(entries, number)) < len(entries)]
        return min((self.arrivals[entry].written for entry in after), default=_END)

    def _last_use(self, cell: Cell, number: int, position: int) -> int:
        """The last position at which what a place holds after `position` is read or changed; the end where it is due then."""
        until = self._next_write(cell, number, copies_only=True)
        if until == _END and cell in self.due:
            return _END
        reads = self.reads[cell]
        at = bisect_right(reads, until) - 1
        last = reads[at] if at >= 0 and reads[at] > position else -1
        adds = self.changes[cell]
        after = bisect_right(adds, number)
        changed = [self.arrivals[entry].written for entry in adds[after:] if self.arrivals[entry].written < until]
        return max([last, *changed])

    def _may_share(self, number: int, copy: Arrival) -> bool:
        """Whether the two places of a copy can be one: each is only read until the other one changes, and not after."""
        src, dst = copy.src, copy.dst
        if self.buffer.get(src, (None, -1))[1] != self._buffer_at(src, copy.read):
            return False
        partners = [cell for cell in self.places[src[0], self.buffer[src][0]][self.buffer[src][1]] if cell != dst]
        changed = self._next_write(dst, number)
        return all(
            self._next_write(cell, number) >= self._last_use(dst, number, copy.written)
            and self._last_use(cell, number, copy.written) <= changed
            for cell in partners
        )

    def _free_buffer(self, cell: Cell, chunk: int, number: int, position: int) -> int:
        """The first buffer of the rank and chunk whose places nobody needs any more."""
        taken = self.places[cell[0], chunk]
        for buffer in range(len(taken) + 1):
            others = [one for one in taken.get(buffer, []) if one != cell]
            if all(self._last_use(one, number, position) < 0 for one in others):
                return buffer
        raise AssertionError("there is always one more")

    def _finish(self) -> None:
        """Copies to the data buffer of what is due there and ended elsewhere."""
        end = len(self.arrivals) + max((arrival.written for arrival in self.arrivals), default=0)
        for cell in sorted(self.due & set(self.buffer)):
            chunk, buffer = self.buffer[cell]
            if buffer:
                self.transfers.append(Transfer(chunk, False, (cell[0], buffer), (cell[0], 0), end, end, end))
