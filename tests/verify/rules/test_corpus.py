"""A corpus of wrong schedules, named after the fault: each is rejected by the rule it breaks, with rows and words that fit.

Every network here has links both ways, of capacity 1, unless it says otherwise.
"""

import dataclasses
from collections.abc import Sequence
from typing import Any

import pytest

from certree.models.network.topology import NodeKind, Topology
from certree.models.schedule.schedule import Schedule
from certree.verify.checker import verify_schedule
from tests.transfers import REDUCE, Row, transfers
from tests.verify.build import PATH, build, network
from tests.verify.build import path_all_reduce as path

#: two endpoints 0, 1 on a switch 2 and a spur 3 of it; the routes there and back
STAR = network("eese", [(0, 2, 1), (2, 0, 1), (1, 2, 1), (2, 1, 1), (3, 2, 1), (2, 3, 1)])
THERE, BACK, TO_3, FROM_3, GAP, FROM_1_TO_3 = (0, 3), (2, 1), (0, 5), (4, 1), (0, 2), (2, 5)
STAR_ROUTES = (THERE, BACK, TO_3, FROM_3, GAP, FROM_1_TO_3)
STAR_ROWS, STAR_ROUTE = "1+0; 3+0; 0>1; 0>3", [1, 3, 0, 2]
#: endpoints 0 and 3 with two switches in a row between them
LINE = network("esse", [(0, 1, 1), (1, 2, 1), (2, 3, 1), (3, 2, 1), (2, 1, 1), (1, 0, 1)])
#: the same with a switch that adds, and an all-reduce in it: everyone into the switch, the sum back to everyone
REDUCING = dataclasses.replace(STAR, reducing=STAR.kind == NodeKind.SWITCH)
IN_NETWORK = "0+2 1+2 3+2; 2>0 2>1 2>3"
#: two endpoints between two switches, of which 2 adds
TWO_SWITCHES = network("eess", [(u, v, 1) for a in (0, 1) for b in (2, 3) for u, v in ((a, b), (b, a))], reducing=[2])
#: the path 0 - 1 - 2, and a switch at its end: where there are switches, endpoints do not forward
BESIDE_A_SWITCH = network("eees", [(0, 1, 1), (1, 0, 1), (1, 2, 1), (2, 1, 1), (2, 3, 1), (3, 2, 1)])
#: 0 and 1 joined by links of capacity 1 and 2 one way, 1 the other
PARALLEL = network("ee", [(0, 1, 1), (0, 1, 2), (1, 0, 1)])
#: three and four chunks to and fro between two nodes, back in turn; and three in two steps
THREE_IN_TURN = "0:0+1 1:0+1 2:0+1; 0:1>0; 1:1>0; 2:1>0"
FOUR_IN_TURN = "0:0+1 1:0+1 2:0+1 3:0+1; 0:1>0; 1:1>0; 2:1>0; 3:1>0"
THREE_AT_ONCE = "0:0+1 1:0+1 2:0+1; 0:1>0 1:1>0 2:1>0"


def star(rows: str = STAR_ROWS, route: Sequence[int] = STAR_ROUTE, topology: Topology = STAR, **fields: Any) -> Schedule:
    return build(topology, "all-reduce", rows, route=route, routes=STAR_ROUTES, **fields)


def reducing(rows: Sequence[Row] | str = IN_NETWORK, **fields: Any) -> Schedule:
    """All-reduces of three endpoints on one reducing switch."""
    return build(REDUCING, "all-reduce", rows, **fields)


def exchange(rows: str, topology: Topology | str = "full:2", **fields: Any) -> Schedule:
    """All-reduces between two nodes."""
    return build(topology, "all-reduce", rows, **fields)


def gather(topology: Topology | str, rows: str, *roots: int, **fields: Any) -> Schedule:
    """An all-gather of the chunk of node 0, or of other nodes."""
    return build(topology, "all-gather", rows, roots=roots or [0], **fields)


def scatter(topology: str, rows: str, root: int, **fields: Any) -> Schedule:
    return build(topology, "reduce-scatter", rows, roots=[root], **fields)


def chunks(count: int, text: str = PATH) -> list[Row]:
    """The transfers for several chunks."""
    return [row for chunk in range(count) for row in transfers(text, chunk=chunk)]


