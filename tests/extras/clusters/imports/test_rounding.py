"""Link rates that an import rounds: the network says which, in every file and after every modifier, and nothing else changes."""

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from certree.models.common.errors import InputError, TopologyError
from certree.models.network.network_files import load_topology, save_topology
from certree.models.network.rounding import RoundedRate, Rounding
from certree.models.network.spec import parse_topology
from certree.models.network.topology import Topology
from certree.models.network.topology_file import topology_document, topology_from_document

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
    exact = load("dgx1.xml", *options)
    assert exact.rounded is None
    assert "rounded" not in topology_document(exact)


def test_nothing_but_the_key_is_added() -> None:
    """Digest, version and all other keys are those of the same network without the note."""
    rounded = load("dgx1.xml", OPTIONS)
    plain = replace(rounded, rounded=None)
    assert rounded.digest == plain.digest
    document = topology_document(rounded)
    assert document.pop("rounded") == rounded.rounded.document()
    assert document == topology_document(plain)


@pytest.mark.parametrize("suffix", [".json", ".json.gz", ".graphml"])
def test_files_keep_it(tmp_path: Path, suffix: str) -> None:
    rounded, path = load("dgx1.xml", OPTIONS), tmp_path / f"box{suffix}"
    save_topology(rounded, path)
    assert load_topology(path).rounded == rounded.rounded
    save_topology(parse_topology("ring:4"), tmp_path / f"ring{suffix}")
    assert load_topology(tmp_path / f"ring{suffix}").rounded is None


def test_modifiers_keep_it() -> None:
    assert load("dgx1.xml", OPTIONS, "without-link=0-1").rounded == load("dgx1.xml", OPTIONS).rounded


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


def test_damaged_graphs(tmp_path: Path) -> None:
    rounded, path = load("dgx1.xml", OPTIONS), tmp_path / "box.graphml"
    save_topology(rounded, path)
    path.write_text(path.read_text().replace("{&quot;unit&quot;", "unit").replace('{"unit"', "unit"))
    with pytest.raises(TopologyError, match=r"box\.graphml: rounded is .*; expected a JSON object as text"):
        load_topology(path)


def test_document() -> None:
    rounding = Rounding(Fraction(2), (RoundedRate(Fraction(7, 3), Fraction(2), 4),))
    text = '{"unit": "2", "rates": [{"described": "7/3", "used": "2", "links": 4}]}'
    assert json.dumps(rounding.document()) == text
