"""Paths and slots for blocks with one source and one target: all-to-all, gather and scatter."""

import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.models.common.errors import UnsupportedError
from certree.models.network.topology import Int32
from certree.models.schedule.collective import WITH_TARGETS, Collective, CollectiveKind
from certree.models.schedule.default_shares import chunk_owners
from certree.models.schedule.schedule import make_schedule
from certree.models.schedule.schedule_columns import Op
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule, SymmetricSchedule
from certree.synth.flows.block_paths import FEW_BLOCKS, SWEEPS, Guide
from certree.synth.flows.block_slots import Moves, moves_of, slots_of
from certree.synth.flows.demand_schedule import demanded_schedule
from certree.synth.flows.fold import fold_of
from certree.synth.flows.parallel_links import over_parallel_links
from certree.synth.flows.plan import COPIES, FREE_BLOCKS, MOST_COPIES, WRITTEN_TRANSFERS, FlowPlan, plans
from certree.synth.flows.route_slots import routed, steps_of
from certree.synth.method import Options, Request, Tier, choice, method, require_shape, whole_number
from certree.synth.packing.slotting import Clock, SlotRules, slowest_route

DELAYS = (1, 2, 3)
MOST_TRANSFERS = 1 << 21
WIDER = 4  # the number of periods that are tried, from the load of the fullest link on
WIDEST = (16, 8)  # with switches also periods that are longer by one part in this many


@method(
    "flows",
    WITH_TARGETS,
    options={
        "copies": whole_number(None, 1, MOST_COPIES),
        "delay": whole_number(None, 1, 64),
        "form": choice("auto", "folded", "written"),
    },
    published=False,
    tier=Tier.ALWAYS,
    order=22,
    is_sized=True,
    takes_members=True,
    takes_demand=True,
    own_units=True,
)
def flows(request: Request, options: Options) -> AnySchedule:
    """Blocks along paths that load links evenly, each hop in a slot of its own: all-to-all, gather and scatter on any network.

    Gather and scatter: a maximum flow, decomposed into paths, in as few rounds as the best cut allows. All-to-all: paths of all
    pairs by rerouting with negotiated congestion; on networks that look the same from every node, the paths of one node are
    translated to all. Slots come from list scheduling, the longest path first. Where that takes more slots than the fullest link
    needs, repeating periods are tried, too. With switches a path between two endpoints passes them within one slot; the routes and
    slots of an all-to-all are chosen together. The blocks of a demand are cut into chunks of about equal size, which take the
    places of blocks. Options: copies=C, blocks for each pair, with a demand chunks of the largest block; delay=D, slots until a
    block can move on; by default what is fastest at the size; form=folded keeps the paths of one node and the group, form=written
    all transfers, form=auto writes out up to a million.
    """
    if request.collective.demand is not None:
        return demanded_schedule(request, request.collective.demand, options["copies"], options["delay"] or 1)
    timed = list(_folded_through_switches(request, options["copies"], options["delay"]))
    if not timed:
        timed = [found for plan in plans(request, options["copies"]) for found in _timed(request, plan, options["delay"])]
    fitting = [found for found in timed if request.steps is None or found.steps <= request.steps]
    return request.offer(_schedule(request, _best(fitting or timed, options["form"]), options["form"]))


def _best(timed: list["_Timed"], form: str) -> "_Timed":
    """The fastest candidate; of those that are kept folded, the fastest without a period."""
    best = min(timed, key=lambda found: found.cycles)
    if not best.is_folded(form):
        return best
    return min((found for found in timed if found.rules.period is None), key=lambda found: found.cycles)


def _folded_through_switches(request: Request, copies: int | None, delay: int | None) -> Iterator["_Timed"]:
    """Yield all-to-alls of a group of endpoints that represent all; nothing without one, and where few blocks may do better."""
    topology, collective, endpoints = request.topology, request.collective, len(request.members)
    everyone = collective.kind is CollectiveKind.ALL_TO_ALL and collective.members is None
    fold = fold_of(topology) if everyone else None
    if fold is None:
        return
    found, blocks = [], endpoints * (endpoints - 1)
    least = Guide.of(topology, collective).value * endpoints if blocks <= FEW_BLOCKS else None
    whole = least.denominator if least is not None and least.denominator <= MOST_COPIES else 1
    for count in [copies] if copies else sorted({*COPIES, whole}) if blocks <= FEW_BLOCKS else COPIES[:1]:
        paths = fold.paths(count, request.seed, SWEEPS * request.effort)
        moves = moves_of(topology, paths)
        if len(moves.block) * len(fold.images) <= MOST_TRANSFERS:
            plan = FlowPlan(count, paths, fold.kind, fold.capacity, fold=fold)
            found += list(_through_switches(request, plan, moves, delay))
        if least is not None and any(one.plan.paths.period == least * one.plan.copies for one in found):
            yield from found
            return
    if blocks > FREE_BLOCKS:
        yield from found


