"""Transfers of a schedule as moves between places in the buffers of ranks, neighbouring ones joined."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import chain

import numpy as np

from certree.extras.runtimes.make.cells import Cells
from certree.extras.runtimes.model.layout import Cell
from certree.extras.runtimes.model.limits import MOST_COUNT
from certree.extras.runtimes.model.program import Buffer
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import Op

LAND, LEAVE, LOCAL = 0, 1, 2  # in one step of the schedule: what lands, then what leaves, then local transfers
_NOWHERE: Cell = (-1, Buffer.INPUT, -1)


@dataclass
class Move:
    """Chunks that go together: from `src` to `dst`, `count` of them side by side. `fresh`: (from, to) of the own contributions that
    must be copied before something is added to them."""

    op: Op
    step: int
    src: Cell
    dst: Cell
    fresh: list[tuple[Cell, Cell]] = field(default_factory=list)
    count: int = 1
    channel: int = 0

    @property
    def ends(self) -> tuple[int, int]:
        """(sending rank, receiving rank)."""
        return self.src[0], self.dst[0]


def moves_of(schedule: Schedule, cells: Cells) -> list[Move]:
    """One move for each transfer, in the order of the columns, with the places that it reads and writes."""
    rank = schedule.topology.rank
    columns = schedule.step, schedule.op.astype(np.int32), schedule.chunk, rank[schedule.src], rank[schedule.dst]
    rows: list[tuple[int, ...]] = list(map(tuple, np.stack(columns, axis=1).tolist()))
    buffers = [(0, 0)] * len(rows)
    if schedule.src_buffer is not None and schedule.dst_buffer is not None:
        buffers = list(zip(schedule.src_buffer.tolist(), schedule.dst_buffer.tolist(), strict=True))
    moves = [Move(Op(op), step, _NOWHERE, _NOWHERE, count=cells.sizes[chunk]) for step, op, chunk, _, _ in rows]
    written: set[tuple[int, int, int]] = set()
    for _, phase, row in sorted(_events(schedule, rows)):
        _, op, chunk, src, dst = rows[row]
        if phase in (LEAVE, LOCAL):
            own = None if buffers[row][0] or (src, chunk, 0) in written else cells.source(src, chunk)
            moves[row].src = own or cells.held(src, chunk, buffers[row][0])
        if phase in (LAND, LOCAL):
            key = (dst, chunk, buffers[row][1])
            moves[row].dst = cells.held(*key)
            own = None if key[2] or key in written or op == Op.COPY else cells.source(dst, chunk)
            if own is not None:
                moves[row].fresh.append((own, moves[row].dst))
            written.add(key)
    cells.kept = [
        (own, due)
        for chunk in range(schedule.chunks)
        for place in range(cells.layout.ranks)
        if (own := cells.source(place, chunk)) and (due := cells.result(place, chunk)) and (place, chunk, 0) not in written
    ]
    return moves


def _events(schedule: Schedule, rows: list[tuple[int, ...]]) -> Iterator[tuple[int, int, int]]:
    """(step, phase, row) of everything that leaves or lands."""
    for row, (step, _, _, src, dst) in enumerate(rows):
        if src == dst:
            yield step, LOCAL, row
        else:
            yield step, LEAVE, row
            yield step + schedule.delay, LAND, row


def joined(moves: list[Move]) -> list[Move]:
    """Moves of one step and operation between the same ranks whose places follow each other, as one; large ones in pieces."""
    found: list[Move] = []
    for move in sorted(chain.from_iterable(map(_pieces, moves)), key=lambda move: (move.step, move.op, move.src, move.dst)):
        last = found[-1] if found else None
        if (
            last is not None
            and (last.step, last.op) == (move.step, move.op)
            and last.count + move.count < MOST_COUNT
            and after(last.src, last.count) == move.src
            and after(last.dst, last.count) == move.dst
        ):
            last.count += move.count
            last.fresh += move.fresh
        else:
            found.append(replace(move, fresh=list(move.fresh)))
    return found


def _pieces(move: Move) -> Iterator[Move]:
    """The move, or where it has more places than a step can say several."""
    if move.count < MOST_COUNT:
        yield move
        return
    for at in range(0, move.count, MOST_COUNT - 1):
        count = min(MOST_COUNT - 1, move.count - at)
        yield replace(move, src=after(move.src, at), dst=after(move.dst, at), count=count)


def after(cell: Cell, count: int) -> Cell:
    """The place `count` places behind one."""
    rank, buffer, offset = cell
    return rank, buffer, offset + count


def runs(pairs: list[tuple[Cell, Cell]]) -> Iterator[tuple[Cell, Cell, int]]:
    """(from, to, count) of copies, those joined whose places follow each other."""
    start, count = 0, 0
    for at, (src, dst) in enumerate(pairs):
        first = pairs[start]
        if count and count + 1 < MOST_COUNT and (after(first[0], count), after(first[1], count)) == (src, dst):
            count += 1
            continue
        if count:
            yield *first, count
        start, count = at, 1
    if count:
        yield *pairs[start], count
