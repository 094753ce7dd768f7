"""Branchings through switches: at the rate of the best cut, on ways that exist, within what links carry."""

from fractions import Fraction

import pytest

from certree.models.network.spec import parse_topology
from certree.models.schedule.collective import parse_collective
from certree.synth.packing.routed_branchings import RoutedBranchings
from tests.synth.execution import certified, make
from tests.synth.packing.rates import packed, slotted

#: networks with switches, and the most chunks a round: of an all-gather, of a broadcast
RATES = {
    "switch:8": ("8/7", "1"),
    "dgx2": ("32/5", "6"),
    "fattree:4x4": ("16/15", "1"),
    "leafspine:3x2x4@2": ("12/11", "1"),
    "bigraph:2x4": ("8/7", "1"),
    "tree:3+4@10": ("7/6", "1"),
    "switch-fc:4x3": ("8", "6"),
    "switch-fc:2x2x4x2": ("32/5", "6"),
    "ace-alltoall:4x2": ("160/7", "16"),
}


@pytest.mark.parametrize("kind", ["all-gather", "reduce-scatter", "broadcast", "reduce"])
@pytest.mark.parametrize("spec", RATES)
def test_the_best_cut_is_met(spec: str, kind: str) -> None:
    collective = parse_collective(kind, 1 if kind in ("broadcast", "reduce") else None)
    fabric = RoutedBranchings(parse_topology(spec), collective)
    assert fabric.strength == Fraction(RATES[spec][collective.has_one_root])
    assert "bandwidth" in certified(slotted(packed(fabric, collective))).optimal_in


@pytest.mark.parametrize("kind", ["broadcast", "reduce"])
def test_roots_in_several_packages(kind: str) -> None:
    made = make("packing", "switch-fc:2x1x4x2", kind, root=5, message_bytes=1 << 24)
    assert "bandwidth" in certified(made).optimal_in
