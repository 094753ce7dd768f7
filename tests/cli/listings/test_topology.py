"""`certree topology`."""

import json

import networkx as nx
import pytest

from certree.models.network.spec import parse_topology
from tests.cli.running import assert_bad_input, certree, json_of


def test_show():
    """A 3x4 mesh has 2·(2·4 + 3·3) = 34 links and a diameter of 2 + 3 hops."""
    document = json_of("topology", "show", "mesh:3x4")
    assert document["name"] == "mesh:3x4"
    assert (document["endpoints"], document["switches"], document["links"], document["capacity"]) == (12, 0, 34, 34)
    assert document["degree"] == {"min": 2, "max": 4}
    assert document["diameter"]["hops"] == 5
    assert (document["direct"], document["full_duplex"]) == (True, True)
    assert document["digest"] == parse_topology("mesh:3x4").digest


def test_show_in_words():
    outcome = certree("topology", "show", "mesh:3x4,without-link=0>1")
    assert outcome.code == 0
    assert "12 endpoints (direct), 33 links (not full duplex)" in outcome.out
    assert "diameter: 5 hops" in outcome.out


def test_list_names_families_modifiers_and_files():
    words, document = certree("topology", "list"), json_of("topology", "list")
    for text in ("ring:N", "torus:RxC", "mesh:RxC", "hypercube:D", "full:N", "without-link=A-B", ".graphml"):
        assert text in words.out
    known = [
        "capacity",
        "fabric-latency",
        "latency",
        "link-capacity",
        "link-latency",
        "only",
        "reducing",
        "without-link",
        "without-node",
    ]
    assert sorted(document["modifiers"]) == known


@pytest.mark.parametrize("name", ["out.json", "out.json.gz", "out.graphml", "out.graphml.gz"])
def test_convert(tmp_path, name):
    nx.write_graphml(nx.petersen_graph(), tmp_path / "in.graphml")
    outcome = certree("topology", "convert", tmp_path / "in.graphml", "-o", tmp_path / name)
    assert (outcome.code, outcome.out) == (0, "")
    again = parse_topology(str(tmp_path / name))
    assert again.digest == parse_topology(str(tmp_path / "in.graphml")).digest


def test_convert_node_link(tmp_path):
    (tmp_path / "in.json").write_text(json.dumps(nx.node_link_data(nx.cycle_graph(5), edges="links")))
    assert certree("topology", "convert", tmp_path / "in.json", "-o", tmp_path / "out.json").code == 0
    assert json.loads((tmp_path / "out.json").read_text())["format"] == "certree-topology"


def test_force_overwrites(tmp_path):
    out = tmp_path / "out.json"
    out.write_text("mine")
    assert certree("topology", "convert", "ring:4", "-o", out, "--force").code == 0
    assert parse_topology(str(out)).name == "ring:4"


def test_list_explains_a_family():
    said = certree("topology", "list", "switch-fc")
    assert said.out.startswith("switch-fc:[RxCx]NxS - ")
    assert "Table II" in said.out
    assert json_of("topology", "list", "dgx2")["family"] == "dgx2"


def test_convert_imports(tmp_path):
    """Options of the command and options behind the name give the same network; without the speed it is asked for."""
    file, name = tmp_path / "box.json", "tests/extras/clusters/imports/dgx1.txt"
    assert_bad_input(certree("topology", "convert", name, "--nvlink-only", "-o", str(file)), "give speed=NV:BANDWIDTH")
    assert not file.exists()
    made = certree("topology", "convert", name, "--speed", "NV=25GB/s", "--nvlink-only", "-o", str(file))
    assert made.code == 0
    assert "a link of capacity 1 has 25 GB/s" in made.err
    shown = json_of("topology", "show", f"{name},speed=NV:25GB/s,links=nvlink")
    assert shown["unit_bandwidth"] == "25000000000"
    assert json_of("topology", "show", "ring:4")["unit_bandwidth"] is None
    assert parse_topology(str(file)).digest == parse_topology(f"{name},speed=NV:25GB/s,links=nvlink").digest


def test_show_draws(tmp_path):
    file = tmp_path / "mesh.svg"
    assert certree("topology", "show", "mesh:3x3,without-node=4", "-o", str(file)).code == 0
    picture = file.read_text()
    assert picture.startswith("<svg ")
    assert "removed" in picture
