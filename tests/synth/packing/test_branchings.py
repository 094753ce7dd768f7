"""Branchings: spanning, rooted as asked, within the links, and as many as the best cut allows."""

from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from certree.models.common.errors import UnsupportedError
from certree.models.machine.machine import load_machine
from certree.models.network.spec import parse_topology
from certree.models.network.topology import Topology
from certree.models.network.topology_graph import topology_from_graph
from certree.models.schedule.collective import Collective, CollectiveKind, parse_collective
from certree.synth.bounds.find import find_bounds
from certree.synth.method import Request, load_methods
from certree.synth.packing.branchings import KINDS, RootedNetwork
from certree.synth.packing.trees import NONE
from certree.verify.certificates.certificate import make_certificate
from certree.verify.checker import verify_schedule

MACHINE = load_machine("multitree")


@st.composite
def one_way_graphs(draw: st.DrawFn) -> Topology:
    """Directed cycles with random links besides, capacities 1 to 3, differing by direction."""
    nodes = draw(st.integers(2, 6))
    graph = nx.DiGraph((node, (node + 1) % nodes) for node in range(nodes))
    graph.add_edges_from((u, v) for u, v in draw(st.lists(st.tuples(*[st.integers(0, nodes - 1)] * 2), max_size=12)) if u != v)
    for u, v in sorted(graph.edges):
        graph.edges[u, v]["capacity"] = draw(st.integers(1, 3))
    return topology_from_graph(graph, "one-way")


@given(one_way_graphs(), st.sampled_from(KINDS), st.integers(1, 2))
@settings(max_examples=60)
def test_branchings_fit_just_up_to_the_cut(topology: Topology, kind: CollectiveKind, times: int) -> None:
    collective = Collective(kind, 0 if kind in (CollectiveKind.BROADCAST, CollectiveKind.REDUCE) else None)
    network = RootedNetwork(topology, collective)
    trees, period = (number * times for number in network.tight)
    family = network.pack(collective, trees, period, moves=0, seed=0)
    assert family is not None
    assert np.bincount(family.root, minlength=len(topology.kind))[network.roots].tolist() == [trees // len(network.roots)] * len(
        network.roots
    )
    parents = family.up if collective.reduces else family.down
    for root, above in zip(family.root.tolist(), parents.tolist(), strict=True):
        assert [node for node, parent in enumerate(above) if parent == NONE] == [root]
        assert nx.is_arborescence(nx.DiGraph((parent, node) for node, parent in enumerate(above) if parent != NONE))
    assert family.period <= period
    assert network.pack(collective, trees + len(network.roots), period, moves=0, seed=0) is None


@pytest.mark.parametrize(
    ("spec", "kind", "rounds_per_chunk"),
    [
        ("dgx1", "all-gather", "7/6"),
        ("dgx1", "reduce-scatter", "7/6"),
        ("mesh:8x8", "all-gather", "63/2"),
        ("torus:4x4", "all-gather", "15/4"),
    ],
)
def test_the_rates_of_forestcoll_as_schedules(spec: str, kind: str, rounds_per_chunk: str) -> None:
    topology, collective = parse_topology(spec), parse_collective(kind)
    schedule = load_methods()["packing"](Request(topology, collective, 64 << 20, MACHINE, options={"rate": "optimal"}))
    assert schedule.bandwidth_time * len(topology.endpoints) == Fraction(rounds_per_chunk)
    verdict = verify_schedule(
        schedule.with_certificate(make_certificate(schedule, find_bounds(topology, collective, schedule.delay)))
    )
    assert verdict.valid, verdict.violations
    assert verdict.quality is not None
    assert "bandwidth" in verdict.quality.optimal_in


@pytest.mark.parametrize(("kind", "root"), [("broadcast", 5), ("reduce", 0)])
def test_one_root(kind: str, root: int) -> None:
    """Broadcast of K chunks over four links of the root: a quarter of M/B, where a binomial tree takes at least M/B."""
    topology, collective = parse_topology("torus:4x4"), parse_collective(kind, root)
    schedule = load_methods()["packing"](Request(topology, collective, 64 << 20, MACHINE))
    verdict = verify_schedule(schedule)
    assert verdict.valid, verdict.violations
    assert schedule.bandwidth_time == Fraction(1, 4)


def test_what_is_not_covered() -> None:
    methods = load_methods()
    for spec, kind, why in [
        ("mesh:2x2", "all-to-all", "does not make all-to-all"),
    ]:
        with pytest.raises(UnsupportedError, match=why):
            methods["packing"](Request(parse_topology(spec), parse_collective(kind), 1 << 16, MACHINE))
    with pytest.raises(UnsupportedError, match="each of 4 roots as many chunks"):
        methods["packing"](Request(parse_topology("mesh:2x2"), parse_collective("all-gather"), 1 << 16, MACHINE, chunks=6))
