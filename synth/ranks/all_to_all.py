"""All-to-all transfers of blocks, one dimension of a grid after the other."""

from collections.abc import Sequence
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from certree.models.network.topology import Int32, Topology
from certree.models.schedule.schedule_columns import Op
from certree.synth.ranks.embedding import Rows
from certree.synth.ranks.layout import Layout
from certree.synth.ranks.staged import every_place


class Movement(Enum):
    """Movement of blocks along one dimension."""

    TOGETHER = "together"  # all at once, each straight to its place ("direct" in ACE, Section 5)
    BY_DISTANCE = "by distance"  # those d places from theirs in step d - 1 (switch-fc, Fig. 5; "ring-based" in ACE, Section 5)
    RELAYED = "relayed"  # the same, hop by hop in the shorter direction of the ring of the dimension, one hop per step


def ring_movement(topology: Topology, size: int, joined: bool) -> Movement:
    """BY_DISTANCE, or RELAYED where only the endpoints of a ring could pass blocks on and the network does not let them forward."""
    return Movement.RELAYED if joined and not topology.is_direct and size > 3 else Movement.BY_DISTANCE


def ordered_pairs(nodes: Int32) -> tuple[Int32, Int32]:
    """(root, target) of every chunk of an all-to-all with one chunk for each ordered pair of different endpoints, by root, then
    target, in the order of `nodes`."""
    root, target = (side.ravel() for side in np.meshgrid(nodes, nodes, indexing="ij"))
    return root[root != target], target[root != target]


def move_blocks(layout: Layout, order: Sequence[int], movements: Sequence[Movement], rows: Rows) -> tuple[Int32, Int32]:
    """Add to `rows` an all-to-all that corrects the digits of every block in turn; returns (root, target) of every chunk.

    In the stage of dimension i a block goes to the place whose i-th digit is its target's. `order`: of the stages;
    `movements`: that of each dimension. O(N^2 · dimensions) rows, more by the mean number of hops where blocks are relayed.
    """
    digits, strides = every_place(layout.sizes), np.cumprod((1, *layout.sizes[:-1]))
    root, target = (side.ravel() for side in np.meshgrid(*[np.arange(len(digits))] * 2, indexing="ij"))
    different = root != target
    root, target = root[different], target[different]
    at, start = root.copy(), 0
    for dimension in order:
        size, movement, stride = layout.sizes[dimension], movements[dimension], strides[dimension]
        here, there = digits[at, dimension], digits[target, dimension]
        base = at - here * stride
        onward = (there - here) % size
        hops, jump = np.minimum(onward, 1), onward
        if movement is Movement.RELAYED:
            hops, jump = np.minimum(onward, size - onward), np.where(onward > size // 2, -1, 1)
        leaves = start + _first_step(movement, hops if movement is Movement.RELAYED else onward)
        for hop in range(int(hops.max())):
            chunk = np.flatnonzero(hops > hop)
            src, dst = (base[chunk] + (here + n * jump)[chunk] % size * stride for n in (hop, hop + 1))
            rows.add(chunk, Op.COPY, leaves[chunk] + hop, layout.nodes[src], layout.nodes[dst])
        at = base + there * stride
        start += _steps(movement, size)
    return layout.nodes[root], layout.nodes[target]


def _first_step(movement: Movement, distance: NDArray[np.int64]) -> NDArray[np.int64]:
    """The first step of a block with that distance to go."""
    if movement is Movement.TOGETHER:
        return np.zeros_like(distance)
    return distance - 1 if movement is Movement.BY_DISTANCE else distance * (distance - 1) // 2


def _steps(movement: Movement, size: int) -> int:
    """The number of steps of a stage along a dimension of that size."""
    if movement is Movement.TOGETHER:
        return 1
    farthest = size // 2
    return size - 1 if movement is Movement.BY_DISTANCE else farthest * (farthest + 1) // 2
