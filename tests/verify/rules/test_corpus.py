"""A corpus of wrong schedules, named after the fault: each is rejected by the rule it breaks, with rows and words that fit.

Every network here has links both ways, of capacity 1, unless it says otherwise.
"""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from certree.models.network.topology import NodeKind, Topology
from certree.models.schedule.schedule import Schedule
from certree.verify.checker import verify_schedule
from tests.verify.build import COPY, PATH_ROWS, REDUCE, Row, build, network, path_all_reduce

R, C = REDUCE, COPY
#: two endpoints 0, 1 on a switch 2 and a spur 3 of it; the routes there and back
STAR = network("eese", [(0, 2, 1), (2, 0, 1), (1, 2, 1), (2, 1, 1), (3, 2, 1), (2, 3, 1)])
THERE, BACK, TO_3, FROM_3, GAP, FROM_1_TO_3 = (0, 3), (2, 1), (0, 5), (4, 1), (0, 2), (2, 5)
STAR_ROUTES = (THERE, BACK, TO_3, FROM_3, GAP, FROM_1_TO_3)
#: endpoints 0 and 3 with two switches in a row between them
LINE = network("esse", [(0, 1, 1), (1, 2, 1), (2, 3, 1), (3, 2, 1), (2, 1, 1), (1, 0, 1)])
#: the same with a switch that adds, and an all-reduce in it: everyone into the switch, the sum back to everyone
REDUCING = dataclasses.replace(STAR, reducing=STAR.kind == NodeKind.SWITCH)
IN_NETWORK: list[Row] = [*((0, R, 0, v, 2) for v in (0, 1, 3)), *((0, C, 1, 2, v) for v in (0, 1, 3))]
#: two endpoints between two switches, of which 2 adds
TWO_SWITCHES = network("eess", [(u, v, 1) for a in (0, 1) for b in (2, 3) for u, v in ((a, b), (b, a))], reducing=[2])
STAR_ROWS: list[Row] = [(0, R, 0, 1, 0), (0, R, 1, 3, 0), (0, C, 2, 0, 1), (0, C, 3, 0, 3)]
STAR_ROUTE = [1, 3, 0, 2]
#: the path 0 - 1 - 2, and a switch at its end: where there are switches, endpoints do not forward
BESIDE_A_SWITCH = network("eees", [(0, 1, 1), (1, 0, 1), (1, 2, 1), (2, 1, 1), (2, 3, 1), (3, 2, 1)])
#: 0 and 1 joined by links of capacity 1 and 2 one way, 1 the other
PARALLEL = network("ee", [(0, 1, 1), (0, 1, 2), (1, 0, 1)])


def star(rows: Sequence[Row] = STAR_ROWS, route: Sequence[int] = STAR_ROUTE, topology: Topology = STAR, **fields: Any) -> Schedule:
    return build(topology, "all-reduce", rows, route=route, routes=STAR_ROUTES, **fields)


def reducing(rows: Sequence[Row] = IN_NETWORK, **fields: Any) -> Schedule:
    """All-reduces of three endpoints on one reducing switch."""
    return build(REDUCING, "all-reduce", rows, **fields)


def path(*rows: Row, **fields: Any) -> Schedule:
    return path_all_reduce(rows, **fields)


def exchange(*rows: Row, topology: Topology | str = "full:2", **fields: Any) -> Schedule:
    """All-reduces between two nodes."""
    return build(topology, "all-reduce", rows, **fields)


@dataclass(frozen=True)
class Wrong:
    """A schedule, the rule of its first violation with the rows it names, and words of the message."""

    schedule: Schedule
    rule: str
    rows: tuple[int, ...]
    words: list[str] = field(default_factory=list)


UP, DOWN = PATH_ROWS[:2], PATH_ROWS[2:]
BOTH: list[Row] = [(0, R, 0, 0, 1), (0, R, 0, 1, 0)]

