"""Tables on routers: agreement with the closed form and the lanes, other traffic, and deadlocks."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certree.extras.flits.model.flit_format import FlitType
from certree.hw.engines.core_program import first_cells
from certree.hw.engines.flit import FlitEngine
from certree.hw.engines.router_transparency import MET_IN_NETWORK, router_effect
from certree.hw.engines.runs import MODES, Options
from certree.hw.engines.schedule_run import SimulatedSchedule
from certree.hw.engines.table_framing import packet_lengths
from certree.hw.engines.table_rows import NotPacedError
from certree.hw.routers.packets import NO_PACKETS, Packets, read_packets, synthetic_packets
from certree.hw.tables.lowering import lower
from certree.models.common.errors import UnsupportedError
from certree.models.machine.clocks import Clocks, parse_clocks
from certree.models.machine.machine import Machine
from certree.models.routers.transparency import has_routes
from certree.models.schedule.collective import CollectiveKind
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.timing import FRAMINGS
from certree.models.tables.tables import Tables
from tests.drawn import examples, given_at_least
from tests.hw.made import STAR, in_order, made, tables_of
from tests.hw.routers.packet_lists import packets
from tests.hw.runs import machines as small_machines
from tests.hw.runs import on_lanes, on_routers, some_clocks, with_latencies, with_rates
from tests.hw.trees import MULTITREE, schedules, tree_schedule

EQUAL = ("cycles", "closed_form_cycles", "contention_cycles", "late", "data_ok", "messages", "flit_hops", "max_link_utilization")


@st.composite
def machines(draw: st.DrawFn) -> Machine:
    """Small ones with buffers that cover the loop of a credit, and pipelines that the VCs cover."""
    machine = draw(small_machines(routers=3))
    link = max(1, machine.link_latency_cycles)
    router = replace(MULTITREE.router, flow_control=draw(st.sampled_from(["wormhole", "cut-through"])))
    return replace(machine, link_latency_cycles=link, vc_buffer_flits=24 + 2 * link + draw(st.integers(0, 10)), router=router)


def agree(tables: Tables, run: str, flow: str) -> None:
    """Unshared routers take the same cycles as lanes."""
    ours = on_routers(tables, run, framing=flow)
    lanes = on_lanes(tables, run, framing=flow)
    assert [getattr(ours, name) for name in EQUAL] == [getattr(lanes, name) for name in EQUAL]
    assert ours.deadlock == lanes.deadlock == ()


@st.composite
def any_machines(draw: st.DrawFn) -> Machine:
    """Routers of all kinds: few and many virtual channels, shallow buffers, one interface a node."""
    choices = {
        "interfaces": ["link"] * 5 + ["node"],
        "vc_choice": ["rotate"] * 5 + ["any"],
        "vc_reuse": ["tail"] * 5 + ["empty"],
        "allocator": ["islip", "separable"],
        "credit_cycles": range(4),
        "flow_control": ["wormhole", "cut-through"],
    }
    router = replace(MULTITREE.router, **{name: draw(st.sampled_from(values)) for name, values in choices.items()})
    return replace(
        MULTITREE,
        link_latency_cycles=draw(st.integers(1, 9)),
        router_cycles=draw(st.integers(3, 7)),
        vc_count=draw(st.integers(1, 5)),
        vc_buffer_flits=draw(st.integers(16, 50)),
        ni_buffer_flits=draw(st.integers(0, 40)),
        router=router,
    )


@given_at_least(35, st.data())
@examples(120)
def test_where_fast_is_exact_it_is_flit_by_flit_to_the_cycle(data: st.DataObject) -> bool:
    """Over several links, through switches, with clocks that are upset and slots that are too short."""
    base = with_rates(schedules(routed=True))
    schedule = data.draw(with_latencies(base) if data.draw(st.booleans()) else base)
    machine, size = data.draw(machines() | any_machines()), data.draw(st.integers(1, 5000))
    source = (lower if data.draw(st.booleans()) else SimulatedSchedule.of)(schedule, size, machine)
    if isinstance(source, Tables) and data.draw(st.booleans()):
        source = replace(source, slot_cycles=max(1, source.slot_cycles // data.draw(st.integers(1, 5))))
    run, flow = data.draw(st.sampled_from(MODES if schedule.repeats == 1 else ["slotted"])), data.draw(st.sampled_from(FRAMINGS))
    clocks = data.draw(some_clocks(len(schedule.topology.kind))) if data.draw(st.booleans()) else None
    try:
        fast = on_lanes(source, run, framing=flow, clocks=clocks)
    except NotPacedError:
        return False
    if fast.is_exact:
        ours = on_routers(source, run, framing=flow, clocks=clocks)
        names = EQUAL[:-1] if has_routes(schedule) else EQUAL  # routers may take other lanes side by side
        assert [getattr(ours, name) for name in names] == [getattr(fast, name) for name in names]
        assert ours.deadlock == fast.deadlock
    return fast.is_exact


def test_messages_that_meet_on_links_are_noticed():
    """Trees through switches, paced: they wait for each other, and routers let their flits take turns."""
    tables = tables_of("double-binary-tree", "switch:6", 6 * 2000)
    assert router_effect(tables, "message") is None
    assert on_lanes(tables).router_effect is None
    assert on_lanes(tables, "paced").router_effect == MET_IN_NETWORK
    assert on_routers(tables, "paced").contention_cycles != on_lanes(tables, "paced").contention_cycles
    upset = parse_clocks(7, "0=40", None)  # not by enough for messages to meet
    assert on_lanes(tables, clocks=upset).router_effect is None
    assert on_routers(tables, clocks=upset).cycles == on_lanes(tables, clocks=upset).cycles


def test_of_lanes_side_by_side_routers_give_one_that_is_fixed_before():
    """Messages of two slots that overlap have a lane each on lanes, and one on routers."""
    schedule = tree_schedule("ring:4,capacity=2,far", CollectiveKind.ALL_GATHER, 2, delay=1, repeats=1, seed=3)
    tables = lower(schedule, 8 * 1000, MULTITREE)
    assert on_lanes(tables).router_effect is None
    assert on_lanes(tables, clocks=Clocks((0, 30, 0, 60), (Fraction(0),) * 4)).router_effect == MET_IN_NETWORK


@pytest.mark.parametrize(("buffer", "holds"), [(17, False), (18, False), (20, True)])
def test_heads_that_are_routed_keep_their_credits_longer(buffer: int, holds: bool):
    """Router pipelines of seven cycles: behind a buffer of 17 flits the end of a message competes with the next one's beginning."""
    machine = replace(MULTITREE, link_latency_cycles=6, router_cycles=7, ni_cycles=0, vc_buffer_flits=buffer, ni_buffer_flits=13)
    tables = tables_of("multitree", "torus:3x3", 9 * 700, machine)
    exact = on_routers(tables, "paced").cycles == on_lanes(tables, "paced", engine="lanes").cycles
    assert (router_effect(tables, "message") is None) == holds
    assert exact or not holds


