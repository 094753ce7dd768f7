"""Set-up of reducing switches with windows: rules, sizes, routes, and the closed form of their time."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.extras.aggregation.run.reducing_time import AggregationTime, Level, aggregation_time
from certree.extras.aggregation.run.routes import RouteLanes
from certree.extras.aggregation.run.switch_trees import AggregationTrees, Route
from certree.hw.core_calls import check_fits, narrowed
from certree.hw.engines.router_transparency import routes_meet
from certree.hw.routers.network import WHOLE_PACKET, RouterNetwork, TrafficClass
from certree.models.common.errors import InputError, UnsupportedError
from certree.models.machine.machine import Machine
from certree.models.machine.speeds import contradiction
from certree.models.routers.transparency import SHARED_INTERFACE, pipeline_effect
from certree.models.routers.virtual_channels import ClassVcs
from certree.models.schedule.paths import link_cycles
from certree.models.schedule.timing import ceil_div, lane_cycles, message_flits, reduction_cycles

Int64 = NDArray[np.int64]
MAX_PACKETS = 1 << 31  # of a flow: numbers are never used twice
MAX_CELLS = 1 << 28  # hosts · packets: 2 GiB
MAX_ADDERS = 1 << 16
MAX_PLACES = 1 << 26  # places · children of all switches


@dataclass(frozen=True)
class AggregationRules:
    """Parameters of hosts and switches, and faults of the network. None: chosen, see `simulate_aggregation`.

    `window`: packets that a host may have in flight for each flow. `aggregators`: places of a switch, shared equally by the flows
    that pass it. `buffer_packets`: payloads that a switch holds for its adder. `timeout`: cycles after which a host sends a packet
    again. `give_up`: the run ends after a packet was sent N times without a result. `loss`, `duplicates`: the fraction of all
    packets that is lost, or arrives twice. `latest`: packets are at most N cycles late, each number equally likely. `seed`: of
    these faults. `adders`: parallel adders of a switch; with one per child it adds a packet of each at once."""

    window: int | None = None
    aggregators: int | None = None
    buffer_packets: int | None = None
    timeout: int | None = None
    give_up: int = 1000
    loss: Fraction = Fraction(0)
    duplicates: Fraction = Fraction(0)
    latest: int = 0
    seed: int = 0
    adders: int = 1

    def __post_init__(self) -> None:
        for name, low, high in (
            ("window", 1, MAX_PACKETS),
            ("aggregators", 1, MAX_PLACES),
            ("buffer_packets", 1, MAX_PLACES),
            ("adders", 1, MAX_ADDERS),
            ("timeout", 1, 1 << 48),
            ("give_up", 1, 1 << 30),
            ("latest", 0, 1 << 40),
            ("seed", 0, (1 << 64) - 1),
        ):
            value = getattr(self, name)
            if value is not None and not low <= value <= high:
                raise InputError(f"{name} is {value}; allowed: {low} to {high}")
        for name in ("loss", "duplicates"):
            if not 0 <= getattr(self, name) < 1:
                raise InputError(f"{name} is {getattr(self, name)}; allowed: from 0 to below 1")

    @property
    def is_calm(self) -> bool:
        """Whether the network delivers every packet once and in time."""
        return not (self.loss or self.duplicates or self.latest)


class AggregationSetup:
    """Sizes, rules and routes of a run as the core's columns (`core/reducing/aggregation_layout.hpp`)."""

    def __init__(
        self, trees: AggregationTrees, machine: Machine, message_bytes: int, rules: AggregationRules, *, allow_stall: bool
    ) -> None:
        self.trees, self.machine, self._rules = trees, machine, rules
        self.routes = RouteLanes.of(trees)
        if message_bytes < 1:
            raise InputError(f"message of {message_bytes} bytes; allowed: 1 or more")
        _check_units(trees, machine)
        granule = machine.flit_bytes
        largest = ceil_div(message_bytes * max(trees.shares), trees.chunks)
        self.payload = ceil_div(min(machine.packet_payload_bytes, largest), granule) * granule
        self.packets = tuple(ceil_div(message_bytes * share, trees.chunks * self.payload) for share in trees.shares)
        self.flits = message_flits(self.payload, machine)
        self._cycles = lane_cycles(self.flits, trees.topology.scale)
        self._work = reduction_cycles(self.payload, machine)
        self._adders = min(rules.adders, int(np.bincount(trees.parent).max()))
        self._wire = link_cycles(trees.topology, machine)
        self._check_sizes()
        self.time = self._time()
        flows_at = np.array([len(np.unique(trees.flow[trees.parent == node])) for node in np.unique(trees.parent)])
        self._most_flows = int(flows_at.max())
        self.window = min(rules.window if rules.window is not None else self.time.least_window, max(self.packets))
        self.aggregators = rules.aggregators if rules.aggregators is not None else 2 * self.window * self._most_flows
        self.places = self.aggregators // self._most_flows
        self._check_places(allow_stall)
        children = int(np.bincount(trees.parent).max())
        buffer = rules.buffer_packets if rules.buffer_packets is not None else self.places * children
        # every packet of every flow of a host, or every contribution to a switch, one after the other
        queue = self.window * max(len(self.packets) * self._cycles, ceil_div(children, self._adders) * self._work)
        self.scalars = {
            "packet_flits": self.flits,
            "packet_cycles": self._cycles,
            "window": self.window,
            "places": self.places,
            "buffer_packets": buffer,
            "adders": self._adders,
            "timeout": rules.timeout if rules.timeout is not None else 2 * (self.time.trip + queue + rules.latest),
            "give_up": rules.give_up,
            "reduce_start_cycles": machine.reduce_start_cycles,
            "reduce_packet_cycles": self._work,
            "interface_cycles": machine.interface_cycles,
            "router_cycles": machine.router_cycles,
            "seed": rules.seed,
            "loss": int(rules.loss * (1 << 64)),
            "copies": int(rules.duplicates * (1 << 64)),
            "latest": rules.latest,
            "nodes": len(trees.topology.kind),
        }
        for name in ("packet_cycles", "router_cycles"):
            check_fits(name, self.scalars[name])

    def _check_sizes(self) -> None:
        hosts = len(self.trees.topology.endpoints)
        if max(self.packets) > MAX_PACKETS or hosts * sum(self.packets) > MAX_CELLS:
            raise UnsupportedError(
                f"{sum(self.packets)} packets of {self.payload} bytes from each of {hosts} hosts are more than the simulator's "
                f"{MAX_CELLS} in all; larger packets are packet_payload_bytes of the machine"
            )

    def _check_places(self, allow_stall: bool) -> None:
        trees, flows = self.trees, self._most_flows
        need = 2 * self.window
        if self.places < need and not allow_stall:
            who = "its flow" if flows == 1 else f"each of its {flows} flows"
            room = self.aggregators // (2 * flows)
            narrower = f", or a window of at most {room}" if room else ""
            raise InputError(
                f"a switch of {self.aggregators} aggregator(s) has {self.places} for {who}; a window of {self.window} needs twice "
                f"as many as it has packets, or packets whose place is gone never get their result: give {need * flows} "
                f"aggregators{narrower}"
            )
        if self.places == 0:
            raise InputError(
                f"a switch of {self.aggregators} aggregator(s) has none for some of its {flows} flows; give {flows} or more"
            )
        size = self.places * len(trees.flow)
        if size > MAX_PLACES:
            raise UnsupportedError(f"{size} header places in all switches are more than the simulator's {MAX_PLACES}")

    def _latency(self, routes: Sequence[Route]) -> int:
        """The number of cycles of the head flit over the longest of some routes."""
        machine = self.machine
        inner = max(sum(int(self._wire[pair]) + machine.router_cycles for pair in route) for route in routes)
        return machine.interface_cycles + machine.router_cycles + inner

    def _time(self) -> AggregationTime:
        """The terms of the closed form, for the slowest flow; in uneven trees, of the longest routes and widest switches."""
        trees = self.trees
        widest = int(np.bincount(trees.parent * len(self.packets) + trees.flow).max())
        times = []
        for flow in range(len(self.packets)):
            edges = np.flatnonzero(trees.flow == flow)
            levels = trees.levels(flow) or [edges] * _depth(trees, flow)
            times.append(
                aggregation_time(
                    [
                        Level(
                            max(self._latency(trees.up[edge]) for edge in level.tolist()),
                            max(self._latency(trees.down[edge]) for edge in level.tolist()),
                            int(np.bincount(trees.parent[level]).max()) if len(trees.levels(flow)) else widest,
                        )
                        for level in levels
                    ],
                    self.payload,
                    self.machine,
                    self._adders,
                    trees.topology.scale,
                )
            )
        return max(times, key=lambda time: time.trip)

    def closed_form_cycles(self) -> int | None:
        """The closed form, or None where it does not apply."""
        trees, rules = self.trees, self._rules
        levels = trees.levels(0)
        if len(self.packets) > 1 or not levels or not rules.is_calm or self.places < 2 * self.window:
            return None
        if any(len(routes) > 1 for routes in (*trees.up, *trees.down)) or not self._is_even(levels):
            return None
        children = max(int(np.bincount(trees.parent[level]).max()) for level in levels)
        backlog = self.window * children  # payloads that can ever wait
        if self.scalars["buffer_packets"] < backlog or self.scalars["timeout"] <= self.time.trip + self.window * self.time.pace:
            return None
        return self.time.cycles(self.packets[0], self.window)

    def _is_even(self, levels: Sequence[Int64]) -> bool:
        """Whether all edges of a level take equally long, over unit links that no two of them share."""
        topology, trees = self.trees.topology, self.trees
        used: list[int] = []
        for level in levels:
            for routes in (trees.up, trees.down):
                if len({self._latency(routes[edge]) for edge in level.tolist()}) > 1:
                    return False
                used += [pair for edge in level.tolist() for pair in routes[edge][0]]
        return len(set(used)) == len(used) and bool((topology.pair_capacity[used] == 1).all())

    def columns(self, network: RouterNetwork | None) -> dict[str, NDArray[np.integer]]:
        """Everything but the scalars."""
        trees, topology = self.trees, self.trees.topology
        routes, lanes = self.routes, self.routes.lanes
        begin = np.concatenate(([0], np.cumsum(routes.edge_routes)))
        edges, half = len(trees.flow), int(begin[len(trees.flow)])
        rank = np.full(len(topology.kind), 0xFFFFFFFF, np.int64)
        rank[topology.endpoints] = np.arange(len(topology.endpoints))
        injector = np.zeros(int(begin[-1]), np.int64)
        latency = np.repeat(self._wire, topology.pair_capacity)
        if network is not None:
            lanes = routes.on(network)
            injector = network.injector_of_lane[lanes[routes.begin[:-1]]]
            latency = network.wire[network.lane_link]
        columns: dict[str, Any] = {
            "rank": rank,
            "flow_packets": self.packets,
            "edge_flow": trees.flow,
            "edge_child": trees.child,
            "edge_parent": trees.parent,
            "up_routes_begin": begin[: edges + 1],
            "up_routes": np.arange(half),
            "down_routes_begin": begin[edges:] - half,
            "down_routes": np.arange(half, int(begin[-1])),
            "route_lanes_begin": routes.begin,
            "route_lanes": lanes,
            "route_injector": injector,
            "lane_latency": latency,
        }
        return {name: narrowed(name, np.asarray(column)) for name, column in columns.items()}


