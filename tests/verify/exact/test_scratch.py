"""Scratch: what a limit of it forbids to copies, and what slots allow to an all-reduce."""

import copy
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from certree.models.common.errors import InputError, UnsupportedError
from certree.models.network.spec import parse_topology
from certree.models.schedule.collective import parse_collective
from certree.models.schedule.schedule_columns import Op
from certree.synth.exact.frontier_search import FrontierSearch
from certree.synth.monitor import Monitor
from certree.verify.exact.encoding.encode import encode
from certree.verify.exact.encoding.spread import SpreadEncoder
from certree.verify.exact.encoding.sums import SumEncoder
from certree.verify.exact.question import Question
from certree.verify.exact.rows import most_stored
from certree.verify.frontier.answers import why_not
from certree.verify.frontier.document import check_frontier
from tests.synth.exact.linear import LinearSpread
from tests.synth.exact.test_encodings import answer as answer_of
from tests.verify.exact.limits import carried, sums_with_slots
from tests.verify.exact.small import GRAPHS, network, wanted
from tests.verify.exact.trusted import answer, needs_its_clauses, solved

STAR = network([(0, 1), (0, 2), (0, 3)])
RING5 = parse_topology("ring:5")
ALL_REDUCE = parse_collective("all-reduce")


def answer_in_slots(steps: int, slots: int | None, chunks: int = 1, rounds: int | None = None) -> bool:
    return answer(Question(RING5, ALL_REDUCE, chunks, steps, rounds or steps, None, slots))


@pytest.mark.parametrize("graph", GRAPHS, ids=lambda graph: graph.name)
@pytest.mark.parametrize("kind", ["all-to-all", "scatter", "gather"])
def test_limited_room_agrees_with_exhaustive_search(graph, kind: str) -> None:
    """Both encodings, on every connected graph of up to 4 nodes; `memory` from what the ends need on."""
    root = None if kind == "all-to-all" else 0
    collective = parse_collective(kind, root)
    pairs = [(source, target) for source, (target,) in wanted(collective.kind, graph.endpoints.tolist(), root, 1)]
    least = len(graph.kind) - 1
    limits = [{"scratch": 0}, {"scratch": 1}, {"memory": least}, {"memory": least + 1, "scratch": 1}]
    for steps, rounds in ((1, 2), (2, 2), (2, 4), (3, 4)):
        if (steps, rounds) == (3, 4) and kind == "all-to-all" and len(graph.src) > 6:
            continue  # too many walks
        for limit in limits:
            asked = Question(graph, collective, 1, steps, rounds, **limit)
            expected = carried(graph, pairs, steps, rounds, **limit)
            assert answer(asked) == expected, (steps, rounds, limit)
            assert answer_of(LinearSpread(asked), 20).has_solution == expected, (steps, rounds, limit)


@pytest.mark.parametrize("graph", GRAPHS, ids=lambda graph: graph.name)
def test_sums_with_a_slot_agree_with_exhaustive_search(graph) -> None:
    assert not any(answer(Question(graph, ALL_REDUCE, 1, steps, steps, None, 1)) for steps in range(1, graph.diameter[0]))
    for steps in range(graph.diameter[0], 3 if len(graph.src) < 12 else 2):  # else too many states
        assert answer(Question(graph, ALL_REDUCE, 1, steps, steps, None, 1)) == sums_with_slots(graph, 1, steps), steps


@pytest.mark.parametrize(("slots", "steps", "exists"), [(None, 2, False), (0, 2, False), (1, 2, True), (2, 2, True), (2, 1, False)])
def test_a_ring_of_five_is_summed_up_in_two_steps_with_a_slot(slots, steps: int, exists: bool) -> None:
    assert answer_in_slots(steps, slots) is exists


def test_scratch_of_none_is_the_machine_without_it() -> None:
    plain, none = Question(RING5, ALL_REDUCE, 2, 3, 3), Question(RING5, ALL_REDUCE, 2, 3, 3, None, 0)
    assert encode(plain).formula.digest == encode(none).formula.digest
    gather = Question(RING5, parse_collective("all-gather"), 2, 2, 4)
    assert encode(replace(gather, scratch=0)).formula.digest == encode(gather).formula.digest  # an endpoint keeps what passes it
    assert not replace(gather, scratch=0).is_limited


