"""The history of one chunk, executed again in plain Python to explain *why* a rule is broken.

Sets of contributions are integers with one bit per rank. Only chunks that a violation names are executed again.
"""

from bisect import bisect_right
from collections.abc import Mapping
from itertools import pairwise
from operator import itemgetter
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from certree.models.fine.slots import fine_times
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import Op
from certree.verify.rules.contributions import execution_order
from certree.verify.rules.obligations import EVERYONE, Promise

CANDIDATES = 4  # rows tried as the cause of a loss
START = -1  # in place of a row: held since the start


def ranks_of(contributions: int) -> list[int]:
    """The numbers of the bits that are set."""
    return [bit for bit in range(contributions.bit_length()) if contributions >> bit & 1]


def landing_column(schedule: Schedule, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """The step from which on the data that each row carries can be used: `delay` steps after it is sent, or with fine slots the
    first one in which it has landed."""
    if not schedule.has_fine_slots:
        return np.asarray(schedule.step[rows].astype(np.int64) + schedule.delay)
    return fine_times(schedule).landing_slot[rows]


class Replay:
    """The contents of every buffer of an endpoint and every reducing switch for one chunk, over time.

    Cells are numbered node · buffers + buffer (`source`, `target`, `data`). `instead`: what some rows carry in place of the
    contents of their source, to find out the effect. O(transfers of the chunk · ranks / 64).
    """

    def __init__(
        self,
        schedule: Schedule,
        promise: Promise,
        executed: NDArray[np.bool_],
        chunk: int,
        instead: Mapping[int, int] = MappingProxyType({}),
    ) -> None:
        self.schedule, self.promise, self.executed, self.chunk, self.instead = schedule, promise, executed, chunk, instead
        rows = execution_order(schedule, np.flatnonzero(executed & (schedule.chunk == chunk)))
        ends = (self._cells(schedule.src, schedule.src_buffer, rows), self._cells(schedule.dst, schedule.dst_buffer, rows))
        columns = (rows, schedule.step[rows], *ends, schedule.op[rows])
        self.landing = dict(zip(rows.tolist(), landing_column(schedule, rows).tolist(), strict=True))  # row -> step
        self._rows = list(zip(*(column.tolist() for column in columns), strict=True))
        self.carried: dict[int, int] = {}  # row -> what it carried
        self.found: dict[int, int] = {}  # row -> what its destination held just before it landed
        self.doubled: set[int] = set()  # reduces that counted something twice
        self._could_carry: dict[tuple[int, int], bool] = {}
        self.history: dict[int, list[tuple[int, int, int]]] = {}  # cell -> (time, held from then on, row that changed it)
        holder = int(promise.holder[chunk])
        for place, node in enumerate(promise.node.tolist()):
            own = 1 << place if place < promise.ranks and promise.members[place] else 0
            held = own if holder == EVERYONE else int(place == holder)
            self.history[self.data(node)] = [(0, held, START)]
        for cell in {cell for column in ends for cell in column.tolist()} - self.history.keys():
            self.history[cell] = [(0, 0, START)]
        self._play()

    def _cells(self, node: NDArray[np.int32], buffer: NDArray[np.int32] | None, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        cell = node[rows] * np.int64(self.schedule.buffers)
        return cell if buffer is None else cell + buffer[rows]

    def data(self, node: int) -> int:
        """The cell of a node's data."""
        return node * self.schedule.buffers

    def source(self, row: int) -> int:
        """The cell that a row reads."""
        return int(self._cells(self.schedule.src, self.schedule.src_buffer, np.array([row]))[0])

    def target(self, row: int) -> int:
        """The cell that a row writes."""
        return int(self._cells(self.schedule.dst, self.schedule.dst_buffer, np.array([row]))[0])

    def _play(self) -> None:
        # with fine slots transfers of different steps may land in one slot; the machine lets copies land first
        landing = sorted(range(len(self._rows)), key=lambda at: (self.landing[self._rows[at][0]], -self._rows[at][4]))
        landed = 0
        for row, step, src, _, _ in self._rows:
            while landed < len(landing) and self.landing[self._rows[landing[landed]][0]] <= step:
                self._land(landing[landed])
                landed += 1
            self.carried[row] = self.instead.get(row, self.history[src][-1][1])
        for index in landing[landed:]:
            self._land(index)

    def _land(self, index: int) -> None:
        row, _, _, dst, op = self._rows[index]
        before, payload = self.history[dst][-1][1], self.carried[row]
        self.found[row] = before
        if op == Op.REDUCE and before & payload:
            self.doubled.add(row)
        if payload:
            after = payload if op == Op.COPY else before | payload
            self.history[dst].append((self.landing[row], after, row))

    def at_end(self, node: int) -> int:
        """The contents of the data of a node after the last landing."""
        return self.history[self.data(node)][-1][1]

    def brought_by(self, row: int, rank: int) -> int:
        """The row that last brought this rank's contribution to the destination of `row` before `row` landed, or START."""
        bringer = START
        held = 0
        for _, now, by in self.history[self.target(row)]:
            if by == row:
                break
            if now >> rank & 1 and not held >> rank & 1:
                bringer = by
            held = now
        return bringer

    def lost_by(self, node: int, rank: int) -> int | None:
        """The last copy that took this rank's contribution from the data of a node that held it."""
        losses = self._losses(self.data(node), rank)
        return losses[-1][2] if losses else None

    def _losses(self, cell: int, rank: int) -> list[tuple[int, int, int]]:
        """(time, held before, copy) whenever a copy took this rank's contribution from a cell."""
        changes = pairwise(self.history[cell])
        return [(time, held, by) for (_, held, _), (time, now, by) in changes if held & ~now & 1 << rank]

    def too_early(self, node: int, rank: int) -> tuple[int, int] | None:
        """Why a contribution never reaches `node`: (row, later): `row` left its source before `later` brought it there.

        Searches backwards in time over all transfers that could have passed it on. A row counts only if it could have carried the
        later contents of its source without counting a contribution twice. Of several, the earliest by (step, row).
        O(transfers of the chunk · log).
        """
        if self.doubled:  # who sends to whom is wrong, not when
            return None
        having = {  # cell -> changes after which it had the contribution
            place: [change for change in changes if change[1] >> rank & 1] for place, changes in self.history.items()
        }
        candidates: list[tuple[int, int, int, int]] = []
        needed = {self.data(node): self._end()}  # cell -> latest time at which it would help
        for row, step, src, dst, _ in reversed(self._rows):
            if self.landing[row] > needed.get(dst, -1) or self.carried[row] >> rank & 1:
                continue
            later = bisect_right(having[src], step, key=itemgetter(0))
            if later == len(having[src]):
                needed[src] = max(needed.get(src, -1), step)
            else:
                candidates.append((step, row, *having[src][later][1:]))
        return self._first_harmless(candidates)

    def too_late(self, node: int, rank: int) -> tuple[int, int] | None:
        """Why a contribution never comes to `node`: (row, copy): `row` left its source after `copy` had replaced what held it.
        The search and its cost are those of `too_early`."""
        if self.doubled:
            return None
        candidates: list[tuple[int, int, int, int]] = []
        needed = {self.data(node): self._end()}
        for row, step, src, dst, _ in reversed(self._rows):
            if self.landing[row] > needed.get(dst, -1) or self.carried[row] >> rank & 1:
                continue
            losses = [loss for loss in self._losses(src, rank) if loss[0] <= step]
            if losses:
                candidates.append((step, row, *losses[-1][1:]))
            else:
                needed[src] = max(needed.get(src, -1), step)
        return self._first_harmless(candidates)

    def _end(self) -> int:
        """The step in which the last transfer lands."""
        return max(self.landing.values(), default=0)

    def _first_harmless(self, candidates: list[tuple[int, int, int, int]]) -> tuple[int, int] | None:
        """(row, by) of the first of some (step, row, held, by) where nothing would be counted twice if `row` had carried `held`."""
        for _, row, held, by in sorted(candidates)[:CANDIDATES]:
            if (row, by) not in self._could_carry:
                better = Replay(self.schedule, self.promise, self.executed, self.chunk, {row: held})
                self._could_carry[row, by] = not better.doubled
            if self._could_carry[row, by]:
                return row, by
        return None
