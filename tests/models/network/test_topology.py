"""Topologies by name: node numbers, neighbour order, counts, modifiers, and every bad spec with its reason."""

import math
import re

import numpy as np
import pytest

from certree.models.common.errors import InputError, TopologyError
from certree.models.network.families import load_families
from certree.models.network.spec import parse_topology
from certree.models.network.topology import NodeKind
from certree.models.network.topology_file import topology_document, topology_from_document
from tests.models.examples import network


@pytest.mark.parametrize(
    ("spec", "node", "neighbours"),
    [
        ("ring:5", 0, [4, 1]),
        ("ring:2", 0, [1]),
        ("mesh:3x4", 5, [1, 9, 4, 6]),  # Y-, Y+, X-, X+; node = row·4 + column
        ("mesh:3x4", 0, [4, 1]),
        ("mesh:3x4", 11, [7, 10]),
        ("torus:3x4", 0, [8, 4, 3, 1]),
        ("torus:2x3", 0, [3, 2, 1]),  # a dimension of two nodes has one pair of links
        ("mesh:2x3x4", 17, [5, 13, 21, 16, 18]),
        ("torus:4x4x4", 0, [48, 16, 12, 4, 3, 1]),
        ("hypercube:3", 5, [1, 7, 4]),
        ("full:4", 2, [0, 1, 3]),
    ],
)
def test_neighbour_order(spec, node, neighbours):
    assert parse_topology(spec).neighbours(node) == neighbours


