"""Link-disjoint spanning branchings from one root, which grow together in the order of arrival.

Source: Edmonds' theorem on disjoint branchings and Lovász's proof of it (1976): branchings that have been grown in part can be
completed just when every set of nodes has as many links into it left as there are branchings without a node in it. So each link
takes one maximum flow. That all branchings grow at once, in the order of arrival, is certree's: the last ones are not much deeper
than the first.
"""

from heapq import heappop, heappush
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.models.network.topology import Int32, Topology

Int64 = NDArray[np.int64]
NONE = -1


def most_branchings(topology: Topology, root: int, *, inward: bool = False) -> int:
    """How many spanning branchings from the root, or to it (`inward`), are disjoint on the lanes of a direct network.

    A maximum flow for each node.
    """
    tail, head = _ends(topology, inward=inward)
    flow = _flow()
    flow.add_arcs_with_capacity(tail, head, topology.pair_capacity)
    return min((_value(flow, root, node) for node in topology.endpoints.tolist() if node != root), default=0)


def shallow_branchings(topology: Topology, root: int, count: int, hop: Int64, seed: int, *, inward: bool = False) -> Int32:
    """`count` branchings from the root, or to it, at most `most_branchings`: shape (count, nodes), the node before each node on its
    path from the root, NONE at the root.

    Of all links that could be added the one with the earliest arrival comes first; ties are broken at random. `hop`: the cycles of
    each joined pair. A maximum flow of `count` for each link and branching, at most.
    """
    tail, head = _ends(topology, inward=inward)
    growing, rng = _Growing(topology, tail, head, count), np.random.default_rng(seed)
    out: list[list[int]] = [[] for _ in topology.kind]
    for link, node in enumerate(tail.tolist()):
        out[node].append(link)
    parent, cycles, ends = np.full((count, len(topology.kind)), NONE, np.int32), hop.tolist(), head.tolist()
    queue: list[tuple[int, int, int, int]] = []

    def reached(tree: int, node: int, cycle: int) -> None:
        for link in out[node]:
            heappush(queue, (cycle + cycles[link], int(rng.integers(1 << 32)), tree, link))

    for tree in range(count):
        growing.add(tree, root)
        reached(tree, root, 0)
    while queue:
        cycle, _, tree, link = heappop(queue)
        node = ends[link]
        if node != root and parent[tree, node] == NONE and growing.take(tree, link, node):
            parent[tree, node] = tail[link]
            reached(tree, node, cycle)
    return parent


class _Growing:
    """The free capacity of links, and a flow network in which a source feeds each branching, and each branching its nodes."""

    def __init__(self, topology: Topology, tail: Int64, head: Int64, count: int) -> None:
        nodes = len(topology.kind)
        trees = np.arange(nodes + 1, nodes + 1 + count)
        self._source, self._count, self._left, self._flow = nodes, count, topology.pair_capacity.tolist(), _flow()
        self._links = self._flow.add_arcs_with_capacity(tail, head, topology.pair_capacity).tolist()
        self._flow.add_arcs_with_capacity(np.full(count, nodes), trees, np.ones(count, np.int64))
        ends = np.repeat(trees, nodes), np.tile(np.arange(nodes), count)
        self._members = self._flow.add_arcs_with_capacity(*ends, np.zeros(count * nodes, np.int64)).reshape(count, nodes)

    def add(self, tree: int, node: int) -> None:
        """Record that the node belongs to the branching."""
        self._flow.set_arc_capacity(int(self._members[tree, node]), self._count)

    def take(self, tree: int, link: int, node: int) -> bool:
        """Let the branching enter the node by a link if it may; returns whether it did."""
        if not self._left[link]:
            return False
        self.add(tree, node)
        self._flow.set_arc_capacity(self._links[link], self._left[link] - 1)
        if _value(self._flow, self._source, node) >= self._count:
            self._left[link] -= 1
            return True
        self._flow.set_arc_capacity(int(self._members[tree, node]), 0)
        self._flow.set_arc_capacity(self._links[link], self._left[link])
        return False


def _ends(topology: Topology, *, inward: bool) -> tuple[Int64, Int64]:
    ends = topology.pair_src, topology.pair_dst
    return ends[::-1] if inward else ends


def _flow() -> Any:
    from ortools.graph.python import max_flow  # noqa: PLC0415

    return max_flow.SimpleMaxFlow()


def _value(flow: Any, source: int, sink: int) -> int:
    if (status := flow.solve(source, sink)) != flow.OPTIMAL:
        raise RuntimeError(f"maximum flow ended with {status}")
    return int(flow.optimal_flow())
