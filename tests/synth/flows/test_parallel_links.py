"""Routes over parallel links: each link gets what it has capacity for."""

from collections import Counter

import numpy as np
import pytest

import certree.api as ct
from certree.models.demand import Demand
from certree.models.network.topology import Topology
from certree.models.schedule.collective import parse_collective
from certree.synth.flows.parallel_links import over_parallel_links
from tests.synth.execution import valid
from tests.verify.build import network


def star(ends: int, widths: list[int]) -> Topology:
    """Endpoints that each have several links to one switch, of these widths, and back."""
    cables = [(end, ends, width) for end in range(ends) for width in widths]
    return network("e" * ends + "s", sorted(link for a, b, width in cables for link in ((a, b, width), (b, a, width))))


# wide links to one switch; narrow ones from the other endpoint to the other switch, wide ones from the first
_UP = [(0, 2, 2), (0, 2, 2), (1, 3, 1), (1, 3, 1), (1, 3, 1), (0, 3, 2), (0, 3, 2)]
UNEVEN = network("eess", [*_UP, *((b, a, width) for a, b, width in _UP), (3, 0, 2)], reducing=[2])


@pytest.mark.parametrize("collective", ["gather", "scatter", "all-to-all"])
@pytest.mark.parametrize("wires", [star(2, [1, 1]), star(3, [1, 1]), star(4, [1, 3, 2]), UNEVEN], ids=["2", "3", "wide", "uneven"])
def test_what_flows_makes_is_valid(wires: Topology, collective: str) -> None:
    """Each endpoint sends over all of its links in one round, where one link alone would be too narrow."""
    root = None if collective == "all-to-all" else 1
    for size in (64, 1 << 16):
        valid("flows", wires, collective, root=root, message_bytes=size)


def test_links_are_filled_one_after_the_other() -> None:
    """Widths 1, 3 and 2; six transfers of one slot, and two of another."""
    wires = star(2, [1, 3, 2])
    out, back = (np.flatnonzero((wires.src == a) & (wires.dst == b)).tolist() for a, b in ((0, 2), (2, 1)))
    step = np.array([0] * 6 + [1] * 2, np.int32)
    route, routes = over_parallel_links(wires, step, np.zeros(8, np.int32), ((out[0], back[0]),))
    taken = [routes[at] for at in route.tolist()]
    capacity = {link: int(wires.capacity[link]) for link in (*out, *back)}
    first = Counter(link for route in taken[:6] for link in route)
    assert first == capacity
    assert all(count <= capacity[link] for link, count in Counter(link for route in taken[6:] for link in route).items())


def test_slots_of_one_place_in_the_period_share_links() -> None:
    wires = star(2, [1, 1])
    route = (int(np.flatnonzero(wires.dst == 2)[0]), int(np.flatnonzero((wires.src == 2) & (wires.dst == 1))[0]))
    step = np.array([0, 3], np.int32)
    for period, distinct in ((3, 2), (2, 1), (None, 1)):
        route, _ = over_parallel_links(wires, step, np.zeros(2, np.int32), (route,), period)
        assert len(set(route.tolist())) == distinct


def test_sizes_are_shared_in_proportion() -> None:
    """More than the links carry in one round: eight granules over two links of one unit each."""
    wires = star(2, [1, 1])
    route = (int(np.flatnonzero(wires.dst == 2)[0]), int(np.flatnonzero((wires.src == 2) & (wires.dst == 1))[0]))
    size = np.array([2, 2, 4], np.int64)
    route, _ = over_parallel_links(wires, np.zeros(3, np.int32), np.zeros(3, np.int32), (route,), size=size)
    load = Counter[int]()
    for at, granules in zip(route.tolist(), size.tolist(), strict=True):
        load[at] += granules
    assert sorted(load.values()) == [4, 4]


def test_a_demand_takes_all_links() -> None:
    """Two endpoints with two links each: half as many rounds as over one of them."""
    asked = parse_collective("alltoallv", demand=Demand(((0, 1, 8), (1, 0, 8))))
    made = ct.synthesize(star(2, [1, 1]), asked)
    assert made.rounds.sum() == 4


def test_single_links_stay_as_they_are() -> None:
    wires = star(3, [2])
    route = (int(np.flatnonzero(wires.src == 0)[0]), int(np.flatnonzero(wires.dst == 1)[0]))
    route = np.zeros(2, np.int32)
    assert over_parallel_links(wires, np.zeros(2, np.int32), route, (route,)) == (route, (route,))
