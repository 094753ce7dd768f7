"""Hierarchical algorithms on grids of ranks, one stage after the other along the dimensions.

A grid of sizes n0 x n1 x ... numbers its places in mixed radix, the first dimension fastest. A chunk knows, for every dimension,
which share of that dimension it is. A *scatter* stage along dimension i sums every chunk up on the members whose i-th digit is
the chunk's share; a *gather* stage spreads it again; an *exchange* leaves the sum at all members. After a scatter, later
stages see only the members that still hold the chunk, which is why no contribution is ever counted twice.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from math import lcm, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.models.common.columns import match
from certree.models.network.topology import Int32
from certree.models.schedule.collective import Collective
from certree.models.schedule.schedule import Schedule
from certree.synth.method import Request
from certree.synth.ranks.embedding import Rows, embed
from certree.synth.ranks.group_plans import GroupPlan
from certree.synth.ranks.layout import Layout


class Kind(Enum):
    """The effect of a stage on the members that hold a chunk, along its dimension."""

    SCATTER = "scatter"  # from all members to the one whose digit is the chunk's share
    GATHER = "gather"  # from that one to all
    EXCHANGE = "exchange"  # from all to all


@dataclass(frozen=True)
class Stage:
    """`plan` in every group of members that differ in `dimension` only."""

    dimension: int
    plan: GroupPlan
    kind: Kind


def scatter(dimension: int, plan: GroupPlan) -> Stage:
    """A reduce-scatter stage."""
    return Stage(dimension, plan, Kind.SCATTER)


def gather(dimension: int, plan: GroupPlan) -> Stage:
    """The all-gather stage that undoes the reduce-scatter plan `plan`."""
    return Stage(dimension, plan.reversed(), Kind.GATHER)


def there_and_back(collective: Collective, plans: Sequence[tuple[int, GroupPlan]]) -> list[Stage]:
    """The stages of an all-reduce, reduce-scatter or all-gather from reduce-scatter plans along dimensions, in their order."""
    down = [scatter(dimension, plan) for dimension, plan in plans] if collective.reduces else []
    return down + ([gather(dimension, plan) for dimension, plan in reversed(plans)] if collective.gathers else [])


def scatter_and_gather(
    request: Request, layout: Layout, plans: Sequence[tuple[int, GroupPlan]], *, method: str, options: Mapping[str, Any]
) -> Schedule:
    """The requested collective as reduce-scatter stages along all dimensions and the all-gather stages that undo them.

    One chunk for each endpoint, rooted there. With the option `bidirectional` two, the second one mirrored in every dimension. The
    option `rounds` as in `certree.synth.ranks.embedding`. O(N^2) rows.
    """
    rows, shares = Rows(), every_place(layout.sizes)
    directions = [plans]
    if options.get("bidirectional"):
        directions.append([(dimension, plan.mirrored()) for dimension, plan in plans])
    for number, direction in enumerate(directions):
        stages = there_and_back(request.collective, direction)
        run_stages(layout.sizes, layout.nodes, shares, stages, rows, first_chunk=number * len(shares))
    roots = np.tile(layout.nodes, len(directions))
    return embed(request, roots, rows.columns, method=method, options=options)


def every_place(sizes: Sequence[int]) -> NDArray[np.int64]:
    """Digits of every place of the grid, shape (places, dimensions); a grid of no dimensions has one place."""
    strides = np.cumprod([1, *sizes[:-1]])[: len(sizes)]
    return np.arange(prod(sizes))[:, None] // strides % np.array(sizes, np.int64)


def even_shares(sizes: Sequence[int], owned: int) -> NDArray[np.int64]:
    """Shares of the fewest equal chunks for an algorithm that first scatters over the first `owned` dimensions, and then
    all-reduces what each member has left along each other dimension; shape (chunks, dimensions).

    What belongs to one place of the owned dimensions is cut so often that the size of every other dimension divides the cuts.
    """
    others = np.array(sizes[owned:], np.int64)
    pieces = lcm(*sizes[owned:])
    places = every_place(sizes[:owned])
    piece = np.arange(pieces)[:, None] % others
    return np.hstack([np.repeat(places, pieces, axis=0), np.tile(piece, (len(places), 1))])


def run_stages(
    sizes: Sequence[int],
    nodes: Int32,
    shares: NDArray[np.int64],
    stages: Sequence[Stage],
    rows: Rows,
    *,
    first_chunk: int = 0,
    first_step: int = 0,
) -> int:
    """Add to `rows` the transfers of all stages in turn; returns the step after the last. All members hold a chunk at first, unless
    the first stage of its dimension is a gather.

    `nodes`: the node at every place of the grid; `shares`: of every chunk in every dimension; chunks are numbered from
    `first_chunk` on, steps from `first_step`. O(rows) time and memory; a stage has fewer rows than chunks x places.
    """
    strides = np.cumprod((1, *sizes[:-1]))
    fixed = _fixed_at_start(len(sizes), stages)
    start = first_step
    for stage in stages:
        i, plan = stage.dimension, stage.plan
        kept = [j for j in range(len(sizes)) if j != i and fixed[j]]
        free = [j for j in range(len(sizes)) if j != i and not fixed[j]]
        row, chunk = rows_of_chunks(plan, shares[:, i])
        where = (shares[:, kept] @ strides[kept])[chunk][:, None] + every_place([sizes[j] for j in free]) @ strides[free]
        row = row[:, None]
        rows.add(
            chunk[:, None] + first_chunk,
            plan.op[row],
            plan.step[row] + start,
            nodes[where + plan.src[row] * strides[i]],
            nodes[where + plan.dst[row] * strides[i]],
        )
        start += plan.steps
        fixed[i] = stage.kind is Kind.SCATTER
    return start


def _fixed_at_start(dimensions: int, stages: Sequence[Stage]) -> list[bool]:
    """For each dimension, whether a chunk starts at one digit of it only: where the first stage is a gather."""
    first = {stage.dimension: stage.kind for stage in reversed(stages)}
    return [first.get(dimension) is Kind.GATHER for dimension in range(dimensions)]


def rows_of_chunks(plan: GroupPlan, share: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(plan row, chunk) of every pair that belongs together; every chunk is share 0 of a plan of one share."""
    mine = share if plan.shares > 1 else np.zeros_like(share)
    return match(plan.share.astype(np.int64), mine)
