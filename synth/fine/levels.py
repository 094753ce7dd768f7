"""Sums along the dimensions of a grid of ranks, everyone in a group sending straight to everyone else.

Along a dimension a chunk is *scattered*, summed up at the member of each group whose digit is the chunk's share, or *exchanged*:
every member sends what it has to all others, and all have the sum. What was scattered is gathered again at the end, the last
dimension first. One dimension of all ranks, exchanged: the one-shot all-reduce. Scattered: two shots.
"""

from collections.abc import Sequence
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
ORIGINAL = 1  # the scratch buffer for what a member had before an exchange


@dataclass(frozen=True)
class Piece:
    """Part of a message: its dimensions in their order, the first `scattered` of which are scattered, the others exchanged.

    `passed`: sums and results go round the ring of a dimension from neighbour to neighbour, both ways, and are added up on their
    way; `straight`: those that are exchanged are not. `mirrored`: of an even ring, the node that is opposite sends back instead of
    ahead.
    """

    order: tuple[int, ...]
    scattered: int
    passed: bool = False
    mirrored: bool = False
    straight: bool = False

    def reach(self, size: int) -> tuple[tuple[int, int], tuple[int, int]]:
        """(step, hops) of both ways round a ring."""
        ahead = -1 if self.mirrored else 1
        return (ahead, size // 2), (-ahead, (size - 1) // 2)


@dataclass(frozen=True, eq=False)
class Levels:
    """A grid of `sizes` over `nodes`, the first dimension fastest, and pieces of a message of equally many chunks.

    `sums`, `spreads`: whether chunks are summed up at first, and whether all get them in the end.
    """

    sizes: tuple[int, ...]
    nodes: Int32
    pieces: Sequence[Piece]
    sums: bool = True
    spreads: bool = True

    @property
    def chunks_of_a_piece(self) -> int:
        """The fewest that can be shared out in each piece."""
        return lcm(*[prod(self.sizes[dimension] for dimension in piece.order[: piece.scattered]) for piece in self.pieces])

    def rows(self) -> tuple[Stages, Int32]:
        """All transfers, and the endpoint at which each chunk is summed up, where all dimensions are scattered."""
        stages, count, roots = Stages(), self.chunks_of_a_piece, []
        for number, piece in enumerate(self.pieces):
            share = self._shares(piece, count)
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

    def _add(self, stages: Stages, piece: Piece, chunk: Int64, share: Int64) -> None:
        """The transfers of a piece: down its dimensions, and up those that were scattered."""
        stages.stage = 0
        fixed: list[int] = []
        for dimension in piece.order[: len(piece.order) if self.sums else piece.scattered]:
            index, place = self._holders(share, fixed)
            scatters = len(fixed) < piece.scattered and dimension == piece.order[len(fixed)]
            if self.sums and scatters and piece.passed:
                self._pass_in(stages, piece, dimension, chunk[index], place, share[index, dimension])
            elif self.sums and scatters:
                self._scatter(stages, dimension, chunk[index], place, share[index, dimension])
            elif self.sums and piece.passed and not piece.straight:
                self._pass_sums(stages, piece, dimension, chunk[index], place)
            elif self.sums:
                self._exchange(stages, dimension, chunk[index], place)
            fixed += [dimension] * scatters
        while self.spreads and fixed:
            index, place = self._holders(share, fixed)
            if piece.passed:
                self._pass_out(stages, piece, fixed.pop(), chunk[index], place)
            else:
                self._to_others(stages, fixed.pop(), chunk[index], place, Op.COPY)

    def _pass_in(self, stages: Stages, piece: Piece, dimension: int, chunk: Int64, place: Int64, share: Int64) -> None:
        """Sums go from both ends of each half of a ring to the member whose share it is."""
        size = self.sizes[dimension]
        reach = piece.reach(size)
        for hops in range(reach[0][1], 0, -1):
            for step, most in reach:
                here = ((share - self._places[place, dimension]) * step % size == hops) & (hops <= most)
                to = self._along(place[here], dimension, step)
                stages.add(chunk[here], Op.REDUCE, self.nodes[place[here]], self.nodes[to])
            stages.stage += 1

    def _pass_out(self, stages: Stages, piece: Piece, dimension: int, chunk: Int64, place: Int64) -> None:
        """The way back of `_pass_in`."""
        reach = piece.reach(self.sizes[dimension])
        for hops in range(1, reach[0][1] + 1):
            for step, most in reach:
                if hops <= most:
                    here, there = (self._along(place, dimension, step * count) for count in (hops - 1, hops))
                    stages.add(chunk, Op.COPY, self.nodes[here], self.nodes[there])
            stages.stage += 1

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

    def _scatter(self, stages: Stages, dimension: int, chunk: Int64, place: Int64, share: Int64) -> None:
        away = (share - self._places[place, dimension]) % self.sizes[dimension]
        for shift in range(1, self.sizes[dimension]):
            here = away == shift
            stages.add(chunk[here], Op.REDUCE, self.nodes[place[here]], self.nodes[self._along(place[here], dimension, shift)])
        stages.stage += 1

    def _exchange(self, stages: Stages, dimension: int, chunk: Int64, place: Int64) -> None:
        stages.add(chunk, Op.COPY, self.nodes[place], self.nodes[place], 0, ORIGINAL)
        stages.stage += 1
        self._to_others(stages, dimension, chunk, place, Op.REDUCE, ORIGINAL)

    def _to_others(self, stages: Stages, dimension: int, chunk: Int64, place: Int64, op: Op, buffer: int = 0) -> None:
        for shift in range(1, self.sizes[dimension]):
            stages.add(chunk, op, self.nodes[place], self.nodes[self._along(place, dimension, shift)], buffer, 0)
        stages.stage += 1

    def _along(self, place: Int64, dimension: int, shift: int) -> Int64:
        """The places that far along a dimension."""
        digit = self._places[place, dimension]
        stride = prod(self.sizes[:dimension])
        return np.asarray(place + ((digit + shift) % self.sizes[dimension] - digit) * stride)