#: fault: (rule and rows of the first violation, the schedule, words of the message)
CORPUS: dict[str, tuple[str, tuple[int, ...], Schedule, tuple[str, ...]]] = {
    "transfer over a missing link": ("link", (0,), path("0+2 2+1; 1>0 1>2"), ("no link 0>2", "step 0")),
    "transfer against a one-way link": (
        "link", (0,), gather("ring:3,without-link=1>0", "1>0 1>2", 1), ("no link 1>0",)),
    "transfer to a removed node": (
        "link", (4,), build("mesh:1x4,without-node=3", "all-reduce", f"{PATH}; 2>3"), ("has no node 3",)),
    "switch that should hold data": (
        "link", (0,), star("1+2 1+0; 3+0; 0>1; 0>3", [-1, *STAR_ROUTE]), ("node 2 is a switch that only forwards", "1>2")),
    "switch that should send": ("link", (4,), star(f"{STAR_ROWS}; 2>1", [*STAR_ROUTE, -1]), ("node 2 is a switch",)),
    "reducing switch next to one that only forwards": (
        "link", (1,), build(TWO_SWITCHES, "all-reduce", "0+2 1+3"), ("node 3 is a switch that only forwards",)),
    "send over a link that does not exist, accepted elsewhere": ("link", (1,), gather("ring:4", "0>1 0>2 0>3"), ()),
    "direct transfer where a route is needed": ("link", (0,), star(route=[-1, *STAR_ROUTE[1:]]), ("no link 1>0",)),
    "route with a gap": ("link", (0,), star(route=[4, *STAR_ROUTE[1:]]), ("route is broken", "0>2, 1>2")),
    "route of another transfer": ("link", (0,), star(route=[3, *STAR_ROUTE[1:]]), ("leads elsewhere", "3>2, 2>0")),
    "route backwards": ("link", (0,), star(route=[0, *STAR_ROUTE[1:]]), ("leads elsewhere",)),
    "route through an endpoint": (
        "link", (1,), gather(BESIDE_A_SWITCH, "0>1; 0>2", route=[-1, 0], routes=((0, 2),)), ("passes an endpoint", "0>1, 1>2")),
    "route to and fro": (
        "link", (0,), gather(LINE, "0>3", route=[0], routes=((0, 1, 4, 1, 2),)),
        ("passes a link twice, so that its messages may wait for themselves: 0>1, 1>2, 2>1, 1>2, 2>3",)),
    "transfer to itself": ("self", (4,), path(f"{PATH}; 1>1"), ("sends to itself",)),
    "two transfers on one link": ("capacity", (0, 4), path(chunks(2)), ("link 0>1", "2 transfers", "chunk 1")),
    "one transfer twice": ("capacity", (0, 2), path("0+1 2+1 0+1; 1>0 1>2"), ("step 0", "0>1")),
    "over-subscribed link, accepted elsewhere": ("capacity", (0, 1), gather("full:2", "0:0>1 1:0>1", 0, 0), ()),
    "three transfers where two fit": (
        "capacity", (0, 4, 8), build("mesh:1x3,capacity=2", "all-reduce", chunks(3)), ("capacity 2",)),
    "more than parallel links carry": (
        "capacity", (0, 1, 2, 3), exchange(FOUR_IN_TURN, PARALLEL), ("capacity 3", "0>1")),
    "more than one named link carries": (
        "capacity", (0, 1), exchange("0:0+1 1:0+1; 0:1>0; 1:1>0", PARALLEL, route=[0, 0, -1, -1], routes=((0,),)),
        ("link number 0 (0>1)", "capacity 1")),
    "more than the rounds of a step": (
        "capacity", (0, 1, 2), exchange(THREE_AT_ONCE, rounds=[2, 3]), ("capacity 1 x 2 rounds",)),
    "two routes that meet behind the switch": ("capacity", (0, 1), star("1+0 3+0;; 0>1; 0>3"), ("link 2>0",)),
    "multicast that overfills a link": ("capacity", (3, 4), reducing("0+2 1+2 3+2; 2>0 2>0 2>1 2>3"), ("link 2>0",)),
    "next iteration on a link in use": (
        "period", (0, 4), path(transfers(PATH) + transfers(PATH, chunk=1, later=4), period=2, repeats=3),
        ("of iteration 0 (its step 4)", "of iteration 2 (its step 0)", "period 2", "link 0>1")),
    "copy of what has not landed": (
        "not-held", (1,), gather("ring:4", "0>1 1>2; 0>3"),
        ("node 1 does not hold it yet", "in step 1", "row 0 (copy of chunk 0, 0>1, step 0)")),
    "copy of what has not landed, accepted elsewhere": ("not-held", (0,), gather("ring:3", "1>2 0>1"), ()),
    "copy long before it lands": ("not-held", (0,), gather("ring:4", "2>3; 0>1; 1>2"), ("node 2 does",)),
    "copy of what never lands": ("not-held", (0,), gather("ring:4", "2>3; 0>1"), ("it never does",)),
    "copy before a longer delay is over": ("not-held", (1,), gather("mesh:1x3", "0>1; 1>2", delay=2), ("in step 2",)),
    "reduce into an empty cell": ("not-held", (1,), gather("mesh:1x3", "0>1; 1+2"), ("nothing of it to add to",)),
    "switch sends what never came": (
        "not-held", (0,), reducing("2>0 0+2 1+2 3+2; 2>0 2>1 2>3"), ("node 2 does not hold it yet; it lands there in step 1",)),
    "sum sent before it is complete": (
        "causality", (2, 0), path("0+1 2+1 1>0; 1>2"), ("row 2", "leaves node 1 before row 0", "(step 1, delay 1)")),
    "partial sum passed on too early": (
        "causality", (1, 0), scatter("mesh:1x3", ";;; 0+1; 1+2", 2, delay=2),
        ("node 2 ends without the contribution of node 0", "delay 2")),
    "sum of a switch before it is complete": (
        "causality", (3, 2), reducing("0+2 1+2; 3+2 2>0 2>1 2>3"),
        ("leaves node 2 before row 2", "node 0 ends without the contribution of node 3")),
    "contribution counted twice over two routes": (
        "duplicate", (2, 1), scatter("ring:3", "0+1; 1+2; 0+2", 2),
        ("the contribution of node 0 a second time", "since row 1 (reduce of chunk 0, 1>2, step 1)")),
    "contribution counted twice in one step": (
        "duplicate", (3, 2), scatter("ring:4", "0+1 0+3; 1+2 3+2", 2), ("node 0 a second time",)),
    "own contribution comes back": (
        "duplicate", (3,), path("0+1 2+1; 1>0 1+2"), ("node 2 a second time", "since the start")),
    "reduce where a copy is needed": ("duplicate", (1,), exchange("0+1; 1+0"), ("node 0 a second time",)),
    "one rank counts twice, accepted elsewhere": ("duplicate", (1, 0), path("0+1; 0+1 2+1@0; 1>0 1>2"), ()),
    "switch counts a contribution twice": (
        "duplicate", (3, 2), reducing("0+2 1+2 3+2; 3+2; 2>0 2>1 2>3"), ("node 3 a second time; node 2 has counted",)),
    "switch adds its sum to what it summed": (
        "duplicate", (3,), reducing("0+2 1+2 3+2; 2+0 2>1 2>3"), ("node 0 a second time", "since the start")),
    "empty schedule": ("missing", (), path(""), ("node 0 lacks the contributions of nodes 1, 2",)),
    "empty all-reduce of several chunks, accepted elsewhere": ("missing", (), build("ring:4", "all-reduce", "", chunks=4), ()),
    "contribution never sent": ("missing", (1,), path("2+1; 1>0 1>2"), ("node 0 lacks the contribution of node 0", "replaced")),
    "result never returned": (
        "missing", (), path("0+1 2+1; 1>0"), ("node 2 lacks", "no transfer brings chunk 0 to node 2")),
    "chunk never transferred": ("missing", (), path(chunks=2), ("chunk 1: node 0 lacks",)),
    "sum at the wrong root": ("missing", (), scatter("mesh:1x3", "0+1 2+1", 0), ("chunk 0: node 0 lacks",)),
    "gathered at all but one": ("missing", (), gather("ring:4", "0>1; 1>2"), ("node 3 has no copy of chunk 0 of node 0",)),
    "partial sum overwritten": (
        "missing", (1,), scatter("mesh:1x3", "0+1; 2>1", 1), ("row 1 (copy of chunk 0, 2>1, step 1) replaced what held it",)),
    "accumulator of a switch overwritten": (
        "missing", (3,), reducing("0+2 1+2; 3>2; 2>0 2>1 2>3"), ("node 0 lacks the contributions of nodes 0, 1",)),
    "reduce and copy into one cell": (
        "write-conflict", (0, 1), path("0+1 2>1; 1>0 1>2"), ("a copy and a reduce", "chunk 0 of node 1", "step 0")),
    "two copies into one cell": ("write-conflict", (1, 2), gather("ring:3", "0>1; 0>2 1>2"), ("several copies",)),
    "sum and copy meet in a switch": (
        "write-conflict", (0, 1, 2), reducing("0+2 1+2 3>2; 2>0 2>1 2>3"), ("chunk 0 of node 2",)),
}  # fmt: skip


