"""Prices of links by step (the dual of the time-expanded linear program): bounds on rounds for a number of steps, for any C.

Let every pair of nodes p have a price y(p, t) >= 0 in step t, and W(t) = sum of capacity(p) · y(p, t). Take any schedule of S steps
of r(t) rounds. In step t pair p carries at most capacity(p) · r(t) transfers, so all transfers together pay at most the sum of
r(t) · W(t). A chunk of demand d pays at least cost(d): the transfers that bring it to a cell for the first time are a tree in time
from its source to all its targets, and cost(d) is the price of the cheapest such tree. So

    C · sum of cost(d)  <=  sum of r(t) · W(t)  <=  R · max W,    and with r(t) >= 1    <=  (R − S) · max W + sum of W.

The first inequality bounds the rounds per chunk of schedules with at most S steps, for any C (empty steps of no rounds can be
added); the second refutes points. All of this is in the direction of the spreading; an all-reduce is not a spreading and is
refused. Memory limits only forbid more.

The cheapest tree is computed over the sets of cells that hold the chunk when a step begins, 2^cells sets; where a chunk has one
target, it is the cheapest path.
"""

from collections.abc import Mapping
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.models.common.columns import int_column
from certree.verify.exact.question import Demand, Question
from certree.verify.exact.refutations.refutation import REFUTATIONS, only_fields
from certree.verify.exact.rup import ProofError, malformed

MAX_CELLS = 12  # of networks on which chunks have several targets
MAX_STEPS = 64
MAX_PRICE = 1 << 24
NEVER = 1 << 60  # more than any tree costs: cells · MAX_PRICE · nodes of an arc

#: prices as integers, one row of all pairs (`Topology.pair_index`) per step
Rows = list[list[int]]
Int64 = NDArray[np.int64]


@REFUTATIONS.register("prices")
def prices(question: Question, proof: Mapping[str, Any]) -> None:
    """{"price": rows of whole numbers}: the chunks of the point would have to pay more than all links together can earn."""
    only_fields(proof, "price")
    paid, earned = payments(question, proof["price"])
    most = (question.rounds - question.steps) * max(earned) + sum(earned)
    if paid <= most:
        raise ProofError("proof-weak", f"chunks pay {paid}, and links can earn {most}")


def rounds_per_chunk(question: Question, price: Any) -> Fraction:
    """A lower bound on the rounds per chunk (of C) of schedules with at most as many steps as there are rows of prices."""
    if not isinstance(price, list) or not 1 <= len(price) <= MAX_STEPS:
        raise ProofError("proof-malformed", f"prices are rows for 1 to {MAX_STEPS} steps")
    paid, earned = payments(question.at((1, len(price), len(price))), price)
    return Fraction(paid, max(earned)) if max(earned) else Fraction(0)


def payments(question: Question, price: Any) -> tuple[int, list[int]]:
    """The least that all chunks must pay, and W(t) for every step. ProofError for prices that do not fit this question.

    O(3^cells · steps · demands), or O(steps · arcs · sources) where chunks have one target each.
    """
    if question.is_sum:
        raise ProofError("proof-foreign", "prices need chunks that spread; an all-reduce has none")
    several = any(len(demand.targets) > 1 for demand in question.demands)
    if several and len(question.cells) > MAX_CELLS:
        raise ProofError("proof-foreign", f"prices cover up to {MAX_CELLS} cells, not {len(question.cells)}")
    _check_form(price, question)
    trees = Trees(question, price)
    capacity = question.topology.pair_capacity.tolist()
    earned = [sum(size * each for size, each in zip(capacity, row, strict=True)) for row in price]
    return question.chunks * sum(trees.cost(demand) for demand in question.demands), earned


def _check_form(price: Any, question: Question) -> None:
    if question.steps > MAX_STEPS or not isinstance(price, list) or len(price) != question.steps:
        raise malformed(f"prices need one row for each of the {question.steps} steps, at most {MAX_STEPS}")
    for step, row in enumerate(price):
        int_column(row, f"prices of step {step}", 0, MAX_PRICE, len(question.topology.pair_capacity), malformed)


