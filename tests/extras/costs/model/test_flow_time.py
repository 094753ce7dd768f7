"""Flows on links: rates by hand, Table 2 of GenTree on a switch, incast and start-up on trees, and what is refused."""

from fractions import Fraction

import numpy as np
import pytest

from certree.extras.costs.model.flows.flows import flows_at_distance, flows_of
from certree.extras.costs.model.flows.rates import equal_shares, makespan, max_min
from certree.extras.costs.model.flows.time import READINGS, FlowTimer, Reading, all_readings, parse_reading, schedule_time
from certree.extras.costs.model.formulas.genmodel import load_genmodel
from certree.extras.costs.model.profile import factored_profile, halving_profile, pairwise_profile
from certree.models.common.errors import InputError, UnsupportedError
from certree.models.network.spec import parse_topology
from tests.extras.costs.counts.profiles import reduce_broadcast_profile
from tests.synth.execution import make

MODEL = load_genmodel("gentree")
FLOATS = Fraction(10**7)
SERVER, MIDDLE, ROOT, CROSS = MODEL.server, MODEL.middle, MODEL.root, MODEL.cross


def test_rates_by_hand():
    """Flows a on link 0, b on both, c on link 1, which is three times as wide. b gets 1/2, c the rest of link 1 or half of it."""
    flow, link = np.array([0, 1, 1, 2]), np.array([0, 0, 1, 1])
    capacity = [Fraction(1), Fraction(3)]
    rate, rates = max_min(flow, link, capacity, 3)
    assert [rates[number] for number in rate] == [Fraction(1, 2), Fraction(1, 2), Fraction(5, 2)]
    rate, rates = equal_shares(flow, link, capacity, 3)
    assert [rates[number] for number in rate] == [Fraction(1, 2), Fraction(1, 2), Fraction(3, 2)]


def test_rates_are_found_anew_when_a_flow_ends():
    """Two flows of 1 and 3 parts on one link: the short one ends at 2, the long one, alone then, at 4: the link is never idle."""
    assert makespan(np.array([1, 3]), np.array([0, 1]), np.array([0, 0]), [Fraction(1)], max_min) == 4
    # with a second link of half the width for the long flow alone: 1/2 all the time
    hops = np.array([0, 1, 1]), np.array([0, 0, 1])
    assert makespan(np.array([1, 3]), *hops, [Fraction(1), Fraction(1, 2)], max_min) == 6


@pytest.mark.parametrize("network", ["tree:2+5", "tree:3x4@2", "tree:2x3/2", "switch:7"])
@pytest.mark.parametrize("method", ["cps", "gentree", "ring"])
def test_no_sharing_is_shorter_than_the_busiest_link(network, method):
    schedule = make(method, network)
    times = {sharing: schedule_time(schedule, MODEL, FLOATS, Reading(sharing)) for sharing in READINGS["sharing"]}
    assert times["busiest"].transfer <= times["max-min"].transfer <= times["equal"].transfer
    assert times["busiest"].transfer <= times["added-incast"].transfer
    assert len({(time.start_up, time.reduction, time.steps) for time in times.values()}) == 1


@pytest.mark.parametrize(
    ("method", "profile", "options"),
    [
        ("cps", factored_profile((12,)), {}),
        ("hierarchical-cps", factored_profile((4, 3)), {"factors": "4x3"}),
        ("hierarchical-cps", factored_profile((3, 2, 2)), {"factors": "3x2x2"}),
        ("ring", pairwise_profile(12, 22), {}),
        ("reduce-broadcast", reduce_broadcast_profile(12), {}),
    ],
)
@pytest.mark.parametrize("communicators", ["senders", "fan-in"])
def test_one_switch_is_table_2(method, profile, options, communicators):
    """With a start-up of server, switch and server, in every sharing: all flows of a step are equal there."""
    schedule = make(method, "switch:12", options=options)
    expected = profile.seconds(MIDDLE, SERVER, 3 * SERVER.alpha_seconds, FLOATS)
    for sharing in READINGS["sharing"]:
        assert schedule_time(schedule, MODEL, FLOATS, Reading(sharing, communicators)).seconds == expected


def test_halving_on_a_switch():
    expected = halving_profile(16).seconds(MIDDLE, SERVER, 3 * SERVER.alpha_seconds, FLOATS)
    assert schedule_time(make("halving-doubling", "switch:16"), MODEL, FLOATS, Reading()).seconds == expected


def one_step(network, reading):
    """Transfer time of the first step of co-located PS, in seconds a float, and the start-up."""
    schedule = make("cps", network)
    time = FlowTimer(schedule.topology, MODEL, FLOATS, reading).step(flows_of(schedule)[0])
    return time.transfer / FLOATS, time.start_up