@pytest.mark.parametrize(
    ("scratch", "steps", "exists"), [(5, 2, False), (6, 2, True), (3, 3, True), (2, 3, False), (1, 6, False), (1, 7, True)]
)
def test_a_hub_with_little_scratch_takes_more_steps(scratch: int, steps: int, exists: bool) -> None:
    """All-to-all through a hub: the 6 chunks from leaf to leaf are only passing."""
    assert answer(Question(STAR, parse_collective("all-to-all"), 1, steps, 9, None, scratch)) is exists


def test_reducing_switches_keep_nothing() -> None:
    tree = network([(node, 5) for node in range(5)], switches=[5], reducing=[5])
    asked = Question(tree, parse_collective("broadcast", 0), 1, 2, 2)
    assert answer(asked)
    assert answer(replace(asked, scratch=1))
    assert not answer(replace(asked, scratch=0))
    with pytest.raises(UnsupportedError, match="scratch of reducing switches cannot be limited for reduce"):
        Question(tree, parse_collective("reduce", 0), 1, 2, 2, None, 1)


@pytest.mark.parametrize(
    ("encoder", "dropped", "asked"),
    [
        (SpreadEncoder, "_memory", Question(STAR, parse_collective("all-to-all"), 1, 2, 9, None, 5)),
        (SumEncoder, "_slots", Question(RING5, ALL_REDUCE, 2, 2, 4, None, 1)),
    ],
)
def test_every_family_of_clauses_is_needed(encoder, dropped: str, asked) -> None:
    assert needs_its_clauses(asked, encoder, dropped)


def test_a_schedule_that_needs_more_scratch_is_no_answer() -> None:
    asked = Question(STAR, parse_collective("all-to-all"), 1, 2, 9)
    schedule = solved(asked)
    assert most_stored(asked, schedule, passing=True) == 6
    assert why_not(replace(asked, scratch=6), schedule) is None
    assert why_not(replace(asked, scratch=5), schedule) == "a cell has to store 6 chunks in passing, more than 5"


@pytest.mark.parametrize("kind", ["all-to-all", "scatter", "gather"])
def test_the_numbers_of_chunks_do_not_decide_what_is_in_passing(kind: str) -> None:
    """A chunk that took the number of another one passed for one that starts or is due where it is only passing."""
    asked = Question(STAR, parse_collective(kind, None if kind == "all-to-all" else 1), 1, 3, 9)
    schedule = solved(asked)
    stored = [most_stored(asked, schedule), most_stored(asked, schedule, passing=True)]
    for seed in range(20):
        number = np.random.default_rng(seed).permutation(schedule.chunks)
        column = {name: getattr(schedule, name)[np.argsort(number)] for name in ("chunk_root", "chunk_target")}
        other = replace(schedule, chunk=number[schedule.chunk], **column)
        assert [most_stored(asked, other), most_stored(asked, other, passing=True)] == stored
        assert why_not(replace(asked, scratch=stored[1] - 1), other) == why_not(replace(asked, scratch=stored[1] - 1), schedule)


def found(topology, kind: str, max_chunks: int, scratch: int | None):
    search = FrontierSearch(topology, parse_collective(kind), max_chunks, 1, Monitor(), scratch=scratch)
    search.run()
    result = search.result
    document = result.document()
    assert check_frontier(document, "bundle").violations == ()
    return document


@cache
def slotted():
    return found(RING5, "all-reduce", 2, 1)


def slotted_schedule():
    """The question of two steps and one chunk with a slot, and its schedule."""
    asked = Question(RING5, ALL_REDUCE, 1, 2, 2, None, 1)
    return asked, solved(asked)


