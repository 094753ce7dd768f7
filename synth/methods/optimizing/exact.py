"""Fewest steps by constraint solving, for small networks."""

from dataclasses import dataclass, replace
from math import ceil
from typing import Any

import numpy as np

from certree.models.common.errors import UndecidedError, UnsupportedError
from certree.models.schedule.collective import SYMMETRIC_KINDS
from certree.models.schedule.schedule import Schedule, make_schedule
from certree.models.schedule.schedule_columns import NO_ROOT
from certree.synth.bounds.find import find_bounds
from certree.synth.exact.encodings.all_reduce_encoding import AllReduceEncoding, ExchangeEncoding
from certree.synth.exact.encodings.clauses import TrustedClauses
from certree.synth.exact.encodings.encoding import MAX_CHUNKS, Encoding
from certree.synth.exact.encodings.encoding import MAX_ENDPOINTS as ENDPOINTS_OF_TREES
from certree.synth.exact.encodings.gather import GatherEncoding
from certree.synth.exact.fewest_steps_search import prove_fewest
from certree.synth.method import Options, Request, Tier, choice, flag, method
from certree.synth.packing.growth import grow_trees
from certree.synth.phases import Phase, by_reversal, compose
from certree.synth.price import FREE
from certree.synth.solvers.back_end import AUTO, PROVING
from certree.synth.solvers.cpsat import Budget, Status
from certree.verify.bounds.instance import Instance
from certree.verify.bounds.witness import best_bounds
from certree.verify.certificates.certificate import make_certificate
from certree.verify.exact.question import Question

TOTAL_BUDGET = 20  # deterministic seconds at effort 1
TOTAL_CONFLICTS, MOST_CONFLICTS = 100_000, 20_000  # of searches by formula, and of one step count, at effort 1
MAX_ENDPOINTS, CLAUSES = 16, 150_000  # of searches by formula; about as many clauses, at effort 1
TREES = "cp-sat"  # the solver of the models in which sums form trees


@method(
    "exact",
    SYMMETRIC_KINDS,
    options={"exchange": flag(True), "solver": choice(AUTO, "cadical", TREES, "z3")},
    published=False,
    tier=Tier.ALWAYS,
    order=95,
    is_anytime=True,
    auto_options={"exchange": "false", "solver": TREES},
    price=lambda *_: FREE,
)
def exact(request: Request, options: Options) -> Schedule:
    """The fewest steps for K chunks, by constraint solving: all-gather, reduce-scatter, all-reduce; up to 16 endpoints.

    K is `chunks` (rooted collectives: a multiple of the endpoints), or one chunk per endpoint. Two chunks per endpoint are tried as
    well when one neither meets a bound nor beats MultiTree; the faster schedule at the given size is returned. Step counts are
    tried upwards from the latency and bandwidth bounds; MultiTree's trees are the schedule to beat, which is returned when nothing
    shorter was found. Option solver: cp-sat searches sums along trees, on direct networks of up to 9 endpoints; cadical and z3
    search all schedules for the machine of frontiers, by its formula; larger formulas need more effort. auto is cp-sat where that
    covers the network, else cadical. Option exchange=false (cp-sat): no two neighbours exchange sums in an all-reduce, which can
    save a step; where two do, tables have the profile `buffers`. Method auto uses exchange=false and solver=cp-sat.

    Provenance records the model, the solver's answer for every step count, and the status: `optimal` when each smaller step count
    is refuted, by a bound or by the solver; else `feasible`. The solver's answer is valid for the model only and is not a
    certificate. The certificate has a proof that one step less is impossible (`verify.certificates.fewest_steps`), where one was
    found with the effort; provenance reports the result of this search in words.
    UnsupportedError when `steps` is below a bound, UndecidedError when no schedule with that few steps was found.
    """
    nodes, model = len(request.topology.endpoints), _model(request, options)
    provenance = request.provenance("exact", options, model=model.words)
    first = _fewest_steps(request, model, nodes if request.chunks is None else request.chunks, provenance)
    if request.chunks is not None or request.steps is not None or first.settled:
        return _proved(first.schedule, request)
    second = _fewest_steps(request, model, 2 * nodes, provenance)
    return _proved(min(first.schedule, second.schedule, key=request.cycles), request)


