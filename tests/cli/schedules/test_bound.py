"""`certree bound`: values worked out by hand, with witnesses that check."""

from fractions import Fraction

import networkx as nx
import pytest

from certree.models.network.spec import parse_topology
from certree.models.schedule.collective import parse_collective
from certree.verify.bounds.instance import Instance
from certree.verify.bounds.witness import check_bound
from tests.cli.running import certree, json_of


@pytest.mark.parametrize(
    ("spec", "value"),
    [
        ("mesh:8x8", "9/16"),  # 2·63 messages over 2·112 links
        ("mesh:4x4", "5/8"),
        ("torus:8x8", "63/128"),
        ("torus:8x8,without-link=0-1", "63/127"),
        ("ring:5", "4/5"),
        ("mesh:3", "1"),  # a path: every chunk crosses every link both ways
        ("ring:4,capacity=3", "1/4"),
    ],
)
def test_all_reduce(spec, value):
    """The partition into single nodes is tight: 2·(N - 1) messages a chunk over all links."""
    outcome = json_of("bound", spec)
    assert outcome["bandwidth_bound"] == value
    instance = Instance(parse_topology(spec), parse_collective("all-reduce"))
    kinds = {bound["kind"] for bound in outcome["bounds"]}
    assert {"partition", "distance"} <= kinds
    for bound in outcome["bounds"]:
        assert check_bound(instance, bound) == Fraction(bound["value"])


@pytest.mark.parametrize("collective", ["all-gather", "reduce-scatter"])
def test_rooted_collectives(collective):
    """A corner of a 3x3 mesh takes in 8/9 of the message over 2 links."""
    document = json_of("bound", "mesh:3x3", "--collective", collective)
    assert document["bandwidth_bound"] == "4/9"
    assert document["latency_bound"] == 4
    assert document["collective"] == collective


def test_a_bridge_is_the_bottleneck(tmp_path):
    """Two complete graphs of four nodes joined by one link: every chunk crosses it both ways, so M/B times 1."""
    graph = nx.disjoint_union(nx.complete_graph(4), nx.complete_graph(4))
    graph.add_edge(0, 4)
    nx.write_graphml(graph, tmp_path / "barbell.graphml")
    assert json_of("bound", tmp_path / "barbell.graphml")["bandwidth_bound"] == "1"


def test_words():
    outcome = certree("bound", "mesh:8x8")
    assert outcome.code == 0
    assert "bandwidth time ≥ 0.5625 (9/16) M/B" in outcome.out
    assert "partition: 64 nodes in 64 parts, one for each node" in outcome.out
    assert "14 hops from 0 to 63" in outcome.out


@pytest.mark.parametrize(
    ("collective", "bandwidth", "latency"),
    [
        ("all-to-all", "3/8", 2),  # at least: 3 of 4 blocks leave a node over 2 links
        ("broadcast", "1/2", 2),
        ("reduce", "1/2", 2),
        ("gather", "3/8", 2),
        ("scatter", "3/8", 2),
    ],
)
def test_the_other_collectives_on_a_square(collective, bandwidth, latency):
    root = [] if collective == "all-to-all" else ["--root", "1"]
    document = json_of("bound", "mesh:2x2", "--collective", collective, *root)
    assert document["latency_bound"] == latency
    assert document["root"] == (1 if root else None)
    if collective == "all-to-all":
        assert Fraction(document["bandwidth_bound"]) >= Fraction(bandwidth)
    else:
        assert document["bandwidth_bound"] == bandwidth


def test_model_of_the_bounds():
    """What the bounds assume is said; what breaks an assumption may be better, and the bound without it holds."""
    gather = certree("bound", "mesh:3x3", "--collective", "all-gather", "--json").document
    free = certree("synthesize", "mesh:3x3", "--collective", "all-gather", "--method", "free-shares", "--json").document
    assert Fraction(gather["bandwidth_bound_any_shares"]) <= Fraction(free["bandwidth_time"]) < Fraction(gather["bandwidth_bound"])
    assert "every endpoint roots an equal share, except in bounds for any shares" in gather["model"]
    ring = certree("bound", "ring:16", "--json").document
    doubling = certree("synthesize", "ring:16", "--method", "recursive-doubling", "--size", "1KiB", "--json").document
    assert doubling["latency_steps"] <= ring["latency_bound"]
    assert any(words == "latency: no routes through endpoints" for words in ring["model"])
    assert ring["bandwidth_bound_any_shares"] is None
    assert certree("bound", "switch:4", "--json").document["model"] == ["results usable 1 step after send"]
    words = certree("bound", "mesh:3x3", "--collective", "all-gather").out
    assert "  bandwidth time ≥ 0.4444 (4/9) M/B, equal shares\n" in words
    assert "  bandwidth time ≥ 0.375 (3/8) M/B, any shares\n" in words
