"""Packing trees on networks with switches: paths through them become edges between endpoints, which trees are packed into.

A switch that does not reduce only forwards, so a tree edge between two endpoints is a path. By splitting off (Mader, Lovász), such
paths can be chosen in advance without loss of connectivity; ForestColl (Zhao et al., 2024) does so for all-gathers. Here paths are
chosen evenly first, for each slot of a period those that fit into it together; where trees do not fit, the partition that proves it
shows between which parts more paths are needed, and exchanges at switches, which change no link's load in any slot, make them
(`native/switch_splitting.cpp`). Reducing switches are treated as if they only forwarded.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.models.common.columns import numbered, ranges
from certree.models.network.routing import DIRECT
from certree.models.network.topology import Int32, NodeKind, Topology
from certree.models.schedule.collective import Collective, CollectiveKind
from certree.synth import _native
from certree.synth.graphs.cuts import narrow_sets
from certree.synth.graphs.lengths import best_lengths
from certree.synth.packing.spanning_trees import AllReduceNetwork, eccentricities, pack_into
from certree.synth.packing.trees import NONE, TreeFamily, family_from_parents
from certree.synth.packing.undirected import BothWays
from certree.synth.phases import links_back
from certree.verify.bounds.cheap import cheap_bounds
from certree.verify.bounds.instance import Instance

REPAIRS = 40  # partitions that paths are rearranged for, in one packing
REPAIR_MOVES = 200_000  # exchanges for each of them

Int64 = NDArray[np.int64]


@dataclass(frozen=True)
class Paths:
    """Edges between ranks `u` < `v` with `capacity`, `direct` of it over links of their own; the paths of edge i are
    `first[i] : first[i + 1]` of `nodes` and `cables` (rows filled up with -1), each from u to v. In the slots `forth` of a period
    all paths can be used from u to v, and in the slots `back` from v to u.
    """

    u: Int32
    v: Int32
    capacity: Int64
    direct: Int64
    first: Int64
    nodes: Int32
    cables: Int32
    forth: Int32
    back: Int32


class SwitchedNetwork(AllReduceNetwork):
    """A network with switches, for trees over its endpoints; the counterpart of `synth.packing.spanning_trees.Network`.

    Paths use of every link the capacity that also leads back (`certree.synth.packing.undirected`). Trees and `strength` are those
    of that part of the network. UnsupportedError where it does not join all endpoints.
    """

    def __init__(self, topology: Topology) -> None:
        self._both_ways = BothWays.of(topology)
        super().__init__(self._both_ways.network)

    @property
    def is_even(self) -> bool:
        """Whether paths join all pairs equally."""
        return True

    @property
    def edge_capacity(self) -> Fraction:
        """The most tree edges per round, each taking two ports of endpoints."""
        return Fraction(int(self._ports.sum()), 2)

    @property
    def path_capacity(self) -> Fraction:
        """The most of those that are paths through switches."""
        own = self.topology.rank[self.topology.pair_src] >= 0
        direct = self.topology.pair_capacity[own & (self.topology.rank[self.topology.pair_dst] >= 0)].sum()
        return self.edge_capacity * Fraction(int(self._ports.sum() - direct), int(self._ports.sum()))

    @cached_property
    def strength(self) -> Fraction:
        """An upper bound on the trees per round, by the lengths of links that `best_lengths` finds."""
        instance = Instance(self.topology, Collective(CollectiveKind.ALL_REDUCE))
        bounds = [bound for bound in cheap_bounds(instance) if bound["quantity"] == "bandwidth"]
        by_lengths = best_lengths(instance)
        return 1 / max(Fraction(bound["value"]) for bound in [*bounds, *([by_lengths] if by_lengths else [])])

    def least_height(self, period: int) -> int:
        """A lower bound on the height of a tree that fits into a period, since its nodes have no more edges than ports."""
        degree = int(self._ports.max()) * period
        height, reached, layer = 0, 1, degree
        while reached < self.size:
            height, reached, layer = height + 1, reached + layer, layer * max(1, degree - 1)
        return height

    @cached_property
    def _ports(self) -> Int64:
        """Capacity out of each endpoint."""
        ports = np.bincount(self.topology.src, weights=self.topology.capacity, minlength=len(self.topology.kind))
        return ports[self.topology.endpoints].astype(np.int64)

    @cached_property
    def _cables(self) -> tuple[Int32, Int32]:
        """The two links of every cable that ends at a switch: there, from the smaller id, and back."""
        topology = self.topology
        back = links_back(topology)
        if back is None:
            raise AssertionError("a link that leads in both directions has one that leads back")
        switch = topology.kind == NodeKind.SWITCH
        there = np.flatnonzero((topology.src < topology.dst) & (switch[topology.src] | switch[topology.dst])).astype(np.int32)
        return there, back[there]

    def pack(self, collective: Collective, trees: int, period: int, *, moves: int, seed: int) -> TreeFamily | None:
        """`trees` spanning trees over the endpoints with a path for every edge, each link in at most capacity · `period` of
        them, shortened by `moves` random exchanges; None when none are found, which proves nothing.

        Paths are chosen evenly, and where trees do not fit into them first between the groups of endpoints that links keep apart.
        """
        for group in (np.zeros(0, np.int32), self._groups):
            family = self._packed(collective, trees, period, group, moves=moves, seed=seed)
            if family is not None:
                return self._both_ways.lifted(family)
        return None

    @cached_property
    def _groups(self) -> Int32:
        """The group of each node: endpoints of one group share a set that is about as hard to enter as any (`narrow_sets`)."""
        group = np.arange(len(self.topology.kind), dtype=np.int32)
        for inside in narrow_sets(self.topology):
            group[inside] = inside[0]
        return group

    def _packed(self, collective: Collective, trees: int, period: int, group: Int32, *, moves: int, seed: int) -> TreeFamily | None:
        """`pack` with paths chosen in one way (`SwitchSplitting::grow`)."""
        topology = self.topology
        there, _ = self._cables
        splitting = _native.SwitchSplitting(
            endpoint=(topology.kind == NodeKind.ENDPOINT).astype(np.uint8),
            u=topology.src[there],
            v=topology.dst[there],
            capacity=topology.capacity[there].astype(np.int64),
            period=period,
            seed=seed,
        )
        splitting.grow(group)
        known: list[Int32] = []
        needs: list[int] = []
        for _ in range(REPAIRS):
            paths = self._paths(splitting, period)
            packed, found = self._pack_into(paths, trees, moves=moves, seed=seed)
            if packed:
                return self._family(collective, paths, found, period, {"trees": "packing", "packed": f"{trees}/{period}"})
            part = np.full(len(topology.kind), NONE, np.int32)
            part[topology.endpoints] = found
            known.append(part)
            crossing = int(paths.direct[found[paths.u] != found[paths.v]].sum())
            needs.append(self._crossings_needed(trees, found) - crossing)
            if not splitting.repair(np.array(known), np.array(needs, np.int64), REPAIR_MOVES):
                return None
        return None

    def _crossings_needed(self, trees: int, part: Int32) -> int:
        """A lower bound on the edges of `trees` trees between the parts of a partition of ranks."""
        return trees * int(part.max())

    def _competing(self, edge: Int64, upward: NDArray[np.bool_]) -> Int64:
        """Groups of tree edges that share one stock of paths: a path serves both directions of one tree edge."""
        return edge

    def _pack_into(self, paths: Paths, trees: int, *, moves: int, seed: int) -> tuple[bool, Int32]:
        """`pack_into` the edges, from the nodes that are least far from all others."""
        far = eccentricities(self.size, paths.u, paths.v)
        radius = int(far.min())
        centres = np.flatnonzero(far == radius).astype(np.int32)
        return pack_into(self.size, paths.u, paths.v, paths.capacity, trees, centres, radius, moves=moves, seed=seed)

    def _paths(self, splitting: Any, period: int) -> Paths:
        """The edges that the paths of a splitting and the links between endpoints make."""
        topology = self.topology
        layer, offset, visited, used = splitting.paths()
        count = np.diff(offset)
        width = int(count.max(initial=2))
        nodes, cables = np.full((len(count), width), NONE, np.int32), np.full((len(count), width), NONE, np.int32)
        row, place = ranges(0, count)
        nodes[row, place], cables[row, place] = visited, used
        last = nodes[np.arange(len(count)), count - 1]
        rank = topology.rank.astype(np.int64)
        turn = rank[nodes[:, 0]] > rank[last]
        place = np.where(turn[:, None], count[:, None] - 1 - np.arange(width), np.arange(width))
        nodes = np.where(place >= 0, np.take_along_axis(nodes, np.maximum(place, 0), axis=1), NONE)
        place = np.where(turn[:, None], count[:, None] - 2 - np.arange(width), np.arange(width))
        cables = np.where(place >= 0, np.take_along_axis(cables, np.maximum(place, 0), axis=1), NONE)
        single = 2 * layer == period - 1  # the last layer of an odd period has one slot for both directions
        slots = 2 * layer, 2 * layer + np.where(single, 0, 1)
        pathwise = rank[nodes[:, 0]] * self.size + rank[nodes[np.arange(len(count)), count - 1]]
        own = (topology.rank[topology.pair_src] >= 0) & (topology.rank[topology.pair_dst] >= 0)
        own &= topology.pair_src < topology.pair_dst
        direct_key = rank[topology.pair_src[own]] * self.size + rank[topology.pair_dst[own]]
        keys = np.union1d(pathwise, direct_key)
        direct = np.zeros(len(keys), np.int64)
        direct[np.searchsorted(keys, direct_key)] = topology.pair_capacity[own] * period
        order = np.lexsort((count, pathwise))  # short paths first
        first = np.searchsorted(pathwise[order], np.append(keys, self.size**2))
        return Paths(
            u=(keys // self.size).astype(np.int32),
            v=(keys % self.size).astype(np.int32),
            capacity=direct + np.diff(first),
            direct=direct,
            first=first,
            nodes=nodes[order].astype(np.int32),
            cables=cables[order].astype(np.int32),
            forth=np.where(turn, slots[1], slots[0])[order],
            back=np.where(turn, slots[0], slots[1])[order],
        )

    def _family(self, collective: Collective, paths: Paths, parents: Int32, period: int, origin: dict[str, Any]) -> TreeFamily:
        """The trees, with the direct links of an edge taken first, slot after slot, then its paths, each once."""
        topology = self.topology
        tree, child = np.nonzero(parents != NONE)
        parent = parents[tree, child].astype(np.int64)
        key = np.minimum(child, parent) * self.size + np.maximum(child, parent)
        edge = np.searchsorted(paths.u.astype(np.int64) * self.size + paths.v, key)
        stock = self._competing(edge, child < parent)
        use = numbered(stock)
        routed = use >= paths.direct[edge]
        path = (paths.first[edge] + use - paths.direct[edge])[routed]
        upward = (child < parent)[routed]
        links = self._links_of(paths, path, upward)
        different, number = np.unique(np.concatenate(links), axis=0, return_inverse=True)
        up, down = np.split(number.ravel(), 2)
        forth, back = paths.forth[path], paths.back[path]
        at_node = partial(self._table, parents, tree, child)
        family = family_from_parents(topology, collective, at_node(topology.endpoints[parent]), origin)
        return replace(
            family,
            up_route=at_node(_put(np.full(len(edge), DIRECT, np.int64), routed, up)),
            down_route=at_node(_put(np.full(len(edge), DIRECT, np.int64), routed, down)),
            routes=tuple(tuple(link for link in route if link >= 0) for route in different.tolist()),
            up_turn=at_node(_put(use % period, routed, np.where(upward, forth, back))),
            down_turn=at_node(_put(use % period, routed, np.where(upward, back, forth))),
            turns=period,
        )

    def _table(self, parents: Int32, tree: Int64, child: Int64, value: NDArray[Any]) -> Int32:
        """The values of these edges by tree and node id, NONE elsewhere."""
        table = np.full((len(parents), len(self.topology.kind)), NONE, np.int32)
        table[tree, self.topology.endpoints[child]] = value
        return table

    def _links_of(self, paths: Paths, path: Int64, forth: NDArray[np.bool_]) -> tuple[Int32, Int32]:
        """Links of these paths in the direction from u to v where `forth`, else from v to u, and those of the other direction;
        rows filled up with -1."""
        there, back = self._cables
        cables, tails = paths.cables[path], paths.nodes[path]
        along = self.topology.src[there[cables]] == tails
        onwards = np.where(cables < 0, NONE, np.where(along, there[cables], back[cables]))
        backwards = np.where(cables < 0, NONE, np.where(along, back[cables], there[cables]))
        count = (cables >= 0).sum(axis=1)
        place = count[:, None] - 1 - np.arange(cables.shape[1])
        backwards = np.where(place >= 0, np.take_along_axis(backwards, np.maximum(place, 0), axis=1), NONE)
        turned = ~forth[:, None]
        return np.where(turned, backwards, onwards), np.where(turned, onwards, backwards)


def _put(values: Int64, where: NDArray[np.bool_], others: NDArray[Any]) -> Int64:
    """The values, with `others` at the places `where`."""
    values = values.copy()
    values[where] = others
    return values
