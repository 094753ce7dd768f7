"""Shortest routes that load links evenly."""

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.models.common.errors import UnsupportedError
from certree.models.network.routing import DIRECT, routes_between
from certree.models.network.topology import Topology
from certree.synth.fine.program import Way, first_links

SWEEPS = 3
Finder = Callable[[NDArray[Any], NDArray[Any]], list[Way]]


@lru_cache(maxsize=4)
def default_ways(topology: Topology) -> Finder:
    """The routes that all methods take where nothing speaks against them (`models.network.routing`). Those that have been found
    are kept: programs of one network have most of them in common."""
    known: dict[int, Way] = {}

    def find(src: NDArray[Any], dst: NDArray[Any]) -> list[Way]:
        keys = np.asarray(src, np.int64) * len(topology.kind) + dst
        fresh = np.array([key for key in np.unique(keys).tolist() if key not in known], np.int64)
        starts, ends = fresh // len(topology.kind), fresh % len(topology.kind)
        column, routes = routes_between(topology, starts, ends)
        links = first_links(topology, starts, ends)
        for key, at, link in zip(fresh.tolist(), column.tolist(), links, strict=True):
            known[key] = routes[at] if at != DIRECT else (link,)
        return [known[key] for key in keys.tolist()]

    return find


def even_ways(topology: Topology) -> Finder:
    """Shortest routes, each pair's rerouted in turn where its links are least loaded, SWEEPS times."""

    def find(src: NDArray[Any], dst: NDArray[Any]) -> list[Way]:
        return _Rerouting(topology).run(src.tolist(), dst.tolist())

    return find


def lighter_ways(topology: Topology) -> Finder:
    """The routes that all methods take, or even ones where those carry less over the busiest link."""
    found = (default_ways(topology), even_ways(topology))

    def find(src: NDArray[Any], dst: NDArray[Any]) -> list[Way]:
        return min((ways(src, dst) for ways in found), key=lambda ways: _busiest(topology, ways))

    return find


def _busiest(topology: Topology, ways: list[Way]) -> Fraction:
    """The most messages on a lane: of all links between two nodes together, since any of them may take a message."""
    pair = topology.pair_of_link[np.fromiter((link for way in ways for link in way), np.int64)]
    load = np.bincount(pair, minlength=len(topology.pair_capacity)).tolist()
    return max(map(Fraction, load, topology.pair_capacity.tolist()), default=Fraction(0))


class _Rerouting:
    """Loads of links, in parts of their capacity, and routes."""

    def __init__(self, topology: Topology) -> None:
        self._topology = topology
        self._out: list[list[tuple[int, int]]] = [[] for _ in topology.kind]
        self._into: list[list[int]] = [[] for _ in topology.kind]
        for link, (src, dst) in enumerate(zip(topology.src.tolist(), topology.dst.tolist(), strict=True)):
            self._out[src].append((link, dst))
            self._into[dst].append(src)
        self._load = [0] * len(topology.src)
        self._wide = topology.capacity.tolist()
        self._left: dict[int, list[int]] = {}
        self._only: dict[tuple[int, int], Way | None] = {}
        self._forwards = topology.forwards.tolist()

    def run(self, src: list[int], dst: list[int]) -> list[Way]:
        """A route for each pair, in their order; UnsupportedError for one without a path."""
        ways: list[Way] = [()] * len(src)
        open_rows = []  # with a choice
        for row, (here, there) in enumerate(zip(src, dst, strict=True)):
            only = self._single(here, there)
            ways[row] = self._least(here, there) if only is None else only
            open_rows += [(row, here, there)] * (only is None)
            for link in ways[row]:
                self._load[link] += 1
        for _ in range(1, SWEEPS):
            for row, here, there in open_rows:
                for link in ways[row]:
                    self._load[link] -= 1
                ways[row] = self._least(here, there)
                for link in ways[row]:
                    self._load[link] += 1
        return ways

    def _single(self, here: int, there: int) -> Way | None:
        """The shortest route where there is one only; None where there are none or several."""
        if (here, there) not in self._only:
            left, way, node = self._hops(there), [], here
            while node != there:
                ahead = [
                    (link, to)
                    for link, to in self._out[node]
                    if 0 <= left[to] == left[node] - 1 and (to == there or self._forwards[to])
                ]
                if len(ahead) != 1:
                    break
                way.append(ahead[0][0])
                node = ahead[0][1]
            self._only[here, there] = tuple(way) if node == there else None
        return self._only[here, there]

    def _least(self, here: int, there: int) -> Way:
        """The shortest route whose links have the least sum of squares of their loads; of equal ones the first."""
        left = self._hops(there)
        if left[here] < 0:
            raise UnsupportedError(f"{self._topology.name}: no route from node {here} to node {there}")
        best: dict[int, tuple[int, Way]] = {here: (0, ())}
        for rest in range(left[here] - 1, -1, -1):
            level: dict[int, tuple[int, Way]] = {}
            for node, (cost, way) in best.items():
                for link, to in self._out[node]:
                    if left[to] == rest and (to == there or self._forwards[to]):
                        more = cost + ((2 * self._load[link] + 1) << 16) // self._wide[link]
                        if to not in level or more < level[to][0]:
                            level[to] = (more, (*way, link))
            best = level
        return best[there][1]

    def _hops(self, there: int) -> list[int]:
        """Hops to a node, through nodes that forward; -1 where there is no way."""
        if there not in self._left:
            left = [-1] * len(self._out)
            left[there], level = 0, [there]
            while level:
                found = []
                for node in level:
                    for tail in self._into[node]:
                        if left[tail] < 0:
                            left[tail] = left[node] + 1
                            found.append(tail)
                level = [node for node in found if self._forwards[node]]
            self._left[there] = left
        return self._left[there]
