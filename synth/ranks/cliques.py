"""Groups of endpoints that are all joined to each other, and their counterparts: a grid of ranks that coordinates do not show."""

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from certree.models.network.topology import Topology
from certree.synth.ranks.layout import Layout

FEWEST = 3  # endpoints of a group: pairs are everywhere
MOST_ENDPOINTS = 64
MOST_CHOICES = 1 << 14  # sets of endpoints that are looked at


def cliques_of(topology: Topology) -> Layout | None:
    """A grid of the largest equal groups of a direct network in which all members are joined to each other. Each member is joined
    to its counterpart in the first group. None where there are no such groups, or only one.

    A group has at least FEWEST members. Of each size at most MOST_CHOICES sets and one division into groups are looked at.

    >>> from certree.models.network.spec import parse_topology
    >>> cliques_of(parse_topology("dgx1")).nodes.tolist()
    [0, 1, 2, 3, 4, 5, 6, 7]
    """
    count = len(topology.endpoints)
    if not topology.is_direct or not 2 * FEWEST <= count <= MOST_ENDPOINTS:
        return None
    near = _neighbours(topology)
    if all(len(others) == count - 1 for others in near.values()):
        return None
    for size in range(min(count // 2, min(map(len, near.values())) + 1), FEWEST - 1, -1):
        if count % size:
            continue
        groups = next(_partitions(near, size, sorted(near), [MOST_CHOICES]), None)
        aligned = None if groups is None else [_counterparts(near, groups[0], group) for group in groups]
        if aligned is not None and None not in aligned:
            return Layout((size, count // size), np.array(aligned, np.int32).ravel())
    return None


def _neighbours(topology: Topology) -> dict[int, set[int]]:
    """The endpoints that each endpoint has links to and from."""
    joined = set(zip(topology.pair_src.tolist(), topology.pair_dst.tolist(), strict=True))
    near: dict[int, set[int]] = {node: set() for node in topology.endpoints.tolist()}
    for src, dst in joined:
        if (dst, src) in joined:
            near[src].add(dst)
    return near


def _partitions(near: dict[int, set[int]], size: int, left: list[int], budget: list[int]) -> Iterator[list[tuple[int, ...]]]:
    """Yield divisions of the remaining endpoints into groups of that size, until the `budget` of choices is spent."""
    if not left:
        yield []
        return
    first, *others = left
    for rest in combinations([node for node in others if node in near[first]], size - 1):
        budget[0] -= 1
        if budget[0] < 0:
            return
        if all(other in near[one] for one, other in combinations(rest, 2)):
            group = (first, *rest)
            for more in _partitions(near, size, [node for node in others if node not in rest], budget):
                yield [group, *more]


def _counterparts(near: dict[int, set[int]], group: tuple[int, ...], other: tuple[int, ...]) -> list[int] | None:
    """The members of the other group in an order in which each is joined to that of the first group at its place (a matching by
    augmenting paths); None where there is no such order."""
    if group == other:
        return list(group)
    taken: dict[int, int] = {}  # by member of the other group, its place

    def finds(place: int, seen: set[int]) -> bool:
        for node in other:
            if node in near[group[place]] and node not in seen:
                seen.add(node)
                if node not in taken or finds(taken[node], seen):
                    taken[node] = place
                    return True
        return False

    if not all(finds(place, set()) for place in range(len(group))):
        return None
    return sorted(other, key=lambda node: taken[node])
