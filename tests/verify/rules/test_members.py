"""Collectives of some endpoints only: the checker against whole numbers that are moved, and wrong schedules by their rules."""

from random import Random
from typing import Any

import pytest
from hypothesis import strategies as st

from certree.models.schedule.collective import Collective, CollectiveKind
from certree.models.schedule.schedule import Schedule
from certree.verify.checker import verify_schedule
from tests.drawn import examples, given_at_least, rngs
from tests.verify.build import build
from tests.verify.moved import drawn_among_members
from tests.verify.rules.agreement import agree, agree_after
from tests.verify.rules.expected import rejected_first


def among(kind: str, members: tuple[int, ...], text: str, topology: str = "mesh:1x3", **fields: Any) -> Schedule:
    """An operation among some endpoints, of transfers as `tests.transfers` writes them."""
    return build(topology, Collective(CollectiveKind(kind), fields.get("collective_root"), members), text, **fields)


@given_at_least(100, rngs)
@examples(200)
def test_drawn_schedules_are_valid_by_both(rng: Random) -> bool:
    schedule = drawn_among_members(rng)
    assert agree(schedule)
    return bool(set(schedule.dst.tolist()) - set(schedule.collective.members or ()))


@given_at_least(300, rngs, st.integers(1, 3))
@examples(600)
def test_changed_schedules_are_invalid_by_both(rng: Random, changes: int) -> bool:
    return not agree_after(rng, changes, drawn_among_members(rng))


RIGHT = {
    "a stranger passes sums on": among("all-reduce", (0, 2), "0>1; 1+2; 2>1; 1>0"),
    "a stranger adds": among("all-reduce", (0, 2), "0>1; 2+1; 1>0 1>2"),
    "a stranger keeps what it got": among("broadcast", (0, 2), "0>1; 1>2", collective_root=0),
    "a stranger between the members of a gather": among("gather", (0, 2), "0>1; 1>2", collective_root=2, roots=[0], targets=[2]),
    "strangers that nothing passes": among("all-gather", (0, 1), "0>1 1:1>0", roots=[0, 1]),
    "a stranger with scratch": among(
        "all-reduce", (0, 2), "0>1 2>1; 1+1; 1>0 1>2", buffers=2, src_buffer=[0, 0, 1, 0, 0], dst_buffer=[0, 1, 0, 0, 0]
    ),
}
#: rule, rows of the first violation, the schedule, and some words of its message
WRONG = {
    "a stranger has nothing to send": (
        "not-held", (0,), among("all-reduce", (0, 2), "1+2; 0+1; 2>1; 1>0"), "node 1 does not hold it yet"),
    "a stranger has nothing to add to": (
        "not-held", (0,), among("all-reduce", (0, 2), "0+1; 1+2; 2>1; 1>0"),
        "node 1 holds nothing of it to add to; a copy is needed"),
    "a member is left out": (
        "missing", (), among("all-reduce", (0, 1, 2), "0+1; 1>0", "ring:4"), "node 0 lacks the contribution of node 2"),
    "a member gets nothing": (
        "missing", (), among("broadcast", (0, 2), "0>1", collective_root=0), "no transfer brings chunk 0 to node 2"),
    "a sum passes a stranger twice": (
        "duplicate", (3, 0), among("all-reduce", (0, 2), "0>1; 1+2; 2>1; 0+1; 1>0"),
        "counts the contribution of node 0 a second time; node 1 has"),
    "two copies meet at a stranger": (
        "write-conflict", (0, 1), among("all-reduce", (0, 2), "0>1 2>1; 1>0 1>2"),
        "several copies reach chunk 0 of node 1 at once"),
    "a stranger sends too early": (
        "causality", (2, 1), among("all-reduce", (0, 2), "0>1; 2+1 1>2; 1>0"),
        "leaves node 1 before row 1 (reduce of chunk 0, 2>1, step 1) has landed there"),
    "a block too few": (
        "shares", (), among("gather", (0, 1, 2), "0>1; 1>2", collective_root=2, roots=[0], targets=[2]),
        "0 chunk(s) from node 1 to node 2, but 1 chunk(s) from node 0 to node 2"),
    "a block of an all-to-all too few": (
        "shares", (), among("all-to-all", (0, 2), "0>1; 1>2", roots=[0], targets=[2]), "0 chunk(s) from node 2 to node 0"),
}  # fmt: skip


@pytest.mark.parametrize("name", RIGHT)
def test_right_schedules_are_accepted(name: str) -> None:
    assert verify_schedule(RIGHT[name]).violations == ()


@pytest.mark.parametrize("name", WRONG)
def test_wrong_schedules_are_rejected_by_the_rule_they_break(name: str) -> None:
    rejected_first(WRONG[name])


def test_the_same_transfers_lack_what_strangers_would_contribute() -> None:
    """Without members everyone takes part."""
    assert verify_schedule(among("all-reduce", (0, 2), "0>1; 1+2; 2>1; 1>0")).valid
    assert not verify_schedule(build("mesh:1x3", "all-reduce", "0>1; 1+2; 2>1; 1>0")).valid


@pytest.mark.parametrize("size", [70, 130])
def test_sets_of_several_words(size: int) -> None:
    """More than 64 endpoints: members at both ends of a line, and strangers, who pass the sum on, between them."""
    last = size - 1
    there = "; ".join(f"{node}>{node + 1}" for node in range(last - 1))
    back = "; ".join(f"{node + 1}>{node}" for node in reversed(range(last)))
    schedule = among("all-reduce", (0, last), f"{there}; {last - 1}+{last}; {back}", f"mesh:1x{size}")
    assert verify_schedule(schedule).valid
    assert not verify_schedule(among("all-reduce", (0, 2, last), f"{there}; {last - 1}+{last}; {back}", f"mesh:1x{size}")).valid
