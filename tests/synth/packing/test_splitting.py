"""Trees through switches: as many as the bound allows, on ways that exist, within what links carry."""

from fractions import Fraction

import pytest

from certree.models.network.spec import parse_topology
from certree.models.schedule.collective import parse_collective
from certree.synth.packing.splitting import SwitchedNetwork
from tests.synth.execution import ask, certified, make, valid
from tests.synth.packing.rates import packed, slotted

ALL_REDUCE = parse_collective("all-reduce")

#: networks with switches, and the most trees a round
STRENGTHS = {
    "switch:7": Fraction(7, 12),
    "switch:16": Fraction(8, 15),
    "fattree:4x4": Fraction(8, 15),
    "bigraph:4x8": Fraction(16, 31),
    "dgx2": Fraction(16, 5),
    "switch-fc:4x3": Fraction(4),
    "switch-fc:2x2x4x2": Fraction(16, 5),
    "ace-alltoall:4x4": Fraction(32, 3),
    "leafspine:4x2x4": Fraction(8, 15),
    "leafspine:3x2x4@2": Fraction(6, 11),
    "tree:3+4@10": Fraction(7, 12),
    "tree:2x3/2x2@10": Fraction(5, 9),
}


@pytest.mark.parametrize("spec", STRENGTHS)
def test_the_highest_rate_is_packed(spec: str) -> None:
    fabric = SwitchedNetwork(parse_topology(spec))
    assert fabric.strength == STRENGTHS[spec]
    certified(slotted(packed(fabric, ALL_REDUCE, moves=200), repeats=1))


@pytest.mark.parametrize("spec", ["dgx2", "ace-alltoall:4x4", "switch-fc:2x2x4x2"])
def test_a_schedule_at_the_bound_through_switches(spec: str) -> None:
    made = make("packing", spec, message_bytes=64 << 20, options={"rate": "optimal"})
    assert certified(made).optimal_in == ("bandwidth",)


def test_trees_through_switches_are_retimed() -> None:
    request = ask("bigraph:2x4", message_bytes=1 << 15)
    better = valid("retime", "bigraph:2x4", message_bytes=1 << 15)
    assert request.cycles(better) < request.cycles(make("multitree", "bigraph:2x4"))
