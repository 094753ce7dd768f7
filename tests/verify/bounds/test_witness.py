"""Every kind of witness: the value it shows, and each way in which it can lie."""

import tracemalloc
from contextlib import suppress
from fractions import Fraction
from heapq import heappop, heappush
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certree.models.common.errors import InputError
from certree.models.network.spec import parse_topology
from certree.models.network.topology import Topology
from certree.models.schedule.collective import parse_collective
from certree.verify.bounds.cheap import cheap_bounds
from certree.verify.bounds.witness import Instance, WitnessError, check_bound, load_witnesses, make_bound
from certree.verify.certificates.quality import quality_of
from tests.drawn import examples, given_at_least, rngs
from tests.networks import one_way
from tests.verify.build import network
from tests.verify.schedules import random_network, random_schedule


def instance(spec: str, collective: str = "all-reduce", **fields: Any) -> Instance:
    return Instance(parse_topology(spec), parse_collective(collective), **fields)


def refused(of: Instance, bound: Any) -> str:
    with pytest.raises(WitnessError) as caught:
        check_bound(of, bound)
    assert str(caught.value) == caught.value.message
    assert "\n" not in caught.value.message
    return caught.value.rule


def partition_bound(nodes: int, value: str = "9/16") -> dict[str, Any]:
    return {"kind": "partition", "quantity": "bandwidth", "value": value, "witness": {"part": list(range(nodes))}}


def test_partition_into_single_nodes_shows_nine_sixteenths_on_the_mesh() -> None:
    assert check_bound(instance("mesh:8x8"), partition_bound(64)) == Fraction(9, 16)


def test_partition_counts_only_parts_with_endpoints() -> None:
    # two parts of a ring of four joined by two links each way: 2·1 / 4
    bound = {"kind": "partition", "quantity": "bandwidth", "value": "1/2", "witness": {"part": [0, 0, 1, 1]}}
    assert check_bound(instance("ring:4"), bound) == Fraction(1, 2)


def test_partition_of_a_damaged_torus_leaves_out_removed_nodes() -> None:
    of = instance("torus:4x4,without-node=5,without-link=1-2")
    part = [-1 if node == 5 else node for node in range(16)]
    links = len(of.topology.src)
    bound = make_bound(of, "partition", {"part": part})
    assert check_bound(of, bound) == Fraction(28, links)
    part[5] = 5
    assert refused(of, {**bound, "witness": {"part": part}}) == "witness-malformed"


@pytest.mark.parametrize("value", ["5/8", "1/2", "10/16", "1"])
def test_a_value_that_the_witness_does_not_show_is_refused(value: str) -> None:
    rule = refused(instance("mesh:8x8"), partition_bound(64, value))
    assert rule == ("witness-malformed" if value == "10/16" else "witness-value")


@pytest.mark.parametrize("value", [0.5625, 1, True, None, "0.5625", "-9/16", "9/0", "0", "9 /16", "1e3", "9" * 5000, "09/16"])
def test_values_are_rationals_in_lowest_terms(value: Any) -> None:
    assert refused(instance("mesh:8x8"), {**partition_bound(64), "value": value}) == "witness-malformed"


@pytest.mark.parametrize(
    "part",
    [
        [0] * 63,
        [0] * 65,
        None,
        {},
        "0" * 64,
        [0.0] * 64,
        [True] * 64,
        [-1] * 64,
        [-2] + [0] * 63,
        [10**30] + [0] * 63,
        [64] + [0] * 63,
    ],
)
def test_malformed_partitions_are_refused(part: Any) -> None:
    assert refused(instance("mesh:8x8"), {**partition_bound(64), "witness": {"part": part}}) == "witness-malformed"


def test_one_part_proves_nothing() -> None:
    assert refused(instance("mesh:8x8"), {**partition_bound(64), "witness": {"part": [0] * 64}}) == "witness-wrong"


def test_a_partition_of_another_topology_is_refused() -> None:
    assert refused(instance("mesh:4x4"), partition_bound(64)) == "witness-malformed"
    assert refused(instance("torus:8x8"), partition_bound(64)) == "witness-value"


