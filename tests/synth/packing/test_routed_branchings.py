"""Branchings through switches: at the rate of the best cut, on ways that exist, within what links carry."""

from fractions import Fraction

import numpy as np
import pytest

from certree.models.network.spec import parse_topology
from certree.models.schedule.collective import parse_collective
from certree.synth.bounds.find import find_bounds
from certree.synth.packing.routed_branchings import RoutedBranchings
from certree.synth.packing.slotting import SlotRules, assign_slots, slotted_schedule
from certree.verify.certificates.certificate import make_certificate
from certree.verify.checker import verify_schedule
from tests.synth.execution import make

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
    topology = parse_topology(spec)
    collective = parse_collective(kind, 1 if kind in ("broadcast", "reduce") else None)
    fabric, rate = RoutedBranchings(topology, collective), Fraction(RATES[spec][collective.has_one_root])
    assert fabric.strength == rate
    trees, period = fabric.tight
    assert Fraction(trees, period) == rate
    family = fabric.pack(collective, trees, period, moves=0, seed=0)
    assert family is not None
    assert (family.chunks, family.period) == (trees, period)
    assert family.chain >= fabric.least_height(period)
    slots, _ = assign_slots(family, SlotRules(2, period, 0), work=1000)
    assert slots is not None
    schedule = slotted_schedule(family, slots, SlotRules(2, period, 0), 50, {})
    verdict = verify_schedule(schedule.with_certificate(make_certificate(schedule, find_bounds(topology, collective, 2))))
    assert verdict.valid, verdict.violations
    assert verdict.quality is not None
    assert "bandwidth" in verdict.quality.optimal_in
    assert fabric.pack(collective, trees + fabric.multiple, period, moves=0, seed=0) is None


@pytest.mark.parametrize("kind", ["broadcast", "reduce"])
def test_roots_in_several_packages(kind: str) -> None:
    made = make("packing", "switch-fc:2x1x4x2", kind, root=5, message_bytes=1 << 24)
    verdict = verify_schedule(
        made.with_certificate(make_certificate(made, find_bounds(made.topology, made.collective, made.delay)))
    )
    assert verdict.valid, verdict.violations
    assert verdict.quality is not None
    assert "bandwidth" in verdict.quality.optimal_in


def test_the_same_seed_gives_the_same_branchings() -> None:
    collective = parse_collective("all-gather")
    first, second = (
        RoutedBranchings(parse_topology("leafspine:4x2x4"), collective).pack(collective, 16, 15, moves=0, seed=3) for _ in range(2)
    )
    assert first is not None
    assert second is not None
    assert np.array_equal(first.down, second.down)
    assert first.routes == second.routes
