"""The least seconds of any all-reduce in GenModel: no schedule takes less, and some take exactly that."""

from fractions import Fraction
from itertools import combinations_with_replacement, islice

import numpy as np
import pytest

from certree.extras.costs.model.flows.least import _Costs, least_seconds
from certree.extras.costs.model.flows.time import Reading, all_readings, schedule_time
from certree.extras.costs.model.formulas.genmodel import FLOAT_BYTES, GenModel, load_genmodel
from certree.extras.costs.model.profile import Level, Server
from certree.models.common.errors import UnsupportedError
from certree.models.network.spec import parse_topology
from tests.synth.execution import make

MODEL = load_genmodel("gentree")
NETWORKS = ("ss:2", "ss:4", "ss:12", "tree:2+3", "tree:2+1/3")
METHODS = ("gentree", "cps", "ring", "halving-doubling", "recursive-doubling", "reduce-broadcast", "direct", "double-binary-tree")


@pytest.mark.parametrize("network", NETWORKS)
def test_no_schedule_takes_less(network):
    topology = parse_topology(network)
    least = {floats: least_seconds(topology, MODEL, Fraction(floats)).seconds for floats in (10**4, 10**7, 10**9)}
    made = 0
    for method in METHODS:
        try:
            schedule = make(method, network, message_bytes=4 * 10**7)
        except UnsupportedError:
            continue
        made += 1
        for floats, seconds in least.items():
            for reading in (Reading("busiest"), Reading("max-min", "fan-in"), Reading("added-incast", "senders", "to-servers")):
                assert seconds <= schedule_time(schedule, MODEL, Fraction(floats), reading).seconds
    assert made >= 3


@pytest.mark.parametrize("servers", [3, 4, 8, 9])
def test_co_located_servers_are_the_best_on_a_switch_without_incast(servers):
    """Up to the threshold of incast, 9 communicators, where start-ups weigh enough."""
    floats = Fraction(10**7)
    schedule = make("cps", f"ss:{servers}", message_bytes=int(floats) * FLOAT_BYTES)
    least = least_seconds(schedule.topology, MODEL, floats)
    assert least.steps == 2
    assert schedule_time(schedule, MODEL, floats, Reading("busiest")).seconds == least.seconds


def test_more_steps_where_incast_costs_more_than_a_start_up():
    topology = parse_topology("ss:32")
    assert [least_seconds(topology, MODEL, Fraction(floats)).steps for floats in (10**4, 10**7, 10**9)] == [1, 2, 3]


def sums(terms, depth):
    """What a sum of that many terms takes in the cheapest tree of a depth, tree by tree."""
    if terms == 1:
        return Fraction(0)
    if not depth:
        return None
    found = [sums(terms, depth - 1)]
    for parts in range(2, terms + 1):
        for sizes in combinations_with_replacement(range(1, terms), parts):
            below = [sums(size, depth - 1) for size in sizes] if sum(sizes) == terms else [None]
            if None not in below:
                found.append(sum(below) + _sum_of(parts))
    return min((one for one in found if one is not None), default=None)


def _sum_of(terms):
    """Arrivals, additions and accesses (GenTree, Section 3.1); incast beyond 3 communicators."""
    link = Fraction(5) + max(terms - 3, 0) * Fraction(7)
    return (terms - 1) * (link + Fraction(1, 2)) + (terms + 1) * Fraction(1, 3)


def test_trees_of_sums_are_the_cheapest_of_their_depth():
    level = Level(Fraction(1), Fraction(5), Fraction(7), 3)
    model = GenModel("mine", Server(Fraction(1), Fraction(1, 2), Fraction(1, 3)), level)
    found = islice(_Costs(model, 7)._trees(), 4)
    assert list(found) == [sums(7, depth) for depth in (1, 2, 3, 4)]


def test_links_that_all_schedules_must_cross_start_up():
    """Two switches below a root: one step at least passes all three, the others need not."""
    switch, apart = (least_seconds(parse_topology(network), MODEL, Fraction(100)) for network in ("ss:4", "tree:2+2"))
    assert (switch.steps, apart.steps) == (1, 1)
    farthest = MODEL.start_seconds(2, 1, 0)  # two switches of servers and the root
    assert apart.seconds - switch.seconds == farthest - MODEL.start_seconds(1, 0, 0)


def test_switches_that_add_and_unequal_links_are_refused():
    for network in ("switch:4,reducing=switches", "switch:4,link-capacity=0-4:2"):
        with pytest.raises(UnsupportedError, match="servers that add and have equally wide links"):
            least_seconds(parse_topology(network), MODEL, Fraction(100))


def test_all_readings_count_at_least_the_senders_of_a_sum():
    """What the bound needs of a reading: on a link to a server w is more than the number of its senders, and incast counts."""
    schedule = make("cps", "ss:12", message_bytes=4 * 10**7)
    least = least_seconds(schedule.topology, MODEL, Fraction(10**7)).seconds
    times = [schedule_time(schedule, MODEL, Fraction(10**7), reading).seconds for reading in all_readings()]
    assert least <= min(times)
    assert np.unique([float(time) for time in times]).size >= 1
