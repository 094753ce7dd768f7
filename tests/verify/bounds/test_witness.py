"""Every kind of witness: the value it shows, and each fault that it can have."""

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
from certree.verify.bounds.instance import Instance
from certree.verify.bounds.witness import WitnessError, check_bound, load_witnesses, make_bound
from certree.verify.bounds.witnesses import metric
from certree.verify.certificates.quality import quality_of
from tests.drawn import examples, given_at_least, rngs
from tests.networks import one_way
from tests.verify.build import network
from tests.verify.schedules import random_network, random_schedule

ALL_REDUCE = parse_collective("all-reduce")


def instance(spec: str, collective: str = "all-reduce", **fields: Any) -> Instance:
    return Instance(parse_topology(spec), parse_collective(collective), **fields)


def refused(of: Instance, bound: Any) -> str:
    with pytest.raises(WitnessError) as caught:
        check_bound(of, bound)
    assert str(caught.value) == caught.value.message
    assert "\n" not in caught.value.message
    return caught.value.rule


def bound_of(kind: str, value: str, quantity: str = "bandwidth", **witness: Any) -> dict[str, Any]:
    return {"kind": kind, "quantity": quantity, "value": value, "witness": witness}


def made(of: Instance, kind: str, **witness: Any) -> str:
    """The value of a bound, as `make_bound` writes it."""
    return str(make_bound(of, kind, witness)["value"])


#: 64 nodes, each a part of its own; all but one of the parts of a ring of four; the way round a ring of eight
SINGLES, ONE_EACH, ROUND = list(range(64)), [0, 1, 2, 3], [0, 1, 2, 3, 4, 3, 2, 1]
MESH = bound_of("partition", "9/16", part=SINGLES)
ALL_AT_ONE = (Fraction(1), Fraction(0), Fraction(0), Fraction(0))
MALFORMED, WRONG, VALUE, FOREIGN = "witness-malformed", "witness-wrong", "witness-value", "witness-foreign"

