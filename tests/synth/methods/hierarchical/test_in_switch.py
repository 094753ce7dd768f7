"""Sums and multicasts in switches: valid, the cycles that the steps of a message add up to, and the links that they load."""

from dataclasses import replace

import numpy as np
import pytest

from certree.hw.run import run
from certree.models.fine.slots import fine_times
from certree.models.machine.machine import load_machine
from certree.models.network.spec import parse_topology
from certree.models.schedule.collective import Collective, CollectiveKind, parse_collective
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import Op
from certree.synth.method import Request, load_methods
from certree.verify.checker import verify_schedule

MULTITREE = load_machine("multitree")
KIB = 1 << 10


def made(spec: str, size: int, collective: str = "all-reduce", root: int | None = None, **options: str) -> Schedule:
    """The schedule for machine `multitree`, once the checker takes it, and a run takes the cycles of its closed form."""
    request = Request(parse_topology(spec), parse_collective(collective, root), size, MULTITREE, options=options)
    schedule = load_methods()["in-switch"](request)
    assert verify_schedule(schedule).violations == ()
    done = run(schedule)
    assert (done.source, done.cycles, done.data_ok) == ("schedule", fine_times(schedule).cycles, True)
    assert (done.contention_cycles, done.late) == (0, 0)
    return schedule


def cycles(*args: object, **options: str) -> int:
    return fine_times(made(*args, **options)).cycles


#: of 256 bytes: flits of a message, and cycles of a link with its ends, of a start of the unit, and of an addition
SER, LINK, START, RED = 17, 158, 1, 16
STAR = "switch:8,reducing=switches"


def test_a_push_goes_up_is_added_and_comes_down() -> None:
    assert cycles(STAR, 256, pieces="1") == 2 * (SER + LINK) + START + 8 * RED


def test_a_pull_goes_up_and_down_twice() -> None:
    pushed = cycles(STAR, 256, pieces="1")
    assert cycles(STAR, 256, form="pull", pieces="1") == pushed + 2 * (SER + LINK)


def test_requests_go_up_and_down_before() -> None:
    """A header, alone, over two links."""
    without = cycles(STAR, 256, form="pull", pieces="1")
    assert cycles(STAR, 256, form="pull", pieces="1", requests="true") == without + 2 * (1 + LINK)


def test_requests_pass_switches_of_lower_levels() -> None:
    """A header, alone, over four links: each way the interfaces, three routers and two links."""
    spec = "fattree:2x2,reducing=switches"
    without = cycles(spec, 256, form="pull", pieces="1")
    assert cycles(spec, 256, form="pull", pieces="1", requests="true") == without + 2 * (1 + LINK + 150 + 3)


def test_two_levels_add_one_after_the_other() -> None:
    """Three at each of two leaf switches, which the top one adds up."""
    assert cycles("tree:2x3,reducing=switches", 256, pieces="1") == 4 * (SER + LINK) + 2 * START + 3 * RED + 2 * RED


def test_pieces_follow_each_other() -> None:
    """Chunks that the unit adds as fast as they come over the links: nothing but the links takes more time with more of them."""
    whole, ser = 64 * KIB, 1 + 2048 // 16
    assert cycles(STAR, whole, pieces="32") == 32 * ser + ser + 2 * LINK + START + 8 * RED


def test_a_push_loads_links_with_the_message_once() -> None:
    schedule = made("fattree:4x4,reducing=switches", 64 * KIB, pieces="8")
    for op in Op:
        rows = schedule.op == op
        ends = (schedule.src if op == Op.REDUCE else schedule.dst)[rows]
        assert [int((ends == node).sum()) for node in range(16)] == [8] * 16
    tops = set(schedule.dst[schedule.op == Op.REDUCE].tolist()) - set(schedule.src[schedule.op == Op.REDUCE].tolist())
    assert len(tops) == 4  # each of the top switches has its part


def test_pulls_are_shared_out() -> None:
    schedule = made(STAR, 16 * KIB, form="pull", pieces="8")
    copies_up = schedule.src[(schedule.op == Op.COPY) & (schedule.dst == 8)]
    assert sorted(copies_up.tolist()) == list(range(8))
    few = made(STAR, 16 * KIB, form="pull", pieces="2")
    assert sorted(few.src[(few.op == Op.COPY) & (few.dst == 8)].tolist()) == [0, 4]


def test_endpoints_add_what_a_switch_has_no_time_for() -> None:
    """A unit takes 16 · 16 cycles for the sum of 2 KiB, a link 129 for the message. Of 32 pieces endpoints add 11, so that the unit
    has 21 · 256 cycles of work, and links 21 + 11 · 15/8 messages to carry."""
    schedule = made("switch:16,reducing=switches", 64 * KIB, form="both", pieces="32")
    into_switch = np.unique(schedule.chunk[(schedule.op == Op.REDUCE) & (schedule.dst == 16)])
    into_nodes = np.unique(schedule.chunk[(schedule.op == Op.REDUCE) & (schedule.dst != 16)])
    assert (len(into_switch), len(into_nodes)) == (21, 11)
    assert sorted({*into_switch.tolist(), *into_nodes.tolist()}) == list(range(32))
    assert 21 * 256 < fine_times(schedule).cycles < 7 * cycles("switch:16,reducing=switches", 64 * KIB, pieces="32") // 8


@pytest.mark.parametrize(("collective", "root"), [("reduce-scatter", None), ("all-gather", None), ("broadcast", 5), ("reduce", 5)])
@pytest.mark.parametrize("spec", [STAR, "tree:2x3,reducing=switches", "fattree:3x4,reducing=switches", "dgx2,reducing=switches"])
def test_other_collectives(spec: str, collective: str, root: int | None) -> None:
    made(spec, 20_000, collective, root, pieces="2")


def test_the_lowest_switch_above_all_members_adds() -> None:
    """Three endpoints are at one leaf switch, which no higher one need see."""
    collective = Collective(CollectiveKind.ALL_REDUCE, None, (0, 1, 2))
    request = Request(parse_topology("fattree:4x4,reducing=switches"), collective, 256, MULTITREE, options={"pieces": "1"})
    schedule = load_methods()["in-switch"](request)
    assert verify_schedule(schedule).valid
    assert set(schedule.dst.tolist()) == {0, 1, 2, 16}
    assert fine_times(schedule).cycles == 2 * (SER + LINK) + START + 3 * RED
    assert run(schedule).data_ok


def test_a_broadcast_is_two_messages_long() -> None:
    assert cycles(STAR, 256, "broadcast", 3, pieces="1") == 2 * (SER + LINK)


def test_the_switch_adds_where_that_is_faster() -> None:
    """`auto` takes sums in the switch where the unit keeps up with the links, and says in how many pieces."""
    request = Request(parse_topology(STAR), parse_collective("all-reduce"), 64 * KIB, MULTITREE)
    best = load_methods()["auto"](request)
    plain = load_methods()["auto"](replace(request, topology=parse_topology("switch:8")))
    assert best.provenance["method"] == "in-switch"
    assert request.cycles(best) < 2 * request.cycles(plain) // 3