def _model(request: Request, options: Options) -> "_Trees | _Formula":
    """The model that the options ask for."""
    kind, solver = request.collective.kind, str(options["solver"])
    encoding: type[Encoding] = GatherEncoding
    if kind in AllReduceEncoding.kinds:
        encoding = ExchangeEncoding if options["exchange"] else AllReduceEncoding
    if solver == AUTO:
        fits = request.topology.is_direct and len(request.topology.endpoints) <= ENDPOINTS_OF_TREES
        solver = TREES if fits else PROVING
    return _Trees(request, encoding) if solver == TREES else _Formula(request, solver)


class _Trees:
    """Sums along trees, on direct networks, by CP-SAT."""

    def __init__(self, request: Request, encoding: type[Encoding]) -> None:
        self._request, self._encoding, self.words = request, encoding, encoding.model
        self._budget = Budget(TOTAL_BUDGET * request.effort)

    def accepts(self, chunks: int) -> None:
        """Raise UnsupportedError where the model does not cover the request."""
        self._encoding.accepts(self._request.topology, self._request.collective, chunks)

    @property
    def is_spent(self) -> bool:
        """Whether there is no budget left."""
        return not self._budget.left

    def ask(self, roots: list[int], steps: int) -> tuple[Status, Schedule | None]:
        """The answer for that many steps of one round, and the schedule."""
        request = self._request
        question = self._encoding(request.topology, request.collective, roots, steps)
        question.encode()
        status = question.solve(request, self._budget)
        if not status.has_solution:
            return status, None
        known = np.full(len(roots), NO_ROOT) if request.collective.kind in AllReduceEncoding.kinds else np.array(roots)
        return status, make_schedule(request.topology, request.collective, known, question.decode())