#: (rule, network, collective, bounds that break it)
REFUSED: list[tuple[str, str, str, list[Any]]] = [
    (VALUE, "mesh:8x8", "all-reduce", [MESH | {"value": value} for value in ("5/8", "1/2", "1")]),
    # values are rationals in lowest terms
    (MALFORMED, "mesh:8x8", "all-reduce", [MESH | {"value": value} for value in (
        "10/16", 0.5625, 1, True, None, "0.5625", "-9/16", "9/0", "0", "9 /16", "1e3", "9" * 5000, "09/16")]),
    (MALFORMED, "mesh:8x8", "all-reduce", [bound_of("partition", "9/16", part=part) for part in (
        [0] * 63, [0] * 65, None, {}, "0" * 64, [0.0] * 64, [True] * 64, [-1] * 64, [-2] + [0] * 63, [10**30] + [0] * 63,
        [64] + [0] * 63)]),
    (MALFORMED, "mesh:8x8", "all-reduce", [None, [], "partition", {}, {"kind": "partition"}, MESH | {"extra": 1},
        MESH | {"kind": "magic"}, MESH | {"kind": []}, MESH | {"quantity": "speed"}, MESH | {"quantity": []},
        MESH | {"witness": [1]}, MESH | {"witness": {"parts": []}}]),
    (WRONG, "mesh:8x8", "all-reduce", [bound_of("partition", "9/16", part=[0] * 64), MESH | {"quantity": "latency"}]),
    (MALFORMED, "mesh:4x4", "all-reduce", [MESH]),
    (VALUE, "torus:8x8", "all-reduce", [MESH]),
    *((rule, "ring:4", collective, [bound_of(kind, "1/2", set=ids) for ids in sets])
      for kind, collective in (("direction", "all-reduce"), ("cut", "all-gather"))
      for rule, sets in ((MALFORMED, ([], [0, 0], [4], [-1], [True], 0)), (WRONG, ([0, 1, 2, 3],)))),
    (FOREIGN, "ring:4", "all-gather", [bound_of("partition", "1/2", part=ONE_EACH),
        bound_of("tolls", "3/4", part=ONE_EACH, price=[1] * 8)]),
    (FOREIGN, "ring:4", "reduce-scatter", [bound_of("direction", "1/2", set=[0])]),
    (FOREIGN, "ring:4", "all-reduce", [bound_of("cut", "1/2", set=[0])]),
    (MALFORMED, "ring:4", "all-reduce", [bound_of("degree", "1/2", node=4)]),
    *((rule, "ring:8", "all-reduce", [
        bound_of("distance", "4", "latency", **{"from": 0, "to": 4, "hops": 4, "label": ROUND} | change) for change in changes])
      for rule, changes in (
        (MALFORMED, ({"hops": 4.0}, {"hops": 0}, {"from": 9}, {"label": ROUND[:-1]}, {"extra": 1})),
        (WRONG, ({"hops": 5}, {"to": 3}, {"from": 1}, {"label": [*ROUND[:-1], 2]})))),
    # on a switch (node 3) of three: sets that meet, a single one, one without endpoint, and no sets at all
    *((rule, "switch:3", "all-gather", [bound_of("subpartition", "1/3", sets=some) for some in sets]) for rule, sets in (
        (WRONG, ([[0], [0, 1]], [[0]], [], [[0], [3]], [[0, 0], [0]])),
        (MALFORMED, ([[0], []], [[0], [1, 1]], [[0], [True]], [[0], [9]], [0, 1], {"0": [1]})), (VALUE, ([[0], [1]],)))),
    *((FOREIGN, "switch:3", kind, [bound_of("subpartition", "1/3", sets=[[0], [1]])]) for kind in ("all-reduce", "all-to-all")),
    *((rule, "ring:4", "all-reduce", [bound_of("tolls", "3/4", **witness) for witness in witnesses]) for rule, witnesses in (
        (WRONG, (  # nobody has to pay; prices of nothing; 0 leaves by another link
            {"part": [0] * 4, "price": [1] * 8}, {"part": ONE_EACH, "price": [0] * 8},
            {"part": [0, 1, 1, 1], "price": [1] + [0] * 7})),
        (VALUE, ({"part": [0, 0, 1, 1], "price": [1] * 8},)),
        (MALFORMED, (
            {"part": ONE_EACH, "price": [1] * 7}, {"part": ONE_EACH, "price": [1] * 7 + [-1]},
            {"part": ONE_EACH, "price": [1] * 7 + [1 << 21]}, {"part": ONE_EACH, "price": [1] * 7 + [1.0]},
            {"part": [0, 1, 2, 4], "price": [1] * 8}, {"part": [0, 1, 2, -1], "price": [1] * 8}, {"part": ONE_EACH})))),
    *((rule, "ring:8", "all-reduce", [bound_of("metric", "7/8", **witness) for witness in witnesses]) for rule, witnesses in (
        (MALFORMED, (
            {}, {"length": [1] * 16, "unit": 1}, {"length": [1] * 15}, {"length": [1] * 17}, {"length": 1},
            {"length": [1.0] * 16}, {"length": [True] * 16}, {"length": ["1"] * 16}, {"length": [-1] + [1] * 15},
            {"length": [metric.MAX_LENGTH + 1] + [1] * 15})),
        # past a single long link there is a path that costs nothing
        (WRONG, ({"length": [0] * 16}, {"length": [2] + [0] * 15})), (VALUE, ({"length": [1] * 15 + [2]},)))),
    (VALUE, "ring:8", "all-reduce", [bound_of("metric", value, length=[3] * 16) for value in ("3/4", "1", "8/7")]),
    (MALFORMED, "ring:8", "all-reduce", [bound_of("metric", "6/8", length=[3] * 16)]),
    (WRONG, "ring:8", "all-reduce", [bound_of("metric", "7/8", "latency", length=[3] * 16)]),
    (MALFORMED, "ring:9", "all-reduce", [bound_of("metric", "7/8", length=[3] * 16)]),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "spec", "collective", "bounds"), REFUSED)
