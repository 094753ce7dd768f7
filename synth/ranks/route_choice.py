"""Routes for the transfers of an algorithm, spread over equally short routes where a step overloads some of them.

The routes of `certree.models.network.routing` are chosen by destination. That is right for permutations, but leaves switches idle
that connect the same endpoints (the planes of a DGX-2, local switches, ACE's global switches) when the destinations of a step agree
in the digits that choose.
"""

from collections.abc import Mapping
from math import lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.models.common.columns import flat, ranges
from certree.models.network.routing import DIRECT, routes_between
from certree.models.network.topology import Int32, Topology

MOST_ROUTES = 16
MOST_WORK = 1 << 19  # rows x routes that are compared

Routes = tuple[tuple[int, ...], ...]
Int64 = NDArray[np.int64]


def spread_routes(topology: Topology, columns: Mapping[str, NDArray[Any]]) -> tuple[Int32, Routes]:
    """(`route` column, `routes`) for transfers with the columns `step`, `src` and `dst`.

    As `routes_between`, but in steps where a link carries more than the ports of the endpoints make necessary every routed row in
    turn takes the route that leaves its fullest link least full, of up to MOST_ROUTES (fewer for very many rows); a step
    keeps the first routes unless that shortens it. O(rows log rows + hops), and O(rows · routes · hops) plain Python for crowded
    steps.
    """
    src, dst, step = columns["src"], columns["dst"], columns["step"]
    route, routes = routes_between(topology, src, dst)
    if topology.is_direct or not routes:
        return route, routes
    rows = np.flatnonzero(route != DIRECT)
    crowded = _crowded_steps(topology, route, routes, columns, rows)
    rows = rows[np.isin(step[rows], crowded)]
    most = min(MOST_ROUTES, MOST_WORK // max(len(rows), 1))
    choices = _route_choices(topology, src[rows], dst[rows], most) if len(rows) and most > 1 else []
    if len(choices) < 2:
        return route, routes
    chosen = [routes[index] for index in route[rows].tolist()]
    for now in crowded.tolist():
        places = np.flatnonzero(step[rows] == now).tolist()
        taken = _take_turns(topology, [[of_row[place] for of_row in choices] for place in places])
        if _rounds(topology, taken) < _rounds(topology, [chosen[place] for place in places]):
            for place, path in zip(places, taken, strict=True):
                chosen[place] = path
    every = [routes[index] if index != DIRECT else () for index in route.tolist()]
    for row, path in zip(rows.tolist(), chosen, strict=True):
        every[row] = path
    numbers = {path: number for number, path in enumerate(sorted({path for path in every if path}))}
    return np.array([numbers[path] if path else DIRECT for path in every], np.int32), tuple(numbers)


def _crowded_steps(topology: Topology, route: Int32, routes: Routes, columns: Mapping[str, NDArray[Any]], rows: Int64) -> Int64:
    """Steps in which a link of a route carries more than the busiest port of an endpoint must, ascending."""
    steps = int(columns["step"].max()) + 1
    step = columns["step"].astype(np.int64)
    links, begin = flat(routes)
    passing, place = ranges(begin[route[rows]], np.diff(begin)[route[rows]])
    rounds = _longest(step[rows[passing]], links[place], topology.capacity.astype(np.int64), steps)
    needed = np.zeros(steps, np.int64)
    nodes = len(topology.kind)
    for end, ports in (("src", topology.src), ("dst", topology.dst)):
        capacity = np.zeros(nodes, np.int64)
        np.add.at(capacity, ports, topology.capacity)
        needed = np.maximum(needed, _longest(step[rows], columns[end][rows].astype(np.int64), capacity, steps))
    return np.flatnonzero(rounds > needed)


def _longest(step: Int64, place: Int64, capacity: Int64, steps: int) -> Int64:
    """For every step the largest ceil(load / capacity) of a link."""
    key, load = np.unique(place * steps + step, return_counts=True)
    rounds = np.zeros(steps, np.int64)
    np.maximum.at(rounds, key % steps, -(-load // capacity[key // steps]))
    return rounds


def _route_choices(topology: Topology, src: NDArray[Any], dst: NDArray[Any], most: int) -> list[list[tuple[int, ...]]]:
    """Up to `most` different choices of routes, the default first; each has a route for every row."""
    found: list[list[tuple[int, ...]]] = []
    for turn in range(most):
        route, routes = routes_between(topology, src, dst, turn)
        paths = [routes[index] for index in route.tolist()]
        if paths in found:
            break
        found.append(paths)
    return found


def _take_turns(topology: Topology, options: list[list[tuple[int, ...]]]) -> list[tuple[int, ...]]:
    """For every row in turn, the option whose fullest link is least full with it; of equal ones that of least total load."""
    unit = lcm(*set(topology.capacity.tolist()))
    weight = [unit // capacity for capacity in topology.capacity.tolist()]
    load = [0] * len(weight)
    taken = []
    for paths in options:
        best = min(paths, key=lambda path: (max(load[link] + weight[link] for link in path), sum(load[link] for link in path)))
        for link in best:
            load[link] += weight[link]
        taken.append(best)
    return taken


def _rounds(topology: Topology, paths: list[tuple[int, ...]]) -> int:
    """The number of rounds in which the links carry all of them."""
    link, load = np.unique(np.concatenate([np.array(path, np.int64) for path in paths]), return_counts=True)
    return int((-(-load // topology.capacity[link])).max())
