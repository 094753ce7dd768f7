"""Bounds of collectives among some endpoints only: never above what some schedule takes, found by listing all trees."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from certree.models.network.spec import parse_topology
from certree.models.network.topology import Topology
from certree.models.schedule.collective import WITH_ONE_ROOT, WITH_TARGETS, Collective, CollectiveKind
from certree.synth.bounds.find import find_bounds
from certree.verify.bounds.cheap import cheap_bounds
from certree.verify.bounds.instance import Instance
from certree.verify.bounds.witness import WitnessError, check_bound, make_bound
from certree.verify.certificates.quality import quality_of
from tests.verify.bounds.trees import least_flow, least_time
from tests.verify.build import build

ENOUGH = 1 - 1e-9  # of what a linear program says


def networks() -> list[Topology]:
    """Small networks; one with links of one direction only, one with switches."""
    found = [parse_topology(name) for name in ("ring:4", "mesh:1x4", "full:4", "ring:4,without-link=0-1", "switch:3")]
    ring = parse_topology("ring:4")
    around = (ring.dst - ring.src) % 4 == 1
    extra = around | (ring.src == 0) | (ring.src == 2)  # of two nodes links lead back
    columns = {name: getattr(ring, name)[extra] for name in ("src", "dst", "capacity", "latency")}
    found.append(Topology("one way", ring.kind, **columns))
    return found


def capacities(topology: Topology) -> dict[tuple[int, int], int]:
    return {(int(u), int(v)): int(c) for u, v, c in zip(topology.pair_src, topology.pair_dst, topology.pair_capacity, strict=True)}


def cases(topology: Topology):
    """Collectives among at least two and not all endpoints, and how many there are."""
    ends = topology.endpoints.tolist()
    for size in range(2, len(ends)):
        for members in combinations(ends, size):
            for kind in CollectiveKind:
                yield Collective(kind, members[0] if kind in WITH_ONE_ROOT else None, members)


def least(topology: Topology, collective: Collective) -> float:
    """The time that schedules reach, as the message grows."""
    members, kind = collective.members, str(collective.kind)
    if collective.kind not in WITH_TARGETS:
        return least_time(kind, capacities(topology), members, collective.root)
    blocks = {(u, v): 1 / len(members) for u in members for v in members if u != v}
    if kind != "all-to-all":
        blocks = {ends: part for ends, part in blocks.items() if ends[kind == "gather"] == collective.root}
    return least_flow(blocks, capacities(topology))


@pytest.mark.parametrize("topology", networks(), ids=lambda topology: topology.name)
def test_no_bound_is_too_high(topology: Topology) -> None:
    """All kinds of witness that are found, on every collective among some endpoints."""
    ratios = []
    for collective in cases(topology):
        instance, reached = Instance(topology, collective), least(topology, collective)
        for bound in [*find_bounds(topology, collective), *cheap_bounds(instance)]:
            value = check_bound(instance, bound)
            if bound["quantity"] == "bandwidth":
                assert value * Fraction(ENOUGH) <= reached, (collective.words, bound, reached)
                ratios.append(float(value) / reached)
            else:
                assert value == farthest(topology, collective), (collective.words, bound)
    assert max(ratios) > ENOUGH


@pytest.mark.parametrize("topology", networks(), ids=lambda topology: topology.name)
def test_flows_are_bounded_exactly(topology: Topology) -> None:
    """All-to-all, gather and scatter: the best bound is what flows take."""
    for collective in cases(topology):
        if collective.has_targets:
            instance = Instance(topology, collective)
            found = [
                check_bound(instance, bound) for bound in find_bounds(topology, collective) if bound["quantity"] == "bandwidth"
            ]
            assert float(max(found)) == pytest.approx(least(topology, collective), rel=1e-6)


def farthest(topology: Topology, collective: Collective) -> int:
    """The most transfers between two members of which one needs data of the other; switches are passed within one."""
    links = set(capacities(topology))
    ends = set(topology.endpoints.tolist())
    starts = {collective.root} if collective.kind in ("broadcast", "scatter") else set(collective.members)
    targets = {collective.root} if collective.kind in ("reduce", "gather") else set(collective.members)
    longest = 0
    for start in starts:
        reach, hops = {start}, 0
        while not targets <= reach:
            hops += 1
            while more := {v for u, v in links if u in reach and v not in ends} - reach:
                reach |= more
            reach |= {v for u, v in links if u in reach and v in ends}
        longest = max(longest, hops)
    return longest


def test_all_endpoints_as_members_give_the_same_bounds() -> None:
    for name in ("mesh:2x3", "dgx1", "fattree:3x2"):
        topology = parse_topology(name)
        for kind in CollectiveKind:
            root = 1 if kind in WITH_ONE_ROOT else None
            everyone = Collective(kind, root, tuple(topology.endpoints.tolist()))
            assert find_bounds(topology, everyone) == find_bounds(topology, Collective(kind, root))


STRANGERS = Instance(parse_topology("mesh:1x4"), Collective("all-reduce", None, (0, 2)))


@pytest.mark.parametrize(
    ("kind", "witness", "words"),
    [
        ("degree", {"node": 1}, "node 1 takes no part; a member is needed"),
        ("partition", {"part": [0, 1, 0, 1]}, "no two parts hold a member"),
        ("tolls", {"part": [0, 0, 0, 1], "price": [1] * 6}, "no two parts hold a member"),
        ("direction", {"set": [1, 3]}, "the set must have a member inside and one outside"),
        ("direction", {"set": [0, 1, 2]}, "the set must have a member inside and one outside"),
        ("distance", {"from": 0, "to": 3, "hops": 3, "label": [0, 1, 2, 3]}, "nothing is due at node 3 from other nodes"),
        ("distance", {"from": 1, "to": 2, "hops": 1, "label": [1, 0, 1, 2]}, "nothing of node 1 is due at other nodes"),
    ],
)
def test_witnesses_of_strangers_prove_nothing(kind, witness, words) -> None:
    with pytest.raises(WitnessError) as caught:
        make_bound(STRANGERS, kind, witness)
    assert (caught.value.rule, words in caught.value.message) == ("witness-wrong", True), caught.value.message


def test_subpartitions_are_of_members() -> None:
    gather = Instance(parse_topology("mesh:1x4"), Collective("all-gather", None, (0, 2)))
    assert make_bound(gather, "subpartition", {"sets": [[0], [1, 2]]})["value"] == "1/3"
    with pytest.raises(WitnessError, match="set 1 does not hold a member"):
        make_bound(gather, "subpartition", {"sets": [[0], [1]]})


def test_a_partition_counts_parts_with_members() -> None:
    assert make_bound(STRANGERS, "partition", {"part": [0, 1, 2, 3]})["value"] == "1/3"
    assert make_bound(STRANGERS, "partition", {"part": [0, 0, 1, 1]})["value"] == "1"


def test_shares_of_a_schedule_are_those_of_its_members() -> None:
    made = build("mesh:1x4", Collective("all-gather", None, (0, 2)), "0>1 1:2>1; 1>2 1:1>0", roots=[0, 2])
    quality = quality_of(made)
    assert np.array_equal(Instance.of(made).members, [True, False, True, False])
    assert (quality.bandwidth_time, quality.bandwidth_bound, quality.latency_bound) == (1, Fraction(1, 2), 2)
