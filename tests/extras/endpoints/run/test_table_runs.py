"""Runs of tables with endpoints: the engines agree, both limits are those that exist, `ideal` is never slower, and refusals."""

import json
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import certree.api as ct
from certree.extras.endpoints.run.endpoint_program import Choices, Payload
from certree.extras.endpoints.run.endpoint_run import run_endpoints
from certree.extras.endpoints.run.tables.table_endpoints import TableEndpoints, iteration_bytes
from certree.extras.endpoints.run.tables.table_runs import endpoint_of_runs, in_other_orders, run_with_endpoints
from certree.extras.tla.check.traces.interfaces import check_trace
from certree.hw.engines.runs import Options, Run
from certree.hw.engines.schedule_run import SimulatedSchedule
from certree.hw.engines.traces import expected_size
from certree.hw.run import run
from certree.hw.tables.lowering import lower
from certree.models.common.errors import UnsupportedError
from certree.models.schedule.collective import CollectiveKind
from certree.models.schedule.schedule import Schedule
from certree.models.tables.tables import Tables
from tests.drawn import examples, given_at_least
from tests.extras.endpoints.run.tables_drawn import ACE, Alike, Asked, alike, asked, or_refused
from tests.hw.made import MULTITREE, STAR, made, tables_of
from tests.hw.trees import tree_schedule

SYSTEMS = ("baseline", "ace", "ideal")
ITERATIONS = tree_schedule("ring:4", CollectiveKind.ALL_REDUCE, 2, delay=1, repeats=6, seed=3)


def on(
    tables: Tables,
    system: str,
    endpoint: Any = ACE,
    engine: str = "fast",
    mode: str = "paced",
    computing: Fraction = Fraction(0),
    **options: Any,
) -> Run:
    """A run on one engine."""
    model = endpoint_of_runs(system, endpoint, computing)
    asked_ = Options(mode=mode, engine=engine, endpoint=model, at_any_timing=mode == "paced", **options)
    return run(tables, asked_)


@given_at_least(30, asked(), st.sampled_from(SYSTEMS))
@examples(50)
def test_engines_agree(case: Asked, system: str) -> bool:
    """Message by message and flit by flit, and through routers where these add nothing."""
    settings: dict[str, Any] = {"endpoint": case.endpoint, "mode": case.mode, "computing": case.computing}
    fast = or_refused(partial(on, case.tables, system, without_routers=True, **settings))
    if fast is None:
        return False
    assert fast.data_ok
    assert replace(on(case.tables, system, engine="lanes", **settings), engine="fast") == fast
    flit = on(case.tables, system, engine="flit", **settings)
    assert flit.data_ok
    if fast.router_effect is None:
        assert replace(flit, engine="fast", max_link_utilization=fast.max_link_utilization) == fast
    return True


@given(alike(), st.sampled_from(SYSTEMS))
def test_without_routers_it_is_the_run_of_endpoints(case: Alike, system: str) -> None:
    """To the cycle, where each node sends in the order that both programs have."""
    old = run_endpoints(case.schedule, case.endpoint, case.endpoint.system(system), [Payload(case.size)], Choices())
    new = on(case.tables, system, case.endpoint, without_routers=True)
    assert (new.cycles, new.data_ok) == (old.cycles, True)
    assert new.endpoint is not None
    assert new.endpoint.counts["memory_bytes"] == old.memory_bytes
    assert new.endpoint.delays == {name: old.delays[name] for name in new.endpoint.delays}
    assert len(new.endpoint.delays) == (7 if system == "ace" else 5)


@pytest.mark.parametrize("mode", ["slotted", "paced"])
def test_without_endpoints_it_is_the_run_of_before(mode: str) -> None:
    made_ = ct.synthesize("mesh:2x3", method="multitree", size="64KiB")
    assert ct.simulate(made_, run=mode, endpoint="none") == ct.simulate(made_, run=mode)


