"""Families with switches: counts, capacities, what leaves an endpoint, diameters, and the figures of the papers."""

import numpy as np
import pytest

from certree.models.errors import TopologyError
from certree.models.topology import NodeKind
from certree.models.topology_spec import parse_topology


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


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        ("switch:1", "1 endpoint(s); a collective needs at least 2"),
        ("switch:4x4", "expected one whole number"),
        ("fattree:8", "expected 2 whole numbers joined by x"),
        ("fattree:4x4x4", "expected 2 whole numbers joined by x"),
        ("fattree:2000x2000", "more than 1048576 nodes"),
        ("bigraph:4x7", "7 switches; allowed: an even number"),
        ("bigraph:4x0", "sizes start at 1"),
    ],
)
def test_bad_specs(spec, reason):
    with pytest.raises(TopologyError) as caught:
        parse_topology(spec)
    assert reason in str(caught.value)
