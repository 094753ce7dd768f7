"""Improvement of a valid schedule by new slots, new trees, another delay or repeats; never a worse one."""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from certree.extras.improvement.make.demand_orders import reordered_demand
from certree.extras.improvement.make.orders import reordered
from certree.extras.improvement.make.periods import closer
from certree.extras.improvement.make.precedence import Precedence, justified, mirrored
from certree.extras.improvement.make.regrowth import Forest, Regrowth
from certree.extras.improvement.make.tail_search import without_last_slot
from certree.models.common.errors import UnsupportedError
from certree.models.fine.rebooking import fitted
from certree.models.forms.lowering_chain import takes
from certree.models.schedule.collective import SYMMETRIC_KINDS
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule, SymmetricSchedule, written_out
from certree.models.schedule.unit_rounds import in_unit_rounds
from certree.synth.deadlock_free_routes import with_channels
from certree.synth.method import Request
from certree.synth.packing.selection import Search, Trees
from certree.synth.packing.trees import family_of
from certree.synth.solvers.cpsat import Budget
from certree.verify.rules.tree_proof import flows_along_trees

_SEARCHED = takes("improving", "members", "virtual_channel", "buffers")

DELAYS = (1, 2, 3, 4, 5, 6, 8, 10)
MAX_TREE_ROWS = 600_000
#: chunks grown again in one unit of effort, transfers counted; CP-SAT's units of deterministic time
REGROWN, SOLVED = 200_000, 2.0
_PASSES = 3  # forward and backward
_RUIN = 8  # chunks that are grown again together at most
_PATIENCE = 12  # neighbourhoods in a row in which CP-SAT finds nothing


def improve(source: AnySchedule, request: Request) -> AnySchedule:
    """The fastest schedule found by closed form at the request's size and machine, which it remembers; the transfers of `source`
    when none is faster.

    `source` must be valid, and of the request's topology and collective. Tried are: all trees in new slots, phases overlapping and
    iterations repeating (`search`); any rows in new slots at other delays, moved back and forth in time; trees
    grown again where others leave links free (`regrowth`, direct networks); and the last slot emptied by CP-SAT (`tail_search`).
    Trees reach all endpoints, in whatever virtual channels: other schedules get new slots alone. Transfers with fine slots are
    taken in other orders (`orders`), those of a demand likewise (`demand_orders`), and iterations closer together (`periods`).
    Intermediate results go to the monitor. UnsupportedError when the source has no closed form to compare with.
    """
    if isinstance(source, Schedule):
        source = fitted(source, request.message_bytes, request.machine)
    request.monitor.offer(source, request.cycles(source))
    if isinstance(source, SymmetricSchedule):
        source = source.written_out()
    origin = {"of": source.provenance.get("method", "file"), "of_schedule": source.digest}
    orders = _orders_for(source)
    if orders is not None:
        for candidate, what in orders(source, request, origin):
            _offer(request, written_out(with_channels(candidate, request.machine)), what)
        return _best(request)
    _SEARCHED.require(source)
    if source.transfers <= MAX_TREE_ROWS and not source.version_2_fields:
        _try_retiming(source, request, origin)
    if source.period is None:
        _try_slots(source, request, origin)
    return _best(request)


def _orders_for(source: Schedule) -> Callable[[Schedule, Request, Mapping[str, Any]], Iterator[tuple[Schedule, str]]] | None:
    """The search for other orders of transfers that are booked one after the other; None where steps have equal slots."""
    if source.collective.demand is not None:
        return reordered_demand
    if not source.has_fine_slots:
        return None
    return reordered if source.repeats == 1 else closer


def _best(request: Request) -> AnySchedule:
    best = request.monitor.best
    assert best is not None
    return request.remember(best)


def _offer(request: Request, schedule: Schedule, what: str) -> bool:
    """Whether a candidate is the fastest so far; then the monitor has it."""
    cycles = request.cycles(schedule)
    before = request.monitor.best_cycles
    if before is not None and cycles >= before:
        return False
    request.monitor.offer(schedule, cycles)
    request.monitor.report(f"{cycles} cycles: {what}")
    return True


def _try_retiming(source: Schedule, request: Request, origin: Mapping[str, Any]) -> None:
    """The trees with new slots, delays, periods and repeats."""
    if source.collective.kind not in SYMMETRIC_KINDS:
        return
    try:
        family = family_of(source)
    except UnsupportedError:
        return

    def provenance(_found: Mapping[str, Any]) -> Mapping[str, Any]:
        return request.provenance("improve", {}, moves="slots and repeats", **origin)

    Search(request, provenance).run([Trees.built(family)])


