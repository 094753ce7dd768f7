"""Events in the runs of a kernel plan, and which of them precede which in all runs.

Events are the operations of all devices, the end of reading and the arrival of every DMA, and the moments at which a device enters
and leaves the kernel, of as many calls as asked for, one after the other. Every event but the first ones of a device has one event
that it follows, and a wait also needs counts of a semaphore. Devices run at any speed and DMAs end at any time. A DMA of several
rows counts them one by one, in no fixed order: all but one may be counted before it ends, which is an event of its own.

Only its own device waits on a semaphore, so nobody takes what another one waits for: wait k is over once all that was counted
reaches the sum of the first k waits, which then stays so. One greedy run therefore reaches all that any run reaches. Event e
precedes event w in every run exactly if a greedy run in which e is withheld does not reach w.
"""

from collections import deque
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from certree.extras.pallas.model.kernel_plan import KernelPlan, Kind
from certree.models.common.budget import PYTHON, hold, spend

_COLUMNS = 1 << 14  # events that are withheld together


@dataclass(frozen=True)
class Moment:
    """The place of an event: the call, the device, and the number of its operation, -1 for the entry and the end of a call."""

    call: int
    device: int
    number: int


class Events:
    """The events of `calls` calls of a plan. By event: `follows`, the event before it, or -1; `counts`: (semaphore, count) that it
    counts up, or None; `needs`: (semaphore, sum) that must have been counted up, or None. Semaphores are numbered over all devices.

    `entry`, `end`: by (call, device); `operation`: by (call, device, number); `sent`, `arrived`: of a DMA, by the same.
    """

    def __init__(self, plan: KernelPlan, calls: int) -> None:
        self.plan, self.calls = plan, calls
        self.follows: list[int] = []
        self.counts: list[tuple[int, int] | None] = []
        self.needs: list[tuple[int, int] | None] = []
        self.moments: list[Moment] = []
        self.entry: dict[tuple[int, int], int] = {}
        self.end: dict[tuple[int, int], int] = {}
        self.operation: dict[tuple[int, int, int], int] = {}
        self.sent: dict[tuple[int, int, int], int] = {}
        self.arrived: dict[tuple[int, int, int], int] = {}
        waited: dict[int, int] = {}
        for device in range(plan.ranks):
            before = -1
            for call in range(calls):
                before = self.entry[call, device] = self._event(before, Moment(call, device, -1))
                for number in range(len(plan.operations[device])):
                    before = self._operation(before, Moment(call, device, number), waited)
                before = self.end[call, device] = self._event(before, Moment(call, device, -1))

    def _event(self, before: int, moment: Moment, counts: tuple[int, int] | None = None) -> int:
        self.follows.append(before)
        self.moments.append(moment)
        self.counts.append(counts)
        self.needs.append(None)
        return len(self.follows) - 1

    def _operation(self, before: int, moment: Moment, waited: dict[int, int]) -> int:
        one, key = self.plan.operations[moment.device][moment.number], (moment.call, moment.device, moment.number)
        event = self.operation[key] = self._event(before, moment)
        if one.kind is Kind.SIGNAL:
            self.counts[event] = (self.semaphore(one.device, one.semaphore), one.times)
        elif one.kind is Kind.WAIT:
            place = self.semaphore(moment.device, one.semaphore)
            waited[place] = waited.get(place, 0) + one.times
            self.needs[event] = place, waited[place]
        elif one.kind is Kind.START:
            self.sent[key] = self._last(event, moment, None if one.send < 0 else self.semaphore(moment.device, one.send), one.rows)
            self.arrived[key] = self._last(event, moment, self.semaphore(one.device, one.semaphore), one.rows)
        return event

    def _last(self, before: int, moment: Moment, semaphore: int | None, rows: int) -> int:
        """The event of the last row of a DMA, after one for all others."""
        if semaphore is None:
            return self._event(before, moment)
        if rows > 1:
            before = self._event(before, moment, (semaphore, rows - 1))
        return self._event(before, moment, (semaphore, 1))

    def semaphore(self, device: int, number: int) -> int:
        """The number of a semaphore over all devices."""
        return device * self.plan.semaphores + number

    def __len__(self) -> int:
        return len(self.follows)

    def greedy(self) -> list[int]:
        """The events of a run in their order, each as early as it can be: all that any run reaches. O(events)."""
        spend(PYTHON * len(self), f"a run of {len(self):,} events")
        after: list[list[int]] = [[] for _ in range(len(self))]
        ready = deque[int]()
        for event, before in enumerate(self.follows):
            (ready if before < 0 else after[before]).append(event)
        waiting: dict[int, int] = {}
        counted: dict[int, int] = {}
        order = []
        while ready:
            event = ready.popleft()
            needs = self.needs[event]
            if needs is not None and counted.get(needs[0], 0) < needs[1]:
                waiting[needs[0]] = event
                continue
            order.append(event)
            ready.extend(after[event])
            counts = self.counts[event]
            if counts is not None:
                counted[counts[0]] = counted.get(counts[0], 0) + counts[1]
                if counts[0] in waiting:
                    ready.append(waiting.pop(counts[0]))
        return order


