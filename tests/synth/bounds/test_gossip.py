"""The gossip witness: cheapest messages as brute force has them, its class, refusals, and groups in three of four boxes."""

from fractions import Fraction
from itertools import permutations, product
from random import Random

import numpy as np
import pytest

from certree.models.machine.machine import load_machine
from certree.models.network.spec import parse_topology
from certree.models.schedule.collective import Collective, CollectiveKind
from certree.synth.bounds.find import find_bounds
from certree.synth.bounds.gossips import few_parts
from certree.synth.method import Request, load_methods
from certree.verify.bounds.instance import Instance
from certree.verify.bounds.witness import WitnessError, check_bound, make_bound
from certree.verify.bounds.witnesses.gossip import least_messages
from tests.verify.build import network

BOXES = parse_topology("h100:4")
NARROW = int(BOXES.capacity.min())


def among(*members: int, kind: str = "all-reduce") -> Collective:
    return Collective(CollectiveKind(kind), None, members)


def informed(parts: int, members: list[int], messages: tuple[tuple[int, int], ...]) -> bool:
    """Whether all members know all of them after these messages, in this order."""
    known = [{part} & set(members) for part in range(parts)]
    for source, target in messages:
        known[target] = known[target] | known[source]
    return all(known[one] == set(members) for one in members)


@pytest.mark.parametrize("seed", range(12))
def test_cheapest_messages(seed: int) -> None:
    """The least cost is that of all sequences of up to five messages between three parts, two or three of them with members."""
    draws = Random(seed)
    members = sorted(draws.sample(range(3), 2 + seed % 2))
    costs = [[draws.randrange(1, 9) for _ in range(3)] for _ in range(3)]
    pairs = list(permutations(range(3), 2))
    sequences = (chosen for count in range(2, 6) for chosen in product(pairs, repeat=count) if informed(3, members, chosen))
    wanted = min(sum(costs[source][target] for source, target in chosen) for chosen in sequences)
    found, messages = least_messages(costs, members)
    assert found == wanted == sum(costs[source][target] for source, target in messages)
    assert informed(3, members, tuple(messages))


@pytest.mark.parametrize("parts", [2, 3, 4])
def test_equal_costs_are_the_bound_by_a_partition(parts: int) -> None:
    assert least_messages([[1] * parts] * parts, list(range(parts)))[0] == 2 * (parts - 1)


def boxes_witness(out: tuple[int, ...], into: tuple[int, ...]) -> dict[str, list[int]]:
    """Boxes as parts, and the lengths of links from and to rails by box."""
    part = [node // 8 if node < 32 else node - 32 if node < 36 else node for node in range(len(BOXES.kind))]
    length = [
        0 if capacity != NARROW else out[part[tail]] if tail < 32 else into[part[head]]
        for tail, head, capacity in zip(BOXES.src.tolist(), BOXES.dst.tolist(), BOXES.capacity.tolist(), strict=True)
    ]
    return {"part": part, "length": length}


def test_members_in_three_of_four_boxes() -> None:
    """A message through the fourth box enters two boxes: 3/40, where a partition has 1/16; the certificate has it, too."""
    of = Instance(BOXES, among(0, 1, 8, 16))
    bound = make_bound(of, "gossip", boxes_witness((2, 2, 2, 1), (1, 1, 1, 0)))
    assert (bound["value"], bound["class"]) == ("3/40", ["any shares", "no coding", "switches only forward"])
    assert max(Fraction(one["value"]) for one in find_bounds(BOXES, of.collective) if one["quantity"] == "bandwidth") == Fraction(
        3, 40
    )


def test_the_same_parts_are_tried_once() -> None:
    """Capacities within three boxes of four endpoints all differ, and are more than those between boxes; one box has no members."""
    pairs = [(u, v) for u in range(12) for v in range(12) if u != v and (u // 4 == v // 4 or u % 4 == v % 4 == 0)]
    links = [(u, v, 1 if u // 4 != v // 4 else 10 + number) for number, (u, v) in enumerate(pairs)]
    parts = list(few_parts(Instance(network("e" * 12, links), among(0, 1, 4))))
    assert len({part.tobytes() for part in parts}) == len(parts)
    assert any(len(np.unique(part)) == 3 for part in parts)


@pytest.mark.parametrize("value", ["3/41", "1/13"])
def test_other_values_are_refused(value: str) -> None:
    of = Instance(BOXES, among(0, 1, 8, 16))
    bound = make_bound(of, "gossip", boxes_witness((2, 2, 2, 1), (1, 1, 1, 0)))
    with pytest.raises(WitnessError, match="the gossip witness shows a bandwidth bound of 3/40") as refused:
        check_bound(of, bound | {"value": value})
    assert refused.value.rule == "witness-value"


@pytest.mark.parametrize(
    ("of", "witness", "rule", "words"),
    [
        (
            among(0, 8, kind="all-gather"),
            boxes_witness((1,) * 4, (0,) * 4),
            "witness-foreign",
            "bounds an all-reduce, not an all-gather",
        ),
        (among(0, 1), boxes_witness((1,) * 4, (0,) * 4), "witness-wrong", "no two parts hold"),
        (among(0, 8), boxes_witness((0,) * 4, (0,) * 4), "witness-wrong", "messages of length 0 are enough"),
        (among(0, 8), {"part": list(range(len(BOXES.kind))), "length": [1] * len(BOXES.src)}, "witness-foreign", r"not 32 · 2"),
        (among(0, 8), {"part": [0] * 44}, "witness-malformed", "length"),
        (among(0, 8), boxes_witness((1,) * 4, (0,) * 4) | {"length": [-1]}, "witness-malformed", "length"),
    ],
)
def test_refusals(of: Collective, witness: dict[str, list[int]], rule: str, words: str) -> None:
    with pytest.raises(WitnessError, match=words) as refused:
        make_bound(Instance(BOXES, of), "gossip", witness)
    assert refused.value.rule == rule


@pytest.mark.parametrize("seed", range(6))
def test_no_schedule_of_a_group_is_below(seed: int) -> None:
    """Schedules of `relays` on drawn networks of six endpoints in three parts, with drawn lengths."""
    draws = Random(seed)
    both = {(u, v) for u, v in [(node, draws.randrange(node)) for node in range(1, 6)] + [(0, 5), (1, 4), (2, 5)] if u != v}
    topology = network("eeeeee", [(u, v, draws.choice((1, 2))) for u, v in sorted(both | {(v, u) for u, v in both})])
    members = tuple(sorted(draws.sample(range(6), 3)))
    made = load_methods()["relays"](Request(topology, among(*members), 1 << 16, load_machine("multitree")))
    of, value = Instance(topology, among(*members)), Fraction(0)
    for _ in range(20):
        part = [draws.randrange(3) for _ in range(6)]
        length = [draws.randrange(4) for _ in topology.src]
        if len({part[one] for one in members}) > 1 and any(length):
            try:
                value = max(value, Fraction(make_bound(of, "gossip", {"part": part, "length": length})["value"]))
            except WitnessError:  # messages of length 0 are enough
                continue
    assert 0 < value <= made.bandwidth_time
    assert np.array_equal(made.collective.members_of(topology), members)
