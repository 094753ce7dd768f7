"""The network interfaces of the MultiTree authors' simulator, with their faults, each of which can be switched off.

Written from observing and reading the simulator, for preset `multitree-authors`: an event takes effect in the next cycle, chunks
are added up one after the other, a step begins when all interfaces of the node are free. The rows that it explains are in
`docs/benchmarks/simulators.md`. For other purposes use the engines of `certree.hw.run`.
"""

import heapq
import random
from collections import defaultdict
from collections.abc import Collection
from copy import deepcopy
from math import ceil

from certree.extras.papers.authors.faults import AuthorsResult, Fault
from certree.extras.papers.authors.message_queues import Message, MessageQueues
from certree.extras.papers.authors.node import NEVER, Node, nop_cycles, start_value
from certree.extras.papers.authors.tables import GATHER, REDUCE, AuthorsTables, Entry, clear
from certree.models.common.errors import UnsupportedError
from certree.models.machine.machine import Machine
from certree.models.schedule.timing import ceil_div


class AuthorsInterfaces:
    """A run of `tables` with `message_bytes` of data.

    Faults not in `faults` are corrected. `order` is the seed of what their program leaves to chance: which of two equal paths
    around a ring a packet takes, and, except for 0, for each node whether its interfaces act before or after the network in a cycle
    (in their program this depends on the order of sets in memory); with 0 they act before it. The latter only matters when a queue
    is full. Raises UnsupportedError for transfers between nodes that are not neighbours where interfaces belong to links, and the
    errors of MessageQueues. Time O(cycles · interfaces in use + flits · links they pass), memory O(rows + memory of the core)."""

    def __init__(
        self,
        tables: AuthorsTables,
        message_bytes: int,
        machine: Machine,
        *,
        flow: str = "packet",
        faults: Collection[Fault] = tuple(Fault),
        order: int = 0,
    ) -> None:
        self._machine, self._faults = machine, frozenset(faults)
        self._tables, self._interfaces = tables, tables.interfaces
        self._nodes, self._is_whole = len(tables.steps), flow == "message"
        self._parts = ceil_div(message_bytes, machine.packet_payload_bytes * tables.chunks)
        self._nop_cycles = nop_cycles(self._parts, machine, self._faults, is_whole=self._is_whole)
        self._queues = MessageQueues(tables.topology, machine, tables.interfaces, flow, order)
        if Fault.ANY_INTERFACE not in self._faults and tables.link_interface is None:
            raise UnsupportedError("interfaces of links are for transfers between neighbours; these go further")
        self._state = [Node(node, deepcopy(steps), [None] * tables.interfaces) for node, steps in enumerate(tables.steps)]
        draw = random.Random(order)
        self._is_behind = [order != 0 and draw.random() < 0.5 for _ in range(self._nodes)]
        self._events: list[dict[int, set[str]]] = [defaultdict(set) for _ in range(self._nodes)]
        self._times: list[tuple[int, int]] = []
        self._arrived: dict[tuple[int, int], list[Message]] = defaultdict(list)  # (node, cycle)
        self._cells = [[start_value(node, flow) for flow in range(len(tables.members))] for node in range(self._nodes)]
        self._between: dict[tuple[int, int], Message] = {}
        self._messages = self._open_early = self._early = self._last = 0

    def run(self) -> AuthorsResult:
        """Run to the end; UnsupportedError when the run can make no more progress before it."""
        for node in range(self._nodes):
            self._begin(self._state[node], 0)
        core = self._queues.core
        while True:
            cycle, now = core.cycle, []
            while self._times and self._times[0][0] == cycle:
                now.append(heapq.heappop(self._times)[1])
            for node in now:
                if not self._is_behind[node]:
                    self._act(node, cycle)
            self._take_in(cycle)
            self._queues.move(cycle)
            for node in now:
                if self._is_behind[node]:
                    self._act(node, cycle)
            until = self._times[0][0] if self._times else NEVER
            if self._queues.is_filling:
                until = cycle + 1
            if until == NEVER and core.is_idle:
                break
            core.advance(until)
        if any(node.ahead or node.phase == REDUCE for node in self._state):
            raise UnsupportedError("the authors' interfaces do not finish this schedule: nothing starts the next step")
        return AuthorsResult(core.cycle - 1, self._last, self._messages, self._open_early, self._early, self._data_ok())

    def _data_ok(self) -> bool:
        for flow, members in enumerate(self._tables.members):
            total = sum(start_value(node, flow) for node in members)
            if any(self._cells[node][flow] != total for node in members):
                return False
        return True

    def _schedule(self, node: int, event: str, cycle: int) -> None:
        if not self._events[node][cycle]:
            heapq.heappush(self._times, (cycle, node))
        self._events[node][cycle].add(event)

    def _begin(self, node: Node, cycle: int) -> None:
        """Open a phase: with the first step, or with a NOP."""
        if node.ahead and node.ahead[0] is None:
            self._start_nop(node, cycle, 1)
        else:
            self._schedule(node.number, "choose", cycle + 1)

    def _act(self, number: int, cycle: int) -> None:
        """All events of a node in a cycle: first the decisions on the old state, then the changes."""
        events, node = self._events[number].pop(cycle), self._state[number]
        if "choose" in events:
            self._choose(node, cycle)
        if "send" in events:
            self._send(node, cycle)
        adds = "add" in events and not node.is_adding
        if "added" in events:
            self._finish_adding(node, cycle)
        if adds:
            self._add(node, cycle)
        if "choose" in events:
            self._start(node, cycle)
        if "send" in events:
            self._free(node, cycle)
        if "arrived" in events:
            self._accept(node, cycle)

    def _may_choose(self, node: Node) -> bool:
        """Whether an interface is free; when a strict step opens, all must be."""
        free = sum(message is None for message in node.sending) - len(node.chosen)
        return free == self._interfaces if node.opens_step and self._tables.is_strict else free > 0

    def _start_nop(self, node: Node, cycle: int, times: int) -> None:
        node.nop_ends = cycle + times * self._nop_cycles
        self._schedule(node.number, "choose", node.nop_ends)

    def _pass_nop(self, node: Node, cycle: int) -> None:
        """Start the next step, or the next NOP, after the NOP in front."""
        node.ahead.pop(0)
        if node.ahead and node.ahead[0] is None:
            self._start_nop(node, cycle, 1)

    def _choose(self, node: Node, cycle: int) -> None:
        """Each free interface takes the first ready chunk of the step."""
        steps = node.ahead
        free = [number for number, message in enumerate(node.sending) if message is None]
        if node.opens_step and self._tables.is_strict and len(free) < self._interfaces:
            if len(steps) > 1 and steps[0] is None and cycle == node.nop_ends:
                self._pass_nop(node, cycle)
            return
        node.opens_step = False
        if steps and steps[0] is None:
            if cycle == node.nop_ends:
                self._pass_nop(node, cycle)
                if steps and steps[0] is not None and self._may_choose(node):
                    self._schedule(node.number, "choose", cycle + 1)
            return
        for interface in free:
            if not steps:
                return
            found = self._first_ready(node, interface)
            if found is None:
                if Fault.ANY_INTERFACE in self._faults:
                    return
                continue
            entry, target = found
            if target is not None:
                entry.targets.remove(target)
                node.chosen[interface] = self._message(node, entry, interface, target)
            step = steps[0] or []
            if not entry.targets:
                step.remove(entry)
            if not step:
                self._end_step(node, cycle)
                return

    def _end_step(self, node: Node, cycle: int) -> None:
        """The whole step is in flight: the next one opens when the interfaces are free, a NOP after twice its time."""
        node.ahead.pop(0)
        node.opens_step = True
        if node.ahead and node.ahead[0] is None:
            self._start_nop(node, cycle, 2)
        elif node.ahead and self._may_choose(node):
            self._schedule(node.number, "choose", cycle + 1)

    def _first_ready(self, node: Node, interface: int) -> tuple[Entry, int | None] | None:
        for entry in node.ahead[0] or ():
            if entry.waits:
                continue
            if not entry.targets:
                return entry, None
            if Fault.ANY_INTERFACE in self._faults:
                return entry, entry.targets[0]
            for target in entry.targets:
                if self._own(node.number, target) == interface:
                    return entry, target
        return None

    def _own(self, node: int, neighbour: int) -> int:
        """The interface of the link to a neighbour."""
        owners = self._tables.link_interface
        return owners[node, neighbour] if owners is not None else 0

    def _message(self, node: Node, entry: Entry, interface: int, target: int) -> Message:
        if Fault.ANY_INTERFACE in self._faults:
            enters = self._tables.entry_interface.get((node.phase, entry.flow, node.number, target), 0)
        else:
            enters = self._own(target, node.number)
        parts = ceil(self._parts * entry.length)
        value = self._cells[node.number][entry.flow]
        return Message(node.phase, entry.flow, node.number, target, interface, enters, entry.step, value, parts)

    def _start(self, node: Node, cycle: int) -> None:
        """Send the chosen chunks from the next cycle on."""
        if not node.chosen:
            if node.phase == REDUCE and not node.ahead and not any(node.sending):
                self._turn(node, cycle)
            return
        for interface, message in node.chosen.items():
            node.sending[interface] = message
            before = self._between.get((message.src, message.dst))
            self._open_early += before is not None and before.received < self._packets(before)
            self._between[message.src, message.dst] = message
            self._messages += 1
        node.chosen.clear()
        self._schedule(node.number, "send", cycle + 1)

    def _packets(self, message: Message) -> int:
        return 1 if self._is_whole else message.parts

    def _send(self, node: Node, cycle: int) -> None:
        """One part of each message enters the queues of its interface, if they are not full."""
        for interface, message in enumerate(node.sending):
            number = node.number * self._interfaces + interface
            if message is not None and message.offered < message.parts and self._queues.has_room(number):
                self._queues.offer(number, message, cycle)

    def _free(self, node: Node, cycle: int) -> None:
        for interface, message in enumerate(node.sending):
            if message is None:
                continue
            number = node.number * self._interfaces + interface
            is_over = message.offered == message.parts
            if Fault.FREE_WHEN_QUEUED not in self._faults:
                is_over = is_over and self._queues.is_empty(number)
            if is_over:
                node.sending[interface] = None
            else:
                self._schedule(node.number, "send", cycle + 1)
        if node.ahead:
            if self._may_choose(node):
                self._schedule(node.number, "choose", cycle + 1)
        elif node.phase == REDUCE and not any(node.sending) and not node.chosen:
            self._turn(node, cycle)

    def _turn(self, node: Node, cycle: int) -> None:
        node.phase = GATHER
        self._begin(node, cycle)

    def _take_in(self, cycle: int) -> None:
        """Chunks whose packets leave the network in this cycle have reached their node in the next."""
        for message, is_last in self._queues.received():
            is_whole = message.received == self._packets(message)
            if is_last if Fault.LAST_PACKET in self._faults else is_whole:
                self._early += not is_whole
                self._arrived[message.dst, cycle + 1].append(message)
                self._schedule(message.dst, "arrived", cycle + 1)

    def _accept(self, node: Node, cycle: int) -> None:
        self._last = max(self._last, cycle)
        for message in sorted(self._arrived.pop((node.number, cycle)), key=lambda one: (one.flow, one.phase, one.src)):
            if message.phase == REDUCE:
                if not node.is_adding:
                    self._schedule(node.number, "add", cycle + 1)
                node.pending.append((message, message.parts if self._is_whole else message.received))
                continue
            self._cells[node.number][message.flow] = message.value
            clear(node.steps[GATHER], message.flow, message.src)
            if node.phase == GATHER and node.ahead and self._may_choose(node):
                self._schedule(node.number, "choose", cycle + 1)

    def _add(self, node: Node, cycle: int) -> None:
        machine = self._machine
        _, packets = node.pending[0]
        quantum = machine.reduce_bytes_per_cycle * machine.reduce_quantum_cycles
        quanta = ceil_div(packets * machine.packet_payload_bytes, quantum)
        node.is_adding = True
        self._schedule(node.number, "added", cycle + quanta * machine.reduce_quantum_cycles)

    def _finish_adding(self, node: Node, cycle: int) -> None:
        node.is_adding = False
        message, _ = node.pending.pop(0)
        self._cells[node.number][message.flow] += message.value
        clear(node.steps[REDUCE], message.flow, message.src)
        if node.phase == REDUCE and node.ahead and self._may_choose(node):
            self._schedule(node.number, "choose", cycle + 1)
        if node.pending:
            self._schedule(node.number, "add", cycle + 1)
