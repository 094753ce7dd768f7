"""Machines, tables good and bad, and clocks to draw from; a run by both engines, compared with the reference."""

from dataclasses import replace
from fractions import Fraction
from typing import Any
from unittest.mock import patch

import numpy as np
from hypothesis import strategies as st

from certree.hw.engines.runs import Options, Run
from certree.hw.engines.schedule_run import SimulatedSchedule
from certree.hw.run import run as run_schedule
from certree.hw.tables import lowering
from certree.hw.tables.lowering import lower
from certree.models.machine.clocks import Clocks
from certree.models.machine.machine import Machine
from certree.models.network.rates import Rates
from certree.models.schedule.schedule import Schedule
from certree.models.tables.tables import Tables
from tests.hw.engines.reference import ReferenceMachine
from tests.hw.trees import MULTITREE, schedules


@st.composite
def machines(draw: st.DrawFn, *, routers: int = 1) -> Machine:
    """Small latencies, slow and fast reduction units, small buffers; `routers`: the least that a router takes."""
    return replace(
        MULTITREE,
        head_flits=draw(st.integers(0, 2)),
        link_latency_cycles=draw(st.integers(0, 30)),
        router_cycles=draw(st.integers(routers, 4)),
        ni_cycles=draw(st.integers(0, 2)),
        ni_issue_cycles=draw(st.integers(0, 2)),
        ni_start_cycles=draw(st.integers(0, 5)),
        ni_buffer_flits=draw(st.integers(0, 40)),
        reduce_bytes_per_cycle=draw(st.sampled_from([1, 4, 16, 128])),
        reduce_quantum_cycles=draw(st.sampled_from([1, 3, 16])),
        reduce_start_cycles=draw(st.integers(0, 5)),
    )


@st.composite
def with_latencies(draw: st.DrawFn, base: st.SearchStrategy[Schedule]) -> Schedule:
    """The transfers on links of different latencies."""
    schedule = draw(base)
    links = len(schedule.topology.src)
    latency = draw(st.lists(st.integers(-1, 40), min_size=links, max_size=links))
    return replace(schedule, topology=replace(schedule.topology, latency=np.array(latency, np.int32)))


@st.composite
def with_rates(draw: st.DrawFn, base: st.SearchStrategy[Schedule]) -> Schedule:
    """The transfers on lanes that may move less than a flit a cycle."""
    schedule = draw(base)
    scale = draw(st.sampled_from([1, 1, 2, 7, Fraction(65, 64), Fraction(3, 2), Fraction(355, 113)]))
    top, bottom = Fraction(scale).as_integer_ratio()
    rates = Rates(schedule.topology.capacity.astype(np.int64) * bottom, top)
    return replace(schedule, topology=replace(schedule.topology, scale=scale, rates=rates))


@st.composite
def hasty(draw: st.DrawFn) -> Tables:
    """Tables in which messages collide, rows are late and sums may be wrong: steps squeezed, slots cut short."""
    schedule = draw(with_latencies(schedules(routed=True)))
    schedule = replace(schedule, step=schedule.step // draw(st.integers(1, 3)))
    with patch.object(lowering, "landing_steps", lambda plan: np.zeros(plan.transfers, np.int64)):  # trees, though sums come late
        tables = lower(schedule, draw(st.integers(1, 3000)), draw(machines()))
    return replace(tables, slot_cycles=max(1, tables.slot_cycles // draw(st.integers(1, 5))))


def on_lanes(source: Tables | SimulatedSchedule, mode: str = "slotted", *, engine: str = "fast", **options: Any) -> Run:
    """A run of an engine without routers, whatever they would add."""
    return run_schedule(source, Options(mode=mode, engine=engine, without_routers=True, **options))


def on_routers(source: Tables | SimulatedSchedule, mode: str = "slotted", **options: Any) -> Run:
    """A run through routers."""
    return run_schedule(source, Options(mode=mode, engine="flit", **options))


def same_in_both(tables: Tables | SimulatedSchedule, run: str = "slotted", clocks: Clocks | None = None) -> Run:
    """The run of the fast engine, once that of the engine that moves every flit has turned out to be the same in everything."""
    fast, lanes = (on_lanes(tables, run, engine=engine, clocks=clocks) for engine in ("fast", "lanes"))
    assert replace(lanes, engine="fast") == fast
    return fast


def agree(tables: Tables, run: str, clocks: Clocks | None = None) -> None:
    ours, reference = same_in_both(tables, run, clocks), ReferenceMachine(tables, run, clocks).run()
    for name in ("cycles", "contention_cycles", "late", "messages", "flit_hops", "data_ok"):
        assert getattr(ours, name) == getattr(reference, name), name
    assert (not ours.deadlock) == reference.finished
    assert ours.max_link_utilization == Fraction(reference.busiest_lane_cycles, max(1, reference.cycles))


@st.composite
def some_clocks(draw: st.DrawFn, nodes: int) -> Clocks:
    """Skews and drifts large enough to upset everything."""
    skews = draw(st.lists(st.integers(0, 300), min_size=nodes, max_size=nodes))
    drifts = draw(st.lists(st.fractions(Fraction(-1, 3), Fraction(1, 3), max_denominator=50), min_size=nodes, max_size=nodes))
    return Clocks(tuple(skews), tuple(drifts))


@st.composite
def mutations(draw: st.DrawFn) -> tuple[Tables, dict[str, Any]]:
    """Tables, and a column of theirs with one entry changed to a small number."""
    tables = lower(draw(schedules(routed=True)), draw(st.integers(1, 500)), draw(machines()))
    name = draw(st.sampled_from(["op", "flow", "parent", "children", "step", "node", "arrival_op", "arrival_flow", "arrival_peer"]))
    column = getattr(tables, name).copy()
    column.flat[draw(st.integers(0, column.size - 1))] = draw(st.integers(-2, 12))
    return tables, {name: column}