@given_at_least(24, asked())
@examples(40)
def test_ideal_is_never_slower(case: Asked) -> bool:
    done = []
    for engine in ("fast", "flit"):
        options = Options(mode=case.mode, engine=engine, without_routers=engine == "fast", at_any_timing=case.mode == "paced")
        best = run_with_endpoints(case.tables, replace(options, endpoint=endpoint_of_runs("ideal", case.endpoint, case.computing)))
        assert best.data_ok
        for system in case.endpoint.systems:
            model = TableEndpoints(case.endpoint, system, case.computing)
            other = or_refused(partial(run, case.tables, replace(options, endpoint=model)))
            done.append(other is not None)
            assert other is None or best.cycles <= other.cycles, (engine, system.name)
    return all(done)


@given_at_least(12, asked())
@examples(20)
def test_through_routers_ideal_hands_over_when_another_system_did(case: Asked) -> bool:
    """The network carries the same flits in the same cycles, and every message is taken in no later: it is a replay."""
    ideal = endpoint_of_runs("ideal", case.endpoint, case.computing)
    options = Options(mode=case.mode, engine="flit", at_any_timing=case.mode == "paced", endpoint=ideal)
    seen = 0
    for replayed, again in in_other_orders(case.tables, options, ideal, lambda _: True):
        model = again.endpoint
        assert isinstance(model, TableEndpoints)
        other = run(
            case.tables,
            replace(options, endpoint=TableEndpoints(case.endpoint, case.endpoint.system(str(model.of)), case.computing)),
        )
        assert replayed.endpoint is not None
        assert other.endpoint is not None
        assert (replayed.data_ok, replayed.flit_hops, replayed.engine) == (True, other.flit_hops, "flit")
        assert replayed.endpoint.delays["network_transfer"] == other.endpoint.delays["network_transfer"]
        assert replayed.cycles <= other.endpoint.usable_cycles
        seen += 1
    return seen >= 2


def test_a_replay_refuses_times_that_are_not_those_of_a_run() -> None:
    """Messages cannot be at their interfaces before their rows have fired."""
    tables = tables_of("ring", "ring:4", 4096)
    recording = TableEndpoints(ACE, ACE.system("baseline"), records=True)
    options = Options(mode="paced", engine="flit", at_any_timing=True)
    slow = run(tables, replace(options, endpoint=recording))
    assert recording.handed is not None
    ideal = replace(endpoint_of_runs("ideal"), hand_over=recording.handed, of="baseline")
    fast = run(tables, replace(options, endpoint=ideal))
    assert fast.endpoint is not None
    assert recording.last_complete + 1 == fast.cycles < slow.cycles
    assert fast.endpoint.order == "baseline"
    times = recording.handed.copy()
    times[::2] = 0
    with pytest.raises(RuntimeError, match="a message is asked for later than in the run whose times it has"):
        run(tables, replace(options, endpoint=replace(ideal, hand_over=times)))


def test_ideal_keeps_an_order_where_its_own_is_slower() -> None:
    """Messages that come earlier meet in another order at the switches."""
    tables = tables_of("direct", "fattree:2x3", 1 << 16, replace(MULTITREE, link_latency_cycles=0))
    options = Options(mode="paced", engine="fast", without_routers=True, endpoint=endpoint_of_runs("ideal"))
    own, best = run(tables, options), run_with_endpoints(tables, options)
    assert best.cycles < own.cycles
    assert best.endpoint is not None
    assert best.endpoint.order == "baseline"


def test_through_routers_ideal_may_do_what_another_system_did() -> None:
    """The network then does what it did there, and nothing at the endpoints is busy."""
    tables = tables_of("ring", "ring:4", 1 << 14)
    ideal, engine = endpoint_of_runs("ideal"), on(tables, "ace", engine="flit")
    options = Options("paced", "flit", endpoint=ideal)
    found = [bound for bound, _ in in_other_orders(tables, options, ideal, lambda _: True)]
    bounds = {bound.endpoint.order: bound for bound in found if bound.endpoint}
    assert bounds.keys() == {"baseline", "baseline++", "ace"}
    assert engine.endpoint is not None
    bound = bounds["ace"]
    assert bound.endpoint is not None
    assert bound.cycles == bound.endpoint.usable_cycles <= engine.endpoint.usable_cycles < engine.cycles
    assert bound.endpoint.system == "ideal"
    assert not any(bound.endpoint.occupancy.values())
    assert bound.max_link_utilization is not None
    assert engine.max_link_utilization is not None
    assert bound.max_link_utilization * bound.cycles == engine.max_link_utilization * engine.cycles


