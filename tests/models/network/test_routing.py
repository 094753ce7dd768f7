"""Routes: shortest, whole, through forwarding nodes only, and spread as a fat tree spreads them."""

from itertools import pairwise

import numpy as np
import pytest

from certree.models.common.errors import UnsupportedError
from certree.models.network.routing import DIRECT, routes_between
from certree.models.network.spec import parse_topology
from certree.models.network.topology import NodeKind
from tests.models.examples import network

NETWORKS = ["switch:5", "fattree:4x4", "fattree:2x3", "bigraph:2x4", "torus:4x5", "mesh:3x3,without-node=4", "hypercube:3"]


def all_pairs(topology):
    ends = topology.endpoints
    return tuple(side[~np.eye(len(ends), dtype=bool)] for side in np.meshgrid(ends, ends, indexing="ij"))


def nodes_of(topology, route):
    """The nodes a route passes, once its links are a chain."""
    assert all(topology.dst[a] == topology.src[b] for a, b in pairwise(route))
    return [int(topology.src[route[0]]), *(int(topology.dst[link]) for link in route)]


def shortest(topology, src, dst):
    """Hops of the shortest path from src to dst inside which every node forwards, by plain search."""
    seen, frontier, hops = {src}, [src], 0
    while dst not in seen:
        frontier = [n for at in frontier if at == src or topology.forwards[at] for n in topology.neighbours(at) if n not in seen]
        seen.update(frontier)
        hops += 1
    return hops


@pytest.mark.parametrize("spec", NETWORKS)
def test_every_pair_has_a_shortest_route(spec):
    topology = parse_topology(spec)
    src, dst = all_pairs(topology)
    column, routes = routes_between(topology, src, dst)
    neighbours = topology.pair_index(src, dst) >= 0
    assert ((column == DIRECT) == neighbours).all()
    assert sorted(column[~neighbours].tolist()) == list(range(len(routes)))
    for a, b, index in zip(src.tolist(), dst.tolist(), column.tolist(), strict=True):
        if index != DIRECT:
            path = nodes_of(topology, routes[index])
            assert (path[0], path[-1]) == (a, b)
            assert len(path) - 1 == shortest(topology, a, b)
            assert topology.forwards[path[1:-1]].all()


def test_rows_with_the_same_ends_share_a_route():
    column, routes = routes_between(parse_topology("switch:3"), np.array([2, 0, 2, 1]), np.array([1, 1, 1, 2]))
    assert column.tolist() == [2, 0, 2, 1]
    assert len(routes) == 3


@pytest.mark.parametrize("spec", ["fattree:4x4", "fattree:8x8", "fattree:4x6", "switch:8"])
def test_a_shift_of_all_ranks_has_every_link_once(spec):
    """i -> i + k of all ranks at once: a permutation that full bisection carries in one round."""
    topology = parse_topology(spec)
    count = len(topology.endpoints)
    rank = np.arange(count)
    for shift in range(1, count):
        _, routes = routes_between(topology, rank, (rank + shift) % count)
        load = np.bincount(np.concatenate(routes), minlength=len(topology.src))
        assert load.max() == 1


def test_on_a_grid_columns_come_before_rows():
    """Dimension order, X before Y; at half the way round a torus towards larger numbers."""
    torus = parse_topology("torus:4x4")
    column, routes = routes_between(torus, np.array([0, 0, 15]), np.array([5, 10, 0]))
    paths = [nodes_of(torus, routes[index]) for index in column]
    assert paths == [[0, 1, 5], [0, 1, 2, 6, 10], [15, 12, 0]]


def test_parallel_links_are_ways_of_their_own():
    """Two switches joined by three links: destinations take them in turn."""
    links = [link for end in range(4) for switch in [4 + end // 2] for link in ((end, switch), (switch, end))]
    links += [link for _ in range(2) for link in ((4, 5), (5, 4))]
    pair = network(6, links, kind=np.array([0, 0, 0, 0, 1, 1], np.int8))
    _, routes = routes_between(pair, np.array([0, 1]), np.array([2, 3]))
    assert len({route[1] for route in routes}) == 2


def test_only_switches_forward_beside_switches():
    """0 - 1 - 2 in a row with 0 and 1 on a switch: on a network with switches no endpoint passes on what is not its own."""
    links = [(0, 3), (3, 0), (1, 3), (3, 1), (1, 2), (2, 1)]
    mixed = network(4, links, kind=np.array([0, 0, 0, 1], np.int8))
    assert mixed.forwards.tolist() == [False, False, False, True]
    with pytest.raises(UnsupportedError, match="no route from node 0 to node 2"):
        routes_between(mixed, np.array([0]), np.array([2]))


def test_removed_nodes_forward_nothing():
    mesh = parse_topology("mesh:3x3,without-node=4")
    assert mesh.forwards.tolist() == [kind != NodeKind.ABSENT for kind in mesh.kind.tolist()]


def test_a_row_to_itself_is_refused():
    with pytest.raises(UnsupportedError, match="row 1 leads from node 2 to itself"):
        routes_between(parse_topology("switch:4"), np.array([0, 2]), np.array([1, 2]))
