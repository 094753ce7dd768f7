"""Packing Steiner trees on networks with switches that add and multicast: a tree reaches all endpoints and may branch in switches.

A chunk is reduced up such a tree, with additions in switches, and the sum is copied down again: each edge is used once in each
direction, and an endpoint's link once where spanning trees over endpoints use it twice. The number of trees that fit is NP-hard to
find; lengths of links (`certree.synth.graphs.lengths`) bound it, and the gap is stated. Switches that only forward lie within edges
of a tree, which then are paths through them. Trees are laid one after the other over links that cost the more the fuller they are
(Takahashi and Matsuyama's heuristic), and those on overfull links again, at prices that rise each time, until no link is overfull
or the TURNS are used up: negotiation, as in the routing of circuits (McMurchie and Ebeling, PathFinder, 1995).
"""

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from heapq import heappop, heappush
from itertools import pairwise
from random import Random

import numpy as np

from certree.models.network.routing import DIRECT
from certree.models.network.topology import Topology
from certree.models.schedule.collective import Collective, CollectiveKind
from certree.synth.graphs.lengths import best_lengths
from certree.synth.packing.trees import NONE, TreeFamily
from certree.verify.bounds.cheap import cheap_bounds
from certree.verify.bounds.instance import Instance

TURNS = 40  # of laying trees again
PERIODS = (1, 2, 3, 4, 6)  # for which the most trees are looked for
MULTIPLES = 4
_PRICE = 8  # of a link that holds one tree too many, over that of a free one

Edge = tuple[int, int]  # of neighbours, the smaller id first
Tree = dict[int, tuple[int, ...]]  # by node that holds data: the nodes from it to its parent, which are neighbours of each other


@dataclass(frozen=True, eq=False)
class ReducingNetwork:
    """A full-duplex network some of whose switches reduce, for an all-reduce; the counterpart of
    `synth.packing.spanning_trees.Network`."""

    topology: Topology

    @property
    def size(self) -> int:
        """The number of endpoints."""
        return len(self.topology.endpoints)

    @cached_property
    def strength(self) -> Fraction:
        """An upper bound on the trees per round, by the best bound found."""
        instance = Instance(self.topology, Collective(CollectiveKind.ALL_REDUCE))
        bounds = [*cheap_bounds(instance), best_lengths(instance)]
        return 1 / max(Fraction(bound["value"]) for bound in bounds if bound and bound["quantity"] == "bandwidth")

    @cached_property
    def tight(self) -> tuple[int, int]:
        """The strength as trees and period; with paths the first multiple up to MULTIPLES of them that is found, if one is."""
        trees, period = self.strength.numerator, self.strength.denominator
        for many in range(1, MULTIPLES + 1) if self.has_paths else ():
            if self.pack(Collective(CollectiveKind.ALL_REDUCE), trees * many, period * many, moves=0, seed=0) is not None:
                return trees * many, period * many
        return trees, period

    @property
    def multiple(self) -> int:
        """Any number of trees will do."""
        return 1

    @property
    def is_even(self) -> bool:
        """Whether trees have their roots in the middle of the network."""
        return False

    @property
    def edge_capacity(self) -> Fraction:
        """The most tree edges per round: the total capacity of the edges, in one direction."""
        return Fraction(sum(self._capacity.values()))

    def least_height(self, period: int) -> int:
        """The number of transfers from the most central node to the endpoint farthest from it, whatever the period."""
        return min(self._height_below(node) for node in np.flatnonzero(self.topology.holds).tolist())

    def _height_below(self, root: int) -> int:
        """The height below a root; a link into a switch that only forwards is part of a transfer to a node behind it. O(links)."""
        topology, height, queue = self.topology, {root: 0}, deque([root])
        while queue:
            here = queue.popleft()
            for node in topology.neighbours(here):
                far = height[here] + int(topology.holds[node])
                if far < height.get(node, far + 1):
                    height[node] = far
                    (queue.append if topology.holds[node] else queue.appendleft)(node)
        return max(height[node] for node in topology.endpoints.tolist())

    @property
    def has_paths(self) -> bool:
        """Whether there are switches that only forward."""
        return bool((self.topology.forwards & ~self.topology.holds).any())

    @cached_property
    def _capacity(self) -> dict[Edge, int]:
        """The capacity between two nodes, by (smaller id, larger id)."""
        ends = zip(self.topology.pair_src.tolist(), self.topology.pair_dst.tolist(), strict=True)
        capacities = self.topology.pair_capacity.tolist()
        return {(u, v): capacity for (u, v), capacity in zip(ends, capacities, strict=True) if u < v}

    def most(self, collective: Collective, period: int, *, seed: int) -> int:
        """The most trees that `pack` finds for a period, as bisection has it; 0 where there are none."""
        low, high = 0, int(self.strength * period) + 1
        trees = high - 1
        while low < trees:
            if self.pack(collective, trees, period, moves=0, seed=seed) is None:
                high = trees
            else:
                low = trees
            trees = (low + high) // 2
        return low

    def pack(self, collective: Collective, trees: int, period: int, *, moves: int, seed: int) -> TreeFamily | None:
        """`trees` Steiner trees, rooted at their centres; None when none were found, which proves nothing. An edge is in at most
        as many trees as its capacity times `period`.

        At most TURNS times `trees` searches of O(endpoints · links · log links), each; `moves` changes nothing.
        """
        prices = _Prices({edge: capacity * period for edge, capacity in self._capacity.items()}, self.topology.holds.tolist())
        draws, ends = Random(seed), self.topology.endpoints.tolist()
        laid: list[Tree] = [{} for _ in range(trees)]
        again: Sequence[int] = range(trees)
        for _ in range(TURNS):
            for tree in again:
                prices.take(laid[tree], -1)
                laid[tree] = prices.tree(ends, draws.choice(ends))
                prices.take(laid[tree], 1)
            again = [tree for tree in range(trees) if prices.overfull(laid[tree])]
            if not again:
                return self._family(collective, laid, period)
            prices.rise()
        return None

    def _family(self, collective: Collective, laid: list[Tree], period: int) -> TreeFamily:
        up, down, up_route, down_route = np.full((4, len(laid), len(self.topology.kind)), NONE, np.int32)
        roots, cables = np.zeros(len(laid), np.int32), ParallelLinks(self.topology, period)
        for row, tree in enumerate(laid):
            roots[row], order = _centred({node: path[-1] for node, path in tree.items()})
            for node, parent in order.items():
                path = tree[node] if node in tree and tree[node][-1] == parent else tree[parent][::-1]
                up[row, node] = down[row, node] = parent
                up_route[row, node], down_route[row, node] = cables.route(path), cables.route(path[::-1])
        origin = {"trees": "Steiner packing", "packed": f"{len(laid)}/{period}"}
        if not cables.routes:
            return TreeFamily(self.topology, collective, root=roots, up=up, down=down, origin=origin)
        routes = tuple(cables.routes)
        return TreeFamily(self.topology, collective, roots, up, down, origin, up_route, down_route, routes)