CORPUS: dict[str, Wrong] = {
    # link
    "transfer-over-a-missing-link": Wrong(path((0, R, 0, 0, 2), *PATH_ROWS[1:]), "link", (0,), ["no link 0>2", "step 0"]),
    "transfer-against-a-one-way-link": Wrong(
        build("ring:3,without-link=1>0", "all-gather", [(0, C, 0, 1, 0), (0, C, 0, 1, 2)], roots=[1]), "link", (0,), ["no link 1>0"]
    ),
    "transfer-to-a-removed-node": Wrong(
        build("mesh:1x4,without-node=3", "all-reduce", [*PATH_ROWS, (0, C, 2, 2, 3)]), "link", (4,), ["has no node 3"]
    ),
    "switch-that-should-hold-data": Wrong(
        star([(0, R, 0, 1, 2), *STAR_ROWS], [-1, *STAR_ROUTE]), "link", (0,), ["node 2 is a switch that only forwards", "1>2"]
    ),
    "switch-that-should-send": Wrong(star([*STAR_ROWS, (0, C, 4, 2, 1)], [*STAR_ROUTE, -1]), "link", (4,), ["node 2 is a switch"]),
    "reducing-switch-beside-one-that-only-forwards": Wrong(
        build(TWO_SWITCHES, "all-reduce", [(0, R, 0, 0, 2), (0, R, 0, 1, 3)]),
        "link",
        (1,),
        ["node 3 is a switch that only forwards"],
    ),
    "sum-of-a-switch-before-it-is-complete": Wrong(
        reducing([*IN_NETWORK[:2], (0, R, 1, 3, 2), *((0, C, 1, 2, v) for v in (0, 1, 3))]),
        "causality",
        (3, 2),
        ["leaves node 2 before row 2", "node 0 ends without the contribution of node 3"],
    ),
    "switch-sends-what-never-came": Wrong(
        reducing([(0, C, 0, 2, 0), *IN_NETWORK]), "not-held", (0,), ["node 2 does not hold it yet; it lands there in step 1"]
    ),
    "switch-counts-a-contribution-twice": Wrong(
        reducing([*IN_NETWORK[:3], (0, R, 1, 3, 2), *((0, C, 2, 2, v) for v in (0, 1, 3))]),
        "duplicate",
        (3, 2),
        ["node 3 a second time; node 2 has counted"],
    ),
    "switch-adds-its-sum-to-what-it-summed": Wrong(
        reducing([*IN_NETWORK[:3], (0, R, 1, 2, 0), *IN_NETWORK[4:]]),
        "duplicate",
        (3,),
        ["node 0 a second time", "since the start"],
    ),
    "accumulator-of-a-switch-overwritten": Wrong(
        reducing([*IN_NETWORK[:2], (0, C, 1, 3, 2), *((0, C, 2, 2, v) for v in (0, 1, 3))]),
        "missing",
        (3,),
        ["node 0 lacks the contributions of nodes 0, 1"],
    ),
    "multicast-that-overfills-a-link": Wrong(
        reducing([*IN_NETWORK[:3], *((0, C, 1, 2, 0) for _ in range(2)), *IN_NETWORK[4:]]), "capacity", (3, 4), ["link 2>0"]
    ),
    "sum-and-copy-meet-in-a-switch": Wrong(
        reducing([*IN_NETWORK[:2], (0, C, 0, 3, 2), *IN_NETWORK[3:]]), "write-conflict", (0, 1, 2), ["chunk 0 of node 2"]
    ),
    "direct-transfer-where-a-route-is-needed": Wrong(star(route=[-1, *STAR_ROUTE[1:]]), "link", (0,), ["no link 1>0"]),
    "route-with-a-gap": Wrong(star(route=[4, *STAR_ROUTE[1:]]), "link", (0,), ["route is broken", "0>2, 1>2"]),
    "route-of-another-transfer": Wrong(star(route=[3, *STAR_ROUTE[1:]]), "link", (0,), ["leads elsewhere", "3>2, 2>0"]),
    "route-backwards": Wrong(star(route=[0, *STAR_ROUTE[1:]]), "link", (0,), ["leads elsewhere"]),
    "route-through-an-endpoint": Wrong(
        build(BESIDE_A_SWITCH, "all-gather", [(0, C, 0, 0, 1), (0, C, 1, 0, 2)], roots=[0], route=[-1, 0], routes=((0, 2),)),
        "link",
        (1,),
        ["passes an endpoint", "0>1, 1>2"],
    ),
    "route-to-and-fro": Wrong(
        build(LINE, "all-gather", [(0, C, 0, 0, 3)], roots=[0], route=[0], routes=((0, 1, 4, 1, 2),)),
        "link",
        (0,),
        ["comes to a node twice: 0>1, 1>2, 2>1, 1>2, 2>3"],
    ),
    "transfer-to-itself": Wrong(path(*PATH_ROWS, (0, C, 2, 1, 1)), "self", (4,), ["sends to itself"]),
    # capacity
    "two-transfers-on-one-link": Wrong(
        path(*PATH_ROWS, *((1, *row[1:]) for row in PATH_ROWS)), "capacity", (0, 4), ["link 0>1", "2 transfers", "chunk 1"]
    ),
    "one-transfer-twice": Wrong(path(*UP, UP[0], *DOWN), "capacity", (0, 2), ["step 0", "0>1"]),
    "three-transfers-where-two-fit": Wrong(
        build("mesh:1x3,capacity=2", "all-reduce", [(k, *row[1:]) for k in range(3) for row in PATH_ROWS]),
        "capacity",
        (0, 4, 8),
        ["capacity 2"],
    ),
    "more-than-parallel-links-carry": Wrong(
        exchange(*((k, R, 0, 0, 1) for k in range(4)), *((k, C, k + 1, 1, 0) for k in range(4)), topology=PARALLEL),
        "capacity",
        (0, 1, 2, 3),
        ["capacity 3", "0>1"],
    ),
    "more-than-one-named-link-carries": Wrong(
        exchange(
            (0, R, 0, 0, 1),
            (1, R, 0, 0, 1),
            (0, C, 1, 1, 0),
            (1, C, 2, 1, 0),
            topology=PARALLEL,
            route=[0, 0, -1, -1],
            routes=((0,),),
        ),
        "capacity",
        (0, 1),
        ["link number 0 (0>1)", "capacity 1"],
    ),
    "more-than-the-rounds-of-a-step": Wrong(
        build("full:2", "all-reduce", [*((k, R, 0, 0, 1) for k in range(3)), *((k, C, 1, 1, 0) for k in range(3))], rounds=[2, 3]),
        "capacity",
        (0, 1, 2),
        ["capacity 1 x 2 rounds"],
    ),
    "two-routes-that-meet-behind-the-switch": Wrong(
        star([(0, R, 0, 1, 0), (0, R, 0, 3, 0), *STAR_ROWS[2:]]), "capacity", (0, 1), ["link 2>0"]
    ),
    # period
    "next-iteration-on-a-link-in-use": Wrong(
        path(*PATH_ROWS, *((1, o, s + 4, u, v) for _, o, s, u, v in PATH_ROWS), period=2, repeats=3),
        "period",
        (0, 4),
        ["of iteration 0 (its step 4)", "of iteration 2 (its step 0)", "period 2", "link 0>1"],
    ),
    # not-held
    "copy-of-what-has-not-landed": Wrong(
        build("ring:4", "all-gather", [(0, C, 0, 0, 1), (0, C, 0, 1, 2), (0, C, 1, 0, 3)], roots=[0]),
        "not-held",
        (1,),
        ["node 1 does not hold it yet", "in step 1", "row 0 (copy of chunk 0, 0>1, step 0)"],
    ),
    "copy-long-before-it-lands": Wrong(
        build("ring:4", "all-gather", [(0, C, 0, 2, 3), (0, C, 1, 0, 1), (0, C, 2, 1, 2)], roots=[0]),
        "not-held",
        (0,),
        ["node 2 does"],
    ),
    "copy-of-what-never-lands": Wrong(
        build("ring:4", "all-gather", [(0, C, 0, 2, 3), (0, C, 1, 0, 1)], roots=[0]), "not-held", (0,), ["it never does"]
    ),
    "copy-before-a-longer-delay-is-over": Wrong(
        build("mesh:1x3", "all-gather", [(0, C, 0, 0, 1), (0, C, 1, 1, 2)], roots=[0], delay=2), "not-held", (1,), ["in step 2"]
    ),
    "reduce-into-an-empty-cell": Wrong(
        build("mesh:1x3", "all-gather", [(0, C, 0, 0, 1), (0, R, 1, 1, 2)], roots=[0]),
        "not-held",
        (1,),
        ["nothing of it to add to"],
    ),
    # causality
    "sum-sent-before-it-is-complete": Wrong(
        path(*UP, (0, C, 0, 1, 0), (0, C, 1, 1, 2)),
        "causality",
        (2, 0),
        ["row 2", "leaves node 1 before row 0", "(step 1, delay 1)"],
    ),
    "partial-sum-passed-on-too-early": Wrong(
        build("mesh:1x3", "reduce-scatter", [(0, R, 3, 0, 1), (0, R, 4, 1, 2)], roots=[2], delay=2),
        "causality",
        (1, 0),
        ["node 2 ends without the contribution of node 0", "delay 2"],
    ),
    # duplicate
    "contribution-counted-twice-over-two-ways": Wrong(
        build("ring:3", "reduce-scatter", [(0, R, 0, 0, 1), (0, R, 1, 1, 2), (0, R, 2, 0, 2)], roots=[2]),
        "duplicate",
        (2, 1),
        ["the contribution of node 0 a second time", "since row 1 (reduce of chunk 0, 1>2, step 1)"],
    ),
    "contribution-counted-twice-in-one-step": Wrong(
        build("ring:4", "reduce-scatter", [(0, R, 0, 0, 1), (0, R, 0, 0, 3), (0, R, 1, 1, 2), (0, R, 1, 3, 2)], roots=[2]),
        "duplicate",
        (3, 2),
        ["node 0 a second time"],
    ),
    "own-contribution-comes-back": Wrong(
        path(*PATH_ROWS[:3], (0, R, 1, 1, 2)), "duplicate", (3,), ["node 2 a second time", "since the start"]
    ),
    "reduce-where-a-copy-is-needed": Wrong(exchange((0, R, 0, 0, 1), (0, R, 1, 1, 0)), "duplicate", (1,), ["node 0 a second time"]),
    # missing
    "empty-schedule": Wrong(path(), "missing", (), ["node 0 lacks the contributions of nodes 1, 2"]),
    "contribution-never-sent": Wrong(
        path(*PATH_ROWS[1:]), "missing", (1,), ["node 0 lacks the contribution of node 0", "replaced"]
    ),
    "result-never-returned": Wrong(path(*PATH_ROWS[:3]), "missing", (), ["node 2 lacks", "no transfer brings chunk 0 to node 2"]),
    "chunk-never-transferred": Wrong(path(*PATH_ROWS, chunks=2), "missing", (), ["chunk 1: node 0 lacks"]),
    "sum-at-the-wrong-root": Wrong(
        build("mesh:1x3", "reduce-scatter", [(0, R, 0, 0, 1), (0, R, 0, 2, 1)], roots=[0]), "missing", (), ["chunk 0: node 0 lacks"]
    ),
    "gathered-at-all-but-one": Wrong(
        build("ring:4", "all-gather", [(0, C, 0, 0, 1), (0, C, 1, 1, 2)], roots=[0]),
        "missing",
        (),
        ["node 3 has no copy of chunk 0 of node 0"],
    ),
    "partial-sum-overwritten": Wrong(
        build("mesh:1x3", "reduce-scatter", [UP[0], (0, C, 1, 2, 1)], roots=[1]),
        "missing",
        (1,),
        ["row 1 (copy of chunk 0, 2>1, step 1) replaced what held it"],
    ),
    # write-conflict
    "reduce-and-copy-into-one-cell": Wrong(
        path(UP[0], (0, C, 0, 2, 1), *DOWN), "write-conflict", (0, 1), ["a copy and a reduce", "chunk 0 of node 1", "step 0"]
    ),
    "two-copies-into-one-cell": Wrong(
        build("ring:3", "all-gather", [(0, C, 0, 0, 1), (0, C, 1, 0, 2), (0, C, 1, 1, 2)], roots=[0]),
        "write-conflict",
        (1, 2),
        ["several copies"],
    ),
}