def test_scratch_changes_the_frontier() -> None:
    points = {scratch: [one["point"] for one in found(RING5, "all-reduce", 1, scratch)["points"]] for scratch in (None, 0, 1)}
    assert points == {None: [[1, 3, 3]], 0: [[1, 3, 3]], 1: [[1, 2, 2]]}
    points = {scratch: [one["point"] for one in found(STAR, "all-to-all", 1, scratch)["points"]] for scratch in (None, 6, 5)}
    assert points == {None: [[1, 2, 4], [1, 3, 3]], 6: [[1, 2, 4], [1, 3, 3]], 5: [[1, 3, 3]]}


@pytest.mark.parametrize("scratch", [None, 0, 2])
def test_a_frontier_of_another_scratch_is_refused(scratch) -> None:
    other = copy.deepcopy(slotted())
    other["scratch"] = scratch
    rules = {violation.rule for violation in check_frontier(other, "bundle").violations}
    assert {"frontier-claim", "frontier-point"} <= rules
    other["model"] = Question(RING5, ALL_REDUCE, 1, 1, 1, None, scratch).model
    rules = {violation.rule for violation in check_frontier(other, "bundle").violations}
    assert {"proof-foreign", "frontier-point"} <= rules


def test_a_frontier_of_less_scratch_is_refused() -> None:
    other = copy.deepcopy(found(STAR, "all-to-all", 1, None))
    other["scratch"] = 5
    assert {"frontier-claim", "frontier-point"} <= {violation.rule for violation in check_frontier(other, "bundle").violations}


def test_slots_are_asked_what_they_can_do() -> None:
    asked, schedule = slotted_schedule()
    slots = asked.slots
    assert schedule.topology.digest == slots.topology.digest
    assert slots.fault(schedule) is None
    into = np.flatnonzero(np.isin(schedule.dst, slots.ids))
    first = int(into[0])
    slot = int(schedule.dst[first])

    def changed(**columns):
        return replace(schedule, **{name: _with(getattr(schedule, name), *change) for name, change in columns.items()})

    needed = int(schedule.step[first])
    assert slots.fault(changed(op=(first, int(Op.REDUCE)))) == f"slot {slot} stores nothing of chunk 0 in step {needed}"
    twice = replace(
        schedule,
        chunk_root=np.append(schedule.chunk_root, -1).astype(np.int32),
        **{
            name: np.append(getattr(schedule, name), 1 if name == "chunk" else getattr(schedule, name)[first]).astype(column.dtype)
            for name in ("chunk", "op", "step", "src", "dst", "route")
            for column in (getattr(schedule, name),)
        },
    )
    assert slots.fault(twice) == f"slot {slot} has to store 2 chunks when step {needed + 1} begins"
    ends = list(zip(RING5.src.tolist(), RING5.dst.tolist(), strict=True))
    through = slots.route(0, 2, (ends.index((0, 1)), ends.index((1, 2))))
    assert "passes an endpoint within its step" in slots.fault(
        replace(
            schedule,
            routes=(*schedule.routes, through),
            **{
                name: _with(getattr(schedule, name), first, value)
                for name, value in (("src", 0), ("dst", 2), ("route", len(schedule.routes)))
            },
        )
    )


def _with(column, row: int, value: int):
    column = column.copy()
    column[row] = value
    return column


def test_what_cannot_be_asked() -> None:
    with pytest.raises(InputError, match="scratch is -1; allowed: whole numbers from 0"):
        Question(RING5, ALL_REDUCE, 1, 2, 2, None, -1)
    with pytest.raises(UnsupportedError, match="scratch is 17; allowed for an all-reduce: at most 16 slots"):
        Question(RING5, ALL_REDUCE, 1, 2, 2, None, 17)
    with pytest.raises(UnsupportedError, match="a chunk from 1 to 2 must pass others; scratch is 0"):
        FrontierSearch(STAR, parse_collective("all-to-all"), 1, 1, Monitor(), scratch=0)
    changed = {**slotted(), "scratch": True}
    with pytest.raises(InputError, match="scratch is True; allowed: whole numbers from 0 to"):
        check_frontier(changed, "bundle")