def test_packets_that_may_cross_a_dateline_have_half_of_the_channels():
    """Two are not enough for packets of three flits where routing and VC allocation take five cycles, nor are four: of two packets
    in different halves, each gets the first of its half."""
    machine = replace(MULTITREE, link_latency_cycles=1, router_cycles=7, packet_payload_bytes=16, head_flits=2)
    far = tree_schedule("torus:3x3,far", CollectiveKind.ALL_REDUCE, 2, delay=1, repeats=1, seed=11)
    reason = "2 virtual channels are used up before the pipeline has routed the next packet"
    assert router_effect(lower(far, 2 * 400, machine), "packet") == reason
    assert router_effect(lower(far, 2 * 400, replace(machine, vc_count=8)), "packet") == reason
    tables = lower(far, 2 * 400, replace(machine, packet_payload_bytes=80))  # seven flits each
    assert router_effect(tables, "packet") is None
    agree_on(tables, "packet")
    near = tree_schedule("torus:3x3", CollectiveKind.ALL_REDUCE, 2, delay=1, repeats=1, seed=11)
    assert router_effect(lower(near, 2 * 400, machine), "packet") is None


def test_the_wire_of_an_interface_may_be_the_longest():
    machine = replace(MULTITREE, link_latency_cycles=0, ni_cycles=2, ni_issue_cycles=1, vc_buffer_flits=9)
    reason = "buffers of 9 flits do not cover the loop of a credit, 10 cycles"
    assert router_effect(tables_of("multitree", "torus:3x3", 9 * 700, machine), "message") == reason
    assert router_effect(tables_of("multitree", "torus:3x3", 9 * 700, replace(machine, vc_buffer_flits=10)), "packet") is None


