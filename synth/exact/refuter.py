"""Infeasibility proofs of points: without search by distance, bandwidth bound, time-cuts and prices of links.

With a solver, proofs are the lines of a refuted formula, once the checker has accepted them.
"""

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from math import ceil

from certree.synth.bounds.find import find_bounds
from certree.synth.exact.encodings.clauses import TrustedClauses
from certree.synth.exact.price_search import best_prices
from certree.verify.bounds.instance import Instance
from certree.verify.bounds.witness import best_bounds
from certree.verify.exact.formula import Formula
from certree.verify.exact.question import Point, Question
from certree.verify.exact.refutations.prices import Rows, payments
from certree.verify.exact.refutations.refutation import Document
from certree.verify.exact.refutations.time_cut import needed_rounds
from certree.verify.exact.rup import check_proof


class Refuter:
    """Infeasibility proofs for points of one network and collective; each witness is searched for once.

    `bandwidth`: the best bandwidth bound, as value and document. `prices`: the best prices, by number of steps searched.
    """

    def __init__(self, question: Question) -> None:
        self.question = question
        instance = Instance(question.topology, question.collective)
        self._bounds = find_bounds(question.topology, question.collective)
        self.bandwidth = best_bounds(instance, self._bounds)["bandwidth"]
        self._cuts: dict[tuple[int, int], tuple[Fraction | None, Document]] = {}
        self._priced: dict[int, tuple[Fraction, Rows] | None] = {}
        self.prices: dict[int, tuple[Fraction, Rows] | None] = {}

    def forget_prices(self) -> None:
        """Forget all searches for prices; prices that were found before are found again at once."""
        self.prices = {}

    def bound_rounds(self, chunks: int) -> int:
        """The fewest rounds that the bandwidth bound allows."""
        return ceil(chunks * self.rate_bound)

    def least_rounds(self, chunks: int, steps: int, most: int) -> int:
        """The fewest rounds, at least one per step, that all of these proofs allow; prices are looked for only up to `most`."""
        least = max(steps, self.bound_rounds(chunks))
        if least <= most:
            least = max(least, ceil(self.time_cut(chunks, steps)[0] or 0))
        if least <= most:
            least = max(least, ceil(self.price_cut(chunks, steps)[0]))
        return least

    @property
    def rate_bound(self) -> Fraction:
        """The number of rounds per chunk (of C) that the bandwidth bound demands."""
        return self.bandwidth[0] * self.question.at((1, 1, 1)).message_chunks

    def easy_proof(self, point: Point) -> Document | None:
        """A proof that takes no search, with prices only where they were looked for; None when nothing excludes the point."""
        hops, start, end = self.question.least_steps
        if point[1] < hops:
            return {"kind": "distance", "from": start, "to": end, "hops": hops}
        if point[2] < self.bound_rounds(point[0]):
            return {"kind": "bound", "bound": self.bandwidth[1]}
        rounds, proof = self.time_cut(point[0], point[1])
        if rounds is None or point[2] < rounds:
            return proof
        needed, proof = self.price_cut(point[0], point[1], known=True)
        return proof if point[2] < needed else None

    def price(self, steps: int) -> tuple[Fraction, Rows] | None:
        """The best prices for that number of steps, looked for once."""
        if steps not in self._priced:
            self._priced[steps] = best_prices(self.question.at((1, steps, steps)))
        self.prices[steps] = self._priced[steps]
        return self.prices[steps]

    def price_cut(self, chunks: int, steps: int, *, known: bool = False) -> tuple[Fraction, Document]:
        """The rounds that prices demand for these chunks and steps, and the proof; `known`: only prices that were looked for."""
        priced = self.prices.get(steps) if known else self.price(steps)
        if priced is None:
            return Fraction(0), {}
        paid, earned = payments(self.question.at((1, steps, steps)), priced[1])
        return steps + Fraction(chunks * paid - sum(earned), max(earned)), {"kind": "prices", "price": priced[1]}

    def time_cut(self, chunks: int, steps: int) -> tuple[Fraction | None, Document]:
        """The time-cut that demands the most rounds for these chunks and steps: rounds (None: no number suffices) and proof."""
        if (chunks, steps) not in self._cuts:
            question = self.question.at((chunks, steps, steps))
            best: tuple[Fraction | None, Document] = (Fraction(0), {})
            for inside in self._sets:
                for target in sorted(inside & set(question.topology.endpoints.tolist())):
                    needed = needed_rounds(question, inside, target)
                    if best[0] is not None and (needed is None or needed > best[0]):
                        best = needed, {"kind": "time-cut", "set": sorted(inside), "to": target}
            self._cuts[chunks, steps] = best
        return self._cuts[chunks, steps]

    @cached_property
    def _sets(self) -> list[frozenset[int]]:
        """Candidate sets for time-cuts: those of the cuts that were found, each endpoint alone, and all nodes but one endpoint."""
        if self.question.is_sum:
            return []
        topology = self.question.topology
        nodes, ends = frozenset(range(len(topology.kind))) & frozenset(topology.src.tolist()), topology.endpoints.tolist()
        found = [frozenset(bound["witness"]["set"]) for bound in self._bounds if "set" in bound["witness"]]
        return [*found, *(nodes - one for one in found), *(frozenset((node,)) for node in ends), *(nodes - {node} for node in ends)]


def formula_proof(asking: TrustedClauses) -> Document:
    """The proof of a refuted formula, trimmed. ProofError where the checker does not accept it, since it is too long or has steps
    that are not RUP. The solver's answer alone is not trusted."""
    return asking.proof_document(trimmed(asking.encoder.formula, asking.proof.splitlines(keepends=True)))


def trimmed(formula: Formula, lines: Sequence[str]) -> str:
    """The lines of a proof up to the one that refutes the formula. ProofError as `check_proof`."""
    return "".join(lines[: check_proof(formula, "".join(lines))])
