"""Back ends for formulas: whatever the encoding, one solver can be exchanged for another.

A back end has four duties: `accepts`, `encode`, `solve` and `decode`. All get the same formula. Budgets are in conflicts, so
that the same formula gives the same answer everywhere; only a monitor's deadline is wall time.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import ClassVar

from certree.models.common.errors import UnsupportedError
from certree.models.common.registry import Registry, import_folder
from certree.synth.monitor import Monitor
from certree.synth.solvers.cpsat import Budget, Status
from certree.verify.exact.formula import Formula

AUTO = "auto"
PROVING = "cadical"  # the back end whose proofs the checker reads; `auto` takes it

BACK_ENDS: Registry[type["BackEnd"]] = Registry("solver")


class BackEnd(ABC):
    """One question to one solver; the class docstring is its help text.

    `most_clauses`: the limit for formulas. `proves`: whether it writes proofs. `proof`: after INFEASIBLE the lines of a proof, in
    the text form of DRAT; empty for other back ends, whose INFEASIBLE is never evidence.
    """

    most_clauses: ClassVar[int]
    proves: ClassVar[bool] = False

    def __init__(self) -> None:
        self.proof = ""

    @classmethod
    def accepts(cls, formula: Formula) -> None:
        """Raise UnsupportedError for a formula that is too large for it."""
        if len(formula.clauses) > cls.most_clauses:
            raise UnsupportedError(f"the formula has {len(formula.clauses)} clauses; at most {cls.most_clauses} with this solver")

    @abstractmethod
    def encode(self, formula: Formula, *, with_proof: bool) -> None:
        """Give the solver the formula; `with_proof`: a refutation is wanted with its proof, if there can be one."""

    @abstractmethod
    def solve(self, budget: Budget, monitor: Monitor, most: int) -> Status:
        """FEASIBLE, INFEASIBLE, or UNKNOWN within `most` conflicts, the budget (in conflicts) and the monitor's deadline.
        KeyboardInterrupt passes through."""

    @abstractmethod
    def decode(self) -> tuple[int, ...]:
        """The literals that are true, after FEASIBLE; those of counters may be missing."""


def back_end(name: str) -> type[BackEnd]:
    """The back end of that name; InputError lists the known names. `auto`: the one that writes proofs."""
    import_folder("certree.synth.solvers")
    return BACK_ENDS[PROVING if name == AUTO else name]


def solver_names() -> tuple[str, ...]:
    """The names of all back ends, `auto` first."""
    import_folder("certree.synth.solvers")
    return (AUTO, *BACK_ENDS)


def clauses_and_limits(formula: Formula) -> tuple[list[tuple[int, ...]], Iterator[tuple[int, tuple[int, ...], int]]]:
    """The formula for solvers that count: the clauses that define no counter; and (total, literals, most) for each total of a
    counter that these mention: unless `total` is true, at most `most` of the literals are."""
    defining = {index for counter in formula.counters for index in counter.clauses}
    clauses = [clause for index, clause in enumerate(formula.clauses) if index not in defining]
    mentioned = {abs(literal) for clause in clauses for literal in clause}
    limits = (
        (total, counter.literals, most)
        for counter in formula.counters
        for most, total in enumerate(counter.totals)
        if total in mentioned
    )
    return clauses, limits
