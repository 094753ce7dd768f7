"""Schedules with several buffers: the checker against whole numbers that are moved, and wrong schedules by the rule they break."""

from collections import Counter
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from hypothesis import strategies as st

from certree.models.network.topology import Topology
from certree.models.schedule.schedule import Schedule
from certree.verify.checker import verify_schedule
from tests.drawn import examples, given_at_least, rngs
from tests.verify.build import COPY, REDUCE, build, network
from tests.verify.moved import changed, drawn, start_and_end
from tests.verify.rules.agreement import agree, agree_after
from tests.verify.rules.expected import rejected_first

Move = tuple[int, int, int, int]  # from node, buffer, to node, buffer
#: endpoints 0, 1 and a switch 2 that adds
SUMMING = network("ees", [(0, 2, 1), (2, 0, 1), (1, 2, 1), (2, 1, 1), (0, 1, 1), (1, 0, 1)], reducing=[2])


def buffered(topology: Topology | str, collective: str, text: str, **fields: Any) -> Schedule:
    """Steps with `;` between them, in each `0.1+2.0` (what buffer 1 of node 0 holds is added to buffer 0 of node 2) or `0.1>2.0`
    (a copy); a chunk in front with a colon."""
    rows, src_buffer, dst_buffer = [], [], []
    for step, moves in enumerate(text.split(";")):
        for move in moves.split():
            chunk, _, ends = move.rpartition(":")
            op = "+" if "+" in ends else ">"
            (u, a), (v, b) = (map(int, end.split(".")) for end in ends.split(op))
            rows.append((int(chunk or 0), REDUCE if op == "+" else COPY, step, u, v))
            src_buffer.append(a)
            dst_buffer.append(b)
    return build(topology, collective, rows, **{"buffers": 2, "src_buffer": src_buffer, "dst_buffer": dst_buffer} | fields)


@given_at_least(150, rngs)
@examples(200)
def test_drawn_schedules_are_valid_by_both(rng: Random) -> bool:
    schedule = drawn(rng)
    assert agree(schedule)
    return bool(schedule.src_buffer is not None and (schedule.src_buffer > 0).any())


@given_at_least(300, rngs, st.integers(1, 3))
@examples(600)
def test_changed_schedules_are_invalid_by_both(rng: Random, changes: int) -> bool:
    return not agree_after(rng, changes, drawn(rng))


@given_at_least(60, rngs)
@examples(600)
def test_changed_schedules_that_are_still_valid_by_both(rng: Random) -> bool:
    return agree(changed(rng, drawn(rng)))


def landed_anyhow(schedule: Schedule, rng: Random) -> bool:
    """Whether all results are right when each transfer lands at a drawn time within its delay (B10)."""
    held, due = start_and_end(schedule)
    names = ("src", "chunk", "src_buffer", "dst", "dst_buffer", "op", "step")
    columns = [getattr(schedule, name) for name in names]
    rows = list(zip(*([0] * schedule.transfers if column is None else column.tolist() for column in columns), strict=True))
    flying: list[tuple[int, tuple[int, int, int], int, int]] = []  # time of landing, into, op, what it carries
    for now in range(schedule.steps + schedule.delay):
        landing = [one for one in flying if one[0] == now]
        flying = [one for one in flying if one[0] > now]
        rng.shuffle(landing)
        for _, into, op, carried in landing:
            held[into] = carried if op == COPY else held[into] + carried
        for src, chunk, a, dst, b, op, step in rows:
            if step == now:
                flying.append((rng.randint(now + 1, now + schedule.delay), (dst, chunk, b), op, held[src, chunk, a]))
    return all(held.get(cell) == value for cell, value in due.items())


@given_at_least(60, rngs)
@examples(300)
def test_results_do_not_depend_on_when_transfers_land(rng: Random) -> bool:
    schedule = drawn(rng) if rng.random() < 0.5 else changed(rng, drawn(rng))
    if not verify_schedule(schedule).valid:
        return False
    assert all(landed_anyhow(schedule, rng) for _ in range(3))
    return schedule.delay > 1


@given_at_least(60, rngs)
@examples(300)
def test_iterations_that_overlap_by_both(rng: Random) -> bool:
    """Iterations meet on links alone: each has buffers of its own."""
    schedule = drawn(rng)
    return not agree(replace(schedule, period=rng.randint(1, schedule.steps), repeats=rng.randint(1, 4)))


def test_changes_reach_every_rule() -> None:
    """The properties above mean something: each rule about buffers is broken by many changed schedules."""
    seen = Counter[str]()
    for seed in range(500):
        rng = Random(seed)
        seen.update(verify_schedule(changed(rng, changed(rng, drawn(rng)))).counts.keys())
    rules = {"self", "capacity", "write-conflict", "not-held", "duplicate", "original-lost", "missing", "overwritten", "in-flight"}
    assert {name for name, count in seen.items() if count >= 3} >= rules | {"causality"}, seen


