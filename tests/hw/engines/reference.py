"""The contract of `docs/reference/tables.md` in plain Python, cycle by cycle, flit by flit: the reference of the core's tests."""

from collections import Counter, defaultdict, deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import ceil

import numpy as np

from certree.hw.engines.core_program import initial_cells
from certree.models.machine.clocks import Clocks
from certree.models.network.topology import UNKNOWN_LATENCY
from certree.models.schedule.timing import reduction_cycles, serialization_cycles
from certree.models.tables.table_columns import NIL, Profile, RowOp
from certree.models.tables.table_memory import layout
from certree.models.tables.tables import Tables


@dataclass
class Message:
    """One chunk in flight: over the bundles of `route`, of which it is on number `hop`."""

    row: int
    iteration: int
    source: int
    destination: int
    op: int
    flow: int
    value: int
    buffer: int
    route: list[tuple[int, int]]
    requested: int  # when its first flit stood before the lane it is on
    flits: int
    hop: int = 0
    come: Counter[int] = field(default_factory=Counter)  # flits that have come to the port of each hop
    received: int = 0


@dataclass
class Lane:
    """A sending port (messages, and flits the first of them has left to send) and the cycles to the end of the next router."""

    crossing: int
    queue: deque[Message] = field(default_factory=deque)
    left: int = 0
    sent: int = 0


@dataclass
class Node:
    """The state of one network interface."""

    pending: deque[tuple[int, int, int]]  # (slot, row, iteration) in firing order
    counts: Counter[tuple[int, int, int]] = field(default_factory=Counter)  # (op, flow, peer), or (flow, buffer, i mod W)
    reductions: deque[tuple[int, Message]] = field(default_factory=deque)  # (finish, message)
    free_at: int = 0
    copies: deque[tuple[int, Message]] = field(default_factory=deque)  # (finish, message)
    copied_at: int = 0
    timestep: int = 0
    down_counter: int = 0


@dataclass(frozen=True)
class ReferenceResult:
    """The fields of the same names of `Run`; `finished` is false when nothing moved any more."""

    cycles: int
    contention_cycles: int
    late: int
    messages: int
    flit_hops: int
    busiest_lane_cycles: int
    data_ok: bool
    finished: bool