@pytest.mark.parametrize(
    ("changes", "router", "reason"),
    [
        ({}, {"interfaces": "node"}, "messages over several links share an interface"),
        ({"vc_buffer_flits": 303}, {}, "buffers of 303 flits do not cover the loop of a credit, 304 cycles"),
        ({}, {"vc_choice": "any"}, "packets may come to a virtual channel that another is still leaving"),
        ({}, {"vc_reuse": "empty"}, "packets may come to a virtual channel that another is still leaving"),
        ({"vc_count": 1}, {}, "1 virtual channels are used up before the pipeline has routed the next packet"),
        ({"vc_buffer_flits": 304}, {}, None),
        ({"router_cycles": 0}, {}, None),
    ],
)
def test_what_routers_may_add(changes, router, reason):
    machine = replace(MULTITREE, **changes, router=replace(MULTITREE.router, **router))
    assert router_effect(tables_of("multitree", "torus:4x4", 1 << 17, machine), "message") == reason


def test_a_ring_does_not_share_its_interfaces():
    machine = replace(MULTITREE, router=replace(MULTITREE.router, interfaces="node"))
    assert router_effect(tables_of("ring", "torus:4x4", 1 << 15, machine), "packet") is None
    agree(tables_of("ring", "torus:4x4", 1 << 15, machine), "paced", "packet")


@pytest.mark.parametrize("flow", ["message", "packet"])
@pytest.mark.parametrize("run", ["slotted", "paced"])
@pytest.mark.parametrize("spec", ["torus:4x4", "mesh:3x3", "ring:6,capacity=2", "ring:6,capacity=3/2", "mesh:3x3,capacity=113/355"])
def test_routers_and_lanes_agree(spec: str, run: str, flow: str):
    """Paced runs contend for ports, the same ones in both engines."""
    agree(tables_of("multitree", spec, 1 << 17), run, flow)


def test_packets_of_a_chunk():
    tables = tables_of("ring", "ring:4", 4 * 1000)
    assert tables.chunk_bytes // 16 == 63
    assert packet_lengths(tables, "message") == [64]
    assert packet_lengths(tables, "packet") == [17, 17, 17, 16]


def test_a_collective_does_not_starve_under_saturating_packets():
    """Every node sends as fast as it can to one of them; the collective shares its links and still ends, with right sums."""
    tables = tables_of("multitree", "mesh:3x3", 1 << 14)
    alone = on_routers(tables)
    others = synthetic_packets(
        tables.topology, load=Fraction(1), flits=5, cycles=2 * alone.cycles, seed=2, hot_spot=(4, Fraction(1, 2))
    )
    result = on_routers(tables, others=others)
    assert result.data_ok
    assert result.late > 0
    assert alone.cycles < result.cycles < 4 * alone.cycles
    assert result.others.arrived > 0


def test_packets_after_the_end_change_nothing():
    tables = tables_of("ring", "ring:4", 4096)
    alone = on_routers(tables)
    result = on_routers(tables, others=packets((0, 2, 9, alone.cycles + 1)))
    assert (result.cycles, result.others.arrived) == (alone.cycles, 0)


def test_buffers_shorter_than_the_loop_of_a_credit():
    """16 flits a loop of 303 cycles: a message of 65 flits waits for credits four times, and rows are late."""
    tables = tables_of("ring", "ring:4", 4096, replace(MULTITREE, vc_buffer_flits=16))
    result = on_routers(tables)
    assert result.data_ok
    assert result.cycles > (result.closed_form_cycles or result.cycles)
    assert result.late > 0


def test_one_interface_a_node_serializes_what_four_send_at_once():
    four = tables_of("multitree", "torus:4x4", 1 << 16)
    one = replace(four, machine=replace(MULTITREE, router=replace(MULTITREE.router, interfaces="node")))
    assert on_routers(one).data_ok
    assert on_routers(one).cycles > on_routers(four).cycles


