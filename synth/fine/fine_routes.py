"""Shortest routes that load links evenly."""

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.models.common.errors import UnsupportedError
from certree.models.network.routing import DIRECT, routes_between
from certree.models.network.topology import Topology
from certree.synth import _native
from certree.synth.fine.program import Route, first_links

SWEEPS = 3
Finder = Callable[[NDArray[Any], NDArray[Any]], list[Route]]


@lru_cache(maxsize=4)
def default_routes(topology: Topology) -> Finder:
    """The routes that all methods take by default (`models.network.routing`). Routes are cached: programs of one network share most
    of them."""
    known: dict[int, Route] = {}

    def find(src: NDArray[Any], dst: NDArray[Any]) -> list[Route]:
        keys = np.asarray(src, np.int64) * len(topology.kind) + dst
        fresh = np.array([key for key in np.unique(keys).tolist() if key not in known], np.int64)
        starts, ends = fresh // len(topology.kind), fresh % len(topology.kind)
        column, routes = routes_between(topology, starts, ends)
        links = first_links(topology, starts, ends)
        for key, at, link in zip(fresh.tolist(), column.tolist(), links, strict=True):
            known[key] = routes[at] if at != DIRECT else (link,)
        return [known[key] for key in keys.tolist()]

    return find


def even_routes(topology: Topology) -> Finder:
    """Shortest routes, each pair's rerouted in turn where its links are least loaded, SWEEPS times; the search is in
    `synth/native/fine/fine_routes.cpp`. UnsupportedError for a pair without a path."""

    src_of, dst_of, wide = (column.astype(np.int32) for column in (topology.src, topology.dst, topology.capacity))
    forwards = topology.forwards.astype(np.uint8)

    def find(src: NDArray[Any], dst: NDArray[Any]) -> list[Route]:
        offset, link, lost = _native.even_routes(src_of, dst_of, wide, forwards, src.astype(np.int32), dst.astype(np.int32), SWEEPS)
        if lost >= 0:
            raise UnsupportedError(f"{topology.name}: no route from node {src[lost]} to node {dst[lost]}")
        links = link.tolist()
        return [tuple(links[low:high]) for low, high in pairwise(offset.tolist())]

    return find


def lighter_routes(topology: Topology) -> Finder:
    """The default routes, or even ones where these put less load on the busiest link."""
    found = (default_routes(topology), even_routes(topology))

    def find(src: NDArray[Any], dst: NDArray[Any]) -> list[Route]:
        return min((routes(src, dst) for routes in found), key=lambda routes: _busiest(topology, routes))

    return find


def _busiest(topology: Topology, routes: list[Route]) -> Fraction:
    """The most messages per lane, counting all links between two nodes together, since any of them may take a message."""
    pair = topology.pair_of_link[np.fromiter((link for route in routes for link in route), np.int64)]
    load = np.bincount(pair, minlength=len(topology.pair_capacity)).tolist()
    return max(map(Fraction, load, topology.pair_capacity.tolist()), default=Fraction(0))
