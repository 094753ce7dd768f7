"""Sums along the dimensions of a grid of ranks, where every member of a group sends directly to all others.

Along a dimension a chunk is *scattered*, summed up at the member of each group whose digit is the chunk's share, or *exchanged*:
every member sends what it has to all others, and all have the sum. What was scattered is gathered again at the end, the last
dimension first unless a piece says otherwise. A single dimension of all ranks that is exchanged makes the one-shot all-reduce; one
that is scattered makes the two-shot all-reduce.

On rings of links sums can be passed on by neighbours, and an exchange can begin with swaps among neighbours: then every node needs
one sum from each other group of neighbours, from its nearest member.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import lcm, prod

import numpy as np
from numpy.typing import NDArray

from certree.models.network.topology import Int32
from certree.models.schedule.schedule_columns import Op
from certree.synth.fine.program import Stages
from certree.synth.ranks.staged import every_place

Int64 = NDArray[np.int64]
ORIGINAL = 1  # the scratch buffer for the data of a member before an exchange


@dataclass(frozen=True)
class Piece:
    """Part of a message: its dimensions in their order, the first `scattered` of which are scattered, the others exchanged.

    `run`: scattered data go round the ring of a dimension in both directions, along runs of that many neighbours, which add to the
    sum on its route; the last of a run sends directly to the end. 0: all nodes send directly, on any network. `passed`: exchanged
    sums are passed on in this way, too, along one run. `swaps`: an exchange begins with N swaps of sums, the first with one
    neighbour and the second with the other; then each node has the sum of 2 or of 4 nodes, where these numbers divide the ring.
    `mirrored`: on an even ring, the opposite node sends back instead of ahead, and pairs begin one place further. `gathered`: the
    scattered dimensions in the sequence in which they are gathered, the last of which carries most; () in reverse.
    """

    order: tuple[int, ...]
    scattered: int
    run: int = 0
    passed: bool = False
    mirrored: bool = False
    swaps: int = 0
    gathered: tuple[int, ...] = ()

    def reach(self, size: int) -> tuple[tuple[int, int], tuple[int, int]]:
        """The (step, hops) of both directions round a ring."""
        ahead = -1 if self.mirrored else 1
        return (ahead, size // 2), (-ahead, (size - 1) // 2)

    def next_to(self, hops: int) -> int:
        """The hops from the next node of a run to the end of the route, for a node `hops` hops from the end."""
        return hops - 1 if (hops - 1) % self.run else 0

    def stops(self, hops: int) -> int:
        """The number of consecutive messages on a route from `hops` hops away."""
        return (hops - 1) % self.run + 1

    def swaps_on(self, size: int) -> int:
        """The number of swaps on a ring of that size."""
        return next((swaps for swaps in range(self.swaps, 0, -1) if size % (2 * swaps) == 0 and size > 2 * swaps), 0)


@dataclass(frozen=True, eq=False)
class Levels:
    """A grid of `sizes` over `nodes`, the first dimension fastest, and pieces of a message of equally many chunks.

    `sums`, `spreads`: whether chunks are summed up at first, and whether all get them in the end. `turns`: whether all dimensions
    are rings of the network, so that all nodes do the same up to rotation.
    """

    sizes: tuple[int, ...]
    nodes: Int32
    pieces: Sequence[Piece]
    sums: bool = True
    spreads: bool = True
    turns: bool = False

    @property
    def chunks_of_a_piece(self) -> int:
        """The fewest chunks of a piece that can be divided into equal shares."""
        return lcm(*[prod(self.sizes[dimension] for dimension in piece.order[: piece.scattered]) for piece in self.pieces])

    def rows(self) -> tuple[Stages, Int32]:
        """All transfers, and the endpoint at which each chunk is summed up, where all dimensions are scattered."""
        stages, count, roots = Stages(self._kinds if self.turns else None), self.chunks_of_a_piece, []
        for number, piece in enumerate(self.pieces):
            share, stages.part = self._shares(piece, count), number
            self._add(stages, piece, np.arange(count) + number * count, share)
            roots.append(self.nodes[share @ np.cumprod((1, *self.sizes[:-1]))])
        return stages, np.concatenate(roots)

    @cached_property
    def _places(self) -> Int64:
        return every_place(self.sizes)

    def _shares(self, piece: Piece, count: int) -> Int64:
        """The digits of the share of each chunk; 0 where its dimension is not scattered."""
        share = np.zeros((count, len(self.sizes)), np.int64)
        number = np.arange(count)
        for dimension in piece.order[: piece.scattered]:
            share[:, dimension] = number % self.sizes[dimension]
            number //= self.sizes[dimension]
        return share

    def _kinds(self, chunk: Int64, src: Int64) -> Int64:
        """A number for the position of a chunk's sender relative to its share and in its groups; equal where dimensions turn."""
        count, sizes, place = self.chunks_of_a_piece, np.array(self.sizes), np.empty(int(self.nodes.max()) + 1, np.int64)
        place[self.nodes] = np.arange(len(self.nodes))
        digits = self._places[place[src]]
        piece = self.pieces[int(np.max(chunk, initial=0)) // count]  # chunks that are added together belong to one piece
        scattered = np.isin(np.arange(len(sizes)), piece.order[: piece.scattered])
        turned = np.where(scattered, self._shares(piece, count)[chunk % count] - digits, 0) % sizes
        same = chunk % count // prod(sizes[scattered].tolist())
        group = digits % [1 + (piece.swaps_on(size) > 0) for size in self.sizes]
        return np.asarray((turned * sizes + group) @ np.cumprod([1, *(sizes[:-1] ** 2)]) + same * prod(self.sizes) ** 2)

    def _add(self, stages: Stages, piece: Piece, chunk: Int64, share: Int64) -> None:
        """The transfers of a piece: down its dimensions, and up those that were scattered."""
        stages.stage = 0
        fixed: list[int] = []
        for dimension in piece.order[: len(piece.order) if self.sums else piece.scattered]:
            index, place = self._holders(share, fixed)
            scatters = len(fixed) < piece.scattered and dimension == piece.order[len(fixed)]
            if self.sums and scatters and piece.run:
                self._pass_in(stages, piece, dimension, chunk[index], place, share[index, dimension])
            elif self.sums and scatters:
                self._scatter(stages, piece, dimension, chunk[index], place, share[index, dimension])
            elif self.sums and piece.passed:
                self._pass_sums(stages, piece, dimension, chunk[index], place)
            elif self.sums and piece.swaps and self.sizes[dimension] == 2:
                self._send(stages, dimension, chunk[index], Op.REDUCE, place, 1)
                stages.stage += 1
            elif self.sums and piece.swaps_on(self.sizes[dimension]):
                self._swap_and_exchange(stages, piece, dimension, chunk[index], place)
            elif self.sums:
                self._exchange(stages, piece, dimension, chunk[index], place)
            fixed += [dimension] * scatters
        for dimension in piece.gathered or fixed[::-1] if self.spreads else ():
            index, place = self._holders(share, fixed)
            fixed.remove(dimension)
            if piece.run:
                self._pass_out(stages, piece, dimension, chunk[index], place)
            else:
                self._to_others(stages, piece, dimension, chunk[index], place, Op.COPY)

    def _pass_in(self, stages: Stages, piece: Piece, dimension: int, chunk: Int64, place: Int64, share: Int64) -> None:
        """Pass sums along runs from both halves of a ring to the member whose share they are."""
        size = self.sizes[dimension]
        away = share - self._places[place, dimension]
        for waits, step, hops in self._runs(piece, dimension):
            here, last = away * step % size == hops, min(piece.run, size // 2) - 1
            self._send(stages, dimension, chunk[here], Op.REDUCE, place[here], step * (hops - piece.next_to(hops)), at=last - waits)
        stages.stage += size // 2

    def _pass_out(self, stages: Stages, piece: Piece, dimension: int, chunk: Int64, place: Int64) -> None:
        """Pass the sums back, in the reverse of `_pass_in`."""
        for waits, step, hops in self._runs(piece, dimension):
            first = piece.next_to(hops)
            here = self._along(place, dimension, step * first)
            self._send(stages, dimension, chunk, Op.COPY, here, step * (hops - first), at=waits)
        stages.stage += self.sizes[dimension] // 2

    def _runs(self, piece: Piece, dimension: int) -> Iterator[tuple[int, int, int]]:
        """Yield (messages before it, step, hops) of each message to the members of a ring at each distance."""
        for step, most in piece.reach(self.sizes[dimension]):
            for hops in range(1, most + 1):
                yield piece.stops(hops) - 1, step, hops

    def _pass_sums(self, stages: Stages, piece: Piece, dimension: int, chunk: Int64, place: Int64) -> None:
        """Each sum that is passed on is added to a copy of the member's own contribution, in a buffer of its own; the sums that
        come last are added to the data. The first sum is the contribution itself, read from one more buffer once the data have
        changed."""
        reach, begin, buffer = piece.reach(self.sizes[dimension]), stages.stage, 0
        here, original = self.nodes[place], sum(max(0, hops - 1) for _, hops in reach) + 1
        stages.add(chunk, Op.COPY, here, here, 0, original)
        for step, hops in reach:
            to, source = self.nodes[self._along(place, dimension, step)], original
            for hop in range(1, hops + 1):
                target = 0
                if hop < hops:
                    target = buffer = buffer + 1
                    stages.add(chunk, Op.COPY, here, here, 0, buffer, stage=begin)
                stages.add(chunk, Op.REDUCE, here, to, source, target, stage=begin + hop)
                source = target
        stages.stage = begin + reach[0][1] + 1

    def _holders(self, share: Int64, fixed: list[int]) -> tuple[Int64, Int64]:
        """(index of a chunk, place) of all that hold something of it when some dimensions have been scattered."""
        index, place = np.nonzero((self._places[None, :, fixed] == share[:, None, fixed]).all(axis=2))
        return index, place

    def _scatter(self, stages: Stages, piece: Piece, dimension: int, chunk: Int64, place: Int64, share: Int64) -> None:
        away = (share - self._places[place, dimension]) % self.sizes[dimension]
        for shift in self._shifts(piece, dimension):
            here = away == shift % self.sizes[dimension]
            self._send(stages, dimension, chunk[here], Op.REDUCE, place[here], shift)
        stages.stage += 1

    def _exchange(self, stages: Stages, piece: Piece, dimension: int, chunk: Int64, place: Int64) -> None:
        stages.add(chunk, Op.COPY, self.nodes[place], self.nodes[place], 0, ORIGINAL)
        stages.stage += 1
        self._to_others(stages, piece, dimension, chunk, place, Op.REDUCE, ORIGINAL)

    def _swap_and_exchange(self, stages: Stages, piece: Piece, dimension: int, chunk: Int64, place: Int64) -> None:
        """Swaps with one neighbour, or with both; then the sums of the other groups, each from the nearest of those who have it."""
        size, here, swaps = self.sizes[dimension], self.nodes[place], piece.swaps_on(self.sizes[dimension])
        odd = (self._places[place, dimension] - piece.mirrored) % size % 2
        for swap in range(swaps):
            to = self._along(place, dimension, (1 - 2 * odd) * (-1) ** swap)
            stages.add(chunk, Op.REDUCE, here, self.nodes[to])
            stages.stage += 1
        original = ORIGINAL if size > 4 * swaps else 0  # one other group: its sum is swapped, too
        if original:
            stages.add(chunk, Op.COPY, here, here, 0, original)
            stages.stage += 1
        for shifts in zip(_others(size, swaps, 0), _others(size, swaps, 1), strict=True):
            stages.add(chunk, Op.REDUCE, self.nodes[self._along(place, dimension, np.array(shifts)[odd])], here, original, 0)
        stages.stage += 1

    def _to_others(self, stages: Stages, piece: Piece, dimension: int, chunk: Int64, place: Int64, op: Op, buffer: int = 0) -> None:
        for shift in self._shifts(piece, dimension):
            self._send(stages, dimension, chunk, op, place, shift, buffer)
        stages.stage += 1

    def _shifts(self, piece: Piece, dimension: int) -> list[int]:
        """How far the others of a group are, ahead or back."""
        size = self.sizes[dimension]
        return [shift if not (piece.mirrored and 2 * shift == size) else -shift for shift in range(1, size)]

    def _send(
        self, stages: Stages, dimension: int, chunk: Int64, op: Op, place: Int64, shift: int, buffer: int = 0, *, at: int = 0
    ) -> None:
        """Send to the nodes at distance `shift` along a dimension, `at` stages later; half a ring away, in either direction."""
        to, size = self._along(place, dimension, shift), self.sizes[dimension]
        is_opposite = self.turns and 2 * abs(shift) == size > 2
        via = self.nodes[self._along(place, dimension, 1 if shift > 0 else -1)] if is_opposite else None
        stages.add(chunk, op, self.nodes[place], self.nodes[to], buffer, 0, stage=stages.stage + at, via=via)

    def _along(self, place: Int64, dimension: int, shift: int | Int64) -> Int64:
        """The places at distance `shift` along a dimension."""
        digit = self._places[place, dimension]
        stride = prod(self.sizes[:dimension])
        return np.asarray(place + ((digit + shift) % self.sizes[dimension] - digit) * stride)


def _others(size: int, swaps: int, odd: int) -> list[int]:
    """After N swaps, how far ahead the nearest node with the sum of each other group is, the nearest first."""
    own = -odd if swaps == 1 else odd - 1  # the first of the two nodes with the sum of a node's group
    firsts = range(own + 2 * swaps, own + size, 2 * swaps)

    def hops(shift: int) -> int:
        return min(shift % size, -shift % size)

    return sorted((min(first, first + 1, key=hops) for first in firsts), key=hops)
