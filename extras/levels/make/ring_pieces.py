"""Pieces of a message along the rings of a torus, and about how long they take.

Along a *scattered* ring everyone gets the sum of a share. Sums come round both ways, along runs of a few neighbours, the last of
which sends straight to the end: long runs use each link least, short ones arrive soonest. Along the other rings whole sums of
shares are exchanged, after swaps among two or four neighbours if there are any. Then shares go back the way they came.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from math import lcm, prod

import numpy as np
from numpy.typing import NDArray

from certree.models.fine.list_jobs import Costs
from certree.models.schedule.timing import chunk_bytes_of
from certree.synth.fine.levels import Piece
from certree.synth.method import Request

RUNS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)  # neighbours; from half a ring on all of them
SWAPS = (0, 1, 2)
TIMES = (1, 2, 4)  # as many pieces of each kind
MOST_PIECES = 12


def ring_pieces(sizes: Sequence[int]) -> Iterator[tuple[Piece, ...]]:
    """All pieces that are looked at, those of a message at a time: they have equally many scattered rings, equal runs and
    swaps. O(1) for each."""
    count = len(sizes)
    for scattered in range(count + 1):
        for orders in _orders(count, scattered):
            half = max((sizes[one] // 2 for order in orders for one in order[:scattered]), default=0)
            runs = sorted({min(run, half) for run in RUNS})
            for run, swaps, back, times in product(runs, SWAPS if scattered < count else (0,), (False, True), TIMES):
                kinds = [(order, mirrored) for mirrored in (False, True)[: 1 + back] for order in orders]
                if len(kinds) * times <= MOST_PIECES:
                    yield tuple(Piece(order, scattered, run, mirrored=mirrored, swaps=swaps) for order, mirrored in kinds) * times


def _orders(count: int, scattered: int) -> list[tuple[tuple[int, ...], ...]]:
    """Orders of rings of the pieces of a message."""
    every = tuple(range(count))
    found = [tuple((*every[first:], *every[:first]) for first in every)]
    for chosen in combinations(every, scattered) if 0 < scattered < count else ():
        rest = tuple(one for one in every if one not in chosen)
        found.append(tuple((*chosen[first:], *chosen[:first], *rest) for first in range(scattered)))
    return list(dict.fromkeys(found))


@dataclass(frozen=True)
class _Cycles:
    """Costs of a chunk (`Costs`), `hop` on the longest link, `least_hop` on the shortest."""

    ser: int
    red: int
    hop: int
    least_hop: int
    ends: int
    start: int

    def flight(self, hops: int) -> int:
        """The number of cycles from the firing of a message until it has arrived."""
        return hops * self.hop + self.ends + self.ser


@dataclass
class _Tally:
    """The sums over pieces: chunks on a lane along each ring, ahead and back; sums of a node; cycles on the way of the last one."""

    load: NDArray[np.int64]
    sums: int = 0
    latency: int = 0


class RingEstimates:
    """About how long pieces take along rings of these `sizes`, to compare them: no bound. O(sizes) for each piece."""

    def __init__(self, request: Request, sizes: Sequence[int]) -> None:
        self.request, self.sizes = request, sizes
        self._cycles: dict[int, _Cycles] = {}

    def cycles(self, pieces: Sequence[Piece]) -> int:
        """Latency, and one and a half times what the fullest link or the reduction units do."""
        count = chunks_of_a_piece(self.sizes, pieces)
        cycles, tally, latency = self._of(count * len(pieces)), _Tally(np.zeros((len(self.sizes), 2), np.int64)), 0
        for piece in pieces:
            tally.latency, held = 0, count
            for number, dimension in enumerate(piece.order):
                held //= self.sizes[dimension] if number < piece.scattered else 1
                (self._scatter if number < piece.scattered else self._exchange)(tally, piece, dimension, held, cycles)
            latency = max(latency, tally.latency)
        return latency + max(int(tally.load.max()) * cycles.ser, tally.sums * cycles.red) * 3 // 2

    def meet(self, pieces: Sequence[Piece]) -> bool:
        """Whether a message would still be on a link when translations of it come there, if all leave in one cycle: then what is
        booked on one node does not stand for all. Links count as being as short as the shortest."""
        cycles = self._of(chunks_of_a_piece(self.sizes, pieces) * len(pieces))
        for dimension, size in enumerate(self.sizes):
            apart = translated_by(size, pieces)
            if apart * cycles.least_hop < cycles.ser and max(_longest(piece, dimension, size) for piece in pieces) > apart:
                return True
        return False

    def _of(self, chunks: int) -> _Cycles:
        """The cycles of that many chunks."""
        if chunks not in self._cycles:
            each = chunk_bytes_of(self.request.message_bytes, chunks, 1, self.request.machine)
            costs = Costs.of(self.request.topology, each, self.request.machine)
            self._cycles[chunks] = _Cycles(costs.ser, costs.red, max(costs.hop), min(costs.hop), costs.ends, costs.start)
        return self._cycles[chunks]

    def _scatter(self, tally: _Tally, piece: Piece, dimension: int, held: int, cycles: _Cycles) -> None:
        """There and back along a ring of which everyone keeps `held` chunks."""
        size, latest = self.sizes[dimension], 0
        for route, (_, most) in enumerate(piece.reach(size)):
            lengths, until = _lengths(piece, most), [0]
            for hops, length in enumerate(lengths, 1):
                until.append(until[hops - length] + 2 * cycles.flight(length) + cycles.start + cycles.red)
            tally.load[dimension, route ^ piece.mirrored] += 2 * held * sum(lengths)
            latest = max(latest, *until)
        tally.latency += latest
        tally.sums += held * (size - 1)

    def _exchange(self, tally: _Tally, piece: Piece, dimension: int, held: int, cycles: _Cycles) -> None:
        """Swaps, and then one sum from the nearest of each other group."""
        size, swaps = self.sizes[dimension], piece.swaps_on(self.sizes[dimension])
        away, added = _away(size, swaps), cycles.start + cycles.red
        tally.latency += swaps * (cycles.flight(1) + added) + (cycles.flight(max(away)) + added if away else 0)
        tally.sums += held * (swaps + len(away))
        tally.load[dimension] += held * (swaps - -sum(away) // 2)


def chunks_of_a_piece(sizes: Sequence[int], pieces: Sequence[Piece]) -> int:
    """The fewest that can be shared out in each piece."""
    return lcm(*[prod(sizes[one] for one in piece.order[: piece.scattered]) for piece in pieces])


def translated_by(size: int, pieces: Sequence[Piece]) -> int:
    """How far translations along a ring of that size go: 2 where neighbours swap in pairs, 1 elsewhere."""
    return 1 + any(piece.swaps_on(size) > 0 for piece in pieces)


def _longest(piece: Piece, dimension: int, size: int) -> int:
    """Links of the longest route along a dimension."""
    if dimension in piece.order[: piece.scattered]:
        return max(_lengths(piece, size // 2))
    return max(_away(size, piece.swaps_on(size)), default=1)


def _lengths(piece: Piece, most: int) -> list[int]:
    """Links that a sum passes next from 1, 2, ... up to `most` links away."""
    return [hops - piece.next_to(hops) for hops in range(1, most + 1)]


def _away(size: int, swaps: int) -> list[int]:
    """How far the sum of each other group is, the nearest one, after that many swaps."""
    group, near = max(1, 2 * swaps), 2 if swaps else 1
    return [min(min((first + one) % size, -(first + one) % size) for one in range(near)) for first in range(group, size, group)]
