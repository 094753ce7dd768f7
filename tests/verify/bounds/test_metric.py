"""Lengths of links as a witness: values by hand and by plain search, what is refused, soundness where switches reduce."""

import itertools
from fractions import Fraction
from random import Random
from typing import Any

import networkx as nx
import numpy as np
import pytest

from certree.models.network.spec import parse_topology
from certree.models.network.topology import Topology
from certree.models.schedule.collective import WITH_ONE_ROOT, WITH_TARGETS, Collective, CollectiveKind
from certree.verify.bounds.instance import Instance
from certree.verify.bounds.witness import WitnessError, check_bound, make_bound
from certree.verify.bounds.witnesses import metric
from certree.verify.checker import verify_schedule
from certree.verify.verdict import Quality
from tests.drawn import examples, given_at_least, rngs
from tests.verify.build import COPY, REDUCE, build, network
from tests.verify.schedules import random_collective, random_network


def instance(topology: Topology | str, kind: str, root: int = 0) -> Instance:
    known = parse_topology(topology) if isinstance(topology, str) else topology
    return Instance(known, Collective(CollectiveKind(kind), root if kind in WITH_ONE_ROOT else None))


def both_ways(*pairs: tuple[int, int]) -> list[tuple[int, int, int]]:
    return [(*ends, 1) for u, v in pairs for ends in ((u, v), (v, u))]


def value(of: Instance, length: list[int]) -> Fraction:
    return Fraction(make_bound(of, "metric", {"length": length})["value"])


def equal(of: Instance) -> Fraction:
    return value(of, [1] * len(of.topology.src))


@pytest.mark.parametrize("nodes", [2, 3, 8, 24])
def test_a_single_switch(nodes: int) -> None:
    """Every message takes one link into the switch and one out of it."""
    assert equal(instance(f"switch:{nodes}", "all-reduce")) == Fraction(2 * (nodes - 1), nodes)
    for kind in ("all-gather", "reduce-scatter", "all-to-all"):
        assert equal(instance(f"switch:{nodes}", kind)) == Fraction(nodes - 1, nodes)


@pytest.mark.parametrize(
    ("spec", "kind", "expected"),
    [
        ("mesh:8x8", "all-reduce", "9/16"),
        ("torus:8x8", "all-reduce", "63/128"),
        ("dgx1", "all-reduce", "7/24"),  # 14 messages over 16 links of capacity 1 and 16 of capacity 2
        ("ring:8", "all-to-all", "1"),  # 16 hops from each node to the others, 8 nodes, 16 links, 8 blocks
        ("ring:8", "gather", "1/8"),  # 16 hops over 16 links, 8 blocks
        ("ring:8", "broadcast", "7/16"),
        ("ring:8", "reduce", "7/16"),
        ("full:5", "all-to-all", "1/5"),
    ],
)
def test_equal_lengths(spec: str, kind: str, expected: str) -> None:
    assert equal(instance(spec, kind)) == Fraction(expected)


def test_lengths_find_the_links_that_matter() -> None:
    """A root switch above two switches with two endpoints each, its cables of capacity 1: half of every block crosses them."""
    tree = network("eeeesss", both_ways((0, 4), (1, 4), (2, 5), (3, 5), (4, 6), (5, 6)))
    upper = [int(min(u, v) >= 4) for u, v in zip(tree.src.tolist(), tree.dst.tolist(), strict=True)]
    assert value(instance(tree, "all-to-all"), upper) == Fraction(8 * 2, 4 * 4)
    assert value(instance(tree, "all-reduce"), upper) == Fraction(2 * 2, 4)  # one join of length 2
    assert value(instance(tree, "all-reduce"), [1 - flag for flag in upper]) == Fraction(2 * 3 * 2, 8)


@given_at_least(40, rngs)
@examples(60)
def test_against_a_plain_search(rng: Random) -> bool:
    """All thresholds one by one on networkx graphs, and all pairs of distances."""
    topology = random_network(rng)
    of = Instance(topology, random_collective(rng, topology))
    length = [rng.choice((0, 1, 1, 2, 7)) for _ in topology.src]
    graph = nx.DiGraph()
    graph.add_nodes_from(range(len(topology.kind)))
    for u, v, step in zip(topology.src.tolist(), topology.dst.tolist(), length, strict=True):
        graph.add_edge(u, v, step=min(step, graph.edges[u, v]["step"]) if graph.has_edge(u, v) else step)
    far = dict(nx.all_pairs_dijkstra_path_length(graph, weight="step"))
    ends, count = topology.endpoints.tolist(), len(topology.endpoints)
    if of.collective.has_targets:
        pairs = [(s, t) for s in ends for t in ends if of.sources[topology.rank[s]] and of.sinks[topology.rank[t]]]
        need = Fraction(sum(far[s][t] for s, t in pairs), count)
    else:
        holders = np.flatnonzero(topology.holds).tolist()
        need = Fraction(sum(_classes(far, holders, ends, t) - 1 for t in range(60)))
        need *= 2 if of.collective.kind is CollectiveKind.ALL_REDUCE else 1
    volume = int(np.dot(topology.capacity, length))
    if need:
        assert value(of, length) == need / volume
    else:
        with pytest.raises(WitnessError, match="bounds nothing"):
            value(of, length)
    return need > 0