def test_an_order_of_another_program_is_refused() -> None:
    first, other = tables_of("ring", "ring:4", 4096), tables_of("ring", "ring:5", 4096)
    recording = TableEndpoints(ACE, ACE.system("ace"), records=True)
    run(first, Options(engine="fast", endpoint=recording))
    assert recording.order is not None
    begin, uses = recording.order
    for order in (recording.order, (begin, np.zeros_like(uses)), (begin[:-1], uses)):
        tables = other if order is recording.order else first
        with pytest.raises(ValueError, match="order of lanes"):
            run(tables, Options(engine="fast", endpoint=TableEndpoints(ACE, ACE.system("ideal"), keeps=order)))


def test_bytes_of_an_iteration() -> None:
    """A node has its contribution, or its block, and is due the result, or its part."""
    for collective, load, result in (("all-reduce", 4, 4), ("all-gather", 1, 4), ("reduce-scatter", 4, 1)):
        tables = tables_of("ring", "ring:4", 4 * 4096, collective=collective)
        unit = tables.message_bytes // 4
        assert [column.tolist() for column in iteration_bytes(tables)] == [[load * unit] * 4, [result * unit] * 4]
    broadcast = lower(tree_schedule("ring:4", CollectiveKind.BROADCAST, 1, delay=1, repeats=1, seed=1), 64, MULTITREE)
    assert [column.tolist() for column in iteration_bytes(broadcast)] == [[64, 0, 0, 0], [64] * 4]


def test_an_engine_with_little_sram_makes_arrivals_wait() -> None:
    """Four iterations have room, six run: the last are loaded when the first are back, and messages for them wait at the ports."""
    tables = lower(ITERATIONS, 6 * 4096, MULTITREE)
    load = int(iteration_bytes(tables)[0].max())
    slow = replace(ACE, buses=replace(ACE.buses, memory_bytes_per_second=Fraction(4 * 10**9)))
    roomy, tight = (replace(slow, engine=replace(ACE.engine, sram_bytes=2 * load * count)) for count in (6, 4))
    wide, narrow = (on(tables, "ace", endpoint, mode="slotted", without_routers=True) for endpoint in (roomy, tight))
    assert wide.data_ok
    assert narrow.data_ok
    assert narrow.cycles > wide.cycles
    assert wide.endpoint is not None
    assert narrow.endpoint is not None
    assert (wide.endpoint.counts["sram_peak"], narrow.endpoint.counts["sram_peak"]) == (6 * load, 4 * load)