@pytest.mark.parametrize(
    "document",
    [None, [], "partition", {}, {"kind": "partition"}, {**partition_bound(64), "extra": 1},
     {**partition_bound(64), "kind": "magic"},
     {**partition_bound(64), "kind": []}, {**partition_bound(64), "quantity": "speed"}, {**partition_bound(64), "quantity": []},
     {**partition_bound(64), "witness": [1]}, {**partition_bound(64), "witness": {"parts": []}}],
)  # fmt: skip
def test_documents_that_are_no_bounds_are_refused(document: Any) -> None:
    assert refused(instance("mesh:8x8"), document) == "witness-malformed"


def test_a_latency_claim_from_a_bandwidth_witness_is_refused() -> None:
    assert refused(instance("mesh:8x8"), {**partition_bound(64), "quantity": "latency"}) == "witness-wrong"


def test_direction_takes_the_narrow_way() -> None:
    of = instance("ring:4,without-link=1>0")
    assert make_bound(of, "direction", {"set": [0]})["value"] == "1"
    assert make_bound(of, "direction", {"set": [1, 2]})["value"] == "1"
    assert make_bound(of, "direction", {"set": [2]})["value"] == "1/2"


@pytest.mark.parametrize(
    ("ids", "rule"),
    [([], "witness-malformed"), ([0, 0], "witness-malformed"), ([4], "witness-malformed"), ([-1], "witness-malformed"),
     ([True], "witness-malformed"), (0, "witness-malformed"), ([0, 1, 2, 3], "witness-wrong")],
)  # fmt: skip
@pytest.mark.parametrize(("kind", "collective"), [("direction", "all-reduce"), ("cut", "all-gather")])
def test_sets_that_divide_nothing_are_refused(kind: str, collective: str, ids: Any, rule: str) -> None:
    bound = {"kind": kind, "quantity": "bandwidth", "value": "1/2", "witness": {"set": ids}}
    assert refused(instance("ring:4", collective), bound) == rule


@pytest.mark.parametrize(
    ("kind", "collective"),
    [("partition", "all-gather"), ("direction", "reduce-scatter"), ("counting", "all-gather"), ("cut", "all-reduce")],
)
def test_a_witness_for_another_collective_is_refused(kind: str, collective: str) -> None:
    witness: dict[str, Any] = {"part": [0, 1, 2, 3]} if kind == "partition" else {} if kind == "counting" else {"set": [0]}
    bound = {"kind": kind, "quantity": "bandwidth", "value": "1/2", "witness": witness}
    assert refused(instance("ring:4", collective), bound) == "witness-foreign"


def test_cut_follows_the_shares_and_the_direction() -> None:
    # a bottleneck that is narrower one way: 0-1 | 2-3 joined by 1>2 alone and 3>0, 0>3
    of = instance("ring:4,without-link=2>1", "all-gather")
    assert make_bound(of, "cut", {"set": [0, 1]})["value"] == "1/2"  # only 3>0 leads in
    assert make_bound(of, "cut", {"set": [2, 3]})["value"] == "1/4"
    back = instance("ring:4,without-link=2>1", "reduce-scatter")
    assert make_bound(back, "cut", {"set": [0, 1]})["value"] == "1/4"  # sums for chunks of 2, 3 leave by two links
    skewed = instance("ring:4", "all-gather", shares=(Fraction(1), Fraction(0), Fraction(0), Fraction(0)))
    assert make_bound(skewed, "cut", {"set": [1, 2, 3]})["value"] == "1/2"
    with pytest.raises(WitnessError):
        make_bound(skewed, "cut", {"set": [0]})


def test_shares_must_be_parts_of_one_message() -> None:
    for shares in ((Fraction(1),), (Fraction(1, 2),) * 4, (Fraction(2), Fraction(-1), Fraction(0), Fraction(0))):
        with pytest.raises(InputError):
            instance("ring:4", "all-gather", shares=shares)


