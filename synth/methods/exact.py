"""Fewest steps by constraint solving, for small networks."""

from dataclasses import dataclass, replace
from math import ceil

import numpy as np

from certree.models.collective import CollectiveKind
from certree.models.errors import UndecidedError, UnsupportedError
from certree.models.schedule import Schedule, make_schedule
from certree.synth.cpsat import Status
from certree.synth.cuts import best_cut
from certree.synth.encodings.all_reduce import AllReduceEncoding
from certree.synth.encodings.encoding import Columns, Encoding
from certree.synth.encodings.gather import GatherEncoding
from certree.synth.method import METHODS, Request, read_options, require_collective
from certree.synth.methods.multitree import grow_trees
from certree.synth.phases import Phase, by_reversal, compose
from certree.verify.witness import Instance, best_bounds, cheap_bounds

ENCODINGS: tuple[type[Encoding], ...] = (AllReduceEncoding, GatherEncoding)


@METHODS.register("exact")
def exact(request: Request) -> Schedule:
    """The fewest steps for K chunks, by CP-SAT: all-gather, reduce-scatter by reversal, all-reduce directly; up to 9 endpoints.

    K is one chunk an endpoint unless `chunks` says otherwise (rooted collectives: a multiple of the endpoints). Step counts are
    tried upwards from the latency and bandwidth bounds. MultiTree's trees are the schedule to beat, and what is returned when
    nothing shorter was found. Provenance records the model, what the solver said of every step count, and the status: `optimal`
    when each smaller step count is refuted, by a bound or by the solver; else `feasible`. The solver's word holds for the model
    only and is no certificate. UnsupportedError when `steps` is below a bound, UndecidedError when so few were not found.
    """
    require_collective(request, "exact", list(CollectiveKind))
    options = read_options(request, "exact", {})
    encoding = next(encoding for encoding in ENCODINGS if request.collective.kind in encoding.kinds)
    chunks = len(request.topology.endpoints) if request.chunks is None else request.chunks
    encoding.accepts(request.topology, request.collective, chunks)
    roots = _chunk_roots(request, chunks)
    low = _least_steps(request, chunks)
    if request.steps is not None and request.steps < low:
        raise UnsupportedError(f"{chunks} chunks take at least {low} steps here by latency and bandwidth; not {request.steps}")

    def record(schedule: Schedule, trees: str, search: "_Search") -> Schedule:
        words = {"model": encoding.model, "status": search.status.value, "solver": search.words, "trees": trees}
        return request.offer(replace(schedule, provenance=request.provenance("exact", options, **words)))

    known = _known(request, roots)
    record(known, "multitree", _Search(None, Status.FEASIBLE, []))
    allowed = known.steps if request.steps is None else request.steps
    search = _search(request, encoding, roots, low, min(known.steps - 1, allowed))
    if search.columns is not None:
        made = make_schedule(request.topology, request.collective, known.chunk_root, search.columns)
        return record(made, "solver", search)
    if known.steps > allowed:
        said = "; ".join(search.words) or "not asked in time"
        raise UndecidedError(f"exact: found no schedule of at most {allowed} steps; solver: {said}; model: {encoding.model}")
    return record(known, "multitree", search)


def _chunk_roots(request: Request, chunks: int) -> list[int]:
    """The root of every chunk (all-reduce: of MultiTree's tree for it), endpoints in turn; UnsupportedError for other shares."""
    endpoints = request.topology.endpoints.tolist()
    if request.collective.is_rooted and chunks % len(endpoints):
        raise UnsupportedError(f"exact gives all {len(endpoints)} endpoints equally many chunks; {chunks} were asked for")
    return [endpoints[chunk % len(endpoints)] for chunk in range(chunks)]


def _least_steps(request: Request, chunks: int) -> int:
    """The fewest steps that the latency and bandwidth bounds allow for that many chunks."""
    instance = Instance(request.topology, request.collective)
    bounds = cheap_bounds(instance)
    if request.collective.is_rooted:
        bounds.append(best_cut(request.topology, request.collective))
    best = best_bounds(instance, bounds)
    return max(ceil(best["latency"][0]), ceil(best["bandwidth"][0] * chunks))


def _known(request: Request, roots: list[int]) -> Schedule:
    """MultiTree's trees, grown once and played as often as the chunks need. It fits the models of the encodings."""
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
    """What the search came to: a schedule or None; OPTIMAL when every smaller step count was refuted, else FEASIBLE; and what the
    solver said of each step count it was asked for."""

    columns: Columns | None
    status: Status
    words: list[str]


def _search(request: Request, encoding: type[Encoding], roots: list[int], low: int, high: int) -> _Search:
    """Ask for `low` steps, then for more, up to `high`, until there is a schedule."""
    status, words = Status.OPTIMAL, list[str]()
    for steps in range(low, high + 1):
        if request.monitor.expired:
            return _Search(None, Status.FEASIBLE, words)
        request.monitor.report(f"exact: looking for a schedule of {steps} steps")
        question = encoding(request.topology, request.collective, roots, steps)
        question.encode()
        answer = question.solve(request)
        words.append(f"{'schedule' if answer.has_solution else answer.value} at S={steps}")
        if answer.has_solution:
            return _Search(question.decode(), status, words)
        if answer is not Status.INFEASIBLE:
            status = Status.FEASIBLE
    return _Search(None, status, words)
