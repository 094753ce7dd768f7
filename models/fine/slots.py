"""Times of schedules with fine slots, in cycles: when messages are on links, and when what they carry has landed.

The sentences F1 to F10 of docs/decisions/0009-fine-slots.md say what these times are. All are of the first iteration, counted from
the opening of its first slot; in a repeating schedule iterations follow each other without end, before and after.
"""

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from certree.models.common.budget import PYTHON, spend
from certree.models.common.errors import InputError, UnsupportedError
from certree.models.machine.machine import Machine
from certree.models.machine.speeds import contradiction
from certree.models.network.routing import DIRECT
from certree.models.schedule.paths import link_cycles, route_of
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import Op
from certree.models.schedule.timing import MAX_CYCLES, chunk_bytes_of, reduction_cycles, serialization_cycles

Int64 = NDArray[np.int64]


@dataclass(frozen=True)
class Reservations:
    """The uses of links by messages, one entry each: the `row`, the joined pair of nodes that it passes (`pair`), the link where
    the route names one, else -1 (`link`), and the cycle in which the first flit enters (`entry`). `ready`: the cycle in which it
    could enter the next link, or at the end leaves the last router, and `wait`: how long it waits there. `hop`: by joined pair the
    cycles from `entry` to `ready`."""

    row: Int64
    pair: Int64
    link: Int64
    entry: Int64
    hop: Int64
    wait: Int64

    @property
    def ready(self) -> Int64:
        """The cycles `ready`, computed anew, since they are as many as the uses. O(uses)."""
        return self.entry + self.hop[self.pair]