def test_incast_and_start_up_of_a_tree():
    """Two switches of 12 servers: 12 x 12 flows of 1/24 over each uplink, 23 into each server."""
    for counted, w_up, w_down in (("senders", 13, 24), ("fan-in", 13, 24), ("flows", 145, 24)):
        up = 6 * (ROOT.beta_seconds_per_float + (w_up - 9) * ROOT.epsilon_seconds_per_float)
        down = Fraction(23, 24) * (MIDDLE.beta_seconds_per_float + (w_down - 9) * MIDDLE.epsilon_seconds_per_float)
        assert one_step("tree:2x12", Reading("busiest", counted))[0] == max(up, down)
    assert one_step("tree:2x12", Reading("busiest", "flows", "to-servers"))[0] == down
    # over the root: the uplink is the busiest; and the incast of servers' links, of the uplink and of the downlink, up and down
    ends = Fraction(1, 2) * (24 - 9) * MIDDLE.epsilon_seconds_per_float
    between = 6 * (145 - 9) * ROOT.epsilon_seconds_per_float
    added = 6 * ROOT.beta_seconds_per_float + 2 * (ends + between)
    assert one_step("tree:2x12", Reading("added-incast", "flows"))[0] == added
    # server, middle, root, middle, server
    assert one_step("tree:2x12", Reading())[1] == 4 * SERVER.alpha_seconds + ROOT.alpha_seconds


def test_the_link_between_data_centres_stands_for_its_ends():
    schedule = make("cps", "tree:3x4/2x4")
    first = flows_of(schedule)[0]
    time = FlowTimer(schedule.topology, MODEL, FLOATS, Reading("busiest", "flows")).step(first)
    assert time.start_up == 4 * SERVER.alpha_seconds + CROSS.alpha_seconds
    cross = Fraction(12 * 8, 20) * (CROSS.beta_seconds_per_float + (12 * 8 + 1 - 9) * CROSS.epsilon_seconds_per_float)
    assert time.transfer == cross * FLOATS
    inside = FlowTimer(schedule.topology, MODEL, FLOATS, Reading("busiest", "flows", "inside")).step(first)
    assert inside.transfer == Fraction(12 * 8, 20) * CROSS.beta_seconds_per_float * FLOATS
    # with incast added up: into a server from 19, of which 12 are across, over its switch's downlink from 12 and 4
    added = FlowTimer(schedule.topology, MODEL, FLOATS, Reading("added-incast", "fan-in", "inside")).step(first)
    down = Fraction(4 * 12, 20) * (12 + 4 + 1 - 9) * ROOT.epsilon_seconds_per_float
    last = Fraction(12, 20) * (19 + 1 - 9) * MIDDLE.epsilon_seconds_per_float
    assert added.transfer == inside.transfer + (down + last) * FLOATS


def test_fan_in_is_counted_over_each_link():
    """Every server of a switch sends to its own peer under the other: no link carries two senders to one server."""
    topology = parse_topology("tree:2x12")
    away, near = (flows_at_distance(topology, distance, 24, added=True) for distance in (12, 1))
    timer = FlowTimer(topology, MODEL, FLOATS, Reading("busiest", "fan-in"))
    assert timer.step(away).transfer == Fraction(12, 24) * FLOATS * ROOT.beta_seconds_per_float
    crowded = FlowTimer(topology, MODEL, FLOATS, Reading("busiest", "senders")).step(away).transfer
    assert crowded == Fraction(12, 24) * FLOATS * (ROOT.beta_seconds_per_float + 4 * ROOT.epsilon_seconds_per_float)
    # next neighbours: one flow over each uplink, so that the servers' own links are the busiest
    assert timer.step(near).transfer == Fraction(1, 24) * FLOATS * MIDDLE.beta_seconds_per_float
    reduction = SERVER.gamma_seconds_per_float + 3 * SERVER.delta_seconds_per_float
    assert timer.step(near).reduction == Fraction(1, 24) * FLOATS * reduction
    assert not flows_at_distance(topology, 12, 24, added=False).additions.size
    with pytest.raises(InputError, match="distance 48 among 24 servers leads from each to itself"):
        flows_at_distance(topology, 48, 24, added=True)


def test_steps_with_equal_flows_are_equal():
    steps = flows_of(make("ring", "tree:2x4"))
    assert len(steps) == 14
    assert len({flows.key for flows in steps}) == 2  # with and without additions


def test_readings():
    assert len(set(all_readings())) == 36
    assert parse_reading({"sharing": "equal"}) == Reading("equal")
    with pytest.raises(InputError, match=r"unknown reading 'share'; did you mean 'sharing'. known: sharing, communicators, incast"):
        parse_reading({"share": "equal"})
    with pytest.raises(InputError, match=r"reading sharing='fair'; allowed: max-min, equal, busiest, added-incast"):
        parse_reading({"sharing": "fair"})


def test_what_cannot_be_timed():
    schedule = make("cps", "switch:4")
    with pytest.raises(InputError, match="3 floats of 4 bytes leaves some of the 4 servers without data"):
        schedule_time(schedule, MODEL, Fraction(3), Reading())
    with pytest.raises(UnsupportedError, match="this schedule repeats with period"):
        flows_of(make("packing", "mesh:2x2", message_bytes=1 << 26, options={"rate": "optimal"}))