@pytest.mark.parametrize("name", CORPUS)
def test_wrong_schedules_are_rejected_by_the_rule_they_break(name: str) -> None:
    rule, rows, schedule, words = CORPUS[name]
    verdict = verify_schedule(schedule)
    violation = verdict.violations[0]
    assert (violation.rule, violation.rows, verdict.valid, verdict.quality) == (rule, rows, False, None), violation
    assert all(some in violation.message for some in words), violation.message


def test_the_corpus_has_every_rule_of_transfers() -> None:
    rules = {rule for rule, *_ in CORPUS.values()}
    assert rules == {"link", "self", "capacity", "period", "not-held", "causality", "duplicate", "missing", "write-conflict"}


RIGHT: dict[str, Schedule] = {
    "path": path(),
    "exchange": exchange("0+1 1+0"),
    "star with routes": star(),
    "route through two switches": gather(LINE, "0>3", route=[0], routes=((0, 1, 2),)),
    "sum in a switch": reducing(),
    "sums in a switch, one after the other": reducing([row for k in range(4) for row in transfers(IN_NETWORK, chunk=k, later=k)]),
    "sums in a switch, for ever": reducing(period=1, repeats=1000),
    "routes through a reducing switch": star(topology=REDUCING),
    "multicast by a switch": build(REDUCING, "broadcast", "0>2; 2>1 2>3", roots=[0], collective_root=0),
    "reduce into a switch and a route past it": build(
        REDUCING, "reduce", "1+2; 2+0 3+0@0", roots=[0], route=[-1, -1, 0], routes=(FROM_3,), collective_root=0
    ),
    "removed node left alone": build("mesh:1x4,without-node=3", "all-reduce", PATH),
    "two on a link of capacity two": build("mesh:1x3,capacity=2", "all-reduce", chunks(2)),
    "three on parallel links": exchange(THREE_IN_TURN, PARALLEL),
    "one named link and two direct": exchange(THREE_IN_TURN, PARALLEL, route=[0, -1, -1, -1, -1, -1], routes=((0,),)),
    "as many as the rounds": exchange(THREE_AT_ONCE, rounds=[3, 3]),
    "copies of one sum from two sides in turn": gather("ring:3", "0>1; 0>2; 1>2"),
    "all chunks at one root": gather("mesh:1x3", "0:0>1 0:1>2@1 1:0>1@1 1:1>2@2", 0, 0),
}


