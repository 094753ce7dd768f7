"""Symmetries of a network: groups of automorphisms in which only the identity fixes an endpoint.

They shrink a search: schedules that such a group maps to themselves have one unknown chunk for as many chunks as the group has
elements. A schedule that is found is checked like any other; that none is found proves nothing.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from certree.models.network.topology import Topology

MAX_LOOKS = 20_000  # nodes of the search trees for automorphisms, in all
MAX_STARTS = 6  # groups that are grown
MAX_NODES = 64

#: image of each node id
Permutation = tuple[int, ...]


@dataclass(frozen=True)
class Group:
    """A group of automorphisms, identity first; acts freely on the endpoints."""

    elements: tuple[Permutation, ...]

    @property
    def order(self) -> int:
        """The number of elements."""
        return len(self.elements)


def free_groups(topology: Topology) -> list[Group]:
    """Some groups that act freely on the endpoints, the largest first, without the trivial one; deterministic.

    Not all groups are found: automorphisms are searched with a limited effort, and groups are grown greedily. Empty for networks of
    more than MAX_NODES nodes. O(MAX_LOOKS · nodes) time.
    """
    free = [found for found in automorphisms(topology) if _is_free(found, topology)]
    free.sort(key=lambda one: (-_order(one), one))
    groups: dict[frozenset[Permutation], Group] = {}
    for start in _starts(free):
        elements = _closure([start], len(topology.endpoints), topology)
        for candidate in free:
            if elements is None or len(elements) == len(topology.endpoints):
                break
            if candidate not in elements:
                elements = _closure([*elements, candidate], len(topology.endpoints), topology) or elements
        if elements is not None:
            groups.setdefault(frozenset(elements), Group(tuple(sorted(elements))))
    return sorted(groups.values(), key=lambda group: (-group.order, group.elements))


def automorphisms(topology: Topology, looks: int = MAX_LOOKS) -> list[Permutation]:
    """Some automorphisms of a network; none where it has more than MAX_NODES nodes. O(looks · nodes)."""
    return _Automorphisms(topology).some(looks) if len(topology.kind) <= MAX_NODES else []


def _starts(free: list[Permutation]) -> list[Permutation]:
    """The first few elements of every order."""
    chosen: list[Permutation] = []
    for order in sorted({_order(one) for one in free}):
        chosen += [one for one in free if _order(one) == order][:2]
    return chosen[:MAX_STARTS]


def _is_free(one: Permutation, topology: Topology) -> bool:
    """Whether all endpoints lie on cycles of one length, longer than 1: then no power but the identity fixes one."""
    order = _order(one)
    ends = topology.endpoints.tolist()
    return order > 1 and all(_cycle(one, node) == order for node in ends) and _order_of_all(one) == order


def _cycle(one: Permutation, node: int) -> int:
    length, at = 1, one[node]
    while at != node:
        length, at = length + 1, one[at]
    return length


def _order(one: Permutation) -> int:
    """The length of the longest cycle."""
    return max(_cycle(one, node) for node in range(len(one)))


def _order_of_all(one: Permutation) -> int:
    """The order of the permutation: its smallest power that is the identity."""
    return int(np.lcm.reduce([_cycle(one, node) for node in range(len(one))]))


def _closure(generators: list[Permutation], most: int, topology: Topology) -> list[Permutation] | None:
    """All products, or None when there are more than `most` or one of them fixes an endpoint."""
    identity = tuple(range(len(generators[0])))
    known, fresh = {identity}, [identity]
    ends = topology.endpoints.tolist()
    while fresh:
        products = {tuple(one[other[node]] for node in identity) for one in generators for other in fresh} - known
        if len(known) + len(products) > most:
            return None
        if any(product[node] == node for product in products for node in ends):
            return None
        known |= products
        fresh = sorted(products)
    return sorted(known)


class _Automorphisms:
    """Automorphisms by backtracking: nodes in breadth-first order, images among the neighbours of an image."""

    def __init__(self, topology: Topology) -> None:
        count = len(topology.kind)
        self._count = count
        self._capacity = np.zeros((count, count), np.int64)
        self._capacity[topology.pair_src, topology.pair_dst] = topology.pair_capacity
        self._colour = [
            (
                int(kind),
                bool(reducing),
                tuple(sorted(self._capacity[node].tolist())),
                tuple(sorted(self._capacity[:, node].tolist())),
            )
            for node, (kind, reducing) in enumerate(zip(topology.kind.tolist(), topology.reducing.tolist(), strict=True))
        ]
        self._order = self._breadth_first(int(topology.endpoints[0]))
        self._looks = 0

    def _breadth_first(self, start: int) -> list[int]:
        order, seen = [start], {start}
        for node in order:
            for other in range(self._count):
                if other not in seen and (self._capacity[node, other] or self._capacity[other, node]):
                    seen.add(other)
                    order.append(other)
        return order + [node for node in range(self._count) if node not in seen]

    def some(self, looks: int) -> list[Permutation]:
        """Automorphisms found with a share of the effort for every image of the first node."""
        images = [node for node in range(self._count) if self._colour[node] == self._colour[self._order[0]]]
        found: list[Permutation] = []
        for image in images:
            self._looks = looks // len(images)
            found += self._extend({self._order[0]: image})
        return found

    def _extend(self, image: dict[int, int]) -> Iterator[Permutation]:
        if len(image) == self._count:
            yield tuple(image[node] for node in range(self._count))
            return
        node = self._order[len(image)]
        used = set(image.values())
        for candidate in range(self._count):
            if candidate in used or self._colour[candidate] != self._colour[node]:
                continue
            if self._looks <= 0:
                return
            self._looks -= 1
            if all(
                self._capacity[node, other] == self._capacity[candidate, target]
                and self._capacity[other, node] == self._capacity[target, candidate]
                for other, target in image.items()
            ):
                image[node] = candidate
                yield from self._extend(image)
                del image[node]
