"""Messages in routers, flit by flit: TLC finds the deadlocks that `verify/deadlock` refuses, and none where it finds none."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from random import Random

import numpy as np
import pytest

import certree.api as ct
from certree.extras.tla.check.model_runs import ModelResult
from certree.extras.tla.check.routers import model, waiting_packets
from certree.extras.tla.check.routers.sent_messages import Sent
from certree.extras.tla.check.routers.waiting_packets import Packet
from certree.extras.tla.check.tlc import Result
from certree.hw.engines.schedule_run import SimulatedSchedule
from certree.hw.tables.lowering import lower
from certree.models.common.errors import UnsupportedError
from certree.models.machine.machine import Machine, load_machine
from certree.models.network.topology import NodeKind, Topology
from certree.models.schedule.schedule import Schedule
from certree.models.tables.tables import Tables
from certree.verify.deadlock.freedom import deadlock_of_schedule
from tests.verify.deadlock.drawn import circles, drawn_cabling
from tests.verify.deadlock.routers import KIB, direct, small, switch_ring


def tables_of(topology: Topology | str, machine: Machine, size: int) -> Tables:
    """All endpoints send to all others."""
    return lower(direct(topology, machine, size, "all-gather"), size, machine)


def model_check_routers(tables: Tables, **options: float) -> ModelResult:
    return model.model_check_routers(Sent.of_tables(tables), **options)


def packets_of(tables: Tables, framing: str) -> list[Packet]:
    return waiting_packets.packets_of(Sent.of_tables(tables), framing)


def test_two_layers_are_free_and_one_is_not() -> None:
    free = model_check_routers(tables_of(switch_ring(3), small(2, 1), 64))
    assert (free.result, free.mode) == (Result.SUCCESS, "exhaustive")
    assert free.message == "all states; 3 of 6 packets in 1 group(s) that share no link, the others hold up nobody"
    stuck = model_check_routers(tables_of(switch_ring(3), small(1, 1), 64))
    assert (stuck.result, stuck.mode) == (Result.DEADLOCK, "exhaustive")


def test_buffers_that_hold_all_that_comes() -> None:
    """Two packets of two flits may wait in a channel. The checker counts a third one, which is at its destination then."""
    for flits, result, is_free in ((2, Result.DEADLOCK, False), (4, Result.SUCCESS, False), (6, Result.SUCCESS, True)):
        machine = small(1, flits)
        tables = tables_of(switch_ring(3), machine, 48)
        assert model_check_routers(tables).result == result
        assert deadlock_of_schedule(tables.schedule, machine, 48).free == is_free


def test_messages_on_lanes_of_their_own() -> None:
    """Where switches are joined by two lanes, the messages of a slot take one each: three that pass two links no longer wait in a
    circle. In a ring of five some share a lane, and wait."""
    free = model_check_routers(tables_of(wide_ring(3), small(1, 1), 48))
    assert (free.result, free.mode, free.distinct_states) == (Result.SUCCESS, "exhaustive", 51)
    assert free.message == "all states; 3 of 6 packets in 3 group(s) that share no link, the others hold up nobody"
    stuck = model_check_routers(tables_of(wide_ring(5), small(1, 1), 80))
    assert (stuck.result, stuck.mode) == (Result.DEADLOCK, "simulation")
    waits = [
        re.fullmatch(r"packet .* by lanes [\d,]+ \d+ is in (.*) and waits for (.*)", line) for line in stuck.trace.splitlines()
    ]
    assert all(waits)
    assert {wait[1] for wait in waits if wait} >= {"5>6 lane 0"}


def wide_ring(switches: int) -> Topology:
    """`switch_ring` with two lanes from each switch to the next."""
    ring = switch_ring(switches)
    between = (ring.src >= switches) & (ring.dst >= switches)
    return replace(ring, capacity=np.where(between, 2, ring.capacity).astype(ring.capacity.dtype))


def test_channels_that_are_reused_when_they_are_empty() -> None:
    """Buffers of 4 flits hold both packets of two that wait in them (above); where the second has to wait for the first to leave,
    they still wait for each other. Two layers are free in either case."""
    for machine, result in (
        (small(1, 4, vc_reuse="empty"), Result.DEADLOCK),
        (small(2, 4, vc_reuse="empty"), Result.SUCCESS),
    ):
        checked = model_check_routers(tables_of(switch_ring(3), machine, 48))
        assert (checked.result, checked.mode) == (result, "exhaustive")


@pytest.mark.parametrize("flow", ["message", "packet"])
def test_the_example_by_random_runs(flow: str) -> None:
    """A ring of four switches, one virtual channel of 8 flits: `verify` refuses it, and TLC says why without the checker."""
    machine = small(1, 8)
    (stuck,) = ct.model_check(schedule=tables_of(switch_ring(), machine, 2 * KIB), routers=True, flow=flow)
    assert (stuck.result, stuck.mode, stuck.as_expected) == (Result.DEADLOCK, "simulation", False)
    assert "is in 4>5 and waits for 5>6" in stuck.trace


def drawn(seed: int) -> Iterator[tuple[Schedule, Machine, int]]:
    """Schedules for a small random network of switches, and one whose routes wait in a circle on purpose."""
    rng = Random(seed)
    while True:
        cabling = drawn_cabling(rng)
        if cabling.switches <= 5 and len(cabling.homes) <= 4:
            break
    topology, ends = cabling.topology(), len(cabling.homes)
    flow_control = rng.choice(("wormhole", "cut-through"))
    reuse = {"vc_reuse": "empty"} if rng.random() < 1 / 3 else {}
    machine = small(rng.choice((1, 2)), rng.randint(1, 2) if flow_control == "wormhole" else 2, flow_control=flow_control, **reuse)
    size = machine.flit_bytes * ends
    made = direct(topology, machine, size, "all-gather")
    yield made, machine, size
    for circle in circles(made):
        yield circle, machine, size


def check_drawn(seed: int) -> list[Result]:
    """TLC's answers, compared with those of the checker, which are about sufficient conditions."""
    found = []
    for schedule, machine, size in drawn(seed):
        checked = model_check_routers(lower(schedule, size, machine), time_limit=60.0)
        free = deadlock_of_schedule(schedule, machine, size).free
        assert checked.result in (Result.SUCCESS, Result.DEADLOCK, Result.UNKNOWN)
        assert not free or checked.result is not Result.DEADLOCK, f"seed {seed}: {checked.message}"
        found.append(Result(checked.result))
    return found


