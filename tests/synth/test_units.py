"""Units in which methods count exact link rates."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import certree.api as ct
from certree.models.common.errors import InputError
from certree.models.network.rates import Rates
from certree.models.network.spec import parse_topology
from certree.models.network.topology import Topology
from certree.models.schedule.collective import Collective, CollectiveKind
from certree.synth.units import MOST_UNITS, in_unit_asked_for, other_units

ALL_REDUCE = Collective(CollectiveKind.ALL_REDUCE)


def box(*rates: str) -> Topology:
    """A full mesh of three nodes whose pairs have these rates, in parts of a full link; counted in full links."""
    plain = parse_topology("full:3")
    pair = {(0, 1): rates[0], (0, 2): rates[1], (1, 2): rates[2]}
    exact = [Fraction(pair[min(a, b), max(a, b)]) for a, b in zip(plain.src.tolist(), plain.dst.tolist(), strict=True)]
    scale = int(np.lcm.reduce([rate.denominator for rate in exact]))
    capacity = np.array([int(rate * scale) for rate in exact])
    return replace(plain, capacity=capacity.astype(np.int32), scale=scale, rates=Rates(capacity, scale)).in_units_of(Fraction(1))


def test_finer_units_lose_less() -> None:
    """Whole units lose a third of 3/2 full links; units of 3/4 lose a quarter of the other links, and halves lose nothing."""
    coarser, finer = other_units(box("3/2", "3/2", "1"), ALL_REDUCE)
    assert coarser.scale == Fraction(4, 3)
    assert (finer.scale, finer.capacity.tolist()) == (2, [3, 3, 3, 2, 3, 2])
    assert finer.rounded is None


def test_rates_that_bounds_do_not_see() -> None:
    """Links out of a box lose a fifth in whole full links, and nothing in halves of 31/25."""
    units = [1 / Fraction(found.scale) for found in other_units(box("18", "18", "31/25"), ALL_REDUCE)]
    assert Fraction(31, 50) in units


def test_whole_rates_have_no_other_units() -> None:
    assert other_units(box("2", "1", "1"), ALL_REDUCE) == []
    assert other_units(parse_topology("ring:4"), ALL_REDUCE) == []


def test_units_are_not_too_fine() -> None:
    for found in other_units(box("1000/999", "3/2", "7/5"), ALL_REDUCE):
        assert int(found.capacity.max()) <= MOST_UNITS


def test_methods_that_search_try_them() -> None:
    """A schedule in halves uses all of the rates; its topology and its provenance say so. An algorithm keeps the unit."""
    network = box("3/2", "3/2", "1")
    packed = ct.synthesize(network, method="packing", size="16MiB")
    assert (packed.topology.scale, packed.provenance["unit"]) == (2, "1/2")
    kept = ct.synthesize(network, method="packing", size="16MiB", options={"unit": "1"})
    assert (kept.topology.scale, kept.provenance["unit"]) == (1, "1")
    assert ct.simulate(packed).cycles < ct.simulate(kept).cycles
    assert ct.verify(packed, topology=network).valid
    assert not ct.verify(packed, topology=box("3/2", "3/2", "2")).valid
    assert ct.synthesize(network, method="ring", size="16MiB").topology.scale == 1
    assert ct.synthesize(network, method="auto", size="16MiB", options={"unit": "1"}).topology.scale == 1
    assert packed.certificate is not None
    assert kept.certificate is not None
    assert packed.certificate["time"]["bound_cycles"] == kept.certificate["time"]["bound_cycles"]
    assert packed.certificate["claim"]["bandwidth_bound"] == kept.certificate["claim"]["bandwidth_bound"]


@pytest.mark.parametrize(
    ("network", "text", "reason"),
    [
        ("ring:3", "1GB/s", "allowed: a part of a full link such as 1/4, since the network states no bandwidth"),
        ("ring:3", "0", "units of 0 full links; allowed: "),
        ("ring:3", "2", "units of 2 full links; allowed: "),
        ("ring:3,link-capacity=0-1:1/2", "1/3", "links have units of 1/2 of a full link; no other unit can be chosen"),
        ("h100:1", "26GB/s", "units of 26 GB/s; allowed: "),
        ("h100:1", "fast", "bandwidth 'fast': expected a positive number with B/s"),
    ],
)
def test_wrong_units(network: str, text: str, reason: str) -> None:
    with pytest.raises(InputError, match=f"ring: option unit.*{reason}"):
        in_unit_asked_for(parse_topology(network), text, "ring")


def test_unit_of_a_named_network(tmp_path: Path) -> None:
    """A unit that divides the capacities: a lane is as slow as the unit, and bounds stay those of the network."""
    plain = ct.bound("ring:4", size="64KiB")
    made = ct.synthesize("ring:4", method="ring", size="64KiB", options={"unit": "1/3"})
    assert made.certificate is not None
    assert made.certificate["time"]["bound_cycles"] == plain.time_cycles
    assert made.topology.capacity.tolist() == [3] * 8
    ct.save(made, tmp_path / "s.json")
    assert ct.load(tmp_path / "s.json").digest == made.digest
    assert ct.simulate(made).cycles == ct.simulate(made, engine="lanes").cycles


def test_fine_slots_have_the_bandwidth_time_of_their_cycles() -> None:
    """On links that are counted in parts of a full one, too: the cycles of a run over those of the message on a full link."""
    for network, options in (("ring:4,capacity=1/2", {}), (box("5/2", "5/2", "5/2"), {"unit": "1/2"})):
        paced = ct.synthesize(network, method="retime", size="1MiB", options={"from": "paced", "of": "ring", **options})
        report = ct.verify(paced)
        assert report.quality is not None
        flits = (1 << 20) // 16
        coefficient = report.quality.bandwidth_time * report.quality.scale
        assert abs(coefficient * flits - ct.simulate(paced).cycles) * 50 < ct.simulate(paced).cycles


def test_rates_of_many_digits_have_bounds() -> None:
    """Linear programs in floating point find nothing for some: then a bound is missing, not the answer."""
    most = (1 << 31) - 2
    plain = parse_topology("full:3")
    capacity = np.array([most + 1, most, most - 1, most + 1, most, most])
    network = replace(plain, capacity=capacity.astype(np.int32), scale=most, rates=Rates(capacity, most)).in_units_of(
        Fraction(1, 2)
    )
    assert ct.bound(network).bandwidth >= Fraction(2, 3) - Fraction(1, 10**6)


def test_scratch_slots_are_about_whole_units() -> None:
    """A frontier with slots at the nodes, on a network in units of 5/6 and of 1/2 of a full link."""
    for unit in (Fraction(5, 6), Fraction(1, 2)):
        network = box("5/2", "5/2", "5/2").in_units_of(unit)
        assert ct.frontier(network, "all-reduce", max_chunks=1, scratch=1).points
