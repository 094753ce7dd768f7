"""2D-ring: ring all-reduces along the dimensions of a grid, one after the other.

Source: Ying et al., "Image Classification at Supercomputer Scale" (2018), as the MultiTree paper takes it for its baseline
(Sections I, II-C and VI-A): two ring all-reduces of everything, so that on an N x N torus a node sends 2N(N - 1) shares of 1/N^2
per phase where a flat ring sends N^2 - 1, over all links of a node at once; on a mesh the ring of a dimension closes over its whole
length. The nested form, in which the ring of the second dimension only works on what the first has left to a node, is the
hierarchical ring.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from certree.models.common.errors import UnsupportedError
from certree.models.network.topology import Int32, Topology
from certree.models.schedule.collective import SYMMETRIC_KINDS, CollectiveKind
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import Op
from certree.synth.method import Options, Request, Variant, choice, method
from certree.synth.ranks.embedding import ROUNDS, Rows, embed


@method(
    "ring-2d",
    SYMMETRIC_KINDS,
    options={"form": choice("sequential", "nested"), **ROUNDS},
    order=15,
    variants=[Variant({"form": "nested"})],
)
def ring_2d(request: Request, options: Options) -> Schedule:
    """Rings along the dimensions of a grid in turn; parts of the message start with different dimensions and directions.

    Needs an undamaged direct grid (coordinates) of two dimensions or more. Each dimension comes first for two parts of the message,
    one in each direction, so that on a square torus every link is busy in every step. form=sequential: an all-reduce of everything
    per dimension; the published baseline, 2 (sum of (n_d - 1)) steps. form=nested: reduce-scatter along each dimension, each on
    what is left, then all-gather back; bandwidth-optimal on square tori, and the only form of reduce-scatter and all-gather.
    Sequential: 2·D·lcm(n_1, ..., n_D) chunks; nested: 2·D·N. Option: rounds=serialized|published.
    """
    if "form" not in request.options and request.collective.kind is not CollectiveKind.ALL_REDUCE:
        options["form"] = "nested"
    if options["form"] == "sequential" and request.collective.kind is not CollectiveKind.ALL_REDUCE:
        raise UnsupportedError(
            f"ring-2d makes {request.collective.kind} with form=nested only: one after the other are all-reduces"
        )
    grid = _grid(request.topology)
    make = _nested if options["form"] == "nested" else _sequential
    rows, root = make(request, grid)
    return embed(request, root, rows.columns, method="ring-2d", options=options)


def _grid(topology: Topology) -> Int32:
    """The node at each coordinate, dimensions of one node left out; UnsupportedError unless the network is a whole grid."""
    at = topology.coordinates
    reason = f"ring-2d needs an undamaged direct grid of two dimensions or more; {topology.name} is not one"
    if at is None or not topology.is_direct or at.shape[1] < 1 or len(topology.endpoints) != len(topology.kind) or (at < 0).any():
        raise UnsupportedError(reason)
    sizes = at.max(axis=0) + 1
    if int(np.prod(sizes.astype(object))) != len(at) or len(np.unique(at, axis=0)) != len(at):
        raise UnsupportedError(reason)
    grid = np.empty(tuple(sizes), np.int32)
    grid[tuple(at.T)] = np.arange(len(at))
    if grid.squeeze().ndim < 2 or not all(_joined(topology, grid, dimension) for dimension in range(grid.ndim)):
        raise UnsupportedError(reason)
    return grid.squeeze()


def _joined(topology: Topology, grid: Int32, dimension: int) -> bool:
    """Whether all neighbours in that dimension have links in both directions."""
    lines = np.moveaxis(grid, dimension, 0)
    here, there = lines[:-1].ravel(), lines[1:].ravel()
    return bool((topology.pair_index(here, there) >= 0).all() and (topology.pair_index(there, here) >= 0).all())


@dataclass(frozen=True)
class _Part:
    """One part of the message: its order of the dimensions, and its direction in their rings."""

    number: int
    dimensions: tuple[int, ...]
    direction: int


def _parts(grid: Int32) -> Iterator[_Part]:
    """Yield the parts of the message: every dimension comes first once in each direction."""
    for first in range(grid.ndim):
        for index, direction in enumerate((1, -1)):
            yield _Part(2 * first + index, tuple(np.roll(np.arange(grid.ndim), -first).tolist()), direction)


def _sequential(request: Request, grid: Int32) -> tuple[Rows, NDArray[np.int32]]:
    """All-reduces of everything, one per dimension; each cuts a part of lcm chunks into as many blocks as its rings have nodes."""
    rows = Rows()
    chunks = int(np.lcm.reduce(grid.shape))
    for part in _parts(grid):
        start = 0
        for dimension in part.dimensions:
            size = grid.shape[dimension]
            # src[i]: the nodes at place i of their rings, all rings of the dimension side by side
            nodes = np.moveaxis(grid, dimension, 0).reshape(size, -1)
            block = part.number * chunks + np.arange(chunks).reshape(size, -1)
            place = np.arange(size)
            for op in (Op.REDUCE, Op.COPY):
                for hop in range(size - 1):
                    # block b of a ring starts its sum at place b + 1 and its copies at place b, in the direction of the part
                    at = (place + part.direction * (hop + (op == Op.REDUCE))) % size
                    there = (at + part.direction) % size
                    rows.add(block[:, :, None], op, start, nodes[at][:, None, :], nodes[there][:, None, :])
                    start += 1
    return rows, np.zeros(2 * grid.ndim * chunks, np.int32)


def _nested(request: Request, grid: Int32) -> tuple[Rows, NDArray[np.int32]]:
    """Reduce-scatters on ever smaller shares, all-gathers back; chunk k of a part has its root at the k-th node of the grid."""
    rows, collective = Rows(), request.collective
    for part in _parts(grid):
        plan = [(Op.REDUCE, depth) for depth in range(grid.ndim)] if collective.reduces else []
        plan += [(Op.COPY, depth) for depth in reversed(range(grid.ndim))] if collective.gathers else []
        start = 0
        for op, depth in plan:
            for hop in range(grid.shape[part.dimensions[depth]] - 1):
                behind = hop + (op == Op.REDUCE)
                chunk = part.number * grid.size + np.arange(grid.size)[:, None]
                rows.add(chunk, op, start, _at(grid, part, depth, behind), _at(grid, part, depth, behind + 1))
                start += 1
    return rows, np.tile(grid.ravel(), 2 * grid.ndim).astype(np.int32)


def _at(grid: Int32, part: _Part, depth: int, away: int) -> Int32:
    """The places of the chunks of a part in ring phase `depth`, `away` places round the ring from their roots.

    Shape (chunks, rings): a chunk is at the place of its root in earlier dimensions, and in rings at all places of later ones.
    """
    place = list(np.indices(grid.shape).reshape(grid.ndim, grid.size, 1))
    later = part.dimensions[depth + 1 :]
    sizes = [grid.shape[dimension] for dimension in later]
    everywhere = np.indices(sizes).reshape(len(sizes), 1, math.prod(sizes))
    for dimension, places in zip(later, everywhere, strict=True):
        place[dimension] = places
    turned = part.dimensions[depth]
    place[turned] = (place[turned] + part.direction * away) % grid.shape[turned]
    return np.asarray(grid[tuple(place)])
