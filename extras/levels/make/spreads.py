"""Programs of broadcasts and reduces along an order of levels.

The root's shares go to the members of its groups along the levels that have shares. From there each goes to the others along the
levels without shares, and then back along those with shares, the farthest endpoints first. A reduce is the same backwards.
"""

import numpy as np
from numpy.typing import NDArray

from certree.extras.levels.make.level_orders import LevelOrder
from certree.models.schedule.schedule_columns import Op
from certree.synth.fine.fine_routes import Finder
from certree.synth.fine.program import Program, Stages
from certree.synth.method import Request
from certree.synth.ranks.staged import every_place

Int64 = NDArray[np.int64]


def spread_program(request: Request, order: LevelOrder, routes: Finder) -> Program:
    """The transfers of an order: N - 1 for each chunk, on these routes."""
    digits, sizes = every_place(order.sizes), order.sizes
    strides, chunks = np.cumprod((1, *sizes[:-1])), order.pieces * order.chunks_of_a_piece
    root = int(np.flatnonzero(request.members == request.collective.root)[0])
    stages, number = Stages(), np.arange(chunks)
    moves: list[tuple[Int64, Int64, Int64]] = []  # chunk, from and to which place, of each stage
    has = np.zeros((chunks, len(digits)), np.bool_)
    has[:, root] = True
    at, share = np.full(chunks, root), number.copy()
    for level in range(order.scattered):
        to = at + (share % sizes[level] - digits[at, level]) * strides[level]
        share = share // sizes[level]
        moves.append(_new(has, number, at, to))
        at = to
    holds = np.zeros_like(has)
    holds[number, at] = True
    for level in (*range(order.scattered, len(sizes)), *reversed(range(order.scattered))):
        chunk, place = np.nonzero(holds)
        for ahead in range(1, sizes[level]):
            to = place + ((digits[place, level] + ahead) % sizes[level] - digits[place, level]) * strides[level]
            holds[chunk, to] = True
            moves.append(_new(has, chunk, place, to))
    return _program(request, stages, moves, chunks, routes)


def _new(has: NDArray[np.bool_], chunk: Int64, place: Int64, to: Int64) -> tuple[Int64, Int64, Int64]:
    """The moves that bring a chunk to a place that has not got it, which has it then."""
    fresh = ~has[chunk, to]
    has[chunk, to] = True
    return chunk[fresh], place[fresh], to[fresh]


def _program(request: Request, stages: Stages, moves: list[tuple[Int64, Int64, Int64]], chunks: int, routes: Finder) -> Program:
    """The moves in stages, backwards for a reduce; what is sent along one level may leave in any order."""
    nodes, depth = request.members, np.full((chunks, len(request.members)), -1)
    depth[:, np.flatnonzero(nodes == request.collective.root)] = 0
    for chunk, place, to in moves:
        stage = depth[chunk, place]
        depth[chunk, to] = stage + 1
        for one in np.unique(stage).tolist():
            here = stage == one
            if request.collective.reduces:
                stages.add(chunk[here], Op.REDUCE, nodes[to[here]], nodes[place[here]], stage=len(request.members) - one)
            else:
                stages.add(chunk[here], Op.COPY, nodes[place[here]], nodes[to[here]], stage=one)
    roots = np.full(chunks, request.collective.root)
    return stages.program(request.topology, request.collective, roots, routes)
