"""Pauses of links in the flow engine: by hand, against a plain simulation, where there are none, and what is refused."""

import random
from collections import deque
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import certree.api as ct
from certree.extras.costs.model.flows.flows import flows_at_distance
from certree.extras.costs.model.flows.pauses import MOST_WORK, Lost, Pauses, Work, parse_pauses, time_lost
from certree.extras.costs.model.flows.time import READINGS, FlowTimer, Reading, reading_and_pauses, schedule_time
from certree.extras.costs.model.formulas.genmodel import load_genmodel
from certree.models.common.errors import InputError, UnsupportedError
from certree.models.network.spec import parse_topology
from tests.cli.running import certree
from tests.synth.execution import make

MODEL = load_genmodel("gentree")
NO_INCAST = replace(
    MODEL,
    middle=replace(MODEL.middle, epsilon_seconds_per_float=Fraction(0)),
    root_level=replace(MODEL.root, epsilon_seconds_per_float=Fraction(0)),
    cross_level=replace(MODEL.cross, epsilon_seconds_per_float=Fraction(0)),
)
FLOATS = Fraction(10**5)


def lost(frames: list[int], routes: list[list[int]], pauses: Pauses, cost: dict[int, int] | None = None) -> Lost:
    """What flows of whole frames lose on links of `cost` seconds a float, frames being a float long."""
    flow = np.repeat(np.arange(len(routes)), [len(route) for route in routes])
    seconds = [Fraction((cost or {}).get(link, 1)) for link in range(max(map(max, routes)) + 1)]
    lengths = [Fraction(count) for count in frames]
    return time_lost(lengths, np.arange(len(frames)), flow, np.concatenate(routes), seconds, pauses, Work())


def test_by_hand():
    """A lone flow of 6 frames over two links. Its first frame pauses the first link, which learns of it two frame times late: two
    more pass, then none for three frame times."""
    assert lost([6], [[0, 1]], Pauses(off=1, on=0, late=2, frame=4)) == Lost(Fraction(3), 2)
    # learning at once, a link carries frames every other frame time: 12 instead of 7
    assert lost([6], [[0, 1]], Pauses(off=1, on=0, late=0, frame=4)) == Lost(Fraction(5), 6)


def test_a_pause_stops_other_flows_too():
    """Four senders to link 4 pause their links; the other flow of the first one waits, though the link it goes to is free."""
    to_one = [[number, 4] for number in range(4)]
    pauses = Pauses(off=2, on=1, late=0, frame=4)
    assert lost([8] * 4, to_one, pauses).seconds == 0  # link 4 is busy all the time
    assert lost([8] * 4 + [24], [*to_one, [0, 5]], pauses).seconds > 8


@pytest.mark.parametrize("seed", range(12))
def test_as_a_plain_simulation(seed):
    draw = random.Random(seed)
    routes = [
        draw.sample(range(3), 1) + draw.sample(range(3, 5), 1) + draw.sample(range(5, 8), draw.randrange(2)) for _ in range(6)
    ]
    routes = [*routes, *([link] for link in range(8))]  # every link has a flow
    frames = [draw.randrange(1, 9) for _ in routes]
    on = draw.randrange(3)
    pauses = Pauses(on + draw.randrange(1, 3), on, draw.randrange(3), 4)
    cost = {link: draw.choice((2, 3)) for link in range(8)} | {0: 2}
    with_pauses, count = plainly(frames, routes, cost, pauses)
    without, _ = plainly(frames, routes, cost, None)
    assert lost(frames, routes, pauses, cost) == Lost(Fraction(2 * max(0, with_pauses - without)), count)