@given_at_least(40, rngs)
@examples(60)
def test_distances_summed_in_sweeps(rng: Random) -> bool:
    """The sum is that of the table of distances; there is no answer where a length is 0 or too large."""
    topology = random_network(rng)
    ends = topology.endpoints
    sources = ends[: rng.randint(1, len(ends))]
    length = np.array([rng.choice((1, 1, 2, 5, metric.MAX_SHORT)) for _ in topology.src], np.int64)
    far = metric.distances(topology, length, sources)[:, ends]
    assert metric._summed_in_sweeps(topology, length, sources, ends) == far.sum()
    for wrong in (0, metric.MAX_SHORT + 1):
        length[rng.randrange(len(length))] = wrong
        assert metric._summed_in_sweeps(topology, length, sources, ends) is None
        length[:] = 1
    return len(sources) > 1


def _classes(far: Any, holders: list[int], ends: list[int], threshold: int) -> int:
    joined = nx.Graph()
    joined.add_nodes_from(holders)
    for u, v in itertools.permutations(holders, 2):
        if far[u].get(v, 1 << 40) <= threshold:
            joined.add_edge(u, v)
    return sum(1 for part in nx.connected_components(joined) if part & set(ends))


@pytest.mark.parametrize(
    ("spec", "quantity", "words"),
    [("ring:8", "latency", "bounds the bandwidth, not the latency"), ("ring:9", "bandwidth", "length has 16 rows; expected 18")],
)
def test_what_is_wrong_is_said(spec: str, quantity: str, words: str) -> None:
    bound = {"kind": "metric", "quantity": quantity, "value": "7/8", "witness": {"length": [3] * 16}}
    with pytest.raises(WitnessError, match=words):
        check_bound(instance(spec, "all-reduce"), bound)


def test_lengths_as_large_as_allowed() -> None:
    """No sum runs over."""
    of = instance("mesh:1x40", "all-to-all")
    assert value(of, [metric.MAX_LENGTH] * len(of.topology.src)) == equal(of)
    many = np.full(100, (1 << 62) - 1)
    assert metric.total(many) == 100 * ((1 << 62) - 1)


def test_networks_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metric, "MAX_DISTANCES", 70)
    with pytest.raises(WitnessError, match="up to 70 distances, not 8 x 9") as caught:
        equal(instance("switch:8", "all-reduce"))
    assert caught.value.rule == "witness-foreign"
    assert equal(instance("ring:9", "all-reduce")) == Fraction(16, 18)  # no table of distances is needed


STAR = both_ways((0, 4), (1, 4), (2, 4), (3, 4))


def test_switches_that_add_need_less() -> None:
    """One transfer into the switch and one out of it for each endpoint: 1 M/B, where a forwarding switch takes 3/2."""
    in_network = "0+4 1+4 2+4 3+4; 4>0 4>1 4>2 4>3"
    schedule = build(network("eeees", STAR, reducing=[4]), "all-reduce", in_network, period=1, repeats=5)
    quality = verify_schedule(schedule).quality
    assert quality is not None
    assert (quality.bandwidth_time, quality.bandwidth_bound) == (1, 1)
    assert equal(Instance.of(schedule)) == Fraction(3, 4)
    assert equal(instance(network("eeees", STAR), "all-reduce")) == Fraction(3, 2)


@pytest.mark.parametrize("kind", CollectiveKind)
def test_nothing_beats_the_bound_on_a_full_network(kind: CollectiveKind) -> None:
    """Direct transfers between all pairs meet it: every message takes one link."""
    of = instance("full:4", kind)
    ends = of.topology.endpoints.tolist()
    pairs = [(u, v) for u in ends for v in ends if u != v]
    if kind in WITH_TARGETS:
        blocks = [(u, v) for u, v in pairs if of.sources[u] and of.sinks[v]]
        rows = [(chunk, COPY, 0, u, v) for chunk, (u, v) in enumerate(blocks)]
        roots, targets = [u for u, _ in blocks], [v for _, v in blocks]
    else:
        roots, targets = ([0] if of.collective.root is not None else ends), None
        up = [(chunk, REDUCE, 0, u, root) for chunk, root in enumerate(roots) for u in ends if u != root]
        down = [(chunk, COPY, 1, root, u) for chunk, root in enumerate(roots) for u in ends if u != root]
        rows = (up if of.collective.reduces else []) + (down if of.collective.gathers else [])
        rows = [(c, op, step if kind is CollectiveKind.ALL_REDUCE else 0, u, v) for c, op, step, u, v in rows]
        roots = roots if of.collective.is_rooted else [-1] * 4
    quality: Quality | None = verify_schedule(build(of.topology, of.collective, rows, roots=roots, targets=targets)).quality
    assert quality is not None
    assert equal(of) <= quality.bandwidth_time
    if kind not in WITH_ONE_ROOT:  # from one root most links of a full network idle
        assert equal(of) == quality.bandwidth_time
