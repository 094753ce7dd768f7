"""Networks some of whose switches reduce: trees branch there, and pass the others on paths."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from certree.models.network.routing import DIRECT
from certree.models.network.spec import parse_topology
from certree.models.network.topology import Topology
from certree.models.schedule.collective import parse_collective
from certree.synth.bounds.find import find_bounds
from certree.synth.method import load_methods
from certree.synth.packing.slotting import SlotRules, assign_slots, slotted_schedule
from certree.synth.packing.splitting import SwitchedNetwork
from certree.synth.packing.steiner import ReducingNetwork
from certree.verify.certificates.certificate import make_certificate
from certree.verify.checker import verify_schedule
from tests.synth.execution import ask
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
    trees, period = network.tight
    family = network.pack(ALL_REDUCE, trees, period, moves=0, seed=0)
    assert family is not None
    assert (Fraction(trees, period), family.period) == (rate, period)
    slots, _ = assign_slots(family, SlotRules(2, None, 0), work=1000)
    assert slots is not None
    schedule = slotted_schedule(family, slots, SlotRules(2, None, 0), 1, {})
    verdict = verify_schedule(schedule.with_certificate(make_certificate(schedule, find_bounds(network.topology, ALL_REDUCE, 2))))
    assert verdict.valid, verdict.violations
    assert network.pack(ALL_REDUCE, trees + 1, period, moves=0, seed=0) is None


def test_only_switches_that_pass_on_lie_within_paths() -> None:
    network = ReducingNetwork(of(f"fattree:4x4{LEAVES}"))
    family = network.pack(ALL_REDUCE, 4, 4, moves=0, seed=1)
    assert family is not None
    assert family.up_route is not None
    routes = family.up_route[family.up != -1]
    assert (routes != DIRECT).any()
    links = {link for number in routes[routes != DIRECT].tolist() for link in family.routes[number][:-1]}
    assert set(network.topology.dst[list(links)].tolist()) <= {20, 21, 22, 23}
    again = network.pack(ALL_REDUCE, 4, 4, moves=0, seed=1)
    assert again is not None
    assert np.array_equal(again.up_route, family.up_route)


@pytest.mark.parametrize(("spec", "time"), [(f"fattree:4x4{LEAVES}", "1"), ("boxes", "1/8")])
def test_schedules_at_the_bound(spec: str, time: str) -> None:
    request = ask(of(spec), message_bytes=1 << 26, options={"rate": "optimal"})
    schedule = load_methods()["packing"](request)
    verdict = verify_schedule(
        schedule.with_certificate(make_certificate(schedule, find_bounds(request.topology, ALL_REDUCE, schedule.delay)))
    )
    assert verdict.valid, verdict.violations
    assert verdict.quality is not None
    assert verdict.quality.bandwidth_time == Fraction(time)
    assert "bandwidth" in verdict.quality.optimal_in


def test_endpoints_add_where_one_switch_would_take_longer() -> None:
    """The switch of a box has eight arrivals to add up in each slot, and one unit that adds."""
    request = ask(reducing_boxes(), message_bytes=1 << 24)
    schedule = load_methods()["packing"](request)
    assert schedule.provenance["trees"] == "packing"
    assert verify_schedule(schedule).valid
    assert schedule.bandwidth_time == Fraction(3, 16)  # 1/8 where switches add
