"""Disjoint branchings: as many as the narrowest cut has lanes, each spanning, none over more links than it must."""

from itertools import pairwise

import networkx as nx
import numpy as np
import pytest

from certree.models.network.spec import parse_topology
from certree.models.network.topology import Topology
from certree.synth.graphs.shallow_branchings import NONE, most_branchings, shallow_branchings
from tests.verify.build import network

NETWORKS = [
    "ring:5", "mesh:3x4", "torus:4x4", "torus:4x4,without-link=0-1", "dgx1", "full:5", "cayley:10@1+3", "ace-torus:4x2x2",
    "mesh:3x3,without-node=4",
]  # fmt: skip


def digraph(topology: Topology, *, inward: bool) -> nx.DiGraph:
    graph, ends = nx.DiGraph(), (topology.pair_src.tolist(), topology.pair_dst.tolist())
    for src, dst, lanes in zip(*(ends[::-1] if inward else ends), topology.pair_capacity.tolist(), strict=True):
        graph.add_edge(src, dst, capacity=lanes)
    return graph


def hops(before: np.ndarray, root: int) -> list[int]:
    """Links between the root and each node of a tree; fails where there is a circle."""
    tree = nx.DiGraph((int(up), node) for node, up in enumerate(before.tolist()) if up != NONE)
    assert nx.is_arborescence(tree)
    return list(nx.single_source_shortest_path_length(tree, root).values())


@pytest.mark.parametrize("inward", [False, True])
@pytest.mark.parametrize("network", NETWORKS)
def test_as_many_as_every_cut_allows(network: str, inward: bool) -> None:
    topology, root = parse_topology(network), 1
    graph = digraph(topology, inward=inward)
    most = most_branchings(topology, root, inward=inward)
    others = [node for node in topology.endpoints.tolist() if node != root]
    assert most == min(nx.maximum_flow_value(graph, root, node) for node in others)
    one = np.ones(len(topology.pair_src), np.int64)
    for count in {1, most}:
        taken = dict.fromkeys(graph.edges, 0)
        for before in shallow_branchings(topology, root, count, one, 0, inward=inward):
            assert len(hops(before, root)) == len(topology.endpoints)
            for node in others:
                taken[int(before[node]), node] += 1
        assert all(number <= graph.edges[link]["capacity"] for link, number in taken.items())


def test_random_networks() -> None:
    """Links in one direction only, each with up to three lanes."""
    for seed in range(20):
        graph = nx.gnp_random_graph(9, 0.3, seed=seed, directed=True)
        nx.add_cycle(graph, range(9))
        widths = np.random.default_rng(seed).integers(1, 4, graph.number_of_edges())
        rows = [(src, dst, int(width)) for (src, dst), width in zip(graph.edges, widths, strict=True)]
        topology = network("e" * 9, rows)
        flows = digraph(topology, inward=False)
        most = most_branchings(topology, 0)
        assert most == min(nx.maximum_flow_value(flows, 0, node) for node in range(1, 9))
        found = shallow_branchings(topology, 0, most, np.ones(len(topology.pair_src), np.int64), seed)
        assert all(len(hops(before, 0)) == 9 for before in found)


def test_one_tree_has_shortest_paths() -> None:
    """Paths are shortest by cycles: over the short links of a package first."""
    topology = parse_topology("ace-torus:4x2x2")
    hop = np.where(topology.pair_capacity == topology.pair_capacity.max(), 1, 100)
    (before,) = shallow_branchings(topology, 0, 1, hop, 3)
    graph = digraph(topology, inward=False)
    for (src, dst), cycles in zip(zip(topology.pair_src, topology.pair_dst, strict=True), hop.tolist(), strict=True):
        graph.edges[int(src), int(dst)]["cycles"] = cycles
    for node in range(1, 16):
        path = [node]
        while path[-1]:
            path.append(int(before[path[-1]]))
        taken = sum(graph.edges[up, down]["cycles"] for down, up in pairwise(path))
        assert taken == nx.shortest_path_length(graph, 0, node, weight="cycles")


def test_trees_that_grow_together_are_shallow() -> None:
    """Four on a torus 8x8: some node is 7 hops away, and one of its links comes from one that is 8 away: 9 hops at least."""
    topology, one = parse_topology("torus:8x8"), np.ones(256, np.int64)
    deepest = [max(max(hops(before, 0)) for before in shallow_branchings(topology, 0, 4, one, seed)) for seed in range(20)]
    assert min(deepest) <= 11
    again = [shallow_branchings(topology, 0, 4, one, 7) for _ in range(2)]
    assert (again[0] == again[1]).all()
