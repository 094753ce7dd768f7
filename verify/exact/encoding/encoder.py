"""The trusted encoder: a question as a formula that has a model exactly when there is a schedule.

Refutations rest on it, so it is plain: no variable is left out that a smarter encoder could, and nothing is assumed without loss.
The one symmetry that can be broken, chunks that are alike, has its justification checked (`order`). Variables and clauses carry a
line of purpose each. The families that all questions share:

    longer[t, k]   step t lasts k rounds or more (k = 2, 3, ...; every step lasts one)

The rest is in `spread` (whatever starts in one place and is copied on; reduce kinds turned round) and `sums` (the all-reduce).
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
        self.longest = question.rounds - question.steps + 1  # rounds that one step can have
        if (needed := self.estimate() + self.round_clauses()) > MAX_CLAUSES:
            raise UnsupportedError(f"the formula of {question.point} would have {needed} clauses; at most {MAX_CLAUSES} are tried")
        self.longer = self.formula.family("longer", "step t lasts k rounds or more [t, k]", self.times, range(2, self.longest + 1))
        self.add_rounds()
        self.build()

    @abstractmethod
    def estimate(self) -> int:
        """About how many clauses there will be."""

    @abstractmethod
    def build(self) -> None:
        """Add the variables and clauses of the collective."""

    @property
    def alike(self) -> Sequence[int]:
        """Chunks that may change places; none where that is not used."""
        return ()

    @property
    def chunk_families(self) -> tuple[Family, ...]:
        """The families whose first index is a chunk."""
        return ()

    def first_transfers(self, chunk: int) -> list[int]:
        """The variables by which alike chunks are put in order."""
        raise NotImplementedError(f"chunks of {type(self).__name__} are not put in order")

    @abstractmethod
    def decode(self, model: Sequence[int]) -> Schedule:
        """The schedule of a model, given as true literals; it is for the judge to say that it is one."""

    def round_clauses(self) -> int:
        """About how many clauses `add_rounds` needs."""
        longer = self.question.steps * (self.longest - 1)
        return 2 * longer * min(self.longest, longer)

    def add_rounds(self) -> None:
        """A step of k + 1 rounds has k; all steps together have no more than R."""
        for (step, length), variable in self.longer.items():
            if length > 2:
                self.formula.add(-variable, self.longer[step, length - 1])
        extra = self.question.rounds - self.question.steps
        counted = self.formula.count(list(self.longer.values()), extra + 1)
        if len(counted) > extra:
            self.formula.add(-counted[extra])

    def add_loads(self, on_pair: Mapping[tuple[int, int], Sequence[int]]) -> None:
        """A pair of nodes carries in step t no more transfers than its capacity times the rounds of the step.

        `on_pair[pair, t]`: the transfers that would use it.
        """
        for (pair, step), literals in on_pair.items():
            capacity = int(self.question.topology.pair_capacity[pair])
            counted = self.formula.count(literals, capacity * self.longest + 1)
            for length in range(1, self.longest):
                if len(counted) > capacity * length:
                    self.formula.add(-counted[capacity * length], self.longer[step, length + 1])
            if len(counted) > capacity * self.longest:
                self.formula.add(-counted[capacity * self.longest])

    def load_clauses(self, transfers: int) -> int:
        """About how many clauses `add_loads` needs for so many transfers of one pair in one step."""
        most = int(self.question.topology.pair_capacity.max()) * self.longest + 1
        return 2 * transfers * min(most, transfers)

    def lengths(self, model: frozenset[int]) -> list[int]:
        """The rounds of every step in a model."""
        return [1 + sum(self.longer[step, length] in model for length in range(2, self.longest + 1)) for step in self.times]


def true_keys(family: Family, model: frozenset[int]) -> list[tuple[int, ...]]:
    """Indices of the variables of a family that are true, in order."""
    return [key for key, variable in family.items() if variable in model]
