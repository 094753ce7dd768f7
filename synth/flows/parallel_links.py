"""Which of the parallel links between two nodes each route takes, once slots are chosen for the pair of nodes as a whole."""

import numpy as np
from numpy.typing import NDArray

from certree.models.network.routing import DIRECT
from certree.models.network.topology import Int32, Topology
from certree.models.schedule.schedule_columns import MAX_STEPS

Int64 = NDArray[np.int64]
Routes = tuple[tuple[int, ...], ...]


def over_parallel_links(
    topology: Topology, step: Int32, route: Int32, routes: Routes, period: int | None = None, size: Int64 | None = None
) -> tuple[Int32, Routes]:
    """(`route` column, `routes`) through the same nodes, in which the transfers of a slot share the links between two nodes.

    Each link gets as many transfers as it has capacity, in the order of links and rows; where the transfers exceed the total
    capacity, each link gets a proportional part. `period`: slots that are equal modulo it are one; `size`: by row the granules of a
    transfer, by default 1. Rows without a route are left alone, since any of the parallel links serves them. O(hops log hops).
    """
    parallel = np.bincount(topology.pair_of_link)[topology.pair_of_link] > 1
    if not any(parallel[list(links)].any() for links in routes):
        return route, routes
    routed = np.flatnonzero(route != DIRECT)
    hops = np.array([len(links) for links in routes])[route[routed]]
    row = np.repeat(routed, hops)
    link = np.array([link for at in route[routed].tolist() for link in routes[at]], np.int64)
    slot = step[row] % (period or MAX_STEPS)
    pair, granules = topology.pair_of_link[link], np.ones(len(row), np.int64) if size is None else size[row].astype(np.int64)
    shared = np.flatnonzero(parallel[link])
    link[shared] = _links(topology, pair[shared], slot[shared], granules[shared])
    flat = link.tolist()
    numbers: dict[tuple[int, ...], int] = {}
    column = route.copy()
    ends = zip((np.cumsum(hops) - hops).tolist(), np.cumsum(hops).tolist(), strict=True)
    column[routed] = [numbers.setdefault(tuple(flat[low:high]), len(numbers)) for low, high in ends]
    return column, tuple(numbers)


def _links(topology: Topology, pair: Int64, slot: NDArray[np.integer], size: Int64) -> Int64:
    """A link for each use of a pair of nodes in a slot; the links of one pair and slot are filled one after the other."""
    order = np.lexsort((slot, pair))
    key_changes = np.append(True, (np.diff(pair[order]) != 0) | (np.diff(slot[order]) != 0))
    first = np.flatnonzero(key_changes)
    group = np.cumsum(key_changes) - 1
    before = np.cumsum(size[order]) - size[order]
    place, load = before - before[first][group], np.add.reduceat(size[order], first)[group]
    capacity = topology.pair_capacity[pair[order]]
    place = np.where(load <= capacity, place, place * capacity // np.maximum(load, 1))
    by_pair = np.argsort(topology.pair_of_link, kind="stable")
    filled = np.cumsum(topology.capacity[by_pair].astype(np.int64))
    begin = np.cumsum(topology.pair_capacity) - topology.pair_capacity
    found = np.empty(len(pair), np.int64)
    found[order] = by_pair[np.searchsorted(filled, begin[pair[order]] + place, side="right")]
    return found
