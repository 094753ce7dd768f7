"""Parts of a network that bound an all-reduce, by local search.

Each chunk needs 2(p − 1) messages between p parts that hold members (`certree.verify.bounds.witnesses.all_reduce.partition`). Where
switches only forward, a switch may be in no part: then each of these messages takes a link that leaves a part and one that enters a
part, and the kind with less capacity counts. With the length 1 for these links and 0 for all others the metric bound is at least as
large. The best parts are as hard to find as multiway cuts. Any parts prove a bound, so those found need not be the best.
"""

from collections.abc import Iterator
from fractions import Fraction
from itertools import islice
from random import Random

import numpy as np
from numpy.typing import NDArray

from certree.models.network.topology import Int32, Topology
from certree.models.schedule.collective import CollectiveKind
from certree.verify.bounds.instance import Instance

MOST_WORK = 1 << 22  # nodes times links
DRAWS, DRAWN_WORK = 32, 1 << 24  # first parts that are drawn; nodes times links of all of them
_PASSES, _JOINING = 2, 0.6  # over the nodes that are drawn, and the share of them that joins a neighbour in each
_NONE = 0  # the part of switches that are in none

Int64 = NDArray[np.int64]


def lengths_of_parts(instance: Instance) -> list[Int64]:
    """Lengths 0 and 1 of the links for the metric bound on an all-reduce: one array for each of a few initial partitions, each
    improved step by step. An empty list for other collectives and for networks of more than MOST_WORK nodes times links.

    In each step the node whose move to the part of a neighbour gains most is moved. Where no move gains, the two parts whose union
    loses least are joined, until one part with members is left. O(nodes · links · log links) time for each. Deterministic.
    """
    topology = instance.topology
    small = len(topology.kind) * len(topology.src) <= MOST_WORK
    if instance.collective.kind is not CollectiveKind.ALL_REDUCE or not small:
        return []
    return [_Parts(instance, first).best() for first in _first_parts(instance)]


