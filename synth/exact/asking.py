"""Questions of a frontier search to a solver, their answers, and where answers come from.

An answer depends on the question alone, so any process can compute it and the search gives the same result. `Here` solves at once.
`Guess` returns known answers and takes all others to be refutations, so that a search names its next questions.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Protocol

from certree.models.common.errors import UndecidedError, UnsupportedError
from certree.models.schedule.schedule import Schedule
from certree.synth.exact.encodings.clauses import ShareClauses, SymmetricClauses, TrustedClauses
from certree.synth.exact.encodings.quotient import covers_sums
from certree.synth.exact.refuter import formula_proof
from certree.synth.monitor import Monitor
from certree.synth.solvers.back_end import AUTO
from certree.synth.solvers.cpsat import Budget, Status
from certree.synth.symmetric.symmetry import Group, free_groups
from certree.verify.exact.question import Point, Question
from certree.verify.exact.refutations.refutation import Document
from certree.verify.exact.rup import ProofError

MAX_GROUPS = 3
NO_GROUP = -1


@dataclass(frozen=True, order=True)
class Ask:
    """The question whether a point has a schedule, within `most` conflicts of the back end `solver`. `group`: only schedules that
    this group of symmetries maps to themselves are looked for; this finds schedules fast but refutes nothing."""

    point: Point
    most: int
    group: int = NO_GROUP
    solver: str = AUTO

    @property
    def is_symmetric(self) -> bool:
        """Whether the question is about symmetric schedules only."""
        return self.group != NO_GROUP


@dataclass(frozen=True)
class Answer:
    """The `status` and the conflicts `spent`, with the schedule or a proof that the checker accepted. Where the checker rejected
    the proof, or the formula is `too_large`, the reason instead."""

    status: Status
    spent: float = 0
    schedule: Schedule | None = None
    proof: Document | None = None
    why: str | None = None
    too_large: bool = False


class Asker(Protocol):
    """A source of answers."""

    @property
    def expired(self) -> bool:
        """Whether the time limit has passed."""

    def answer(self, ask: Ask) -> Answer:
        """The answer to a question; UNKNOWN where the budget or the time was not enough."""


@dataclass(frozen=True)
class Here:
    """Answers to questions of a search, computed in this process before the deadline of the monitor."""

    question: Question
    monitor: Monitor

    @cached_property
    def groups(self) -> list[Group]:
        """Symmetries to look for schedules with; none for collectives whose chunks they do not permute freely."""
        covered = self.question.collective.kind in SymmetricClauses.kinds and not self.question.is_limited
        return free_groups(self.question.topology)[:MAX_GROUPS] if covered else []

    def groups_for(self, point: Point) -> list[int]:
        """The numbers of the symmetries to look for schedules of that point with."""
        question = self.question.at(point)
        return [number for number, group in enumerate(self.groups) if not question.is_sum or covers_sums(question, group)]

    @property
    def expired(self) -> bool:
        """Whether the deadline of the monitor has passed."""
        return self.monitor.expired

    def answer(self, ask: Ask) -> Answer:
        """Encode the question and solve it."""
        self.monitor.report("frontier: {} chunks, {} steps, {} rounds".format(*ask.point))
        question, budget = self.question.at(ask.point), Budget(ask.most)
        asking = (
            SymmetricClauses(question, self.groups[ask.group], ask.solver)
            if ask.is_symmetric
            else TrustedClauses(question, ask.solver)
        )
        asking.accepts(question)
        try:
            asking.encode()
        except (UnsupportedError, UndecidedError) as error:
            return Answer(Status.UNKNOWN, why=str(error), too_large=True)
        status = asking.solve(budget, self.monitor, ask.most)
        spent = ask.most - budget.left
        if status is Status.FEASIBLE:
            return Answer(status, spent, schedule=asking.decode())
        if status is Status.UNKNOWN and not ask.is_symmetric and question.is_sum and question.chunks > 1:
            return self._by_share(ask, spent)
        if status is not Status.INFEASIBLE or ask.is_symmetric:
            return Answer(Status.UNKNOWN, spent)
        if not asking.back_end.proves:
            return self._confirmed(ask, spent)
        try:
            return Answer(status, spent, proof=formula_proof(asking))
        except ProofError as error:
            return Answer(status, spent, why=str(error))

    def _by_share(self, ask: Ask, spent: float) -> Answer:
        """The answer where the formula of all chunks is too hard: the formula of one chunk with its share of the links is tried,
        within as many conflicts again. Only a refutation of it is conclusive."""
        if self.expired:
            return Answer(Status.UNKNOWN, spent)
        asking, budget = ShareClauses(self.question.at(ask.point)), Budget(ask.most)
        with suppress(UnsupportedError, UndecidedError, ProofError):
            asking.encode()
            status = asking.solve(budget, self.monitor, ask.most)
            spent += ask.most - budget.left
            if status is Status.INFEASIBLE:
                return Answer(status, spent, proof=formula_proof(asking))
        return Answer(Status.UNKNOWN, spent)

    def _confirmed(self, ask: Ask, spent: float) -> Answer:
        """The answer where a back end without proofs says that there is no schedule: the back end with proofs is asked, within as
        many conflicts again. The answer of the first back end alone refutes nothing."""
        found = self.answer(Ask(ask.point, ask.most))
        why = found.why
        if found.status is Status.UNKNOWN and why is None:
            proof = f"no proof was found within {int(found.spent):,} conflicts"
            why = f"{ask.solver} finds no schedule, which proves nothing, and {proof}"
        return replace(found, spent=spent + found.spent, why=why)


class UnansweredError(Exception):
    """Raised at a question without an answer."""


@dataclass(frozen=True)
class Known:
    """Known answers only: `UnansweredError` at the first question that has none."""

    answers: Mapping[Ask, Answer]
    expired = False

    def answer(self, ask: Ask) -> Answer:
        """The answer."""
        if ask not in self.answers:
            raise UnansweredError
        return self.answers[ask]


@dataclass
class Guess:
    """Known answers; other questions are added to `wanted` and taken to be refuted. `UnansweredError` after `most` of these."""

    answers: Mapping[Ask, Answer]
    most: int
    wanted: dict[Ask, None] = field(default_factory=dict)
    expired = False

    def answer(self, ask: Ask) -> Answer:
        """The answer, or the guess."""
        if ask in self.answers:
            return self.answers[ask]
        self.wanted[ask] = None
        if len(self.wanted) == self.most:
            raise UnansweredError
        return Answer(Status.UNKNOWN) if ask.is_symmetric else Answer(Status.INFEASIBLE, proof={})
