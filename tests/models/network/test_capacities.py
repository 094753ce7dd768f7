"""Links of a part of the full speed: read exactly, kept as whole units, written as they were read."""

from fractions import Fraction

import networkx as nx
import numpy as np
import pytest

from certree.models.common.errors import TopologyError, UnsupportedError
from certree.models.network.capacities import capacity_of, in_units, read_capacities, written
from certree.models.network.network_files import save_topology
from certree.models.network.spec import parse_topology
from certree.models.network.topology import MAX_CAPACITY
from certree.models.network.topology_file import topology_document, topology_from_document
from certree.models.network.topology_graph import topology_from_graph
from tests.networks import load_topology


def speeds(spec):
    topology = parse_topology(spec) if isinstance(spec, str) else spec
    ends = zip(topology.src.tolist(), topology.dst.tolist(), strict=True)
    return dict(zip(ends, map(topology.speed, topology.capacity.tolist()), strict=True))


@pytest.mark.parametrize(
    ("value", "capacity"),
    [
        (2, 2),
        ("2", 2),
        ("1/2", Fraction(1, 2)),
        ("0.25", Fraction(1, 4)),
        (0.1, Fraction(1, 10)),
        (1.0, 1),
        ("6/4", Fraction(3, 2)),
    ],
)
def test_capacity(value, capacity):
    assert capacity_of(value) == capacity


@pytest.mark.parametrize(
    "value", [0, -1, "0", "1/0", "", "half", True, None, [1], float("nan"), float("inf"), 1e300, MAX_CAPACITY + 1]
)
def test_bad_capacity(value):
    assert capacity_of(value) is None


def test_units():
    assert in_units([Fraction(1), Fraction(1, 2), Fraction(2, 3)], "net") == ([6, 3, 4], 6)
    assert written([6, 3, 4], 6) == [1, "1/2", "2/3"]
    assert read_capacities([1, "1/2", "2/3"], "net") == ([6, 3, 4], 6)
    with pytest.raises(TopologyError, match="net: entry 1 is 'x'; allowed: a whole number from 1"):
        read_capacities([1, "x"], "net")
    with pytest.raises(TopologyError, match="common denominator 1500000; allowed: at most 1048576 units per link"):
        in_units([Fraction(1, 1500000), Fraction(1)], "net")


def test_modifier():
    """Both directions, one direction, and back to whole units where no part is left."""
    both = speeds("ring:4,link-capacity=0-1:1/2")
    assert both[0, 1] == both[1, 0] == Fraction(1, 2)
    assert sorted(both.values()) == [Fraction(1, 2)] * 2 + [1] * 6
    one = speeds("ring:4,link-capacity=0>1:1/3,link-capacity=2-3:2")
    assert (one[0, 1], one[1, 0], one[2, 3], one[3, 2]) == (Fraction(1, 3), 1, 2, 2)
    assert parse_topology("ring:4,link-capacity=0>1:1/3").scale == 3
    plain = parse_topology("ring:4,link-capacity=0-1:1/2,without-link=0-1")
    assert plain.scale == 1
    assert plain.digest == parse_topology("ring:4,without-link=0-1").digest
    assert parse_topology("ring:4,link-capacity=0-1:1/2,capacity=1").digest == parse_topology("ring:4").digest
    assert parse_topology("ring:4,link-capacity=0-1:2/2").digest == parse_topology("ring:4").digest


def test_scale_is_part_of_the_network():
    half, full = parse_topology("ring:4,capacity=1/2"), parse_topology("ring:4")
    assert (half.capacity == full.capacity).all()
    assert (half.scale, full.scale) == (2, 1)
    assert half.digest != full.digest


@pytest.mark.parametrize("suffix", [".json", ".json.gz", ".graphml"])
def test_files(tmp_path, suffix):
    topology = parse_topology("torus:3x3,link-capacity=0-1:1/2,link-capacity=4>5:0.75")
    save_topology(topology, tmp_path / f"net{suffix}")
    found = load_topology(tmp_path / f"net{suffix}")
    assert speeds(found) == speeds(topology)
    assert found.scale == topology.scale == 4
    assert speeds(f"{tmp_path / f'net{suffix}'},without-link=0-1")[4, 5] == Fraction(3, 4)


def test_document_says_what_people_wrote():
    document = topology_document(parse_topology("ring:3,link-capacity=0-1:1/2"))
    assert sorted(map(str, document["links"]["capacity"])) == ["1", "1", "1", "1", "1/2", "1/2"]
    for bad, reason in (("1/0", "entry 5 is '1/0'"), (None, "entry 5 is None"), (0, "entry 5 is 0")):
        broken = document | {"links": document["links"] | {"capacity": ["1/2", 1, 1, 1, 1, bad]}}
        with pytest.raises(TopologyError, match=f"links.capacity: {reason}; allowed: a whole number from 1"):
            topology_from_document(broken, "net")
    with pytest.raises(TopologyError, match="capacity has 2 entries; expected 6"):
        topology_from_document(document | {"links": document["links"] | {"capacity": ["1/2", 1]}}, "net")


def test_graph():
    graph = nx.cycle_graph(4)
    nx.set_edge_attributes(graph, 1, "capacity")
    graph.edges[0, 1]["capacity"] = 0.5
    graph.edges[1, 2]["capacity"] = "1/3"
    found = topology_from_graph(graph, "graph")
    assert found.scale == 6
    assert np.unique(found.capacity).tolist() == [2, 3, 6]


def test_what_has_no_parts_says_so():
    with pytest.raises(
        UnsupportedError, match="ring:4,capacity=1/2 has links of a part of the full speed; a cost model works with"
    ):
        parse_topology("ring:4,capacity=1/2").require_full_links("a cost model")