def preceded(events: Events, order: list[int], pairs: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether the first event of each pair (first, second) precedes the second in every run. `order`: a run of all events.

    Runs in which one event is withheld are found for many of these at a time: by event a bit for each withheld one, whether the
    event is then out of reach. O(events · withheld / 8) bytes read, a few times.
    """
    found = np.zeros(len(pairs), bool)
    withheld, column = np.unique(pairs[:, 0], return_inverse=True)
    for begin in range(0, len(withheld), _COLUMNS):
        here = np.flatnonzero((column >= begin) & (column < begin + _COLUMNS))
        bits = _Withheld(events, order, withheld[begin : begin + _COLUMNS]).bits()
        place = column[here] - begin
        found[here] = (bits[pairs[here, 1], place >> 3] >> (7 - (place & 7)).astype(np.uint8)) & 1 == 1
    return found


class _Withheld:
    """A bit of each event for each of some withheld events: whether the event is out of reach without that one.

    What is out of reach is the largest set that follows from itself: an event that follows one in it is, and so is a wait for more
    than all others count. It is found from above, with everything out of reach at first, in the order of a run; what depends on
    something that changed since is computed again, until nothing changes. Events of one level do not depend on each other.
    """

    def __init__(self, events: Events, order: list[int], withheld: NDArray[np.int64]) -> None:
        self.events, self.withheld = events, withheld
        self.width = -(-len(withheld) // 8)
        hold(len(events) * self.width, f"the order of {len(events):,} events")
        self.follows = np.array(events.follows, np.int64)
        #: the semaphore that an event counts up, and by how much; and the one that it waits for; -1 where there is none
        self.counts, self.times = np.array([(-1, 0) if one is None else one for one in events.counts], np.int64).T
        self.awaited = np.array([-1 if one is None else one[0] for one in events.needs], np.int64)
        #: of each wait the events that count its semaphore up: those that come before it in the run, and the others
        self.counting: dict[int, tuple[NDArray[np.int64], NDArray[np.int64]]] = {}
        #: whether a wait needs all that comes before it, and not more
        self.just_enough = np.zeros(len(events), bool)
        level = self._ordered(order)
        by_level = np.argsort(level, kind="stable")
        self.levels = np.split(by_level, np.flatnonzero(np.diff(level[by_level])) + 1)

    def _ordered(self, order: list[int]) -> NDArray[np.int64]:
        """The level of every event, having found what counts up the semaphore of each wait."""
        waits: dict[int, list[int]] = {}
        found: dict[int, list[int]] = {}
        early: dict[int, int] = {}
        level = np.zeros(len(self.events), np.int64)
        latest: dict[int, int] = {}  # by semaphore the level of what counted it up
        for event in order:
            before, awaited, counts = self.events.follows[event], int(self.awaited[event]), int(self.counts[event])
            if awaited >= 0:
                waits.setdefault(awaited, []).append(event)
                early[event] = len(found.get(awaited, ()))
            level[event] = 1 + max(level[before] if before >= 0 else 0, latest.get(awaited, 0))
            if counts >= 0:
                found.setdefault(counts, []).append(event)
                latest[counts] = max(latest.get(counts, 0), int(level[event]))
        for semaphore, of_it in waits.items():
            counting = np.array(found[semaphore], np.int64)
            sums = np.cumsum([0, *self.times[counting].tolist()])
            for wait in of_it:
                self.counting[wait] = counting[: early[wait]], counting[early[wait] :]
                self.just_enough[wait] = self.events.needs[wait] == (semaphore, sums[early[wait]])
        return level

    def bits(self) -> NDArray[np.uint8]:
        """The table."""
        table = np.full((len(self.events), self.width), 0xFF, np.uint8)
        done = np.full(len(self.events), -1, np.int64)  # when a row was computed, and by event and semaphore when it changed
        changed = np.zeros(1 + len(self.events), np.int64)  # the last one is for what no event comes before
        counted = np.zeros(1 + self.events.plan.ranks * self.events.plan.semaphores, np.int64)
        turn, is_over = 0, False
        while not is_over:
            is_over = True
            for level in self.levels:
                stale = (done[level] < changed[self.follows[level]]) | (done[level] < counted[self.awaited[level]])
                now = level[stale]
                if len(now):
                    is_over, turn = False, turn + 1
                    spend((8 * self.width + PYTHON) * len(now), f"the order of {len(self.events):,} events")
                    rows = self._rows(table, now)
                    done[now] = turn
                    differ = now[(rows != table[now]).any(axis=1)]
                    table[now] = rows
                    changed[differ] = turn + 1
                    counted[self.counts[differ]] = turn + 1
                    changed[-1] = counted[-1] = 0
        return table

    def _rows(self, table: NDArray[np.uint8], now: NDArray[np.int64]) -> NDArray[np.uint8]:
        """The rows of some events of one level, from those of other events."""
        rows = table[self.follows[now]]
        rows[self.follows[now] < 0] = 0
        for place in np.flatnonzero(self.awaited[now] >= 0).tolist():
            rows[place] |= self._lacking(table, int(now[place]))
        own = np.searchsorted(self.withheld, now)
        for place in np.flatnonzero(self.withheld[np.minimum(own, len(self.withheld) - 1)] == now).tolist():
            rows[place, own[place] >> 3] |= 128 >> (own[place] & 7)
        return rows

    def _lacking(self, table: NDArray[np.uint8], wait: int) -> NDArray[np.uint8]:
        """A bit for each withheld event without which less is counted than a wait needs."""
        needs, (early, late) = self.events.needs[wait], self.counting[wait]
        assert needs is not None
        if self.just_enough[wait]:
            # just enough comes before it: each of these is needed, unless what comes after it is in reach without that
            lost: NDArray[np.uint8] = np.bitwise_or.reduce(table[early], axis=0)
            if not len(late) or not (lost & ~np.bitwise_and.reduce(table[late], axis=0)).any():
                return lost
        spend(8 * self.width * (len(early) + len(late)), f"a semaphore that {len(early) + len(late):,} events count up")
        sums, total = np.zeros(8 * self.width, np.int64), 0
        for event in (*early.tolist(), *late.tolist()):
            sums += self.times[event] * np.unpackbits(table[event])
            total += int(self.times[event])
        return np.packbits(sums > total - needs[1])
