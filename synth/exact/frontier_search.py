"""Frontiers of small networks: every point found, with its schedule, and every refuted point, with its proof.

`verify.frontier.points`, which checks frontiers, defines frontiers, candidates and the end of the search. For each candidate the
cheapest arguments come first: the distance, the bandwidth bound, implications of earlier refutations, and symmetric schedules
(which can only be found, never excluded). Last comes the trusted formula, which gives a schedule or a proof.
"""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from types import MappingProxyType

from certree.models.common.errors import InputError, UnsupportedError
from certree.models.network.topology import Topology
from certree.models.schedule.collective import Collective
from certree.models.schedule.schedule import Schedule
from certree.synth.bounds.find import Bound
from certree.synth.exact.asking import NO_GROUP, Answer, Ask, Asker, Guess, Here, Known, UnansweredError
from certree.synth.exact.refuter import Refuter
from certree.synth.exact.symmetry_seeds import side_by_side, swaps, with_chunks
from certree.synth.monitor import Monitor
from certree.synth.solvers.back_end import AUTO
from certree.synth.solvers.cpsat import Budget, Status
from certree.verify.exact.question import Point, Question
from certree.verify.exact.refutations.prices import Rows
from certree.verify.exact.refutations.refutation import Document
from certree.verify.frontier.answers import rounds_of, why_not
from certree.verify.frontier.document import frontier_document
from certree.verify.frontier.points import best_rate, last_steps, levels, most_uncovered, obligations, undominated

TOTAL_CONFLICTS = 400_000  # of the whole search, at effort 1
POINT_CONFLICTS = 100_000  # for one candidate
SYMMETRIC_CONFLICTS = 5_000  # for one candidate and one group
MANY_ROUNDS = 8  # this many candidates with the same chunks and steps, or more, are not tried one by one


@dataclass(frozen=True, eq=False)
class Frontier:
    """Result of a search: points found, with their schedules, points refuted, with their proofs, and candidates left open."""

    question: Question
    max_chunks: int
    bandwidth: tuple[Fraction, Bound]
    points: dict[Point, Schedule]
    refuted: dict[Point, Document]
    undecided: list[Point]
    step_bounds: dict[int, Rows]  # steps -> prices that prove the rounds of this many steps, where the points meet them

    def document(self) -> Document:
        """The document of the whole frontier."""
        return frontier_document(self.question, self.max_chunks, self.points, self.refuted, self.bandwidth[1], self.step_bounds)


