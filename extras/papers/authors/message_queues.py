"""The queues between a node's interfaces and its router in the MultiTree authors' simulator, in front of the core's routers."""

import itertools
import random
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from certree.hw import _core
from certree.hw.routers.network import EJECT_PORT, WHOLE_PACKET, RouterNetwork, TrafficClass
from certree.models.common.errors import UnsupportedError
from certree.models.machine.machine import Machine
from certree.models.network.topology import Topology
from certree.models.routers.grid_routing import Grid
from certree.models.routers.virtual_channels import ClassVcs

Int64 = NDArray[np.int64]
# How much each queue holds: parts of messages (a packet's payload each) in the interface's own, in that of the network's side, and
# flits in the one that the router's injection port is fed from.
OFFERED_PARTS = 32
ISSUED_PARTS = 16
QUEUED_FLITS = 80
EJECT_AT = 0x2000  # Hop::kEjectAt in the core
TOP_PRIORITY = 1 << 30


@dataclass
class Message:
    """One chunk in flight from interface `exit` of node `src` to interface `entry` of node `dst`, in `parts` packets, or in one
    message of `parts` sub-messages; `offered` of them are in a queue or beyond, `packets` have entered the last queue, of which
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
    """Parts of messages move from queue to queue, one per cycle and interface, and become packets when they enter the last one.

    In message flow a message is one packet whose parts follow it into the last queue: each arrives before the one ahead of it has
    left. Packets go along one dimension after the other; each draws one of two equal paths around a ring, from `seed`. Raises
    UnsupportedError for networks that are not whole grids. Time O(parts + cycles · interfaces with parts), plus that of the core.
    """

    def __init__(self, topology: Topology, machine: Machine, interfaces: int, flow: str, seed: int) -> None:
        self.interfaces, self._is_whole = interfaces, flow == "message"
        self._payload = machine.packet_payload_bytes // machine.flit_bytes
        self._head = machine.head_flits
        unit = TrafficClass(ClassVcs(0, machine.vc_count - 1), self._head + self._payload, self._payload)
        machine = replace(machine, router=replace(machine.router, interfaces="node"))
        network = RouterNetwork(
            topology,
            machine,
            [unit if self._is_whole else TrafficClass(ClassVcs(0, machine.vc_count - 1), WHOLE_PACKET)],
            interfaces_per_node=interfaces,
        )
        if network.grid is None:
            raise UnsupportedError(f"{topology.name} has no dimension-order routing, which the authors' interfaces need")
        self._nodes = len(topology.kind)
        self._draw = random.Random(seed)
        self._routes: list[range] = []  # numbers of the routes from a node to another, to its first interface
        routes: list[Int64] = []
        for src, dst in itertools.product(range(self._nodes), repeat=2):
            equal = list(_routes(network, network.grid, src, dst))
            self._routes.append(range(len(routes), len(routes) + len(equal) * interfaces, interfaces))
            routes += [np.append(hops, EJECT_AT + interface) for hops in equal for interface in range(interfaces)]
        self.core = _core.PacketStepper(network.scalars, network.core_columns(routes))
        count = self._nodes * interfaces
        self._offered: list[deque[tuple[int, Message]]] = [deque() for _ in range(count)]  # with the cycle of each
        self._issued: list[deque[Message]] = [deque() for _ in range(count)]
        self._outside = [0] * count  # flits of the message in flight that are not in the last queue yet
        self._filling: set[int] = set()  # interfaces with parts in the first two queues
        self._in_flight: dict[int, tuple[Message, bool]] = {}  # by the core's number of the packet; whether it was sent last

    def has_room(self, interface: int) -> bool:
        """Whether the interface may offer another part."""
        return len(self._offered[interface]) < OFFERED_PARTS

    def offer(self, interface: int, message: Message, cycle: int) -> None:
        """The next part of a message enters the interface's own queue; it may go on from the next cycle on."""
        message.offered += 1
        self._offered[interface].append((cycle + 1, message))
        self._filling.add(interface)

    def is_empty(self, interface: int) -> bool:
        """Whether all offered parts have left the interface."""
        return interface not in self._filling and not self.core.backlog(interface)

    @property
    def is_filling(self) -> bool:
        """Whether parts wait in front of the last queues."""
        return bool(self._filling)

    def received(self) -> list[tuple[Message, bool]]:
        """For each packet received completely at the start of this cycle: its message, and whether it was sent last of it."""
        found = [self._in_flight.pop(packet) for packet in self.core.received()]
        for message, _ in found:
            message.received += 1
        return found

    def move(self, cycle: int) -> None:
        """Move one part of each interface on from the first queue, and one into the last."""
        for interface in tuple(self._filling):
            offered, issued = self._offered[interface], self._issued[interface]
            if offered and offered[0][0] <= cycle and len(issued) < ISSUED_PARTS:
                issued.append(offered.popleft()[1])
            if issued and self._enters(interface, issued[0]):
                issued.popleft()
            if not offered and not issued:
                self._filling.discard(interface)

    def _enters(self, interface: int, message: Message) -> bool:
        """Whether the part in front moves into the last queue, which it does unless that is full."""
        continues = self._is_whole and self._outside[interface] > 0
        flits = self._payload + (0 if continues else self._head)
        if self.core.backlog(interface) - self._outside[interface] + flits > QUEUED_FLITS:
            return False
        if continues:
            self._outside[interface] -= self._payload
            return True
        length = self._head + self._payload * (message.parts if self._is_whole else 1)
        routes = self._routes[message.src * self._nodes + message.dst]
        route = routes[0] if len(routes) == 1 else self._draw.choice(routes)
        packet = self.core.send(interface, message.dst, length, route + message.entry, TOP_PRIORITY - message.step)
        message.packets += 1
        self._in_flight[packet] = message, self._is_whole or message.packets == message.parts
        self._outside[interface] = length - flits
        return True


