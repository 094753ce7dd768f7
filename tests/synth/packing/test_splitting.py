"""Trees through switches: as many as the bound allows, on ways that exist, within what links carry."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from certree.models.common.errors import UnsupportedError
from certree.models.machine.machine import load_machine
from certree.models.network.spec import parse_topology
from certree.models.schedule.collective import parse_collective
from certree.synth.bounds.find import find_bounds
from certree.synth.method import Request, load_methods
from certree.synth.packing.slotting import SlotRules, assign_slots, slotted_schedule
from certree.synth.packing.splitting import SwitchedNetwork
from certree.verify.certificates.certificate import make_certificate
from certree.verify.checker import verify_schedule

ALL_REDUCE = parse_collective("all-reduce")
MACHINE = load_machine("multitree")

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
    topology = parse_topology(spec)
    fabric, strength = SwitchedNetwork(topology), STRENGTHS[spec]
    assert fabric.strength == strength
    family = fabric.pack(ALL_REDUCE, strength.numerator, strength.denominator, moves=200, seed=0)
    assert family is not None
    assert (family.chunks, family.period) == (strength.numerator, strength.denominator)
    assert family.chain >= 2 * fabric.least_height(strength.denominator)
    slots, _ = assign_slots(family, SlotRules(2, None, 0), work=1000)
    assert slots is not None
    verdict = verify_schedule(slotted_schedule(family, slots, SlotRules(2, None, 0), 1, {}))
    assert verdict.valid, verdict.violations
    assert fabric.pack(ALL_REDUCE, strength.numerator + 1, strength.denominator, moves=0, seed=0) is None


@pytest.mark.parametrize(("spec", "size"), [("dgx2", 64 << 20), ("ace-alltoall:4x4", 64 << 20), ("switch-fc:2x2x4x2", 64 << 20)])
def test_a_schedule_at_the_bound_through_switches(spec: str, size: int) -> None:
    topology = parse_topology(spec)
    schedule = load_methods()["packing"](Request(topology, ALL_REDUCE, size, MACHINE, options={"rate": "optimal"}))
    verdict = verify_schedule(
        schedule.with_certificate(make_certificate(schedule, find_bounds(topology, ALL_REDUCE, schedule.delay)))
    )
    assert verdict.valid, verdict.violations
    assert verdict.quality is not None
    assert verdict.quality.optimal_in == ("bandwidth",)


def test_the_same_seed_gives_the_same_paths() -> None:
    first, second = (SwitchedNetwork(parse_topology("leafspine:4x2x4")).pack(ALL_REDUCE, 8, 15, moves=50, seed=3) for _ in range(2))
    assert first is not None
    assert second is not None
    assert first.routes == second.routes
    assert np.array_equal(first.up_route, second.up_route)


def test_trees_through_switches_are_retimed() -> None:
    request = Request(parse_topology("bigraph:2x4"), ALL_REDUCE, 1 << 15, MACHINE)
    methods = load_methods()
    better = methods["retime"](request)
    assert verify_schedule(better).valid
    assert request.cycles(better) < request.cycles(methods["multitree"](request))
    with pytest.raises(UnsupportedError, match="not a schedule of trees"):
        methods["retime"](replace(request, options={"of": "recursive-doubling"}))
