"""Whether a schedule is optimal in (chunks, steps, rounds): a better schedule, or a refutation of every point that could be better
(`verify.certificates.optimum`)."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from certree.models.common.errors import UnsupportedError
from certree.models.schedule.collective import Collective, CollectiveKind
from certree.models.schedule.schedule import Schedule
from certree.synth.exact.asking import Answer, Ask, Here
from certree.synth.exact.frontier_search import POINT_CONFLICTS, TOTAL_CONFLICTS, FrontierSearch, place
from certree.synth.exact.refuter import Refuter
from certree.synth.exact.seeds import backwards, composed, known_schedules, mirrored, symmetric_schedules
from certree.synth.monitor import Monitor
from certree.synth.solvers.back_end import AUTO
from certree.synth.solvers.cpsat import Budget, Status
from certree.verify.certificates.optimum import optimum_claim, question_of
from certree.verify.exact.question import Point, Question
from certree.verify.exact.refutations.refutation import Document
from certree.verify.exact.rivals import rivals
from certree.verify.frontier.points import covers, most_uncovered

#: limits for further schedules once a better one is found: conflicts, and the size of formulas as chunks · steps · arcs · endpoints
QUICK_CONFLICTS, QUICK_SIZE = 5_000, 20_000


@dataclass
class Optimum:
    """The result of a search: `better`, a schedule whose point dominates that of the question; the `claim` of a certificate, where
    every rival is refuted; otherwise `tried`, a line for each attempt."""

    question: Question
    better: Schedule | None = None
    better_point: Point | None = None
    better_claim: Document | None = None  # where the better schedule is optimal by proofs without search
    claim: Document | None = None
    tried: list[str] = field(default_factory=list)

    @property
    def status(self) -> str:
        """`optimal`, `beaten` or `open`."""
        return "beaten" if self.better is not None else "open" if self.claim is None else "optimal"


class OptimumSearch:
    """Search for a better schedule, and for refutations; `result` is available at any time, also after Ctrl-C.

    `cost`: of several better schedules the one of the least cost is kept; by default it has the fewest rounds per chunk.
    `solver`: the back end that is asked; only refutations with a proof count.
    UnsupportedError for schedules that the machine cannot run. The budget is `effort` times TOTAL_CONFLICTS conflicts; the same
    effort gives the same result unless the monitor has a deadline.
    """

    def __init__(
        self,
        schedule: Schedule,
        effort: int,
        monitor: Monitor,
        cost: Callable[[Schedule], Any] = lambda schedule: 0,
        solver: str = AUTO,
    ) -> None:
        self.result = Optimum(question_of(schedule))
        self._question, self._effort, self._monitor = self.result.question, effort, monitor
        self._refuter = Refuter(self._question)
        self._refuted: dict[Point, Document] = {}
        self._solver, self._cost, self._found = solver, cost, dict[Point, tuple[Any, Schedule]]()

    def run(self) -> None:
        """Try proofs without search first, then known schedules, then the trusted formula of each remaining rival."""
        try:
            left = self._without_search(self._question)
        except UnsupportedError as error:
            left = None
            self.result.tried.append(str(error))
        if left != []:
            self._look_at_seeds()
        if left is not None and self._ask_all(left):
            self.result.claim = self._claim_about(self._question)
        if self.result.better is not None and self.result.better_point is not None:
            question = self._question.at(self.result.better_point)
            with suppress(UnsupportedError):
                if not self._without_search(question):
                    self.result.better_claim = self._claim_about(question)

    def _without_search(self, question: Question) -> list[Point]:
        """The rivals of a point that neither a proof without search nor a known refutation excludes, smallest first."""
        left = []
        for point in rivals(question):
            self._refuter.least_rounds(*point)  # looks for prices
            if (easy := self._refuter.easy_proof(point)) is not None:
                self._refuted[point] = easy
            elif self._implied_by(point) is None:
                left.append(point)
        return sorted(left, key=lambda point: (point[0] * point[1], point))

    def _implied_by(self, point: Point) -> Point | None:
        """A refuted point that excludes this one."""
        return next((known for known in sorted(self._refuted) if self._question.at(known).implies(point)), None)

    def _claim_about(self, question: Question) -> Document:
        """The claim about a point whose rivals are refuted."""
        used: dict[Point, Document] = {}
        for point in rivals(question):
            known = point if point in self._refuted else self._implied_by(point)
            assert known is not None
            used[known] = self._refuted[known]
            if known != point:
                used[point] = {"kind": "implied", "by": list(known)}
        return optimum_claim(question, [{"point": list(point), "proof": proof} for point, proof in sorted(used.items())])

    def _look_at_seeds(self) -> None:
        """Keep the known schedules that are better."""
        looked = 0
        for schedule in self._seeds():
            looked += 1
            self._keep(schedule)
        self.result.tried.append(f"{looked} schedules of known algorithms: {len(self._found) or 'none'} better")

    def _keep(self, schedule: Schedule) -> None:
        """Keep a schedule if it is better than that of the question, and as the result if it has the least cost so far."""
        point = place(self._question, schedule, self._question.chunks)
        if point is None or point == self._question.point or not covers(point, self._question.point) or point in self._found:
            return
        self._found[point] = (self._cost(schedule), Fraction(point[2], point[0]), *point[:2]), schedule
        best = min(self._found, key=lambda one: self._found[one][0])
        self.result.better_point, self.result.better = best, self._found[best][1]

    def _seeds(self) -> Iterator[Schedule]:
        """Schedules of published algorithms, symmetric ones, and sums made of copies."""
        topology, collective, chunks = self._question.topology, self._question.collective, self._question.chunks
        self._monitor.report("exact: schedules of known algorithms")
        yield from known_schedules(topology, collective, self._monitor).values()
        yield from symmetric_schedules(topology, collective, chunks, self._monitor)
        if (other := mirrored(topology, collective)) is not None:
            for copying in self._points(Question(*other, 1, 1, 1), chunks):
                yield backwards(copying, topology, collective)
        if self._question.is_sum and chunks >= len(topology.endpoints):
            gather = Question(topology, Collective(CollectiveKind.ALL_GATHER), 1, 1, 1)
            for copying in self._points(gather, chunks // len(topology.endpoints)):
                yield from composed(copying)

    def _points(self, question: Question, max_chunks: int) -> list[Schedule]:
        """The schedules of a frontier of a collective that copies; none where it cannot be searched."""
        topology, collective = question.topology, question.collective
        known = known_schedules(topology, collective, self._monitor)
        seeds = symmetric_schedules(topology, collective, max_chunks, self._monitor)
        try:
            search = FrontierSearch(topology, collective, max_chunks, self._effort, self._monitor, known, seeds=seeds)
            search.run()
        except UnsupportedError:
            return []
        return list(search.result.points.values())

    def _ask_all(self, left: list[Point]) -> bool:
        """Whether all of these points are refuted; the search stops when the budget or the time is used up."""
        here, budget, refuted = Here(self._question, self._monitor), Budget(TOTAL_CONFLICTS * self._effort), not self._found
        for rival in left:
            if (point := self._beyond_found(rival)) is None or self._implied_by(point) is not None:
                continue
            if self._monitor.expired or not budget.left:
                self.result.tried.append(f"{point} and larger points: no {'time' if self._monitor.expired else 'budget'} left")
                return False
            most = QUICK_CONFLICTS if self._found else POINT_CONFLICTS
            answer = here.answer(Ask(point, min(most * self._effort, int(budget.left)), solver=self._solver))
            budget.spend(answer.spent)
            if answer.too_large:
                self.result.tried.append(f"{point} and larger points: {answer.why}")
                return False
            refuted &= answer.proof is not None
            if answer.schedule is not None:
                self._keep(answer.schedule)
            elif answer.proof is not None:
                self._refuted[point] = answer.proof
            self.result.tried.append(f"{point}: {_words(answer)}")
        return refuted

    def _beyond_found(self, rival: Point) -> Point | None:
        """The point to ask about: the rival itself, or, once better schedules are known, the rival with the most rounds that still
        beat them; None where there is no such number, or the formula is not small."""
        question, (chunks, steps, rounds) = self._question, rival
        if not self._found:
            return rival
        ends = len(question.topology.endpoints) if question.is_sum else len(question.demands)
        rounds = min(rounds, most_uncovered(question, list(self._found), chunks, steps))
        is_small = chunks * steps * len(question.arcs) * ends <= QUICK_SIZE * self._effort
        return (chunks, steps, rounds) if is_small and rounds >= steps else None


def _words(answer: Answer) -> str:
    """An answer in words."""
    if answer.schedule is not None:
        return "schedule found"
    if answer.proof is not None:
        return "refuted"
    return answer.why or ("no proof" if answer.status is Status.INFEASIBLE else f"undecided after {int(answer.spent):,} conflicts")
