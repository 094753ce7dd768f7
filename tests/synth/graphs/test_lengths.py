"""The lengths that are found: values that are known, never more than the checker proves, equivalent links equal."""

from fractions import Fraction

import networkx as nx
import numpy as np
import pytest

from certree.models.network.spec import parse_topology
from certree.models.network.topology import Topology
from certree.models.network.topology_graph import topology_from_graph
from certree.models.schedule.collective import Collective, CollectiveKind
from certree.synth.bounds.find import find_bounds
from certree.synth.bounds.weights import weighted_lengths
from certree.synth.graphs.lengths import (
    _dual_lengths,
    best_lengths,
    best_rounded,
    classes_of_links,
    length_value,
    roundings,
)
from certree.verify.bounds.instance import Instance
from certree.verify.bounds.witness import check_bound
from tests.verify.build import network
from tests.verify.exact.small import barbell


@pytest.mark.parametrize(
    ("kind", "spec", "value"),
    [
        ("all-reduce", "switch:4", "3/2"),
        ("all-reduce", "switch:16", "15/8"),
        ("all-reduce", "fattree:4x4", "15/8"),  # one cable at each endpoint: 2·15 messages through 16 of them
        ("all-reduce", "fattree:8x8", "63/32"),
        ("all-reduce", "bigraph:4x8", "31/16"),
        ("all-reduce", "leafspine:4x2x4", "15/8"),
        ("all-reduce", "dgx1", "7/24"),
        ("all-reduce", "dgx2", "5/16"),
        ("all-reduce", "ss:24", "23/12"),
        ("all-reduce", "torus:4x4", "15/32"),  # the strength of the network, as by partitions
        ("all-reduce", "mesh:4x4", "5/8"),
        ("all-reduce", "torus:4x4,without-link=0-1", "15/31"),
        ("all-reduce", "ace-torus:4x4x4", "15/128"),
        ("all-reduce", "ring:5", "4/5"),
        ("all-to-all", "switch:16", "15/16"),
        ("all-to-all", "ring:8", "1"),
        ("all-to-all", "torus:4x4", "1/2"),
        ("all-to-all", "mesh:4x4", "1"),  # the middle: 64 of 16 · 15 pairs cross 4 links each way
        ("all-to-all", "mesh:1x5", "6/5"),  # 2 · 3 of them over one link, five blocks to a buffer
        ("all-to-all", "full:6", "1/6"),
        ("all-to-all", "bigraph:4x8", "5/4"),
        ("all-to-all", "leafspine:4x2x4", "3/2"),
        ("all-to-all", "dgx1", "1/3"),
        ("all-to-all", "hypercube:4", "1/2"),
        ("all-to-all", "torus:4x16", "2"),  # the links along the longer side; all links look the same
        ("all-to-all", "cayley:20@1+2", "5/6"),  # links of both generators, which look the same, have lengths of 1 and 2
    ],
)
def test_known_lengths(kind: str, spec: str, value: str) -> None:
    of = Instance(parse_topology(spec), Collective(CollectiveKind(kind)))
    bound = best_lengths(of, weighted_lengths(of))
    assert bound == best_lengths(of, weighted_lengths(of))
    assert check_bound(of, bound) == Fraction(value)


def test_multiplicative_weights_meet_the_dual_of_all_flows() -> None:
    """On small networks with capacities that differ both searches find the same bound, or one within a hundredth."""
    for seed in range(6):
        draw = np.random.default_rng(seed)
        links = [
            (u, v, int(draw.integers(1, 4)))
            for u in range(7)
            for v in range(7)
            if u != v and ((v - u) % 7 == 1 or draw.random() < 0.3)
        ]
        of = Instance(network("e" * 7, links), Collective(CollectiveKind.ALL_TO_ALL))
        exact = max(length_value(of, length) for length in roundings(_dual_lengths(of)))
        found = length_value(of, best_rounded(of, weighted_lengths(of)))
        assert Fraction(99, 100) * exact <= found <= exact * Fraction(1001, 1000)


def test_multiplicative_weights_beat_equal_lengths() -> None:
    graph = nx.random_regular_graph(3, 64, seed=1).to_directed()
    of = Instance(topology_from_graph(graph, "random"), Collective(CollectiveKind.ALL_TO_ALL))
    assert check_bound(of, best_lengths(of, weighted_lengths(of))) == Fraction(63, 32)
    assert length_value(of, np.ones(len(of.topology.src), np.int64)) < Fraction(3, 2)


def best(topology: Topology, collective: Collective) -> Fraction:
    found = [bound for bound in find_bounds(topology, collective) if bound["quantity"] == "bandwidth"]
    return check_bound(Instance(topology, collective), found[0])


@pytest.mark.parametrize("clique", [3, 4])
def test_barbells(clique: int) -> None:
    """Everything of one side crosses one link: rounds per chunk of an all-gather with one chunk a node, and all-to-all blocks."""
    topology = barbell(clique)
    assert best(topology, Collective(CollectiveKind.ALL_GATHER)) * 2 * clique == clique
    assert best(topology, Collective(CollectiveKind.ALL_TO_ALL)) * 2 * clique == clique**2
    assert best(topology, Collective(CollectiveKind.ALL_REDUCE)) == 1


@pytest.mark.parametrize("spec", ["switch:8", "fattree:8x8", "bigraph:4x8"])
def test_one_cable_an_endpoint(spec: str) -> None:
    topology = parse_topology(spec)
    count = len(topology.endpoints)
    for kind in ("gather", "scatter"):
        assert best(topology, Collective(CollectiveKind(kind), 3)) == Fraction(count - 1, count)
    for kind in ("broadcast", "reduce"):
        assert best(topology, Collective(CollectiveKind(kind), 3)) == 1
    assert best(topology, Collective(CollectiveKind.ALL_REDUCE)) == Fraction(2 * (count - 1), count)


def test_no_lengths_where_cuts_are_exact() -> None:
    for kind in ("all-gather", "reduce-scatter"):
        assert best_lengths(Instance(parse_topology("switch:4"), Collective(CollectiveKind(kind)))) is None


def test_links_that_look_the_same() -> None:
    assert len(set(classes_of_links(parse_topology("torus:4x4")).tolist())) == 1
    assert len(set(classes_of_links(parse_topology("switch:7")).tolist())) == 2  # up and down
    assert len(set(classes_of_links(parse_topology("dgx1")).tolist())) == 2  # by capacity
    path = classes_of_links(parse_topology("mesh:1x4"))
    assert len(set(path.tolist())) == 3  # inwards, outwards, in the middle
    marked = network("eess", [(*ends, 1) for u in (0, 1) for s in (2, 3) for ends in ((u, s), (s, u))], reducing=[2])
    assert len(np.unique(classes_of_links(marked))) == 4


@pytest.mark.parametrize("capacities", [(3, 1), (1, 3), (2, 5)])
def test_unequal_directions(capacities: tuple[int, int]) -> None:
    """On a ring that is wider one way round: the bound is one, whatever it is."""
    there, back = capacities
    ring = network("eeee", [(u, (u + 1) % 4, there) for u in range(4)] + [((u + 1) % 4, u, back) for u in range(4)])
    value = best(ring, Collective(CollectiveKind.ALL_REDUCE))
    assert value == max(Fraction(2 * 3, 4 * (there + back)), Fraction(1, there + back))
