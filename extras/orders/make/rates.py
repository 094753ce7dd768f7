"""The highest rate of an order: a linear program over placings, by column generation.

Columns are placings (`columns`), rows their resources. The lengths that price new columns are a mixture of the dual of the program
and of those that have proved most so far. Floats decide nothing: the lengths are whole numbers, and a witness of the bound
(`certree.verify.bounds.witnesses.ordered`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.extras.orders.make.columns import Column, Pricing
from certree.synth.monitor import Monitor

Int64 = NDArray[np.int64]
_SCALE = 1 << 18  # of the longest length
_DUAL = 0.4  # the part of the dual in the next lengths


@dataclass(frozen=True)
class Rates:
    """Placings of a chunk with their parts of the message, which take `value` rounds per chunk; no schedule of the order takes less
    than `bound`, by the lengths of resources. `parts` sum to 1."""

    columns: Sequence[Column]
    parts: NDArray[np.float64]
    value: float
    bound: float
    length: Int64


class RateSearch:
    """The search for the best placings, which ends once `value` is at most `near` times `bound`, and can be gone on with.

    `shares`: by root its part of the message; empty where a result may be made anywhere. A pricing (`columns`) and a program of as
    many rows as links for each step.
    """

    def __init__(self, pricing: Pricing, shares: Mapping[int, Fraction], near: float, monitor: Monitor) -> None:
        self.pricing, self._near, self._monitor = pricing, near, monitor
        self._master, self._capacity = _Master(pricing, shares), pricing.capacity.astype(np.float64)
        self._length = (np.arange(len(self._capacity)) < len(pricing.topology.src)).astype(np.int64)
        self._best, self._proved = 0.0, self._length
        self._is_mixed = self._is_over = False
        self._steps = 0

    def rates(self, most: int) -> Rates:
        """The best placings once the search has ended, or after `most` programs in all."""
        while self._steps < most and not self._is_over:
            self._step()
        return Rates(self._master.columns, self._master.parts, self._master.value, self._best, self._proved)

    def _step(self) -> None:
        """Price placings, solve the program with new ones, and take the next lengths."""
        self._steps += 1
        need, fresh = self._master.priced(self._length)
        bound = need / float(self._capacity @ self._length)
        if bound > self._best:
            self._best, self._proved = bound, self._length
        self._master.solve()
        if self._master.value <= self._best * self._near or not (fresh or self._is_mixed) or self._monitor.expired:
            self._is_over = True
            return
        dual, centre = self._master.dual, self._proved / float(self._capacity @ self._proved)
        self._is_mixed = fresh
        mixture = _DUAL * dual / float(self._capacity @ dual) + (1 - _DUAL) * centre if fresh else dual
        self._length = np.rint(mixture / mixture.max() * _SCALE).astype(np.int64)


class _Master:
    """The program: as many chunks in a round as the links can carry, by the placings so far."""

    def __init__(self, pricing: Pricing, shares: Mapping[int, Fraction]) -> None:
        from ortools.linear_solver import pywraplp

        self._pricing, self._shares = pricing, shares
        self._program: Any = pywraplp.Solver.CreateSolver("CLP")
        self._rows = [self._program.Constraint(0, int(lanes)) for lanes in pricing.capacity]
        self._goal = self._program.Objective()
        self._goal.SetMaximization()
        self._roots: dict[int, Any] = {}
        if len(shares) > 1:  # several roots: the rate of the one that is behind
            rate = self._program.NumVar(0, self._program.infinity(), "")
            self._goal.SetCoefficient(rate, 1)
            self._roots = {root: self._program.Constraint(0, self._program.infinity()) for root in shares}
            for root, row in self._roots.items():
                row.SetCoefficient(rate, -float(shares[root]))
        self._variables: dict[Column, Any] = {}

    def priced(self, length: Int64) -> tuple[float, bool]:
        """The length of the cheapest placing, over all roots by their shares, and whether there is a new one; it is added."""
        need, fresh = 0.0, False
        for root, column in self._pricing.cheapest(length, list(self._shares)):
            need += float(self._shares.get(root, 1)) * int(length[column.uses].sum())
            if column in self._variables:
                continue
            fresh, variable = True, self._program.NumVar(0, self._program.infinity(), "")
            for row, times in zip(*np.unique(column.uses, return_counts=True), strict=True):
                self._rows[row].SetCoefficient(variable, float(times))
            if self._roots:
                self._roots[root].SetCoefficient(variable, 1)
            else:
                self._goal.SetCoefficient(variable, 1)
            self._variables[column] = variable
        return need, fresh

    def solve(self) -> None:
        """Solve the program; the next properties are of this solution."""
        if self._program.Solve() != self._program.OPTIMAL:
            raise RuntimeError("CLP does not solve the program of an order")

    @property
    def columns(self) -> list[Column]:
        return list(self._variables)

    @property
    def value(self) -> float:
        """Rounds per chunk."""
        return 1 / float(self._goal.Value())

    @property
    def parts(self) -> NDArray[np.float64]:
        """The part of the message of each placing."""
        found = np.maximum([variable.solution_value() for variable in self._variables.values()], 0)
        whole: NDArray[np.float64] = found / found.sum()
        return whole

    @property
    def dual(self) -> NDArray[np.float64]:
        """The price of each resource."""
        return np.maximum([row.dual_value() for row in self._rows], 0)
