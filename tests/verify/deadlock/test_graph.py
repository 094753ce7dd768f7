"""Numberings and circles of channel dependencies, against networkx; and the small checker of numberings."""

from collections import Counter
from dataclasses import replace
from itertools import pairwise, product
from random import Random

import networkx as nx
import numpy as np
import pytest

from certree.models.common.errors import InputError, UnsupportedError
from certree.models.machine.machine import load_machine
from certree.models.network.spec import parse_topology
from certree.verify.deadlock.freedom import deadlock_of_packets
from certree.verify.deadlock.graph import circle_of, numbering_fault, numbers_of, waits_of
from certree.verify.deadlock.layers import layers_of
from certree.verify.deadlock.walks import Walks

FULL = parse_topology("full:6")
MASKS = (1, 2, 3, 4, 6, 7)


def random_walks(rng: Random) -> Walks:
    """Walks between any nodes of a full network, with any virtual channels."""
    routes = [rng.sample(range(6), rng.randint(2, 5)) for _ in range(rng.randint(1, 8))]
    pairs = [FULL.pair_index(np.array(route[:-1]), np.array(route[1:])) for route in routes]
    begin = np.concatenate(([0], np.cumsum([len(hops) for hops in pairs])))
    mask = np.array([rng.choice(MASKS) for _ in range(begin[-1])], np.uint64)
    flits = np.array([rng.randint(1, 9) for _ in routes], np.int64)
    return Walks(FULL, begin, np.concatenate(pairs), mask, flits)


def channels(walks: Walks, hop: int) -> list[tuple[int, int]]:
    """The channels of a hop, VC by VC."""
    return [(int(walks.pair[hop]), vc) for vc in range(64) if int(walks.mask[hop]) >> vc & 1]


def dependencies(walks: Walks) -> nx.DiGraph:
    """All dependencies, VC by VC."""
    graph = nx.DiGraph()
    for first, last in pairwise(walks.begin.tolist()):
        for one, next_one in pairwise(range(first, last)):
            graph.add_edges_from(product(channels(walks, one), channels(walks, next_one)))
    return graph


@pytest.mark.parametrize("seed", range(200))
def test_a_numbering_or_a_circle_is_right(seed: int) -> None:
    walks = random_walks(Random(seed))
    waits, graph = waits_of(walks), dependencies(walks)
    numbers, circle = numbers_of(waits), circle_of(waits)
    assert (numbers is not None) == nx.is_directed_acyclic_graph(graph) == (not circle)
    for edge, after in zip(circle, [*circle[1:], *circle[:1]], strict=True):
        assert waits.target[edge] == waits.source[after]
        (pair, bits), (next_pair, next_bits) = waits.channel(int(waits.source[edge])), waits.channel(int(waits.target[edge]))
        vcs, next_vcs = ([vc for vc in range(64) if mask >> vc & 1] for mask in (bits, next_bits))
        assert all(graph.has_edge((pair, a), (next_pair, b)) for a, b in product(vcs, next_vcs))
        nodes = list(pairwise(walks.nodes(int(waits.walk[edge]))))
        ends = [(int(FULL.pair_src[number]), int(FULL.pair_dst[number])) for number in (pair, next_pair)]
        assert nodes.index(ends[0]) + 1 == nodes.index(ends[1])


def numbering(walks: Walks) -> dict[tuple[int, int, int], int]:
    """The numbers of all channels, VC by VC, as the small checker takes them."""
    waits = waits_of(walks)
    found = numbers_of(waits)
    assert found is not None
    numbers = {}
    for channel in np.flatnonzero(waits.used).tolist():
        pair, bits = waits.channel(channel)
        for vc in (vc for vc in range(64) if bits >> vc & 1):
            numbers[int(FULL.pair_src[pair]), int(FULL.pair_dst[pair]), vc] = int(found[channel])
    return numbers


def test_small_checker_refuses_every_damaged_numbering() -> None:
    damaged = 0
    for seed in range(200):
        walks = random_walks(Random(seed))
        graph = dependencies(walks)
        if not nx.is_directed_acyclic_graph(graph):
            continue
        numbers = numbering(walks)
        assert numbering_fault(walks, numbers) is None
        for one, after in graph.edges:
            ends = [(int(FULL.pair_src[pair]), int(FULL.pair_dst[pair]), vc) for pair, vc in (one, after)]
            fault = numbering_fault(walks, numbers | {ends[1]: numbers[ends[0]]})
            assert fault is not None
            assert f"channel {ends[1]} has no larger number than {ends[0]}" in fault or "which waits for it" in fault
            damaged += 1
    assert damaged > 300


def test_an_absorbing_channel_must_hold_all_that_ever_comes() -> None:
    walks = random_walks(Random(3))
    everything = {
        (int(FULL.pair_src[pair]), int(FULL.pair_dst[pair]), vc)
        for hop in range(len(walks.pair))
        for pair, vc in channels(walks, hop)
    }
    loads = Counter[tuple[int, int]]()
    for hop, walk in enumerate(walks.walk_of_hop.tolist()):
        for channel in channels(walks, hop):
            loads[channel] += int(walks.flits[walk])
    load = max(loads.values())
    assert numbering_fault(walks, {}, load, frozenset(everything)) is None
    fault = numbering_fault(walks, {}, load - 1, frozenset(everything))
    assert fault is not None
    assert f"flits do not fit into a buffer of {load - 1}" in fault


@pytest.mark.parametrize("seed", range(60))
def test_no_layer_has_a_circle(seed: int) -> None:
    rng = Random(seed)
    routes = [rng.sample(range(7), rng.randint(1, 5)) for _ in range(rng.randint(0, 30))]
    layers = layers_of(routes)
    for layer in set(layers):
        graph = nx.DiGraph([wait for route, at in zip(routes, layers, strict=True) if at == layer for wait in pairwise(route)])
        assert nx.is_directed_acyclic_graph(graph)
    assert set(layers) == set(range(len(set(layers))))


def test_a_ring_needs_two_layers_and_a_line_one() -> None:
    assert set(layers_of([(a, (a + 1) % 4, (a + 2) % 4) for a in range(4)])) == {0, 1}
    assert set(layers_of([(0, 1, 2), (1, 2, 3)])) == {0}


def test_parting_ends_at_a_layer() -> None:
    """What is left is in that layer, which may have circles."""
    rounds = [(a, (a + step) % 7, (a + 2 * step) % 7) for step in (1, 2, 3) for a in range(7)]
    whole = layers_of(rounds)
    assert max(whole) > 1
    assert layers_of(rounds, 1) == [min(layer, 1) for layer in whole]
    assert layers_of(rounds, len(rounds)) == whole


def test_more_virtual_channels_than_a_set_has_bits_for_are_refused() -> None:
    machine = replace(load_machine("multitree"), vc_count=65)
    ends = np.array([0]), np.array([2]), np.array([4])
    with pytest.raises(UnsupportedError, match=r"65 virtual channels .*at most 64"):
        deadlock_of_packets(parse_topology("ring:4"), machine, *ends)
    assert deadlock_of_packets(parse_topology("ring:4"), replace(machine, vc_count=64), *ends).free


def test_a_route_that_waits_for_itself_has_no_layer() -> None:
    with pytest.raises(InputError, match="route 1 passes a link twice: its messages may wait for themselves"):
        layers_of([(0, 1), (4, 5, 4)])
