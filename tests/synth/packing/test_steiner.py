"""Steiner trees through switches that add: at the bound where it is met, elsewhere more than spanning trees at least."""

from fractions import Fraction

import numpy as np
import pytest

from certree.models.network.spec import parse_topology
from certree.models.schedule.collective import parse_collective
from certree.synth.bounds.find import find_bounds
from certree.synth.packing.slotting import SlotRules, assign_slots, slotted_schedule
from certree.synth.packing.splitting import SwitchedNetwork
from certree.synth.packing.steiner import ReducingNetwork
from certree.verify.certificates.certificate import make_certificate
from certree.verify.checker import verify_schedule
from tests.synth.execution import make

ALL_REDUCE = parse_collective("all-reduce")
#: network -> the most trees a round where switches reduce, and where they only pass on
RATES = {
    "switch:8": ("1", "4/7"),
    "tree:2x4": ("1", "4/7"),
    "tree:2x3/2x2@10": ("1", "5/9"),
    "fattree:4x4": ("1", "8/15"),
    "leafspine:3x2x4@2": ("1", "6/11"),
    "bigraph:2x4": ("1", "4/7"),
    "dgx2": ("6", "16/5"),
    "switch-fc:4x3": ("6", "4"),
}


def reducing(spec: str) -> ReducingNetwork:
    return ReducingNetwork(parse_topology(spec + ",reducing=switches"))


@pytest.mark.parametrize("spec", RATES)
def test_the_bound_is_met(spec: str) -> None:
    network, (rate, passing) = reducing(spec), map(Fraction, RATES[spec])
    assert network.strength == rate
    assert SwitchedNetwork(parse_topology(spec)).strength == passing
    trees, period = network.tight
    family = network.pack(ALL_REDUCE, trees, period, moves=0, seed=0)
    assert family is not None
    assert family.period == period
    assert family.chain >= 2 * network.least_height(period)
    rules = SlotRules(2, period, 0)
    slots, _ = assign_slots(family, rules, work=1000)
    assert slots is not None
    schedule = slotted_schedule(family, slots, rules, 50, {})
    verdict = verify_schedule(schedule.with_certificate(make_certificate(schedule, find_bounds(network.topology, ALL_REDUCE, 2))))
    assert verdict.valid, verdict.violations
    assert verdict.quality is not None
    assert "bandwidth" in verdict.quality.optimal_in
    assert network.pack(ALL_REDUCE, trees + 1, period, moves=0, seed=0) is None


@pytest.mark.parametrize(("spec", "found"), [("switch-fc:2x2x4x2", 4), ("ace-alltoall:4x2", 12)])
def test_where_the_bound_was_not_met(spec: str, found: int) -> None:
    """Still more trees than over endpoints alone."""
    network = reducing(spec)
    assert SwitchedNetwork(parse_topology(spec)).strength < network.most(ALL_REDUCE, 1, seed=0) == found < network.strength


def test_edges_of_trees_fit_and_lead_to_all_endpoints() -> None:
    network = reducing("switch-fc:2x2x4x2")
    family = network.pack(ALL_REDUCE, 8, 2, moves=0, seed=1)
    assert family is not None
    tree, node = np.nonzero(family.up != -1)
    pair = network.topology.pair_index(node, family.up[tree, node])
    assert (pair >= 0).all()
    both = np.bincount(pair, minlength=len(network.topology.pair_capacity))
    back = np.bincount(network.topology.pair_index(family.up[tree, node], node), minlength=len(both))
    assert (both + back <= 2 * network.topology.pair_capacity).all()
    for row in range(8):
        for end in network.topology.endpoints.tolist():
            node = end
            while family.up[row, node] != -1:
                node = family.up[row, node]
            assert node == family.root[row]
    again = network.pack(ALL_REDUCE, 8, 2, moves=0, seed=1)
    assert again is not None
    assert np.array_equal(again.up, family.up)


def test_packing_takes_them_where_switches_reduce() -> None:
    made = make("packing", "dgx2,reducing=switches", message_bytes=1 << 26)
    assert made.provenance["trees"] == "Steiner packing"
    assert verify_schedule(made).valid
    assert made.bandwidth_time == Fraction(1, 6)
    only_one = make("packing", "tree:2x2,reducing=4", message_bytes=1 << 20)
    assert verify_schedule(only_one).valid
