"""Order of interchangeable chunks: fewer models to search, without losing a schedule.

The chunks of an all-reduce are interchangeable: exchanging two of them in a schedule gives another schedule. So if there is a
schedule, there is one in which the chunks' transfers of the first step, read as binary numbers, descend. The clauses added here
demand this. (A ring of 8 with 5 chunks in 6 steps: a million conflicts without them, 40 thousand with them.)

This is sound if the formula is unchanged by an exchange of two chunks, which is checked clause by clause:

- every clause without counters becomes a clause of the formula;
- every counter counts the same literals as before, and no counted literal is a variable of a counter;
- in other clauses, variables of counters occur negated only, and only those for the complete count.

Then a model stays a model: exchange the two chunks, and set each counter variable only where its clauses require it. That depends
on the number of true literals counted, which is unchanged. So the clauses of counters hold; other clauses that mention counters
still hold, since no counter variable becomes true that was false; and each remaining clause is the image of a clause that held.
Exchanges of adjacent chunks generate all orders.
"""

from itertools import pairwise

from certree.models.common.budget import PYTHON, spend
from certree.verify.exact.encoding.encoder import Encoder
from certree.verify.exact.formula import Family, Formula
from certree.verify.exact.rup import ProofError
from certree.verify.rule import Subject, rule


def order_chunks(encoder: Encoder) -> None:
    """Add clauses that order interchangeable chunks. ProofError `proof-symmetry` where they cannot be exchanged.

    O(chunks · clauses) time, O(clauses) memory.
    """
    formula, chunks = encoder.formula, encoder.interchangeable
    if len(chunks) < 2:
        return
    many = len(formula.clauses)
    spend(4 * PYTHON * len(chunks) * many, f"the order of {len(chunks):,} chunks in {many:,} clauses")
    clauses = plain_clauses(formula)
    for one, other in pairwise(chunks):
        check_interchangeable(formula, clauses, _exchange(encoder.chunk_families, one, other))
    for one, other in pairwise(chunks):
        _descend(formula, encoder.first_transfers(one), encoder.first_transfers(other))


def plain_clauses(formula: Formula) -> set[frozenset[int]]:
    """The clauses that define no counter; ProofError where one requires a counter to be true, or uses part of a count."""
    counters = {variable for counter in formula.counters for variable in counter.variables}
    defining = {index for counter in formula.counters for index in counter.clauses}
    clauses = {frozenset(clause) for index, clause in enumerate(formula.clauses) if index not in defining}
    if any(literal in counters for clause in clauses for literal in clause):
        raise ProofError("proof-symmetry", "a clause requires a counter to be true: the literals it counts cannot be exchanged")
    partial = counters.difference(*(counter.totals for counter in formula.counters))
    if any(-literal in partial for clause in clauses for literal in clause):
        raise ProofError("proof-symmetry", "a clause uses a part of a count: the counted literals cannot be exchanged")
    if any(abs(literal) in counters for counter in formula.counters for literal in counter.literals):
        raise ProofError("proof-symmetry", "a counter counts another counter: the literals it counts cannot be exchanged")
    return clauses


@rule(
    "proof-symmetry",
    "chunks that a formula orders are not interchangeable in it",
    "tests/verify/exact/test_order.py",
    Subject.PROOFS,
)
def check_interchangeable(formula: Formula, clauses: set[frozenset[int]], exchange: dict[int, int]) -> None:
    """Raise ProofError unless the formula is the same after this exchange of variables. `clauses`: those that define no counter."""

    def image(literal: int) -> int:
        return exchange.get(literal, literal) if literal > 0 else -exchange.get(-literal, -literal)

    if any(frozenset(map(image, clause)) not in clauses for clause in clauses):
        raise ProofError("proof-symmetry", "chunks are not interchangeable: a clause about one is missing for the other")
    if any(sorted(map(image, counter.literals)) != sorted(counter.literals) for counter in formula.counters):
        raise ProofError("proof-symmetry", "chunks are not interchangeable: they are not counted together")


def _exchange(families: tuple[Family, ...], one: int, other: int) -> dict[int, int]:
    """The variables of two chunks, each with its counterpart."""
    partner = {one: other, other: one}
    return {
        variable: family[(partner[key[0]], *key[1:])]
        for family in families
        for key, variable in family.items()
        if key[0] in partner
    }


def _descend(formula: Formula, one: list[int], other: list[int]) -> None:
    """`one`, read as a binary number, is not below `other`; same[i] holds where the first i + 1 digits are equal."""
    same = formula.family("same", "digits 0 to i of two consecutive chunks are equal [i]", range(len(one)))
    before: tuple[int, ...] = ()
    for digit, (high, low) in enumerate(zip(one, other, strict=True)):
        formula.add(*before, high, -low)
        formula.add(*before, -high, -low, same[digit,])
        formula.add(*before, high, low, same[digit,])
        before = (-same[digit,],)