@pytest.mark.parametrize("sizes", [(3,), (8,), (3, 3), (4, 5), (8, 8), (3, 4, 5), (2, 2, 2, 2)])
def test_grid_counts(sizes):
    """A mesh has Σ (sᵢ - 1)·n/sᵢ undirected links; a torus Σ n over dimensions above two, n/2 for those of two."""
    text, nodes = "x".join(map(str, sizes)), math.prod(sizes)
    mesh, torus = parse_topology(f"mesh:{text}"), parse_topology(f"torus:{text}")
    assert len(mesh.src) == 2 * sum((size - 1) * nodes // size for size in sizes)
    assert len(torus.src) == 2 * sum(nodes if size > 2 else nodes // 2 for size in sizes)
    assert mesh.diameter[0] == sum(size - 1 for size in sizes)
    assert torus.diameter[0] == sum(size // 2 for size in sizes)
    for topology in (mesh, torus):
        assert topology.is_direct
        assert topology.is_full_duplex
        assert topology.coordinates.tolist() == [list(np.unravel_index(n, sizes)) for n in range(nodes)]


def test_hypercube_and_full_counts():
    cube, full = parse_topology("hypercube:4"), parse_topology("full:6")
    assert (len(cube.kind), len(cube.src), cube.diameter[0]) == (16, 16 * 4, 4)
    assert (len(full.kind), len(full.src), full.diameter[0]) == (6, 6 * 5, 1)
    assert all((a ^ b).bit_count() == 1 for a, b in zip(cube.src.tolist(), cube.dst.tolist(), strict=True))


def test_distances_follow_the_links():
    one_way = network(3, [(0, 1), (1, 2), (2, 0)])
    assert one_way.distances(0).tolist() == [0, 1, 2]
    assert one_way.distances(0, backward=True).tolist() == [0, 2, 1]
    assert one_way.distances(0, through=np.array([True, False, True])).tolist() == [0, 1, -1]
    with pytest.raises(ValueError, match="columns that do not fit each other"):
        one_way.distances(3)
    assert not one_way.is_full_duplex


@pytest.mark.parametrize(
    "spec", ["torus:9x11", "mesh:13x7,without-link=0>1", "fattree:8x12", "tree:3+4/2@2", "mesh:4x4,without-node=5", "ring:130"]
)
def test_diameter_is_the_largest_distance(spec):
    """Against one search from each endpoint; more than 64 of them in some."""
    topology = parse_topology(spec)
    ends = topology.endpoints
    best = (0, -1, -1)
    for start in ends.tolist():
        far = topology.distances(start)[ends]
        if far.max() > best[0]:
            best = (int(far.max()), start, int(ends[far.argmax()]))
    assert topology.diameter == best


def test_without_link_removes_both_directions_or_one():
    both, one = parse_topology("torus:4x4,without-link=0-1"), parse_topology("torus:4x4,without-link=0>1")
    full = set(zip(*(getattr(parse_topology("torus:4x4"), side).tolist() for side in ("src", "dst")), strict=True))
    assert set(zip(both.src.tolist(), both.dst.tolist(), strict=True)) == full - {(0, 1), (1, 0)}
    assert set(zip(one.src.tolist(), one.dst.tolist(), strict=True)) == full - {(0, 1)}
    assert both.name == "torus:4x4,without-link=0-1"


def test_without_link_removes_parallel_links(tmp_path):
    file = tmp_path / "net.json"
    file.write_text('{"multigraph": true, "nodes": [{"id": 0}, {"id": 1}, {"id": 2}], "edges": ['
                    '{"source": 0, "target": 1, "key": 0}, {"source": 0, "target": 1, "key": 1},'
                    '{"source": 1, "target": 2}, {"source": 2, "target": 0}]}')  # fmt: skip
    assert parse_topology(str(file)).pair_capacity.tolist() == [2, 1, 2, 1, 1, 1]
    assert parse_topology(f"{file},without-link=0-1").neighbours(0) == [2]


def test_without_node_keeps_ids():
    topology = parse_topology("mesh:3x3,without-node=4")
    assert topology.endpoints.tolist() == [0, 1, 2, 3, 5, 6, 7, 8]
    assert topology.rank.tolist() == [0, 1, 2, 3, -1, 4, 5, 6, 7]
    assert topology.kind[4] == NodeKind.ABSENT
    assert len(topology.src) == 24 - 8


def test_capacity_and_repeated_modifiers():
    topology = parse_topology("torus:4x4,without-link=0-1,without-link=5-6,without-node=10,capacity=3")
    assert len(topology.src) == 64 - 2 - 2 - 8
    assert set(topology.capacity.tolist()) == {3}


def test_digest_is_of_the_network_not_of_its_name():
    assert parse_topology("torus:2x2").digest == parse_topology("mesh:2x2").digest
    others = ["mesh:2x2,capacity=2", "mesh:2x2,without-link=0-1", "mesh:2x2,without-link=0>1", "ring:4"]
    digests = {parse_topology(spec).digest for spec in ["mesh:2x2", *others]}
    assert len(digests) == 5


#: reason: networks that are refused for it
BAD_SPECS = {
    "unknown topology 'moebius:8'; allowed:": "moebius:8",
    "ring: expected one whole number": "ring",
    "expected one whole number": "ring: ring:x ring:4x4 ring:-4 ring:4.0 switch:4x4 dgx2:x",
    "switch: expected one whole number": "switch",
    "expected 2 whole numbers joined by x": "fattree:8 fattree:4x4x4",
    "expected 2 whole numbers": "ace-alltoall:4",
    "expected 3 whole numbers joined by x": "leafspine:4x2",
    "expected 3 whole numbers": "hier-torus:4x4 ace-torus:4x4",
    "whole numbers joined by x": "mesh:8y8",
    "sizes start at 1": "ring:0 torus:0x4 hypercube:0 bigraph:4x0 switch-fc:2x2x4x0",
    "1 node(s); a network has 2 to": "ring:1 mesh:1x1",
    "1 node(s)": "ace-torus:1x1x1",
    "1 endpoint(s); a collective needs at least 2": "ring:2,without-node=1 switch:1 tree:1",
    "more than 1048576 nodes": "torus:9999999x9999999 fattree:2000x2000 tree:999999999x1",
    "torus: 70 sizes; allowed: 1 to 20": "torus:" + "x".join(["1"] * 70),
    "allowed dimensions: 1 to 20": "hypercube:21",
    "allowed: 2 to 4096": "full:1 full:5000",
    "7 switches; allowed: an even number": "bigraph:4x7",
    "dgx1:8: dgx1 takes no sizes": "dgx1:8",
    "sym384 takes no sizes": "sym384:2",
    "7 planes; allowed: 1 to 6": "dgx2:7",
    "tree:: expected numbers of endpoints joined by +": "tree:",
    "expected numbers of endpoints joined by +": "tree:3+ tree:2x3x4",
    "expected numbers of endpoints": "tree:999999x1+999999x1",
    "capacity '0'; allowed: whole numbers from 1 to 1048576": "tree:3+4@0",
    "capacity 'x'; allowed": "leafspine:4x2x8@x",
    "expected NxS or RxCxNxS": "switch-fc:4",
    "5 local switches; allowed: 1 to 4": "switch-fc:4x5",
    "generator '16'; expected a permutation of 0, 1": "cayley:16",
    "generator ''; expected a permutation": "cayley:",
    "generator ''; expected 1 whole number": "cayley:16@",
    "generator '1'; expected 2 whole number": "cayley:4x4@1",
    "a generator is the identity": "cayley:16@0",
    "two generators, or one and another's inverse, are equal": "cayley:16@1+15",
    "permutes 4 things, the first one 3": "cayley:102+1023",
    "expected a permutation": "cayley:100",
    "more than 16777216 links": "cayley:1000000@1+2+3+4+5+6+7+8+9",
    "allowed: two or three sizes K and 2K": "twisted-torus:4x4 twisted-torus:3x5 twisted-torus:1x2 twisted-torus:2x2x2x4",
    "more than 1048576 nodes, or more than 20 hops": "kautz:2x20 kautz:1x21",
    "full-mesh:4000x4000: more than 1048576 nodes": "full-mesh:4000x4000",
    "full-mesh:8192: more than 16777216 links": "full-mesh:8192",
    "3 groups with 1 links each; allowed: 2 to 2 groups": "dragonfly:3x1x1",
    "1 groups with 4 links each; allowed: 2 to 5 groups": "dragonfly:1x2x2",
    "more than 8388608 cables": "dragonfly:2x9999x1",
    "'x' endpoints to a router; allowed: whole numbers from 1": "hyperx:2x2@x",
    "'0' endpoints to a router": "dragonfly:3x2x1@0",
    "Q is 9; allowed: odd primes up to 127": "slimfly:9",
    "allowed: odd primes": "slimfly:2 slimfly:131",
    "allowed: degrees from 3 to N - 1, N·D even": "jellyfish:5x3x1 jellyfish:4x4x1 jellyfish:8x2x1",
    "more than 262144 cables": "jellyfish:1000000x3x1",
    "'x' boxes; allowed: whole numbers from 1 to 4096": "h100:x",
    "boxes; allowed": "a100:0 nvl72:5000",
    "a fabric joins boxes; one box needs none": "h100:1@switch",
    "fabric 'mesh'; allowed: rails (": "h100:2@mesh",
    "fabric 'leafx'; allowed": "h100:4@leafx",
    "leaf switches of 3 boxes; allowed: a divisor of 4 below it": "h100:4@leaf3",
    "uplinks 3 times too few for 32 units; allowed: divisors of them": "h100:4@leaf2/3",
    "disconnected": "cayley:16@2",
    "disconnected: no path from 0 to 1": "ring:4,without-link=0-1,without-link=2-3 ring:2,without-link=0>1",
    "disconnected: no path from 1 to 0": "ring:2,without-link=1>0",
    "disconnected: no path from 0 to 2": "mesh:1x3,without-node=1 ring:4,only=0+2",
    "modifier '' is not of the form name=value": "ring:4,",
    "modifier 'fast' is not of the form name=value; known: ": "ring:4,fast",
    "unknown topology modifier 'speed'; known: ": "ring:4,speed=2",
    "expected A-B (both directions) or A>B": "ring:4,without-link=0",
    "without-link=0-2: there is no such link": "ring:4,without-link=0-2",
    "there is no such link": "ring:4,without-link=0-9 ring:4,without-link=0-1,without-link=0-1",
    "expected a node id": "ring:4,without-node=x",
    "expected ids and ranges of ids of endpoints, such as 0-3+8": "ring:4,only=x ring:4,only=0+ ring:4,only=0-1-2",
    "only=0-4: 0-4 are not all endpoints": "ring:4,only=0-4",
    "are not all endpoints": "switch:4,only=0+4 ring:4,only=2-1 ring:4,without-node=1,only=0-2",
    "there is no such node": "ring:4,without-node=4 ring:4,without-node=1,without-node=1",
    "expected a whole number from 1": "ring:4,capacity=-1 ring:4,capacity=-1/2 ring:4,capacity=1/0",
    "expected a whole number from 1 to 1048576, a part such as 1/2 or a decimal such as 0.25": "ring:4,capacity=0",
    "common denominator 2000000; allowed: at most 1048576 units per link": "ring:4,capacity=1/2000000",
    "link-capacity='0-1': expected A-B (both directions) or A>B and a capacity, such as 3-4:1/2": "ring:4,link-capacity=0-1",
    "link-capacity='0-1:half': expected a whole number from 1": "ring:4,link-capacity=0-1:half",
    "link-capacity=0-2:1/2: there is no such link": "ring:4,link-capacity=0-2:1/2",
    "reducing=switches: there are no switches": "torus:4x4,reducing=switches",
    "reducing=0: node 0 is not a switch": "switch:4,reducing=0",
    "reducing='9': expected the id of a switch, or switches": "switch:4,reducing=9",
    "node 3 is not a switch": "switch:4,without-node=3,reducing=3",
    "cannot read missing.json: No such file or directory": "missing.json",
}


@pytest.mark.parametrize(
    ("spec", "reason"),
    [("", "unknown topology ''; allowed: "), *((spec, reason) for reason, specs in BAD_SPECS.items() for spec in specs.split())],
)
def test_bad_spec(spec, reason):
    with pytest.raises(InputError) as caught:
        parse_topology(spec)
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    ("links", "fields", "reason"),
    [
        ([(0, 1), (1, 0), (1, 1)], {}, "link 2 (1>1) leads from a node to itself"),
        ([(0, 1), (1, 0), (1, 5)], {}, "link 2: dst is 5; allowed: 0 to 2"),
        ([(0, 1), (-1, 0)], {}, "link 1: src is -1; allowed: 0 to 2"),
        ([(0, 1, 0), (1, 0)], {}, "link 0: capacity is 0; allowed: 1 to"),
        ([(0, 1, 1, -2), (1, 0)], {}, "link 0: latency is -2; allowed: -1 to"),
        ([(0, 1), (1, 0)], {"kind": np.array([0, 0, 2], np.int8), "reducing": np.zeros(2, bool)}, "columns of different lengths"),
        ([(0, 1), (1, 0), (0, 2)], {"kind": np.array([0, 0, 2], np.int8)}, "link 2 (0>2) ends at a node that does not exist"),
        ([(0, 1), (1, 0)], {"kind": np.array([0, 0, 3], np.int8)}, "node kinds are endpoint or switch"),
        ([(0, 1), (1, 0)], {"kind": np.array([0, 1, 1], np.int8)}, "1 endpoint(s)"),
        ([(0, 1), (1, 0)], {}, "disconnected: no path from 0 to 2"),
    ],
)
def test_constructor_refuses(links, fields, reason):
    with pytest.raises(TopologyError) as caught:
        network(3, links, **fields)
    assert reason in str(caught.value)


def test_columns_are_read_only():
    with pytest.raises(ValueError, match="read-only"):
        parse_topology("ring:4").src[0] = 3


@pytest.mark.parametrize("family", list(load_families()))
def test_every_family(family):
    """A help line with its grammar; examples that are called what they are asked for by, and come back from their file."""
    families = load_families()
    assert re.match(rf"{family}(:\S+|\[\S+\])? - \S", families.explain(family))
    assert families.examples(family)
    for spec in families.examples(family):
        topology = parse_topology(spec)
        assert topology.name == spec
        assert topology_from_document(topology_document(topology), spec).digest == topology.digest
        assert set(parse_topology(f"{spec},capacity=2").capacity.tolist()) == {2}


def test_pair_index():
    topology = parse_topology("ring:4")
    pairs = topology.pair_index(topology.src, topology.dst)
    assert pairs.tolist() == topology.pair_of_link.tolist()
    assert topology.pair_index(np.array([0, 0, 3]), np.array([2, 0, 3])).tolist() == [-1, -1, -1]
    assert topology.pair_src[pairs].tolist() == topology.src.tolist()
    assert topology.pair_dst[pairs].tolist() == topology.dst.tolist()


@pytest.mark.parametrize("spec", ["torus:3x3,without-link=0-1", "full:5,without-node=2", "switch:4"])
def test_pairs_by_table_and_by_search(spec):
    """Many questions are answered from a table, few by a search: the same answers."""
    topology = parse_topology(spec)
    src, dst = (grid.ravel() for grid in np.meshgrid(*[np.arange(len(topology.kind), dtype=np.int32)] * 2, indexing="ij"))
    one_by_one = [int(topology.pair_index(u, v)) for u, v in zip(src, dst, strict=True)]
    assert topology.pair_index(src, dst).tolist() == one_by_one
    links = list(zip(topology.pair_src.tolist(), topology.pair_dst.tolist(), strict=True))
    asked = zip(src.tolist(), dst.tolist(), strict=True)
    assert one_by_one == [links.index(ends) if ends in links else -1 for ends in asked]
