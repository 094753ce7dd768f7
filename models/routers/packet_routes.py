"""Routes of packets that bring none: in dimension order by the routers' tables, or shortest ones."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from certree.models.network.routing import routes_between
from certree.models.network.topology import Topology
from certree.models.routers.grid_routing import Grid

Int64 = NDArray[np.int64]


def packet_routes(topology: Topology, src: Int64, dst: Int64) -> list[tuple[int, ...]]:
    """The links of a shortest route for each pair of nodes: the first link to a neighbour, no link from a node to itself.

    UnsupportedError for a pair without a route. Time as `routes_between`.
    """
    far = src != dst
    column, long = routes_between(topology, src[far], dst[far])
    first = np.zeros(len(topology.pair_capacity), np.int64)
    first[topology.pair_of_link[::-1]] = np.arange(len(topology.src))[::-1]
    direct = first[topology.pair_index(src[far], dst[far])]
    routes: list[tuple[int, ...]] = [()] * len(src)
    for index, place, link in zip(np.flatnonzero(far).tolist(), column.tolist(), direct.tolist(), strict=True):
        routes[index] = long[place] if place >= 0 else (link,)
    return routes


def table_hops(grid: Grid, src: Int64, dst: Int64, dateline_rule: str) -> Iterator[tuple[Int64, Int64, Int64]]:
    """The hops of packets that the tables of a grid's routers lead from `src` to `dst`, hop by hop: (packet, link, set of VCs) of
    those that are not yet there. O(hops of all packets)."""
    rings = grid.rings()
    packet = np.flatnonzero(src != dst)
    at, ring, kept = src[packet].astype(np.int64), np.full(len(packet), -1, np.int64), np.zeros(len(packet), np.int64)
    while len(packet):
        link, chosen = grid.next_links(at, dst[packet], dateline_rule)
        if dateline_rule == "ends":  # a packet that goes on around a ring keeps its half
            chosen = np.where((rings[link] >= 0) & (rings[link] == ring), kept, chosen)
        yield packet, link, chosen
        at = grid.topology.dst[link].astype(np.int64)
        left = at != dst[packet]
        packet, at, ring, kept = packet[left], at[left], rings[link][left], chosen[left]