def test_the_refusal_of_too_little_room_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without it the run stalls, and says who waits for what."""
    tables = lower(ITERATIONS, 6 * 4096, MULTITREE)
    load = int(iteration_bytes(tables)[0].max())
    endpoint = replace(ACE, engine=replace(ACE.engine, sram_bytes=2 * load))
    with pytest.raises(UnsupportedError, match=r"have \d iterations in progress at a time, and endpoints ace have room for 1"):
        on(tables, "ace", endpoint, mode="slotted")
    monkeypatch.setattr(TableEndpoints, "_require_room", lambda *_: None)
    for engine in ("fast", "lanes", "flit"):
        stalled = on(tables, "ace", endpoint, engine, mode="slotted")
        assert not stalled.data_ok
        assert any("or for room at its endpoint" in line for line in stalled.deadlock), stalled.deadlock


def test_refusals() -> None:
    tables = tables_of("ring", "ring:4", 1 << 20)
    small = replace(ACE, engine=replace(ACE.engine, sram_bytes=1 << 20))
    with pytest.raises(UnsupportedError, match="1048576 bytes in partition 1 of 2, which has 524288 of the 1048576 bytes of SRAM"):
        on(tables, "ace", small)
    assert on(tables, "baseline", small).data_ok
    slow = replace(tables, machine=replace(tables.machine, clock_hz=10**9 // 2))
    with pytest.raises(UnsupportedError, match="count cycles of 1000000000 Hz, and machine multitree of 500000000: give them one"):
        on(slow, "ace")
    with pytest.raises(UnsupportedError, match="endpoints run tables, and this schedule has none"):
        run(SimulatedSchedule.of(STAR, 4096, MULTITREE), Options(endpoint=endpoint_of_runs("ace")))
    with pytest.raises(ct.InputError, match="unknown system 'dpu'; known: none, baseline"):
        ct.simulate(made("ring", "ring:4", 4096), endpoint="dpu")


def test_a_message_by_formula() -> None:
    """One node sends one message to the other: memory, bus, link, bus, memory."""
    tables = lower(tree_schedule("ring:2", CollectiveKind.BROADCAST, 1, delay=1, repeats=1, seed=1), 4096, MULTITREE)
    buses = replace(ACE.buses, interface_bytes_per_second=Fraction(512 * 10**9), memory_bytes_per_second=Fraction(1024 * 10**9))
    endpoint = replace(ACE, buses=buses)
    bus = (20 + 50 + 20 + 4096 // 1024) + (20 + 50 + 20 + 4096 // 512)
    wire = on(tables, "ideal", endpoint).cycles - 1
    assert on(tables, "baseline", endpoint).cycles == bus + wire + bus
    # the engine loads at the root, reads the first packet, stores the last, and writes back at both
    assert on(tables, "ace", endpoint).cycles == bus + 1 + wire + 1 + bus


def test_computing_shares_the_memory_bus() -> None:
    """Computing gets what it asks for where nothing else needs memory; next to an accelerator that adds both get less, next to an
    engine
    less than that is lost."""
    tables = tables_of("multitree", "torus:4x4", 1 << 18)
    nodes, rate = 16, 900

    def with_(system: str, computing: Fraction) -> tuple[int, Fraction]:
        model = replace(endpoint_of_runs(system), computing=computing)
        done = run(tables, Options(mode="paced", engine="fast", without_routers=True, endpoint=model))
        assert done.data_ok
        assert done.endpoint is not None
        assert done.endpoint.occupancy["memory_bus"] <= 1
        return done.cycles, Fraction(done.endpoint.counts.get("computing_bytes", 0), done.cycles * nodes * rate)

    block = Fraction(1 << 14, rate)
    for share in (Fraction(1, 4), Fraction(3, 4), Fraction(1)):
        cycles, got = with_("ideal", share)
        assert cycles == with_("ideal", Fraction(0))[0]
        assert abs(got - share) * cycles <= 2 * block
    alone, loaded = with_("baseline", Fraction(0))[0], with_("baseline", Fraction(1))
    assert loaded[0] > alone
    engine_alone, engine = with_("ace", Fraction(0))[0], with_("ace", Fraction(1))
    assert Fraction(engine[0], engine_alone) < Fraction(loaded[0], alone)
    assert loaded[1] < engine[1] < 1
    with pytest.raises(ct.InputError, match="computing 3/2; allowed: a share of the memory bandwidth from 0 to 1"):
        endpoint_of_runs("ace", computing=Fraction(3, 2))


@pytest.mark.parametrize("system", SYSTEMS)
def test_one_trace_of_interfaces_and_endpoints(tmp_path: Path, system: str) -> None:
    """All engines write one trace; times follow each other, and the last event is the end of the run."""
    tables = lower(ITERATIONS, 6 * 4096, MULTITREE)
    texts = set()
    for engine in ("fast", "lanes", "flit"):
        path = tmp_path / f"{engine}.jsonl"
        done = on(tables, system, engine=engine, trace=path)
        texts.add(path.read_bytes())
    assert len(texts) == 1
    entries = [json.loads(line) for line in texts.pop().splitlines()]
    messages = [entry for entry in entries if "node" in entry]
    assert len(messages) == done.messages
    for entry in messages:
        times = [entry[name] for name in ("fired", "at_interface", "first_flit", "last_flit_arrived", "usable")]
        assert times == sorted(times)
        assert times[-1] > times[-2]
    steps = [entry for entry in entries if "endpoint" in entry]
    assert len(steps) == (4 * 4 * 6 if system == "ace" else 0)
    for node in range(4 if steps else 0):
        for iteration in range(6):
            of = [(one["event"], one["cycle"]) for one in steps if (one["endpoint"], one["iteration"]) == (node, iteration)]
            assert [event for event, _ in of] == ["load", "loaded", "gone on", "returned"]
            own = [one for one in messages if (one["node"], one["iteration"]) == (node, iteration)]
            assert of[1][1] <= min(one["fired"] for one in own)
            assert max(one["fired"] for one in own) <= of[2][1] < of[3][1]
    assert max(entry.get("usable", entry.get("cycle")) for entry in entries) == done.cycles


@pytest.mark.parametrize("suffix", [".json", ".jsonl"])
def test_the_size_of_a_trace_with_endpoints_is_estimated(tmp_path: Path, suffix: str) -> None:
    """The estimate is within a third of what is written."""
    schedule, path = ct.synthesize("torus:4x4", method="multitree", size="64KiB"), tmp_path / f"t{suffix}"
    assert isinstance(schedule, Schedule)
    on(lower(schedule, 65536, MULTITREE), "ace", without_routers=True, trace=path)
    _, length = expected_size(schedule, path, has_endpoints=True)
    assert 2 / 3 < path.stat().st_size / length < 4 / 3


def test_a_picture_of_endpoints(tmp_path: Path) -> None:
    """Whatever begins at an endpoint ends there; without endpoints there is none."""
    tables = tables_of("ring", "ring:4", 4096)
    done = on(tables, "baseline", without_routers=True, trace=tmp_path / "t.json")
    events = [one for one in json.loads((tmp_path / "t.json").read_text())["traceEvents"] if one["pid"] == 2 and one["ph"] in "be"]
    begun, ended = ({(one["id"], one["name"]): one["ts"] for one in events if one["ph"] == phase} for phase in "be")
    assert begun.keys() == ended.keys()
    assert len(begun) == 2 * done.messages
    assert all(begun[key] < ended[key] for key in begun)
    ct.simulate(tables, trace=tmp_path / "none.json")
    assert all(one["pid"] != 2 for one in json.loads((tmp_path / "none.json").read_text())["traceEvents"])


def test_the_specification_of_interfaces_has_no_endpoints(tmp_path: Path) -> None:
    tables = tables_of("ring", "ring:3", 1024)
    on(tables, "ideal", without_routers=True, mode="slotted", trace=tmp_path / "t.jsonl")
    with pytest.raises(ct.InputError, match=r"line 1: the run had endpoints, and the specification of interfaces has none"):
        check_trace(tables, tmp_path / "t.jsonl")


def test_traces_of_flits_are_of_the_run_that_is_reported(tmp_path: Path) -> None:
    """Where the order of another system is the fastest on lanes, a run whose flits are traced goes through routers."""
    tables = tables_of("ring-2d", "mesh:2x2", 1 << 18, collective="reduce-scatter")
    plain = ct.simulate(tables, run="paced", endpoint="ideal")
    traced = ct.simulate(tables, run="paced", endpoint="ideal", trace_flits=tmp_path / "flits.ndjson")
    assert (tmp_path / "flits.ndjson").exists()
    assert (plain.engine, traced.engine) == ("fast", "flit")


def test_ideal_runs_through_routers_where_they_add_something() -> None:
    """The order of another system, kept on lanes, may meet messages that routers would delay: not with engine auto."""
    buses = replace(ACE.buses, memory_bytes_per_second=Fraction(2 * 10**9), latency_cycles=0, overhead_cycles=0, gap_cycles=0)
    tables = tables_of("multitree", "switch:5", 1 << 14, collective="reduce-scatter")

    def cycles(engine: str) -> int:
        slow = replace(ACE, buses=buses)
        return ct.simulate(tables, run="paced", flow="packet", endpoint="ideal", endpoint_params=slow, engine=engine).cycles

    assert cycles("auto") == cycles("flit")


def test_ideal_ends_where_another_system_does() -> None:
    """An own run that deadlocks early is not the fastest."""
    few = replace(
        MULTITREE,
        link_latency_cycles=0,
        vc_count=1,
        vc_buffer_flits=20,
        router=replace(MULTITREE.router, datelines=False, flow_control="wormhole"),
    )
    tables = lower(tree_schedule("ring:6,far", CollectiveKind.ALL_GATHER, 4, delay=1, repeats=1, seed=18), 1 << 15, few)
    deadlocks = {
        system: bool(ct.simulate(tables, run="paced", engine="flit", endpoint=system, allow_deadlock=True).deadlock)
        for system in ("baseline", "ace", "ideal")
    }
    assert deadlocks == {"baseline": False, "ace": True, "ideal": False}
