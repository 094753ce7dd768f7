"""Simulation of explicit packets through a network of routers: arrival times of head and tail."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from certree.hw import _core
from certree.hw.core_calls import run_to_end
from certree.hw.routers.blockage import describe_blockage, describe_lost, describe_starved
from certree.hw.routers.flit_trace import write_flit_trace
from certree.hw.routers.network import WHOLE_PACKET, RouterNetwork, TrafficClass
from certree.hw.routers.packets import Packets, check_packets
from certree.models.common.errors import UnsupportedError
from certree.models.common.files import check_writable
from certree.models.machine.machine import Machine
from certree.models.network.topology import Topology
from certree.models.routers.packet_routes import packet_routes
from certree.models.routers.virtual_channels import ClassVcs

Int64 = NDArray[np.int64]
BUDGET = 1 << 16  # cycles between two looks at signals and at the progress callback
TABLE_ROUTED = 0xFFFFFFFF


@dataclass(frozen=True)
class InjectionResult:
    """Times of every packet, in the order of the packets; -1 for packets that never arrived.

    `head`, `tail`: when the network interface of the destination received the first and the last flit. `cycles`: when the last
    flit of all was received. `flit_hops`: flits over links. `busiest_link_cycles`: flits over the busiest lane. `deadlock`: packets
    that wait for each other when nothing can move any more, or that move for ever; empty for runs that ended. `starved`: packets
    that waited longer than allowed while others passed.
    """

    head: Int64
    tail: Int64
    cycles: int
    flit_hops: int
    busiest_link_cycles: int
    deadlock: tuple[str, ...]
    starved: tuple[str, ...] = ()

    def mean_latency(self, packets: Packets, since: int = 0) -> Fraction:
        """Mean cycles from `start` to `tail` of the packets that start from `since` on and arrived; 0 when there are none."""
        chosen = (packets.start >= since) & (self.tail >= 0)
        count = int(chosen.sum())
        return Fraction(int((self.tail[chosen] - packets.start[chosen]).sum()), count) if count else Fraction(0)

    def accepted_load(self, packets: Packets, endpoints: int, since: int, until: int) -> Fraction:
        """Flits per cycle and endpoint, of the packets whose last flit arrived from cycle `since` to before cycle `until`; beyond
        saturation less than the offered load."""
        arrived = (self.tail >= since) & (self.tail < until)
        return Fraction(int(packets.flits[arrived].sum()), endpoints * (until - since))


def inject(
    topology: Topology,
    machine: Machine,
    packets: Packets,
    *,
    longest_wait: int | None = None,
    trace_flits: Path | None = None,
    force: bool = False,
    progress: Callable[[int], None] | None = None,
) -> InjectionResult:
    """Send packets through the routers of a network (`docs/explanation/routers.md`).

    All virtual channels carry them. With `interfaces = "node"` the packets of a node enter one after the other, by `start` and then
    by place; with one interface for each link a packet enters by that of its first link. With `longest_wait` the result lists the
    packets that waited at least N cycles while others passed (`watchdog.hpp`). `trace_flits`: a file for every step of flits and
    credits (`certree.models.traces.flits`), not overwritten unless `force`. `progress` is called with the current cycle now and
    then; Ctrl-C works at the same moments. Raises InputError for packets out of range (`check_packets`), UnsupportedError for cases
    outside the router model, such as a packet that cut-through can never move on. Time O(flits · links they pass), memory O(packets
    + virtual channels + longest latency).
    """
    cut_through = machine.router.flow_control == "cut-through"
    longest = int(packets.flits.max(initial=0))
    if cut_through and longest > machine.vc_buffer_flits:
        raise UnsupportedError(
            f"packet {packets.id[int(packets.flits.argmax())]} has {longest} flits; cut-through moves a packet on when a buffer "
            f"holds it whole, and buffers have {machine.vc_buffer_flits}"
        )
    network = RouterNetwork(
        topology, machine, [TrafficClass(ClassVcs(0, machine.vc_count - 1), WHOLE_PACKET if cut_through else 1)]
    )
    order = np.argsort(packets.start, kind="stable")
    columns, routes = packet_columns(network, packets, order)
    hops = [network.hops_of(network.first_lanes(route)) for route in routes]
    core = _core.PacketRun(network.scalars, network.core_columns(hops), columns)
    if longest_wait is not None:
        core.watch(longest_wait)
    if trace_flits is not None:
        check_writable(trace_flits, force=force)
        core.trace_flits()
    run_to_end(core, BUDGET, progress)
    if trace_flits is not None:
        write_flit_trace(trace_flits, network, core, force=force)
    head, tail = np.empty(len(order), np.int64), np.empty(len(order), np.int64)
    head[order], tail[order] = core.heads().astype(np.int64), core.tails().astype(np.int64)  # never arrived: -1
    counters = core.counters()
    deadlock = describe_lost(core.lost(), packets.id[order])
    if core.is_deadlocked:
        deadlock = describe_blockage(network, core.blocked(), packets.id[order])
    cycles = int(tail.max(initial=0))
    ids = packets.id[order]
    starved = describe_starved(network, core.starved(), core.starved_count, lambda entry: f"packet {ids[entry[1]]}")
    return InjectionResult(head, tail, cycles, counters["flit_hops"], counters["busiest_channel_cycles"], deadlock, starved)


def packet_columns(
    network: RouterNetwork, packets: Packets, order: Int64
) -> tuple[dict[str, NDArray[np.integer]], list[tuple[int, ...]]]:
    """The columns of `core/routers/run/packet_run.hpp`, rows in `order`, and the routes (links) that their `route` numbers."""
    check_packets(packets, network.topology)
    route, injector, routes = _routes_of(network, packets.src[order], packets.dst[order])
    columns: dict[str, NDArray[np.integer]] = {
        "injector": injector.astype(np.uint32),
        "destination": packets.dst[order].astype(np.uint32),
        "flits": packets.flits[order].astype(np.uint32),
        "route": route.astype(np.uint32),
        "release": packets.start[order].astype(np.uint64),
    }
    return columns, routes


def _routes_of(network: RouterNetwork, src: Int64, dst: Int64) -> tuple[Int64, Int64, list[tuple[int, ...]]]:
    """For each packet its source route (or TABLE_ROUTED) and its injector, and the routes as links."""
    topology = network.topology
    local = src == dst
    routes: list[tuple[int, ...]] = []
    if network.table is not None:
        port = network.table[src, dst] & 0x3FFF
        lane = np.searchsorted(topology.src[network.lane_link], np.arange(len(topology.kind)))[src] + port
        route = np.full(len(src), TABLE_ROUTED, np.int64)
    else:
        pairs, of_packet = np.unique(src * len(topology.kind) + dst, return_inverse=True)
        a, b = pairs // len(topology.kind), pairs % len(topology.kind)
        routes = packet_routes(topology, a, b)
        first = np.array([network.first_lanes(links)[0] if links else 0 for links in routes], np.int64)
        route, lane = of_packet, first[of_packet]
    injector = network.first_injector[src]
    if network.machine.router.interfaces == "link":
        injector = np.where(local, injector, network.injector_of_lane[np.where(local, 0, lane)])
    return route, injector, routes