@pytest.mark.parametrize("name", RIGHT)
def test_their_right_neighbours_are_accepted(name: str) -> None:
    assert verify_schedule(RIGHT[name]).violations == ()


def exchanges(*offsets: int) -> Schedule:
    """A published formula: in each step every node reduces into the node at a fixed distance."""
    nodes = 1 << len(offsets)
    rows = [(0, REDUCE, step, i, (i + offset) % nodes) for step, offset in enumerate(offsets) for i in range(nodes)]
    return build(f"full:{nodes}", "all-reduce", rows)


@pytest.mark.parametrize("steps", [1, 2, 3, 4])
def test_offsets_that_double_are_right(steps: int) -> None:
    assert verify_schedule(exchanges(*(1 << step for step in range(steps)))).valid


def test_offset_six_at_sixteen_nodes_counts_two_twice() -> None:
    verdict = verify_schedule(exchanges(1, 2, 4, 6))
    assert verdict.counts == {"duplicate": 16, "missing": 16}
    twice = [violation.message for violation in verdict.violations if violation.rule == "duplicate"]
    lacking = [violation.message for violation in verdict.violations if violation.rule == "missing"]
    assert len(twice) == len(lacking) == 16
    assert any("0>6) counts the contributions of nodes 0, 15 a second time" in message for message in twice)
    # node 6 has summed offsets 0..7 and 6..13 back: 14 and 15 back are missing
    assert any("node 6 lacks the contributions of nodes 7, 8;" in message for message in lacking)
