"""Cost models, floor plans and bills: by hand, and what is refused."""

from dataclasses import replace
from fractions import Fraction
from importlib import resources

import pytest

from certree.api.settings import machine_for
from certree.extras.designs.model.bill import bill_of
from certree.extras.designs.model.floor_plan import FloorPlan
from certree.extras.designs.model.network_costs import NETWORK_COSTS, load_network_costs
from certree.extras.designs.model.structure import structure_of
from certree.models.common.errors import InputError
from certree.models.network.spec import parse_topology


def bill(network, costs="assumed-200g"):
    topology = parse_topology(network)
    return bill_of(topology, machine_for(topology, None), load_network_costs(costs))


def test_ring_by_hand():
    """Eight nodes of a rack: 16 ports and 8 copper cables of 1.5 m; 10 W a port for four years."""
    found = bill("ring:8")
    assert [(line.group, line.count, line.cost) for line in found.lines] == [("ports", 16, 8000), ("cables", 8, 8 * (60 + 30))]
    assert found.watts == 160
    assert found.energy == Fraction(160 * 13, 10) * 8760 * 4 / 1000 / 10
    assert found.cost == 8720 + found.energy


def test_switches_and_wide_links():
    found = bill("leafspine:2x1x4@2")
    assert {line.what: line.count for line in found.lines if line.group == "switches"} == {"switches of 16 x 200 Gb/s": 3}
    # 8 cables of endpoints; a link of capacity 2 is 256 Gb/s: two cables each, for one of 400 Gb/s needs dearer switches
    assert found.count_of("cables") == 8 + 2 * 2


def test_links_of_several_rates():
    """One port of 400 Gb/s for a link of 256 costs less than two of 200 where no switch is needed."""
    found = bill("ring:4,link-capacity=0-1:2")
    ports = {line.what: line.count for line in found.lines if line.group == "ports"}
    assert ports == {"200 Gb/s ports of endpoints": 6, "400 Gb/s ports of endpoints": 2}
    assert {line.what: line.count for line in found.lines if line.group == "cables"} == {
        "copper cables of 200 Gb/s up to 2 m": 3,
        "copper cables of 400 Gb/s up to 2 m": 1,
    }


def test_a_slow_cable_takes_a_whole_port():
    """With no switch of 200 Gb/s, those of 400 serve cables of 200."""
    costs, topology = load_network_costs("assumed-200g"), parse_topology("switch:8")
    faster = replace(costs, switches=tuple(one for one in costs.switches if one.gigabits_per_second > 200))
    found = bill_of(topology, machine_for(topology, None), faster)
    assert [(line.what, line.count) for line in found.lines if line.group != "cables"] == [
        ("200 Gb/s ports of endpoints", 8),
        ("switches of 32 x 400 Gb/s", 1),
    ]


def test_the_unit_of_a_file_decides_nothing():
    """Links of 32 GB/s are twice those of 16, and bill and bisection are the same."""
    machine = machine_for(parse_topology("ring:8"), None)
    twice = replace(machine, clock_hz=2 * machine.clock_hz)
    costs = load_network_costs("assumed-200g")
    for network in ("torus:8x8", "fattree:4x4"):
        one, two = (parse_topology(f"{network}{suffix}") for suffix in ("", ",capacity=2"))
        assert bill_of(one, twice, costs) == bill_of(two, machine, costs)
        words = {structure_of(*given).bisection_words for given in ((one, twice), (two, machine))}
        assert len(words) == 1, words


def test_damage_costs_less():
    assert bill("torus:8x8,without-link=0-1").cost < bill("torus:8x8").cost


def test_optics_are_what_differs_between_the_presets():
    cheap, dear = bill("torus:8x8", "assumed-cheap-optics"), bill("torus:8x8")
    optical = [line for line in dear.lines if line.what.startswith("optical")]
    assert sum(line.count for line in optical) == 48
    assert dear.cost - cheap.cost == 48 * 375 + dear.energy - cheap.energy


def test_folded_torus():
    """In a folded torus no cable spans more than two racks."""
    topology = parse_topology("torus:8x8")
    plan = FloorPlan(topology, load_network_costs("assumed-200g").floor)
    spans = {abs(int(plan.rack[a]) - int(plan.rack[b])) for a, b in zip(topology.src, topology.dst, strict=True)}
    assert (plan.racks, max(spans)) == (8, 2)
    assert plan.metres(0, 1) == Fraction(3, 2)


def test_groups_of_a_dragonfly_are_together():
    plan = FloorPlan(parse_topology("dragonfly:8x4x2@2"), load_network_costs("assumed-200g").floor)
    assert [len(set(plan.rack[8 * group : 8 * group + 8].tolist())) for group in range(8)] == [1] * 8


@pytest.mark.parametrize("name", NETWORK_COSTS.names())
def test_every_figure_has_a_source(name):
    costs = load_network_costs(name)
    parts = [*costs.ports, *costs.switches, *costs.cables, costs.floor, costs.energy]
    assert all("assumption" in part.source or "https://" in part.source for part in parts)


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ('cost = "500"\nwatts', 'price = "500"\nwatts', "unknown field 'price'"),
        ("[floor]", "[flor]", "floor is missing; unknown field 'flor'"),
        ('source = "assumption"', 'source = ""', "ports 1: source is empty"),
        ("years = 4", "years = -1", "years is -1"),
        ("ports = 16", "ports = 0", "ports is 0"),
        ('cost = "6000"', "cost = 6000.5", "cost is 6000.5"),
        ('cost = "500"', 'cost = "1e999"', "ports 1: cost is '1e999'; .* from 0 to 1000000000"),
        ("endpoints_per_rack = 8", "endpoints_per_rack = 1000001", "allowed: whole numbers from 1 to 1000000"),
    ],
)
def test_refused(tmp_path, old, new, reason):
    folder = resources.files("certree.extras.designs.model") / "presets"
    text = (folder / "assumed-200g.toml").read_text()
    assert old in text
    (tmp_path / "costs.toml").write_text(text.replace(old, new, 1))
    with pytest.raises(InputError, match=reason):
        load_network_costs(str(tmp_path / "costs.toml"))


def test_parts_that_a_model_lacks():
    with pytest.raises(InputError, match=r"no switch has 100 ports of 200 Gb/s; add one to switches"):
        bill("switch:100")
