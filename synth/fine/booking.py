"""List scheduling in cycles: each transfer leaves as soon as what it carries is there and every link of its way is free for it.

Events are handled in the order of their times, so that reduction units serve what arrives as `models.fine.slots` says. A transfer
that can be sent books its links at once, from the first cycle in which all of them are free: gaps between earlier bookings are
used.
"""

from bisect import bisect_right, insort
from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

import numpy as np
from numpy.typing import NDArray

from certree.models.common.errors import UnsupportedError
from certree.models.machine.machine import Machine
from certree.models.schedule.paths import link_cycles
from certree.models.schedule.schedule import Op
from certree.models.schedule.timing import reduction_cycles, serialization_cycles
from certree.synth.fine.order import NONE, Order
from certree.synth.fine.program import Program, Way, parallel_links

_ADD, _LAND, _COPY, _SEND = range(4)  # of events in one cycle, the order


@dataclass(frozen=True)
class Costs:
    """Cycles on a machine: `ser` of a message on a lane, `red` of a reduction unit for a chunk, `hop` by link, from the entry
    into it to the entry into the next one, `ends`: of interfaces and the last router, `start`: of a reduction. `slot`: cycles of
    a slot."""

    ser: int
    red: int
    hop: list[int]
    ends: int
    start: int
    slot: int = 1

    @classmethod
    def of(cls, program: Program, chunk_bytes: int, machine: Machine, slot: int = 1) -> "Costs":
        """Those of a program whose chunks have that many bytes."""
        topology = program.topology
        hop = link_cycles(topology, machine)[topology.pair_of_link] + machine.router_cycles
        ser = serialization_cycles(chunk_bytes, machine, topology.scale)
        red = reduction_cycles(chunk_bytes, machine)
        return cls(ser, red, hop.tolist(), machine.interface_cycles + machine.router_cycles, machine.reduce_start_cycles, slot)


@dataclass(frozen=True, eq=False)
class Booked:
    """`fire`, `landed`: cycles, by row; `ways`: as in the program, of parallel links the one that was free; `reads_original`: by
    row, whether it reads the original in place of a local copy of it. `end`: when everything has landed."""

    fire: NDArray[np.int64]
    landed: NDArray[np.int64]
    ways: list[Way]
    reads_original: list[bool]

    @property
    def end(self) -> int:
        """The cycle in which everything has landed."""
        return int(self.landed.max(initial=0))


class _Lanes:
    """The bookings of each lane of each link: cycles of entry, ascending."""

    def __init__(self, program: Program, costs: Costs) -> None:
        self._ser, self._slot, self._hop = costs.ser, costs.slot, costs.hop
        self._lanes: list[list[list[int]]] = [[[] for _ in range(lanes)] for lanes in program.topology.capacity.tolist()]

    def first(self, way: Way, fire: int) -> int:
        """The first slot from `fire` on in which a message can leave along a way."""
        lanes, hop, ser, slot = self._lanes, self._hop, self._ser, self._slot
        fire += -fire % slot
        clear, place, entry = 0, 0, fire
        while clear < len(way):  # links in a row that are free, round and round
            link = way[place]
            wait = -1
            for taken in lanes[link]:
                at = bisect_right(taken, entry - ser)
                late = taken[at] + ser - entry if at < len(taken) and taken[at] < entry + ser else 0
                if wait < 0 or late < wait:
                    wait = late
                if not late:
                    break
            if wait > 0:
                wait += -wait % slot
                fire, entry, clear = fire + wait, entry + wait, 0
                continue
            clear += 1
            place += 1
            entry += hop[link]
            if place == len(way):
                place, entry = 0, fire
        return fire

    def book(self, way: Way, fire: int) -> bool:
        """Take the links of a way for a message that leaves then; False, and nothing taken, where one of them is not free."""
        entry = fire
        found: list[tuple[list[int], int]] = []
        for link in way:
            lane = next((taken for taken in self._lanes[link] if self._is_free(taken, entry)), None)
            if lane is None:
                for one, cycle in found:
                    one.remove(cycle)
                return False
            insort(lane, entry)
            found.append((lane, entry))
            entry += self._hop[link]
        return True

    def _is_free(self, taken: list[int], entry: int) -> bool:
        at = bisect_right(taken, entry - self._ser)
        return at == len(taken) or taken[at] >= entry + self._ser


