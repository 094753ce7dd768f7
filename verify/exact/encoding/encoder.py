"""The trusted encoder: a question as a formula that has a model exactly when there is a schedule.

Refutations depend on it, so it is kept simple: it omits no variable that a cleverer encoder could omit, and assumes nothing without
loss of generality. The only symmetry that it can break, interchangeable chunks, has its justification checked (`chunk_order`).
Variables and clauses carry one line of purpose each. The families that all questions share:

    longer[t, k]   step t lasts k rounds or more (k = 2, 3, ...; every step lasts one)

The rest is in `spread` (data that starts in one place and is copied on; reversed reduce kinds) and `sums` (the all-reduce).
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

from certree.models.common.errors import UnsupportedError
from certree.models.schedule.schedule import Schedule
from certree.verify.exact.formula import Family, Formula
from certree.verify.exact.question import Question

MAX_CLAUSES = 4_000_000


class Encoder(ABC):
    """The formula of a question. `formula` is complete after construction; `decode` reads a model of it.

    UnsupportedError where it would have more than MAX_CLAUSES clauses. O(clauses) time and memory.
    """

    def __init__(self, question: Question) -> None:
        self.question = question
        self.formula = Formula()
        self.times = range(question.steps)
        self.longest = question.rounds - question.steps + 1  # rounds of one step
        if (needed := self.estimate() + self.round_clauses()) > MAX_CLAUSES:
            raise UnsupportedError(f"the formula of {question.point} would have {needed} clauses; at most {MAX_CLAUSES} are tried")
        self.longer = self.formula.family("longer", "step t lasts k rounds or more [t, k]", self.times, range(2, self.longest + 1))
        self.add_rounds()
        self.build()

    @abstractmethod
    def estimate(self) -> int:
        """Estimated number of clauses."""

    @abstractmethod
    def build(self) -> None:
        """Add the variables and clauses of the collective."""

    @property
    def interchangeable(self) -> Sequence[int]:
        """Interchangeable chunks; empty where their order is not used."""
        return ()

    @property
    def chunk_families(self) -> tuple[Family, ...]:
        """The families whose first index is a chunk."""
        return ()

    def first_transfers(self, chunk: int) -> list[int]:
        """The variables that determine the order of interchangeable chunks."""
        raise NotImplementedError(f"chunks of {type(self).__name__} cannot be ordered")

    @abstractmethod
    def decode(self, model: Sequence[int]) -> Schedule:
        """The schedule of a model, given as true literals; the verifier decides whether it is valid."""

    def round_clauses(self) -> int:
        """Estimated number of clauses of `add_rounds`."""
        longer = self.question.steps * (self.longest - 1)
        return 2 * longer * min(self.longest, longer)

    def add_rounds(self) -> None:
        """Require that a step of at least k + 1 rounds lasts at least k rounds, and that all steps together have at most R."""
        for (step, length), variable in self.longer.items():
            if length > 2:
                self.formula.add(-variable, self.longer[step, length - 1])
        extra = self.question.rounds - self.question.steps
        counted = self.formula.count(list(self.longer.values()), extra + 1)
        if len(counted) > extra:
            self.formula.add(-counted[extra])

    def add_loads(self, on_pair: Mapping[tuple[int, int], Sequence[int]]) -> None:
        """Require that in step t a pair of nodes carries at most its capacity times the rounds of the step.

        `on_pair[pair, t]`: the transfers that would use it; kept as `loads`.
        """
        self.loads = on_pair
        for (pair, step), literals in on_pair.items():
            capacity = int(self.question.topology.pair_capacity[pair])
            counted = self.formula.count(literals, capacity * self.longest + 1)
            for length in range(1, self.longest):
                if len(counted) > capacity * length:
                    self.formula.add(-counted[capacity * length], self.longer[step, length + 1])
            if len(counted) > capacity * self.longest:
                self.formula.add(-counted[capacity * self.longest])

    def load_clauses(self, transfers: int) -> int:
        """Estimated number of clauses of `add_loads` for the given number of transfers of one pair in one step."""
        most = int(self.question.topology.pair_capacity.max()) * self.longest + 1
        return 2 * transfers * min(most, transfers)

    def lengths(self, model: frozenset[int]) -> list[int]:
        """The rounds of every step in a model."""
        return [1 + sum(self.longer[step, length] in model for length in range(2, self.longest + 1)) for step in self.times]


def true_keys(family: Family, model: frozenset[int]) -> list[tuple[int, ...]]:
    """Indices of the variables of a family that are true, in order."""
    return [key for key, variable in family.items() if variable in model]
