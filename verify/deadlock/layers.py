"""Layers of virtual channels: routes in parts, so that the channels of no part wait for each other in a circle."""

from collections.abc import Sequence
from itertools import pairwise

from certree.models.common.budget import PYTHON, spend
from certree.models.common.errors import InputError

Route = Sequence[int]


def layers_of(routes: Sequence[Route], most: int | None = None) -> list[int]:
    """A layer for each route, a list of channels; the waits of each layer, but for layer `most`, have no circle.

    All routes start in layer 0. While it has a circle, the routes that cause its rarest wait move to the next layer, and so on
    (Domke, Hoefler, Nagel, DFSSSP, 2011). Every layer keeps at least one route, so there are at most as many as routes; usually
    few: once every route by itself has no circle, some wait of every circle is also that of a route that stays. Deterministic.
    O(waits + circles · longest path) time for each layer. InputError for a route that passes a channel twice: it may wait for
    itself, in any layer.
    """
    for number, channels in enumerate(routes):
        if len(set(channels)) < len(channels):
            raise InputError(f"route {number} passes a link twice: its messages may wait for themselves in any virtual channel")
    layer, moved = [0] * len(routes), list(range(len(routes)))
    level = 0
    while moved and level != most:
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
        ahead = {node: list(after) for node, after in graph.subgraph(nodes).adjacency()}
        done: set[int] = set()  # no circle goes through what is ahead of them
        for first in ahead:
            path, turns = [first], {first: 0}  # by node of the path, which of those ahead comes next
            while path:
                node = path[-1]
                after = ahead[node][turns[node]] if turns[node] < len(ahead[node]) else None
                if after is None:
                    done.add(path.pop())
                    turns.pop(node)
                elif after in done or not causes[node, after]:
                    turns[node] += 1
                elif after not in turns:
                    path.append(after)
                    turns[after] = 0
                else:  # a circle: its rarest wait goes, and the path ends where it has no wait any more
                    circle = [*pairwise(path[path.index(after) :]), (node, after)]
                    spend(PYTHON * len(path), f"layers of {len(routes):,} routes, some of whose waits form circles")
                    for route in sorted(causes[min(circle, key=lambda wait: (len(causes[wait]), wait))]):
                        gone.append(route)
                        for wait in pairwise(routes[route]):
                            causes[wait].discard(route)
                    cut = next((at for at, wait in enumerate(pairwise(path), 1) if not causes[wait]), len(path))
                    path, turns = path[:cut], {one: turns[one] for one in path[:cut]}
    return sorted(set(gone))