def test_distance_counts_delay_between_hops() -> None:
    for delay, steps in ((1, 4), (2, 7), (3, 10)):
        of = instance("ring:8", delay=delay)
        bound = cheap_bounds(of)[-1]
        assert (bound["kind"], check_bound(of, bound)) == ("distance", steps)


@pytest.mark.parametrize(
    ("change", "rule"),
    [({"hops": 5}, "witness-wrong"), ({"hops": 4.0}, "witness-malformed"), ({"hops": 0}, "witness-malformed"),
     ({"to": 3}, "witness-wrong"), ({"from": 1}, "witness-wrong"), ({"from": 9}, "witness-malformed"),
     ({"label": [0, 1, 2, 3, 4, 3, 2, 2]}, "witness-wrong"), ({"label": [0, 1, 2, 3, 4, 3, 2]}, "witness-malformed"),
     ({"extra": 1}, "witness-malformed")],
)  # fmt: skip
def test_wrong_distances_are_refused(change: dict[str, Any], rule: str) -> None:
    witness = {"from": 0, "to": 4, "hops": 4, "label": [0, 1, 2, 3, 4, 3, 2, 1], **change}
    assert refused(instance("ring:8"), {"kind": "distance", "quantity": "latency", "value": "4", "witness": witness}) == rule


def test_distance_speaks_of_nodes_with_data() -> None:
    shares = (Fraction(1), Fraction(0), Fraction(0), Fraction(0))
    away = {"from": 1, "to": 3, "hops": 2, "label": [1, 0, 1, 2]}
    bound = {"kind": "distance", "quantity": "latency", "value": "2", "witness": away}
    assert check_bound(instance("ring:4"), bound) == 2
    assert refused(instance("ring:4", "all-gather", shares=shares), bound) == "witness-wrong"
    assert refused(instance("ring:4", "reduce-scatter", shares=shares), bound) == "witness-wrong"
    toward = {"from": 2, "to": 0, "hops": 2, "label": [2, 1, 0, 1]}
    assert check_bound(instance("ring:4", "reduce-scatter", shares=shares), {**bound, "witness": toward}) == 2


def test_subpartition_holds_whatever_the_shares() -> None:
    corners = {"sets": [[0], [3], [12], [15]]}
    for kind in ("all-gather", "reduce-scatter"):
        assert make_bound(instance("mesh:4x4", kind), "subpartition", corners)["value"] == "3/8"
        all_at_one = (Fraction(1), *[Fraction(0)] * 15)
        assert make_bound(instance("mesh:4x4", kind, shares=all_at_one), "subpartition", corners)["value"] == "3/8"
    one_way = instance("ring:4,without-link=2>1", "all-gather")
    assert make_bound(one_way, "subpartition", {"sets": [[0, 1], [2, 3]]})["value"] == "1/3"  # 3>0 in, 1>2 and 0>3 back
    back = instance("ring:4,without-link=2>1", "reduce-scatter")
    assert make_bound(back, "subpartition", {"sets": [[1], [2]]})["value"] == "1/3"  # out of 1 by two links, out of 2 by one
    assert make_bound(instance("switch:3", "all-gather"), "subpartition", {"sets": [[0], [1, 3]]})["value"] == "1/3"


@pytest.mark.parametrize(
    ("sets", "rule"),
    [
        ([[0], [0, 1]], "witness-wrong"),
        ([[0]], "witness-wrong"),
        ([], "witness-wrong"),
        ([[0], [3]], "witness-wrong"),
        ([[0], []], "witness-malformed"),
        ([[0], [1, 1]], "witness-malformed"),
        ([[0, 0], [0]], "witness-wrong"),
        ([[0], [True]], "witness-malformed"),
        ([[0], [9]], "witness-malformed"),
        ([0, 1], "witness-malformed"),
        ({"0": [1]}, "witness-malformed"),
        ([[0], [1]], "witness-value"),
    ],
)
def test_subpartitions_that_prove_nothing_are_refused(sets: Any, rule: str) -> None:
    """On a switch (node 3) of three: sets that meet, a single one, one without endpoint, and no sets at all."""
    bound = {"kind": "subpartition", "quantity": "bandwidth", "value": "1/3", "witness": {"sets": sets}}
    assert refused(instance("switch:3", "all-gather"), bound) == rule
    for kind in ("all-reduce", "all-to-all"):
        assert refused(instance("switch:3", kind), bound) == "witness-foreign"


