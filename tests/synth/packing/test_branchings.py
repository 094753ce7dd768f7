"""Branchings: spanning, rooted as asked, within the links, and as many as the best cut allows."""

from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certree.models.network.topology import Topology
from certree.models.schedule.collective import Collective, CollectiveKind
from certree.synth import _native
from certree.synth.packing.branchings import KINDS, RootedNetwork
from certree.synth.packing.trees import NONE
from tests.drawn import examples
from tests.networks import one_way
from tests.synth.execution import certified, make, valid


@given(one_way(), st.sampled_from(KINDS), st.integers(1, 2))
@examples(60)
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
    schedule = make("packing", spec, kind, message_bytes=64 << 20, options={"rate": "optimal"})
    assert schedule.bandwidth_time * len(schedule.topology.endpoints) == Fraction(rounds_per_chunk)
    assert "bandwidth" in certified(schedule).optimal_in


@pytest.mark.parametrize(("kind", "root"), [("broadcast", 5), ("reduce", 0)])
def test_one_root(kind: str, root: int) -> None:
    """Broadcast of K chunks over four links of the root: a quarter of M/B, where a binomial tree takes at least M/B."""
    assert valid("packing", "torus:4x4", kind, message_bytes=64 << 20, root=root).bandwidth_time == Fraction(1, 4)


def test_a_network_whose_flows_are_not_kept() -> None:
    """A ring of 2,400 nodes: a flow to each of them would be 23 million amounts. Two branchings take both directions in part."""
    nodes = np.arange(2400, dtype=np.int32)
    tail, head = np.concatenate((nodes, nodes)), np.concatenate((np.roll(nodes, -1), np.roll(nodes, 1)))
    roots = np.zeros(2, np.int32)
    parents = _native.pack_branchings(nodes=2400, tail=tail, head=head, capacity=np.ones(4800, np.int64), roots=roots)
    arcs = [(above, node) for row in parents.tolist() for node, above in enumerate(row) if above != NONE]
    assert len(arcs) == len(set(arcs)) == 2 * 2399
    assert all(nx.is_arborescence(nx.DiGraph(arcs[i * 2399 : (i + 1) * 2399])) for i in range(2))