@pytest.mark.parametrize("name", CORPUS)
def test_wrong_schedules_are_rejected_by_the_rule_they_break(name: str) -> None:
    wrong = CORPUS[name]
    violation = verify_schedule(wrong.schedule).violations[0]
    assert (violation.rule, violation.rows) == (wrong.rule, wrong.rows), violation
    for words in wrong.words:
        assert words in violation.message


def test_the_corpus_has_every_rule_of_transfers() -> None:
    rules = {wrong.rule for wrong in CORPUS.values()}
    assert rules == {"link", "self", "capacity", "period", "not-held", "causality", "duplicate", "missing", "write-conflict"}


RIGHT: dict[str, Schedule] = {
    "path": path_all_reduce(),
    "exchange": exchange(*BOTH),
    "star with routes": star(),
    "route through two switches": build(LINE, "all-gather", [(0, C, 0, 0, 3)], roots=[0], route=[0], routes=((0, 1, 2),)),
    "sum in a switch": reducing(),
    "sums in a switch, one after the other": reducing([(k, o, s + k, u, v) for k in range(4) for _, o, s, u, v in IN_NETWORK]),
    "sums in a switch, for ever": reducing(period=1, repeats=1000),
    "routes through a reducing switch": star(topology=REDUCING),
    "multicast by a switch": build(
        REDUCING, "broadcast", [(0, C, 0, 0, 2), (0, C, 1, 2, 1), (0, C, 1, 2, 3)], roots=[0], collective_root=0
    ),
    "reduce into a switch and a route past it": build(
        REDUCING,
        "reduce",
        [(0, R, 0, 1, 2), (0, R, 1, 2, 0), (0, R, 0, 3, 0)],
        roots=[0],
        route=[-1, -1, 0],
        routes=(FROM_3,),
        collective_root=0,
    ),
    "removed node left alone": build("mesh:1x4,without-node=3", "all-reduce", PATH_ROWS),
    "two on a link of capacity two": build(
        "mesh:1x3,capacity=2", "all-reduce", [(k, *row[1:]) for k in range(2) for row in PATH_ROWS]
    ),
    "three on parallel links": exchange(
        *((k, R, 0, 0, 1) for k in range(3)), *((k, C, k + 1, 1, 0) for k in range(3)), topology=PARALLEL
    ),
    "one named link and two direct": exchange(
        *((k, R, 0, 0, 1) for k in range(3)),
        *((k, C, k + 1, 1, 0) for k in range(3)),
        topology=PARALLEL,
        route=[0, -1, -1, -1, -1, -1],
        routes=((0,),),
    ),
    "as many as the rounds": build(
        "full:2", "all-reduce", [*((k, R, 0, 0, 1) for k in range(3)), *((k, C, 1, 1, 0) for k in range(3))], rounds=[3, 3]
    ),
    "copies of one sum from two sides in turn": build(
        "ring:3", "all-gather", [(0, C, 0, 0, 1), (0, C, 1, 0, 2), (0, C, 2, 1, 2)], roots=[0]
    ),
    "all chunks at one root": build(
        "mesh:1x3", "all-gather", [(k, C, k + d, d, d + 1) for k in range(2) for d in range(2)], roots=[0, 0]
    ),
}