def test_wrong_witnesses_are_refused(rule: str, spec: str, collective: str, bounds: list[Any]) -> None:
    assert [refused(instance(spec, collective), bound) for bound in bounds] == [rule] * len(bounds)


#: what a witness shows where it is right
SHOWN = [
    ("mesh:8x8", "all-reduce", MESH),
    ("ring:4", "all-reduce", bound_of("partition", "1/2", part=[0, 0, 1, 1])),  # two links each way between the parts: 2·1 / 4
    ("ring:4", "all-reduce", bound_of("tolls", "3/4", part=ONE_EACH, price=[1] * 8)),
    ("ring:8", "all-reduce", bound_of("metric", "7/8", length=[3] * 16)),
    *(("ring:4,without-link=1>0", "all-reduce", bound_of("direction", value, set=inside))
      for value, inside in (("1", [0]), ("1", [1, 2]), ("1/2", [2]))),
    # a bottleneck that is narrower one way: 0-1 | 2-3 joined by 1>2 alone and 3>0, 0>3; sums for chunks of 2, 3 leave by two links
    ("ring:4,without-link=2>1", "all-gather", bound_of("cut", "1/2", set=[0, 1])),
    ("ring:4,without-link=2>1", "all-gather", bound_of("cut", "1/4", set=[2, 3])),
    ("ring:4,without-link=2>1", "reduce-scatter", bound_of("cut", "1/4", set=[0, 1])),
    ("mesh:4x4", "all-gather", bound_of("subpartition", "3/8", sets=[[0], [3], [12], [15]])),
    ("mesh:4x4", "reduce-scatter", bound_of("subpartition", "3/8", sets=[[0], [3], [12], [15]])),
    # 3>0 in, 1>2 and 0>3 back; out of 1 by two links, out of 2 by one
    ("ring:4,without-link=2>1", "all-gather", bound_of("subpartition", "1/3", sets=[[0, 1], [2, 3]])),
    ("ring:4,without-link=2>1", "reduce-scatter", bound_of("subpartition", "1/3", sets=[[1], [2]])),
    ("switch:3", "all-gather", bound_of("subpartition", "1/3", sets=[[0], [1, 3]])),
    ("mesh:8x8", "all-gather", bound_of("degree", "63/128", node=0)),
]  # fmt: skip


@pytest.mark.parametrize(("spec", "collective", "bound"), SHOWN)
def test_right_witnesses_show_their_value(spec: str, collective: str, bound: dict[str, Any]) -> None:
    of = instance(spec, collective)
    assert check_bound(of, bound) == Fraction(bound["value"])
    made = make_bound(of, bound["kind"], bound["witness"])
    assert {name: value for name, value in made.items() if name != "class"} == bound
    assert check_bound(of, made) == Fraction(bound["value"])
    with pytest.raises(WitnessError) as caught:
        check_bound(of, made | {"class": [*made["class"], "delay 2"]})
    assert caught.value.rule == "witness-class"


def test_partition_of_a_damaged_torus_leaves_out_removed_nodes() -> None:
    of = instance("torus:4x4,without-node=5,without-link=1-2")
    part = [-1 if node == 5 else node for node in range(16)]
    links = len(of.topology.src)
    bound = make_bound(of, "partition", {"part": part})
    assert check_bound(of, bound) == Fraction(28, links)
    part[5] = 5
    assert refused(of, {**bound, "witness": {"part": part}}) == MALFORMED


def test_bounds_follow_the_shares() -> None:
    for kind, inside in (("cut", {"set": [1, 2, 3]}), ("degree", {"node": 0}), ("degree", {"node": 1})):
        assert made(instance("ring:4", "all-gather", shares=ALL_AT_ONE), kind, **inside) == "1/2"  # by two links
    with pytest.raises(WitnessError):
        made(instance("ring:4", "all-gather", shares=ALL_AT_ONE), "cut", set=[0])
    for kind in ("all-gather", "reduce-scatter"):  # sets of which each may hold everything
        of = instance("mesh:4x4", kind, shares=(Fraction(1), *[Fraction(0)] * 15))
        assert made(of, "subpartition", sets=[[0], [3], [12], [15]]) == "3/8"


