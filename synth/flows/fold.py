"""All-to-alls through switches, folded: paths and slots of a few endpoints stand for those of all.

A group of automorphisms acts freely on the endpoints, so that a transfer and its images leave and reach different ones. Images of a
link are one class; where they are fewer than the group has elements, each carries several of the images of a transfer.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise, product

import numpy as np
from numpy.typing import NDArray

from certree.models.network.routing import DIRECT
from certree.models.network.topology import Int32, Topology
from certree.synth.flows.block_paths import Paths, folded_paths
from certree.synth.flows.block_slots import Moves
from certree.synth.symmetric.box_symmetry import extended

Int64 = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Fold:
    """`images[g]`: where element g takes each node, the identity first; endpoints are the nodes 0 to `endpoints` - 1."""

    topology: Topology
    images: Int32

    @cached_property
    def kind(self) -> Int32:
        """The class of each joined pair: pairs that are images of each other."""
        return np.unique(self._pair_images.min(axis=0), return_inverse=True)[1].astype(np.int32)

    @cached_property
    def capacity(self) -> Int64:
        """For each class the transfers that it can carry in a round together with all their images."""
        first = np.unique(self.kind, return_index=True)[1]
        wide = self.topology.pair_capacity[first] * np.bincount(self.kind)
        return np.asarray(wide // len(self.images), np.int64)

    @cached_property
    def _pair_images(self) -> Int64:
        """Shape (elements, joined pairs)."""
        topology = self.topology
        ends = (self.images[:, topology.pair_src].ravel(), self.images[:, topology.pair_dst].ravel())
        return topology.pair_index(*ends).reshape(len(self.images), -1)

    def blocks(self, copies: int) -> tuple[Int32, Int32]:
        """(source, target) of `copies` blocks from the first of the images of each endpoint to each other endpoint."""
        ends = self.topology.endpoints
        source, target = (grid.ravel() for grid in np.meshgrid(ends[self.images.min(axis=0)[ends] == ends], ends, indexing="ij"))
        return np.repeat(source[source != target], copies), np.repeat(target[source != target], copies)

    def paths(self, copies: int, seed: int, sweeps: int) -> Paths:
        """Paths of these blocks that load classes evenly. O(sweeps · blocks · links · log nodes) at worst."""
        return folded_paths(self.topology, self.kind, self.capacity, *self.blocks(copies), seed, sweeps)

    def written_out(self, moves: Moves, slots: Int32, copies: int) -> tuple[dict[str, Int32], tuple[tuple[int, ...], ...]]:
        """(columns, routes) of all transfers: those of `moves` and their images. O(transfers · links of a route)."""
        others = len(self.topology.endpoints) - 1
        source, target = (self.images[:, ends[moves.block]] for ends in self.blocks(copies))
        pair = source.astype(np.int64) * others + target - (target > source)
        chunk = (moves.block % copies) * (others + 1) * others + pair
        route, routes = self._routes(moves)
        return {
            "chunk": chunk.ravel().astype(np.int32),
            "step": np.tile(slots, len(self.images)),
            "src": self.images[:, moves.src].ravel(),
            "dst": self.images[:, moves.dst].ravel(),
            "route": route,
        }, routes

    def _routes(self, moves: Moves) -> tuple[Int32, tuple[tuple[int, ...], ...]]:
        """The route of each transfer and image, and the distinct routes."""
        topology = self.topology
        first_link = np.unique(topology.pair_of_link, return_index=True)[1]
        longest = max(map(len, moves.routes), default=1)
        links = np.array([[*route, *[-1] * (longest - len(route))] for route in moves.routes], np.int64).reshape(-1, longest)
        carried = first_link[self._pair_images[:, topology.pair_of_link[links]]]
        every = np.where(links >= 0, carried, -1).reshape(-1, longest)
        distinct, number = np.unique(every, axis=0, return_inverse=True)
        number = np.append(number.reshape(len(self.images), -1), np.full((len(self.images), 1), DIRECT), axis=1)
        return number[:, moves.route].ravel().astype(np.int32), tuple(
            tuple(link for link in row if link >= 0) for row in distinct.tolist()
        )


def fold_of(topology: Topology) -> Fold | None:
    """A fold of the network by a large group that acts freely on its endpoints; None where none is found.

    The search tries shifts of the endpoints as cells of a box with up to three sides, along each side or all but the last, with
    images of switches by their neighbours. The result has been checked: each element takes links to links of the same capacity, and
    every class can carry a transfer in a round. O(divisors² · links + order · links).
    """
    count = len(topology.endpoints)
    if topology.is_direct or count < 2 or (topology.endpoints != np.arange(count)).any():
        return None
    for sides, shifted in sorted(_boxes(count), key=lambda box: -int(np.prod(box[0][: box[1]]))):
        moves = _shifts(topology, sides[:shifted], np.arange(count).reshape(sides))
        if moves is not None:
            fold = Fold(topology, _products(moves, sides[:shifted]))
            if (fold.capacity > 0).all():
                return fold
    return None


def _boxes(count: int) -> Iterator[tuple[tuple[int, int, int], int]]:
    """Yield sides whose product is `count`, and how many are shifted; each group of shifts once where sides are 1."""
    divisors = [size for size in range(1, count + 1) if count % size == 0]
    for near, places in product(divisors, divisors):
        if count % (near * places) == 0 and near * places < count:
            for shifted in (3, 2) if places > 1 else (2,):
                yield (count // (near * places), near, places), shifted


def _shifts(topology: Topology, sides: tuple[int, ...], cells: Int64) -> list[Int32] | None:
    """The shift along each of the first sides; None unless they are automorphisms that make a group with that many elements."""
    moves = []
    for axis in range(len(sides)):
        move = extended(topology, np.roll(cells, -1, axis=axis).ravel())
        if move is None:
            return None
        moves.append(move)
    same = np.arange(len(topology.kind), dtype=np.int32)
    for move, size in zip(moves, sides, strict=True):
        at: Int32 = same
        for _ in range(size):
            at = move[at]
        if (at != same).any():
            return None
    commute = all((one[other] == other[one]).all() for one, other in [*pairwise(moves), (moves[0], moves[-1])])
    return moves if commute else None


def _products(moves: list[Int32], sides: tuple[int, ...]) -> Int32:
    """All products of the shifts, the identity first; shape (elements, nodes)."""
    images = np.arange(len(moves[0]), dtype=np.int32)[None]
    for move, size in zip(moves, sides, strict=True):
        layers = [images]
        for _ in range(size - 1):
            layers.append(move[layers[-1]])
        images = np.concatenate(layers)
    return images