@pytest.mark.parametrize("seeds", [range(2), pytest.param(range(2, 40), marks=pytest.mark.slow)])
def test_what_the_checker_calls_free_never_deadlocks(seeds: range) -> None:
    found = [result for seed in seeds for result in check_drawn(seed)]
    assert Result.SUCCESS in found


def test_flits_are_those_of_the_routers() -> None:
    """Flits are coded as by `flit_code` in hw/core/routers/packet.hpp: a sub-tail every 16 flits, the head included."""
    (first, *_) = packets_of(tables_of(switch_ring(3), small(2, 16), 3 * 39 * 16), "message")
    assert [place for place, kind in enumerate(first.kinds) if kind != "body"] == [0, 15, 31, 39]
    assert [first.kinds[place] for place in (0, 15, 31, 39)] == ["head", "subtail", "subtail", "tail"]


def test_messages_of_all_iterations_have_the_lanes_of_the_first() -> None:
    machine = small(2, 1)
    once = tables_of(wide_ring(3), machine, 48).schedule
    names = [
        [packet.name for packet in packets_of(lower(made, 48 * made.repeats, machine), "message")]
        for made in (once, replace(once, repeats=3, period=9))
    ]
    assert len(names[1]) == 3 * len(names[0]) == 18
    assert {name.rpartition(" ")[0] for name in names[1]} == {name.rpartition(" ")[0] for name in names[0]}


def test_messages_that_hold_up_nobody_need_no_states() -> None:
    checked = model_check_routers(tables_of("switch:4", small(1, 8), 64 * KIB))
    assert (checked.result, checked.distinct_states) == (Result.SUCCESS, 0)
    assert checked.message == "none of 12 packets waits in a channel for another one that it could hold up"


def test_what_the_specification_does_not_have() -> None:
    tables = tables_of(switch_ring(3), small(2, 1), 48)
    for machine, message in (
        (replace(small(2, 8), router_cycles=0), "has no routers"),
        (replace(small(2, 8), head_flits=0), "not supported for messages of one flit"),
    ):
        with pytest.raises(UnsupportedError, match=message):
            model_check_routers(replace(tables, machine=machine))
    long = tables_of(switch_ring(3), small(2, 16), 4 * KIB)
    with pytest.raises(UnsupportedError, match=r"16 flits are too many for cut-through, which .*, and buffers have 8"):
        model_check_routers(replace(long, machine=small(2, 8, flow_control="cut-through")))
    with pytest.raises(UnsupportedError, match="too many for TLC in routers"):
        model_check_routers(tables_of(switch_ring(4), small(1, 8), 64 << 20))


def test_bad_input() -> None:
    with pytest.raises(ct.InputError, match="routers: it is about the messages of a schedule"):
        ct.model_check(routers=True)


@pytest.mark.parametrize("switches", [3, 5])
def test_transfers_send_what_tables_command(switches: int) -> None:
    """The packets are the same, whether a schedule has tables or not."""
    for topology in (switch_ring(switches), wide_ring(switches)):
        tables = tables_of(topology, small(2, 8), 16 * switches)
        transfers = Sent.of_schedule(tables.schedule, tables.machine, tables.chunk_bytes)
        assert Counter(waiting_packets.packets_of(transfers, "packet")) == Counter(packets_of(tables, "packet"))


@pytest.mark.parametrize(
    ("network", "method"), [("switch:4,reducing=switches", "in-switch"), ("fattree:2x2,reducing=switches", "netreduce")]
)
def test_messages_of_switches_that_add(network: str, method: str) -> None:
    """They have no tables; the deadlock checker has the same answer."""
    machine = load_machine("multitree")
    made = ct.synthesize(network, method=method, size="1KiB")
    (checked,) = ct.model_check(schedule=made, routers=True)
    assert checked.result is Result.SUCCESS
    assert deadlock_of_schedule(made, machine, KIB).free


def test_messages_of_switches_that_add_may_wait_in_a_circle() -> None:
    """Nodes 3 to 5 of a ring are switches that add; each node sends over two of their links, and some wait for each other."""
    ring = switch_ring(3)
    adding = replace(ring, reducing=ring.kind == NodeKind.SWITCH)
    for machine, result in ((small(1, 1), Result.DEADLOCK), (small(2, 1), Result.SUCCESS)):
        made = replace(direct(adding, machine, 64, "all-gather"), topology=adding)
        plan = SimulatedSchedule.of(made, 64, machine)
        checked = model.model_check_routers(Sent.of_schedule(plan.schedule, machine, plan.chunk_bytes))
        assert checked.result is result
        assert deadlock_of_schedule(made, machine, 64).free == (result is Result.SUCCESS)
