"""Paths and slots for all-to-all, gather and scatter: at the bounds, on any network, and what the paths themselves must keep."""

from fractions import Fraction

import networkx as nx
import numpy as np
import pytest

import certree.api as ct
from certree.models.fine.demand_slots import booked
from certree.models.fine.slots import fine_times
from certree.models.network.spec import parse_topology
from certree.models.network.topology_graph import topology_from_graph
from certree.models.schedule.collective import parse_collective
from certree.models.schedule.default_shares import chunk_owners
from certree.synth.flows.block_paths import balanced_paths, least_period, translated_paths
from certree.synth.flows.root_paths import root_paths
from certree.synth.packing.slotting import Clock
from certree.synth.symmetric.translations import cayley_of
from tests.bench.demands import mixture

AT_THE_BOUND = [
    ("torus:4x4", "1/2"),
    ("torus:3x4", "1/2"),
    ("torus:5x5", "3/5"),
    ("torus:8x8", "1"),
    ("mesh:4x4", "1"),
    ("mesh:3x3,without-node=4", "1"),
    ("hypercube:4", "1/2"),
    ("full:5", "1/5"),
    ("dgx1", "1/3"),
    ("switch:4", "3/4"),
]


@pytest.mark.parametrize(("network", "rate"), AT_THE_BOUND)
def test_all_to_all_at_its_bound(network, rate):
    made = ct.synthesize(network, "all-to-all", method="flows", size="64MiB")
    assert made.bandwidth_time == Fraction(rate)
    assert ct.bound(network, "all-to-all").bandwidth == Fraction(rate)
    assert ct.verify(made).valid


@pytest.mark.parametrize("collective", ["gather", "scatter"])
@pytest.mark.parametrize(
    "network",
    ["torus:4x4", "mesh:3x3", "dgx1", "ring:5", "fattree:2x3", "mesh:3x3,capacity=2", "mesh:3x3,without-link=0>1", "dgx2"],
)
def test_one_root_at_its_cut(network, collective):
    """Where the period's denominator is small the schedule repeats at the rate of the best cut, from any root."""
    for root in (0, 4):
        made = ct.synthesize(network, collective, root=root, method="flows", size="1GiB")
        assert made.bandwidth_time == ct.bound(network, collective, root=root).bandwidth


@pytest.mark.parametrize(
    ("network", "collective", "most"),
    [("mi250:2@switch", "gather", "1/176"), ("mi250:2@switch", "scatter", "1/176"), ("twisted-torus:4x4x8", "all-to-all", "55/96"),
     ("jellyfish:50x7x1", "all-to-all", "137/450"), ("torus:8x8,without-link=0-1", "all-to-all", "239/224")],
)  # fmt: skip
def test_rounds_that_are_nearly_whole(network, collective, most):
    """More copies where the rounds of the bound are not whole, other seeds for paths of one node, slots modulo the least period."""
    root = None if collective == "all-to-all" else 0
    made = ct.synthesize(network, collective, root=root, method="flows", size="1GiB")
    assert ct.verify(made).valid
    assert made.bandwidth_time <= Fraction(most)
    assert made.bandwidth_time <= Fraction(101, 100) * ct.bound(network, collective, root=root).bandwidth


@pytest.mark.parametrize("network", ["dgx2,without-link=0-16", "dgx1"])
def test_no_longer_ways_than_needed(network):
    """Paths with more hops at the same rate cost time: each step waits for the longest."""
    made = ct.synthesize(network, "all-to-all", method="flows", size="64MiB")
    cycles, bound = ct.simulate(made).cycles, ct.verify(made).quality.time[1]
    assert bound <= cycles <= 1.001 * bound


def random_network(seed: int):
    """A connected network of 5 to 9 endpoints with capacities of 1 to 3 that differ by direction."""
    draw = np.random.default_rng(seed)
    graph = nx.connected_watts_strogatz_graph(int(draw.integers(5, 10)), 4, 0.5, seed=seed).to_directed()
    for _, _, data in graph.edges(data=True):
        data["capacity"] = int(draw.integers(1, 4))
    return graph, topology_from_graph(graph, f"random {seed}")