class FrontierSearch:
    """Search for the frontier up to `max_chunks` chunks per node; `result` is available at any time, also after Ctrl-C.

    `known`: schedules by name that the search starts from, so that only better ones are looked for; the attribute `known` then has
    the point of each that the machine can run with at most `max_chunks` chunks; `seeds`: likewise, without names.
    `solver`: the back end that is asked; only refutations with a proof count.
    UnsupportedError for networks with too many paths between cells, InputError for fewer than one chunk. The budget is `effort`
    times TOTAL_CONFLICTS conflicts; the same effort gives the same result unless the monitor has a deadline.
    """

    def __init__(
        self,
        topology: Topology,
        collective: Collective,
        max_chunks: int,
        effort: int,
        monitor: Monitor,
        known: Mapping[str, Schedule] = MappingProxyType({}),
        memory: int | None = None,
        scratch: int | None = None,
        seeds: Iterable[Schedule] = (),
        solver: str = AUTO,
    ) -> None:
        if max_chunks < 1 or effort < 1:
            raise InputError(f"max_chunks {max_chunks}, effort {effort}; allowed: whole numbers from 1")
        self.question = Question(topology, collective, 1, 1, 1, memory, scratch)
        self._require_memory(memory)
        self._require_scratch()
        self._max_chunks, self._monitor, self._effort, self._solver = max_chunks, monitor, effort, solver
        self._refuter = Refuter(self.question)
        self._start: dict[Point, Schedule] = {}
        placed = {name: place(self.question, schedule, max_chunks) for name, schedule in known.items()}
        self.known = {name: point for name, point in placed.items() if point is not None}
        for name, at in sorted(self.known.items()):
            self._start.setdefault(at, known[name])
        for schedule in seeds:
            if (point := place(self.question, schedule, max_chunks)) is not None:
                self._start.setdefault(point, schedule)
        if self.question.is_sum and self.question.slots is None:
            self._start_from_symmetries()
        self._here = Here(self.question, monitor)
        self._begin(self._here)

    def _start_from_symmetries(self) -> None:
        """Add schedules to start from: those in which neighbours swap sums, and images of all starting schedules side by side."""
        found = list(swaps(self.question.topology))
        found += [more for one in (*found, *self._start.values()) for more in side_by_side(one, self._max_chunks)]
        for schedule in found:
            if (point := place(self.question, schedule, self._max_chunks)) is not None:
                self._start.setdefault(point, schedule)

    def _begin(self, asker: Asker) -> None:
        """Go back to the start of the search, with answers from `asker`."""
        self._asker, self._found = asker, dict(self._start)
        self._refuted: dict[Point, Document] = {}
        self._budget = Budget(TOTAL_CONFLICTS * self._effort)
        self._refuter.forget_prices()

    def _require_memory(self, memory: int | None) -> None:
        """Raise UnsupportedError for a limit of memory below the data that start or end at an endpoint."""
        for node in self.question.topology.endpoints.tolist():
            starts = sum(demand.source == node for demand in self.question.demands)
            ends = sum(node in demand.targets for demand in self.question.demands)
            if memory is not None and memory < max(starts, ends):
                raise UnsupportedError(
                    f"endpoint {node} must store {max(starts, ends)} chunks at the start or at the end; memory is {memory}"
                )

    def _require_scratch(self) -> None:
        """Raise UnsupportedError where endpoints may not forward chunks and some chunk has no other route; one buffer is always
        enough."""
        question = self.question
        for demand in question.demands if question.scratch == 0 else ():
            kept = {demand.source, *demand.targets}
            reached, fresh = {demand.source}, {demand.source}
            while fresh:
                fresh = {arc.dst for arc in question.arcs if arc.src in fresh} & kept - reached
                reached |= fresh
            if reached != kept:
                target = min(kept - reached)
                raise UnsupportedError(f"a chunk from {demand.source} to {target} must pass others; scratch is 0")

    def run(self, answers: Mapping[Ask, Answer] | None = None) -> None:
        """Go through the candidates: chunks ascending, steps ascending, rounds ascending from the bounds to the first schedule;
        then look for lower bounds on the rounds of these steps for any number of chunks.

        The search ends early where a formula is too large, since more chunks, steps or rounds do not make it smaller. With
        `answers`, which may come from any process, it ends at the first question without an answer.
        """
        self._begin(self._here if answers is None else Known(answers))
        try:
            self._run()
            self._price_levels()
        except UnsupportedError as error:
            self._monitor.report(f"frontier: undecided: {error}")
        except UnansweredError:
            pass

    def ahead(self, answers: Mapping[Ask, Answer], most: int) -> list[Ask]:
        """Up to `most` questions without an answer that `run` will reach, in this order, if all of them turn out to be refuted; an
        empty list where `run` reaches its end. The first one is certain to be asked."""
        guess = Guess(answers, most)
        self._begin(guess)
        with suppress(UnsupportedError, UnansweredError):
            self._run()
        return list(guess.wanted)

    def _run(self) -> None:
        for chunks in range(1, self._max_chunks + 1):
            last_steps(self.question, list(self._found), self._max_chunks)  # too many candidates: better now than after the search
            steps = self.question.least_steps[0]
            while (most := most_uncovered(self.question, list(self._found), chunks, steps)) >= steps:
                self._fewest_rounds(chunks, steps, most)
                steps += 1
                hopeless = not self._found and steps > 4 * self.question.least_steps[0] + 4  # full memory cannot move
                if hopeless or not self._budget.left or self._asker.expired:
                    return

    def _fewest_rounds(self, chunks: int, steps: int, most: int) -> None:
        """Find the point with these chunks and steps that has the fewest rounds, at most `most`."""
        least = self._refuter.least_rounds(chunks, steps, most)
        certain = not self.question.is_sum and not self.question.is_limited  # with enough rounds shortest paths suffice
        if most - least > MANY_ROUNDS and not certain:
            most = self._fewer_at_once((chunks, steps, most))
        for rounds in range(least, most + 1):
            point = (chunks, steps, rounds)
            if self._implied_by(point) is None and self._decide(point):
                return
            if not self._budget.left or self._asker.expired:
                return

    def _fewer_at_once(self, point: Point) -> int:
        """The most rounds left to try, after asking for the most rounds first, whose refutation excludes all smaller numbers."""
        try:
            found = self._implied_by(point) is None and self._decide(point)
        except UnsupportedError:  # fewer rounds make a smaller formula
            return point[2]
        if found:
            return most_uncovered(self.question, list(self._found), point[0], point[1])
        return 0 if self._implied_by(point) is not None else point[2] - 1

    def _implied_by(self, point: Point) -> Point | None:
        """A refuted point that excludes this one."""
        return next((known for known in sorted(self._refuted) if self.question.at(known).implies(point)), None)

    def _decide(self, point: Point) -> bool:
        """Whether there is a schedule: search for one that a group of symmetries maps to itself, then for any schedule or a proof
        that there is none. The candidate stays open unless the checker accepts the proof."""
        for group in self._here.groups_for(point):
            if self._ask(point, SYMMETRIC_CONFLICTS, group).status is Status.FEASIBLE:
                return True
        answer = self._ask(point, POINT_CONFLICTS)
        if answer.proof is not None:
            self._refuted[point] = answer.proof
        elif answer.status is Status.INFEASIBLE:
            self._monitor.report(f"frontier: {point} is left undecided: {answer.why}")
        return answer.status is Status.FEASIBLE

    def _ask(self, point: Point, conflicts: int, group: int = NO_GROUP) -> Answer:
        """The answer within the budget; a schedule that is found is kept at its own point, which may have fewer rounds than were
        allowed. UnsupportedError where the formula is too large."""
        answer = self._asker.answer(Ask(point, min(conflicts * self._effort, int(self._budget.left)), group, self._solver))
        self._budget.spend(answer.spent)
        if answer.too_large:
            raise UnsupportedError(answer.why or "")
        if answer.schedule is not None:
            rounds = rounds_of(answer.schedule)
            self._found[*point[:2], rounds] = answer.schedule
            for fewer in range(1, point[0]) if self.question.is_sum else ():
                self._found.setdefault((fewer, point[1], rounds), with_chunks(answer.schedule, fewer))
        return answer

    @property
    def result(self) -> Frontier:
        """The frontier as far as it is known."""
        points = undominated(self._found)
        refuted: dict[Point, Document] = {}
        undecided: list[Point] = []
        for point in obligations(self.question, points, self._max_chunks):
            known = self._implied_by(point)
            if (easy := self._refuter.easy_proof(point)) is not None:
                refuted[point] = easy
            elif known is not None:
                refuted[known] = self._refuted[known]
                if known != point:
                    refuted[point] = {"kind": "implied", "by": list(known)}
            else:
                undecided.append(point)
        schedules = {point: self._found[point] for point in points}
        proofs = dict(sorted(refuted.items()))
        return Frontier(self.question, self._max_chunks, self._refuter.bandwidth, schedules, proofs, undecided, self._met_prices)

    def _price_levels(self) -> None:
        """Find prices, as lower bounds for all schedules, for the numbers of steps up to which the points reach no better rate."""
        reached = levels(self._found)
        for (_, rate), (after, _) in pairwise([*reached, (reached[-1][0] + 1, Fraction(0))] if reached else ()):
            if rate > self._refuter.rate_bound and not self._monitor.expired:
                self._refuter.price(after - 1)

    @property
    def _met_prices(self) -> dict[int, Rows]:
        """The prices that the best point with the same number of steps meets, where they prove more than the bandwidth bound; for
        each rate only those for the most steps."""
        met: dict[Fraction, tuple[int, Rows]] = {}
        for steps, priced in sorted(self._refuter.prices.items()):
            if priced is not None and self._refuter.rate_bound < priced[0] == best_rate(self._found, self._max_chunks, steps):
                met[priced[0]] = steps, priced[1]
        return dict(sorted(met.values()))


def place(question: Question, schedule: Schedule, max_chunks: int) -> Point | None:
    """The point of a schedule with at most `max_chunks` chunks; None for a schedule that the machine of the question cannot run."""
    each = 1 if question.is_sum else len(question.demands)
    rounds = rounds_of(schedule)
    if schedule.chunks % each or schedule.chunks > each * max_chunks or rounds < schedule.steps:
        return None
    asked = question.at((schedule.chunks // each, schedule.steps, rounds))
    return asked.point if why_not(asked, schedule) is None else None
