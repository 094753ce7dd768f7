"""How far the data of a broadcast or a reduce must travel: from the root to all members, or from all members to the root.

`verify.bounds.witnesses.metric` counts both with the smaller of the two directions between nodes, so that it holds for either; the
links that only lead away from a root then count for nothing. Here directions count.

A *cut* is a set of nodes with a member and without the root. In a broadcast each granule enters each cut over a link of the network
once at least, whatever forwards, multicasts or stores it. So if every cut S has a number y(S) ≥ 0, and the numbers of all cuts that
a link enters add up to its length or less, then all links that a granule passes are together as long as the sum of y, or longer.
In a reduce each granule of the sum of a cut leaves it; that is the same with all links reversed.

The numbers are found by raising those of smallest cuts until a link that enters is used up (R. Wong, 1984), which is the exact
least length of a tree where every node is a member (J. Edmonds, 1967).
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from certree.models.common.budget import spend
from certree.models.network.topology import Topology
from certree.verify.bounds.witness import WitnessError

Int64 = NDArray[np.int64]
MOST_NODES = 128  # of a network whose directions count


def rooted_length(topology: Topology, length: Int64, root: int, members: Sequence[int], *, inward: bool) -> int:
    """The sum of numbers of cuts between the root and the members, of links of these lengths; `inward`: in a reduce.

    WitnessError where a member is out of reach. O(rounds · (members · nodes + links)), of rounds as many as links at most.
    """
    source, target = (topology.dst, topology.src) if inward else (topology.src, topology.dst)
    left, summed = length.copy(), 0
    before = [0] * len(topology.kind)  # by node: a bit for each from which a link leads to it that is used up
    for tail, head in zip(source[left == 0].tolist(), target[left == 0].tolist(), strict=True):
        before[head] |= 1 << tail
    while True:
        cuts = _smallest_cuts(before, root, members)
        spend(len(members) * len(before) + len(length), f"cuts of {len(before):,} nodes")
        if not cuts:
            return summed
        of_node = np.full(len(before), -1, np.int64)
        for number, cut in enumerate(cuts):
            of_node[_nodes(cut)] = number
        entered = of_node[target]
        entering = np.flatnonzero((entered >= 0) & (of_node[source] != entered))
        least = np.full(len(cuts), np.iinfo(np.int64).max)
        np.minimum.at(least, entered[entering], left[entering])
        if not np.isin(np.arange(len(cuts)), entered[entering]).all():
            raise WitnessError("joint-bound", f"a member cannot reach node {root}, or is out of its reach")
        left[entering] -= least[entered[entering]]
        summed += int(least.sum())
        used_up = entering[left[entering] == 0]
        for tail, head in zip(source[used_up].tolist(), target[used_up].tolist(), strict=True):
            before[head] |= 1 << tail


def _smallest_cuts(before: Sequence[int], root: int, members: Sequence[int]) -> list[int]:
    """Disjoint cuts that no link enters that is used up, smallest first, as bits of nodes. Each is all that leads to one member."""
    found: list[int] = []
    for cut in sorted({_leading_to(before, member) for member in members}, key=lambda one: (one.bit_count(), one)):
        if not cut >> root & 1 and not any(cut & other for other in found):
            found.append(cut)
    return found


def _leading_to(before: Sequence[int], node: int) -> int:
    seen = fresh = 1 << node
    while fresh:
        lowest = fresh & -fresh
        more = before[lowest.bit_length() - 1] & ~seen
        seen |= more
        fresh ^= lowest | more
    return seen


def _nodes(bits: int) -> list[int]:
    found = []
    while bits:
        lowest = bits & -bits
        found.append(lowest.bit_length() - 1)
        bits ^= lowest
    return found