@pytest.mark.parametrize("name", RIGHT)
def test_their_right_neighbours_are_accepted(name: str) -> None:
    assert verify_schedule(RIGHT[name]).violations == ()


# --- five wrong schedules that another system's checker let through ---


def test_accepted_elsewhere_a_reduce_in_which_one_rank_counts_twice() -> None:
    rows = [(0, R, 0, 0, 1), (0, R, 1, 0, 1), (0, R, 0, 2, 1), (0, C, 2, 1, 0), (0, C, 2, 1, 2)]
    violation = verify_schedule(path(*rows)).violations[0]
    assert (violation.rule, violation.rows) == ("duplicate", (1, 0))


def test_accepted_elsewhere_a_send_over_a_link_that_does_not_exist() -> None:
    violation = verify_schedule(
        build("ring:4", "all-gather", [(0, C, 0, 0, 1), (0, C, 0, 0, 2), (0, C, 0, 0, 3)], roots=[0])
    ).violations[0]
    assert (violation.rule, violation.rows) == ("link", (1,))


def test_accepted_elsewhere_a_send_of_a_chunk_not_held_yet() -> None:
    violation = verify_schedule(build("ring:3", "all-gather", [(0, C, 0, 1, 2), (0, C, 0, 0, 1)], roots=[0])).violations[0]
    assert (violation.rule, violation.rows) == ("not-held", (0,))


