"""Edges of a bipartite multigraph in as few matchings as its largest degree (D. König, 1916), which are the fewest."""

from collections import Counter
from collections.abc import Sequence

Pair = tuple[int, int]


def largest_degree(pairs: Counter[Pair]) -> int:
    """The most edges that leave one source or come to one target; `pairs`: (source, target) with how many edges join them."""
    leaving, coming = Counter[int](), Counter[int]()
    for (source, target), count in pairs.items():
        leaving[source] += count
        coming[target] += count
    return max([*leaving.values(), *coming.values()], default=0)


def coloured(edges: Sequence[Pair]) -> list[int]:
    """For each edge (source, target) its colour, from 0 on: two edges with one end in common have different ones, and there are as
    many as the largest degree. The same edges give the same colours. O(edges · ends).

    An edge takes a colour that is free at both ends. Where there is none, two colours change places along the path on which they
    alternate: it starts at the target and cannot come back to the source, as sources are entered by the colour that is free there.
    """
    used: list[dict[int, dict[int, int]]] = [{}, {}]  # by side and end: colour -> edge
    colour = [-1] * len(edges)
    for number, (source, target) in enumerate(edges):
        at_source, at_target = used[0].setdefault(source, {}), used[1].setdefault(target, {})
        first, second = _free(at_source), _free(at_target)
        if first in at_target:
            _swap(edges, used, colour, target, first, second)
        colour[number] = first
        at_source[first] = at_target[first] = number
    return colour


def _free(taken: dict[int, int]) -> int:
    return next(one for one in range(len(taken) + 1) if one not in taken)


def _swap(
    edges: Sequence[Pair], used: list[dict[int, dict[int, int]]], colour: list[int], target: int, first: int, second: int
) -> None:
    """Exchange two colours along the path that starts at a target with the first one."""
    path, side, end, wanted = [], 1, target, first
    while (number := used[side][end].get(wanted)) is not None:
        path.append(number)
        side = 1 - side
        end = edges[number][side]
        wanted = second if wanted == first else first
    for number in path:
        for side, end in enumerate(edges[number]):
            del used[side][end][colour[number]]
    for number in path:
        colour[number] = second if colour[number] == first else first
        for side, end in enumerate(edges[number]):
            used[side][end][colour[number]] = number
