"""The best cut against all cuts, and against known rates."""

from fractions import Fraction
from itertools import combinations
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from certree.models.common.errors import UnsupportedError
from certree.models.network.spec import parse_topology
from certree.models.network.topology import NodeKind, Topology
from certree.models.schedule.collective import Collective, parse_collective
from certree.synth.graphs import cuts
from certree.synth.graphs.cuts import best_cut
from certree.verify.bounds.witness import Instance, WitnessError, check_bound, make_bound
from tests.verify.schedules import random_network

GATHER, SCATTER = parse_collective("all-gather"), parse_collective("reduce-scatter")


def network(name: str, nodes: int, links: list[tuple[int, int, int]], switches: tuple[int, ...] = ()) -> Topology:
    kind = [NodeKind.SWITCH if node in switches else NodeKind.ENDPOINT for node in range(nodes)]
    src, dst, capacity = (np.array(column, np.int32) for column in zip(*links, strict=True))
    return Topology(name, np.array(kind, np.int8), src, dst, capacity, np.full(len(src), -1, np.int32))


def barbell(clique: int) -> Topology:
    """Two complete graphs joined by one link each way."""
    pairs = [(a + start, b + start, 1) for start in (0, clique) for a in range(clique) for b in range(clique) if a != b]
    return network(f"barbell {clique}", 2 * clique, [*pairs, (0, clique, 1), (clique, 0, 1)])


def value_of(topology: Topology, collective: Collective, inside: set[int]) -> Fraction:
    """The cut bound of one set, from its definition."""
    outward = collective == SCATTER
    crossing = 0
    for src, dst, capacity in zip(topology.src.tolist(), topology.dst.tolist(), topology.capacity.tolist(), strict=True):
        enters = (dst in inside and src not in inside) if not outward else (src in inside and dst not in inside)
        crossing += capacity * enters
    endpoints = topology.endpoints.tolist()
    return Fraction(sum(node not in inside for node in endpoints), len(endpoints) * crossing)


def best_of_all(topology: Topology, collective: Collective) -> Fraction:
    """By trying every set with endpoints on both sides."""
    nodes, ends = range(len(topology.kind)), set(topology.endpoints.tolist())
    subsets = (set(some) for size in range(1, len(nodes)) for some in combinations(nodes, size))
    return max(value_of(topology, collective, some) for some in subsets if some & ends and ends - some)


@st.composite
def networks(draw: st.DrawFn) -> Topology:
    """Up to 7 nodes on a one-way circle, with more links, capacities and switches at will."""
    nodes = draw(st.integers(2, 7))
    capacity = st.integers(1, 4)
    links = [(node, (node + 1) % nodes, draw(capacity)) for node in range(nodes)]
    node = st.integers(0, nodes - 1)
    for src, hop in draw(st.lists(st.tuples(node, st.integers(1, nodes - 1)), max_size=12)):
        links.append((src, (src + hop) % nodes, draw(capacity)))
    return network("drawn", nodes, links, tuple(draw(st.sets(st.integers(2, 6)))))


@settings(max_examples=150)
@given(networks(), st.sampled_from([GATHER, SCATTER]))
def test_no_set_is_better_and_the_witness_has_the_value(topology: Topology, collective: Collective) -> None:
    bound = best_cut(topology, collective)
    assert (bound["kind"], bound["quantity"]) == ("cut", "bandwidth")
    assert value_of(topology, collective, set(bound["witness"]["set"])) == Fraction(bound["value"])
    assert best_of_all(topology, collective) == Fraction(bound["value"])
    assert best_cut(topology, collective) == bound


@pytest.mark.parametrize("collective", [GATHER, SCATTER])
@pytest.mark.parametrize(
    ("topology", "rounds_per_chunk"),
    [
        (parse_topology("torus:4x4"), Fraction(15, 4)),
        (parse_topology("torus:8x8"), Fraction(63, 4)),
        (parse_topology("mesh:8x8"), Fraction(63, 2)),
        (parse_topology("full:9"), Fraction(1)),
        (parse_topology("torus:8x8,without-link=3-4"), Fraction(63, 3)),
        (parse_topology("mesh:8x8,without-node=0"), Fraction(62, 2)),
        (barbell(3), Fraction(3)),
        (barbell(4), Fraction(4)),
    ],
    ids=lambda value: getattr(value, "name", str(value)),
)
def test_known_rates(topology: Topology, collective: Collective, rounds_per_chunk: Fraction) -> None:
    assert Fraction(best_cut(topology, collective)["value"]) * len(topology.endpoints) == rounds_per_chunk


def test_the_clique_behind_the_thin_link_is_the_witness() -> None:
    assert best_cut(barbell(4), GATHER)["witness"]["set"] == [0, 1, 2, 3]


def test_direction_matters() -> None:
    into_1 = network("one way", 3, [(0, 1, 1), (1, 2, 5), (2, 0, 5), (1, 0, 5)])
    assert Fraction(best_cut(into_1, GATHER)["value"]) == Fraction(2, 3)
    assert best_cut(into_1, GATHER)["witness"]["set"] == [1]
    assert Fraction(best_cut(into_1, SCATTER)["value"]) == Fraction(2, 3)
    assert best_cut(into_1, SCATTER)["witness"]["set"] == [0]


def test_an_all_reduce_has_no_cut_bound() -> None:
    with pytest.raises(UnsupportedError, match="all-reduce has none"):
        best_cut(parse_topology("ring:4"), parse_collective("all-reduce"))


def test_single_endpoints_where_flows_would_take_too_long(monkeypatch):
    """The bridge of a barbell needs a flow; without flows the bound is that of a single node."""
    assert best_cut(barbell(4), GATHER)["value"] == "1/2"
    monkeypatch.setattr(cuts, "FLOW_WORK", 10)
    alone = best_cut(barbell(4), GATHER)
    assert (alone["value"], len(alone["witness"]["set"])) == ("7/24", 1)


@pytest.mark.parametrize("kind", ["broadcast", "reduce", "gather", "scatter"])
@pytest.mark.parametrize("seed", range(25))
def test_best_cut_of_collectives_with_one_root(kind, seed):
    """Against every set of nodes on small random networks, switches included."""
    topology = random_network(Random(seed))
    of = Instance(topology, parse_collective(kind, int(topology.endpoints[seed % len(topology.endpoints)])))
    existing = np.flatnonzero(of.exists).tolist()
    values = []
    for size in range(1, len(existing)):
        for inside in combinations(existing, size):
            try:
                values.append(Fraction(make_bound(of, "cut", {"set": list(inside)})["value"]))
            except WitnessError:
                continue
    assert check_bound(of, best_cut(topology, of.collective)) == max(values)
