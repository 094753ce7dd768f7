"""Bounds of demands: what flows take, found by a linear program of its own, is never less, and the best bound is just that."""

from dataclasses import replace
from fractions import Fraction
from random import Random

import pytest

from certree.models.demand import Demand
from certree.models.network.spec import parse_topology
from certree.models.network.topology import Topology
from certree.models.schedule.collective import Collective, CollectiveKind
from certree.synth.bounds.find import find_bounds
from certree.synth.graphs import lengths
from certree.synth.method import load_methods
from certree.verify.bounds.cheap import cheap_bounds
from certree.verify.bounds.instance import Instance
from certree.verify.bounds.witness import WitnessError, check_bound, make_bound
from certree.verify.checker import verify_schedule
from tests.synth.execution import ask
from tests.verify.bounds.test_members import ENOUGH, capacities, networks
from tests.verify.bounds.trees import least_flow


def drawn(rng: Random, topology: Topology) -> Collective:
    """An alltoallv with some pairs, of sizes that differ by up to a thousand times."""
    ends = topology.endpoints.tolist()
    pairs = [(u, v) for u in ends for v in ends if u != v]
    chosen = rng.sample(pairs, rng.randint(1, len(pairs)))
    blocks = tuple((u, v, rng.choice((1, 7, rng.randint(1, 1000)))) for u, v in chosen)
    return Collective(CollectiveKind.ALL_TO_ALL, demand=Demand(blocks))


def least(topology: Topology, collective: Collective) -> float:
    demand = collective.demand
    return least_flow({(u, v): size / demand.granules for u, v, size in demand.blocks}, capacities(topology))


@pytest.mark.parametrize("topology", [*networks(), parse_topology("mesh:2x3")], ids=lambda topology: topology.name)
def test_the_best_bound_is_what_flows_take(topology: Topology) -> None:
    rng = Random(topology.name)
    for _ in range(12):
        collective = drawn(rng, topology)
        instance, reached = Instance(topology, collective), least(topology, collective)
        found = []
        for bound in [*find_bounds(topology, collective), *cheap_bounds(instance)]:
            value = check_bound(instance, bound)
            if bound["quantity"] == "bandwidth":
                assert value * Fraction(ENOUGH) <= reached, (collective, bound)
                found.append(float(value))
            else:
                assert value == farthest(topology, collective)
        assert max(found) == pytest.approx(reached, rel=1e-4)


def farthest(topology: Topology, collective: Collective) -> int:
    """The most transfers on the route of a block; switches are passed within one."""
    links, ends, longest = set(capacities(topology)), set(topology.endpoints.tolist()), 0
    for source, target, _ in collective.demand.blocks:
        reach, hops = {source}, 0
        while target not in reach:
            hops += 1
            while more := {v for u, v in links if u in reach and v not in ends} - reach:
                reach |= more
            reach |= {v for u, v in links if u in reach and v in ends}
        longest = max(longest, hops)
    return longest


def test_planes_bound_what_is_too_large_for_one_program(monkeypatch: pytest.MonkeyPatch) -> None:
    topology = parse_topology("mesh:2x3")
    rng = Random(5)
    for _ in range(5):
        collective = drawn(rng, topology)
        with monkeypatch.context() as patch:
            patch.setattr(lengths, "DUAL_SIZE", 0)
            value = max(Fraction(one["value"]) for one in find_bounds(topology, collective) if one["quantity"] == "bandwidth")
        assert ENOUGH * float(value) <= least(topology, collective) <= 1.02 * float(value)


def test_equal_blocks_have_the_bound_of_an_all_to_all() -> None:
    """The message is all N(N - 1) blocks there, and N blocks here."""
    topology = parse_topology("mesh:2x3")
    pairs = [(u, v, 7) for u in range(6) for v in range(6) if u != v]
    ours = find_bounds(topology, Collective(CollectiveKind.ALL_TO_ALL, demand=Demand(tuple(pairs))))
    theirs = find_bounds(topology, Collective(CollectiveKind.ALL_TO_ALL))
    assert Fraction(ours[0]["value"]) * 5 == Fraction(theirs[0]["value"])


SKEWED = Instance(parse_topology("mesh:1x4"), Collective(CollectiveKind.ALL_TO_ALL, demand=Demand(((0, 2, 30), (3, 1, 10)))))


@pytest.mark.parametrize(
    ("kind", "witness", "value"),
    [
        ("degree", {"node": 0}, "3/4"),
        ("degree", {"node": 1}, "1/8"),
        ("cut", {"set": [2, 3]}, "3/4"),
        ("cut", {"set": [0, 1]}, "1/4"),
        ("metric", {"length": [1] * 6}, "1/3"),
        ("distance", {"from": 3, "to": 1, "hops": 2, "label": [3, 2, 1, 0]}, "2"),
    ],
)
def test_witnesses(kind: str, witness: dict, value: str) -> None:
    assert make_bound(SKEWED, kind, witness)["value"] == value


@pytest.mark.parametrize(
    ("kind", "witness", "words"),
    [
        ("cut", {"set": [0]}, "no chunk has to cross"),
        ("distance", {"from": 0, "to": 1, "hops": 1, "label": [0, 1, 2, 3]}, "nothing of node 0 is due at node 1"),
        ("distance", {"from": 1, "to": 2, "hops": 1, "label": [1, 0, 1, 2]}, "nothing of node 1 is due at other nodes"),
        ("metric", {"length": [0] * 6}, "what has to travel has length 0"),
    ],
)
def test_witnesses_that_prove_nothing(kind: str, witness: dict, words: str) -> None:
    with pytest.raises(WitnessError, match=words):
        make_bound(SKEWED, kind, witness)


@pytest.mark.parametrize("network", ["mesh:2x3", "switch:4", "torus:3x3", "dgx1"])
def test_flows_make_schedules_near_the_bound(network: str) -> None:
    """Large blocks, cut into many chunks: at most a fifth above what is possible. Small ones: valid."""
    rng, topology = Random(network), parse_topology(network)
    for scale in (1, 1 << 16):
        asked = drawn(rng, topology)
        blocks = tuple((u, v, size * scale) for u, v, size in asked.demand.blocks)
        request = replace(ask(network, "all-to-all"), collective=Collective(CollectiveKind.ALL_TO_ALL, demand=Demand(blocks)))
        made = load_methods()["flows"](request)
        verdict = verify_schedule(made)
        assert verdict.valid, verdict.violations
        best = max(Fraction(one["value"]) for one in find_bounds(topology, made.collective) if one["quantity"] == "bandwidth")
        assert best <= verdict.quality.bandwidth_time
        if scale > 1:
            assert verdict.quality.bandwidth_time <= best * Fraction(6, 5)
