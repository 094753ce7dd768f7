"""Slots modulo a period, and routes, for messages between endpoints through switches, such that no link is overfilled.

A message takes a lane out of its source and one into its destination. By König's theorem the edges of a bipartite multigraph have a
colouring with as many colours as a node has edges at most; colours, modulo the period, are slots. In each slot routes are then
chosen by a search that goes back where a link is full.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from certree.models.network.topology import Topology

MOST_ROUTES = 16  # of shortest ones between two endpoints
_STEPS = 20_000  # of a search in one slot

Ends = tuple[int, int]
Route = tuple[int, ...]


def turned(topology: Topology, ends: Sequence[Ends]) -> tuple[int, list[tuple[int, Route]]] | None:
    """(period, a slot and a route for each message), or None where endpoints have links of different capacity in all, a link leads
    from an endpoint to another one, or no routes are found. O(messages · (period + endpoints))."""
    out, into = (np.bincount(node, topology.capacity, len(topology.kind)) for node in (topology.src, topology.dst))
    lanes = np.unique(np.concatenate((out[topology.endpoints], into[topology.endpoints])))
    if len(lanes) > 1 or ((topology.rank[topology.src] >= 0) & (topology.rank[topology.dst] >= 0)).any():
        return None
    loads = [np.bincount([pair[side] for pair in ends], minlength=1).max() for side in (0, 1)]
    period = int(-(-max(loads) // int(lanes[0])))
    colour = coloured(ends, period * int(lanes[0]))
    slots: list[list[int]] = [[] for _ in range(period)]
    for message, one in enumerate(colour):
        slots[one % period].append(message)
    routes, found = _Routes(topology), dict[int, tuple[int, Route]]()
    for slot, messages in enumerate(slots):
        chosen = routes.of([ends[message] for message in messages])
        if chosen is None:
            return None
        found |= {message: (slot, route) for message, route in zip(messages, chosen, strict=True)}
    return period, [found[message] for message in range(len(ends))]


def coloured(ends: Sequence[Ends], colours: int) -> list[int]:
    """A colour for each edge (source, target), from 0 on, of which no two at one node, on its side, are equal. `colours`: at least
    the most edges of a node on a side. Each edge takes one that is free at both ends, after a path of two colours from one of them
    has exchanged these. The same edges give the same colours. O(edges · nodes)."""
    edge_at: list[dict[tuple[int, int], int]] = [{}, {}]  # by side: (node, colour) -> edge
    free: list[dict[int, int]] = [{}, {}]  # by side and node, colours as bits
    colour = [-1] * len(ends)
    everything = (1 << colours) - 1

    def put(edge: int, one: int) -> None:
        colour[edge] = one
        for side, node in enumerate(ends[edge]):
            edge_at[side][node, one] = edge
            free[side][node] &= ~(1 << one)

    for edge, (source, target) in enumerate(ends):
        here, there = free[0].setdefault(source, everything), free[1].setdefault(target, everything)
        first, second = _lowest(here), _lowest(there)
        if here & there:
            put(edge, _lowest(here & there))
            continue
        path, side, node, wanted = list[int](), 1, target, first
        while (node, wanted) in edge_at[side]:
            path.append(edge_at[side][node, wanted])
            side, node, wanted = 1 - side, ends[path[-1]][1 - side], first + second - wanted
        for old in path:
            for at, end in enumerate(ends[old]):
                edge_at[at].pop((end, colour[old]), None)
                free[at][end] |= 1 << colour[old]
        for old in path:
            put(old, first + second - colour[old])
        put(edge, first)
    return colour


def _lowest(bits: int) -> int:
    return (bits & -bits).bit_length() - 1


def _take(room: list[int], route: Route, lanes: int) -> None:
    for link in route:
        room[link] -= lanes


class _Routes:
    """Routes of the messages of one slot."""

    def __init__(self, topology: Topology) -> None:
        self._topology, self._known = topology, dict[Ends, list[Route]]()
        self._out: list[list[int]] = [[] for _ in topology.kind]
        for link, node in enumerate(topology.src.tolist()):
            self._out[node].append(link)

    def of(self, ends: Sequence[Ends]) -> list[Route] | None:
        """A route for each, or None where the search finds none: those with the fewest routes first."""
        room = self._topology.capacity.astype(np.int64).tolist()
        order = sorted(range(len(ends)), key=lambda message: len(self._shortest(ends[message])))
        chosen: list[Route] = []
        trials: list[Iterator[Route]] = []
        for _ in range(_STEPS):
            if len(chosen) == len(ends):
                back = dict(zip(order, chosen, strict=True))
                return [back[message] for message in range(len(ends))]
            if len(trials) == len(chosen):
                routes = self._shortest(ends[order[len(chosen)]])
                trials.append(iter(sorted(routes, key=lambda route: -min(room[link] for link in route))))
            route = next((one for one in trials[-1] if all(room[link] for link in one)), None)
            if route is not None:
                chosen.append(route)
                _take(room, route, 1)
                continue
            trials.pop()
            if not chosen:
                return None
            _take(room, chosen.pop(), -1)
        return None

    def _shortest(self, ends: Ends) -> list[Route]:
        """Some of the routes with the fewest links that pass switches only."""
        if ends not in self._known:
            found, paths = list[Route](), list[tuple[Route, int]]([((), ends[0])])
            while paths and not found:
                paths = [
                    ((*path, link), int(self._topology.dst[link]))
                    for path, node in paths
                    for link in self._out[node]
                    if self._topology.dst[link] == ends[1] or self._topology.rank[self._topology.dst[link]] < 0
                ]
                found = [path for path, node in paths if node == ends[1]]
            self._known[ends] = found[:MOST_ROUTES]
        return self._known[ends]