def test_accepted_elsewhere_an_over_subscribed_link() -> None:
    """And without `assert`: the rule holds under `python -O`."""
    violation = verify_schedule(build("full:2", "all-gather", [(0, C, 0, 0, 1), (1, C, 0, 0, 1)], roots=[0, 0])).violations[0]
    assert (violation.rule, violation.rows) == ("capacity", (0, 1))


def test_accepted_elsewhere_an_empty_all_reduce() -> None:
    assert verify_schedule(build("ring:4", "all-reduce", [], chunks=4)).violations[0].rule == "missing"


# --- a published formula that is wrong at 16 nodes ---


@pytest.mark.parametrize(("nodes", "offsets"), [(2, [1]), (4, [1, 2]), (8, [1, 2, 4]), (16, [1, 2, 4, 8])])
def test_offsets_that_double_are_right(nodes: int, offsets: list[int]) -> None:
    rows = [(0, R, step, i, (i + offset) % nodes) for step, offset in enumerate(offsets) for i in range(nodes)]
    verdict = verify_schedule(build(f"full:{nodes}", "all-reduce", rows))
    assert verdict.valid


def test_offset_six_at_sixteen_nodes_counts_two_twice_and_misses_two_everywhere() -> None:
    rows = [(0, R, step, i, (i + offset) % 16) for step, offset in enumerate([1, 2, 4, 6]) for i in range(16)]
    verdict = verify_schedule(build("full:16", "all-reduce", rows))
    assert verdict.counts == {"duplicate": 16, "missing": 16}
    twice = [violation.message for violation in verdict.violations if violation.rule == "duplicate"]
    lacking = [violation.message for violation in verdict.violations if violation.rule == "missing"]
    assert len(twice) == len(lacking) == 16
    assert any("0>6) counts the contributions of nodes 0, 15 a second time" in message for message in twice)
    # node 6 has summed offsets 0..7 and 6..13 back: 14 and 15 back are missing
    assert any("node 6 lacks the contributions of nodes 7, 8;" in message for message in lacking)
