"""Fine slots, cycle by cycle: when messages are on links and in buffers of routers, when they arrive and are added."""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from math import ceil
from operator import itemgetter

from certree.extras.opinion.check.in_cells import Flight
from certree.extras.opinion.check.plain_schedule import Plain, Row, WrongError
from certree.models.machine.machine import Machine

#: from a cycle to another one, this one not included, and the transfer
Interval = tuple[int, int, Row]
Pair = tuple[int, int]


class Cycles:
    """The cycles of a schedule with fine slots. `period`: cycles from one iteration to the next; None where there is one alone."""

    def __init__(self, plain: Plain) -> None:
        assert plain.made_for is not None
        assert plain.slot_cycles is not None
        self.plain, self.slot = plain, plain.slot_cycles
        self.machine: Machine = plain.made_for.machine
        self.period = self.slot * plain.period if plain.period and plain.repeats > 1 else None
        message = plain.schedule.message_chunks * plain.repeats * self.machine.flit_bytes
        self.unit = ceil_div(plain.made_for.message_bytes, message)  # granules of a chunk of size 1
        self.wire: dict[Pair, int] = {}
        for src, dst, _, stated in plain.links:
            cycles = self.machine.link_latency_cycles if stated < 0 else stated
            self.wire[src, dst] = max(cycles, self.wire.get((src, dst), 0))

    def ser(self, row: Row) -> int:
        """Cycles in which a message passes a lane (F3)."""
        flits = self.machine.head_flits + self.unit * self.plain.granules[row.chunk]
        return ceil(self.plain.schedule.topology.scale * flits)

    def pairs(self, row: Row) -> list[Pair]:
        """The ends of the links that it passes."""
        return [(row.src, row.dst)] if row.links is None else [self.plain.links[link][:2] for link in row.links]

    def entries(self, row: Row) -> list[int]:
        """When its head enters each link (F4, F14), and when it would enter a further one."""
        found = [row.step * self.slot]
        for pair, wait in zip(self.pairs(row), row.waits, strict=True):
            found.append(found[-1] + self.wire[pair] + self.machine.router_cycles + wait)
        return found

    def arrival(self, row: Row) -> int:
        """When all of it has arrived (F7, F9)."""
        if row.is_local:
            return row.step * self.slot + self.ser(row)
        machine = self.machine
        return self.entries(row)[-1] + machine.ni_issue_cycles + 2 * machine.ni_cycles + machine.router_cycles + self.ser(row)

    def images(self, intervals: Sequence[Interval], rule: str) -> list[Interval]:
        """The intervals; where iterations overlap those that lie in a period, and their images one period before and after."""
        if self.period is None:
            return list(intervals)
        found = []
        for low, high, row in intervals:
            if high - low > self.period:
                raise WrongError(rule, f"{row} is there for {high - low} cycles; a period has {self.period}", row.step)
            first = low % self.period
            found += [(first + k * self.period, first + k * self.period + high - low, row) for k in (0, -1, 1)]
        return found


