"""Runs of reducing switches with windows (NetReduce): switches add up packets of all hosts; the network may lose some."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np

from certree.extras.aggregation.run.aggregation_trace_writer import check_traceable, write_aggregation_trace
from certree.extras.aggregation.run.setup import AggregationRules, AggregationSetup, router_effect, routers_of
from certree.extras.aggregation.run.switch_trees import AggregationTrees
from certree.hw import _core
from certree.hw.core_calls import run_to_end
from certree.hw.engines.core_program import initial_cells
from certree.hw.engines.runs import AUTO, Engine, check_known
from certree.hw.routers.blockage import describe_blockage
from certree.models.common.errors import InputError, UnsupportedError
from certree.models.common.files import check_writable
from certree.models.machine.machine import Machine

ENGINES = (AUTO, Engine.FAST.value, Engine.FLIT.value)
MAX_CYCLES = 1 << 62  # kLastCycle of the core
_BUDGET = 1 << 18  # events between two looks at signals and at the progress callback
_REPORTED = 8


@dataclass(frozen=True)
class SwitchUse:
    """Results of one switch: the most aggregators and payload places in use at once; `busy`: the fraction of its aggregators'
    cycles in use, from first contribution to result; payloads dropped at a full buffer."""

    node: int
    most_aggregators: int
    busy: Fraction
    most_payloads: int
    dropped: int


@dataclass(frozen=True)
class AggregationResult:
    """The results of one run; times in cycles from the common start.

    `engine`: the engine; `router_effect`: the effect that routers may add to lanes (None: no effect).
    `closed_form_cycles`: the prediction, for one flow in a tree that looks the same from every host, over unit links, without
    faults and effects of routers (None: any other run). `packets`: of each flow. `wrong`: the first (rank, packet of all flows)
    whose result is not the sum. Counters: packets `sent` by hosts and switches, `copied` and `lost` by the network, `dropped` at
    full payload buffers, `resent` by hosts after time-outs; contributions `ignored` because their packet is earlier than the
    current one of the place, and `repeated`; `results_again`: results that a host already had. `stall`: why the run cannot end, and
    what hosts wait for; empty for runs that ended.
    """

    engine: Engine
    router_effect: str | None
    cycles: int
    closed_form_cycles: int | None
    packets: tuple[int, ...]
    packet_bytes: int
    padded_bytes: int
    window: int
    aggregators: int
    buffer_packets: int
    timeout: int
    data_ok: bool
    wrong: tuple[int, int] | None
    counters: dict[str, int]
    max_link_utilization: Fraction
    switches: tuple[SwitchUse, ...]
    stall: tuple[str, ...]


def simulate_aggregation(
    trees: AggregationTrees,
    machine: Machine,
    message_bytes: int,
    rules: AggregationRules | None = None,
    *,
    engine: str = AUTO,
    without_routers: bool = False,
    allow_stall: bool = False,
    trace: Path | None = None,
    force: bool = False,
    progress: Callable[[int], None] | None = None,
) -> AggregationResult:
    """All-reduce a message of every host in the switches, one integer of data per host and packet.

    `engine`: "fast" sends packets over lanes, an event for each, without routers, and raises UnsupportedError where these add
    something, unless `without_routers`; "flit" sends them flit by flit through routers; both have the same hosts and switches.
    "auto" is "fast" where that is exact (or `without_routers`), "flit" elsewhere. Chosen where `rules` say None: the window that
    never makes a host wait; twice the window of aggregators for each flow; payload places for all aggregators and children; a
    time-out of twice a round trip with a full window. A switch with fewer aggregators than twice the window for each of its flows
    raises InputError, or, with `allow_stall`, runs: the run ends when a result can never come any more. `trace`: file for JSON
    lines, see `aggregation_trace.py`; not overwritten unless `force`. Raises UnsupportedError for sizes and times beyond the core's
    counters. Time O(packets · hosts · hops · log), flit O(flits · hops); memory O(hosts · packets + places · children).
    """
    check_known("engine", engine, ENGINES)
    if without_routers and engine == Engine.FLIT:
        raise InputError("engine flit has routers; without_routers is for the others")
    if trace is not None:
        check_writable(trace, force=force)
        check_traceable(trees)
    setup = AggregationSetup(trees, machine, message_bytes, rules or AggregationRules(), allow_stall=allow_stall)
    effect = router_effect(setup)
    is_exact = effect is None or without_routers
    if engine == Engine.FAST and not is_exact:
        raise UnsupportedError(f"the fast engine is not exact with these routers: {effect}; the flit engine has them")
    chosen = Engine.FLIT if engine == Engine.FLIT or not is_exact else Engine.FAST
    network = routers_of(setup) if chosen == Engine.FLIT else None
    columns = setup.columns(network)
    hops = [] if network is None else [network.hops_of(lanes) for lanes in setup.routes.each_on(network)]
    endpoints = trees.topology.endpoints
    cells = np.ascontiguousarray(initial_cells(len(trees.topology.kind), sum(setup.packets))[endpoints])
    due = cells.sum(axis=0, dtype=np.uint64)
    core = _core.AggregationRun(
        setup.scalars,
        columns,
        None if network is None else network.scalars,
        None if network is None else network.core_columns(hops),
        cells,
        trace is not None,
    )
    try:
        run_to_end(core, _BUDGET, progress)
    except OverflowError:
        raise UnsupportedError(
            f"the run lasts more than {MAX_CYCLES} cycles; timeout is {setup.scalars['timeout']}, and grows when a packet is sent "
            "again and again: reduce it, give_up or the loss"
        ) from None
    if trace is not None:
        write_aggregation_trace(
            trace, trees, setup.packets, setup.window, setup.places, core.trace(), (core.cycle, core.left()), force=force
        )
    stall = _stall_lines(core.stall(), core.waiting(), setup)
    if network is not None and (blocked := core.blocked()):
        names = np.arange(1 + max(entry[0] for entry in blocked))
        stall = (*describe_blockage(network, blocked, names), *_waiting_lines(core.waiting()))
    bad = cells != due
    wrong = None
    if bad.any() and not stall:
        rank, packet = np.unravel_index(int(np.argmax(bad)), bad.shape)
        wrong = (int(rank), int(packet))
    counters = core.counters()
    cycles = counters.pop("cycles")
    busiest = counters.pop("busiest_lane_cycles")
    return AggregationResult(
        engine=chosen,
        router_effect=effect,
        cycles=cycles,
        closed_form_cycles=None if chosen == Engine.FLIT and effect is not None else setup.closed_form_cycles(),
        packets=setup.packets,
        packet_bytes=setup.payload,
        padded_bytes=sum(setup.packets) * setup.payload,
        window=setup.window,
        aggregators=setup.aggregators,
        buffer_packets=setup.scalars["buffer_packets"],
        timeout=setup.scalars["timeout"],
        data_ok=wrong is None and not stall,
        wrong=wrong,
        counters=counters,
        max_link_utilization=Fraction(busiest, max(1, cycles)),
        switches=tuple(
            SwitchUse(node, most, Fraction(used, max(1, core.cycle) * setup.aggregators), payloads, dropped)
            for node, most, used, payloads, dropped in core.switches()
        ),
        stall=stall,
    )


def _stall_lines(stall: Sequence[int], waiting: Sequence[Sequence[int]], setup: AggregationSetup) -> tuple[str, ...]:
    """Why a run cannot end, and what hosts wait for, in words."""
    if not stall:
        return ()
    flow, host, number, times, taken_at, works_on = stall
    packet = f"packet {number}" if len(setup.packets) == 1 else f"packet {number} of flow {flow}"
    if taken_at < 0:
        lines = [
            f"node {host} gave up: it sent {packet} {times} times, and no result came; give_up allows no more. timeout is "
            f"{setup.scalars['timeout']} cycles, a round trip without contention takes {setup.time.trip}"
        ]
    else:
        lines = [
            f"node {host} waits for the result of {packet}, which never comes: its place at switch {taken_at} (of {setup.places}) "
            f"works on packet {works_on} now; a window of {setup.window} needs {2 * setup.window} places for each flow"
        ]
    return (*lines, *_waiting_lines(waiting))


def _waiting_lines(waiting: Sequence[Sequence[int]]) -> list[str]:
    lines = [f"node {node} waits for packet {oldest} of flow {of}" for of, node, oldest in waiting[:_REPORTED]]
    if len(waiting) > _REPORTED:
        lines.append(f"and {len(waiting) - _REPORTED} more hosts wait")
    return lines