@dataclass(frozen=True, eq=False)
class FineTimes:
    """The times of a schedule with `slot_cycles`. Raises InputError where the machine has other link speeds than the network, or
    the run would last longer than MAX_CYCLES. `ser`: cycles in which the longest message passes a point of a lane; `length`: the
    same of the message of each row; `red`: of the reduction unit for a chunk."""

    schedule: Schedule

    def __post_init__(self) -> None:
        if (wrong := contradiction(self.schedule.topology, self.machine)) is not None:
            raise InputError(wrong)
        end = (self.schedule.total_steps + 1) * self.slot + self.schedule.transfers * self.red
        longest = int(self.latency.max(initial=0))
        if end + longest + self.ser > MAX_CYCLES:
            raise InputError(f"the run would last more than {MAX_CYCLES} cycles")

    @property
    def machine(self) -> Machine:
        """The machine of `made_for`."""
        assert self.schedule.made_for is not None
        return self.schedule.made_for.machine

    @property
    def slot(self) -> int:
        """The number of cycles of a slot."""
        assert self.schedule.slot_cycles is not None
        return self.schedule.slot_cycles

    @cached_property
    def chunk_bytes(self) -> int:
        """The number of bytes of a chunk, padded to whole granules; with a demand those of a unit of its sizes."""
        schedule = self.schedule
        assert schedule.made_for is not None
        return chunk_bytes_of(schedule.made_for.message_bytes, schedule.message_chunks, schedule.repeats, self.machine)

    @cached_property
    def ser(self) -> int:
        """The number of cycles in which a message passes a lane; with a demand the longest one."""
        return serialization_cycles(
            int(self.schedule.granules.max()) * self.chunk_bytes, self.machine, self.schedule.topology.scale
        )

    @cached_property
    def length(self) -> Int64:
        """For each row the number of cycles in which its message passes a lane."""
        schedule = self.schedule
        if not schedule.has_sizes:
            return np.broadcast_to(np.int64(self.ser), schedule.transfers)
        return serialization_cycles(schedule.granules[schedule.chunk] * self.chunk_bytes, self.machine, schedule.topology.scale)

    @cached_property
    def red(self) -> int:
        """The number of cycles in which a reduction unit adds a chunk."""
        return reduction_cycles(self.chunk_bytes, self.machine)

    @property
    def period(self) -> int | None:
        """The number of cycles from one iteration to the next; None where there is one iteration."""
        schedule = self.schedule
        return (schedule.period or 0) * self.slot if schedule.is_repeating else None

    def wrapped(self, cycle: Int64) -> Int64:
        """Cycles of the first iteration within a period, which is common to all iterations; as they are where there is one."""
        return cycle if self.period is None else cycle % self.period

    def repeated(self, place: Int64, row: Int64, cycle: Int64) -> tuple[Int64, Int64, Int64]:
        """Uses of places by rows, in cycles: as they are where there is one iteration, else all twice, in two periods in turn, so
        that what reaches over the end of a period meets the start of the next."""
        if self.period is None:
            return place, row, cycle
        cycle = cycle % self.period
        return np.tile(place, 2), np.tile(row, 2), np.concatenate((cycle, cycle + self.period))

    @cached_property
    def fire(self) -> Int64:
        """The cycle in which each row fires."""
        return self.schedule.step * np.int64(self.slot)

    @cached_property
    def reservations(self) -> Reservations:
        """All uses of links; local transfers, and transfers without a link, use none. O(rows + hops)."""
        schedule = self.schedule
        row, pair = route_of(schedule.topology, schedule.src, schedule.dst, schedule.route, schedule.routes)
        row, pair = row[pair >= 0], pair[pair >= 0]
        link, wait = np.full(len(row), -1, np.int64), np.broadcast_to(np.int64(0), len(row))
        if schedule.routes:
            links, start = schedule.flat_routes
            place = np.arange(len(row)) - np.searchsorted(row, row)
            routed = schedule.route[row] != DIRECT
            at = start[schedule.route[row[routed]]] + place[routed]
            link[routed] = links[at]
            if schedule.plans_waits:
                wait = np.zeros(len(row), np.int64)
                wait[routed] = schedule.wait_cycles[at]
        hop = link_cycles(schedule.topology, self.machine) + self.machine.router_cycles
        route = hop[pair] + wait
        before = np.cumsum(route) - route
        before -= before[np.searchsorted(row, row)]
        return Reservations(row, pair, link, self.fire[row] + before, hop, wait)

    @cached_property
    def latency(self) -> Int64:
        """The cycles from the firing of each row to the ejection of its head; 0 for a local transfer. O(rows + hops)."""
        found, latency = self.reservations, np.zeros(self.schedule.transfers, np.int64)
        np.maximum.at(latency, found.row, found.ready - self.fire[found.row])
        local = self.schedule.src == self.schedule.dst
        return np.where(local, 0, latency + self.machine.interface_cycles + self.machine.router_cycles)

    @cached_property
    def arrival(self) -> Int64:
        """The cycle in which all of the message of each row has come to its node; sums then wait for the reduction unit."""
        return self.fire + self.latency + self.length

    @cached_property
    def work(self) -> Int64:
        """The cycles in which the reduction unit of each node is busy with one iteration."""
        reduces = self.schedule.dst[self.schedule.op == Op.REDUCE]
        return np.bincount(reduces, minlength=len(self.schedule.topology.kind)).astype(np.int64) * self.red

    @cached_property
    def landing(self) -> Int64:
        """The cycle from which on what each row carries is in its cell; of a reduce where the unit serves arrivals in their order,
        each after all that arrive in the same cycle. Where a unit gets more work than it can do (`work`) the times mean nothing.
        O(rows log rows)."""
        landing = self.arrival.copy()
        rows = np.flatnonzero(self.schedule.op == Op.REDUCE)
        if len(rows):
            ready = landing[rows] + self.machine.reduce_start_cycles
            landing[rows] = ready + self._waiting(self.schedule.dst[rows].astype(np.int64), ready)
        return landing

    @cached_property
    def landing_slot(self) -> Int64:
        """The first slot that can use what each row carries."""
        return -(-self.landing // self.slot)

    def _waiting(self, node: Int64, ready: Int64) -> Int64:
        """For each reduce the cycles from its arrival at the unit of its node until it is done. With a period all iterations are
        there: two periods in turn, of which the second is like all that follow (its backlog at the start is that of its end)."""
        period = self.period
        if period is None:
            return self.served(node, ready)
        again = np.tile(ready % period, 2)
        again[len(ready) :] += period
        return self.served(np.tile(node, 2), again)[len(ready) :]

    def served(self, node: Int64, ready: Int64) -> Int64:
        """For each job of the unit of a node, from its arrival `ready` on, the cycles until it is done: first come, first served,
        and each job as the last of those that come in the same cycle. O(jobs log jobs)."""
        order = np.lexsort((ready, node))
        node, ready = node[order], ready[order]
        first = np.ones(len(node), np.bool_)
        first[1:] = node[1:] != node[:-1]
        start = np.maximum.accumulate(np.where(first, np.arange(len(node)), 0))
        place = np.arange(len(node)) - start
        # done[k] = max over j <= k of (ready[j] - place[j]·red) + (place[k] + 1)·red, among the jobs of a node
        values, key = np.unique(ready - place * self.red, return_inverse=True)  # ranks: sums with them stay small
        base = (np.cumsum(first) - 1) * len(values)
        latest = values[np.maximum.accumulate(key + base) - base]
        done = latest + (place + 1) * self.red
        last = np.append((node[1:] != node[:-1]) | (ready[1:] != ready[:-1]), True)  # of those that come together
        together = np.flatnonzero(last)
        done = done[together][np.searchsorted(together, np.arange(len(node)))]
        waited = np.empty(len(done), np.int64)
        waited[order] = done - ready
        return waited

    @property
    def cycles(self) -> int:
        """The number of cycles from the common start until everything has landed, in all iterations. As they have an end, the last
        landing can come before that of iterations without end. O(rows log rows).

        The last sum is done at the largest (ready + work of all that is not ready before) of its unit. A unit that keeps up gets at
        most a period's work in a period, so that this largest is one of the last period, which has jobs of the last iteration only.
        """
        if not self.schedule.transfers:
            return 0
        arrived = self.arrival
        last, rows = int(arrived.max()), np.flatnonzero(self.schedule.op == Op.REDUCE)
        if len(rows):
            ready = arrived[rows] + self.machine.reduce_start_cycles
            last = max(last, int((ready + self.served(self.schedule.dst[rows].astype(np.int64), ready)).max()))
        return self.machine.ni_start_cycles + (self.schedule.repeats - 1) * (self.period or 0) + last


def is_made_for(schedule: Schedule, message_bytes: int, machine: Machine) -> bool:
    """Whether the fine slots of a schedule are for that size and machine."""
    made_for = schedule.made_for
    return made_for is not None and (made_for.message_bytes, made_for.machine) == (message_bytes, machine)


@lru_cache(maxsize=2)
def fine_times(schedule: Schedule) -> FineTimes:
    """The times of a schedule with `slot_cycles`; computed once while it is examined. Errors as `FineTimes`."""
    return FineTimes(schedule)


def reserved_lanes(times: FineTimes) -> Int64:
    """The number of the lane that each use of a link (`FineTimes.reservations`) can have for all its time, in every iteration;
    lanes of parallel links count on. UnsupportedError where messages would have to change lanes from one iteration to the next.
    O(uses log uses)."""
    uses, period, capacity = times.reservations, times.period, times.schedule.topology.pair_capacity
    lane = np.zeros(len(uses.row), np.int64)
    entry = times.wrapped(uses.entry)
    wide = np.flatnonzero(capacity[uses.pair] > 1)
    order = wide[np.lexsort((entry[wide], uses.pair[wide]))]
    for group in np.split(order, np.flatnonzero(np.diff(uses.pair[order])) + 1) if len(order) else []:
        spend(PYTHON * len(group) * min(len(group), int(capacity[uses.pair[group[0]]])), f"lanes of {len(group):,} messages")
        taken: list[list[int]] = [
            [] for _ in range(min(len(group), int(capacity[uses.pair[group[0]]])))
        ]  # of each lane that may be taken the first entry, the last end
        lengths = times.length[uses.row[group]].tolist()
        for use, start, length in zip(group.tolist(), entry[group].tolist(), lengths, strict=True):
            wraps = start + length - (period or start + length)
            free = (n for n, there in enumerate(taken) if not there or (there[1] <= start and there[0] >= wraps))
            lane[use] = next(free, -1)
            if lane[use] < 0:
                row = int(uses.row[use])
                where = f"node {times.schedule.src[row]} in step {times.schedule.step[row]}"
                raise UnsupportedError(f"the message of {where} has no lane of its own in every iteration")
            taken[lane[use]] = [taken[lane[use]][0] if taken[lane[use]] else start, start + length]
    return lane


def landing_steps(schedule: Schedule) -> Int64:
    """The first step that can use what each row carries, with fine slots or without. Errors as `FineTimes`."""
    if not schedule.has_fine_slots:
        return schedule.step.astype(np.int64) + schedule.delay
    return fine_times(schedule).landing_slot