def _try_slots(source: Schedule, request: Request, origin: Mapping[str, Any]) -> None:
    """Other slots for the rows, one after the other: whole passes, new trees, CP-SAT."""
    try:
        plain = in_unit_rounds(source)
        candidates = [_justified(plain, delay, request, origin) for delay in DELAYS]
    except UnsupportedError:
        return
    found = [candidate for candidate in candidates if candidate is not None]
    for candidate in found:
        _offer(request, candidate, f"delay {candidate.delay}, moved back and forth")
    found.sort(key=request.cycles)
    chance = random.Random(request.seed)
    for candidate in found[:2]:
        grown = candidate
        collective = candidate.collective
        spans = collective.members is None and not collective.has_targets and candidate.buffers == 1
        if spans and candidate.topology.is_direct and not candidate.routes and flows_along_trees(candidate):
            grown = _regrown(candidate, request, chance)
            _offer(request, grown, f"delay {grown.delay}, trees grown again")
        _emptied(grown, request, chance)


def _with_slots(schedule: Schedule, slots: Sequence[int], delay: int, **more: Any) -> Schedule:
    """A schedule with the same rows in other slots, without the empty slots at the start."""
    step = np.array(slots, np.int32)
    step -= step.min(initial=0)
    order = np.argsort(step, kind="stable")
    columns = {name: getattr(schedule, name)[order] for name in schedule.columns if name != "step"}
    rounds = np.ones(int(step.max(initial=0)) + 1, np.int32)
    return replace(schedule, step=step[order], rounds=rounds, delay=delay, certificate=None, **columns, **more)


def _justified(plain: Schedule, delay: int, request: Request, origin: Mapping[str, Any]) -> Schedule | None:
    """All rows as early as they can be with a delay, after passes towards both ends of time; None where one finds no place."""
    if request.monitor.expired:
        return None
    precedence = Precedence.of(plain, delay)
    backwards = mirrored(precedence)
    slots: list[int] = plain.step.tolist()
    best: list[int] | None = None
    for _ in range(_PASSES):
        early = justified(precedence, slots, sorted(range(len(slots)), key=slots.__getitem__))
        if early is None:
            break
        best = early if best is None or max(early) < max(best) else best
        late = justified(backwards, early, sorted(range(len(early)), key=lambda row: -early[row]))
        if late is None:
            break
        last = max(late)
        slots = [last - slot for slot in late]
    provenance = request.provenance("improve", {}, moves="slots", **origin)
    return None if best is None else _with_slots(plain, best, delay, provenance=provenance)


def _regrown(schedule: Schedule, request: Request, chance: random.Random) -> Schedule:
    """Regrowth of some trees at a time, for copies forwards and for reduces backwards in time, until the effort is spent."""
    forest = Forest.of(schedule)
    edges = len(schedule.topology.endpoints)
    turns = max(4, REGROWN * request.effort // (edges * _RUIN))
    kinds = [
        backwards for backwards in (False, True) if (schedule.collective.reduces if backwards else schedule.collective.gathers)
    ]
    for backwards in kinds * 2:
        forest = forest.mirrored() if backwards else forest
        work = Regrowth(forest, backwards=backwards)
        for _ in range(turns // (2 * len(kinds))):
            if request.monitor.expired:
                break
            work.try_again(work.late_chunks(chance, _RUIN))
        forest = forest.mirrored() if backwards else forest
    provenance = {**schedule.provenance, "moves": "slots and trees"}
    return replace(forest.schedule(schedule), provenance=provenance)


def _emptied(schedule: Schedule, request: Request, chance: random.Random) -> None:
    """The last slot emptied, again and again."""
    try:
        precedence = Precedence.of(schedule, schedule.delay)
    except UnsupportedError:
        return
    budget, slots, misses = Budget(SOLVED * request.effort), schedule.step.tolist(), 0
    while misses < _PATIENCE and budget.left > 0 and not request.monitor.expired and max(slots) > 0:
        found = without_last_slot(precedence, slots, budget, chance, request.monitor)
        misses = misses + 1 if found is None else 0
        if found is not None:
            slots = found
            provenance = {**schedule.provenance, "moves": f"{schedule.provenance.get('moves', 'slots')}, CP-SAT"}
            shorter = _with_slots(schedule, slots, schedule.delay, provenance=provenance)
            _offer(request, shorter, f"delay {shorter.delay}, {shorter.steps} slots by CP-SAT")
