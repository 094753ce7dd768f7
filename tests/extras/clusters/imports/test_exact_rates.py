"""Exact link rates of imports: every file and every modifier keeps them, and schedules count them in a unit, rounded down."""

import json
from fractions import Fraction
from pathlib import Path

import pytest

from certree.models.common.errors import InputError, TopologyError
from certree.models.network.network_files import save_topology
from certree.models.network.rates import RoundedRate, Rounding
from certree.models.network.spec import parse_topology
from certree.models.network.topology import Topology
from certree.models.network.topology_file import topology_document, topology_from_document
from tests.networks import load_topology

HERE = Path(__file__).parent
PCIE = Fraction(16 * 8 * 128, 130 * 8) * 10**9  # 16 lanes of 8 GT/s, in bytes per second
OPTIONS = "speed=NV:25GB/s,speed=SYS:19.2GB/s"


def load(name: str, *options: str) -> Topology:
    return parse_topology(",".join([str(HERE / name), *options]))


def test_what_is_rounded_down() -> None:
    """The narrowest link is the unit, PCIe; single and double NVLinks and the sockets are no multiples of it."""
    found = load("dgx1.xml", OPTIONS).rounded
    assert found is not None
    assert found.unit == PCIE
    rates = [(rate.described, rate.used) for rate in found.rates]
    giga = Fraction(10**9)
    assert rates == [(50 * giga, 3 * PCIE), (25 * giga, PCIE), (Fraction("19.2") * giga, PCIE)]
    assert sum(rate.links for rate in found.rates) == 2 * (16 + 1)  # of both directions: NVLinks, and that between sockets


def test_another_unit_rounds_other_rates() -> None:
    found = load("dgx1.xml", OPTIONS, "unit=1GB/s").rounded
    assert found is not None
    assert [(rate.described, rate.used) for rate in found.rates] == [
        (Fraction("19.2e9"), Fraction(19 * 10**9)),
        (PCIE, Fraction(15 * 10**9)),
    ]


@pytest.mark.parametrize("options", [["links=nvlink", "speed=NV:25GB/s"], ["links=nvlink", "speed=NV:25GB/s", "unit=5GB/s"]])
def test_whole_multiples_are_not_rounded(options: list[str]) -> None:
    assert load("dgx1.xml", *options).rounded is None


def test_bounds_are_of_the_rates_described() -> None:
    """Whatever the unit: capacities of 25 GB/s, 19.2 GB/s and PCIe, in parts of a full link of 16 GB/s, which is above PCIe."""
    for unit in ([], ["unit=1GB/s"], ["unit=5GB/s"]):
        box = load("dgx1.xml", OPTIONS, *unit)
        assert box.bandwidth == 16 * 10**9
        rates = {box.exact.speed(capacity) * 16 * 10**9 for capacity in box.exact.capacity.tolist()}
        assert rates == {Fraction(25 * 10**9), Fraction(50 * 10**9), Fraction("19.2e9"), PCIE}
        assert set(box.roomy.capacity.tolist()) == {1, 2, 4}
        assert box.roomy.scale == 1
        assert box.exact.exact is box.exact
    assert len({load("dgx1.xml", OPTIONS, f"unit={unit}GB/s").digest for unit in (1, 5)}) == 2


@pytest.mark.parametrize("suffix", [".json", ".json.gz", ".graphml"])
def test_files_keep_rates_and_unit(tmp_path: Path, suffix: str) -> None:
    box, path = load("dgx1.xml", OPTIONS), tmp_path / f"box{suffix}"
    save_topology(box, path)
    again = load_topology(path)
    assert (again.rounded, again.scale) == (box.rounded, box.scale)
    assert sorted(again.exact.capacity.tolist()) == sorted(box.exact.capacity.tolist())
    save_topology(parse_topology("ring:4"), tmp_path / f"ring{suffix}")
    assert load_topology(tmp_path / f"ring{suffix}").rates is None


@pytest.mark.parametrize("suffix", [".json", ".graphml"])
def test_files_keep_units_with_many_digits(tmp_path: Path, suffix: str) -> None:
    """20.48 GB/s of links of 163.839999999 GB/s, and as many digits as there may be."""
    for unit in (Fraction(20480000000, 163839999999), Fraction(10**20 - 2, 10**20 - 1)):
        ring = parse_topology("ring:4").in_units_of(unit)
        save_topology(ring, tmp_path / f"ring{suffix}", force=True)
        assert load_topology(tmp_path / f"ring{suffix}").scale == ring.scale


def test_modifiers_keep_rates_and_unit() -> None:
    whole, damaged = load("dgx1.xml", OPTIONS), load("dgx1.xml", OPTIONS, "without-link=0-1")
    assert damaged.scale == whole.scale
    assert damaged.rounded is not None
    assert whole.rounded is not None
    assert damaged.rounded.unit == whole.rounded.unit
    assert len(damaged.exact.capacity) == len(whole.exact.capacity) - 2


