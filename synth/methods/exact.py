"""Fewest steps by constraint solving, for small networks."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import ceil

import numpy as np

from certree.models.collective import CollectiveKind
from certree.models.errors import UndecidedError, UnsupportedError
from certree.models.schedule import NO_ROOT, Schedule, make_schedule
from certree.models.topology import Int32
from certree.synth.cpsat import Status
from certree.synth.cuts import best_cut
from certree.synth.encodings.all_reduce import AllReduceEncoding
from certree.synth.encodings.encoding import Columns, Encoding
from certree.synth.encodings.gather import GatherEncoding
from certree.synth.method import METHODS, Request, read_options, require_collective, require_direct
from certree.synth.methods.multitree import grow_trees
from certree.synth.phases import Phase, by_reversal, compose, turned_round
from certree.verify.witness import Instance, best_bounds, cheap_bounds


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
    require_direct(request, "exact")
    options = read_options(request, "exact", {})
    roots = _chunk_roots(request)
    low = _least_steps(request, len(roots))
    if request.steps is not None and request.steps < low:
        raise UnsupportedError(f"{len(roots)} chunks take at least {low} steps here by latency and bandwidth; not {request.steps}")
    encode, model = _encoder(request, roots)

    def record(schedule: Schedule, trees: str, search: "_Search") -> Schedule:
        words = {"model": model, "status": search.status.value, "solver": search.words, "trees": trees}
        return request.offer(replace(schedule, provenance=request.provenance("exact", options, **words)))

    known = _known(request, roots)
    record(known, "multitree", _Search(None, Status.FEASIBLE, []))
    allowed = known.steps if request.steps is None else request.steps
    search = _search(request, encode, low, min(known.steps - 1, allowed))
    if search.columns is not None:
        return record(_schedule(request, roots, search.columns), "solver", search)
    if known.steps > allowed:
        raise UndecidedError(f"exact: found no schedule of at most {allowed} steps; solver: {'; '.join(search.words)}; {model}")
    return record(known, "multitree", search)


def _chunk_roots(request: Request) -> Int32:
    """The root of every chunk (all-reduce: of MultiTree's tree for it), endpoints in turn; UnsupportedError for other shares."""
    endpoints = request.topology.endpoints
    chunks = len(endpoints) if request.chunks is None else request.chunks
    Encoding.accepts(request.topology, chunks)
    if request.collective.is_rooted and chunks % len(endpoints):
        raise UnsupportedError(f"exact gives all {len(endpoints)} endpoints equally many chunks; {chunks} were asked for")
    return np.resize(endpoints, chunks)


def _least_steps(request: Request, chunks: int) -> int:
    """The fewest steps that the latency and bandwidth bounds allow for that many chunks."""
    instance = Instance(request.topology, request.collective)
    bounds = cheap_bounds(instance)
    if request.collective.is_rooted:
        bounds.append(best_cut(request.topology, request.collective))
    best = best_bounds(instance, bounds)
    return max(ceil(best["latency"][0]), ceil(best["bandwidth"][0] * chunks))


def _encoder(request: Request, roots: Int32) -> tuple[Callable[[int], Encoding], str]:
    """From a number of steps to the encoding of this request, and its model in words."""
    topology, kind = request.topology, request.collective.kind
    if kind is CollectiveKind.ALL_REDUCE:
        return lambda steps: AllReduceEncoding(topology, len(roots), steps), AllReduceEncoding.model
    if kind is CollectiveKind.ALL_GATHER:
        return lambda steps: GatherEncoding(topology, roots.tolist(), steps), GatherEncoding.model
    return lambda steps: GatherEncoding(turned_round(topology), roots.tolist(), steps), f"{GatherEncoding.model}, reversed"


def _schedule(request: Request, roots: Int32, columns: Columns) -> Schedule:
    """The requested collective from what its encoding decoded."""
    if request.collective.kind is CollectiveKind.ALL_REDUCE:
        return make_schedule(request.topology, request.collective, np.full(len(roots), NO_ROOT), columns)
    gather = Phase(**{name: columns[name] for name in ("chunk", "step", "src", "dst")})
    return compose(request, roots, gather.reversed(), gather, {})


def _known(request: Request, roots: Int32) -> Schedule:
    """MultiTree's trees, played as often as the chunks need. All of it fits the encodings' models."""
    nodes = len(request.topology.endpoints)

    def repeated(phase: Phase | None) -> Phase | None:
        if phase is None:
            return None
        rounds = range(-(-len(roots) // nodes))
        chunk = np.concatenate([phase.chunk + i * nodes for i in rounds])
        wanted = chunk < len(roots)
        return Phase(
            chunk=chunk[wanted],
            step=np.concatenate([phase.step + i * phase.steps for i in rounds])[wanted],
            src=np.tile(phase.src, len(rounds))[wanted],
            dst=np.tile(phase.dst, len(rounds))[wanted],
        )

    reduce, gather = (repeated(phase) for phase in by_reversal(request, grow_trees))
    return compose(request, roots, reduce, gather, {})


@dataclass(frozen=True)
class _Search:
    """What the search came to: a schedule or None; OPTIMAL when every smaller step count was refuted, else FEASIBLE; and what the
    solver said of each step count it was asked for."""

    columns: Columns | None
    status: Status
    words: list[str]


def _search(request: Request, encode: Callable[[int], Encoding], low: int, high: int) -> _Search:
    """Ask for `low` steps, then for more, up to `high`, until there is a schedule."""
    status, words = Status.OPTIMAL, list[str]()
    for steps in range(low, high + 1):
        if request.monitor.expired:
            return _Search(None, Status.FEASIBLE, words)
        request.monitor.report(f"exact: looking for a schedule of {steps} steps")
        encoding = encode(steps)
        encoding.encode()
        answer = encoding.solve(request)
        words.append(f"{'schedule' if answer.has_solution else answer.value} at S={steps}")
        if answer.has_solution:
            return _Search(encoding.decode(), status, words)
        if answer is not Status.INFEASIBLE:
            status = Status.FEASIBLE
    return _Search(None, status, words)