def test_a_subpartition_of_many_sets_is_checked_in_little_memory() -> None:
    """A hostile certificate may name as many sets as there are nodes; flags of each would be 16 MiB here."""
    mesh = instance("mesh:64x64", "all-gather")
    tracemalloc.start()
    try:
        bound = make_bound(mesh, "subpartition", {"sets": [[node] for node in range(4096)]})
        assert bound["value"] == str(Fraction(4095, 4 * 64 * 63))  # all links but none twice
        assert tracemalloc.get_traced_memory()[1] < 4 << 20
    finally:
        tracemalloc.stop()


def test_degree_is_the_better_cut_of_a_node_and_its_complement() -> None:
    assert make_bound(instance("mesh:8x8", "all-gather"), "degree", {"node": 0})["value"] == "63/128"
    lopsided = instance("ring:4", "all-gather", shares=(Fraction(1), Fraction(0), Fraction(0), Fraction(0)))
    assert make_bound(lopsided, "degree", {"node": 0})["value"] == "1/2"  # the chunks leave by two links
    assert make_bound(lopsided, "degree", {"node": 1})["value"] == "1/2"
    assert (
        refused(instance("ring:4"), {"kind": "degree", "quantity": "bandwidth", "value": "1/2", "witness": {"node": 4}})
        == "witness-malformed"
    )


@pytest.mark.parametrize(
    "spec", ["ring:5", "mesh:3x4", "torus:4x4,without-link=0-1", "full:4", "hypercube:3", "mesh:3x3,without-node=4"]
)
@pytest.mark.parametrize("collective", ["all-reduce", "all-gather", "reduce-scatter"])
def test_cheap_bounds_pass_their_own_check(spec: str, collective: str) -> None:
    of = instance(spec, collective)
    bounds = cheap_bounds(of)
    assert {bound["quantity"] for bound in bounds} == {"bandwidth", "latency"}
    for bound in bounds:
        assert str(check_bound(of, bound)) == bound["value"]


def test_every_kind_states_its_witness_first() -> None:
    for _, first_line in load_witnesses().describe():
        assert first_line.startswith("{")


def farthest_one_by_one(of: Instance, sends: list[int], receives: list[int]) -> tuple[int, int, int]:
    """(hops, from, to) by plain searches: a transfer leads from an endpoint to any that switches alone connect it to."""
    links = list(zip(of.topology.src.tolist(), of.topology.dst.tolist(), strict=True))
    best = (0, 0, 0)
    for start in sends:
        hops, far, edge = 0, {start: 0}, [start]
        while edge:
            seen, open_ends = set(edge), list(edge)
            while open_ends:
                tail = open_ends.pop()
                fresh = {v for u, v in links if u == tail and v not in seen}
                seen |= fresh
                open_ends += [node for node in fresh if of.topology.rank[node] < 0]
            hops += 1
            edge = [node for node in seen if of.topology.rank[node] >= 0 and node not in far]
            far.update(dict.fromkeys(edge, hops))
        for end in receives:
            if far[end] > best[0]:
                best = (far[end], start, end)
    return best


