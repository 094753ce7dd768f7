"""Up*/down* routes: towards a root node, then away from it. Packets on them never wait for each other in a circle."""

import numpy as np
from numpy.typing import NDArray

from certree.models.network.topology import Topology

Int64 = NDArray[np.int64]
Flags = NDArray[np.bool_]


class UpDown:
    """Shortest routes of the form up*/down* (Schroeder et al., Autonet, 1991).

    Nodes have levels: their distance from a root, the forwarding node with the most links. A link goes up where it leads to a lower
    level, or on one level to a smaller id. A route goes up any number of times and then down any number of times. Whatever holds an
    up link waits for higher ones or for down links, and whatever holds a down link for lower ones: one virtual channel is enough.
    """

    def __init__(self, topology: Topology) -> None:
        self.topology = topology
        degree = np.bincount(topology.src, minlength=len(topology.kind))
        root = int(np.where(topology.forwards, degree, -1).argmax())
        level = _levels(topology, root)
        before, after = level[topology.src], level[topology.dst]
        #: whether each link goes up
        self.up: Flags = (after < before) | ((after == before) & (topology.dst < topology.src))
        self._order = np.argsort(topology.src, kind="stable")
        self._first = np.searchsorted(topology.src[self._order], np.arange(len(topology.kind) + 1))
        self._hops: dict[int, tuple[Int64, Int64]] = {}

    def route(self, start: int, end: int) -> tuple[int, ...] | None:
        """The links from one node to another; None where no such route exists, as on networks with links in one direction only.

        Of equally short continuations, those to destinations take turns by id. O(links · hops) time for every new `end`, then
        O(links of the nodes passed).
        """
        if end not in self._hops:
            self._hops[end] = self._hops_left(end)
        down, best = self._hops[end]
        if best[start] >= _FAR:
            return None
        at, rising, links = start, True, list[int]()
        while at != end:
            options = [link for link in self._leaving(at) if self._leads_on(link, rising, down, best)]
            link = options[end % len(options)]
            rising = bool(self.up[link])
            links.append(link)
            at = int(self.topology.dst[link])
        return tuple(links)

    def _leaving(self, node: int) -> list[int]:
        found: list[int] = self._order[self._first[node] : self._first[node + 1]].tolist()
        return found

    def _leads_on(self, link: int, rising: bool, down: Int64, best: Int64) -> bool:
        """Whether a link is the next of a shortest route; `rising`: whether the route may still rise."""
        source, target = int(self.topology.src[link]), int(self.topology.dst[link])
        left = int((best if rising else down)[source])
        if self.up[link]:
            return rising and int(best[target]) + 1 == left
        return int(down[target]) + 1 == left

    def _hops_left(self, end: int) -> tuple[Int64, Int64]:
        """Hops to `end` from every node, down only and with rises before; _FAR where there is no route."""
        down = self._relaxed(end, np.full(len(self.topology.kind), _FAR, np.int64), ~self.up)
        return down, self._relaxed(end, down.copy(), self.up)

    def _relaxed(self, end: int, hops: Int64, links: Flags) -> Int64:
        """Hops, where these links may come before the route that is known from their end, through nodes that forward."""
        topology = self.topology
        hops[end] = 0
        passes = topology.forwards.copy()
        passes[end] = True
        usable = np.flatnonzero(links & passes[topology.dst])
        while True:
            fewer = hops.copy()
            np.minimum.at(fewer, topology.src[usable], hops[topology.dst[usable]] + 1)
            if (fewer == hops).all():
                return hops
            hops = fewer


_FAR = 1 << 40


def _levels(topology: Topology, root: int) -> Int64:
    """Hops from the root through nodes that forward, along links of either direction; _FAR where there is no path."""
    level = np.full(len(topology.kind), _FAR, np.int64)
    level[root] = 0
    ends = np.concatenate((topology.src, topology.dst)), np.concatenate((topology.dst, topology.src))
    hops = 0
    while True:
        reached = ends[1][(level[ends[0]] == hops) & topology.forwards[ends[0]]]
        fresh = reached[level[reached] == _FAR]
        if not len(fresh):
            return level
        hops += 1
        level[fresh] = hops
