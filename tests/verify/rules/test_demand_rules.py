"""Blocks that differ in size: the checker against whole numbers that are moved, and wrong schedules by the rule they break.

"demand": `WRONG` has examples of the rule.
"""

from dataclasses import replace
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

from certree.models.demand import Demand
from certree.models.network.topology import Topology
from certree.models.schedule.collective import Collective, CollectiveKind
from certree.models.schedule.schedule import Schedule
from certree.verify.checker import verify_schedule
from tests.drawn import examples, given_at_least, rngs
from tests.verify.build import build, network
from tests.verify.moved import changed, drawn_demand
from tests.verify.rules.agreement import agree, agree_after
from tests.verify.rules.expected import rejected

WIDE = network("eee", [(0, 1, 2), (1, 0, 2), (1, 2, 1), (2, 1, 1)])


def moving(topology: Topology | str, sizes: dict[int, tuple[int, int, int]], text: str, **fields: Any) -> Schedule:
    """An alltoallv of chunks (source, target, granules), which are the demand unless one is given."""
    wanted: dict[tuple[int, int], int] = {}
    for source, target, granules in sizes.values():
        wanted[source, target] = wanted.get((source, target), 0) + granules
    demand = fields.pop("demand", Demand(tuple((u, v, size) for (u, v), size in wanted.items())))
    roots, targets, granules = (list(column) for column in zip(*sizes.values(), strict=True))
    collective = Collective(CollectiveKind.ALL_TO_ALL, demand=demand)
    return build(topology, collective, text, roots=roots, targets=targets, chunk_granules=granules, **fields)


@given_at_least(150, rngs)
@examples(200)
def test_drawn_schedules_are_valid_by_both(rng: Random) -> bool:
    return agree(drawn_demand(rng))


@given_at_least(250, rngs, st.integers(1, 3))
@examples(600)
def test_changed_schedules_are_invalid_by_both(rng: Random, changes: int) -> bool:
    return not agree_after(rng, changes, drawn_demand(rng), resized_or_changed)


def resized_or_changed(rng: Random, schedule: Schedule) -> Schedule:
    """The schedule after one change, of a size or of a transfer."""
    return resized(rng, schedule) if rng.random() < 0.4 else changed(rng, schedule)


def resized(rng: Random, schedule: Schedule) -> Schedule:
    """The schedule with a chunk of another size or another length of a step."""
    sizes, rounds = np.array(schedule.chunk_granules), np.array(schedule.rounds)
    column = rng.choice((sizes, rounds))
    place = rng.randrange(len(column))
    column[place] = max(1, column[place] + rng.choice((-2, -1, 1)))
    return replace(schedule, chunk_granules=sizes, rounds=rounds)


RIGHT = {
    "a message as long as the step": moving("ring:3", {0: (0, 1, 5)}, "0>1", rounds=[5]),
    "two messages on a link": moving("ring:3", {0: (0, 1, 5), 1: (0, 1, 2)}, "0>1 1:0>1", rounds=[7]),
    "two messages side by side": moving(WIDE, {0: (0, 1, 5), 1: (0, 1, 2), 2: (0, 1, 3)}, "0>1 1:0>1 2:0>1", rounds=[5]),
    "three messages over two lanes": moving(WIDE, dict.fromkeys(range(3), (0, 1, 2)), "0>1 1:0>1 2:0>1", rounds=[3]),
    "by way of another endpoint": moving(WIDE, {0: (0, 2, 4)}, "0>1; 1>2", rounds=[4, 4]),
    "steps of different lengths": moving("ring:3", {0: (0, 1, 9), 1: (1, 2, 1)}, "1:1>2; 0>1", rounds=[1, 9]),
}
#: rule, rows of the first violation, the schedule, and some words of its message
WRONG = {
    "a message longer than the step": (
        "capacity", (0,), moving("ring:3", {0: (0, 1, 5)}, "0>1", rounds=[4]),
        "link 0>1 carries 5 granules (capacity 1 x 4 rounds): row 0 (copy of chunk 0, 0>1)" ),
    "a message longer than the step on a wide link": (
        "capacity", (0,), moving(WIDE, {0: (0, 1, 5)}, "0>1", rounds=[4]),
        "link 0>1 carries 5 granules (4 rounds, the longest message has 5)"),
    "three messages too much for two lanes": (
        "capacity", (0, 1, 2), moving(WIDE, dict.fromkeys(range(3), (0, 1, 3)), "0>1 1:0>1 2:0>1", rounds=[4]),
        "link 0>1 carries 9 granules (capacity 2 x 4 rounds)"),
    "a block that is too small": (
        "demand", (), moving("ring:3", {0: (0, 1, 5)}, "0>1", rounds=[5], demand=Demand(((0, 1, 6),))),
        "5 granule(s) from node 0 to node 1; the demand is 6"),
    "a block that is too large": (
        "demand", (), moving("ring:3", {0: (0, 1, 5), 1: (0, 1, 2)}, "0>1 1:0>1", rounds=[7], demand=Demand(((0, 1, 6),))),
        "7 granule(s) from node 0 to node 1; the demand is 6"),
    "a block for somebody else": (
        "demand", (), moving("ring:3", {0: (0, 2, 5)}, "0>2", rounds=[5], demand=Demand(((0, 1, 5),))),
        "0 granule(s) from node 0 to node 1; the demand is 5"),
    "a block from somebody else": (
        "missing", (), moving("ring:3", {0: (0, 1, 5)}, "2>1", rounds=[5]), "node 1 has no copy of chunk 0 of node 0"),
    "a chunk that stays": (
        "missing", (), moving("ring:3", {0: (0, 1, 5), 1: (0, 1, 2)}, "0>1", rounds=[5]), "chunk 1"),
    "a part that leaves too early": (
        "not-held", (1,), moving(WIDE, {0: (0, 2, 4)}, "0>1 1>2", rounds=[4]), "node 1 does not hold it yet"),
}  # fmt: skip


@pytest.mark.parametrize("name", RIGHT)
def test_right_schedules_are_accepted(name: str) -> None:
    assert verify_schedule(RIGHT[name]).violations == ()


@pytest.mark.parametrize("name", WRONG)
def test_wrong_schedules_are_rejected_by_the_rule_they_break(name: str) -> None:
    rejected(WRONG[name])


def test_routes_take_the_links_that_they_name() -> None:
    """Over a switch; its link to endpoint 2 carries both."""
    sizes = {0: (0, 2, 3), 1: (1, 2, 4)}
    star = network("eees", [(0, 3, 1), (3, 0, 1), (1, 3, 1), (3, 1, 1), (2, 3, 1), (3, 2, 1)])
    fields = {"route": [0, 1], "routes": ((0, 5), (2, 5))}
    assert verify_schedule(moving(star, sizes, "0>2 1:1>2", rounds=[7], **fields)).valid
    verdict = verify_schedule(moving(star, sizes, "0>2 1:1>2", rounds=[6], **fields))
    assert verdict.counts == {"capacity": 1}
    assert verdict.serialized_rounds == 7
    assert "link 3>2 carries 7 granules" in verdict.violations[0].message


def test_quality_is_in_granules() -> None:
    quality = verify_schedule(RIGHT["steps of different lengths"]).quality
    assert quality is not None
    assert (quality.bandwidth_time, quality.bandwidth_bound, quality.latency_bound) == (1, Fraction(9, 20), 1)
