"""Messages that never wait for credits though buffers are shorter than the loop of a credit: as on lanes, to the cycle."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import strategies as st

from certree.hw.engines.schedule_run import SimulatedSchedule
from certree.hw.tables.lowering import lower
from certree.models.machine.machine import Machine
from certree.models.network.rates import Rates
from certree.models.network.spec import parse_topology
from certree.models.routers.transparency import credit_loop, has_routes, never_lack_credits, pass_without_waiting, turns_of
from certree.models.schedule.collective import CollectiveKind
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.timing import FRAMINGS
from certree.verify.order.agreement import agreement_of_schedule, agreement_of_tables, waits_for_credits
from tests.drawn import examples, given_at_least
from tests.hw.engines.test_flit import EQUAL
from tests.hw.runs import on_lanes, on_routers, with_latencies, with_rates
from tests.hw.trees import MULTITREE, schedules, tree_schedule

RING = parse_topology("ring:3")


def far_apart(buffer: int, vcs: int = 4, **router: object) -> Machine:
    """A loop of 404 cycles, as on the longer links of `hier-torus`."""
    return replace(
        MULTITREE, link_latency_cycles=200, vc_buffer_flits=buffer, vc_count=vcs, router=replace(MULTITREE.router, **router)
    )


@pytest.mark.parametrize(
    ("flits", "buffer", "vcs", "passes"),
    [
        (318, 318, 4, True),  # its last flit takes the last place; the VC comes again after 1,272 cycles
        (319, 318, 4, False),
        (318, 318, 1, False),  # the next message finds 86 credits missing
        (202, 219, 2, True),  # comes again when no credit is back: the first 17 flits need room next to the 202 before
        (202, 202, 2, False),
        (17, 115, 4, True),  # comes again after 68 cycles: 98 flits of the last 404 cycles, and 17 of its own
        (17, 60, 4, False),
    ],
)
def test_by_hand(flits: int, buffer: int, vcs: int, passes: bool) -> None:
    """What the rule says; and what routers do with messages that follow each other without a gap."""
    machine, lengths = far_apart(buffer, vcs), np.array([flits])
    assert credit_loop(RING, machine) == 404
    assert bool(never_lack_credits(lengths, lengths, machine, 404, turns_of(vcs, vcs))) == passes
    one = tree_schedule("ring:3", CollectiveKind.BROADCAST, 1, delay=30, repeats=1, seed=1)
    tables = lower(replace(one, period=1, repeats=60), 60 * 16 * (flits - 1), machine)
    assert tables.slot_cycles == flits
    assert (agreement_of_tables(tables) is None) == passes
    ours = on_routers(tables)
    assert (ours.cycles == ours.closed_form_cycles) == passes
    assert not passes or (ours.contention_cycles, ours.late) == (0, 0)


@pytest.mark.parametrize("router", [{"vc_choice": "any"}, {"vc_reuse": "empty"}, {"interfaces": "node"}])
def test_where_channels_do_not_come_in_turn_the_length_says_nothing(router: dict[str, str]) -> None:
    assert pass_without_waiting(RING, far_apart(318, **router), np.array([318, 1025])).tolist() == [True, True]
    assert pass_without_waiting(RING, far_apart(318), np.array([318, 1025])).tolist() == [True, False]
    assert pass_without_waiting(RING, replace(MULTITREE, router_cycles=0), np.array([1025])).tolist() == [True]


@pytest.mark.parametrize("scale", [Fraction(65, 64), Fraction(3, 2), Fraction(2)])
def test_packets_of_one_flit_on_slow_lanes(scale: Fraction) -> None:
    """Virtual channels come again after the cycles that the packets between need together, not each rounded up."""
    one = tree_schedule("ring:4", CollectiveKind.BROADCAST, 1, delay=30, repeats=1, seed=0)
    rates = Rates(one.topology.capacity.astype(np.int64) * scale.denominator, scale.numerator)
    one = replace(one, topology=replace(one.topology, scale=scale, rates=rates))
    machine = replace(
        MULTITREE, head_flits=0, packet_payload_bytes=16, link_latency_cycles=3, ni_cycles=11, ni_issue_cycles=2, vc_count=5,
        router_cycles=8, vc_buffer_flits=1000, router=replace(MULTITREE.router, vc_cycles=2, switch_cycles=2, credit_cycles=1),
    )  # fmt: skip
    tables = lower(one, 16 * 36, machine)
    lanes, routers = on_lanes(tables, framing="packet"), on_routers(tables, framing="packet")
    assert lanes.is_exact == (4 * scale // 1 > 5)
    assert not lanes.is_exact or lanes.cycles == routers.cycles


@pytest.mark.parametrize(("buffer", "exact"), [(20, False), (22, False), (24, False), (27, False), (28, True), (30, True)])
def test_cut_through_needs_room_for_a_packet_next_to_the_last_one(buffer: int, exact: bool) -> None:
    """Packets of 17, 17 and 9 flits on two channels: after the short one, 11 credits of the channel's last packet are on their way.

    The rule is on the safe side: routers add nothing from 24 flits on."""
    one = tree_schedule("ring:4", CollectiveKind.BROADCAST, 1, delay=30, repeats=1, seed=0)
    machine = replace(
        MULTITREE, head_flits=1, packet_payload_bytes=256, link_latency_cycles=3, ni_cycles=5, vc_count=2, router_cycles=7,
        vc_buffer_flits=buffer,
        router=replace(
            MULTITREE.router, vc_cycles=2, switch_cycles=1, credit_cycles=2, flow_control="cut-through", sub_message_flits=1
        ),
    )  # fmt: skip
    tables = lower(replace(one, period=1, repeats=20), 20 * 16 * 40, machine)
    lanes, routers = on_lanes(tables, framing="packet"), on_routers(tables, framing="packet")
    assert lanes.is_exact == exact
    assert (lanes.cycles == routers.cycles) == (buffer >= 24)


@pytest.mark.parametrize("scale", [Fraction(1), Fraction(3, 2), Fraction(2)])
def test_long_messages_wait_on_slow_lanes_too(scale: Fraction) -> None:
    rates = Rates(RING.capacity.astype(np.int64) * scale.denominator, scale.numerator)
    slow = replace(RING, scale=scale, rates=rates)
    machine = replace(far_apart(40), vc_count=2)
    assert pass_without_waiting(slow, machine, np.array([319])).tolist() == [False]


def test_schedules_that_wait() -> None:
    """Two sizes of one schedule; between neighbours on four channels, and routed on the two halves of a ring."""
    for spec in ("ring:3", "torus:3x3,far"):
        schedule = tree_schedule(spec, CollectiveKind.ALL_REDUCE, 2, delay=2, repeats=1, seed=4)
        for flits, waits in ((318, False), (319, True)):
            size = 2 * 16 * (flits - 1)
            assert waits_for_credits(schedule, far_apart(318), size) == waits
            assert (agreement_of_schedule(schedule, far_apart(318), size) is not None) == waits
            assert not waits_for_credits(schedule, far_apart(404), size)


@st.composite
def shallow(draw: st.DrawFn, schedule: Schedule) -> Machine:
    """Routers of all stages, whose buffers are shorter than the loop of a credit."""
    router = replace(
        MULTITREE.router,
        allocator=draw(st.sampled_from(["islip", "separable"])),
        credit_cycles=draw(st.integers(0, 3)),
        flow_control=draw(st.sampled_from(["wormhole", "cut-through"])),
        sub_message_flits=draw(st.sampled_from([1, 4, 8, 16])),
        datelines=draw(st.booleans()),
        vc_cycles=draw(st.integers(0, 2)),
        switch_cycles=draw(st.integers(1, 2)),
    )
    machine = replace(
        MULTITREE,
        router=router,
        head_flits=draw(st.integers(0, 2)),
        link_latency_cycles=draw(st.integers(8, 40)),
        router_cycles=draw(st.integers(5, 8)),
        ni_cycles=draw(st.integers(0, 2)),
        vc_count=draw(st.integers(2, 6)),
        packet_payload_bytes=draw(st.sampled_from([16, 64, 256])),
    )
    loop = credit_loop(schedule.topology, machine)
    return replace(machine, vc_buffer_flits=draw(st.integers(min(18, loop - 1), loop - 1)))


@given_at_least(40, st.data())
@examples(100)
def test_shallow_buffers_are_as_lanes_to_the_cycle(data: st.DataObject) -> bool:
    """Over several links, through switches, in slots that are as short as links allow."""
    base = with_rates(schedules(routed=True))
    schedule = data.draw(with_latencies(base) if data.draw(st.booleans()) else base)
    machine = data.draw(shallow(schedule))
    flits = data.draw(st.integers(1, machine.vc_buffer_flits + 2))
    size = max(1, schedule.message_chunks * schedule.repeats * 16 * flits - data.draw(st.integers(0, 20)))
    source = (lower if data.draw(st.booleans()) else SimulatedSchedule.of)(schedule, size, machine)
    flow = data.draw(st.sampled_from(FRAMINGS))
    lanes = on_lanes(source, framing=flow)
    if lanes.is_exact:
        ours = on_routers(source, framing=flow)
        names = EQUAL[:-1] if has_routes(schedule) else EQUAL  # routers may take other lanes side by side
        assert [getattr(ours, name) for name in names] == [getattr(lanes, name) for name in names]
    return lanes.is_exact
