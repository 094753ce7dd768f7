"""Families with switches: counts, capacities, what leaves an endpoint, diameters, and the figures of the papers."""

from fractions import Fraction

import numpy as np
import pytest

from certree.models.network.spec import parse_topology
from certree.models.network.topology import NodeKind
from certree.models.schedule.collective import parse_collective
from certree.synth.bounds.find import find_bounds


def out_capacity(topology):
    """Chunk units a round out of each endpoint."""
    total = np.bincount(topology.src, topology.capacity, len(topology.kind)).astype(int)
    return set(total[topology.endpoints].tolist())


#: spec -> (endpoints, switches, cables, capacity out of an endpoint, diameter)
COUNTS = {
    "switch:16": (16, 1, 16, {1}, 2),
    "fattree:4x4": (16, 8, 16 + 16, {1}, 4),
    "fattree:8x8": (64, 16, 64 + 64, {1}, 4),
    "fattree:2x3": (6, 5, 6 + 6, {1}, 4),
    "bigraph:4x8": (32, 8, 32 + 16, {1}, 4),
    "bigraph:4x16": (64, 16, 64 + 64, {1}, 4),
    "dgx1": (8, 0, 16, {6}, 2),
    "dgx2": (16, 12, 6 * 17, {6}, 3),
    "dgx2:1": (16, 2, 17, {1}, 3),
    "ss:24": (24, 1, 24, {1}, 2),
    "ss:32": (32, 1, 32, {1}, 2),
    "sym384": (384, 17, 400, {1}, 4),
    "sym512": (512, 17, 528, {1}, 4),
    "asy384": (384, 17, 400, {1}, 4),
    "cdc384": (384, 18, 401, {1}, 5),
    "tree:3+4": (7, 3, 9, {1}, 4),
    "tree:2x3+1x2+4@7": (12, 5, 16, {1}, 4),
    "leafspine:4x2x8@2": (32, 6, 40, {1}, 4),
    "switch-fc:4x1": (4, 1, 4, {2}, 2),
    "switch-fc:4x4": (4, 4, 16, {8}, 2),
    "switch-fc:2x2x4x3": (16, 12, 48 + 16, {6 + 2}, 4),
    "switch-fc:3x3x4x1": (36, 9, 36 + 72, {2 + 4}, 4),
    "hier-torus:2x2x4": (16, 0, 16 + 16, {4 + 2}, 4),
    "hier-torus:3x3x4": (36, 0, 36 + 72, {4 + 4}, 4),
    "ace-torus:4x4x4": (64, 0, 192, {16 + 4}, 6),
    "ace-torus:2x4x1": (8, 0, 4 + 8, {16 + 4}, 3),
    "ace-torus:1x2x2": (4, 0, 4, {4}, 2),
    "ace-alltoall:4x4": (16, 4, 16 + 64, {16 + 4}, 2),
    "ace-alltoall:2x3": (6, 4, 3 + 24, {16 + 4}, 2),
}


@pytest.mark.parametrize("spec", COUNTS)
def test_counts(spec):
    endpoints, switches, cables, capacities, diameter = COUNTS[spec]
    topology = parse_topology(spec)
    assert topology.endpoints.tolist() == list(range(endpoints))
    assert int((topology.kind == NodeKind.SWITCH).sum()) == switches == len(topology.kind) - endpoints
    assert len(topology.src) == 2 * cables
    assert topology.is_full_duplex
    assert out_capacity(topology) == capacities
    assert topology.diameter[0] == diameter
    assert not topology.reducing.any()


def capacity_between(topology, a, b):
    """Chunk units a round over all links a>b."""
    return int(topology.capacity[(topology.src == a) & (topology.dst == b)].sum())


def best_bandwidth_bound(spec, collective):
    """The largest bandwidth bound that is found, as a multiple of M/B."""
    bounds = find_bounds(parse_topology(spec), parse_collective(collective))
    return max(Fraction(bound["value"]) for bound in bounds if bound["quantity"] == "bandwidth")


def test_dgx1_has_six_nvlinks_a_gpu_and_needs_7_rounds_for_6_chunks():
    """SCCL's all-gather frontier on it ends at (6, 3, 7): 7 foreign chunks over 6 NVLinks, so 7/6 rounds per chunk of a GPU."""
    dgx1 = parse_topology("dgx1")
    double = [(a, b) for a, b, c in zip(dgx1.src, dgx1.dst, dgx1.capacity, strict=True) if a < b and c == 2]
    assert double == [(0, 3), (0, 4), (1, 2), (1, 5), (2, 3), (4, 7), (5, 6), (6, 7)]
    assert all(capacity_between(dgx1, a, a + 4) == (2 if a < 2 else 1) for a in range(4))
    assert best_bandwidth_bound("dgx1", "all-gather") * 8 == Fraction(7, 6)


