"""Blocks on their way from every endpoint to every other, one dimension of a grid after the other."""

from collections.abc import Sequence

import numpy as np

from certree.models.schedule import Op
from certree.models.topology import Int32
from certree.synth.embedding import Rows
from certree.synth.layout import Layout
from certree.synth.staged import every_place


def ordered_pairs(nodes: Int32) -> tuple[Int32, Int32]:
    """(root, target) of every chunk of an all-to-all with one chunk for each ordered pair of different endpoints, by root, then
    target, in the order of `nodes`."""
    root, target = (side.ravel() for side in np.meshgrid(nodes, nodes, indexing="ij"))
    return root[root != target], target[root != target]


def move_blocks(layout: Layout, order: Sequence[int], by_distance: Sequence[bool], rows: Rows) -> tuple[Int32, Int32]:
    """Add to `rows` an all-to-all that corrects the digits of every block in turn; returns (root, target) of every chunk.

    In the stage of dimension i a block goes to the place whose i-th digit is its target's. `order`: of the stages; `by_distance`
    (by dimension): all blocks that have d places to go, counted upwards in the ring of the dimension, go in step d - 1
    (switch-fc, Section II-B and Fig. 5; "ring-based" in ACE, Section 5), or all in one step ("direct"). O(N^2 · dimensions) rows.
    """
    digits, strides = every_place(layout.sizes), np.cumprod((1, *layout.sizes[:-1]))
    root, target = (side.ravel() for side in np.meshgrid(*[np.arange(len(digits))] * 2, indexing="ij"))
    different = root != target
    root, target = root[different], target[different]
    at, start = root.copy(), 0
    for dimension in order:
        size = layout.sizes[dimension]
        onward = digits[target, dimension] - digits[at, dimension]
        chunk = np.flatnonzero(onward)
        after = at[chunk] + onward[chunk] * strides[dimension]
        step = onward[chunk] % size - 1 if by_distance[dimension] else np.zeros(len(chunk), np.int64)
        rows.add(chunk, Op.COPY, start + step, layout.nodes[at[chunk]], layout.nodes[after])
        at[chunk] = after
        start += size - 1 if by_distance[dimension] else 1
    return layout.nodes[root], layout.nodes[target]