def loads(topology, paths):
    """Blocks that each joined pair carries; every path is looked at link by link."""
    used = np.zeros(len(topology.pair_src), np.int64)
    np.add.at(used, paths.pair, 1)
    return used


def ends(topology, paths):
    """(first node, last node) of each path, none of which jumps or comes back to a node."""
    found = []
    for first, last in zip(paths.offset[:-1], paths.offset[1:], strict=True):
        pairs = paths.pair[first:last]
        nodes = [int(topology.pair_src[pairs[0]]), *topology.pair_dst[pairs].tolist()]
        assert topology.pair_src[pairs].tolist() == nodes[:-1]
        assert len(set(nodes)) == len(nodes)
        found.append((nodes[0], nodes[-1]))
    return found


@pytest.mark.parametrize("seed", range(12))
def test_paths_between_all_pairs(seed):
    _, topology = random_network(seed)
    nodes = len(topology.kind)
    source, target = chunk_owners(topology, parse_collective("all-to-all"), nodes * (nodes - 1))
    paths = balanced_paths(topology, source, target, seed, 24)
    assert ends(topology, paths) == list(zip(source.tolist(), target.tolist(), strict=True))
    assert paths.period == max(-(-loads(topology, paths) // topology.pair_capacity))
    own = np.arange(len(topology.pair_src), dtype=np.int32)
    size = np.ones(len(source), np.int64)
    assert least_period(topology, own, topology.pair_capacity, source, target, size) <= paths.period
    again = balanced_paths(topology, source, target, seed, 24)
    assert (again.pair == paths.pair).all()
    assert balanced_paths(topology, source, target, seed, 0).period >= paths.period


@pytest.mark.parametrize("seed", range(6))
def test_paths_of_blocks_that_differ_in_size(seed):
    """The period is what the fullest link takes for the sizes; no more than with paths for equal ones."""
    _, topology = random_network(seed)
    nodes = len(topology.kind)
    source, target = chunk_owners(topology, parse_collective("all-to-all"), nodes * (nodes - 1))
    size = np.random.default_rng(seed).integers(1, 1000, len(source))
    paths = balanced_paths(topology, source, target, seed, 24, size=size)
    load = np.zeros(len(topology.pair_src), np.int64)
    np.add.at(load, paths.pair, np.repeat(size, np.diff(paths.offset)))
    assert paths.period == max(-(-load // topology.pair_capacity))
    own = np.arange(len(topology.pair_src), dtype=np.int32)
    assert least_period(topology, own, topology.pair_capacity, source, target, size) <= paths.period
    evenly = balanced_paths(topology, source, target, seed, 24)
    blind = np.zeros(len(load), np.int64)
    np.add.at(blind, evenly.pair, np.repeat(size, np.diff(evenly.offset)))
    assert paths.period <= max(-(-blind // topology.pair_capacity))


@pytest.mark.parametrize(("network", "most"), [("dgx1", 1.01), ("torus:4x4", 1.005), ("fattree:4x4", 1.01)])
def test_a_mixture_of_experts_near_its_time_bound(network, most):
    topology = parse_topology(network)
    demand = ct.demand(mixture(len(topology.endpoints), 1).tolist(), topology)
    made = ct.synthesize(topology, ct.collective("alltoallv", demand=demand))
    cycles, bound = made_cycles(made), ct.verify(made).quality.time[1]
    assert bound <= cycles <= most * bound


def made_cycles(made):
    """The cycles of the transfers, booked one after the other."""
    return fine_times(booked(made, made.made_for.message_bytes, made.made_for.machine)).cycles


@pytest.mark.parametrize("inwards", [True, False])
@pytest.mark.parametrize("seed", range(12))
def test_paths_of_one_root_take_the_rounds_of_the_cut(seed, inwards):
    """The fewest rounds by networkx's maximum flow: one round less does not let all blocks through."""
    graph, topology = random_network(seed)
    copies, root = 1 + seed % 3, seed % len(topology.kind)
    paths = root_paths(topology, root, topology.endpoints, copies, inwards=inwards)
    others = [node for node in range(len(topology.kind)) if node != root] * copies
    assert ends(topology, paths) == [(node, root) if inwards else (root, node) for node in others]
    assert (loads(topology, paths) <= topology.pair_capacity * paths.period).all()
    flow = graph if inwards else graph.reverse()
    for rounds, fits in ((paths.period, True), (paths.period - 1, False)):
        scaled = nx.DiGraph()
        scaled.add_edges_from((u, v, {"capacity": data["capacity"] * rounds}) for u, v, data in flow.edges(data=True))
        scaled.add_edges_from(("all", node, {"capacity": copies}) for node in set(others))
        assert (nx.maximum_flow_value(scaled, "all", root) == len(others)) is fits


@pytest.mark.parametrize("network", ["torus:3x3", "torus:4x5", "hypercube:3", "full:6", "ring:7", "torus:2x3x4"])
def test_translated_paths_load_all_links_of_a_generator_equally(network):
    cayley = cayley_of(parse_topology(network))
    paths = translated_paths(cayley, 2, 0, 24)
    assert [end for _, end in ends(cayley.topology, paths)] == sorted([*range(1, cayley.nodes)] * 2)
    of_generator = np.bincount(cayley.kind[paths.pair], minlength=len(cayley.capacity))
    assert paths.period == max(-(-of_generator // cayley.capacity))
    image = cayley.action.carried(np.arange(cayley.nodes))
    tail, head = cayley.topology.pair_src[paths.pair], cayley.topology.pair_dst[paths.pair]
    everywhere = np.bincount(cayley.topology.pair_index(image[:, tail].ravel(), image[:, head].ravel()))
    assert (everywhere == of_generator[cayley.kind]).all()


def test_large_torus_takes_as_many_slots_as_its_fullest_link():
    """Kept as the paths of one node and a group: 512 nodes, 1.6 million transfers, 512 slots."""
    made = ct.synthesize("torus:8x8x8", "all-to-all", method="flows", options={"copies": "1", "delay": "1"}, size="64MiB")
    assert isinstance(made, ct.SymmetricSchedule)
    assert (made.steps, made.base.transfers, made.transfers) == (512, 3072, 1572864)
    assert made.bandwidth_time == 1
    assert ct.verify(made).quality.optimal_in == ("bandwidth",)


def test_folded_and_written_are_one_schedule():
    folded, written = (
        ct.synthesize("torus:4x4", "all-to-all", method="flows", options={"form": form, "copies": "1", "delay": "1"})
        for form in ("folded", "written")
    )
    assert ct.verify(folded.written_out()).valid
    assert (folded.transfers, folded.steps) == (written.transfers, written.steps)


@pytest.mark.parametrize(
    ("network", "options", "message"),
    [
        ("torus:32x32", {"copies": "1", "form": "written"}, "flows writes up to 2097152 transfers"),
        ("mesh:32x32", {"copies": "1"}, "flows routes up to 131072 blocks, with option copies up to 524288; here are 1047552"),
        ("mesh:3x3", {"form": "folded"}, "form=folded needs an all-to-all of all nodes of a network that looks the same"),
        ("ring:4", {"copies": "33"}, "copies='33'; allowed: 1 to 32"),
    ],
)
def test_what_is_too_large_is_refused(network, options, message):
    with pytest.raises(ct.InputError, match=message):
        ct.synthesize(network, "all-to-all", method="flows", options=options)


@pytest.mark.parametrize(
    ("network", "members", "size"),
    [
        ("mesh:3x4", None, 1 << 10),
        ("torus:4x4", (0, 1, 2, 5, 9, 12), 1 << 16),
        ("kautz:2x3", None, 1 << 24),
        ("h100:2", None, 1 << 20),
    ],
)
def test_slots_that_are_left_out_by_price_are_slower(network, members, size, monkeypatch) -> None:
    """The schedule is that of all delays and periods."""
    collective = ct.collective("all-to-all", members=members)
    made = ct.synthesize(network, collective, method="flows", size=size)
    monkeypatch.setattr(Clock, "least", lambda *_: 0)
    every = ct.synthesize(network, collective, method="flows", size=size)
    assert made.digest == every.digest
