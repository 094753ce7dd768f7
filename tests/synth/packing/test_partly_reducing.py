"""Networks some of whose switches reduce: trees branch there, and pass the others on paths."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from certree.models.network.routing import DIRECT
from certree.models.network.spec import parse_topology
from certree.models.network.topology import Topology
from certree.models.schedule.collective import parse_collective
from certree.synth.packing.splitting import SwitchedNetwork
from certree.synth.packing.steiner import ReducingNetwork
from tests.synth.execution import certified, make, valid
from tests.synth.packing.rates import packed, slotted
from tests.synth.packing.test_boxes import nvswitch_boxes

ALL_REDUCE = parse_collective("all-reduce")
LEAVES = "".join(f",reducing={switch}" for switch in range(16, 20))
SPINES = "".join(f",reducing={switch}" for switch in range(20, 24))
#: network -> the most trees a round, and over endpoints alone
RATES = {
    f"fattree:4x4{LEAVES}": ("1", "8/15"),
    f"fattree:4x4{SPINES}": ("1", "8/15"),
    "leafspine:3x2x4@2,reducing=12,reducing=13,reducing=14": ("1", "6/11"),
    "tree:2x3,reducing=6": ("2/3", "3/5"),
    "tree:2x3,reducing=7": ("2/3", "3/5"),
    "boxes": ("8", "16/3"),
}


def reducing_boxes() -> Topology:
    """Two boxes whose own switches reduce, the rails between them do not."""
    topology = nvswitch_boxes(2, 8)
    return replace(topology, reducing=np.isin(np.arange(len(topology.kind)), (16, 17)))


def of(spec: str) -> Topology:
    return reducing_boxes() if spec == "boxes" else parse_topology(spec)


@pytest.mark.parametrize("spec", RATES)
def test_the_bound_is_met_where_some_switches_reduce(spec: str) -> None:
    network, (rate, passing) = ReducingNetwork(of(spec)), map(Fraction, RATES[spec])
    assert network.strength == rate
    assert SwitchedNetwork(network.topology).strength == passing
    certified(slotted(packed(network, ALL_REDUCE), repeats=1))


def test_only_switches_that_pass_on_lie_within_paths() -> None:
    network = ReducingNetwork(of(f"fattree:4x4{LEAVES}"))
    family = network.pack(ALL_REDUCE, 4, 4, moves=0, seed=1)
    assert family is not None
    assert family.up_route is not None
    routes = family.up_route[family.up != -1]
    assert (routes != DIRECT).any()
    links = {link for number in routes[routes != DIRECT].tolist() for link in family.routes[number][:-1]}
    assert set(network.topology.dst[list(links)].tolist()) <= {20, 21, 22, 23}


@pytest.mark.parametrize(("spec", "time"), [(f"fattree:4x4{LEAVES}", "1"), ("boxes", "1/8")])
def test_schedules_at_the_bound(spec: str, time: str) -> None:
    quality = certified(make("packing", of(spec), message_bytes=1 << 26, options={"rate": "optimal"}))
    assert quality.bandwidth_time == Fraction(time)
    assert "bandwidth" in quality.optimal_in


def test_endpoints_add_where_one_switch_would_take_longer() -> None:
    """The switch of a box has eight arrivals to add up in each slot, and one unit that adds."""
    schedule = valid("packing", reducing_boxes(), message_bytes=1 << 24)
    assert schedule.provenance["trees"] == "packing"
    assert schedule.bandwidth_time == Fraction(3, 16)  # 1/8 where switches add
