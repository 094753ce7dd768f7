"""A topology and a machine as the columns of `core/routers/network_layout.hpp`: routers, interfaces, channels, routes."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

import numpy as np
from numpy.typing import NDArray

from certree.hw.core_calls import MAX_ENTRY, check_fits, narrowed
from certree.models.common.errors import UnsupportedError
from certree.models.machine.machine import Machine
from certree.models.network.topology import UNKNOWN_LATENCY, NodeKind, Topology
from certree.models.routers.grid_routing import Grid
from certree.models.routers.virtual_channels import FIRST_LAYER, ClassVcs, hop_sets

Int64 = NDArray[np.int64]
INTERFACE = 0xFFFFFFFF  # kInterface in the core
EJECT_PORT = 0x3FFF  # Hop::kEjectPort
MAX_VCS = 64
MAX_PORTS = 1 << 13  # of one router
MAX_BUFFERS = 1 << 24  # virtual channels of the whole network
MAX_BUFFER_FLITS = 1 << 30
MAX_PACE = 1 << 24  # cycles of a flit
MAX_PACE_TERM = (1 << 64) - 1
MAX_HOPS = (1 << 16) - 1  # of a packet
WHOLE_PACKET = 0xFFFFFFFF  # as unit of cut-through


@dataclass(frozen=True)
class TrafficClass:
    """Packets that share virtual channels, `vcs`; `unit_flits` of a packet must fit into the next buffer before its first flit
    moves on (1: wormhole). `sub_message_flits`: their flits have the codes of messages (MultiTree, Table II), this many per
    sub-message; 0: those of ordinary packets."""

    vcs: ClassVcs
    unit_flits: int
    sub_message_flits: int = 0


class RouterNetwork:
    """Channels between routers (one per lane of each link), then from and to network interfaces; `scalars` and `columns` are the
    input of the core.

    Every node has a router; endpoints, and switches that reduce, also have network interfaces. The output ports of a router
    are its lanes in this order: on whole grids the last dimension first, + before -, as BookSim2 has it; elsewhere in link order;
    interfaces come last. Input ports take the order of the output ports that lead back.
    `issue_cycles` are added to the wires into the network. Where interfaces are per node there are `interfaces_per_node`; packets
    leave by the first one unless their route says otherwise. Raises UnsupportedError for networks and pipelines beyond the core's
    counters. O(lanes + nodes) time, O(nodes²) where dimension order gives every router a table.
    """

    def __init__(
        self,
        topology: Topology,
        machine: Machine,
        classes: Sequence[TrafficClass],
        *,
        issue_cycles: int = 0,
        interfaces_per_node: int = 1,
    ) -> None:
        self.topology, self.machine, self.classes = topology, machine, tuple(classes)
        self._issue_cycles, self._interfaces_per_node = issue_cycles, interfaces_per_node
        self.grid = Grid.of(topology)
        self._sets = FIRST_LAYER + max(entry.vcs.layers for entry in self.classes)
        self._lay_lanes()
        self._lay_interfaces()
        self._check_limits()
        self.scalars = self._scalars()
        for name, value in self.scalars.items():
            check_fits(name, value, MAX_PACE_TERM if name.startswith("pace") else MAX_ENTRY)
        uses_table = self.grid is not None and machine.router.routing == "dimension-order"
        self.table: NDArray[np.uint16] | None = None
        if self.grid is not None and uses_table:
            check_fits("routers with tables", len(topology.kind), MAX_HOPS - 1)
            self.table = self.grid.table(self._port_of_lane, self._lane_begin, machine.router.dateline_rule)

    def _lay_lanes(self) -> None:
        topology = self.topology
        links = len(topology.src)
        order = self.grid.link_order() if self.grid is not None else np.lexsort((np.arange(links), topology.src))
        back = self.grid.link_order(backward=True) if self.grid is not None else np.lexsort((np.arange(links), topology.dst))
        width = topology.capacity.astype(np.int64)
        self._lane_begin = np.zeros(links, np.int64)  # of each link
        self._lane_begin[order] = np.cumsum(width[order]) - width[order]
        self.lane_link = np.repeat(order, width[order])
        self.lanes = len(self.lane_link)
        self._input_order = np.concatenate([np.arange(a, a + w) for a, w in zip(self._lane_begin[back], width[back], strict=True)])
        source = topology.src[self.lane_link]
        self._port_of_lane = np.arange(self.lanes) - np.searchsorted(source, source)
        stated = topology.latency.astype(np.int64)
        wire = np.where(stated == UNKNOWN_LATENCY, self.machine.link_latency_cycles, stated)
        slowest = np.zeros(len(topology.pair_capacity), np.int64)  # parallel links are all as long as the slowest of them
        np.maximum.at(slowest, topology.pair_of_link, wire)
        self.wire = slowest[topology.pair_of_link]

    def _lay_interfaces(self) -> None:
        """One injection and one ejection channel for each endpoint and reducing switch, or for each lane at one."""
        topology = self.topology
        source, destination = (column[self.lane_link].astype(np.int64) for column in (topology.src, topology.dst))
        per_link = self.machine.router.interfaces == "link"
        is_interfaced = (topology.kind == NodeKind.ENDPOINT) | topology.reducing
        nodes = np.repeat(np.flatnonzero(is_interfaced), self._interfaces_per_node)
        leaving = np.flatnonzero(is_interfaced[source])
        entering = self._input_order[is_interfaced[destination[self._input_order]]]
        entering = entering[np.argsort(destination[entering], kind="stable")]
        self.injection_node = source[leaving].astype(np.int64) if per_link else nodes
        ejection_node = destination[entering].astype(np.int64) if per_link else nodes
        self.first_injector = np.searchsorted(self.injection_node, np.arange(len(topology.kind)))
        self.injector_of_lane = np.full(self.lanes, -1, np.int64)
        self.injector_of_lane[leaving] = np.arange(len(leaving)) if per_link else np.searchsorted(nodes, source[leaving])
        injectors, ejectors = len(self.injection_node), len(ejection_node)
        interface = np.full(max(injectors, ejectors), INTERFACE)
        ejection = self._ejection_ports(entering, ejection_node, destination, per_link)
        # Ejection channels leave a router behind its lanes, injection channels enter it behind them.
        self.columns: dict[str, NDArray[np.integer]] = {
            "channel_source": np.concatenate((source, interface[:injectors], ejection_node)).astype(np.uint32),
            "channel_destination": np.concatenate((destination, self.injection_node, interface[:ejectors])).astype(np.uint32),
            "channel_latency": narrowed(
                "channel_latency",
                np.concatenate(
                    (
                        self.wire[self.lane_link],
                        np.full(injectors, self.machine.ni_cycles + self._issue_cycles),
                        np.full(ejectors, self.machine.ni_cycles),
                    )
                ),
            ),
            "channel_ejection": np.concatenate((ejection, np.full(ejectors, INTERFACE))).astype(np.uint32),
            "channel_ring": self._rings_of_channels(injectors + ejectors),
            "input_order": np.concatenate((self._input_order, np.arange(self.lanes, self.lanes + injectors + ejectors))).astype(
                np.uint32
            ),
        }

    def _ejection_ports(self, entering: Int64, ejection_node: Int64, destination: Int64, per_link: bool) -> Int64:
        """For every lane and injection channel: the port by which packets that end at its router leave; INTERFACE at switches."""
        nodes = np.arange(len(self.topology.kind))
        local = np.bincount(self.topology.src[self.lane_link], minlength=len(nodes)).astype(np.int64)  # first port behind the lanes
        has = np.isin(nodes, ejection_node)
        first = np.where(has, local, INTERFACE)
        of_lane = first[destination]
        if per_link:
            of_lane[entering] += np.arange(len(entering)) - np.searchsorted(ejection_node, ejection_node)
        return np.concatenate((of_lane, first[self.injection_node]))

    def _rings_of_channels(self, interfaces: int) -> NDArray[np.uint32]:
        """For every channel the ring on which packets keep their half of the VCs; INTERFACE where they keep none."""
        rings = np.full(self.lanes + interfaces, INTERFACE, np.uint32)
        if self.grid is not None and self.machine.router.dateline_rule == "ends":
            ring = self.grid.rings()[self.lane_link]
            rings[: self.lanes][ring >= 0] = ring[ring >= 0]
        return rings

    def _check_limits(self) -> None:
        machine = self.machine
        channels = len(self.columns["channel_source"])
        if machine.vc_count > MAX_VCS:
            raise UnsupportedError(f"{machine.vc_count} virtual channels are more than the router's {MAX_VCS}")
        if machine.vc_buffer_flits > MAX_BUFFER_FLITS:
            raise UnsupportedError(f"buffers of {machine.vc_buffer_flits} flits are larger than the router's {MAX_BUFFER_FLITS}")
        if channels * machine.vc_count > MAX_BUFFERS:
            raise UnsupportedError(
                f"{channels * machine.vc_count} virtual channels in all are more than the simulator's {MAX_BUFFERS}"
            )
        ends = (self.columns["channel_source"], self.columns["channel_destination"])
        ports = max(int(np.bincount(end[end != INTERFACE]).max()) for end in ends)
        if ports >= MAX_PORTS:
            raise UnsupportedError(f"a router of {ports} ports is larger than the simulator's {MAX_PORTS - 1}")
        check_fits("cycles of a flit on a lane", ceil(self.topology.scale), MAX_PACE)

    def _scalars(self) -> dict[str, int]:
        machine, router = self.machine, self.machine.router
        route, vc, switch, traversal = router.stages(machine.router_cycles)
        top, bottom = Fraction(self.topology.scale).as_integer_ratio()
        return {
            "pace_top": top,
            "pace_bottom": bottom,
            "route_cycles": route,
            "vc_cycles": vc,
            "switch_cycles": switch,
            "traversal_cycles": traversal,
            "credit_cycles": router.credit_cycles,
            "vcs": machine.vc_count,
            "buffer_flits": machine.vc_buffer_flits,
            "allocator_iterations": router.allocator_iterations,
            "allocator": ("islip", "separable").index(router.allocator),
            "rotate_vcs": int(router.vc_choice == "rotate"),
            "reuse_when_empty": int(router.vc_reuse == "empty"),
            "routers": len(self.topology.kind),
            "vc_sets": self._sets,
        }

    def core_columns(self, routes: Sequence[Int64]) -> dict[str, NDArray[np.integer]]:
        """All columns of the core's layout, with these source routes (see `hops_of`)."""
        lengths = [len(hops) for hops in routes]
        check_fits("hops of a route", max(lengths, default=0), MAX_HOPS)
        begin = np.concatenate(([0], np.cumsum(lengths, dtype=np.int64)))
        return {
            **self.columns,
            "vc_mask": self._vc_masks(),
            "unit_flits": np.array([entry.unit_flits for entry in self.classes], np.uint32),
            "sub_message_flits": np.array([entry.sub_message_flits for entry in self.classes], np.uint32),
            "table": self.table.ravel() if self.table is not None else np.zeros(0, np.uint16),
            "route_begin": narrowed("route_begin", begin),
            "route_hops": np.concatenate([np.zeros(0, np.int64), *routes]).astype(np.uint32),
        }

    def _vc_masks(self) -> NDArray[np.uint64]:
        """The bits of each set of VCs, class by class; classes with fewer layers than others have whole ones in their place."""
        masks = [entry.vcs.masks(self.machine) for entry in self.classes]
        return np.array([mask for of_class in masks for mask in of_class + of_class[:1] * (self._sets - len(of_class))], np.uint64)

    def hops_of(self, lanes: Int64, layer: int | None = None) -> Int64:
        """Codes of the hops of a route over lanes, in a layer of virtual channels where it has one, and the ejection at its end."""
        sets = hop_sets(self.grid, self.lane_link[lanes], layer)
        return np.concatenate((self._port_of_lane[lanes] | sets << 14, [EJECT_PORT]))

    def first_lanes(self, route: Sequence[int]) -> Int64:
        """The first lane of every link of a route."""
        return self._lane_begin[np.asarray(route, np.int64)]

    def lanes_of_pair(self) -> tuple[Int64, Int64]:
        """(begin, lanes): the lanes of each joined pair of nodes, in `pair_index` order; parallel links one after the other."""
        pair = self.topology.pair_of_link[self.lane_link]
        lanes = np.lexsort((np.arange(self.lanes), pair))
        return np.searchsorted(pair[lanes], np.arange(len(self.topology.pair_capacity) + 1)), lanes

    def lane_name(self, lane: int) -> str:
        """The ends of a lane's link, and its number where the link has several."""
        link = int(self.lane_link[lane])
        name = f"{self.topology.src[link]}>{self.topology.dst[link]}"
        return name if self.topology.capacity[link] == 1 else f"{name} lane {lane - int(self._lane_begin[link])}"

    def describe_channel(self, channel: int) -> str:
        """A channel in words."""
        if channel < self.lanes:
            return f"link {self.lane_name(channel)}"
        source, destination = self.columns["channel_source"][channel], self.columns["channel_destination"][channel]
        return f"the injection port of node {destination}" if source == INTERFACE else f"the ejection port of node {source}"
