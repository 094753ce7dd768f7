"""The interface of solvers for frontier questions: accept, encode, solve, decode."""

from abc import ABC, abstractmethod
from typing import ClassVar

from certree.models.common.errors import UnsupportedError
from certree.models.schedule.collective import CollectiveKind
from certree.models.schedule.schedule import Schedule
from certree.synth.monitor import Monitor
from certree.synth.solvers.cpsat import Budget, Status
from certree.verify.exact.question import Question


class Asking(ABC):
    """A question (C, S, R) put to a solver in its own terms. Call `encode`, then `solve`, and `decode` if the status is FEASIBLE.

    `kinds`: the supported collectives. The status INFEASIBLE is not trusted: only `proof`, if there is one, can be checked. There
    is no proof where only some schedules are searched.
    """

    kinds: ClassVar[frozenset[CollectiveKind]] = frozenset(CollectiveKind)

    def __init__(self, question: Question) -> None:
        self.question = question
        self.proof = ""  # after INFEASIBLE: text of a proof, where the solver writes one

    @classmethod
    def accepts(cls, question: Question) -> None:
        """Raise UnsupportedError unless the collective is one it covers."""
        if question.collective.kind not in cls.kinds:
            covered = ", ".join(sorted(cls.kinds))
            raise UnsupportedError(f"{cls.__name__} covers {covered}, not {question.collective.kind}")

    @abstractmethod
    def encode(self) -> None:
        """Build the solver's problem. UnsupportedError where that would be too large."""

    @abstractmethod
    def solve(self, budget: Budget, monitor: Monitor, most: float) -> Status:
        """Search, spending up to `most` of the budget, in the solver's own deterministic unit; UNKNOWN when that was not enough."""

    @abstractmethod
    def decode(self) -> Schedule:
        """The schedule that was found; RuntimeError when none was."""
