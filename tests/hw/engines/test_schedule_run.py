"""Schedules that tables cannot represent: run from their own transfers, in every collective, with the same checks as tables."""

from dataclasses import replace
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certree.hw.engines.schedule_run import SimulatedSchedule
from certree.hw.tables.lowering import lower
from certree.models.common.errors import UnsupportedError
from certree.models.fine.slots import fine_times
from certree.models.network.routing import routes_between
from certree.models.network.spec import parse_topology
from certree.models.schedule.collective import WITH_ONE_ROOT, Collective, CollectiveKind
from certree.models.schedule.made_for import MadeFor
from certree.models.schedule.paths import route_of
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import NO_ROOT, Op
from certree.synth.method import Request, load_methods
from certree.verify.checker import verify_schedule
from tests.drawn import examples, given_at_least, rngs
from tests.hw.fine import ROOMY
from tests.hw.made import STAR, made
from tests.hw.runs import machines, on_lanes, on_routers, same_in_both, with_latencies
from tests.hw.trees import MULTITREE, schedules
from tests.models.examples import schedule as by_hand
from tests.verify.fine_moved import drawn

KIB = 1 << 10


def assert_exact(plan: SimulatedSchedule) -> None:
    result = same_in_both(plan)
    assert (result.source, result.data_ok, result.late, result.contention_cycles) == ("schedule", True, 0, 0)
    assert result.cycles == result.closed_form_cycles


@given(with_latencies(schedules(routed=True)), st.integers(1, 20_000), machines())
@examples(40)
def test_a_schedule_runs_as_its_tables_do(schedule: Schedule, size: int, machine):
    plan, tables = SimulatedSchedule.of(schedule, size, machine), lower(schedule, size, machine)
    assert_exact(plan)
    assert replace(on_lanes(plan), source="tables") == on_lanes(tables)


def recursive_doubling(ranks: int) -> Schedule:
    """One chunk; in step s rank r exchanges what it has with r xor 2^s."""
    rows = [(0, Op.REDUCE, s, r, r ^ (1 << s)) for s in range(ranks.bit_length() - 1) for r in range(ranks)]
    return by_hand(f"full:{ranks}", "all-reduce", [NO_ROOT], rows)


@pytest.mark.parametrize("ranks", [2, 8, 16])
def test_recursive_doubling(ranks: int):
    """No tree: in each of log2 N steps everybody sends and receives the whole sum so far."""
    schedule = recursive_doubling(ranks)
    assert verify_schedule(schedule).valid
    plan, tables = SimulatedSchedule.of(schedule, 4 * KIB, MULTITREE), lower(schedule, 4 * KIB, MULTITREE)
    assert_exact(plan)
    assert replace(on_lanes(plan), source="tables") == on_lanes(tables)


def test_a_wrong_schedule_gives_wrong_data():
    """The offset of the last step is wrong: some contributions are there twice."""
    schedule = recursive_doubling(8)
    last = schedule.step == 2
    wrong = replace(schedule, dst=np.where(last, (schedule.src + 1) % 8, schedule.dst).astype(np.int32))
    assert not verify_schedule(wrong).valid
    result = same_in_both(SimulatedSchedule.of(wrong, 4 * KIB, MULTITREE))
    assert not result.data_ok
    assert result.wrong is not None


def test_a_reducing_switch_adds_and_copies():
    assert verify_schedule(STAR).valid
    assert_exact(SimulatedSchedule.of(STAR, 4 * KIB, MULTITREE))


@given_at_least(40, rngs)
@examples(150)
def test_fine_slots_with_switches_that_add(rng: Random) -> bool:
    """Every valid drawn schedule runs in the cycles of its closed form, on lanes and through routers, with the right sums."""
    made = drawn(rng, "switch:3,reducing=switches", "tree:2x2,reducing=switches")
    made = replace(made, waits=None, made_for=replace(made.made_for, machine=ROOMY))
    if not verify_schedule(made).valid:
        return False
    plan = SimulatedSchedule.of(made, made.made_for.message_bytes, ROOMY)
    assert_exact(plan)
    routed = on_routers(plan)
    assert (routed.cycles, routed.data_ok) == (fine_times(made).cycles, True)
    return True