def _first_parts(instance: Instance) -> Iterator[Int64]:
    """Yield initial partitions as part numbers by node id: each member alone and the other nodes together; the same with switches
    in no part; the components of links with at least some capacity; and members with randomly drawn nodes around them."""
    topology, own = instance.topology, np.arange(len(instance.topology.kind)) + 1
    alone = np.where(instance.is_member, own, len(own) + 1)
    yield alone
    if not topology.is_direct:
        yield np.where(topology.holds, alone, _NONE)
        for part in islice(parts_by_capacity(topology), 1, None):
            yield np.where(np.isin(part, part[topology.holds]), part + 1, _NONE)
    draws = Random(0)
    for _ in range(min(DRAWS, DRAWN_WORK // (len(own) * len(topology.src)))):
        yield _grown(instance, alone, draws)


def _grown(instance: Instance, alone: Int64, draws: Random) -> Int64:
    """Parts in which most nodes that do not take part have joined the part of a neighbour, in random order."""
    topology, part = instance.topology, alone.tolist()
    others, links = np.flatnonzero(~instance.is_member).tolist(), np.argsort(topology.src, kind="stable")
    heads, first = topology.dst[links].tolist(), np.searchsorted(topology.src[links], np.arange(len(part) + 1)).tolist()
    for _ in range(_PASSES):
        draws.shuffle(others)
        for node in others:
            if draws.random() < _JOINING and first[node] < first[node + 1]:
                part[node] = part[heads[draws.randrange(first[node], first[node + 1])]]
    return np.array(part, np.int64)


def parts_by_capacity(topology: Topology) -> Iterator[Int64]:
    """Yield the parts of the nodes that links of at least some capacity join, each once: for each node the least node of its part.
    Those that all links join come first. O(capacities · links · hops)."""
    seen = set[bytes]()
    for least in np.unique(topology.capacity):
        links = topology.capacity >= least
        part = _joined(np.arange(len(topology.kind)), topology.src[links], topology.dst[links])
        if part.tobytes() not in seen:
            seen.add(part.tobytes())
            yield part


def _joined(number: Int64, tail: Int32, head: Int32) -> Int64:
    """For each node, the least number in its connected component."""
    while True:
        before, number = number, number.copy()
        np.minimum.at(number, head, before[tail])
        np.minimum.at(number, tail, before[head])
        if np.array_equal(number, before):
            return number


class _Parts:
    """The part of each node, which changes move by move."""

    def __init__(self, instance: Instance, part: Int64) -> None:
        topology = instance.topology
        self._part, self._member, self._free = part, instance.is_member, ~topology.holds
        self._tail, self._head, self._capacity = topology.src, topology.dst, topology.capacity.astype(np.int64)
        self._size = len(part) + 2  # numbers of parts are less

    def best(self) -> Int64:
        """Length 1 for each link that counts for the best parts found so far, and 0 for the others."""
        best, value = self._counted()[0], Fraction(0)
        while True:
            while self._change(*self._moves()):
                pass
            if (reached := self._value()) > value:
                best, value = min(self._counted(), key=self._amount), reached
            if not self._change(*self._joins(), losing=True):
                return best.astype(np.int64)

    def _counted(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """The links that leave a part, and those that enter one."""
        tail, head = self._part[self._tail], self._part[self._head]
        return (tail != head) & (tail != _NONE), (tail != head) & (head != _NONE)

    def _amount(self, links: NDArray[np.bool_]) -> int:
        return int(self._capacity[links].sum())

    def _members(self) -> Int64:
        """How many members each part has."""
        return np.bincount(self._part[self._member], minlength=self._size)

    def _value(self) -> Fraction:
        taken = min(map(self._amount, self._counted()))
        return Fraction(int(np.count_nonzero(self._members())) - 1, taken) if taken else Fraction(0)

    def _change(self, nodes: Int64, new: Int64, parts: Int64, taken: Int64, *, losing: bool = False) -> bool:
        """Make the best of some changes; False where there is none, or none that gains. Change i puts node `nodes[i]`, or for
        `losing` the part `nodes[i]`, into the part `new[i]`, which leaves `parts[i]` parts with members and links of the capacity
        `taken[i]`."""
        possible = np.flatnonzero((parts > 1) & (taken > 0))
        if not len(possible):
            return False
        chosen = possible[((parts[possible] - 1) / taken[possible]).argmax()]
        if not losing and Fraction(int(parts[chosen]) - 1, int(taken[chosen])) <= self._value():
            return False
        going = self._part == nodes[chosen] if losing else np.arange(len(self._part)) == nodes[chosen]
        self._part = np.where(going, new[chosen], self._part)
        return True

    def _moves(self) -> tuple[Int64, Int64, Int64, Int64]:
        """Each pair of a node and a part that it has links with, and the result of moving the node to that part."""
        tail, head, nodes, own = self._tail, self._head, np.arange(len(self._part)), self._part
        beside = np.concatenate((own[head], own[tail], own, np.full(len(own), _NONE)))
        pairs, place = np.unique(np.concatenate((tail, head, nodes, nodes)) * self._size + beside, return_inverse=True)
        links, (node, new) = len(tail), np.divmod(pairs, self._size)
        there, back = (  # capacity from the node to the part, and from there to the node
            np.bincount(place[some : some + links], self._capacity, len(pairs)).astype(np.int64) for some in (0, links)
        )
        stays = place[2 * links : 2 * links + len(own)][node]  # the row at which each node is in its own part
        taken = []
        for out, into, before in ((there, back, self._counted()[0]), (back, there, self._counted()[1])):
            whole_out, whole_into, from_none = (
                np.bincount(node, some, len(own)).astype(np.int64)[node] for some in (out, into, np.where(new == _NONE, into, 0))
            )
            counted = np.where(new == _NONE, 0, whole_out - out - into) + whole_into - from_none
            taken.append(self._amount(before) + counted - counted[stays])
        members = self._members()
        emptied = self._member[node] & (members[own[node]] == 1) & (members[new] > 0)
        allowed = (new != _NONE) | self._free[node]
        return node, new, np.where(allowed, np.count_nonzero(members) - emptied, 0), np.minimum(*taken)

    def _joins(self) -> tuple[Int64, Int64, Int64, Int64]:
        """Each pair of parts with links between them, and the result of joining them."""
        tail, head = self._part[self._tail], self._part[self._head]
        between = (tail != head) & (tail != _NONE) & (head != _NONE)
        low, high = np.minimum(tail, head)[between], np.maximum(tail, head)[between]
        pairs, place = np.unique(low * self._size + high, return_inverse=True)
        saved = np.bincount(place, self._capacity[between], len(pairs)).astype(np.int64)
        low, high = np.divmod(pairs, self._size)
        members = self._members()
        parts = np.count_nonzero(members) - ((members[low] > 0) & (members[high] > 0))
        return high, low, parts, min(map(self._amount, self._counted())) - saved