@dataclass(frozen=True, eq=False)
class _Timed:
    """Slots for the moves of a plan, and an estimate of their cycles, as if all links were as slow as the slowest."""

    plan: FlowPlan
    moves: Moves
    slots: Int32
    rules: SlotRules
    repeats: int
    cycles: int

    @property
    def steps(self) -> int:
        """The number of steps of one iteration."""
        return int(self.slots.max()) + 1

    def is_folded(self, form: str) -> bool:
        """Whether the schedule is kept as the paths of one node and a group."""
        if form != "auto" or self.plan.cayley is None:
            return form == "folded"
        return len(self.moves.block) * self.plan.cayley.nodes > WRITTEN_TRANSFERS


def _timed(request: Request, plan: FlowPlan, delay: int | None) -> Iterator[_Timed]:
    """Yield, for each delay, a single pass and, where this leaves room on the fullest link, passes that overlap."""
    moves = moves_of(request.topology, plan.paths)
    if moves.routes and not request.collective.has_one_root:
        through_switches = list(_through_switches(request, plan, moves, delay))
        if through_switches:
            yield from through_switches
            return
    clock = Clock(request, slowest_route(request, int(np.diff(moves.offset).max())))
    blocks, chain = plan.copies * len(request.members), int(np.bincount(moves.block).max())
    is_bounded = plan.cayley is None and request.steps is None and not moves.routes  # otherwise a slower one may be taken
    waits = DELAYS if delay is None else (delay,)
    least: dict[int, tuple[int, int]] = {}  # by delay, the fewest cycles of a single pass, and of passes that overlap
    for wait in waits:
        steps = max(plan.paths.period, (chain - 1) * wait + 1)
        rules = SlotRules(wait, None, 0), SlotRules(wait, plan.paths.period, 0)
        least[wait] = clock.least(blocks, rules[0], steps, 0), clock.least(blocks, rules[1], steps, 0)
    bar, found = sys.maxsize, dict[int, list[_Timed]]()
    for wait in sorted(waits, key=lambda wait: min(least[wait])):
        single, overlapping = least[wait]
        with_delay = _with_delay(request, plan, moves, clock, wait, overlaps=overlapping <= bar)
        found[wait] = list(with_delay) if min(single, overlapping) <= bar else []
        bar = min([bar, *(one.cycles for one in found[wait])]) if is_bounded else bar
    for wait in waits:
        yield from found[wait]


def _with_delay(request: Request, plan: FlowPlan, moves: Moves, clock: Clock, wait: int, *, overlaps: bool) -> Iterator[_Timed]:
    """Yield a single pass and, where this leaves room on the fullest link and `overlaps`, passes that overlap."""
    blocks, shortest, period = plan.copies * len(request.members), None, None
    for period in [None, *range(plan.paths.period, plan.paths.period + WIDER)]:
        if period is not None and (not overlaps or (shortest is not None and period >= shortest)):
            break
        slots = slots_of(moves, plan.kind, plan.capacity, wait, period or 0, request.seed)
        if slots is None:
            continue
        rules, steps = SlotRules(wait, period, 0), int(slots.max()) + 1
        cycles, repeats = clock.best(blocks, rules, steps, 0)
        yield _Timed(plan, moves, slots, rules if repeats > 1 else SlotRules(wait, None, 0), repeats, cycles)
        if period is not None:
            break
        shortest = steps
    if moves.routes and plan.paths.period not in {period, shortest}:
        yield from _through_switches(request, plan, moves, wait)


