"""The Steiner witness: shortest trees as brute force has them, its class, and what it does not bound."""

from fractions import Fraction
from itertools import combinations
from random import Random

import networkx as nx
import numpy as np
import pytest

import certree.api as ct
from certree.extras.groups.make.steiner_bounds import shortest_tree, steiner_bound
from certree.models.machine.machine import load_machine
from certree.models.network.spec import parse_topology
from certree.models.network.topology import Topology
from certree.models.schedule.collective import Collective, CollectiveKind
from certree.verify.bounds.instance import Instance
from certree.verify.bounds.timed import TimeInstance, make_time_bound
from certree.verify.bounds.witness import WitnessError, check_bound, make_bound
from certree.verify.bounds.witnesses.shortest_trees import tree_lengths
from certree.verify.checker import verify_schedule
from certree.verify.exact.question import Question
from certree.verify.exact.refutations.refutation import check_refutation

DGX1 = parse_topology("dgx1")


def among(members: tuple[int, ...], kind: str = "all-reduce") -> Collective:
    return Collective(CollectiveKind(kind), None, members)


def shortest(topology: Topology, length: np.ndarray, members: tuple[int, ...]) -> int:
    """The least spanning tree over the members and any set of other nodes that hold chunks; its edges are paths."""
    links = nx.Graph()
    for tail, head, long in zip(topology.src.tolist(), topology.dst.tolist(), length.tolist(), strict=True):
        links.add_edge(tail, head, weight=min(long, links.get_edge_data(tail, head, {"weight": long})["weight"]))
    far = dict(nx.all_pairs_dijkstra_path_length(links))
    graph = nx.Graph()
    for one, other in combinations(np.flatnonzero(topology.holds).tolist(), 2):
        graph.add_edge(one, other, weight=far[one][other])
    others, best = sorted({*graph} - {*members}), None
    for count in range(len(others) + 1):
        for more in combinations(others, count):
            part = graph.subgraph([*members, *more])
            if nx.is_connected(part):
                total = sum(data["weight"] for *_, data in nx.minimum_spanning_edges(part))
                best = total if best is None else min(best, total)
    assert best is not None
    return best


@pytest.mark.parametrize("seed", range(8))
def test_shortest_trees(seed: int) -> None:
    draws = Random(seed)
    topology = parse_topology(draws.choice(("dgx1", "mesh:3x3", "fattree:2x2", "ring:6,without-link=0>1")))
    length = np.array([draws.randrange(6) for _ in topology.src], np.int64)
    members = tuple(sorted(draws.sample(topology.endpoints.tolist(), draws.randint(2, min(5, len(topology.endpoints))))))
    wanted = shortest(topology, length, members)
    assert int(tree_lengths(topology, length, np.array(members, np.int32))[0][-1].min()) == wanted
    links, found = shortest_tree(topology, length, np.array(members, np.int32))
    joined = nx.Graph([(int(topology.src[link]), int(topology.dst[link])) for link in links])
    assert nx.is_connected(joined)
    assert {*members} <= {*joined}
    assert found == wanted


@pytest.mark.parametrize(
    ("network", "members", "value"),
    [
        ("dgx1", (0, 3, 5, 6), "3/14"),
        ("dgx1", (0, 1, 2, 3), "3/13"),
        ("torus:4x4", (0, 1, 4, 5), "3/10"),
        ("mesh:1x3", (0, 2), "1"),
        ("switch:4", (0, 1, 2), "6/5"),
    ],
)
def test_bounds_that_relays_meet(network: str, members: tuple[int, ...], value: str) -> None:
    made = ct.synthesize(network, among(members), method="relays", size="16MiB")
    instance = Instance.of(made)
    bound = steiner_bound(instance)
    assert bound is not None
    forwarding = [] if instance.topology.is_direct else ["switches only forward"]
    assert (bound["value"], bound["class"]) == (value, ["any shares", "no coding", *forwarding, "sums made once"])
    assert check_bound(instance, bound) == Fraction(value)
    assert made.bandwidth_time == Fraction(value)
    quality = verify_schedule(made).quality
    assert quality is not None
    assert quality.bandwidth_bound == Fraction(value)


def test_what_it_does_not_bound() -> None:
    witness = {"length": [1] * len(DGX1.src)}
    refused = {
        "steiner witness bounds an all-reduce, not an all-gather": Instance(DGX1, among((0, 3), "all-gather")),
        "this one makes some at several": Instance.of(
            ct.synthesize("dgx1", among((0, 1, 2, 3)), method="recursive-doubling", size="1KiB")
        ),
        "a steiner witness is for few members": Instance(parse_topology("torus:8x8"), among(tuple(range(20)))),
        "here is none": Instance(DGX1, among((0, 3))),
        "at one node; here is none": Instance(DGX1, among((0, 3)), adds="(0,3)"),
    }
    for reason, instance in refused.items():
        with pytest.raises(WitnessError, match=reason):
            make_bound(instance, "steiner", witness)
    instance = Instance.of(ct.synthesize("dgx1", among((0, 3)), method="relays", size="1MiB"))
    with pytest.raises(WitnessError, match="length 0"):
        make_bound(instance, "steiner", {"length": [0] * len(DGX1.src)})
    bound = make_bound(instance, "steiner", witness)
    with pytest.raises(WitnessError, match="shows a bandwidth bound of"):
        check_bound(instance, bound | {"value": "1/2"})
    with pytest.raises(WitnessError, match="class"):
        check_bound(instance, bound | {"class": ["any shares", "no coding"]})
    with pytest.raises(WitnessError, match="add in some way is none on every run"):
        make_time_bound(TimeInstance(instance, 1 << 20, load_machine("multitree")), "load", {"bound": bound})


def test_it_refutes_nothing_and_bounds_no_frontier() -> None:
    """Three endpoints and three switches that add: no other bound excludes 2 chunks in 3 rounds, which schedules that make each sum
    once cannot have; whether others can, the witness does not say."""
    links = [(3, 0), (3, 2), (4, 1), (5, 0), (5, 1), (5, 2), (5, 4)]
    ends = np.array(links + [(b, a) for a, b in links])
    adds = np.array([False] * 3 + [True] * 3)
    unit = np.ones(len(ends), np.int64)
    topology = Topology("two", np.repeat(np.int8([0, 1]), 3), ends[:, 0], ends[:, 1], unit, -unit, adds)
    question = Question(topology, Collective(CollectiveKind.ALL_REDUCE).fitted(topology), 6, 2, 3)
    bound = {
        "quantity": "bandwidth", "kind": "steiner", "value": "2/3", "class": ["any shares", "no coding", "sums made once"],
        "witness": {"length": [1] * len(topology.src)},
    }  # fmt: skip
    with pytest.raises(WitnessError, match="here is none"):
        check_refutation(question, {"kind": "bound", "bound": bound})
