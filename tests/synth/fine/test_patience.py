"""The list scheduler in C++ against a plain one that looks at every transfer again in every cycle in which it might leave."""

import heapq
from collections import defaultdict
from itertools import product

import numpy as np
import pytest

from certree.models.fine.list_jobs import NONE, Costs, Turns
from certree.models.fine.list_scheduler import ListScheduler
from certree.models.schedule.timing import chunk_bytes_of
from certree.synth.fine.booking import rows_of
from certree.synth.fine.order import order_of
from certree.synth.fine.shots import by_dimension, flat
from tests.synth.execution import ask

ADD, LAND, COPY, SEND = range(4)  # in one cycle, the order


class Plain:
    """Bookings of one lane after the other, without anything that saves time. Rows that leave together are not covered."""

    def __init__(self, rows, order, costs, turns):
        assert not order.groups
        self.rows, self.order, self.costs, self.turns = rows, order, costs, turns
        self.lanes = defaultdict(list)  # (link, lane): cycles of entry
        count = len(rows.routes)
        self.fire, self.landed = [-1] * count, [-1] * count
        self.needs, self.opened = list(order.needs), [0] * len(order.needs)
        self.waits = [len(gates) for gates in order.waits]
        self.ready = turns.release.tolist()
        self.readers = defaultdict(list)
        for row, copy in enumerate(order.original_of):
            if copy != NONE:
                self.waits[row] += 1
                self.readers[copy].append(row)
        self.copies, self.units = defaultdict(int), defaultdict(int)
        self.arrivals = set()  # (node, cycle) of what comes over links to a unit
        self.events = []

    def run(self):
        for row, number in enumerate(self.waits):
            if not number:
                self.ask(row)
        while self.events:
            now, kind, place, row = heapq.heappop(self.events)
            if kind == ADD:
                self.add(now, place, row)
            elif kind == LAND:
                self.landed[row] = now
                self.open(self.order.when_landed[row], now)
            elif kind == COPY:
                node = int(self.rows.src[row])
                fire = self.slot(max(now, self.copies[node]))
                self.copies[node] = fire + self.costs.ser
                self.send(row, fire)
                for reader in self.readers[row]:
                    self.supply(reader, now)
            else:
                self.leave(row, now)
        return self.fire, self.landed

    def slot(self, cycle):
        return -(-cycle // self.costs.slot) * self.costs.slot

    def ask(self, row):
        local = not self.rows.routes[row]
        priority = int(self.turns.priority[row])
        heapq.heappush(self.events, (self.ready[row], COPY if local else SEND, priority, row))

    def supply(self, row, now):
        self.ready[row] = max(self.ready[row], now)
        self.waits[row] -= 1
        if not self.waits[row]:
            self.ask(row)

    def open(self, gates, now):
        for gate in gates:
            self.opened[gate] = max(self.opened[gate], now)
            self.needs[gate] -= 1
            if not self.needs[gate]:
                for row in self.order.opens[gate]:
                    self.supply(row, self.opened[gate])

    def add(self, now, node, row):
        together = [row]
        while self.events and self.events[0][:3] == (now, ADD, node):
            together.append(heapq.heappop(self.events)[3])
        self.units[node] = max(self.units[node], now) + len(together) * self.costs.red
        for one in together:
            heapq.heappush(self.events, (self.units[node], LAND, 0, one))

    def free(self, route, fire):
        """The lanes of a way for a message that leaves then, or None."""
        found, entry = [], fire
        for link in route:
            lane = next(
                (
                    (link, number)
                    for number in range(self.rows.lanes[link])
                    if all(abs(entry - other) >= self.costs.ser for other in self.lanes[link, number])
                ),
                None,
            )
            if lane is None:
                return None
            found.append((lane, entry))
            entry += self.costs.hop[self.rows.links[link]]
        return found

    def routes(self, row):
        route = self.rows.routes[row]
        return [route] if len(route) != 1 else [(one,) for one in self.rows.parallel[route[0]]]

    def first(self, row, now):
        fire = self.slot(now)
        while self.meets(row, fire) or not any(self.free(route, fire) is not None for route in self.routes(row)):
            fire += self.costs.slot
        return fire

    def latency(self, row):
        route = self.rows.routes[row]
        return self.costs.ends + sum(self.costs.hop[self.rows.links[link]] for link in route) if route else 0

    def meets(self, row, fire):
        """Whether it is to come to a unit apart from others, and does not."""
        return self.turns.apart and self.rows.adds[row] and (self.rows.dst[row], fire + self.latency(row)) in self.arrivals

    def leave(self, row, now):
        fire, copy = self.first(row, now), self.order.original_of[row]
        if copy != NONE and self.fire[copy] < fire < self.fire[copy] + self.costs.ser:
            fire = self.first(row, self.fire[copy] + self.costs.ser)
        if self.turns.patient and fire > now:
            heapq.heappush(self.events, (fire, SEND, int(self.turns.priority[row]), row))
            return
        taken = next(lanes for route in self.routes(row) if (lanes := self.free(route, fire)) is not None)
        for lane, entry in taken:
            self.lanes[lane].append(entry)
        self.send(row, fire)

    def send(self, row, fire):
        self.fire[row] = fire
        arrived = fire + self.latency(row) + self.costs.ser
        if self.rows.adds[row]:
            if self.rows.routes[row]:
                self.arrivals.add((self.rows.dst[row], fire + self.latency(row)))
            heapq.heappush(self.events, (arrived + self.costs.start, ADD, int(self.rows.dst[row]), row))
        else:
            heapq.heappush(self.events, (arrived, LAND, 0, row))
        self.open(self.order.when_sent[row], fire)


def programs_of(request):
    yield from flat(request, scattered=True)
    if not request.topology.name.startswith(("dgx1", "switch")):
        yield from by_dimension(request, 0)
        yield from by_dimension(request, None)


@pytest.mark.parametrize("slot", [1, 7])
@pytest.mark.parametrize("network", ["torus:3x3", "fattree:2x3", "dgx1", "switch:5,capacity=2", "mesh:2x4"])
def test_patient_transfers_leave_as_early_as_impatient_ones(network, slot):
    """With turns at random, where messages wait for the same links, some of them for parallel ones."""
    request, rng, compared = ask(network, message_bytes=5000), np.random.default_rng(5), 0
    for _, program in programs_of(request):
        if not 0 < program.rows < 300:
            continue
        order = order_of(program)
        if order.groups:
            continue
        size = chunk_bytes_of(5000, len(program.chunk_root), 1, request.machine)
        costs, rows = Costs.of(program.topology, size, request.machine, slot), rows_of(program)
        for patient, apart in product((False, True), repeat=2):
            turns = Turns(rng.integers(40, size=program.rows), rng.integers(90, size=program.rows), patient, apart)
            found = ListScheduler(rows, order).run(costs, turns)
            fire, landed = Plain(rows, order, costs, turns).run()
            assert found.fire.tolist() == fire
            assert found.landed.tolist() == landed
            compared += 1
    assert compared >= 8