def test_a_table_that_waits_for_ever_says_so():
    """Two messages of the last step never leave: one node waits in its row, the others for what it would have sent."""
    tables = tables_of("ring", "ring:4", 4096)
    cut = replace(tables, step=np.where(tables.step == tables.step.min(), tables.step.max() + 1, tables.step))
    result = on_routers(in_order(cut), "paced")
    assert not result.data_ok
    assert any("waits for the" in line for line in result.deadlock)


@pytest.mark.parametrize(
    ("machine", "others", "flow", "reason"),
    [
        ({"vc_count": 1}, packets((0, 1, 1, 0)), "message", "the machine has only one"),
        ({"vc_buffer_flits": 15}, NO_PACKETS, "message", "a sub-message of 16 flits is too long: cut-through"),
        ({"vc_buffer_flits": 16}, NO_PACKETS, "packet", "a packet of 17 flits is too long: cut-through"),
        ({}, packets((0, 1, 319, 0)), "message", "a packet of 319 flits is too long: cut-through"),
    ],
)
def test_machines_that_cannot_carry_the_messages(machine: dict, others: Packets, flow: str, reason: str):
    tables = tables_of("ring", "ring:4", 4096, replace(MULTITREE, **machine))
    with pytest.raises(UnsupportedError, match=reason):
        on_routers(tables, framing=flow, others=others)


def agree_on(source: Tables | SimulatedSchedule, flow: str) -> None:
    """Slotted, routers give the closed form, and what lanes give."""
    ours = on_routers(source, framing=flow)
    lanes = on_lanes(source, framing=flow)
    assert (ours.late, ours.contention_cycles, ours.data_ok, ours.deadlock) == (0, 0, True, ())
    assert ours.cycles == ours.closed_form_cycles
    assert [getattr(ours, name) for name in (*EQUAL, "source")] == [getattr(lanes, name) for name in (*EQUAL, "source")]


@given(with_rates(schedules(routed=True)), st.integers(1, 20_000), machines(), st.sampled_from(["message", "packet"]))
@examples(80)
def test_messages_take_the_closed_form(schedule: Schedule, size: int, machine: Machine, flow: str):
    agree_on(lower(schedule, size, machine), flow)
    agree_on(SimulatedSchedule.of(schedule, size, machine), flow)


@pytest.mark.parametrize("flow", ["message", "packet"])
@pytest.mark.parametrize(
    ("spec", "method"),
    [("fattree:4x4", "ring"), ("switch:8", "halving-doubling"), ("dgx2", "ring"), ("torus:4x4", "recursive-doubling")],
)
def test_networks_with_switches_and_schedules_without_tables(spec: str, method: str, flow: str):
    agree_on(SimulatedSchedule.of(made(method, spec, 1 << 16), 1 << 16, MULTITREE), flow)


def test_a_reducing_switch_has_an_interface():
    agree_on(SimulatedSchedule.of(STAR, 4096, MULTITREE), "message")


@pytest.mark.parametrize("flow", ["message", "packet"])
def test_flits_carry_the_codes_of_table_ii(flow: str):
    """Two reduces and two copies a node, of 20 flits of data each: in message flow one head opens them, every 16th flit ends a
    sub-message and the last one the message; in packet flow, and next to it, there are ordinary packets."""
    tables = tables_of("ring", "ring:2", 2 * 320)
    assert tables.chunk_bytes == 320
    others = packets((0, 1, 1, 0), (1, 0, 4, 0))
    lengths = packet_lengths(tables, flow)
    cells = first_cells(tables)
    engine = FlitEngine(tables, Options(framing=flow, others=others), cells)
    while not engine.core.advance(1 << 20):
        pass
    codes = engine.core.flits_by_code()
    messages = engine.core.statistics()["messages"]
    assert messages == 4
    ordinary = {FlitType.HEAD: 1, FlitType.BODY: 2, FlitType.TAIL: 1, FlitType.HEAD_TAIL: 1}
    if flow == "message":  # 21 flits: head, 14 bodies, sub-tail, 4 bodies, tail
        own = {FlitType.MESSAGE_HEAD: 1, FlitType.MESSAGE_BODY: 18, FlitType.SUB_TAIL: 1, FlitType.MESSAGE_TAIL: 1}
        expected = {code: count * messages for code, count in own.items()} | ordinary
    else:  # 17 and 5 flits
        assert lengths == [17, 5]
        own = {FlitType.HEAD: 2, FlitType.BODY: 15 + 3, FlitType.TAIL: 2}
        expected = ordinary | {code: ordinary[code] + count * messages for code, count in own.items()}
    assert {code: count for code, count in enumerate(codes) if count} == expected