@given(rngs)
@examples(40)
def test_the_longest_distance_is_found_and_proved(rng: Random) -> None:
    topology = random_network(rng)
    ends = topology.endpoints.tolist()
    kind = rng.choice(["all-reduce", "all-gather", "reduce-scatter"])
    root = rng.randrange(len(ends))
    shares = tuple(Fraction(int(rank == root)) for rank in range(len(ends)))
    of = Instance(topology, parse_collective(kind), shares, delay=2)
    sends = [ends[root]] if kind == "all-gather" else ends
    receives = [ends[root]] if kind == "reduce-scatter" else ends
    bound = cheap_bounds(of)[-1]
    witness = bound["witness"]
    assert (witness["hops"], witness["from"], witness["to"]) == farthest_one_by_one(of, sends, receives)
    assert check_bound(of, bound) == 2 * witness["hops"] - 1
    label = [*witness["label"]]
    label[witness["to"]] += 1
    longer = {**bound, "value": str(2 * witness["hops"] + 1), "witness": {**witness, "hops": witness["hops"] + 1, "label": label}}
    assert refused(of, longer) in ("witness-wrong", "witness-malformed")  # malformed: a label no smaller than the number of nodes


def test_switches_take_no_step_of_their_own() -> None:
    star = network("eees", [(node, 3, 1) for node in range(3)] + [(3, node, 1) for node in range(3)])
    bounds = cheap_bounds(Instance(star, parse_collective("all-reduce")))
    assert [(bound["kind"], bound["value"]) for bound in bounds] == [("degree", "1"), ("counting", "4/3"), ("distance", "1")]


def test_reducing_switches_invalidate_the_count_of_transfers() -> None:
    star = network("eees", [(node, 3, 1) for node in range(3)] + [(3, node, 1) for node in range(3)], reducing=[3])
    of = Instance(star, parse_collective("all-reduce"))
    assert "counting" not in {bound["kind"] for bound in cheap_bounds(of)}
    assert refused(of, {"kind": "counting", "quantity": "bandwidth", "value": "4/3", "witness": {}}) == "witness-foreign"
    assert make_bound(of, "partition", {"part": [0, 1, 2, 3]})["value"] == "2/3"  # three links up and three down carry a sum


@given_at_least(130, rngs)
@examples(150)
def test_no_bound_exceeds_what_a_valid_schedule_needs(rng: Random) -> bool:
    """Soundness, by trial: random witnesses of every kind against schedules that are valid."""
    schedule = random_schedule(rng)
    of, quality, bounds = Instance.of(schedule), quality_of(schedule), []
    exists = np.flatnonzero(of.exists).tolist()
    for _ in range(10):
        part = [rng.randrange(3) if node in exists else -1 for node in range(len(of.exists))]
        inside = sorted(rng.sample(exists, rng.randint(1, len(exists) - 1)))
        length = [rng.choice((0, 0, 1, 1, 2, 5)) for _ in of.topology.src]
        sets = [(kind, {"set": inside}) for kind in ("direction", "cut")]
        prices = ("tolls", {"part": part, "price": length})
        for kind, witness in (("partition", {"part": part}), ("metric", {"length": length}), prices, *sets):
            with suppress(WitnessError):
                bounds.append(check_bound(of, make_bound(of, kind, witness)))
    assert all(bound <= quality.bandwidth_time for bound in bounds)
    assert quality.bandwidth_bound <= quality.bandwidth_time
    assert quality.latency_bound <= quality.latency_steps
    return len(bounds) > 5


def test_tolls_count_a_link_only_where_a_direction_is_scarce() -> None:
    """Two classes of a bipartite network: what leads from the one to the other carries 2·4 − 1 messages a chunk."""
    square = instance("ring:8,without-link=0>1")
    price = [int(tail % 2 == 0) for tail in square.topology.src.tolist()]
    bound = make_bound(square, "tolls", {"part": list(range(8)), "price": price})
    assert bound["value"] == "1"
    one = network("eee", [(0, 1, 1), (1, 0, 3), (1, 2, 2), (2, 1, 2)])
    of = Instance(one, parse_collective("all-reduce"))
    assert make_bound(of, "tolls", {"part": [0, 1, 1], "price": [1, 0, 0, 0]})["value"] == "1"  # that of the direction 0>1
    assert make_bound(of, "tolls", {"part": [0, 1, 2], "price": [1, 1, 1, 1]})["value"] == "1/2"  # that of the partition
    behind = network("eess", [(0, 2, 1), (2, 0, 2), (1, 3, 2), (3, 1, 1), (2, 3, 4), (3, 2, 4)], reducing=[2])
    of = Instance(behind, parse_collective("all-reduce"))
    assert make_bound(of, "tolls", {"part": [0, 1, 2, 2], "price": [1, 0, 0, 1, 0, 0]})["value"] == "1/2"


