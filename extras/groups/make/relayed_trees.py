"""Steiner trees over relays: each reaches all members of a collective, and branches in any endpoint.

An endpoint that takes no part starts empty and may hold, add and copy. So it does for a group what a reducing switch does for a
network: a chunk is reduced up a tree and copied down again, and each edge is used once in each direction. In collectives of one
phase, trees have the given roots, and arcs are used in one direction only. The search is like
that of `certree.synth.packing.steiner`, on directed networks and from given roots too (`synth/native/packing/steiner_packing.cpp`).
"""

from collections import deque
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from certree.extras.groups.make.relayed_family import RelayedFamily
from certree.models.network.topology import Int32, NodeKind, Topology
from certree.models.schedule.collective import Collective
from certree.synth import _native
from certree.synth.packing.steiner import ParallelLinks
from certree.synth.packing.trees import NONE

TURNS = 60  # of laying trees again

_Path = list[int]  # nodes from one that holds data to the next, over switches


@dataclass(frozen=True, eq=False)
class RelayedNetwork:
    """A network in which the members of a collective may relay through all other endpoints."""

    topology: Topology
    collective: Collective

    @cached_property
    def members(self) -> Int32:
        """Ids of the endpoints that take part."""
        return self.collective.members_of(self.topology)

    @property
    def roots(self) -> list[int]:
        """Nodes that have equally many trees each; empty where any node may be a root."""
        if not self.collective.is_rooted:
            return []
        return self.members.tolist() if self.collective.root is None else [self.collective.root]

    @property
    def multiple(self) -> int:
        """Trees come in multiples of this number."""
        return max(1, len(self.roots))

    @property
    def both_ways(self) -> bool:
        """Whether trees use both directions of their edges."""
        return self.collective.reduces and self.collective.gathers

    @cached_property
    def _arcs(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """(tail, head, capacity, twin) away from the roots, by tail; an arc without a twin is left out where both are used."""
        topology = self.topology
        tail, head = topology.pair_src, topology.pair_dst
        if self.collective.reduces and not self.collective.gathers:
            tail, head = head, tail
        order = np.lexsort((head, tail))
        tail, head, capacity = tail[order], head[order], topology.pair_capacity[order]
        if not self.both_ways:
            return tail, head, capacity, np.full(len(tail), NONE, np.int64)
        kept = topology.pair_index(head, tail) >= 0
        tail, head, capacity = tail[kept], head[kept], capacity[kept]
        nodes = len(topology.kind)
        return tail, head, capacity, np.searchsorted(tail * nodes + head, head * nodes + tail)

    @cached_property
    def _holds(self) -> NDArray[np.uint8]:
        """Reducing switches add in an all-reduce only."""
        topology = self.topology
        return (topology.holds if self.both_ways else topology.kind == NodeKind.ENDPOINT).astype(np.uint8)

    def pack(self, trees: int, period: int, seed: int) -> RelayedFamily | None:
        """`trees` trees, each arc in at most capacity · `period` of them; None when none were found, which proves nothing.

        O(TURNS · trees · members · links · log links) at worst.
        """
        tail, head, capacity, twin = self._arcs
        starts = self.roots * (trees // self.multiple) if self.roots else [NONE] * trees
        tree, _, offset, arc = _native.pack_steiner_trees(
            offset=np.searchsorted(tail, np.arange(len(self.topology.kind) + 1)).astype(np.int32),
            head=head.astype(np.int32),
            twin=twin.astype(np.int32),
            capacity=capacity * period,
            holds=self._holds,
            ends=self.members,
            roots=np.array(starts, np.int32),
            turns=TURNS,
            seed=seed,
        )
        if not len(tree):
            return None
        paths: list[list[_Path]] = [[] for _ in range(trees)]
        tails, heads = tail.tolist(), head.tolist()
        for row, number in enumerate(tree.tolist()):
            arcs = arc[offset[row] : offset[row + 1]].tolist()
            paths[number].append([tails[arcs[0]], *(heads[one] for one in arcs)])
        return self._family(paths, starts, period)

    def _family(self, trees: list[list[_Path]], starts: list[int], period: int) -> RelayedFamily:
        up, down, up_route, down_route = np.full((4, len(trees), len(self.topology.kind)), NONE, np.int32)
        roots, cables = np.zeros(len(trees), np.int32), ParallelLinks(self.topology, period)
        for row, (edges, start) in enumerate(zip(trees, starts, strict=True)):
            roots[row] = _centre(edges) if start == NONE else start
            for path in _outward(edges, int(roots[row])):
                parent, node = path[0], path[-1]
                if self.collective.reduces:
                    up[row, node], up_route[row, node] = parent, cables.route(path[::-1])
                if self.collective.gathers:
                    down[row, node], down_route[row, node] = parent, cables.route(path)
        origin = {"trees": "over relays", "packed": f"{len(trees)}/{period}"}
        tables = (up_route, down_route, tuple(cables.routes)) if cables.routes else ()
        return RelayedFamily(self.topology, self.collective, roots, up, down, origin, *tables)


def _outward(edges: list[_Path], root: int) -> list[_Path]:
    """The edges of a tree, nearest first, each from its end nearer to the root."""
    around: dict[int, list[_Path]] = {}
    for path in edges:
        around.setdefault(path[0], []).append(path)
        around.setdefault(path[-1], []).append(path[::-1])
    found, inside, queue = [], {root}, deque([root])
    while queue:
        for path in around[queue.popleft()]:
            if path[-1] not in inside:
                inside.add(path[-1])
                queue.append(path[-1])
                found.append(path)
    return found


def _centre(edges: list[_Path]) -> int:
    """The node in the middle of the longest path of a tree."""
    end = _outward(edges, edges[0][0])[-1][-1]
    found = _outward(edges, end)
    above = {path[-1]: path[0] for path in found}
    walk = [found[-1][-1]]
    while walk[-1] != end:
        walk.append(above[walk[-1]])
    return walk[len(walk) // 2]