@pytest.mark.parametrize("slot_cycles", [None, 1])
def test_schedules_without_tables_have_one_buffer(slot_cycles):
    plain = replace(STAR, slot_cycles=slot_cycles, made_for=MadeFor(64, MULTITREE))
    into = (STAR.op == Op.COPY).astype(np.int32)
    several = replace(plain, buffers=2, src_buffer=into * 0, dst_buffer=into)
    with pytest.raises(UnsupportedError, match="several buffers run from tables only"):
        SimulatedSchedule.of(several, 64, MULTITREE)


def test_fine_slots_at_another_size():
    """The transfers are booked anew, and run as planned."""
    for size in (64, 4 * KIB, 1000):
        schedule = made("in-switch", "tree:2x3,reducing=switches", 4 * KIB)
        assert_exact(SimulatedSchedule.of(schedule, size, MULTITREE))


@pytest.mark.parametrize("network", ["ring:4", "fattree:2x2"])
@pytest.mark.parametrize("kind", sorted(set(CollectiveKind) - {CollectiveKind.ALL_TO_ALL}))
def test_every_collective(kind: CollectiveKind, network: str):
    """What the methods make of each collective: valid, exact, and right at every rank."""
    collective = Collective(kind, 1 if kind in WITH_ONE_ROOT else None)
    request = Request(parse_topology(network), collective, 4 * KIB, MULTITREE)
    made = 0
    for name in sorted(load_methods()):
        try:
            schedule = load_methods()[name](request)
        except UnsupportedError:
            continue
        made += 1
        assert verify_schedule(schedule).valid, name
        if schedule.slot_cycles is not None or schedule.buffers > 1:  # runs from tables only
            continue
        assert_exact(SimulatedSchedule.of(schedule, 4 * KIB, MULTITREE))
    assert made > 0


@pytest.mark.parametrize("network", ["ring:4", "switch:6", "fattree:2x3", "mesh:2x3"])
def test_all_to_all(network: str):
    """Everybody sends everybody else a block in one long step, over the routes of the network."""
    topology = parse_topology(network)
    ends = np.array([(a, b) for a in topology.endpoints.tolist() for b in topology.endpoints.tolist() if a != b], np.int32).T
    column, routes = routes_between(topology, *ends)
    rows = [(chunk, Op.COPY, 0, src, dst) for chunk, (src, dst) in enumerate(ends.T.tolist())]
    load = np.bincount(route_of(topology, *ends, column, routes)[1]).max()
    fields = {"chunk_target": ends[1], "route": column, "routes": routes, "rounds": [int(load)]}
    schedule = by_hand(topology, "all-to-all", ends[0], rows, **fields)
    assert verify_schedule(schedule).valid
    plan = SimulatedSchedule.of(schedule, 4 * KIB, MULTITREE)
    assert_exact(plan)
    wrong = replace(plan.schedule, chunk_target=np.roll(ends[1], 1))
    assert not on_lanes(replace(plan, schedule=wrong)).data_ok


def exchange(delay: int) -> Schedule:
    """Node 0 gets a copy of chunk 0 in step 0, and sends the chunk in step 1: with delay 2 while the copy is in flight."""
    return by_hand("full:2", "all-reduce", [NO_ROOT], "1+0; 0+1", delay=delay)


def test_what_would_be_left_to_chance_is_refused():
    assert on_lanes(SimulatedSchedule.of(exchange(1), 64, MULTITREE)).messages == 2
    with pytest.raises(UnsupportedError, match="node 0 sends chunk 0 in step 1 while a transfer into it is in flight"):
        on_lanes(SimulatedSchedule.of(exchange(2), 64, MULTITREE))
    mixed = replace(exchange(2), op=np.array([0, 1]), src=np.array([1, 2]), dst=np.array([0, 0]), topology=parse_topology("full:3"))
    with pytest.raises(UnsupportedError, match="a copy and a reduce of chunk 0 are in flight to node 0 at once"):
        on_lanes(SimulatedSchedule.of(mixed, 64, MULTITREE))


def test_only_slots_keep_an_exchange_apart():
    with pytest.raises(UnsupportedError, match="node 0 sends chunk 0 in step 0 and receives it later"):
        on_lanes(SimulatedSchedule.of(recursive_doubling(4), 64, MULTITREE), "paced")


def test_copies_along_a_path_can_be_paced():
    schedule = by_hand("mesh:3", Collective(CollectiveKind.BROADCAST, 0), [0], "0>1; 1>2")
    result = same_in_both(SimulatedSchedule.of(schedule, 256, MULTITREE), "paced")
    assert (result.cycles, result.data_ok) == (2 * 175, True)