@pytest.mark.parametrize(
    ("witness", "rule"),
    [
        ({"part": [0, 0, 0, 0], "price": [1] * 8}, "witness-wrong"),  # nobody has to pay
        ({"part": [0, 1, 2, 3], "price": [0] * 8}, "witness-wrong"),
        ({"part": [0, 1, 1, 1], "price": [1, 0, 0, 0, 0, 0, 0, 0]}, "witness-wrong"),  # 0 leaves by another link
        ({"part": [0, 0, 1, 1], "price": [1] * 8}, "witness-value"),
        ({"part": [0, 1, 2, 3], "price": [1] * 7}, "witness-malformed"),
        ({"part": [0, 1, 2, 3], "price": [1] * 7 + [-1]}, "witness-malformed"),
        ({"part": [0, 1, 2, 3], "price": [1] * 7 + [1 << 21]}, "witness-malformed"),
        ({"part": [0, 1, 2, 3], "price": [1] * 7 + [1.0]}, "witness-malformed"),
        ({"part": [0, 1, 2, 4], "price": [1] * 8}, "witness-malformed"),
        ({"part": [0, 1, 2, -1], "price": [1] * 8}, "witness-malformed"),
        ({"part": [0, 1, 2, 3]}, "witness-malformed"),
    ],
)
def test_tolls_that_prove_nothing_are_refused(witness: Any, rule: str) -> None:
    bound = {"kind": "tolls", "quantity": "bandwidth", "value": "3/4", "witness": witness}
    assert refused(instance("ring:4"), bound) == rule
    right = {"part": [0, 1, 2, 3], "price": [1] * 8}
    assert check_bound(instance("ring:4"), {**bound, "witness": right}) == Fraction(3, 4)
    assert refused(instance("ring:4", "all-gather"), {**bound, "witness": right}) == "witness-foreign"


def cheapest_all_reduce(of: Instance, price: list[int]) -> int:
    """The least that one chunk's messages cost when each brings all that its sender knows: a search over who knows what."""
    nodes, links = len(of.topology.kind), list(zip(of.topology.src.tolist(), of.topology.dst.tolist(), price, strict=True))
    everything = sum(1 << node for node in of.topology.endpoints.tolist())
    start = tuple((1 << node) & everything for node in range(nodes))
    best, queue = {start: 0}, [(0, start)]
    while queue:
        cost, known = heappop(queue)
        if all(known[node] == everything for node in of.topology.endpoints.tolist()):
            return cost
        for src, dst, toll in links if cost == best[known] else ():
            after = (*known[:dst], known[dst] | known[src], *known[dst + 1 :])
            if cost + toll < best.get(after, cost + toll + 1):
                best[after] = cost + toll
                heappush(queue, (cost + toll, after))
    raise AssertionError("every endpoint reaches every other")


@given_at_least(40, rngs, st.one_of(one_way(4, least=3), one_way(3, least=3, switches=1)))
@examples(75)
def test_no_order_of_messages_pays_less_than_the_tolls(rng: Random, topology: Topology) -> bool:
    """Whatever the schedule: trees or not, and whoever adds."""
    of, nodes, values = Instance(topology, parse_collective("all-reduce")), len(topology.kind), []
    price = [rng.choice((0, 1, 1, 2, 3)) for _ in topology.src]
    for part in (list(range(nodes)), [rng.randrange(3) for _ in range(nodes)]):
        with suppress(WitnessError):
            values.append(Fraction(make_bound(of, "tolls", {"part": part, "price": price})["value"]))
    volume = int(np.dot(price, topology.capacity))
    assert all(value * volume <= cheapest_all_reduce(of, price) for value in values)
    return len(values) > 0