OLD = {"unit": "2", "rates": [{"described": "5", "used": "4", "links": 2}]}


def test_files_of_earlier_versions_are_read() -> None:
    """They have capacities rounded to whole units, and list which rate was rounded to which."""
    document = topology_document(parse_topology("ring:3,link-capacity=0-1:2"))
    network = topology_from_document(document | {"rounded": OLD}, "net.json")
    assert {str(network.exact.speed(capacity)) for capacity in network.exact.capacity.tolist()} == {"1", "5/2"}
    assert network.capacity.tolist() == topology_from_document(document, "net.json").capacity.tolist()
    for links in (1, 3, 4):
        with pytest.raises(TopologyError, match="rates were rounded to the same one as others"):
            topology_from_document(document | {"rounded": {**OLD, "rates": [{**OLD["rates"][0], "links": links}]}}, "net.json")
    twice = {"unit": "2", "rates": [*OLD["rates"], {"described": "9/2", "used": "4", "links": 2}]}
    with pytest.raises(TopologyError, match="rates were rounded to the same one as others; convert the description"):
        topology_from_document(document | {"rounded": twice}, "net.json")


@pytest.mark.parametrize(
    ("unit", "reason"),
    [
        ("0", r"unit is '0'; expected "),
        ("3/2", r"units of 1.5 full links; allowed: .* to 1"),
        (1.5, r"unit is 1\.5"),
        ("1/9999999", r"units of 1e-07 full links; allowed: 9.537e-07 to 1"),
    ],
)
def test_wrong_units(unit: object, reason: str) -> None:
    document = topology_document(parse_topology("ring:3"))
    document["links"]["unit"] = unit
    with pytest.raises(InputError, match=f"net.json.*{reason}"):
        topology_from_document(document, "net.json")


def test_a_link_below_the_unit(tmp_path: Path) -> None:
    document = topology_document(parse_topology("ring:3"))
    document["links"] |= {"capacity": ["1/3", *document["links"]["capacity"][1:]], "unit": "1/2"}
    with pytest.raises(TopologyError, match=r"units of 0\.5 full links; allowed: .* to 0\.333333"):
        topology_from_document(document, "net.json")


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        (7, r"rounded is 7; expected a table of fields"),
        ({"unit": "0", "rates": []}, r"unit is '0'; expected "),
        ({"unit": "1", "rates": []}, r"rates"),
        ({"unit": "1", "rates": [{"described": "3/2", "used": "1", "links": 0}]}, r"links is 0; allowed: "),
        ({"unit": "1", "rates": [{"described": 1.5, "used": "1", "links": 2}]}, r"described is 1\.5; "),
        ({"unit": "1", "rates": [{"described": "3/2", "used": "1", "links": 2, "kind": "NV"}]}, r"unknown field"),
    ],
)
def test_damaged(wrong: object, reason: str) -> None:
    document = topology_document(parse_topology("ring:3")) | {"rounded": wrong}
    with pytest.raises(InputError, match=f"net.json.*{reason}"):
        topology_from_document(document, "net.json")


@pytest.mark.parametrize("unit", ["wide", "0", "-1/2", "1/0"])
def test_damaged_graphs(tmp_path: Path, unit: str) -> None:
    path = tmp_path / "box.graphml"
    save_topology(parse_topology("ring:4").in_units_of(Fraction(64, 65)), path)
    path.write_text(path.read_text().replace(">64/65<", f">{unit}<", 1))
    with pytest.raises(InputError, match=rf"box\.graphml: unit is '{unit}'; allowed: a number above 0"):
        load_topology(path)


def test_graphs_of_earlier_versions(tmp_path: Path) -> None:
    path = tmp_path / "box.graphml"
    save_topology(parse_topology("ring:4").in_units_of(Fraction(64, 65)), path)
    path.write_text(path.read_text().replace('attr.name="unit"', 'attr.name="rounded"', 1))
    with pytest.raises(TopologyError, match="rates were rounded by an earlier version; convert the description"):
        load_topology(path)


def test_a_unit_that_files_cannot_state() -> None:
    with pytest.raises(TopologyError, match=r"ring:4: units of [0-9/]+ full links; allowed: up to 20 digits"):
        parse_topology("ring:4").in_units_of(Fraction(1, 2) + Fraction(1, 10**20))


def test_document() -> None:
    rounding = Rounding(Fraction(2), (RoundedRate(Fraction(7, 3), Fraction(2), 4),))
    text = '{"unit": "2", "rates": [{"described": "7/3", "used": "2", "links": 4}]}'
    assert json.dumps(rounding.document()) == text
