"""Search for prices of links by step (`verify.exact.refutations.prices`): a linear program by cutting planes, its solutions
rounded.

The price of a chunk is a minimum over trees in time, so it is concave in the prices, and the best prices solve

    maximize sum of z(d)  with  sum(capacity · price) <= 1 in each step,  z(d) <= price of tree  for each tree of demand d;

the tree that is cheapest for the current prices is the next to be added. Floats decide nothing: each solution is rounded to whole
numbers, and the checker computes the bound that these prove.
"""

from fractions import Fraction
from math import lcm
from typing import Any

from certree.verify.exact.question import Question
from certree.verify.exact.refutations.prices import MAX_CELLS, MAX_PRICE, MAX_STEPS, NEVER, Rows, Trees, rounds_per_chunk

MAX_ITERATIONS = 60  # linear programs
WORK = 1 << 25  # prices of sets of cells that may be evaluated for all trees of all iterations
_SCALE = 1 << 14  # of prices while searching
_DENOMINATORS = (1, 2, 6, 12, 60)  # of rounded solutions
_CONVERGED = 1 + 1e-9


def best_prices(question: Question) -> tuple[Fraction, Rows] | None:
    """The best prices found for the steps of the question, and the rounds per chunk that they prove; None where they prove nothing
    (an all-reduce, fewer steps than the distance) or the network is too large. Deterministic; time up to WORK."""
    several = any(len(demand.targets) > 1 for demand in question.demands)
    if question.is_sum or (several and len(question.cells) > MAX_CELLS):
        return None
    if not question.least_steps[0] <= question.steps <= MAX_STEPS:
        return None
    once = question.at((1, question.steps, question.steps))
    each = 3 ** len(once.cells) if several else len(once.cells) ** 2
    iterations = min(MAX_ITERATIONS, WORK // (each * once.steps * len(once.demands)))
    found = _Planes(once).search(iterations) if iterations > 1 else []
    valued = [(rounds_per_chunk(once, rows), rows) for rows in found]
    return max(valued, key=lambda one: one[0], default=None)


def _rounded(prices: list[list[float]]) -> list[Rows]:
    """Small whole numbers close to prices, simpler ones first."""
    longest = max(max(row) for row in prices)
    found = []
    for denominator in _DENOMINATORS:
        parts = [[Fraction(each / longest).limit_denominator(denominator) for each in row] for row in prices]
        scale = lcm(*(part.denominator for row in parts for part in row))
        if scale <= MAX_PRICE:
            found.append([[int(part * scale) for part in row] for row in parts])
    return found


class _Planes:
    """The linear program, one constraint for each tree met so far."""

    def __init__(self, question: Question) -> None:
        from ortools.linear_solver import pywraplp  # noqa: PLC0415

        self._question = question
        self._capacity: list[int] = question.topology.pair_capacity.tolist()
        self._program: Any = pywraplp.Solver.CreateSolver("GLOP")
        free = self._program.infinity()
        self._price = [[self._program.NumVar(0, free, "") for _ in self._capacity] for _ in range(question.steps)]
        for row in self._price:
            self._program.Add(sum(size * each for size, each in zip(self._capacity, row, strict=True)) <= 1)
        self._need = [self._program.NumVar(0, sum(self._capacity), "") for _ in question.demands]
        self._program.Maximize(sum(self._need))

    def search(self, iterations: int) -> list[Rows]:
        """Whole prices close to the solution, once no tree violates it, or to the best one found."""
        prices = [[1.0] * len(self._capacity) for _ in self._price]
        best: tuple[float, list[list[float]]] = (0.0, prices)
        for _ in range(iterations):
            longest = max(max(row) for row in prices)
            whole = [[round(each / longest * _SCALE) for each in row] for row in prices]
            paid, volume = self._add(whole), max(sum(map(int.__mul__, self._capacity, row)) for row in whole)
            best = max(best, (paid / volume, prices), key=lambda one: one[0])
            if self._program.Solve() != self._program.OPTIMAL or self._program.Objective().Value() <= best[0] * _CONVERGED:
                break
            prices = [[variable.solution_value() for variable in row] for row in self._price]
        return [*_rounded(prices), *_rounded(best[1])]

    def _add(self, whole: Rows) -> int:
        """Add a constraint for the cheapest tree of every demand, and return the sum of their costs."""
        trees, paid = Trees(self._question, whole), 0
        pair_of = self._cheapest_arcs(whole)
        for need, demand in zip(self._need, self._question.demands, strict=True):
            if (cost := trees.cost(demand)) >= NEVER:
                continue
            paid += cost
            used = [self._price[step][pair] for step, src, dst in trees.cheapest(demand) for pair in pair_of[step, src, dst]]
            self._program.Add(need <= sum(used))
        return paid

    def _cheapest_arcs(self, whole: Rows) -> dict[tuple[int, int, int], tuple[int, ...]]:
        """The pairs of the cheapest arc between two cells, in every step."""
        found: dict[tuple[int, int, int], tuple[int, ...]] = {}
        for step, row in enumerate(whole):
            for arc in sorted(self._question.arcs, key=lambda arc: -sum(row[pair] for pair in arc.pairs)):
                found[step, arc.src, arc.dst] = arc.pairs
        return found