def plainly(frames: list[int], routes: list[list[int]], cost: dict[int, int], pauses: Pauses | None) -> tuple[int, int]:
    """Frame times of 2 seconds and pauses, frame by frame: each link has a queue of the flows in the order in which they have their
    turn."""
    waiting = {(flow, at): frames[flow] * (at == 0) for flow, route in enumerate(routes) for at in range(len(route))}
    turns = {link: deque(key for key in waiting if routes[key[0]][key[1]] == link) for link in cost}
    credit, held = {link: cost[link] - 2 for link in cost}, dict.fromkeys(cost, 0)
    paused, told, count, now = set(), deque([frozenset()] * (pauses.late + 1 if pauses else 1)), 0, 0
    while any(waiting.values()):
        stopped, moved = told.popleft(), []
        for link, time in cost.items():
            credit[link] = min(credit[link] + 2, time + 1)
            ready = next((key for key in turns[link] if waiting[key]), None)
            if ready and credit[link] >= time and link not in stopped:
                credit[link] -= time
                turns[link].remove(ready)
                turns[link].append(ready)
                moved.append(ready)
        for flow, at in moved:
            waiting[flow, at] -= 1
            if at + 1 < len(routes[flow]):
                waiting[flow, at + 1] += 1
                held[routes[flow][at]] += 1
            if at:
                held[routes[flow][at - 1]] -= 1
        if pauses:
            after = {link for link in cost if held[link] > pauses.on and (link in paused or held[link] >= pauses.off)}
            count, paused = count + len(after - paused), after
        told.append(frozenset(paused))
        now += 1
    return now, count


@pytest.mark.parametrize("network", ["tree:2+5", "tree:3x4/2x4", "switch:12"])
@pytest.mark.parametrize("method", ["cps", "gentree"])
def test_without_pauses_it_is_the_engine_without_incast(network, method):
    """A queue that holds the whole message never pauses a link."""
    schedule = make(method, network)
    never = parse_pauses("100MB/0/0/20KB")
    for sharing in READINGS["sharing"][:3]:
        plain = schedule_time(schedule, NO_INCAST, FLOATS, Reading(sharing))
        assert schedule_time(schedule, MODEL, FLOATS, Reading(sharing), never) == plain


def test_pauses_add_to_the_same_engine():
    """Everyone's third link in a tree of switches: what is lost is added, and counted as a part of the transfer."""
    schedule = make("cps", "tree:2x12")
    plain = schedule_time(schedule, NO_INCAST, FLOATS, Reading())
    paused = schedule_time(schedule, MODEL, FLOATS, Reading(), parse_pauses("8KB/4KB/16KB/4KB"))
    assert paused.pauses > 0
    assert paused.lost > 0
    assert paused.transfer == plain.transfer + paused.lost
    assert (paused.start_up, paused.reduction) == (plain.start_up, plain.reduction)


def test_links_that_wait_for_each_other():
    """Everyone on a ring of five sends two hops clockwise: each link is paused by frames that wait for the next one."""
    topology = parse_topology("ring:5")
    step = flows_at_distance(topology, 2, 5, added=False)
    with pytest.raises(UnsupportedError, match=r"pauses: 25 frames wait for each other for ever; 5 links are paused"):
        FlowTimer(topology, MODEL, Fraction(5 * 5 * 1000), Reading(), parse_pauses("4KB/0/0/4KB")).step(step)


@pytest.mark.parametrize("floats", [10**10, 10**22, 10**24])
def test_too_many_frames(floats):
    schedule = make("cps", "switch:12")
    with pytest.raises(
        UnsupportedError, match=r"frame times; allowed: 97\d,\d{3}, about a minute for all steps; give larger frames"
    ):
        schedule_time(schedule, MODEL, Fraction(floats), Reading(), parse_pauses("64/4/0/4"))


def test_a_frame_time_counts_whatever_its_hops():
    """Two servers have four hops a step, and a million frame times of them take about a minute."""
    with pytest.raises(UnsupportedError, match=r"has at least 33,554,432 frame times; allowed: 999,600,"):
        schedule_time(make("cps", "switch:2"), MODEL, Fraction(1 << 26), Reading(), parse_pauses("8/4/0/4"))


def test_work_is_that_of_all_steps_and_of_pauses():
    """Steps take what they do from the same work; pauses may take more of it than is known before."""
    work, flow, one = Work(), np.zeros(2, np.int64), [Fraction(1)] * 2
    two_links, pauses = np.arange(2), Pauses(off=1, on=0, late=0, frame=4)
    time_lost([Fraction(6)], np.zeros(1, np.int64), flow, two_links, one, pauses, work)
    assert work.left == MOST_WORK - (12 + 7) * (2 + 10**4)
    few = Work(11 * (2 + 10**4))
    with pytest.raises(UnsupportedError, match=r"after 11 frame times of a step of 2 hops, .*, frames have not arrived \(1\)"):
        time_lost([Fraction(6)], np.zeros(1, np.int64), flow, two_links, one, pauses, few)


