"""Fewest steps by constraint solving, for small networks."""

from dataclasses import dataclass, replace
from math import ceil
from typing import Any

import numpy as np

from certree.models.common.errors import UndecidedError, UnsupportedError
from certree.models.schedule.collective import SYMMETRIC_KINDS
from certree.models.schedule.schedule import Schedule, make_schedule
from certree.synth.bounds.find import find_bounds
from certree.synth.exact.encodings.all_reduce_encoding import AllReduceEncoding, ExchangeEncoding
from certree.synth.exact.encodings.encoding import Columns, Encoding
from certree.synth.exact.encodings.gather import GatherEncoding
from certree.synth.exact.fewest_steps_search import prove_fewest
from certree.synth.method import Options, Request, Tier, flag, method
from certree.synth.packing.growth import grow_trees
from certree.synth.phases import Phase, by_reversal, compose
from certree.synth.solvers.cpsat import Budget, Status
from certree.verify.bounds.instance import Instance
from certree.verify.bounds.witness import best_bounds
from certree.verify.certificates.certificate import make_certificate

TOTAL_BUDGET = 20  # deterministic seconds at effort 1
ENCODINGS: tuple[type[Encoding], ...] = (AllReduceEncoding, GatherEncoding)


@method("exact", SYMMETRIC_KINDS, options={"exchange": flag(False)}, published=False, tier=Tier.ALWAYS, order=95, is_anytime=True)
def exact(request: Request, options: Options) -> Schedule:
    """The fewest steps for K chunks, by CP-SAT: all-gather, reduce-scatter by reversal, all-reduce directly; up to 9 endpoints.

    K: `chunks` (rooted collectives: a multiple of the endpoints), or one chunk per endpoint, and two as well when one neither meets
    a bound nor beats MultiTree; the faster at the given size is returned. Step counts are tried upwards from the latency and
    bandwidth bounds; MultiTree's trees are the schedule to beat, and what is returned when nothing shorter was found.
    Option exchange=true: two neighbours may exchange sums in an all-reduce, which can save a step; where they do, tables have the
    profile `buffers`.

    Provenance records the model, the solver's answer for every step count, and the status: `optimal` when each smaller step count
    is refuted, by a bound or by the solver; else `feasible`. The solver's answer is valid for the model only and is not a
    certificate. The certificate has a proof that one step less is impossible (`verify.certificates.fewest_steps`), where one was
    found with the effort; provenance reports the result of this search in words.
    UnsupportedError when `steps` is below a bound, UndecidedError when no schedule with that few steps was found.
    """
    kind, nodes = request.collective.kind, len(request.topology.endpoints)
    encoding = ExchangeEncoding if options["exchange"] else next(each for each in ENCODINGS if kind in each.kinds)
    provenance = request.provenance("exact", options, model=encoding.model)
    budget = Budget(TOTAL_BUDGET * request.effort)
    first = _fewest_steps(request, encoding, nodes if request.chunks is None else request.chunks, budget, provenance)
    if request.chunks is not None or request.steps is not None or first.settled:
        return _proved(first.schedule, request)
    second = _fewest_steps(request, encoding, 2 * nodes, budget, provenance)
    return _proved(min(first.schedule, second.schedule, key=request.cycles), request)


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
        """Whether it meets a bound or beats what was known."""
        return self.schedule.steps == self.least or self.schedule.steps < self.known


def _fewest_steps(request: Request, encoding: type[Encoding], chunks: int, budget: Budget, provenance: dict[str, Any]) -> _Answer:
    """The shortest schedule with `chunks` chunks that was found; errors as `exact`."""
    encoding.accepts(request.topology, request.collective, chunks)
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
    search = _search(request, encoding, roots, range(least, min(known.steps - 1, allowed) + 1), budget)
    if search.columns is not None:
        return answer(make_schedule(request.topology, request.collective, known.chunk_root, search.columns), "solver", search)
    if known.steps > allowed:
        said = "; ".join(search.words) or "not asked, no effort or time was left"
        raise UndecidedError(f"exact: found no schedule of at most {allowed} steps; solver: {said}; model: {encoding.model}")
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
        step = np.concatenate([phase.step + turn * phase.steps for turn in turns])
        wanted = chunk < len(roots)
        src, dst = (np.tile(column, len(turns))[wanted] for column in (phase.src, phase.dst))
        return Phase(chunk[wanted], step[wanted], src, dst)

    reduce, gather = (repeated(phase) for phase in by_reversal(request, grow_trees))
    return compose(request, np.array(roots), reduce, gather, {})


@dataclass(frozen=True)
class _Search:
    """Result of the search: a schedule or None; OPTIMAL when every smaller step count was refuted, else FEASIBLE; and the solver's
    answer for each step count."""

    columns: Columns | None
    status: Status
    words: list[str]


def _search(request: Request, encoding: type[Encoding], roots: list[int], counts: range, budget: Budget) -> _Search:
    """Ask for each number of steps, fewest first, until there is a schedule, or no time or budget left to ask."""
    status, words = Status.OPTIMAL, list[str]()
    for steps in counts:
        if request.monitor.expired or not budget.left:
            return _Search(None, Status.FEASIBLE, words)
        request.monitor.report(f"exact: looking for a schedule of {steps} steps")
        question = encoding(request.topology, request.collective, roots, steps)
        question.encode()
        answer = question.solve(request, budget)
        words.append(f"{'schedule' if answer.has_solution else answer.value} at S={steps}")
        if answer.has_solution:
            return _Search(question.decode(), status, words)
        if answer is not Status.INFEASIBLE:
            status = Status.FEASIBLE
    return _Search(None, status, words)