RING_5 = (
    " ".join(f"{i}.0>{(i + 1) % 5}.1 {i}.0>{(i - 1) % 5}.2" for i in range(5)),
    " ".join(f"{i}.1+{(i + 1) % 5}.0 {i}.2+{(i - 1) % 5}.0 {i}.1+{i}.0 {i}.2+{i}.0" for i in range(5)),
)


def ring_of_five(first: str = RING_5[0], second: str = RING_5[1], **fields: Any) -> Schedule:
    """An all-reduce on a ring of five in two steps: what each receives from one side goes on to the other."""
    return buffered("ring:5", "all-reduce", f"{first}; {second}", **{"buffers": 3} | fields)


def one_shot(nodes: int, source: int = 1) -> Schedule:
    """An all-reduce on a switch, a round to each other endpoint: after the first step originals leave from buffer `source`."""
    keep = " ".join(f"{i}.0>{i}.1" for i in range(nodes))
    steps = [
        " ".join(f"{i}.{source if shift > 1 else 0}+{(i + shift) % nodes}.0" for i in range(nodes)) for shift in range(1, nodes)
    ]
    return buffered(f"full:{nodes}", "all-reduce", "; ".join([f"{keep} {steps[0]}", *steps[1:]]))


RIGHT = {
    "ring of five in two steps": ring_of_five(),
    "one shot": one_shot(8),
    "local copy and back": buffered("full:2", "all-reduce", "0.0+1.0 1.0+0.0; 0.0>0.1; 0.1>0.0"),
    "several iterations": buffered("full:2", "all-reduce", "0.0>1.1 1.0>0.1; 0.1+0.0 1.1+1.0", period=1, repeats=9),
    "read in the step in which a transfer leaves for the cell": buffered("full:2", "all-reduce", "0.0+1.0 1.0+0.0", delay=3),
    "two reduces in flight": buffered("full:3", "reduce", "0.0+2.0; 1.0+2.0", roots=[2], collective_root=2, delay=3),
    "several reduces into scratch": buffered(
        "full:3", "reduce", "2.0>2.1; 0.0+2.1 1.0+2.1; 2.1>2.0", roots=[2], collective_root=2),
    "unused buffers": buffered("full:2", "all-reduce", "0.0+1.0 1.0+0.0", buffers=1024),
    "through a switch that adds": buffered(
        SUMMING, "all-reduce", "0.0>0.1 1.0>1.1; 0.1+2.0 1.1+2.0; 2.0>0.1 2.0>1.1; 0.1>0.0 1.1>1.0"),
    "chunks apart": buffered("full:2", "all-gather", "0:0.0>1.1; 0:1.1>1.0 1:0.0>1.1; 1:1.1>1.0", roots=[0, 0]),
}  # fmt: skip