def test_a_frame_longer_than_a_flow():
    """Each of 24 servers sends each of the others 64 KiB / 24 = 2,730.67 bytes."""
    with pytest.raises(InputError, match=r"FRAME is 4,096 bytes; allowed: at most 2,730, those of the flow from node 0 to node 1$"):
        schedule_time(make("cps", "tree:2x12"), MODEL, Fraction(1 << 14), Reading(), parse_pauses("8KiB/4KiB/0/4KiB"))


@pytest.mark.parametrize("text", ["8192B/0B/0B/4096B", "8KiB/00/0KiB/4KiB", "8KiB/0.0 KB/0/4KiB"])
def test_zero_with_a_unit(text):
    assert parse_pauses(text) == Pauses(2, 0, 0, 4096)
    assert parse_pauses(str(parse_pauses(text))) == parse_pauses(text)


@pytest.mark.parametrize(
    ("chosen", "words"),
    [
        ({"pauses": "8KiB/4KiB/4KiB"}, "expected OFF/ON/LATE/FRAME"),
        ({"pauses": "8KiB/4KiB/0/3"}, "FRAME is 3 bytes; allowed: 4 or more"),
        ({"pauses": "8KiB/5KiB/0/4KiB"}, "ON is 5120 bytes; allowed: multiples of FRAME, 4096 bytes"),
        ({"pauses": "8KiB/8KiB/0/4KiB"}, "ON is 8192 bytes; allowed: less than OFF, 8192 bytes"),
        ({"pauses": "8KiB/0/1GiB/4KiB"}, "LATE is 262144 frames; allowed: at most 4096"),
        ({"pauses": "8KiB/0/x/4KiB"}, "pauses='8KiB/0/x/4KiB': LATE: size 'x'"),
        ({"pauses": "8KiB/0/0/0B"}, "FRAME is 0 bytes; allowed: 4 or more"),
        ({"pauses": "0B/0/0/4KiB"}, "ON is 0 bytes; allowed: less than OFF, 0 bytes"),
        ({"pauses": "8/4/0/4", "incast": "inside"}, "reading incast='inside': not with pauses"),
        ({"pauses": "8/4/0/4", "communicators": "flows"}, "reading communicators='flows': not with pauses"),
        ({"pauses": "8/4/0/4", "sharing": "added-incast"}, "reading sharing='added-incast': not with pauses"),
        ({"pauses": "8/4/0/4", "share": "equal"}, "unknown reading 'share'"),
        ({"pause": "8/4/0/4"}, "known: sharing, communicators, incast, pauses"),
    ],
)
def test_what_is_refused(chosen, words):
    with pytest.raises(InputError) as caught:
        reading_and_pauses(chosen)
    assert words in str(caught.value)


def test_the_command_says_how_many_and_how_long(tmp_path):
    path = str(tmp_path / "one.json")
    assert certree("synthesize", "switch:4", "--method", "reduce-broadcast", "--size", "64KiB", "-o", path).code == 0
    asked = ["simulate", path, "--engine", "flow", "--reading", "pauses=4KiB/0/8KiB/4KiB"]
    document = certree(*asked, "--json").document
    found = ct.flow_time(path, reading={"pauses": "4KiB/0/8KiB/4KiB"})
    assert (document["pauses"], document["lost_seconds"], document["seconds"]) == (
        found.pauses,
        str(found.lost),
        str(found.seconds),
    )
    assert found.lost > 0
    assert document["reading"] == "max-min, pauses 4096B/0B/8192B/4096B"
    assert f", of which {found.pauses} pauses take {float(found.lost):.6g} s" in certree(*asked).out


def test_the_api_takes_them():
    schedule = ct.synthesize("switch:4", "all-to-all", method="direct", size="64KiB")
    found = ct.flow_time(schedule, reading={"pauses": "8KiB/4KiB/0/4KiB"})
    assert found.seconds == found.start_up + found.transfer + found.reduction
