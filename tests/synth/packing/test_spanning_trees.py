"""Spanning-tree packing: against brute force over all partitions, and the shapes it promises."""

from fractions import Fraction
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certree.models.common.errors import UnsupportedError
from certree.models.network.spec import parse_topology
from certree.models.network.topology import NodeKind, Topology
from certree.models.network.topology_graph import topology_from_graph
from certree.models.schedule.collective import parse_collective
from certree.synth.bounds.find import find_bounds
from certree.synth.packing import spanning_trees as packing
from certree.synth.packing.slotting import SlotRules, assign_slots
from certree.synth.packing.spanning_trees import Network
from certree.verify.bounds.instance import Instance
from certree.verify.bounds.witness import check_bound
from tests.drawn import examples
from tests.networks import both_ways
from tests.synth.execution import certified, make, valid

ALL_REDUCE = parse_collective("all-reduce")


def partitions(items: list[int]) -> list[list[list[int]]]:
    """All set partitions."""
    if not items:
        return [[]]
    found = []
    for smaller in partitions(items[1:]):
        found += [[*smaller[:i], [items[0], *smaller[i]], *smaller[i + 1 :]] for i in range(len(smaller))]
        found.append([[items[0]], *smaller])
    return found


def strength_by_brute_force(topology: Topology) -> Fraction:
    """Minimum of capacity(between parts) / (parts - 1) over every partition."""
    best = None
    for parts in partitions(topology.endpoints.tolist()):
        if len(parts) < 2:
            continue
        part_of = {node: index for index, part in enumerate(parts) for node in part}
        crossing = sum(
            int(capacity)
            for u, v, capacity in zip(topology.src, topology.dst, topology.capacity, strict=True)
            if u < v and part_of[int(u)] != part_of[int(v)]
        )
        ratio = Fraction(crossing, len(parts) - 1)
        best = ratio if best is None else min(best, ratio)
    assert best is not None
    return best


@given(both_ways())
@examples(60)
def test_strength_is_the_minimum_over_all_partitions(topology: Topology) -> None:
    network = Network(topology)
    assert network.strength == strength_by_brute_force(topology)
    bounds = [bound for bound in find_bounds(topology, ALL_REDUCE) if bound["kind"] == "partition"]
    assert [check_bound(Instance(topology, ALL_REDUCE), bound) for bound in bounds] == [1 / network.strength]


@given(both_ways(20))
@examples(40)
def test_trials_in_short_periods_change_no_strength(topology: Topology) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(packing, "COARSE", ())
        expected = Network(topology).strength
    assert Network(topology).strength == expected


def test_a_short_period_finds_a_narrow_border_early(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = nx.disjoint_union(nx.complete_graph(12), nx.complete_graph(12))
    nx.add_path(graph, (0, 12, 1, 13))
    network, asked = Network(topology_from_graph(graph, "two cliques")), []
    pack = network._pack
    monkeypatch.setattr(network, "_pack", lambda trees, period, **rest: asked.append(trees) or pack(trees, period, **rest))
    assert network.strength == 3
    assert max(asked) < 50  # single nodes allow 135 trees in 23 rounds


@given(both_ways(), st.integers(1, 5), st.integers(0, 3))
@examples(60)
def test_packed_trees_span_and_keep_the_capacity(topology: Topology, multiple: int, seed: int) -> None:
    network = Network(topology)
    trees, period = network.strength.numerator * multiple, network.strength.denominator * multiple
    family = network.pack(ALL_REDUCE, trees, period, moves=200, seed=seed)
    assert family is not None
    assert family.chunks == trees
    uses: dict[tuple[int, int], int] = {}
    for up in family.up:
        tree = nx.Graph((node, int(parent)) for node, parent in enumerate(up.tolist()) if parent >= 0)
        assert nx.is_tree(tree)
        assert set(tree) == set(topology.endpoints.tolist())
        for u, v in tree.edges:
            uses[min(u, v), max(u, v)] = uses.get((min(u, v), max(u, v)), 0) + 1
    for (u, v), count in uses.items():
        pair = topology.pair_index(np.array([u]), np.array([v]))[0]
        assert count <= period * topology.pair_capacity[pair]
    assert network.pack(ALL_REDUCE, trees + 1, period, moves=0, seed=seed) is None  # one more than the strength allows


@pytest.mark.parametrize(
    ("spec", "strength"),
    [
        ("mesh:8x8", Fraction(16, 9)),
        ("mesh:4x4", Fraction(8, 5)),
        ("torus:8x8", Fraction(128, 63)),
        ("torus:8x8,without-link=3-4", Fraction(127, 63)),
        ("mesh:16x16", Fraction(32, 17)),
        ("ring:6", Fraction(6, 5)),
        ("torus:4x4,capacity=3", Fraction(32, 5)),
        ("mesh:3x3,capacity=1048576", Fraction(1048576 * 3, 2)),
        ("torus:4x4,without-node=5", Fraction(2)),
    ],
)
def test_known_strengths(spec: str, strength: Fraction) -> None:
    assert Network(parse_topology(spec)).strength == strength


def test_trees_on_a_mesh_are_as_shallow_as_trees_can_be() -> None:
    network = Network(parse_topology("mesh:8x8"))
    family = network.pack(ALL_REDUCE, 16, 9, moves=60_000, seed=0)
    assert family is not None
    assert family.chain == 2 * network.radius == 16


def test_trees_of_a_torus_less_a_few_nodes_have_many_roots() -> None:
    network = Network(parse_topology("torus:8x8,without-node=2,without-node=35"))
    family = network.pack(ALL_REDUCE, *network.tight, moves=60_000, seed=0)
    assert family is not None
    assert (network.tight, network.radius) == ((120, 61), 7)
    assert len(np.unique(family.root)) > network.size // 2
    slots, _ = assign_slots(family, SlotRules(2, 61, 0), work=30 * len(family.transfers.chunk))
    assert slots is not None
    assert slots.max() < 3 * 61


def test_absent_nodes_stay_out() -> None:
    topology = parse_topology("mesh:3x3,without-node=4")
    family = Network(topology).pack(ALL_REDUCE, 8, 7, moves=0, seed=0)
    assert family is not None
    assert (family.up[:, topology.kind == NodeKind.ABSENT] == -1).all()


@pytest.mark.parametrize("seed", [0, 3])
def test_a_random_regular_graph_is_packed_at_its_strength(seed: int, tmp_path: Path) -> None:
    path = tmp_path / "graph.graphml"
    nx.write_graphml(nx.random_regular_graph(4, 64, seed=seed), path)
    quality = certified(make("packing", str(path), message_bytes=64 << 20, options={"rate": "optimal"}))
    assert quality.optimal_in == ("bandwidth",)
    assert quality.bandwidth_time == Fraction(63, 128)


def test_capacities_without_a_common_measure() -> None:
    graph = nx.cycle_graph(5)
    for index, (u, v) in enumerate(sorted(graph.edges)):
        graph.edges[u, v]["capacity"] = 1_000_003 + 2 * index
    topology = topology_from_graph(graph, "odd")
    network = Network(topology)
    assert not network.is_strength_proved
    bound = next(bound for bound in find_bounds(topology, ALL_REDUCE) if bound["kind"] == "partition")
    assert check_bound(Instance(topology, ALL_REDUCE), bound) == 1 / network.strength
    valid("packing", topology)
    with pytest.raises(UnsupportedError, match="allowed: up to 4096"):
        make("packing", topology, options={"rate": "optimal"})
