"""Transfers of blocks along their paths, and the slots in which links carry them."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from certree.models.network.routing import DIRECT
from certree.models.network.topology import Int32, NodeKind, Topology
from certree.synth import _native
from certree.synth.flows.block_paths import Paths

COMPACTION = 64  # units of work that compaction may spend per transfer


@dataclass(frozen=True, eq=False)
class Moves:
    """Transfers from endpoint to endpoint, block by block along its path: `block`, `src`, `dst`, `route` (as in a `Schedule`).

    Transfer i occupies the joined pairs `pair[offset[i] : offset[i + 1]]`; `is_last`: whether it brings the block to its target.
    """

    block: Int32
    src: Int32
    dst: Int32
    route: Int32
    routes: tuple[tuple[int, ...], ...]
    offset: Int32
    pair: Int32
    is_last: NDArray[np.bool_]


def moves_of(topology: Topology, paths: Paths, stops: NDArray[np.bool_] | None = None) -> Moves:
    """The transfers of paths, which are cut at the nodes that are `stops`, by default at endpoints; between these a route passes
    others. O(hops)."""
    tail, head = topology.pair_src[paths.pair], topology.pair_dst[paths.pair]
    cut = topology.kind == NodeKind.ENDPOINT if stops is None else stops
    start = np.union1d(np.flatnonzero(cut[tail]), paths.offset[:-1])
    offset = np.append(start, len(paths.pair)).astype(np.int32)
    block_of_hop = np.repeat(np.arange(len(paths.offset) - 1), np.diff(paths.offset))
    block = block_of_hop[start]
    routes: dict[tuple[int, ...], int] = {}
    route = np.full(len(start), DIRECT, np.int32)
    first_link = np.unique(topology.pair_of_link, return_index=True)[1]
    for row in np.flatnonzero(np.diff(offset) > 1).tolist():
        links = tuple(first_link[paths.pair[offset[row] : offset[row + 1]]].tolist())
        route[row] = routes.setdefault(links, len(routes))
    return Moves(
        block=block.astype(np.int32),
        src=tail[start].astype(np.int32),
        dst=head[offset[1:] - 1].astype(np.int32),
        route=route,
        routes=tuple(routes),
        offset=offset,
        pair=paths.pair,
        is_last=np.append(block[1:] != block[:-1], True),
    )


def slots_of(moves: Moves, kind: Int32, capacity: NDArray[np.int64], delay: int, period: int, seed: int) -> Int32 | None:
    """The slot of each transfer, with few slots in all; None where the period is too short. `kind`: class of each joined pair,
    `capacity`: of each class. `period` 0: nothing repeats.

    A block moves on `delay` slots after it arrived; the block with the longest path left goes first. O(slots · links + transfers).
    """
    onward = np.flatnonzero(~moves.is_last)
    routes = kind[moves.pair]
    uses = np.bincount(routes, minlength=len(capacity))
    slots, _ = _native.schedule_jobs(
        link_offset=moves.offset,
        link=np.ascontiguousarray(routes, np.int32),
        reducer=np.full(len(moves.block), -1, np.int32),
        group=moves.block,
        successor_offset=np.concatenate(([0], np.cumsum(~moves.is_last))).astype(np.int32),
        successor=(onward + 1).astype(np.int32),
        capacity=np.minimum(capacity, np.maximum(uses, 1)),
        reducers=1,
        delay=delay,
        period=period,
        reductions=0,
        tries=2,
        work=COMPACTION * len(moves.block),
        stagger=0,
        seed=seed,
        turn=np.zeros(0, np.int32),
    )
    return slots if len(slots) else None