class Booking:
    """One run of the list scheduler."""

    def __init__(self, program: Program, order: Order, costs: Costs, priority: Sequence[int]) -> None:
        self._program, self._order, self._costs, self._priority = program, order, costs, priority
        rows = program.rows
        self._lanes = _Lanes(program, costs)
        self._parallel = parallel_links(program.topology)
        self._ways = list(program.ways)
        self._latency = [sum(costs.hop[link] for link in way) + costs.ends if way else 0 for way in program.ways]
        self._src, self._dst, self._adds = program.src.tolist(), program.dst.tolist(), (program.op == Op.REDUCE).tolist()
        self._is_local = (program.src == program.dst).tolist()
        self._fire, self._landed = [NONE] * rows, [NONE] * rows
        self._original = [False] * rows
        nodes = len(program.topology.kind)
        self._copy_unit, self._unit = [0] * nodes, [0] * nodes
        self._needs, self._open_at = list(order.needs), [0] * len(order.needs)
        self._waits, self._ready = order.waits, [0] * rows
        self._readers: list[list[int]] = [[] for _ in range(rows)]
        for row, copy in enumerate(order.original_of):
            if copy != NONE:
                self._waits[row] += 1
                self._readers[copy].append(row)
        self._group_waits = [len(rows) for rows in order.groups]
        self._events: list[tuple[int, int, int, int]] = []

    def run(self) -> Booked:
        """The booking; UnsupportedError where transfers that have to leave together meet on a link."""
        heapify(self._events)
        for row, waits in enumerate(self._waits):
            if not waits:
                self._ask(row)
        events = self._events
        while events:
            now, kind, place, row = heappop(events)
            if kind == _ADD:
                self._add(now, place, row)
            elif kind == _LAND:
                self._land(row, now)
            elif kind == _COPY:
                self._copy(row, now)
            else:
                self._send(row, now)
        if NONE in self._fire:
            raise UnsupportedError("transfers wait for each other in a circle: no order without more buffers")
        return Booked(np.array(self._fire, np.int64), np.array(self._landed, np.int64), self._ways, self._original)

    def _ask(self, row: int) -> None:
        """A row has all that it waited for; of a group the last one speaks for all."""
        number = self._order.group[row]
        ready = self._ready[row]
        if number != NONE:
            self._group_waits[number] -= 1
            if self._group_waits[number]:
                return
            ready = max(self._ready[one] for one in self._order.groups[number])
            row = self._order.groups[number][0]
        heappush(self._events, (ready, _COPY if self._is_local[row] else _SEND, self._priority[row], row))

    def _supply(self, row: int, now: int) -> None:
        self._ready[row] = max(self._ready[row], now)
        self._waits[row] -= 1
        if not self._waits[row]:
            self._ask(row)

    def _open(self, gates: list[int], now: int) -> None:
        """Something happened that helps to open gates."""
        for gate in gates:
            self._needs[gate] -= 1
            self._open_at[gate] = max(self._open_at[gate], now)
            if not self._needs[gate]:
                for row in self._order.opens[gate]:
                    self._supply(row, self._open_at[gate])

    def _add(self, now: int, node: int, row: int) -> None:
        """A reduction unit takes what arrived in one cycle: each counts as the last."""
        together = [row]
        while self._events and self._events[0][:3] == (now, _ADD, node):
            together.append(heappop(self._events)[3])
        self._unit[node] = max(self._unit[node], now) + len(together) * self._costs.red
        for one in together:
            heappush(self._events, (self._unit[node], _LAND, 0, one))

    def _land(self, row: int, now: int) -> None:
        self._landed[row] = now
        self._open(self._order.when_landed[row], now)

    def _copy(self, row: int, now: int) -> None:
        """A local transfer takes the copy unit; what would read the copy may read the original until then."""
        fire = max(now, self._copy_unit[self._src[row]])
        fire += -fire % self._costs.slot
        self._copy_unit[self._src[row]] = fire + self._costs.ser
        self._sent(row, fire)
        for reader in self._readers[row]:
            self._supply(reader, now)

    def _send(self, row: int, now: int) -> None:
        number = self._order.group[row]
        if number != NONE:
            self._send_together(self._order.groups[number], now)
            return
        fire, way = self._first(row, now)
        copy = self._order.original_of[row]
        if copy != NONE:
            made = self._fire[copy]
            self._original[row] = fire <= made
            if fire > made and fire < made + self._costs.ser:
                fire, way = self._first(row, made + self._costs.ser)
        self._ways[row] = way
        self._lanes.book(way, fire)
        self._sent(row, fire)

    def _first(self, row: int, now: int) -> tuple[int, Way]:
        """The first cycle in which a row can leave, and its way: of one link, any that is parallel to it."""
        way = self._ways[row]
        if len(way) != 1 or len(self._parallel[way[0]]) == 1:
            return self._lanes.first(way, now), way
        return min((self._lanes.first((link,), now), (link,)) for link in self._parallel[way[0]])

    def _send_together(self, rows: list[int], now: int) -> None:
        fire = now
        while (later := max(self._lanes.first(self._ways[row], fire) for row in rows)) > fire:
            fire = later
        if not all(self._lanes.book(self._ways[row], fire) for row in rows):
            raise UnsupportedError("transfers that have to leave in one cycle meet on a link; more buffers would part them")
        for row in rows:
            self._sent(row, fire)

    def _sent(self, row: int, fire: int) -> None:
        self._fire[row] = fire
        arrived = fire + self._latency[row] + self._costs.ser
        if self._adds[row]:
            heappush(self._events, (arrived + self._costs.start, _ADD, self._dst[row], row))
        else:
            heappush(self._events, (arrived, _LAND, 0, row))
        self._open(self._order.when_sent[row], fire)
