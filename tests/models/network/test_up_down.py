"""Up*/down* routes are the shortest of their kind, and their channels never wait in a circle."""

from itertools import pairwise, product
from random import Random

import networkx as nx
import pytest

from certree.models.network.spec import parse_topology
from certree.models.network.topology import Topology
from certree.models.network.up_down import UpDown
from tests.verify.deadlock.drawn import drawn_network
from tests.verify.deadlock.routers import switch_ring


def shortest(topology: Topology, up_down: UpDown) -> nx.DiGraph:
    """Places of packets: a node, and whether the packet may still go up; links between them."""
    graph = nx.DiGraph()
    for link, (a, b) in enumerate(zip(topology.src.tolist(), topology.dst.tolist(), strict=True)):
        if up_down.up[link]:
            graph.add_edge((a, True), (b, True))
        else:
            graph.add_edges_from([((a, True), (b, False)), ((a, False), (b, False))])
    return graph


def check(topology: Topology) -> None:
    up_down = UpDown(topology)
    graph, waits = shortest(topology, up_down), nx.DiGraph()
    forwards = topology.forwards
    for start, end in product(topology.endpoints.tolist(), repeat=2):
        if start == end:
            continue
        route = up_down.route(start, end)
        assert route is not None
        nodes = [start, *(int(topology.dst[link]) for link in route)]
        assert nodes == [*(int(topology.src[link]) for link in route), end]
        assert all(forwards[node] for node in nodes[1:-1])
        assert not any(up_down.up[after] and not up_down.up[before] for before, after in pairwise(route))
        inner = graph.subgraph(place for place in graph if forwards[place[0]] or place[0] in (start, end))
        lengths = nx.single_source_shortest_path_length(inner, (start, True))
        assert len(route) == min(lengths[place] for place in ((end, True), (end, False)) if place in lengths)
        waits.add_edges_from(pairwise(route))
    assert nx.is_directed_acyclic_graph(waits)


@pytest.mark.parametrize("seed", range(8))
def test_routes_of_random_switches(seed: int) -> None:
    rng = Random(seed)
    topology = drawn_network(rng)
    while len(topology.endpoints) > 12:
        topology = drawn_network(rng)
    check(topology)


@pytest.mark.parametrize("spec", ["ring:5", "torus:3x3", "cayley:10@1+3", "bigraph:2x4", "dgx2:2", "fattree:2x4"])
def test_routes_of_networks_by_name(spec: str) -> None:
    check(parse_topology(spec))


def test_links_in_one_direction_have_none() -> None:
    assert UpDown(switch_ring()).route(0, 3) is None or UpDown(switch_ring()).route(3, 0) is None
