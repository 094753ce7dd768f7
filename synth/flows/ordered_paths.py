"""Paths on grids along one dimension after the other, whose routes are free of deadlock."""

import numpy as np
from numpy.typing import NDArray

from certree.models.network.topology import Int32, Topology
from certree.synth.flows.block_paths import Paths

Int64 = NDArray[np.int64]


def ordered_paths(topology: Topology, source: Int32, target: Int32) -> Paths | None:
    """Shortest paths along the dimensions in turn; None on networks that are not grids, and where a link of a path is missing.

    Where both directions of a ring are equally long, the other coordinates of the route decide, evenly. O(blocks · hops).
    """
    at, sizes = topology.coordinates, _sizes(topology)
    if at is None or sizes is None:
        return None
    place = np.full(sizes, -1, np.int64)
    place[tuple(at.T)] = np.arange(len(at))
    here, there = at[source].astype(np.int64), at[target].astype(np.int64)
    offset = there - here
    block: list[Int64] = []
    tails: list[Int64] = []
    heads: list[Int64] = []
    for axis, size in enumerate(sizes):
        ahead = offset[:, axis] % size
        step = np.sign(offset[:, axis])
        if _is_ring(topology, place, axis):
            odd = ((offset % sizes).sum(axis=1) - ahead) % 2 == 1
            step = np.where((2 * ahead > size) | ((2 * ahead == size) & odd), -1, 1)
        hops = np.where(step < 0, (here[:, axis] - there[:, axis]) % size, ahead)
        for _ in range(int(hops.max(initial=0))):
            moving = np.flatnonzero(here[:, axis] != there[:, axis])
            tails.append(place[tuple(here[moving].T)])
            here[moving, axis] = (here[moving, axis] + step[moving]) % size
            heads.append(place[tuple(here[moving].T)])
            block.append(moving)
    pair = topology.pair_index(np.concatenate(tails), np.concatenate(heads))
    if (pair < 0).any():
        return None
    of = np.concatenate(block)
    order = np.argsort(of, kind="stable")
    bounds = np.concatenate(([0], np.cumsum(np.bincount(of, minlength=len(source)))))
    load = -(-np.bincount(pair, minlength=len(topology.pair_capacity)) // topology.pair_capacity)
    return Paths(bounds.astype(np.int32), pair[order].astype(np.int32), int(load.max()))


def _sizes(topology: Topology) -> tuple[int, ...] | None:
    """The sides of the grid; None where there is none, or a place of it without a node."""
    at = topology.coordinates
    if at is None or not topology.is_direct or not at.shape[1] or (at < 0).any() or len(at) != len(topology.endpoints):
        return None
    sizes = tuple(int(side) + 1 for side in at.max(axis=0))
    return sizes if len(np.unique(at, axis=0)) == len(at) == int(np.prod(sizes)) else None


def _is_ring(topology: Topology, place: Int64, axis: int) -> bool:
    """Whether the last node of a dimension is joined with the first, and the two are not neighbours already."""
    size = place.shape[axis]
    first, last = np.take(place, 0, axis=axis).ravel(), np.take(place, size - 1, axis=axis).ravel()
    return size > 2 and bool((topology.pair_index(last, first) >= 0).all())
