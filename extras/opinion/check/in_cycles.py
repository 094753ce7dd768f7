"""Fine slots, cycle by cycle: when messages are on links and in buffers of routers, when they arrive and are added."""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from math import ceil
from operator import itemgetter

from certree.extras.opinion.check.in_cells import Flight
from certree.extras.opinion.check.on_links import Pair, Place, passed, rooms, said
from certree.extras.opinion.check.plain_schedule import Plain, Row, WrongError

#: from a cycle to another one, this one not included, and the transfer
Interval = tuple[int, int, Row]


class Cycles:
    """The cycles of a schedule with fine slots. `period`: cycles from one iteration to the next; None where there is one alone."""

    def __init__(self, plain: Plain) -> None:
        base, made_for = plain.base, plain.base.made_for
        assert made_for is not None
        self.plain, self.slot, self.machine = plain, base.slot_cycles or 0, made_for.machine
        self.period = self.slot * base.period if base.period and base.repeats > 1 else None
        message = plain.schedule.message_chunks * base.repeats * self.machine.flit_bytes
        self.unit = -(-made_for.message_bytes // message)  # granules of a chunk of size 1
        self.wire: dict[Pair, int] = {}
        for src, dst, _, stated in plain.links:
            cycles = self.machine.link_latency_cycles if stated < 0 else stated
            self.wire[src, dst] = max(cycles, self.wire.get((src, dst), 0))

    def ser(self, row: Row) -> int:
        """The number of cycles in which a message passes a lane (F3)."""
        flits = self.machine.head_flits + self.unit * self.plain.granules[row.chunk]
        return ceil(self.plain.schedule.topology.scale * flits)

    def adding(self, row: Row) -> int:
        """The number of cycles of a reduction unit for a chunk, in whole quanta (F8)."""
        machine, size = self.machine, self.unit * self.plain.granules[row.chunk] * self.machine.flit_bytes
        return -(-size // (machine.reduce_bytes_per_cycle * machine.reduce_quantum_cycles)) * machine.reduce_quantum_cycles

    def entries(self, row: Row) -> list[int]:
        """The cycles in which its head enters each link (F4, F14), and would enter a further one."""
        found = [row.step * self.slot]
        for (pair, _), wait in zip(passed(self.plain, row), row.waits, strict=True):
            found.append(found[-1] + self.wire[pair] + self.machine.router_cycles + wait)
        return found

    def arrival(self, row: Row) -> int:
        """The cycle in which all of it has arrived (F7, F9)."""
        if row.is_local:
            return row.step * self.slot + self.ser(row)
        machine = self.machine
        return self.entries(row)[-1] + machine.ni_issue_cycles + 2 * machine.ni_cycles + machine.router_cycles + self.ser(row)

    def images(self, intervals: Sequence[Interval], rule: str) -> list[Interval]:
        """The intervals; where iterations overlap those that lie in a period, and their images one period before and after."""
        if self.period is None:
            return list(intervals)
        for low, high, row in intervals:
            if high - low > self.period:
                raise WrongError(rule, f"{row} is there for {high - low} cycles; a period has {self.period}", row.step)
        first = [(low % self.period, low % self.period + high - low, row) for low, high, row in intervals]
        return [(low + k * self.period, high + k * self.period, row) for k in (0, -1, 1) for low, high, row in first]


def check_reservations(cycles: Cycles) -> None:
    """Links have a lane for each message, copy units are taken once at a time (F5, F6, F9: `reserved`). Where messages name one of
    several parallel links, one that names none meets fewer than there are lanes."""
    plain, lanes = cycles.plain, rooms(cycles.plain)
    parallel = Counter(link[:2] for link in plain.links)
    taken: dict[Place, list[Interval]] = {}
    for row in plain.rows:
        hops = [((row.src, row.src), None)] if row.is_local else passed(plain, row)
        entries = [row.step * cycles.slot] if row.is_local else cycles.entries(row)
        for hop, entry in zip(hops, entries, strict=False):
            for place in (place for place in hop if place is not None):
                taken.setdefault(place, []).append((entry, entry + cycles.ser(row), row))
    for place, intervals in taken.items():
        images, room, ends = cycles.images(intervals, "reserved"), lanes.get(place, 1), list[int]()
        for low, high, row in sorted(images, key=itemgetter(0, 1)):
            ends = [*(end for end in ends if end > low), high]
            if len(ends) > room:
                raise WrongError("reserved", f"{row} finds no lane of {said(place)} in cycle {low}", row.step)
        if isinstance(place, tuple) and parallel[place] > 1 and any(row.links is not None for _, _, row in intervals):
            for (_, _, row), met in zip(intervals, _met(images, len(intervals)), strict=True):
                if row.links is None and met >= room:
                    raise WrongError("reserved", f"{row} meets {met} messages on {room} lanes of {said(place)}", row.step)


def _met(images: Sequence[Interval], count: int) -> list[int]:
    """How many others each of the first intervals overlaps with."""
    starts, ends = sorted(low for low, _, _ in images), sorted(high for _, high, _ in images)
    return [bisect_left(starts, high) - bisect_right(ends, low) - 1 for low, high, _ in images[:count]]


def check_waits(cycles: Cycles) -> None:
    """A message that waits at a router has the buffer of its virtual channel to itself, and room in it (F15, F16: `waiting`)."""
    there: dict[Pair, list[tuple[Interval, int]]] = {}
    for row in cycles.plain.rows:
        if row.is_local:
            continue
        ser = cycles.ser(row)
        for (pair, _), wait, left in zip(passed(cycles.plain, row), row.waits, cycles.entries(row)[1:], strict=True):
            there.setdefault(pair, []).append(((left - wait, left + ser, row), wait))
            if min(wait, ser) > cycles.machine.vc_buffer_flits:
                raise WrongError("waiting", f"{row} waits {wait} cycles with {min(wait, ser)} flits in a buffer", row.step)
    for pair, messages in there.items():
        for layer in {one[2].layer for one, wait in messages if wait}:
            inside = [message for message in messages if message[0][2].links is None or message[0][2].layer == layer]
            images = cycles.images([interval for interval, _ in inside], "waiting")
            for ((_, _, row), wait), met in zip(inside, _met(images, len(inside)), strict=True):
                if wait and met:
                    raise WrongError("waiting", f"{row} waits behind {said(pair)} with another message", row.step)


def fine_flights(cycles: Cycles) -> list[Flight]:
    """The cycles in which each transfer leaves and has landed: a copy when it has arrived, a reduce when it has been added (F7,
    F8)."""
    found = []
    units: dict[int, list[tuple[int, int, Row]]] = {}
    for row in cycles.plain.rows:
        arrival = cycles.arrival(row)
        if row.is_copy:
            found.append((row.step * cycles.slot, arrival, row))
        else:
            units.setdefault(row.dst, []).append((arrival, row.number, row))
    for node, arrivals in units.items():
        work = sum(cycles.adding(row) for _, _, row in arrivals)
        if cycles.period is not None and work > cycles.period:
            raise WrongError("overloaded", f"the reduction unit of node {node} gets {work} cycles of work in {cycles.period}")
        found += _added(cycles, arrivals)
    return found


def _added(cycles: Cycles, arrivals: Sequence[tuple[int, int, Row]]) -> list[Flight]:
    """The cycle in which a unit has added what comes to it, first come, first served; of what comes in one cycle each counts as the
    last. Where iterations overlap those of three periods: the work of a period fits in it, so that the second and the third are the
    same."""
    queue, free, after = sorted(arrivals), 0, dict[int, int]()
    if cycles.period is not None:
        queue = sorted((at % cycles.period + k * cycles.period, number, row) for at, number, row in arrivals for k in range(3))
    for arrival, group in groupby(queue, key=itemgetter(0)):
        rows = [row for _, _, row in group]
        free = max(free, arrival + cycles.machine.reduce_start_cycles) + sum(cycles.adding(row) for row in rows)
        after |= {row.number: free - arrival for row in rows}
    return [(row.step * cycles.slot, arrival + after[number], row) for arrival, number, row in arrivals]