def router_effect(setup: AggregationSetup) -> str | None:
    """The effect that the routers of the machine may have on a run; None where they have none, and where no router could carry the
    packets. Sufficient, not necessary. O(lanes of all routes, log)."""
    machine = setup.machine
    try:
        routers_of(setup)
    except UnsupportedError:
        return None
    if machine.router.interfaces == "node":
        return SHARED_INTERFACE  # a switch has several children
    if routes_meet(setup.routes.lanes, setup.routes.before):
        return "packets from different lanes meet at a link"
    return pipeline_effect(setup.trees.topology, machine, setup.flits, is_far=True)


def _depth(trees: AggregationTrees, flow: int) -> int:
    """Levels of a flow's tree, from its deepest host."""
    edges = np.flatnonzero(trees.flow == flow)
    above = dict(zip(trees.child[edges].tolist(), trees.parent[edges].tolist(), strict=True))
    deepest = 0
    for host in trees.topology.endpoints.tolist():
        node, depth = host, 0
        while node in above:
            node, depth = above[node], depth + 1
        deepest = max(deepest, depth)
    return deepest


def _check_units(trees: AggregationTrees, machine: Machine) -> None:
    """Raise InputError where the network states a clock or a link bandwidth other than the machine's."""
    topology = trees.topology
    if (wrong := contradiction(topology, machine)) is not None:
        raise InputError(f"{topology.name}: {wrong}")


def routers_of(setup: AggregationSetup) -> RouterNetwork:
    """The routers that carry the packets. UnsupportedError where cut-through could never move a packet on."""
    machine = setup.machine
    cut_through = machine.router.flow_control == "cut-through"
    if cut_through and setup.flits > machine.vc_buffer_flits:
        raise UnsupportedError(
            f"a packet of {setup.flits} flits is too long: cut-through moves a packet on when a buffer "
            f"holds all of it, and buffers have {machine.vc_buffer_flits}"
        )
    unit = WHOLE_PACKET if cut_through else 1
    return RouterNetwork(
        setup.trees.topology, machine, [TrafficClass(ClassVcs(0, machine.vc_count - 1), unit)], issue_cycles=machine.ni_issue_cycles
    )
