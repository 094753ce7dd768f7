"""The queues between a node's interfaces and its router in the MultiTree authors' simulator, before the routers of the core."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from certree.hw import _core
from certree.hw.router_network import WHOLE_PACKET, RouterNetwork, TrafficClass
from certree.models.errors import UnsupportedError
from certree.models.machine import Machine
from certree.models.topology import Topology

# How much each queue holds: parts of messages (a packet's payload each) in the interface's own, in that of the network's side, and
# flits in the one that the router's injection port is fed from.
OFFERED_PARTS = 32
ISSUED_PARTS = 16
QUEUED_FLITS = 80
EJECT_AT = 0x2000  # Hop::kEjectAt in the core
TOP_PRIORITY = 1 << 30


@dataclass
class Message:
    """One chunk on its way from interface `exit` of node `src` to interface `entry` of node `dst`, in `parts` packets, or in one
    message of so many sub-messages; `offered` of them are in a queue or beyond, `packets` have entered the last queue, of which
    `received` have arrived."""

    phase: int
    flow: int
    src: int
    dst: int
    exit: int
    entry: int
    step: int
    value: int
    parts: int
    offered: int = 0
    packets: int = 0
    received: int = 0


class MessageQueues:
    """Parts of messages go from queue to queue, one a cycle and interface, and become packets when they enter the last one.

    In message flow a message is one packet whose parts follow it into the last queue: each is there before the one ahead of it has
    left. Raises UnsupportedError for networks without dimension-order tables. Time O(parts + cycles · interfaces with parts) and
    what the core needs.
    """

    def __init__(self, topology: Topology, machine: Machine, interfaces: int, flow: str) -> None:
        self.interfaces, self._is_whole = interfaces, flow == "message"
        self._payload = machine.packet_payload_bytes // machine.flit_bytes
        self._head = machine.head_flits
        unit = TrafficClass(0, machine.vc_count - 1, self._head + self._payload, self._payload)
        machine = replace(machine, router=replace(machine.router, interfaces="node"))
        network = RouterNetwork(
            topology,
            machine,
            [unit if self._is_whole else TrafficClass(0, machine.vc_count - 1, WHOLE_PACKET)],
            interfaces_per_node=interfaces,
        )
        if network.table is None:
            raise UnsupportedError(f"{topology.name} has no dimension-order routing, which the authors' interfaces need")
        self._nodes = len(topology.kind)
        self.core = _core.PacketStepper(network.scalars, network.core_columns(list(_ways(network, interfaces))))
        count = self._nodes * interfaces
        self._offered: list[deque[tuple[int, Message]]] = [deque() for _ in range(count)]  # with the cycle of each
        self._issued: list[deque[Message]] = [deque() for _ in range(count)]
        self._outside = [0] * count  # flits of the message under way that are not in the last queue yet
        self._filling: set[int] = set()  # interfaces with parts in the first two queues
        self._under_way: dict[int, tuple[Message, bool]] = {}  # by the core's number of the packet; whether it was sent last

    def has_room(self, interface: int) -> bool:
        """Whether the interface may offer another part."""
        return len(self._offered[interface]) < OFFERED_PARTS

    def offer(self, interface: int, message: Message, cycle: int) -> None:
        """The next part of a message enters the interface's own queue; it may go on from the next cycle on."""
        message.offered += 1
        self._offered[interface].append((cycle + 1, message))
        self._filling.add(interface)

    def is_empty(self, interface: int) -> bool:
        """Whether all that was offered has left the interface."""
        return interface not in self._filling and not self.core.backlog(interface)

    @property
    def is_filling(self) -> bool:
        """Whether parts wait in front of the last queues."""
        return bool(self._filling)

    def received(self) -> list[tuple[Message, bool]]:
        """Of each packet that was received whole at the start of this cycle: its message, and whether it was sent last of it."""
        found = [self._under_way.pop(packet) for packet in self.core.received()]
        for message, _ in found:
            message.received += 1
        return found

    def move(self, cycle: int) -> None:
        """One part of each interface goes on from the first queue, and one into the last."""
        for interface in tuple(self._filling):
            offered, issued = self._offered[interface], self._issued[interface]
            if offered and offered[0][0] <= cycle and len(issued) < ISSUED_PARTS:
                issued.append(offered.popleft()[1])
            if issued and self._enters(interface, issued[0]):
                issued.popleft()
            if not offered and not issued:
                self._filling.discard(interface)

    def _enters(self, interface: int, message: Message) -> bool:
        """The part in front enters the last queue, if there is room."""
        continues = self._is_whole and self._outside[interface] > 0
        flits = self._payload + (0 if continues else self._head)
        if self.core.backlog(interface) - self._outside[interface] + flits > QUEUED_FLITS:
            return False
        if continues:
            self._outside[interface] -= self._payload
            return True
        length = self._head + self._payload * (message.parts if self._is_whole else 1)
        way = (message.src * self._nodes + message.dst) * self.interfaces + message.entry
        packet = self.core.send(interface, message.dst, length, way, TOP_PRIORITY - message.step)
        message.packets += 1
        self._under_way[packet] = message, self._is_whole or message.packets == message.parts
        self._outside[interface] = length - flits
        return True


def _ways(network: RouterNetwork, interfaces: int) -> Iterator[np.ndarray]:
    """Hops from every node to every interface of every node, by the routers' own tables."""
    table, topology = network.table, network.topology
    if table is None:
        return
    first = np.searchsorted(topology.src[network.lane_link], np.arange(len(topology.kind)))
    for src in range(len(table)):
        for dst in range(len(table)):
            codes, node = [], src
            while node != dst:
                codes.append(int(table[node, dst]))
                node = int(topology.dst[network.lane_link[first[node] + (codes[-1] & 0x3FFF)]])
            for interface in range(interfaces):
                yield np.array([*codes, EJECT_AT + interface], np.int64)
