"""Crowded steps are spread over all equally short routes, and others keep the routes they had."""

from fractions import Fraction

import numpy as np
import pytest

from certree.models.network.routing import routes_between
from certree.models.network.spec import parse_topology
from certree.synth.ranks.route_choice import spread_routes
from certree.verify.checker import verify_schedule
from tests.synth.execution import make, valid


# rounds by hand: every endpoint receives one chunk from each of N - 1 others, over as many links as it has, of that capacity
@pytest.mark.parametrize(
    ("network", "rounds"),
    [("dgx2", 3), ("dgx2:2", 8), ("dgx2:1", 15), ("switch-fc:8x8", 1), ("switch-fc:8x2", 2), ("switch-fc:8x1", 4)],
)
def test_an_exchange_uses_all_links_of_every_endpoint(network: str, rounds: int) -> None:
    made = valid("direct", network, "all-to-all")
    assert made.rounds.tolist() == [rounds]


def test_the_direct_all_reduce_of_ace_uses_all_four_global_switches() -> None:
    """Each NPU receives 2 · 5 chunks a step from the other packages, over four unit links."""
    made = valid("hierarchical", "ace-alltoall:4x6")
    assert made.rounds.tolist() == [1, 1, 1, 3, 3, 1, 1, 1]


def test_what_is_not_crowded_keeps_its_routes() -> None:
    for network in ("fattree:4x4", "leafspine:3x2x2", "switch:6"):
        topology = parse_topology(network)
        nodes = topology.endpoints
        columns = {"src": nodes, "dst": np.roll(nodes, 1), "step": np.zeros(len(nodes), np.int32)}
        expected = routes_between(topology, columns["src"], columns["dst"])
        found = spread_routes(topology, columns)
        assert (found[0] == expected[0]).all()
        assert found[1] == expected[1]


def test_only_the_crowded_step_changes() -> None:
    """Two steps on two local switches: one row alone, then two whose destinations take the same switch."""
    topology = parse_topology("switch-fc:5x2,capacity=1")
    columns = {name: np.array(values, np.int32) for name, values in (("src", [0, 0, 0]), ("dst", [2, 2, 4]), ("step", [0, 1, 1]))}
    before, routes = routes_between(topology, columns["src"], columns["dst"])
    assert len({routes[index][0] for index in before[1:].tolist()}) == 1
    after, spread = spread_routes(topology, columns)
    assert spread[after[0]] == routes[before[0]]
    assert len({spread[index][0] for index in after[1:].tolist()}) == 2


def test_a_turn_is_another_way_of_the_same_length() -> None:
    topology = parse_topology("dgx2")
    src, dst = np.array([0, 0]), np.array([3, 12])
    lengths, first = set(), set()
    for turn in range(6):
        column, routes = routes_between(topology, src, dst, turn)
        lengths.add(tuple(len(routes[index]) for index in column.tolist()))
        first.add(routes[column[0]][0])
    assert (lengths, len(first)) == ({(2, 3)}, 6)


@pytest.mark.parametrize(
    "method", ["ring", "cps", "halving-doubling", "blueconnect", "switch-fc", "tencent", "reduce-broadcast", "gentree"]
)
def test_channels_run_side_by_side(method: str) -> None:
    one, two = (make(method, "switch:8", options={"channels": channels}) for channels in ("1", "2"))
    assert verify_schedule(two).valid
    assert (two.chunks, two.transfers, two.steps) == (2 * one.chunks, 2 * one.transfers, one.steps)
    assert two.bandwidth_time == one.bandwidth_time  # one link an endpoint: nothing to gain


def test_six_channels_of_a_ring_use_the_six_planes_of_a_dgx_2() -> None:
    one, six = (make("ring", "dgx2", options={"channels": channels}) for channels in ("1", "6"))
    assert verify_schedule(six).valid
    assert six.bandwidth_time == one.bandwidth_time / 6


@pytest.mark.parametrize("collective", ["reduce-scatter", "all-gather", "all-to-all"])
def test_channels_of_other_collectives(collective: str) -> None:
    valid("direct", "dgx2:2", collective, options={"channels": "3"})


@pytest.mark.parametrize("method", ["hierarchical", "blueconnect", "ring", "halving-doubling"])
def test_channels_start_one_after_the_other(method: str) -> None:
    """Each channel is the algorithm, `stagger` steps behind the one before."""
    one = make(method, "torus:4x4")
    made = make(method, "torus:4x4", options={"channels": "3", "stagger": "2"})
    assert verify_schedule(made).valid
    assert (made.chunks, made.steps) == (3 * one.chunks, one.steps + 2 * 2)
    for channel in range(3):
        mine = made.chunk // one.chunks == channel
        rows, first = (sorted(zip(*(a.tolist() for a in columns), strict=True)) for columns in (
            (made.step[mine] - 2 * channel, made.chunk[mine] % one.chunks, made.src[mine], made.dst[mine]),
            (one.step, one.chunk, one.src, one.dst),
        ))  # fmt: skip
        assert rows == first


def test_phases_along_different_dimensions_overlap() -> None:
    """A step of a channel takes 4 units of a row's links, or 1 of a column's: side by side 6 steps of rows and 6 of columns are 30
    units. Staggered, columns fit next to rows, of which there are 24 units."""
    at_once, staggered = (make("hierarchical", "torus:4x4", options={"channels": "8", **more}) for more in ({}, {"stagger": "1"}))
    assert (at_once.bandwidth_time, staggered.bandwidth_time) == (Fraction(15, 16), Fraction(3, 4))


def test_channels_of_units_of_wide_links_start_together() -> None:
    """On `full:4,capacity=3/2` a chunk over a full link is cut; its parts belong to one channel."""
    one, two = (make("cps", "full:4,capacity=3/2", options=options) for options in ({}, {"channels": "2", "stagger": "2"}))
    assert verify_schedule(two).valid
    assert (two.chunks, two.steps) == (2 * one.chunks, one.steps + 2)
    assert sorted(two.chunk[two.step < 2].tolist()) == sorted(one.chunk.tolist())
