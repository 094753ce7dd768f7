"""Whole numbers of chunks for the placings of a linear program: rounded down, filled up, and moved until every link has room."""

from collections.abc import Mapping
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from certree.extras.orders.make.columns import Column, Pricing
from certree.extras.orders.make.rates import Rates

MOVES, _NEW = 3000, 200  # exchanges that are tried, and placings that may be added meanwhile
_LOOK = 24  # placings whose exact effect is computed, of all by their slope
_STUCK = 30  # exchanges without success before a placing is added
_STEEP = 40.0  # the exponent at which loads count no more

Floats = NDArray[np.float64]


def whole_shares(
    pricing: Pricing, rates: Rates, shares: Mapping[int, Fraction], chunks: int, period: int, seed: int, moves: int = MOVES
) -> list[Column]:
    """Placings, as many as `chunks`, for which links need `period` rounds or not many more; roots have their shares.

    A potential that grows exponentially with the fill of links is made smaller by exchanges of placings. O(moves · links ·
    placings).
    """
    search = _Exchange(pricing, rates, chunks, period, seed)
    for root, share in (shares or {-1: Fraction(1)}).items():
        search.fill(root, int(share * chunks))
    search.improve(moves)
    return [column for column, times in zip(search.columns, search.count, strict=True) for _ in range(times)]


class _Exchange:
    """Numbers of chunks by placing, and the loads of links."""

    def __init__(self, pricing: Pricing, rates: Rates, chunks: int, period: int, seed: int) -> None:
        self._pricing, self._rng = pricing, np.random.default_rng(seed)
        self._roots = sorted({column.root for column in rates.columns}) if not pricing.gathers else []
        self.columns = list(rates.columns)
        self._uses = np.array([self._use(column) for column in self.columns])
        self._room = period * pricing.capacity.astype(np.float64)
        self._bend = chunks / 2
        self.count = np.floor(rates.parts * chunks + 1e-9).astype(np.int64)
        self._load = self.count @ self._uses
        self._root_of = np.array([self._root(column) for column in self.columns])

    def _use(self, column: Column) -> Floats:
        return np.bincount(column.uses, minlength=len(self._pricing.capacity)).astype(np.float64)

    def _weight(self, load: Floats) -> Floats:
        weight: Floats = np.exp(np.minimum(self._bend * (load / self._room - 1), _STEEP))
        return weight

    def _root(self, column: Column) -> int:
        return column.root if self._roots else -1

    def _of(self, root: int) -> NDArray[np.int64]:
        return np.flatnonzero(self._root_of == root)

    def _best(self, base: Floats, root: int) -> tuple[int, float]:
        """The placing that adds least to the potential, of those with a root, and the potential then."""
        able = self._of(root)
        able = able[np.argsort(self._uses[able] @ (self._weight(base) / self._room), kind="stable")[:_LOOK]]
        potential = self._weight(base + self._uses[able]).sum(axis=1)
        return int(able[potential.argmin()]), float(potential.min())

    def _new(self, base: Floats, root: int) -> None:
        """Add the cheapest placing under the slopes of the potential."""
        slope = self._weight(base) / self._room
        length = np.maximum(np.rint(slope / slope.max() * (1 << 18)), 1).astype(np.int64)
        _, column = next(self._pricing.cheapest(length, [root] if self._roots else []))
        self.columns.append(column)
        self._uses = np.vstack([self._uses, self._use(column)])
        self.count = np.append(self.count, 0)
        self._root_of = np.append(self._root_of, root)

    def fill(self, root: int, chunks: int) -> None:
        """Chunks of a root up to that many."""
        for _ in range(chunks - int(self.count[self._of(root)].sum())):
            self._new(self._load, root)
            best, _ = self._best(self._load, root)
            self.count[best] += 1
            self._load = self._load + self._uses[best]

    def improve(self, moves: int) -> None:
        """Exchange placings on links that are too full, until none is or little helps."""
        stuck = added = 0
        for _ in range(moves):
            over = np.maximum(self._load - self._room, 0)
            if not over.any():
                return
            link = self._rng.choice(len(over), p=over / over.sum())
            old = int(self._rng.choice(np.flatnonzero((self.count > 0) & (self._uses[:, link] > 0))))
            base, root = self._load - self._uses[old], self._root(self.columns[old])
            if stuck >= _STUCK and added < _NEW:
                self._new(base, root)
                stuck, added = 0, added + 1
            new, potential = self._best(base, root)
            stuck += 1
            if potential < float(self._weight(self._load).sum()) * (1 - 1e-12):
                self.count[old] -= 1
                self.count[new] += 1
                self._load, stuck = base + self._uses[new], 0