class Trees:
    """The cheapest trees in time under prices, for every demand; NEVER where no tree reaches all targets within the steps."""

    def __init__(self, question: Question, price: Rows) -> None:
        self._question, count = question, len(question.cells)
        self._place = {cell: number for number, cell in enumerate(question.cells)}
        #: [t, u, v]: the cheapest transfer from cell u to cell v in step t
        self.step_price = np.full((question.steps, count, count), NEVER, np.int64)
        for arc in question.arcs:
            src, dst = self._place[arc.src], self._place[arc.dst]
            for step, row in enumerate(price):
                self.step_price[step, src, dst] = min(self.step_price[step, src, dst], sum(row[pair] for pair in arc.pairs))

    def cost(self, demand: Demand) -> int:
        """The price of the cheapest tree."""
        reached = self._far(demand)[-1] if len(demand.targets) == 1 else self._sets[0][-1][self._row[demand.source]]
        return min(NEVER, int(reached[self._goal(demand)].min()))

    def cheapest(self, demand: Demand) -> list[tuple[int, int, int]]:
        """The transfers of the cheapest schedule: (step, from cell, to cell)."""
        cells = self._question.cells
        rows = self._path(demand) if len(demand.targets) == 1 else self._tree(demand)
        return [(step, cells[src], cells[dst]) for step, src, dst in rows]

    def _goal(self, demand: Demand) -> Int64:
        """The cells, or the sets of cells, with which a chunk has reached all its targets."""
        if len(demand.targets) == 1:
            return np.array([self._place[demand.targets[0]]])
        wanted = sum(1 << self._place[target] for target in demand.targets)
        return np.flatnonzero(np.arange(1 << len(self._place)) & wanted == wanted)

    def _far(self, demand: Demand) -> list[Int64]:
        """For each step and at the end: the least cost of bringing the chunk to each cell by then."""
        far = [np.full(len(self._place), NEVER, np.int64)]
        far[0][self._place[demand.source]] = 0
        for table in self.step_price:
            far.append(np.minimum(far[-1], (far[-1][:, None] + table).min(axis=0)))
        return far

    def _path(self, demand: Demand) -> list[tuple[int, int, int]]:
        far, at = self._far(demand), self._place[demand.targets[0]]
        rows: list[tuple[int, int, int]] = []
        for step in reversed(range(len(self.step_price))):
            if far[step + 1][at] < far[step][at]:
                before = int((far[step] + self.step_price[step, :, at]).argmin())
                rows.append((step, before, at))
                at = before
        return rows

    @cached_property
    def _row(self) -> dict[int, int]:
        """The row of each source in the tables of sets."""
        return {source: row for row, source in enumerate(sorted({demand.source for demand in self._question.demands}))}

    @cached_property
    def _sets(self) -> tuple[list[Int64], list[Int64]]:
        """For each step and at the end: the least price at which each set of cells holds a chunk, in rows by its source; and the
        set before it."""
        count = len(self._place)
        least = [np.full((len(self._row), 1 << count), NEVER, np.int64)]
        for source, row in self._row.items():
            least[0][row, 1 << self._place[source]] = 0
        came: list[Int64] = []
        for table in self.step_price:
            after, before = least[-1].copy(), np.tile(np.arange(1 << count), (len(self._row), 1))
            for held in np.flatnonzero((least[-1] < NEVER).any(axis=0)).tolist():
                masks, costs = self._gained(held, table)
                paid = least[-1][:, held, None] + costs
                rows, columns = np.nonzero(paid < after[:, masks])
                after[rows, masks[columns]], before[rows, masks[columns]] = paid[rows, columns], held
            least.append(after)
            came.append(before)
        return least, came

    def _gained(self, held: int, table: Int64) -> tuple[Int64, Int64]:
        """The sets of cells that can hold a chunk one step after the set `held`, and the costs of getting there."""
        inside = [number for number in range(len(self._place)) if held >> number & 1]
        cheapest = table[inside].min(axis=0).tolist()
        masks, costs = np.array([held]), np.zeros(1, np.int64)
        for number, price in enumerate(cheapest):
            if not held >> number & 1 and price < NEVER:
                masks, costs = np.concatenate((masks, masks | 1 << number)), np.concatenate((costs, costs + price))
        return masks, costs

    def _tree(self, demand: Demand) -> list[tuple[int, int, int]]:
        row, goal = self._row[demand.source], self._goal(demand)
        least, came = self._sets
        held = int(goal[least[-1][row, goal].argmin()])
        rows: list[tuple[int, int, int]] = []
        for step in reversed(range(len(came))):
            before = int(came[step][row, held])
            inside = [number for number in range(len(self._place)) if before >> number & 1]
            for number in range(len(self._place)):
                if (held & ~before) >> number & 1:
                    rows.append((step, inside[int(self.step_price[step, inside, number].argmin())], number))
            held = before
        return rows