def ceil_div(a: int, b: int) -> int:
    """The whole number at or above a / b."""
    return -(-a // b)


def check_reservations(cycles: Cycles) -> None:
    """Links have a lane for each message, copy units are taken once at a time (F5, F6, F9: `reserved`)."""
    plain = cycles.plain
    ends = Counter((src, dst) for src, dst, _, _ in plain.links)
    several: set[object] = {pair for pair, count in ends.items() if count > 1}
    lanes: dict[object, int] = {}
    taken: dict[object, list[Interval]] = {}
    for number, (src, dst, capacity, _) in enumerate(plain.links):
        lanes[number] = capacity
        lanes[src, dst] = lanes.get((src, dst), 0) + capacity
    for row in plain.rows:
        ser = cycles.ser(row)
        if row.is_local:
            unit = ("the copy unit of node", row.src)
            lanes[unit] = 1
            taken.setdefault(unit, []).append((row.step * cycles.slot, row.step * cycles.slot + ser, row))
            continue
        for hop, (pair, entry) in enumerate(zip(cycles.pairs(row), cycles.entries(row), strict=False)):
            for one in (pair,) if row.links is None else (pair, row.links[hop]):
                taken.setdefault(one, []).append((entry, entry + ser, row))
    for place, intervals in taken.items():
        images = cycles.images(intervals, "reserved")
        open_until: list[int] = []
        for low, high, row in sorted(images, key=itemgetter(0, 1)):
            open_until = [*(end for end in open_until if end > low), high]
            if len(open_until) > lanes[place]:
                raise WrongError("reserved", f"{row} finds no lane of {place} in cycle {low}", row.step)
        if place in several:
            here = images if cycles.period is None else images[::3]
            _check_unnamed(here, images, place, lanes[place])


def _check_unnamed(intervals: Sequence[Interval], images: Sequence[Interval], place: object, lanes: int) -> None:
    """Where messages name one of several parallel links, one that names none meets fewer than there are lanes (F5)."""
    if any(row.links is not None for _, _, row in intervals):
        for (_, _, row), met in zip(intervals, _met(intervals, images), strict=True):
            if row.links is None and met >= lanes:
                raise WrongError("reserved", f"{row} meets {met} messages between {place}, which has {lanes} lanes", row.step)


def _met(intervals: Sequence[Interval], images: Sequence[Interval]) -> list[int]:
    """How many others each of the first intervals overlaps with."""
    starts, ends = sorted(low for low, _, _ in images), sorted(high for _, high, _ in images)
    return [bisect_left(starts, high) - bisect_right(ends, low) - 1 for low, high, _ in intervals]


def check_waits(cycles: Cycles) -> None:
    """A message that waits at a router has the buffer of its virtual channel to itself, and room in it (F15, F16: `waiting`)."""
    there: dict[Pair, list[tuple[Interval, int]]] = {}
    for row in cycles.plain.rows:
        if row.is_local:
            continue
        ser = cycles.ser(row)
        for pair, wait, left in zip(cycles.pairs(row), row.waits, cycles.entries(row)[1:], strict=True):
            there.setdefault(pair, []).append(((left - wait, left + ser, row), wait))
            if min(wait, ser) > cycles.machine.vc_buffer_flits:
                raise WrongError("waiting", f"{row} waits {wait} cycles with {min(wait, ser)} flits in a buffer", row.step)
    for pair, messages in there.items():
        for layer in {one[2].layer for one, wait in messages if wait}:
            inside = [message for message in messages if message[0][2].links is None or message[0][2].layer == layer]
            intervals = [interval for interval, _ in inside]
            images = cycles.images(intervals, "waiting")
            here = images if cycles.period is None else images[::3]
            for (_, wait), (_, _, row), met in zip(inside, here, _met(here, images), strict=True):
                if wait and met:
                    raise WrongError("waiting", f"{row} waits behind link {pair[0]}>{pair[1]} with another message", row.step)


def fine_flights(cycles: Cycles) -> list[Flight]:
    """When each transfer leaves and has landed: a copy when it has arrived, a reduce when it has been added (F7, F8)."""
    found = []
    units: dict[int, list[tuple[int, int, Row]]] = {}
    for row in cycles.plain.rows:
        arrival = cycles.arrival(row)
        if row.is_copy:
            found.append((row.step * cycles.slot, arrival, row))
        else:
            units.setdefault(row.dst, []).append((arrival, row.number, row))
    for node, arrivals in units.items():
        work = sum(_adding(cycles, row) for _, _, row in arrivals)
        if cycles.period is not None and work > cycles.period:
            raise WrongError("overloaded", f"the reduction unit of node {node} gets {work} cycles of work in {cycles.period}")
        found += [(row.step * cycles.slot, land, row) for row, land in _added(cycles, arrivals)]
    return found


def _adding(cycles: Cycles, row: Row) -> int:
    """Cycles of the reduction unit for the chunk."""
    machine = cycles.machine
    size = cycles.unit * cycles.plain.granules[row.chunk] * machine.flit_bytes
    return ceil_div(size, machine.reduce_bytes_per_cycle * machine.reduce_quantum_cycles) * machine.reduce_quantum_cycles


def _added(cycles: Cycles, arrivals: Sequence[tuple[int, int, Row]]) -> list[tuple[Row, int]]:
    """When a unit has added what comes to it, first come, first served; of what comes in one cycle each counts as the last. Where
    iterations overlap those of three periods: the work of a period fits in it, so that the second and the third are the same."""
    period = cycles.period
    queue = sorted(arrivals)
    if period is not None:
        queue = sorted((arrival % period + k * period, number, row) for arrival, number, row in arrivals for k in range(3))
    free, done = 0, {}
    for arrival, group in groupby(queue, key=itemgetter(0)):
        rows = [row for _, _, row in group]
        free = max(free, arrival + cycles.machine.reduce_start_cycles) + sum(_adding(cycles, row) for row in rows)
        done.update({row.number: free - arrival for row in rows})
    return [(row, arrival + done[number]) for arrival, number, row in arrivals]
