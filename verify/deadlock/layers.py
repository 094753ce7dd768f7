"""Layers of virtual channels: routes in parts, so that the channels of no part wait for each other in a circle."""

from collections.abc import Sequence
from itertools import pairwise

from certree.models.common.budget import PYTHON, spend
from certree.models.common.errors import InputError

Route = Sequence[int]


def layers_of(routes: Sequence[Route]) -> list[int]:
    """A layer for each route, a list of channels; the waits of each layer have no circle.

    All routes start in layer 0. While it has a circle, the routes that cause its rarest wait move to the next layer, and so on
    (Domke, Hoefler, Nagel, DFSSSP, 2011). Every layer keeps at least one route, so there are at most as many as routes; usually
    few: once every route by itself has no circle, some wait of every circle is also that of a route that stays. Deterministic.
    O(circles · waits) time for each layer. InputError for a route that passes a channel twice: it may wait for itself, in
    any layer.
    """
    for number, channels in enumerate(routes):
        if len(set(channels)) < len(channels):
            raise InputError(f"route {number} passes a link twice: its messages may wait for themselves in any virtual channel")
    layer, moved = [0] * len(routes), list(range(len(routes)))
    level = 0
    while moved:
        moved = _without_circles(routes, moved)
        level += 1
        for route in moved:
            layer[route] = level
    return layer


def _without_circles(routes: Sequence[Route], chosen: Sequence[int]) -> list[int]:
    """The routes that have to go so that the others have no circle."""
    import networkx as nx  # noqa: PLC0415 - slow to load, and seldom needed

    causes: dict[tuple[int, int], set[int]] = {}
    for route in chosen:
        for wait in pairwise(routes[route]):
            causes.setdefault(wait, set()).add(route)
    graph = nx.DiGraph(list(causes))
    gone: list[int] = []
    for nodes in [nodes for nodes in nx.strongly_connected_components(graph) if len(nodes) > 1]:
        part = graph.subgraph(nodes).copy()  # in the order of the view, and quicker to look at
        waits = part.number_of_edges()
        while True:
            spend(
                PYTHON * (len(nodes) + waits),
                f"layers of {len(routes):,} routes, some of whose waits form circles",
            )
            try:
                circle = nx.find_cycle(part)
            except nx.NetworkXNoCycle:
                break
            rarest = min(circle, key=lambda wait: (len(causes[wait]), wait))
            for route in sorted(causes[rarest]):
                gone.append(route)
                for wait in pairwise(routes[route]):
                    causes[wait].discard(route)
                    if causes[wait] or not graph.has_edge(*wait):
                        continue
                    graph.remove_edge(*wait)
                    if part.has_edge(*wait):
                        part.remove_edge(*wait)
                        waits -= 1
    return sorted(set(gone))
