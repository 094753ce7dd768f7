"""Sums along the dimensions of a grid of ranks, everyone in a group sending straight to everyone else.

Along a dimension a chunk is *scattered*, summed up at the member of each group whose digit is the chunk's share, or *exchanged*:
every member sends what it has to all others, and all have the sum. What was scattered is gathered again at the end, the last
dimension first. One dimension of all ranks, exchanged: the one-shot all-reduce. Scattered: two shots.

On rings of links sums can be passed on by neighbours, and an exchange can begin among neighbours: then everyone needs one sum from
each group of them, from the member that is nearest.
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
ORIGINAL = 1  # the scratch buffer for what a member had before an exchange


@dataclass(frozen=True)
class Piece:
    """Part of a message: its dimensions in their order, the first `scattered` of which are scattered, the others exchanged.

    `run`: what is scattered comes round the ring of a dimension, both ways, along runs of that many neighbours who add it up on its
    way; the last of a run sends straight to the end. 0: everyone sends straight, on any network. `passed`: so do sums that are
    exchanged, along one run. `near`: an exchange begins in groups of that many neighbours, where that divides the ring; 1: there
    are none. `mirrored`: of an even ring, the node that is opposite sends back instead of ahead, and groups begin one further.
    """

    order: tuple[int, ...]
    scattered: int
    run: int = 0
    passed: bool = False
    mirrored: bool = False
    near: int = 1

    def reach(self, size: int) -> tuple[tuple[int, int], tuple[int, int]]:
        """(step, hops) of both ways round a ring."""
        ahead = -1 if self.mirrored else 1
        return (ahead, size // 2), (-ahead, (size - 1) // 2)

    def next_to(self, hops: int) -> int:
        """How far from the end of its way is the next one of a run, for one that is that many hops from it."""
        return hops - 1 if (hops - 1) % self.run else 0

    def stops(self, hops: int) -> int:
        """Messages one after the other from that many hops away."""
        return (hops - 1) % self.run + 1

    def group(self, size: int) -> int:
        """Neighbours in a group of a ring; 1 where there are none."""
        return self.near if size % self.near == 0 and self.near < size else 1


@dataclass(frozen=True, eq=False)
class Levels:
    """A grid of `sizes` over `nodes`, the first dimension fastest, and pieces of a message of equally many chunks.

    `sums`, `spreads`: whether chunks are summed up at first, and whether all get them in the end. `turns`: whether all dimensions
    are rings of the network, so that what one node does all do, turned.
    """

    sizes: tuple[int, ...]
    nodes: Int32
    pieces: Sequence[Piece]
    sums: bool = True
    spreads: bool = True
    turns: bool = False

    @property
    def chunks_of_a_piece(self) -> int:
        """The fewest that can be shared out in each piece."""
        return lcm(*[prod(self.sizes[dimension] for dimension in piece.order[: piece.scattered]) for piece in self.pieces])

    def rows(self) -> tuple[Stages, Int32]:
        """All transfers, and the endpoint at which each chunk is summed up, where all dimensions are scattered."""
        stages, count, roots = Stages(self._kinds if self.turns else None), self.chunks_of_a_piece, []
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

    def _kinds(self, chunk: Int64, src: Int64) -> Int64:
        """A number for what a sender of a chunk is to its share, and in its groups: the same number where all are turned."""
        count, sizes, place = self.chunks_of_a_piece, np.array(self.sizes), np.empty(int(self.nodes.max()) + 1, np.int64)
        place[self.nodes] = np.arange(len(self.nodes))
        digits = self._places[place[src]]
        kind = np.zeros(np.broadcast(chunk, src).shape, np.int64)
        for number, piece in enumerate(self.pieces):
            scattered = np.isin(np.arange(len(sizes)), piece.order[: piece.scattered])
            turned = np.where(scattered, self._shares(piece, count)[chunk % count] - digits, 0) % sizes
            same = chunk % count // prod(sizes[scattered].tolist())
            group = digits % [piece.group(size) for size in self.sizes]
            found = (turned * sizes + group) @ np.cumprod([1, *(sizes[:-1] ** 2)]) + same * prod(self.sizes) ** 2
            kind = np.where(chunk // count == number, found, kind)
        return kind

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
                self._scatter(stages, dimension, chunk[index], place, share[index, dimension])
            elif self.sums and piece.passed:
                self._pass_sums(stages, piece, dimension, chunk[index], place)
            elif self.sums and piece.group(self.sizes[dimension]) > 1:
                self._exchange_nearby(stages, piece, dimension, chunk[index], place)
            elif self.sums:
                self._exchange(stages, dimension, chunk[index], place)
            fixed += [dimension] * scatters
        while self.spreads and fixed:
            index, place = self._holders(share, fixed)
            if piece.run:
                self._pass_out(stages, piece, fixed.pop(), chunk[index], place)
            else:
                self._to_others(stages, fixed.pop(), chunk[index], place, Op.COPY)

    def _pass_in(self, stages: Stages, piece: Piece, dimension: int, chunk: Int64, place: Int64, share: Int64) -> None:
        """Sums go along runs from both halves of a ring to the member whose share it is."""
        size = self.sizes[dimension]
        away = share - self._places[place, dimension]
        for waits, step, hops in self._runs(piece, dimension):
            here = away * step % size == hops
            to = self._along(place[here], dimension, step * (hops - piece.next_to(hops)))
            last = min(piece.run, size // 2) - 1
            stages.add(chunk[here], Op.REDUCE, self.nodes[place[here]], self.nodes[to], stage=stages.stage + last - waits)
        stages.stage += size // 2

    def _pass_out(self, stages: Stages, piece: Piece, dimension: int, chunk: Int64, place: Int64) -> None:
        """The way back of `_pass_in`."""
        for waits, step, hops in self._runs(piece, dimension):
            here, there = (self._along(place, dimension, step * count) for count in (piece.next_to(hops), hops))
            stages.add(chunk, Op.COPY, self.nodes[here], self.nodes[there], stage=stages.stage + waits)
        stages.stage += self.sizes[dimension] // 2

    def _runs(self, piece: Piece, dimension: int) -> Iterator[tuple[int, int, int]]:
        """(messages before it, step, hops) of each message to the members of a ring that are so many hops away."""
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

    def _exchange_nearby(self, stages: Stages, piece: Piece, dimension: int, chunk: Int64, place: Int64) -> None:
        """An exchange among neighbours, then of the sums of groups, each from the nearest member of its group."""
        size, here = self.sizes[dimension], self.nodes[place]
        digit = self._places[place, dimension]
        width, first = piece.group(size), int(piece.mirrored)
        for inner, outer in ((1, width), (width, size)):
            if (original := ORIGINAL if outer > 2 else 0) != 0:
                stages.add(chunk, Op.COPY, here, here, 0, original)
                stages.stage += 1
            sources = np.array([_nearest(member, inner, outer, size) for member in range(size)])
            for source in sources.T:
                shift = source[(digit - first) % size] + first - digit
                stages.add(chunk, Op.REDUCE, self.nodes[self._along(place, dimension, shift)], here, original, 0)
            stages.stage += 1

    def _to_others(self, stages: Stages, dimension: int, chunk: Int64, place: Int64, op: Op, buffer: int = 0) -> None:
        for shift in range(1, self.sizes[dimension]):
            stages.add(chunk, op, self.nodes[place], self.nodes[self._along(place, dimension, shift)], buffer, 0)
        stages.stage += 1

    def _along(self, place: Int64, dimension: int, shift: int | Int64) -> Int64:
        """The places that far along a dimension."""
        digit = self._places[place, dimension]
        stride = prod(self.sizes[:dimension])
        return np.asarray(place + ((digit + shift) % self.sizes[dimension] - digit) * stride)


def _nearest(member: int, inner: int, outer: int, size: int) -> list[int]:
    """Of each other group of `inner` neighbours in a group of `outer` on a ring the member that is nearest, the nearest first."""
    start = member // outer * outer
    groups = (range(one, one + inner) for one in range(start, start + outer, inner) if one != member // inner * inner)

    def hops(other: int) -> int:
        return min((member - other) % size, (other - member) % size)

    return sorted((min(group, key=hops) for group in groups), key=hops)
