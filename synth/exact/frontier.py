"""Frontiers of small networks: every point found, with its schedule, and every refuted point, with its proof.

The definitions of frontiers, candidates and the end of the search are where they are checked:
`verify.frontier.points`. For each candidate, cheapest first: the distance, the bandwidth bound, what earlier refutations imply,
symmetric schedules (which can only be found, never excluded), and last the trusted formula, which gives a schedule or a proof.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from types import MappingProxyType

from certree.models.common.errors import InputError, UnsupportedError
from certree.models.network.topology import Topology
from certree.models.schedule.collective import Collective
from certree.models.schedule.schedule import Schedule
from certree.synth.bounds.find import Bound
from certree.synth.exact.encodings.clauses import SymmetricClauses, TrustedClauses
from certree.synth.exact.encodings.solver import Asking
from certree.synth.exact.refuter import Refuter, formula_proof
from certree.synth.method import Monitor
from certree.synth.solvers.cpsat import Budget, Status
from certree.synth.symmetric.symmetry import Group, free_groups
from certree.verify.exact.question import Point, Question
from certree.verify.exact.refutations.prices import Rows
from certree.verify.exact.refutations.refutation import Document
from certree.verify.exact.rup import ProofError
from certree.verify.frontier.answers import rounds_of, why_not
from certree.verify.frontier.document import frontier_document
from certree.verify.frontier.points import best_rate, last_steps, levels, most_uncovered, obligations, undominated

TOTAL_CONFLICTS = 400_000  # of the whole search, at effort 1
POINT_CONFLICTS = 100_000  # for one candidate
SYMMETRIC_CONFLICTS = 5_000  # for one candidate and one group
MAX_GROUPS = 3
MANY_ROUNDS = 8  # this many candidates with equal chunks and steps are not tried one by one


@dataclass(frozen=True, eq=False)
class Frontier:
    """Result of a search: points found, with their schedules, points refuted, with their proofs, and candidates left open."""

    question: Question
    max_chunks: int
    bandwidth: tuple[Fraction, Bound]
    points: dict[Point, Schedule]
    refuted: dict[Point, Document]
    undecided: list[Point]
    step_bounds: dict[int, Rows]  # steps -> prices that show what as many steps take, where the points meet it

    def document(self) -> Document:
        """The document that shows all of it."""
        return frontier_document(self.question, self.max_chunks, self.points, self.refuted, self.bandwidth[1], self.step_bounds)


class FrontierSearch:
    """Looks for the frontier up to `max_chunks` chunks per node; `result` may be asked for at any time, also after Ctrl-C.

    `known`: schedules by name that the search starts from, so that only better ones are looked for; the attribute `known` then has
    the point of each that the machine can run with at most `max_chunks` chunks; `seeds`: likewise, without names.
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
    ) -> None:
        if max_chunks < 1 or effort < 1:
            raise InputError(f"max_chunks {max_chunks}, effort {effort}; allowed: whole numbers from 1")
        self.question = Question(topology, collective, 1, 1, 1, memory, scratch)
        self._require_memory(memory)
        self._require_scratch()
        self._max_chunks, self._monitor = max_chunks, monitor
        self._budget, self._effort = Budget(TOTAL_CONFLICTS * effort), effort
        self._refuter = Refuter(self.question)
        self._found: dict[Point, Schedule] = {}
        self._refuted: dict[Point, Document] = {}
        self.known = {name: point for name, schedule in known.items() if (point := self._place(schedule)) is not None}
        for name, point in sorted(self.known.items()):
            self._found.setdefault(point, known[name])
        for schedule in seeds:
            if (point := self._place(schedule)) is not None:
                self._found.setdefault(point, schedule)

    def _require_memory(self, memory: int | None) -> None:
        """UnsupportedError for a limit of memory below the data that start or end at an endpoint."""
        for node in self.question.topology.endpoints.tolist():
            starts = sum(demand.source == node for demand in self.question.demands)
            ends = sum(node in demand.targets for demand in self.question.demands)
            if memory is not None and memory < max(starts, ends):
                raise UnsupportedError(
                    f"endpoint {node} must store {max(starts, ends)} chunks at the start or at the end; memory is {memory}"
                )

    def _require_scratch(self) -> None:
        """UnsupportedError where endpoints may not forward chunks and some chunk has no other route; one buffer is always
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

    def _place(self, schedule: Schedule) -> Point | None:
        """The point of a schedule of at most `max_chunks` chunks; None for one that the machine of the frontier cannot run."""
        each = 1 if self.question.is_sum else len(self.question.sources)
        rounds = rounds_of(schedule)
        if schedule.chunks % each or schedule.chunks > each * self._max_chunks or rounds < schedule.steps:
            return None
        question = self.question.at((schedule.chunks // each, schedule.steps, rounds))
        return question.point if why_not(question, schedule) is None else None

    @cached_property
    def _groups(self) -> list[Group]:
        """Symmetries to look for schedules with; none for collectives whose chunks they do not permute freely."""
        covered = self.question.collective.kind in SymmetricClauses.kinds and not self.question.is_limited
        return free_groups(self.question.topology)[:MAX_GROUPS] if covered else []

    def run(self) -> None:
        """Go through the candidates: chunks ascending, steps ascending, rounds ascending from the bounds to the first schedule;
        then look for lower bounds on the rounds of these steps for any number of chunks.

        Ends early where a formula is too large: more chunks, steps or rounds make it no smaller.
        """
        try:
            self._run()
            self._price_levels()
        except UnsupportedError as error:
            self._monitor.report(f"frontier: undecided: {error}")

    def _run(self) -> None:
        for chunks in range(1, self._max_chunks + 1):
            last_steps(self.question, list(self._found), self._max_chunks)  # too many candidates: better now than after the search
            steps = self.question.least_steps[0]
            while (most := most_uncovered(self.question, list(self._found), chunks, steps)) >= steps:
                self._fewest_rounds(chunks, steps, most)
                steps += 1
                hopeless = not self._found and steps > 4 * self.question.least_steps[0] + 4  # what memory is full of cannot move
                if hopeless or not self._budget.left or self._monitor.expired:
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
            if not self._budget.left or self._monitor.expired:
                return

    def _fewer_at_once(self, point: Point) -> int:
        """Ask for the most rounds first, which may exclude all fewer ones; the rounds that are left to be tried, at most."""
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
        """Look for a schedule and for an infeasibility proof; whether there is a schedule."""
        question = self.question.at(point)
        self._monitor.report("frontier: {} chunks, {} steps, {} rounds".format(*point))
        return self._by_symmetry(question) or self._by_formula(question)

    def _by_symmetry(self, question: Question) -> bool:
        """Look for a schedule that a group of symmetries maps to itself."""
        return any(self._ask(SymmetricClauses(question, group), SYMMETRIC_CONFLICTS) is Status.FEASIBLE for group in self._groups)

    def _ask(self, asking: Asking, conflicts: int) -> Status:
        """Encode and solve; a schedule that is found is kept."""
        asking.accepts(asking.question)
        asking.encode()
        status = asking.solve(self._budget, self._monitor, conflicts * self._effort)
        if status is Status.FEASIBLE:
            self._keep(asking.question, asking.decode())
        return status

    def _keep(self, question: Question, schedule: Schedule) -> None:
        """Keep a schedule at its own point, which may have fewer rounds than were allowed."""
        self._found[question.chunks, question.steps, rounds_of(schedule)] = schedule

    def _by_formula(self, question: Question) -> bool:
        """Ask the trusted formula; its model is a schedule, its refutation a proof. The candidate stays open unless the checker
        accepts the proof."""
        asking = TrustedClauses(question)
        status = self._ask(asking, POINT_CONFLICTS)
        if status is Status.INFEASIBLE:
            try:
                self._refuted[question.point] = formula_proof(asking)
            except ProofError as error:
                self._monitor.report(f"frontier: {question.point} is left undecided: {error}")
        return status is Status.FEASIBLE

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
        """Prices for the steps up to which the points reach no better rate, as lower bounds for all schedules."""
        reached = levels(self._found)
        for (_, rate), (after, _) in pairwise([*reached, (reached[-1][0] + 1, Fraction(0))] if reached else ()):
            if rate > self._refuter.rate_bound and not self._monitor.expired:
                self._refuter.price(after - 1)

    @property
    def _met_prices(self) -> dict[int, Rows]:
        """Prices that the best point of as many steps meets, where they show more than the bandwidth bound: of each rate those for
        the most steps."""
        met: dict[Fraction, tuple[int, Rows]] = {}
        for steps, priced in sorted(self._refuter.prices.items()):
            if priced is not None and self._refuter.rate_bound < priced[0] == best_rate(self._found, self._max_chunks, steps):
                met[priced[0]] = steps, priced[1]
        return dict(sorted(met.values()))