def test_shares_must_be_parts_of_one_message() -> None:
    for shares in ((Fraction(1),), (Fraction(1, 2),) * 4, (Fraction(2), Fraction(-1), Fraction(0), Fraction(0))):
        with pytest.raises(InputError):
            instance("ring:4", "all-gather", shares=shares)


def test_distance_counts_delay_between_hops() -> None:
    for delay, steps in ((1, 4), (2, 7), (3, 10)):
        of = instance("ring:8", delay=delay)
        bound = cheap_bounds(of)[-1]
        assert (bound["kind"], check_bound(of, bound)) == ("distance", steps)


def test_distance_speaks_of_nodes_with_data() -> None:
    away = bound_of("distance", "2", "latency", **{"from": 1, "to": 3, "hops": 2, "label": [1, 0, 1, 2]})
    assert check_bound(instance("ring:4"), away) == 2
    for kind in ("all-gather", "reduce-scatter"):
        assert refused(instance("ring:4", kind, shares=ALL_AT_ONE), away) == WRONG
    toward = away | {"witness": {"from": 2, "to": 0, "hops": 2, "label": [2, 1, 0, 1]}}
    assert check_bound(instance("ring:4", "reduce-scatter", shares=ALL_AT_ONE), toward) == 2


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
    assert refused(of, longer) in (WRONG, MALFORMED)  # malformed: a label no smaller than the number of nodes


SPOKES = [ends for node in range(3) for ends in ((node, 3, 1), (3, node, 1))]


def test_switches_take_no_step_of_their_own() -> None:
    bounds = cheap_bounds(Instance(network("eees", SPOKES), ALL_REDUCE))
    assert [(bound["kind"], bound["value"]) for bound in bounds] == [("degree", "1"), ("counting", "4/3"), ("distance", "1")]


def test_reducing_switches_invalidate_the_count_of_transfers() -> None:
    of = Instance(network("eees", SPOKES, reducing=[3]), ALL_REDUCE)
    assert "counting" not in {bound["kind"] for bound in cheap_bounds(of)}
    assert refused(of, bound_of("counting", "4/3")) == FOREIGN
    assert made(of, "partition", part=ONE_EACH) == "2/3"  # three links up and three down carry a sum


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
    assert made(square, "tolls", part=list(range(8)), price=price) == "1"
    one = Instance(network("eee", [(0, 1, 1), (1, 0, 3), (1, 2, 2), (2, 1, 2)]), ALL_REDUCE)
    assert made(one, "tolls", part=[0, 1, 1], price=[1, 0, 0, 0]) == "1"  # that of the direction 0>1
    assert made(one, "tolls", part=[0, 1, 2], price=[1, 1, 1, 1]) == "1/2"  # that of the partition
    behind = network("eess", [(0, 2, 1), (2, 0, 2), (1, 3, 2), (3, 1, 1), (2, 3, 4), (3, 2, 4)], reducing=[2])
    assert made(Instance(behind, ALL_REDUCE), "tolls", part=[0, 1, 2, 2], price=[1, 0, 0, 1, 0, 0]) == "1/2"


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
    """Whatever the schedule: trees or not, and wherever sums are made."""
    of, nodes, values = Instance(topology, ALL_REDUCE), len(topology.kind), []
    price = [rng.choice((0, 1, 1, 2, 3)) for _ in topology.src]
    for part in (list(range(nodes)), [rng.randrange(3) for _ in range(nodes)]):
        with suppress(WitnessError):
            values.append(Fraction(make_bound(of, "tolls", {"part": part, "price": price})["value"]))
    volume = int(np.dot(price, topology.capacity))
    assert all(value * volume <= cheapest_all_reduce(of, price) for value in values)
    return len(values) > 0
