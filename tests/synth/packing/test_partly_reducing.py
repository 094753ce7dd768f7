"""Networks some of whose switches reduce: trees branch there, and pass the others on paths."""

from fractions import Fraction

import pytest

from certree.models.network.routing import DIRECT
from certree.models.network.spec import parse_topology
from certree.models.network.topology import Topology
from certree.models.schedule.collective import parse_collective
from certree.synth.packing.steiner import ReducingNetwork
from tests.synth.execution import certified, make, valid
from tests.synth.packing.test_rates import LEAVES, reducing_boxes


def test_only_switches_that_pass_on_lie_within_paths() -> None:
    network = ReducingNetwork(parse_topology(f"fattree:4x4{LEAVES}"))
    family = network.pack(parse_collective("all-reduce"), 4, 4, moves=0, seed=1)
    assert family is not None
    assert family.up_route is not None
    routes = family.up_route[family.up != -1]
    assert (routes != DIRECT).any()
    links = {link for number in routes[routes != DIRECT].tolist() for link in family.routes[number][:-1]}
    assert set(network.topology.dst[list(links)].tolist()) <= {20, 21, 22, 23}


@pytest.mark.parametrize(("topology", "time"), [(parse_topology(f"fattree:4x4{LEAVES}"), "1"), (reducing_boxes(), "1/8")])
def test_schedules_at_the_bound(topology: Topology, time: str) -> None:
    quality = certified(make("packing", topology, message_bytes=1 << 26, options={"rate": "optimal"}))
    assert quality.bandwidth_time == Fraction(time)
    assert "bandwidth" in quality.optimal_in


def test_endpoints_add_where_one_switch_would_take_longer() -> None:
    """The switch of a box has eight arrivals to add up in each slot, and one unit that adds."""
    schedule = valid("packing", reducing_boxes(), message_bytes=1 << 24)
    assert schedule.provenance["trees"] == "packing"
    assert schedule.bandwidth_time == Fraction(3, 16)  # 1/8 where switches add