class _Formula:
    """All schedules for the machine of frontiers, by its formula, with any back end."""

    def __init__(self, request: Request, solver: str) -> None:
        self._request, self._solver = request, solver
        self._question = Question(request.topology, request.collective, 1, 1, 1)
        self._budget, self.words = Budget(TOTAL_CONFLICTS * request.effort), f"{self._question.model}; steps of one round"

    def accepts(self, chunks: int) -> None:
        """Raise UnsupportedError where there are too many endpoints or chunks."""
        ends, name = len(self._request.topology.endpoints), self._request.topology.name
        if ends > MAX_ENDPOINTS:
            raise UnsupportedError(f"exact covers up to {MAX_ENDPOINTS} endpoints; {name} has {ends}")
        if chunks > MAX_CHUNKS:
            raise UnsupportedError(f"exact covers up to {MAX_CHUNKS} chunks; {chunks} were asked for")

    @property
    def is_spent(self) -> bool:
        """Whether there is no budget left."""
        return not self._budget.left

    def ask(self, roots: list[int], steps: int) -> tuple[Status, Schedule | None]:
        """The answer for that many steps of one round, and the schedule. UNKNOWN where the formula is too large for the effort."""
        question, each = self._question, 1 if self._question.is_sum else len(self._question.demands)
        of_transfer = 6 * len(question.topology.endpoints) if question.is_sum else 2
        if len(roots) * steps * len(question.arcs) * of_transfer > CLAUSES * self._request.effort:
            return Status.UNKNOWN, None
        asking = TrustedClauses(question.at((len(roots) // each, steps, steps)), self._solver)
        asking.encode()
        status = asking.solve(self._budget, self._request.monitor, MOST_CONFLICTS * self._request.effort)
        return status, asking.decode() if status.has_solution else None


def _proved(schedule: Schedule, request: Request) -> Schedule:
    """The schedule with a proof that its steps are the fewest, if one is found; not searched for where the solver was undecided."""
    if schedule.provenance["status"] != Status.OPTIMAL.value:
        return replace(schedule, provenance={**schedule.provenance, "fewest_steps": "not proved: fewer steps are undecided"})
    claim, words = prove_fewest(schedule, request.effort, request.monitor)
    noted = replace(schedule, provenance={**schedule.provenance, "fewest_steps": words})
    return noted if claim is None else noted.with_certificate(make_certificate(noted, [], claim))


@dataclass(frozen=True)
class _Answer:
    """A schedule, the fewest steps that the bounds allow for its chunks, and the steps of the schedule to beat."""

    schedule: Schedule
    least: int
    known: int

    @property
    def settled(self) -> bool:
        """Whether the schedule meets a bound or beats the known one."""
        return self.schedule.steps == self.least or self.schedule.steps < self.known


def _fewest_steps(request: Request, model: _Trees | _Formula, chunks: int, provenance: dict[str, Any]) -> _Answer:
    """The shortest schedule with `chunks` chunks that was found; errors as `exact`."""
    model.accepts(chunks)
    roots = _chunk_roots(request, chunks)
    least = _least_steps(request, chunks)
    if request.steps is not None and request.steps < least:
        raise UnsupportedError(f"{chunks} chunks take at least {least} steps here by latency and bandwidth; not {request.steps}")
    known = _known(request, roots)
    allowed = known.steps if request.steps is None else request.steps

    def answer(schedule: Schedule, trees: str, search: _Search) -> _Answer:
        words = {"status": search.status.value, "solver": search.words, "trees": trees}
        return _Answer(request.offer(replace(schedule, provenance={**provenance, **words})), least, known.steps)

    if known.steps <= allowed:
        answer(known, "multitree", _Search(None, Status.FEASIBLE, []))  # for an interruption
    search = _search(request, model, roots, range(least, min(known.steps - 1, allowed) + 1))
    if search.schedule is not None:
        return answer(search.schedule, "solver", search)
    if known.steps > allowed:
        said = "; ".join(search.words) or "not asked, no effort or time was left"
        raise UndecidedError(f"exact: found no schedule of at most {allowed} steps; solver: {said}; model: {model.words}")
    return answer(known, "multitree", search)


def _chunk_roots(request: Request, chunks: int) -> list[int]:
    """The root of every chunk (all-reduce: of MultiTree's tree for it), endpoints in turn; UnsupportedError for other shares."""
    endpoints = request.topology.endpoints.tolist()
    if request.collective.is_rooted and chunks % len(endpoints):
        raise UnsupportedError(f"exact gives all {len(endpoints)} endpoints equally many chunks; {chunks} were asked for")
    return [endpoints[chunk % len(endpoints)] for chunk in range(chunks)]


def _least_steps(request: Request, chunks: int) -> int:
    """The fewest steps that the latency and bandwidth bounds allow for that many chunks."""
    instance = Instance(request.topology, request.collective)
    best = best_bounds(instance, find_bounds(request.topology, request.collective))
    return max(ceil(best["latency"][0]), ceil(best["bandwidth"][0] * chunks))


def _known(request: Request, roots: list[int]) -> Schedule:
    """MultiTree's trees, grown once and repeated as often as the chunks need. They fit the models of the encodings."""
    nodes = len(request.topology.endpoints)
    turns = range(-(-len(roots) // nodes))

    def repeated(phase: Phase | None) -> Phase | None:
        if phase is None:
            return None
        chunk = np.concatenate([phase.chunk + turn * nodes for turn in turns])
        path = None if phase.path is None else np.tile(phase.path, (len(turns), 1))
        step = np.concatenate([phase.step + turn * phase.steps for turn in turns])
        wanted = chunk < len(roots)
        src, dst = (np.tile(column, len(turns))[wanted] for column in (phase.src, phase.dst))
        return Phase(chunk[wanted], step[wanted], src, dst, None if path is None else path[wanted])

    reduce, gather = (repeated(phase) for phase in by_reversal(request, grow_trees))
    return compose(request, np.array(roots), reduce, gather, {})


@dataclass(frozen=True)
class _Search:
    """Result of the search: a schedule or None; OPTIMAL when every smaller step count was refuted, else FEASIBLE; and the solver's
    answer for each step count."""

    schedule: Schedule | None
    status: Status
    words: list[str]


def _search(request: Request, model: _Trees | _Formula, roots: list[int], counts: range) -> _Search:
    """Ask for each number of steps, fewest first, until there is a schedule, or no time or budget left to ask."""
    status, words = Status.OPTIMAL, list[str]()
    for steps in counts:
        if request.monitor.expired or model.is_spent:
            return _Search(None, Status.FEASIBLE, words)
        request.monitor.report(f"exact: looking for a schedule of {steps} steps")
        answer, schedule = model.ask(roots, steps)
        words.append(f"{'schedule' if answer.has_solution else answer.value} at S={steps}")
        if answer.has_solution:
            return _Search(schedule, status, words)
        if answer is not Status.INFEASIBLE:
            status = Status.FEASIBLE
    return _Search(None, status, words)
