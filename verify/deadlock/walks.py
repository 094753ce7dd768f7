"""Walks of packets: the channels that they pass, and the virtual channels (VCs) that they may take there."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from certree.models.common.columns import flat
from certree.models.machine.machine import Machine
from certree.models.network.routing import DIRECT
from certree.models.network.topology import Topology
from certree.models.routers.grid_routing import Grid
from certree.models.routers.packet_routes import packet_routes, table_hops
from certree.models.routers.virtual_channels import ClassVcs, layer_count, route_sets
from certree.models.schedule.schedule import Schedule

Int64 = NDArray[np.int64]
_BLOCK = 1 << 18  # rows at a time: reused memory need not be requested from the system
MOST_FLITS = 1 << 42  # no buffer has as many


@dataclass(frozen=True, eq=False)
class Walks:
    """Routes through the network, each from the interface of one node to that of another.

    Hops of walk w are `begin[w]` to `begin[w + 1]`: `pair`, the neighbours that the hop joins (`Topology.pair_index`; parallel
    links and lanes count as one channel, since a packet may take any of them), and `mask`, the bits of the VCs that it may take.
    `flits`: of all packets that ever take each walk, at most MOST_FLITS of them.
    """

    topology: Topology
    begin: Int64
    pair: Int64
    mask: NDArray[np.uint64]
    flits: Int64

    @property
    def count(self) -> int:
        """The number of walks."""
        return len(self.begin) - 1

    @property
    def walk_of_hop(self) -> Int64:
        """The walk of every hop."""
        return np.repeat(np.arange(self.count), np.diff(self.begin))

    def nodes(self, walk: int) -> tuple[int, ...]:
        """The nodes that a walk passes."""
        pairs = self.pair[self.begin[walk] : self.begin[walk + 1]]
        topology = self.topology
        return (int(topology.pair_src[pairs[0]]), *topology.pair_dst[pairs].tolist())

    def on_one_channel(self) -> "Walks":
        """The walks where each link has one virtual channel."""
        return replace(self, mask=np.ones_like(self.mask))

    def joined(self, other: "Walks") -> "Walks":
        """These walks and those of `other`, both on one network."""
        return Walks(
            self.topology,
            np.concatenate((self.begin, self.begin[-1] + other.begin[1:])),
            *(np.concatenate((getattr(self, name), getattr(other, name))) for name in ("pair", "mask", "flits")),
        )


def no_walks(topology: Topology) -> Walks:
    """The walks of no packets at all."""
    none = np.zeros(0, np.int64)
    return Walks(topology, np.zeros(1, np.int64), none, none.astype(np.uint64), none)


def schedule_walks(schedule: Schedule, machine: Machine, vcs: ClassVcs, flits: int) -> Walks:
    """The walks of the messages of a schedule, of `flits` each, over all iterations. O(transfers log transfers + hops).

    Transfers must have links; those inside a node take none. UnsupportedError where routes state more channels than there are.
    """
    topology, to_neighbour = schedule.topology, _messages_of_pairs(schedule)
    pairs = np.flatnonzero(to_neighbour)
    used, routed = np.unique(schedule.route[schedule.route != DIRECT], return_counts=True)
    links, begin = flat([schedule.routes[route] for route in used.tolist()])
    layer = None if schedule.virtual_channel is None else schedule.virtual_channel[used]
    masks = np.array(vcs.masks(machine), np.uint64)
    messages = np.concatenate((to_neighbour[pairs], routed)).astype(np.int64) * schedule.repeats
    return Walks(
        topology,
        np.concatenate((np.arange(len(pairs)), len(pairs) + begin)),
        np.concatenate((pairs, topology.pair_of_link[links])).astype(np.int64, copy=False),
        masks[np.concatenate((np.zeros(len(pairs), np.int64), route_sets(Grid.of(topology), links, begin, layer)))],
        np.minimum(messages, MOST_FLITS // flits + 1) * flits,
    )


def route_walks(topology: Topology, machine: Machine, vcs: ClassVcs, routes: Sequence[Sequence[int]]) -> Walks:
    """The walks of any number of packets on given routes, each the pairs of neighbours that it joins. O(hops of all routes)."""
    grid, first = Grid.of(topology), np.zeros(len(topology.pair_capacity), np.int64)
    first[topology.pair_of_link[::-1]] = np.arange(len(topology.src))[::-1]
    pair, begin = flat(routes)
    masks = np.array(vcs.masks(machine), np.uint64)
    return Walks(topology, begin, pair, masks[route_sets(grid, first[pair], begin)], np.full(len(routes), MOST_FLITS, np.int64))


def _messages_of_pairs(schedule: Schedule) -> Int64:
    """How many transfers of an iteration go from neighbour to neighbour over each joined pair, counted block by block."""
    found = np.zeros(len(schedule.topology.pair_capacity), np.int64)
    for low in range(0, schedule.transfers, _BLOCK):
        block = slice(low, low + _BLOCK)
        pair = schedule.pair[block]
        found += np.bincount(pair[(schedule.route[block] == DIRECT) & (pair >= 0)], minlength=len(found))
    return found


def schedule_vcs(schedule: Schedule, machine: Machine) -> ClassVcs:
    """The VCs of a collective that shares its routers with nothing else, in as many layers as its routes state."""
    return ClassVcs(0, machine.vc_count - 1, layer_count(schedule.virtual_channel))


def packet_walks(topology: Topology, machine: Machine, vcs: ClassVcs, src: Int64, dst: Int64, flits: Int64) -> Walks:
    """The walks of packets that bring no route, in dimension order where the routers have tables, else by shortest routes.

    O(packets log packets + hops of all pairs of ends)."""
    nodes = len(topology.kind)
    ends, which = np.unique(src * nodes + dst, return_inverse=True)
    begins, stops = ends // nodes, ends % nodes
    grid = Grid.of(topology)
    masks = np.array(vcs.masks(machine), np.uint64)
    if grid is not None and machine.router.routing == "dimension-order":
        hops = list(table_hops(grid, begins, stops, machine.router.dateline_rule))
        walk, link, sets = (
            np.concatenate([np.zeros(0, np.int64), *(hop[part] for hop in hops)]).astype(np.int64) for part in range(3)
        )
        order = np.argsort(walk, kind="stable")
        walk, link, sets = walk[order], link[order], sets[order]
        begin = np.searchsorted(walk, np.arange(len(ends) + 1))
    else:
        link, begin = flat(packet_routes(topology, begins, stops))
        sets = route_sets(grid, link, begin)
    of_ends = np.zeros(len(ends), np.int64)
    np.add.at(of_ends, which, flits)
    return Walks(topology, begin, topology.pair_of_link[link], masks[sets], of_ends)