@pytest.mark.parametrize(
    ("spec", "run", "traffic", "flow"),
    [
        *(("torus:4x4", "paced", traffic, flow) for traffic in ("uniform", "hot-spot", "file") for flow in FRAMINGS),
        ("torus:4x4", "slotted", "uniform", "message"),
        *(("mesh:4x4", run, "uniform", "message") for run in MODES),
    ],
)
def test_neither_a_collective_nor_other_traffic_starves(spec: str, run: str, traffic: str, flow: str, tmp_path: Path):
    """All other packets arrive while the collective runs, and it ends within the time that both need in turn."""
    tables = tables_of("multitree", spec, 1 << 17)
    alone = on_routers(tables, run, framing=flow)
    hot_spot = (5, Fraction(1, 4)) if traffic == "hot-spot" else None
    others = synthetic_packets(tables.topology, load=Fraction(1, 8), flits=9, cycles=alone.cycles // 2, seed=8, hot_spot=hot_spot)
    if traffic == "file":
        columns = (others.id, others.src, others.dst, others.flits, others.start)
        rows = ["id,src,dst,flits,start", *(",".join(map(str, row)) for row in zip(*(c.tolist() for c in columns), strict=True))]
        (tmp_path / "p.csv").write_text("\n".join(rows))
        others = read_packets(tmp_path / "p.csv", tables.topology)
    result = on_routers(tables, run, framing=flow, others=others)
    assert result.data_ok
    assert result.others.arrived == result.others.packets == len(others.id) > 0
    busiest = np.bincount(others.src, weights=others.flits).max() + np.bincount(others.dst, weights=others.flits).max()
    assert alone.cycles <= result.cycles < 2 * (alone.cycles + busiest)
    if traffic != "hot-spot":  # within a few times the latency of the farthest
        assert result.others.longest < 2 * (8 + 6 * 153 + 9)


@given(
    with_rates(schedules()),
    st.integers(1, 20_000),
    st.sampled_from(["message", "packet"]),
    st.sampled_from(["0", "7", "0=40", "1=300,2=9"]),
    st.sampled_from(["0", "1=1/50", "0=-1/40,2=1/100"]),
)
@examples(40)
def test_skewed_clocks_affect_routers_and_lanes_equally(schedule: Schedule, size: int, flow: str, skew: str, drift: str):
    """Rows that are late, and messages that wait for each other's ports, take the same cycles on routers as on lanes."""
    tables = lower(schedule, size, MULTITREE)
    clocks = parse_clocks(len(tables.topology.kind), skew, drift)
    ours = on_routers(tables, framing=flow, clocks=clocks)
    lanes = on_lanes(tables, framing=flow, clocks=clocks)
    assert ours.data_ok
    assert [getattr(ours, name) for name in EQUAL] == [getattr(lanes, name) for name in EQUAL]


@pytest.mark.parametrize("spec", ["mesh:3x3", "torus:4x4"])
def test_the_exact_step_time_paces_both_equally(spec: str):
    tables = tables_of("multitree", spec, 1 << 15)
    paper, exact = (on_routers(tables, "paced", step_time=step).cycles for step in ("paper", "exact"))
    assert exact == on_lanes(tables, "paced", step_time="exact").cycles
    assert paper == on_lanes(tables, "paced", step_time="paper").cycles
    assert exact >= paper


@pytest.mark.parametrize("flow", ["message", "packet"])
@pytest.mark.parametrize(("spec", "method"), [("mesh:3x3", "packing"), ("mesh:2x4", "retime"), ("hypercube:3", "symmetric")])
def test_schedules_of_the_best_methods_take_their_closed_form(spec: str, method: str, flow: str):
    """Periods that overlap, delays of several slots: what a certificate promises is what routers take."""
    tables = tables_of(method, spec, 1 << 15)
    assert tables.repeats * tables.chunks > 8
    agree_on(tables, flow)