def test_ace_torus_packs_at_128_over_15_of_its_unit_link():
    """200 and 25 GB/s: the best rate is 128/15 of 25 GB/s."""
    torus = parse_topology("ace-torus:4x4x4")
    assert capacity_between(torus, 0, 1) == 8 * capacity_between(torus, 0, 4) == 8
    assert set(torus.latency.tolist()) == {90, 200}
    assert best_bandwidth_bound("ace-torus:4x4x4", "all-reduce") == Fraction(15, 128)


def test_ace_rings_of_two_and_of_one():
    """Every NPU keeps its two inner and four outer links whatever the shape: a ring of two is one link twice as wide."""
    assert capacity_between(parse_topology("ace-torus:2x4x4"), 0, 1) == 16
    assert capacity_between(parse_topology("ace-torus:4x2x3"), 0, 12) == 2
    flat = parse_topology("ace-torus:4x4x1")
    assert [capacity_between(flat, 0, node) for node in (4, 12)] == [2, 2]
    assert capacity_between(parse_topology("ace-torus:4x2x1"), 0, 4) == 4


def test_coordinates_of_packages():
    """(row, column, place); ids run package by package, local switches have the places after the nodes."""
    fc = parse_topology("switch-fc:2x3x4x2")
    assert [fc.coordinates[node].tolist() for node in (0, 5, 23, 24, 35)] == [[0, 0, 0], [0, 1, 1], [1, 2, 3], [0, 0, 4], [1, 2, 5]]
    assert fc.neighbours(0) == [24, 25, 12, 4, 8]  # local switches, the other row, the other two columns
    torus = parse_topology("ace-torus:4x2x3")
    assert (np.ravel_multi_index(tuple(torus.coordinates.T), (2, 3, 4)) == np.arange(24)).all()
    assert parse_topology("ace-alltoall:2x3").coordinates.tolist()[3:8] == [[1, 1], [2, 0], [2, 1], [-1, 0], [-1, 1]]


def test_local_switches_reach_every_node_of_their_package_only():
    fc = parse_topology("switch-fc:2x2x4x3")
    assert fc.neighbours(16) == [0, 1, 2, 3]
    assert fc.neighbours(27) == [12, 13, 14, 15]
    assert set(fc.capacity[fc.src >= 16].tolist()) == {2}
    assert set(fc.capacity[(fc.src < 16) & (fc.dst < 16)].tolist()) == {1}


def test_gentree_trees():
    """Middle switches follow the servers; uplinks ten times as wide; one unit link between data centres."""
    asy, cdc = parse_topology("asy384"), parse_topology("cdc384")
    below = [len([node for node in asy.neighbours(switch) if node < 384]) for switch in range(384, 400)]
    assert below == [32] * 8 + [16] * 8
    assert capacity_between(asy, 384, 400) == 10
    assert cdc.neighbours(400) == [*range(384, 392), 401]
    assert (capacity_between(cdc, 400, 401), capacity_between(cdc, 384, 400)) == (1, 10)
    assert parse_topology("tree:8x32+8x16@10").digest == asy.digest
    assert parse_topology("tree:8x32/8x16@10").digest == cdc.digest
    assert parse_topology("ss:24").digest == parse_topology("switch:24").digest


def test_dgx2_planes():
    dgx2 = parse_topology("dgx2")
    assert dgx2.neighbours(0) == [16, 18, 20, 22, 24, 26]
    assert dgx2.neighbours(15) == [17, 19, 21, 23, 25, 27]
    assert capacity_between(dgx2, 16, 17) == 8


def test_reducing_switches():
    marked = parse_topology("fattree:2x2,reducing=switches")
    assert np.flatnonzero(marked.reducing).tolist() == [4, 5, 6, 7]
    one = parse_topology("fattree:2x2,reducing=6,without-node=7")
    assert np.flatnonzero(one.reducing).tolist() == [6]
    gone = parse_topology("fattree:2x2,reducing=switches,without-node=7")
    assert np.flatnonzero(gone.reducing).tolist() == [4, 5, 6]


def test_a_leaf_of_a_fat_tree_has_as_many_ways_up_as_endpoints():
    tree = parse_topology("fattree:4x3")
    assert [tree.neighbours(node) for node in (0, 2, 3, 11)] == [[12], [12], [13], [15]]
    assert tree.neighbours(12) == [0, 1, 2, 16, 17, 18]
    assert tree.neighbours(16) == [12, 13, 14, 15]


def test_a_bigraph_joins_every_upper_switch_to_every_lower_one():
    """EFLOPS: half of the switches above, half below, a cable between any two of different halves."""
    graph = parse_topology("bigraph:4x8")
    assert graph.neighbours(32) == [0, 1, 2, 3, 36, 37, 38, 39]
    assert graph.neighbours(39) == [28, 29, 30, 31, 32, 33, 34, 35]
