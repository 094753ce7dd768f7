"""Shortest routes between nodes that are not neighbours: deterministic, and spread over equal choices."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.models.common.errors import UnsupportedError
from certree.models.network.topology import Int32, Topology

DIRECT = -1  # route column: the destination is a neighbour

Int64 = NDArray[np.int64]


def routes_between(
    topology: Topology, src: NDArray[Any], dst: NDArray[Any], turn: int = 0
) -> tuple[Int32, tuple[tuple[int, ...], ...]]:
    """(`route` column, `routes`) for transfers `src` -> `dst`, as a `Schedule` keeps them.

    A row between neighbours is DIRECT. Any other gets the index of a shortest route, a tuple of link numbers whose inner nodes
    forward (`Topology.forwards`). Where several links lead on at equal length they are taken in link order:

    - At a switch, or out of an endpoint into switches, as a fat tree does ("D-mod-k"): with q the rank of the destination (its id
      where it has none) plus `turn`, the first node with c > 1 choices takes number q mod c and goes on with q div c, and so on.
      All transfers i -> i + k of one step then use disjoint links in a fat tree that has as many uplinks as nodes below.
    - Through endpoints (direct networks): the last choice, which on grids is dimension order, X before Y.

    Raises UnsupportedError for a row from a node to itself and for one without a path. Rows with the same ends share a route;
    routes are numbered by (src, dst). O(destinations · links · hops) time in vectorized sweeps, O(rows + links) memory.
    """
    src, dst = np.asarray(src, np.int64), np.asarray(dst, np.int64)
    stays = np.flatnonzero(src == dst)
    if len(stays):
        raise UnsupportedError(f"{topology.name}: row {stays[0]} leads from node {src[stays[0]]} to itself")
    column = np.full(len(src), DIRECT, np.int32)
    far = np.flatnonzero(topology.pair_index(src, dst) < 0)
    if not len(far):
        return column, ()
    nodes = len(topology.kind)
    keys, column[far] = np.unique(src[far] * nodes + dst[far], return_inverse=True)
    starts, ends = keys // nodes, keys % nodes
    routes: list[tuple[int, ...]] = [()] * len(keys)
    order = np.argsort(ends, kind="stable")
    walker = _Walker(topology)
    for block in np.split(order, np.flatnonzero(np.diff(ends[order])) + 1):
        for index, route in zip(block.tolist(), walker.walk(int(ends[block[0]]), starts[block], turn), strict=True):
            routes[index] = route
    return column, tuple(routes)


class _Walker:
    """Walks from many sources to one destination at a time; links sorted by their source."""

    def __init__(self, topology: Topology) -> None:
        self.topology = topology
        self.link = np.argsort(topology.src, kind="stable")
        self.tail = topology.src[self.link]
        self.head = topology.dst[self.link]
        self.first = np.searchsorted(self.tail, np.arange(len(topology.kind) + 1))

    def walk(self, end: int, starts: Int64, turn: int) -> list[tuple[int, ...]]:
        """The routes from every one of `starts` to `end`, in that order."""
        left = self.topology.distances(end, backward=True, through=self.topology.forwards)
        lost = np.flatnonzero(left[starts] < 0)
        if len(lost):
            raise UnsupportedError(f"{self.topology.name}: no route from node {starts[lost[0]]} to node {end}")
        # the links that lead closer to the end, and how many of them lie before each position
        closer = (left[self.tail] == left[self.head] + 1) & (left[self.head] >= 0)
        closer &= self.topology.forwards[self.head] | (self.head == end)
        options = np.flatnonzero(closer)
        begin = np.searchsorted(options, self.first)
        rank = int(self.topology.rank[end])
        at, quotient = starts.copy(), np.full(len(starts), (rank if rank >= 0 else end) + turn, np.int64)
        hops: list[Int64] = []
        while (at != end).any():
            walking = at != end
            count = np.where(walking, begin[at + 1] - begin[at], 1)
            last = self.topology.is_direct
            chosen = np.where(last, count - 1, quotient % count)
            quotient //= count
            position = options[np.where(walking, begin[at] + chosen, 0)]
            hops.append(np.where(walking, self.link[position], -1))
            at = np.where(walking, self.head[position], at)
        return [tuple(link for link in route if link >= 0) for route in np.stack(hops, axis=1).tolist()]