class ParallelLinks:
    """The choice among parallel links of a path: each as often as it can carry trees in a period."""

    def __init__(self, topology: Topology, period: int) -> None:
        self._free: dict[Edge, list[int]] = {}
        for link, (u, v, capacity) in enumerate(
            zip(topology.src.tolist(), topology.dst.tolist(), topology.capacity.tolist(), strict=True)
        ):
            self._free.setdefault((u, v), []).extend([link] * (capacity * period))
        self.routes: dict[tuple[int, ...], int] = {}

    def route(self, path: Sequence[int]) -> int:
        """The number of a route along these nodes, DIRECT between neighbours."""
        if len(path) == 2:
            return DIRECT
        links = tuple(self._free[u, v].pop() for u, v in pairwise(path))
        return self.routes.setdefault(links, len(self.routes))


class _Prices:
    """Loads of edges, and the price of one more tree."""

    def __init__(self, capacity: dict[Edge, int], holds: list[bool]) -> None:
        self._capacity, self._load, self._past = capacity, dict.fromkeys(capacity, 0), dict.fromkeys(capacity, 0)
        self._holds = holds
        self._around: dict[int, list[tuple[int, Edge]]] = {}
        for u, v in capacity:
            self._around.setdefault(u, []).append((v, (u, v)))
            self._around.setdefault(v, []).append((u, (u, v)))

    def take(self, tree: Tree, units: int) -> None:
        """Put a tree onto its edges, or take it away."""
        for edge in _edges(tree):
            self._load[edge] += units

    def overfull(self, tree: Tree) -> bool:
        """Whether one of its edges holds more trees than fit."""
        return any(self._load[edge] > self._capacity[edge] for edge in _edges(tree))

    def rise(self) -> None:
        """Raise the price of overfull edges from now on."""
        for edge, load in self._load.items():
            self._past[edge] += max(0, load - self._capacity[edge])

    def _price(self, edge: Edge) -> int:
        """In whole numbers: 16 for a free edge, up to twice that for a full one, more for each tree too many, now and before."""
        load, capacity = self._load[edge], self._capacity[edge]
        return (16 + 16 * min(load, capacity) // capacity + 16 * _PRICE * max(0, load + 1 - capacity)) * (1 + self._past[edge])

    def tree(self, ends: list[int], start: int) -> Tree:
        """A tree, rooted at `start`, that reaches all `ends`: the nearest one is joined to it until none is left."""
        tree: Tree = {}
        inside, left = {start}, set(ends) - {start}
        price = {edge: self._price(edge) for edge in self._capacity}
        far, before = {start: 0}, {start: start}
        queue = [(0, start)]
        while left:
            cost, node = heappop(queue)
            if cost > far[node]:
                continue
            if node in left:
                left.remove(node)
                while node not in inside:  # the path becomes part of the tree: nodes on it that hold data get distance 0
                    inside.add(node)
                    far[node] = 0
                    heappush(queue, (0, node))
                    path = [node, before[node]]
                    while not self._holds[path[-1]]:
                        path.append(before[path[-1]])
                    tree[node] = tuple(path)
                    node = path[-1]
                continue
            for neighbour, edge in self._around[node]:
                reached = cost + price[edge]
                if reached < far.get(neighbour, reached + 1):
                    far[neighbour], before[neighbour] = reached, node
                    heappush(queue, (reached, neighbour))
        return tree


def _edges(tree: Tree) -> Iterator[Edge]:
    """The edges of all paths of a tree, each as often as they take it."""
    return ((min(u, v), max(u, v)) for path in tree.values() for u, v in pairwise(path))


def _centred(tree: dict[int, int]) -> tuple[int, dict[int, int]]:
    """(the node in the middle of the longest path, parents towards it) of a tree given by parents towards any root."""
    around: dict[int, list[int]] = {}
    for node, parent in tree.items():
        around.setdefault(node, []).append(parent)
        around.setdefault(parent, []).append(node)

    def spread(root: int) -> dict[int, int]:
        before, queue = {root: root}, [root]
        for node in queue:
            for neighbour in around[node]:
                if neighbour not in before:
                    before[neighbour] = node
                    queue.append(neighbour)
        return before

    end = next(reversed(spread(next(iter(around)))))
    path = [next(reversed(before := spread(end)))]
    while path[-1] != end:
        path.append(before[path[-1]])
    root = path[len(path) // 2]
    return root, {node: parent for node, parent in spread(root).items() if node != root}