def _routes(network: RouterNetwork, grid: Grid, src: int, dst: int) -> Iterator[Int64]:
    """Hops of the shortest routes from a node to another: the last dimension first, around a ring the shorter direction, or both.

    A packet that will cross the end of a ring has the upper half of the VCs along the whole ring.
    """
    stretches: list[list[list[int]]] = []  # of each dimension: the routes along it, in links
    node = src
    for dimension in reversed(range(len(grid.sizes))):
        routes = list(_stretches(grid, node, dst, dimension))
        stretches.append([links for links, _ in routes])
        node = routes[0][1]
    for parts in itertools.product(*stretches):
        hops = [np.zeros(0, np.int64)]
        for links in filter(None, parts):
            ports = network.hops_of(network.first_lanes(links))[:-1] & EJECT_PORT
            hops.append(ports | int(grid.datelines(np.array(links)).max()) << 14)
        yield np.concatenate(hops)


def _stretches(grid: Grid, src: int, dst: int, dimension: int) -> Iterator[tuple[list[int], int]]:
    """The shortest routes from a node along one dimension to the place of another: the links, and where they end.

    Two around a ring whose halves are equally long, otherwise one. O(links of the network).
    """
    size = int(grid.sizes[dimension])
    ahead = int(grid.places[dst, dimension] - grid.places[src, dimension])
    if not grid.is_ring[dimension]:
        counts = [(abs(ahead), ahead > 0)]
    else:
        turns = ((ahead % size, True), (-ahead % size, False))
        counts = [turn for turn in turns if turn[0] == min(turns)[0]]
    for count, upward in counts if ahead else [(0, True)]:
        links, node = [], src
        for _ in range(count):
            (link,) = np.flatnonzero((grid.topology.src == node) & (grid.dimension == dimension) & (grid.upward == upward))
            links.append(int(link))
            node = int(grid.topology.dst[link])
        yield links, node
