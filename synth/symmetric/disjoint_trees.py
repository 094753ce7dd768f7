"""Link-disjoint trees from one root, as many as a node has links: broadcasts of tori, hypercubes and full networks.

*Tori.* Count coordinates from the root, and only links that add 1 to one of them. For each of the D dimensions i there is a tree.
It enters node v, of whose coordinates those in S differ from 0, by dimension i if i is not in S or S = {i}, and else by the
dimension of S that comes before i when S is gone through in circles. For each v this maps trees to dimensions one to one, so no
link is in two trees. From v with v_i = 0 tree i goes back to v_i = n - 1; from v with v_i ≠ 0 the entering dimension falls step by
step to 0, so that S loses it, and so on until only v_i is left and falls to 0: the root. So each is a tree. The links that subtract
1 give D more where both differ, in dimensions of 3 or more.

*Full networks.* Tree i sends to node i, which sends to all others.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from certree.models.network.topology import Int32, Topology


@dataclass(frozen=True, eq=False)
class DisjointTrees:
    """`parent`, shape (trees, N): from which node each tree enters each node, -1 at the root; `depth`: hops from the root."""

    parent: Int32
    depth: Int32

    @property
    def most_hops(self) -> int:
        """The number of hops of the farthest node of any tree."""
        return int(self.depth.max())


def disjoint_trees(topology: Topology, box: tuple[int, ...] | None, root: int) -> DisjointTrees | None:
    """The trees from a root of a torus whose node ids are the places of `box`, or of a full network; None for other networks.

    A torus with sides of 2 and larger ones has only one tree per dimension. O(trees · N · dimensions) time and memory.
    """
    count = len(topology.kind)
    if len(topology.pair_capacity) == count * (count - 1):
        return _of_full(count, root)
    if box is None:
        return None
    sizes = [size for size in box if size > 1]
    place = np.stack(np.unravel_index(np.arange(count), sizes))
    shift = np.array(np.unravel_index(root, sizes))
    signs = (1, -1) if min(sizes) > 2 else (1,)
    number = np.empty(count, np.int64)  # the node at each place counted from the root
    number[np.ravel_multi_index(tuple((place.T - shift).T % np.array(sizes)[:, None]), sizes)] = np.arange(count)
    parents, depths = [], []
    for sign in signs:
        towards = number if sign > 0 else number[np.ravel_multi_index(tuple(-place % np.array(sizes)[:, None]), sizes)]
        for dimension in range(len(sizes)):
            parent, depth = _of_torus(place, sizes, dimension)
            moved, deep = np.empty(count, np.int32), np.empty(count, np.int32)
            moved[towards] = np.where(parent < 0, -1, towards[parent])
            deep[towards] = depth
            parents.append(moved)
            depths.append(deep)
    found = DisjointTrees(np.array(parents), np.array(depths))
    tree, node = np.nonzero(found.parent >= 0)
    linked = topology.pair_index(found.parent[tree, node], node) >= 0
    return found if linked.all() else None


def _of_full(count: int, root: int) -> DisjointTrees:
    others = np.delete(np.arange(count), root)
    parent = np.repeat(others[:, None], count, axis=1)
    depth = np.full(parent.shape, 2)
    parent[np.arange(count - 1), others], depth[np.arange(count - 1), others] = root, 1
    parent[:, root], depth[:, root] = -1, 0
    return DisjointTrees(parent.astype(np.int32), depth.astype(np.int32))


def _of_torus(place: NDArray[np.int64], sizes: list[int], dimension: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(parent, depth) of the tree of one dimension by links that add 1, from place 0. `place`: shape (dimensions, N)."""
    order = [(dimension + turn) % len(sizes) for turn in range(len(sizes))]
    entering = np.full(place.shape[1], dimension)
    for later in order[1:]:
        entering[(place[later] > 0) & (place[dimension] > 0)] = later
    before = place.copy()
    columns = np.arange(place.shape[1])
    before[entering, columns] = (before[entering, columns] - 1) % np.array(sizes)[entering]
    parent = np.ravel_multi_index(tuple(before), sizes)
    parent[0] = -1
    total = place.sum(axis=0)
    round_the_end = place[dimension] == 0
    depth = np.where(round_the_end, total + sizes[dimension], total)
    depth[0] = 0
    return parent, depth