#: fault: (rule and rows of the first violation, the schedule, words of its message)
WRONG: dict[str, tuple[str, tuple[int, ...], Schedule, str]] = {
    "scratch read before it is written": (
        "not-held", (1,), buffered("full:2", "reduce", "0.0>1.1 1.1+1.0", roots=[1], collective_root=1),
        "buffer 1 of node 1 does not hold it yet; it lands there in step 1, by row 0 (copy of chunk 0, 0.0>1.1, step 0)"),
    "scratch that is never written": (
        "not-held", (0,), buffered("full:2", "reduce", "1.1+1.0; 0.0+1.0", roots=[1], collective_root=1), "it never does"),
    "reduce into an empty scratch": (
        "not-held", (0,), buffered("full:2", "reduce", "0.0+1.1; 0.0+1.0", roots=[1], collective_root=1),
        "buffer 1 of node 1 holds nothing of it to add to; a copy is needed"),
    "transfer from a buffer to itself": (
        "self", (0,), buffered("full:2", "all-reduce", "0.1>0.1 0.0+1.0 1.0+0.0"), "sends to itself"),
    "local transfer with a route": (
        "link", (0,), buffered("full:2", "all-reduce", "0.0>0.1 0.0+1.0 1.0+0.0", route=[0, -1, -1], routes=((0, 1),)),
        "comes to a node twice"),
    "scratch buffer of a switch": (
        "link", (0,), buffered(SUMMING, "all-reduce", "0.0>2.1 0.0+1.0 1.0+0.0"), "node 2 is a switch: it has one accumulator"),
    "local transfer at a removed node": (
        "link", (0,), buffered("mesh:1x3,without-node=2", "all-reduce", "2.0>2.1 0.0+1.0 1.0+0.0"), "has no node 2"),
    "copy and reduce into one scratch": (
        "write-conflict", (1, 2), buffered("full:3", "reduce", "2.0>2.1; 0.0+2.1 1.0>2.1; 2.1>2.0", roots=[2], collective_root=2),
        "a copy and a reduce reach chunk 0 of buffer 1 of node 2 at once"),
    "original added to before it is sent again": (
        "original-lost", (6, 0), buffered("full:3", "all-reduce", "1.0+0.0 2.0+0.0 0.0+1.0 2.0+1.0 1.0+2.0 0.0>0.1; 0.0+2.0"),
        "row 6 (reduce of chunk 0, 0.0>2.0) no longer finds the contribution of node 0 alone in buffer 0 of node 0, since row 0"),
    "scratch overwritten before it is read": (
        "overwritten", (2, 1),
        buffered("full:3", "reduce", "0.0>1.1; 2.0>1.1; 1.1+1.0", roots=[1], collective_root=1),
        "node 1 lacks the contribution of node 0: row 1 (copy of chunk 0, 2.0>1.1, step 1) replaced the contribution of node 0 in "
        "buffer 1 of node 1 before row 2 (reduce of chunk 0, 1.1>1.0, step 2) left it"),
    "data overwritten by a scratch": (
        "overwritten", (2,), buffered("full:2", "reduce", "0.0>1.1 ; 1.1>0.1; 1.1>1.0", roots=[1], collective_root=1),
        "replaced the contribution of node 1 in buffer 0 of node 1"),
    "cell read while a copy is in flight": (
        "in-flight", (2, 1), buffered(
            "full:2", "reduce", "0.0>1.1;; 0.0>1.1; 1.1+1.0", roots=[1], collective_root=1, delay=2),
        "row 2 (reduce of chunk 0, 1.1>1.0) leaves buffer 1 of node 1 while row 1 (copy of chunk 0, 0.0>1.1, step 2) is in flight "
        "there (until step 4)"),
    "copy sent after a reduce": (
        "in-flight", (2, 1), buffered(
            "full:2", "all-reduce", "0.0>0.1;; 1.0+0.1; 0.0>0.1 ; ; 0.0+1.0 1.0+0.0", delay=2),
        "is sent into buffer 1 of node 0 while row 1 (reduce of chunk 0, 1.0>0.1, step 2) is in flight there (until step 4)"),
    "nothing comes": ("missing", (), buffered("full:2", "all-reduce", "0.0>0.1"), "no transfer takes it away from node 1"),
    "scratch link overfilled": (
        "capacity", (0, 1), buffered("full:2", "all-reduce", "0.0>1.1 0.0+1.0 1.0+0.0"), "link 0>1 carries 2 transfers"),
}  # fmt: skip


@pytest.mark.parametrize("name", RIGHT)
def test_right_schedules_are_accepted(name: str) -> None:
    assert verify_schedule(RIGHT[name]).violations == ()


@pytest.mark.parametrize("name", WRONG)
def test_wrong_schedules_are_rejected_by_the_rule_they_break(name: str) -> None:
    rejected_first(WRONG[name])


def test_a_ring_of_five_needs_its_scratch_buffers() -> None:
    """What two steps do with scratch buffers they do not do with the data buffer in their place."""
    quality = verify_schedule(ring_of_five()).quality
    assert quality is not None
    assert (quality.latency_steps, quality.latency_bound) == (2, 2)
    for buffer in "12":
        without = verify_schedule(ring_of_five(RING_5[0].replace(f".{buffer}", ".0"), RING_5[1].replace(f".{buffer}", ".0")))
        assert not without.valid


def test_originals_of_a_one_shot_come_from_scratch() -> None:
    """From the data buffers sums leave: with three endpoints the next transfer counts twice, with more a later one."""
    assert verify_schedule(one_shot(3, source=0)).counts == {"original-lost": 3}
    assert set(verify_schedule(one_shot(8, source=0)).counts) == {"duplicate"}


@pytest.mark.parametrize("delay", [1, 2, 3])
def test_rule_in_flight_is_about_schedules_with_several_buffers(delay: int) -> None:
    """In version 1 a transfer leaves with what its source holds, whatever is in flight."""
    schedule = buffered("full:2", "all-reduce", "0.0+1.0; 1.0+0.0", delay=delay)
    verdict = verify_schedule(schedule)
    assert verdict.counts.keys() == ({"in-flight"} if delay > 1 else {"original-lost"})
    alone = replace(schedule, buffers=1, src_buffer=None, dst_buffer=None)
    assert verify_schedule(alone).valid == (delay > 1)