class ReferenceMachine:
    """One run of a set of tables. Time O(cycles · lanes): for small cases only."""

    def __init__(self, tables: Tables, run: str = "slotted", clocks: Clocks | None = None) -> None:
        self.tables, self.paced = tables, run == "paced"
        machine, topology = tables.machine, tables.topology
        self.clocks = (clocks or Clocks.equal(len(topology.kind))).later(machine.ni_start_cycles)
        self.flits = serialization_cycles(tables.chunk_bytes, machine)
        self.step_time = self.flits if self.flits <= machine.ni_buffer_flits else self.flits - machine.ni_buffer_flits
        self.end_cycles = machine.interface_cycles + machine.router_cycles
        self.bundles: dict[tuple[int, int], list[Lane]] = defaultdict(list)
        for src, dst, capacity in zip(topology.src.tolist(), topology.dst.tolist(), topology.capacity.tolist(), strict=True):
            self.bundles[src, dst] += [Lane(0) for _ in range(capacity)]
        for src, dst, latency in zip(topology.src.tolist(), topology.dst.tolist(), topology.latency.tolist(), strict=True):
            wire = machine.link_latency_cycles if latency == UNKNOWN_LATENCY else latency
            for lane in self.bundles[src, dst]:
                lane.crossing = max(lane.crossing, machine.router_cycles + wire)
        self.size = tables.chunk_bytes // machine.flit_bytes
        self.memory = layout(tables)
        places = (self.memory.work_base + tables.in_flight * self.memory.work_stride) // self.size
        if tables.chunk_granules is not None:  # as the engines have it: a cell for each address
            self.addresses = sorted({*tables.addr.tolist(), *tables.arrival_addr.tolist()})
            places = len(self.addresses)
        self.cells = [list(map(int, row)) for row in initial_cells(len(topology.kind), places)]
        self.initial = [row[:] for row in self.cells]
        self.nodes = [Node(deque(sorted(self._firings(node)))) for node in range(len(topology.kind))]
        # by cycle: flits that come to a router where their message goes on, and flits that are received
        self.crossing: dict[int, list[tuple[tuple[int, int], int, Message]]] = defaultdict(list)
        self.flying: dict[int, list[tuple[tuple[int, int], int, Message]]] = defaultdict(list)
        self.now = self.end = self.contention = self.late = self.messages = self.flit_hops = 0

    def _firings(self, node: int) -> Iterator[tuple[int, int, int]]:
        """(slot, row, iteration); rows of one slot in table order modulo the period, as the hardware keeps them."""
        period, step = self.tables.period or 0, self.tables.step
        if self.paced and self.tables.fine_slots:  # E9: a node counts its own steps
            numbers = [sorted(set(step[self.tables.node == each].tolist())) for each in range(len(self.tables.topology.kind))]
            period = max(map(len, numbers))
            step = np.array([numbers[at].index(time) for at, time in zip(self.tables.node, step, strict=True)])
        for row in np.flatnonzero(self.tables.node == node).tolist():
            for iteration in range(self.tables.repeats):
                yield int(step[row]) + iteration * period, row, iteration

    def run(self) -> ReferenceResult:
        """Run to the end, or until nothing has moved for longer than any counter runs."""
        last_slot = max((node.pending[-1][0] for node in self.nodes if node.pending), default=0)
        slowest = max(1 + drift for drift in self.clocks.drift)
        patience = max(self.clocks.skew) + ceil((last_slot + 1) * max(self.tables.slot_cycles, self.step_time) * slowest) + 3
        quiet = 0
        while not self._is_done() and quiet < patience:
            before = (self.messages, self.flit_hops)
            self._cycle()
            moved = before != (self.messages, self.flit_hops)
            busy = moved or self.flying or self.crossing or any(node.reductions or node.copies for node in self.nodes)
            quiet = 0 if busy else quiet + 1
        busiest = max(lane.sent for lanes in self.bundles.values() for lane in lanes)
        done, data = self._is_done(), self._data_ok()
        return ReferenceResult(self.end, self.contention, self.late, self.messages, self.flit_hops, busiest, done and data, done)

    def _is_done(self) -> bool:
        counted = sum(sum(node.counts.values()) for node in self.nodes)
        return (
            not any(node.pending for node in self.nodes) and counted == int(self.tables.arrival_count.sum()) * self.tables.repeats
        )

    def _cycle(self) -> None:
        for ends, _, message in sorted(self.crossing.pop(self.now, []), key=lambda flit: flit[:2]):
            self._go_on(message, message.route.index(ends) + 1)
        for number, node in enumerate(self.nodes):
            self._retire(number, node)
            if self.now < self.clocks.skew[number]:
                continue
            if self.paced:
                self._advance_timestep(number, node)
            self._fire_rows(number, node)
        for ends in sorted(self.bundles):
            for index, lane in enumerate(self.bundles[ends]):
                self._send_flit(ends, index, lane)
        for node in self.nodes:
            self._copy(node)
        for _, _, message in sorted(self.flying.pop(self.now, []), key=lambda flit: flit[:2]):
            self._receive_flit(message)
        for node in self.nodes:
            node.down_counter = max(0, node.down_counter - 1)
        self.now += 1

    def _copy(self, node: Node) -> None:
        """M8, M6: messages of a node to itself are complete, before those that come from elsewhere at the same time."""
        while node.copies and node.copies[0][0] <= self.now + 1:
            finish, message = node.copies.popleft()
            self._land(node, message, finish)

    def _retire(self, number: int, node: Node) -> None:
        while node.reductions and node.reductions[0][0] <= self.now:
            finish, message = node.reductions.popleft()
            cell = self._written(message)
            self.cells[number][cell] = (self.cells[number][cell] + message.value) % 2**64
            self._count(node, message, finish)

    def _count(self, node: Node, message: Message, when: int) -> None:
        key = (message.op, message.flow, message.source)
        if self.tables.is_counted:
            key = (message.flow, message.buffer, message.iteration % self.tables.in_flight)
        node.counts[key] += 1
        self.end = max(self.end, when)

    def _cell(self, address: int, iteration: int) -> int:
        """D5: the place of an address of iteration 0 in a later one."""
        if self.tables.chunk_granules is not None:
            return self.addresses.index(address)
        if address < self.memory.work_base:
            return (address + iteration * self.memory.stride) // self.size
        return (address + iteration % self.tables.in_flight * self.memory.work_stride) // self.size

    def _written(self, message: Message) -> int:
        """The place that a message is for: where the destination's list of arrivals says."""
        if not self.tables.is_counted:
            return self._cell(message.flow * self.size, message.iteration)
        return self._cell(
            int(self.tables.arrival_addr[self._line(message.destination, message.flow, message.buffer)]), message.iteration
        )

    def _line(self, node: int, flow: int, buffer: int) -> int:
        tables = self.tables
        ours = (tables.arrival_node == node) & (tables.arrival_flow == flow) & (tables.arrival_buffer == buffer)
        return int(np.flatnonzero(ours)[0])

    def _advance_timestep(self, number: int, node: Node) -> None:
        steps = {slot for slot, _, _ in node.pending}
        if self.now > self.clocks.skew[number]:
            backlog = max(
                (self._backlog(lane) for ends, lanes in self.bundles.items() if ends[0] == number for lane in lanes), default=0
            )
            idle = backlog <= self.tables.machine.ni_buffer_flits and not node.reductions and not node.copies
            if not steps or node.timestep in steps or node.down_counter or not idle:
                return
            node.timestep += 1
        if steps and node.timestep not in steps:
            node.down_counter = ceil(self.step_time * (1 + self.clocks.drift[number]))

    def _backlog(self, lane: Lane) -> int:
        return sum(message.flits for message in list(lane.queue)[1:]) + lane.left if lane.queue else 0

    def _fire_rows(self, number: int, node: Node) -> None:
        while node.pending:
            slot, row, iteration = node.pending[0]
            opening = self.clocks.skew[number] + ceil(slot * self.tables.slot_cycles * (1 + self.clocks.drift[number]))
            is_open = slot == node.timestep if self.paced else opening <= self.now
            if not is_open or not all(node.counts[key] >= least for key, least in self._awaited(number, row, iteration)):
                return
            node.pending.popleft()
            self.late += not self.paced and opening < self.now
            self._fire(number, row, iteration)

    def _awaited(self, number: int, row: int, iteration: int) -> list[tuple[tuple[int, int, int], int]]:
        """The counters that a row looks at, and what they must have reached."""
        tables, flow = self.tables, int(self.tables.flow[row])
        if tables.is_counted:
            return self._awaited_number(number, row, iteration)
        if tables.op[row] == RowOp.REDUCE:
            return [((RowOp.REDUCE, flow, child), iteration + 1) for child in tables.children[row].tolist() if child != NIL]
        if tables.parent[row] != NIL:
            return [((RowOp.GATHER, flow, int(tables.parent[row])), iteration + 1)]
        ours = (tables.arrival_node == number) & (tables.arrival_op == RowOp.REDUCE) & (tables.arrival_flow == flow)
        return [((RowOp.REDUCE, flow, peer), iteration + 1) for peer in tables.arrival_peer[ours].tolist()]

    def _awaited_number(self, number: int, row: int, iteration: int) -> list[tuple[tuple[int, int, int], int]]:
        """A8: nothing, or one counter."""
        tables, flow, buffer = self.tables, int(self.tables.flow[row]), int(self.tables.src_buffer[row])
        if not tables.wait[row]:
            return []
        turn, place = divmod(iteration, tables.in_flight)
        arrivals = int(tables.arrival_count[self._line(number, flow, buffer)])
        return [((flow, buffer, place), turn * arrivals + int(tables.wait[row]))]

    def _fire(self, number: int, row: int, iteration: int) -> None:
        tables, op, flow = self.tables, int(self.tables.op[row]), int(self.tables.flow[row])
        destinations = [child for child in tables.children[row].tolist() if child != NIL]
        if op == RowOp.REDUCE and not tables.is_counted:
            destinations = [int(tables.parent[row])]
        value = self.cells[number][self._cell(int(tables.addr[row]), iteration)]
        for destination in destinations:
            passed = [(number, destination)]
            if tables.route[row] != NIL:
                links = tables.routes[tables.route[row]]
                passed = [(int(tables.topology.src[link]), int(tables.topology.dst[link])) for link in links]
            buffer = int(tables.dst_buffer[row])
            flits = tables.machine.head_flits + int(tables.size[row])
            message = Message(
                row, iteration, number, destination, op, flow, value, buffer, passed, self.now, flits, come=Counter({0: flits})
            )
            self.messages += 1
            if destination == number:
                node = self.nodes[number]
                node.copied_at = max(node.copied_at, self.now) + flits
                node.copies.append((node.copied_at, message))
            else:
                self._queue(message)

    def _queue(self, message: Message) -> None:
        """Behind the others at the lane with the fewest flits to send."""
        lane = min(self.bundles[message.route[message.hop]], key=self._backlog)
        lane.left = lane.left if lane.queue else message.flits
        lane.queue.append(message)

    def _go_on(self, message: Message, hop: int) -> None:
        """A flit has come to the router where its message takes its next lane; the first of them queues there."""
        message.come[hop] += 1
        if message.come[hop] == 1:
            message.hop = hop
            message.requested = self.now
            self._queue(message)

    def _send_flit(self, ends: tuple[int, int], index: int, lane: Lane) -> None:
        if not lane.queue:
            return
        message = lane.queue[0]
        sent = message.flits - lane.left
        if not sent:
            self.contention += self.now - message.requested
        if message.route.index(ends) + 1 < len(message.route):
            self.crossing[self.now + lane.crossing].append((ends, index, message))
            self.flit_hops += 1
        else:
            self.flying[self.now + lane.crossing + self.end_cycles].append((ends, index, message))
        assert sent < message.come[message.route.index(ends)], "a flit is sent on before it has come"
        lane.sent += 1
        lane.left -= 1
        if not lane.left:
            lane.queue.popleft()
            lane.left = lane.queue[0].flits if lane.queue else 0

    def _receive_flit(self, message: Message) -> None:
        self.flit_hops += 1
        message.received += 1
        if message.received < message.flits:
            return
        self._land(self.nodes[message.destination], message, self.now + 1)

    def _land(self, node: Node, message: Message, complete: int) -> None:
        """A complete message is handed to the reduction unit, or is written."""
        machine = self.tables.machine
        if message.op == RowOp.REDUCE:
            node.free_at = max(node.free_at, complete + machine.reduce_start_cycles)
            node.free_at += reduction_cycles(self.tables.chunk_bytes, machine)
            node.reductions.append((node.free_at, message))
        else:
            self.cells[message.destination][self._written(message)] = message.value
            self._count(node, message, complete)

    def _data_ok(self) -> bool:
        if self.tables.profile is Profile.BLOCKS:
            return self._blocks_ok()
        collective = self.tables.collective
        members = list(collective.members or self.tables.topology.endpoints.tolist())
        for chunk in range(self.tables.chunks * self.tables.repeats):
            root = int(self.tables.schedule.chunk_root[chunk % self.tables.chunks])
            promised = (
                sum(self.initial[node][chunk] for node in members) % 2**64 if collective.reduces else self.initial[root][chunk]
            )
            due = members if collective.gathers else [root]
            if any(self.cells[node][chunk] != promised for node in due):
                return False
        return True

    def _blocks_ok(self) -> bool:
        """D3, counted out: blocks of the pairs in the order of ranks, chunks within a block in the order of their numbers."""
        tables = self.tables
        ranks = list(tables.collective.members or tables.topology.endpoints.tolist())
        assert tables.chunk_root is not None
        assert tables.chunk_target is not None
        if tables.chunk_granules is not None:
            return self._demand_ok()
        pairs = list(zip(tables.chunk_root.tolist(), tables.chunk_target.tolist(), strict=True))
        each = max(Counter(pairs).values())
        block, seen = each * tables.repeats, Counter[tuple[int, int]]()
        for source, target in pairs:
            for iteration in range(tables.repeats):
                place = iteration * each + seen[source, target]
                sent = ranks.index(target) * block + place
                received = (len(ranks) + ranks.index(source)) * block + place
                if self.cells[target][received] != self.initial[source][sent]:
                    return False
            seen[source, target] += 1
        return True

    def _demand_ok(self) -> bool:
        """D7, counted out: what a node sends, and what it receives, chunk by chunk, each as long as it is."""
        tables = self.tables
        assert tables.chunk_granules is not None
        sizes = (tables.chunk_granules * self.size).tolist()
        ends = list(zip(tables.chunk_root.tolist(), tables.chunk_target.tolist(), range(tables.chunks), strict=True))
        area = max(sum(sizes[chunk] for source, _, chunk in ends if source == node) for node, _, _ in ends)
        for source, target, chunk in ends:
            sent = sum(sizes[other] for start, end, other in ends if start == source and (end, other) < (target, chunk))
            received = area + sum(sizes[other] for start, end, other in ends if end == target and (start, other) < (source, chunk))
            if self.cells[target][self.addresses.index(received)] != self.initial[source][self.addresses.index(sent)]:
                return False
        return True