def _through_switches(request: Request, plan: FlowPlan, moves: Moves, delay: int | None) -> Iterator[_Timed]:
    """Yield schedules whose routes and slots are chosen together; nothing where no period that is tried has room."""
    least = plan.paths.period
    near = WIDER if len(moves.block) <= FREE_BLOCKS else 1
    periods = sorted({*range(least, least + near), *(least + -(-least // part) for part in WIDEST)})
    blocks = plan.copies * len(request.members)
    network, count = (request.topology, moves, plan.kind, plan.capacity), len(plan.paths.offset) - 1
    tried = (routed(*network, count, period, request.seed, request.effort) for period in periods)
    found = next((result for result in tried if result is not None), None)
    if found is None:
        return
    paths, place = found
    rerouted = moves_of(request.topology, paths)
    clock = Clock(request, slowest_route(request, int(np.diff(rerouted.offset).max())))
    for wait in DELAYS if delay is None else (delay,):
        slots = steps_of(rerouted, place, wait, paths.period)
        steps = int(slots.max()) + 1
        for period in (None, paths.period) if steps > paths.period else (None,):
            rules = SlotRules(wait, period, 0)
            cycles, repeats = clock.best(blocks, rules, steps, 0)
            yield _Timed(replace(plan, paths=paths), rerouted, slots, rules, repeats, cycles)


def _schedule(request: Request, found: _Timed, form: str) -> AnySchedule:
    topology, collective, plan = request.topology, request.collective, found.plan
    each = len(request.members) - 1
    chunks = plan.copies * each * (1 if collective.has_one_root else each + 1)
    require_shape(request, "flows", chunks, found.steps)
    provenance = request.provenance("flows", {}, copies=plan.copies, load=plan.paths.period)
    if found.is_folded(form):
        return _folded(request, found, provenance)
    routes = found.moves.routes
    if plan.fold is not None:
        columns, routes = plan.fold.written_out(found.moves, found.slots, plan.copies)
    else:
        columns = _written_out(found.moves, found.slots, plan)
    columns["route"], routes = over_parallel_links(topology, columns["step"], columns["route"], routes, found.rules.period)
    root, target = chunk_owners(topology, collective, chunks)
    columns["op"] = np.full(len(columns["chunk"]), Op.COPY, np.int8)
    return make_schedule(
        topology, collective, root, columns, target, routes=routes, delay=found.rules.delay, period=found.rules.period,
        repeats=found.repeats, provenance=provenance,
    )  # fmt: skip


def _folded(request: Request, found: _Timed, provenance: dict[str, Any]) -> SymmetricSchedule:
    """The blocks of node 0 as a scatter, and the group."""
    plan, moves = found.plan, found.moves
    if plan.cayley is None:
        raise UnsupportedError("form=folded needs an all-to-all of all nodes of a network that looks the same from every node")
    each, count = plan.cayley.nodes - 1, plan.copies * (plan.cayley.nodes - 1)
    columns = {"step": found.slots, "src": moves.src, "dst": moves.dst, "route": moves.route}
    columns["chunk"] = (moves.block % plan.copies) * each + moves.block // plan.copies
    columns["op"] = np.full(len(moves.block), Op.COPY, np.int8)
    collective = Collective(CollectiveKind.SCATTER, 0)
    root, target = chunk_owners(request.topology, collective, count)
    base = make_schedule(request.topology, collective, root, columns, target, delay=found.rules.delay)
    return SymmetricSchedule(base, plan.cayley.action, provenance=provenance)


def _written_out(moves: Moves, slots: Int32, plan: FlowPlan) -> dict[str, NDArray[np.int32]]:
    """The columns of all transfers; with a group those of node 0 and their images."""
    block, copies = moves.block.astype(np.int64), plan.copies
    if plan.cayley is None:
        return {"chunk": moves.block, "step": slots, "src": moves.src, "dst": moves.dst, "route": moves.route}
    nodes = plan.cayley.nodes
    if len(block) * nodes > MOST_TRANSFERS:
        raise UnsupportedError(f"flows writes up to {MOST_TRANSFERS} transfers; here are {len(block) * nodes}")
    image = plan.cayley.action.carried(np.arange(nodes))  # image[v, w]: where the translation of 0 to v takes w
    target = image[:, block // copies + 1].astype(np.int64)
    source = np.arange(nodes)[:, None]
    pair = source * (nodes - 1) + target - (target > source)
    chunk = (block % copies) * nodes * (nodes - 1) + pair
    return {
        "chunk": chunk.ravel().astype(np.int32),
        "step": np.tile(slots, nodes),
        "src": image[:, moves.src].ravel(),
        "dst": image[:, moves.dst].ravel(),
        "route": np.tile(moves.route, nodes),
    }
