"""The second opinion: wrong schedules, each refused by the rule that it breaks, as by the checker; the command; forms and draws."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import certree.api as ct
from certree.extras.opinion.check import plain_schedule
from certree.extras.opinion.command import answered_twice
from certree.models.demand import Demand
from certree.models.machine.machine import load_machine
from certree.models.network.action import Action
from certree.models.network.topology import Topology
from certree.models.schedule.collective import Collective, CollectiveKind
from certree.models.schedule.made_for import MadeFor
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule
from tests.cli.running import assert_bad_input, certree, json_of
from tests.end_to_end.composition.forms import FORMS
from tests.extras.opinion.agreement import agree
from tests.extras.opinion.changed import SOURCES
from tests.models.examples import turning
from tests.verify.build import PATH, build, network, path_all_reduce

#: a message of 16 bytes takes 3 cycles on a lane, arrives 10 cycles after it fired, and is added 6 cycles later
SMALL = replace(
    load_machine("multitree"), name="small", flit_bytes=8, head_flits=1, link_latency_cycles=3, router_cycles=1, ni_cycles=1,
    reduce_bytes_per_cycle=4, reduce_quantum_cycles=1, reduce_start_cycles=2, vc_buffer_flits=3,
)  # fmt: skip
STAR = network("eese", [(0, 2, 1), (2, 0, 1), (1, 2, 1), (2, 1, 1), (3, 2, 1), (2, 3, 1)])
PARALLEL = network("ee", [(0, 1, 1), (0, 1, 1), (1, 0, 1)])
BESIDE_A_SWITCH = network("eees", [(0, 1, 1), (1, 0, 1), (1, 2, 1), (2, 1, 1), (2, 3, 1), (3, 2, 1)])
ADDING = replace(STAR, reducing=STAR.kind == 1)


def cast(topology: Topology | str, text: str, **fields: Any) -> Schedule:
    """A broadcast from node 0."""
    return build(topology, "broadcast", text, collective_root=0, **fields)


def fine(topology: Topology | str, text: str, collective: str = "broadcast", size: int = 16, **fields: Any) -> Schedule:
    """Fine slots of one cycle."""
    root = 0 if collective in ("broadcast", "reduce") else None
    made_for = fields.pop("made_for", MadeFor(size, SMALL))
    return build(topology, collective, text, collective_root=root, slot_cycles=1, made_for=made_for, **fields)


def blocks(text: str, granules: int, rounds: int, delivered: int) -> Schedule:
    """An alltoallv of one block."""
    collective = Collective(CollectiveKind.ALL_TO_ALL, demand=Demand(((0, 1, granules),)))
    return build("full:2", collective, text, roots=[0], targets=[1], chunk_granules=[delivered], rounds=[rounds])


def moved_group(swapped: tuple[int, int]) -> AnySchedule:
    """A turning ring whose group turns other nodes."""
    schedule = turning("ring:5")
    moves = schedule.action.moves.copy()
    moves[:, list(swapped)] = moves[:, list(swapped[::-1])]
    return replace(schedule, action=Action(moves))


def waiting(first: int, wait: int, flits: int = 3, **fields: Any) -> Schedule:
    """Two messages to node 0 of a switch; the later one waits at the switch."""
    machine = replace(SMALL, vc_buffer_flits=flits)
    return fine(STAR, f"0:1+0@{first} 0:3+0@0", "reduce", route=[0, 1], routes=[(2, 1), (4, 1)], waits=((wait,), (0,)),
                made_for=MadeFor(16, machine), **fields)  # fmt: skip


def carried_over(sent: int) -> Schedule:
    """Sums whose unit works without a break: that of the later message waits for that of the one before, across periods."""
    return fine("mesh:1x3", f"0+1@5 2+1@6 1>0@{sent} 1>2@{sent}", "all-reduce", size=32, period=8, repeats=2)


def apart(gap: str) -> Schedule:
    """A copy and a sum into one scratch buffer."""
    return build("full:3", "reduce", f"0>1;{gap} 2+1; ; 1+1", collective_root=1, roots=[1], delay=2, buffers=2,
                 src_buffer=[0, 0, 1], dst_buffer=[1, 1, 0])  # fmt: skip


def behind_one_that_waits(sent: int) -> Schedule:
    """A message without a route, to a router where one in another virtual channel waits."""
    line = ct.topology("mesh:1x3")
    ends = list(zip(line.src.tolist(), line.dst.tolist(), strict=True))
    return build(line, "scatter", f"0:0>2@0 1:0>1@{sent}", collective_root=0, targets=[2, 1], route=[0, -1],
                 routes=[(ends.index((0, 1)), ends.index((1, 2)))], waits=((5,),), virtual_channel=[1],
                 slot_cycles=1, made_for=MadeFor(48, SMALL))  # fmt: skip


#: rule, what the second opinion says of it, the wrong schedule
WRONG: list[tuple[str, str, Callable[[], AnySchedule]]] = [
    ("self", "ends where it starts", lambda: path_all_reduce(PATH + " 1>1")),
    ("link", "has no link", lambda: cast("mesh:1x3", "0>1 0>2")),
    ("link", "which holds nothing", lambda: cast(STAR, "0>2")),
    ("link", "a switch with one accumulator", lambda: cast(ADDING, "0>2", buffers=2, src_buffer=[0], dst_buffer=[1])),
    ("link", "leads elsewhere", lambda: cast(STAR, "0>1", route=[0], routes=[(0, 5)])),
    ("link", "a gap", lambda: cast(STAR, "0>1", route=[0], routes=[(0, 4, 3)])),
    ("link", "visits a node twice", lambda: cast(STAR, "0>1", route=[0], routes=[(0, 1, 0, 3)])),
    ("link", "does not forward", lambda: cast(BESIDE_A_SWITCH, "0>2", route=[0], routes=[(0, 2)])),
    ("shares", "no block for each other", lambda: build("full:3", "scatter", "0:0>1", collective_root=0, targets=[0])),
    ("shares", "from 0 to 2", lambda: build("full:3", "scatter", "0:0>1; 1:0>1", collective_root=0, targets=[1, 1])),
    ("demand", "have 3 granules, not 2", lambda: blocks("0>1", 2, 3, 3)),
    ("capacity", "3 granules in a step of 2", lambda: blocks("0>1", 3, 2, 3)),
    ("capacity", "carries 2, more than 1", lambda: cast("full:2", "0:0>1 1:0>1")),
    ("capacity", "link number 0", lambda: cast(PARALLEL, "0:0>1 1:0>1", route=[0, 0], routes=[(0,)])),
    ("capacity", "link 0>1 carries 3", lambda: cast(PARALLEL, "0:0>1 1:0>1 2:0>1", route=[0, -1, -1], routes=[(0,)])),
    ("period", "carries 2, more than 1", lambda: cast("full:2", "0:0>1; 1:0>1", period=1, repeats=2)),
    ("not-held", "node 1 holds nothing to send", lambda: cast("mesh:1x3", "0>1 1>2", delay=1)),
    ("not-held", "node 1 holds nothing to add to", lambda: cast("mesh:1x3", "0+1; 1>2")),
    ("write-conflict", "reach one cell together", lambda: cast("ring:3", "0>1; 0>2 1>2")),
    ("duplicate", "contribution of node 0 a second", lambda: path_all_reduce("0+1 2+1; 0+1; 1>0 1>2")),
    ("missing", "node 2 lacks the contribution of node 0", lambda: path_all_reduce("0+1 2+1; 1>0")),
    ("causality", "node 0 lacks the contribution of node 0", lambda: path_all_reduce("0+1 2+1 1>0; 1>2")),
    ("in-flight", "is in flight there", lambda: build(
        "full:2", "all-reduce", "0+1; 1+0", delay=2, buffers=2, src_buffer=[0, 0], dst_buffer=[0, 0])),
    ("in-flight", "not both add", lambda: cast(
        "full:2", "0>1; 0>1", delay=2, buffers=2, src_buffer=[0, 0], dst_buffer=[0, 0])),
    ("original-lost", "contribution of node 1 a second", lambda: build(
        "full:2", "all-reduce", "1+0; 0+1", buffers=2, src_buffer=[0, 0], dst_buffer=[0, 0])),
    ("in-flight", "not both add", lambda: apart("")),
    ("in-flight", "row 1 (reduce of chunk 0, 2>1) is in flight there", lambda: carried_over(24)),
    ("waiting", "behind link 0>1 with another", lambda: behind_one_that_waits(7)),
    ("automorphism", "does not take links to links", lambda: moved_group((0, 1))),
    ("reserved", "no lane of link 0>1 in cycle 2", lambda: fine("full:2", "0:0>1@0 1:0>1@2", size=32)),
    ("reserved", "no lane of link number 0 in cycle 2", lambda: fine(
        PARALLEL, "0:0>1@0 1:0>1@2", size=32, route=[0, 0], routes=[(0,)])),
    ("reserved", "meets 2 messages", lambda: fine(
        PARALLEL, "0:0>1@0 1:0>1@2 2:0>1@4", size=48, route=[0, -1, 0], routes=[(0,)])),
    ("reserved", "a period has 2", lambda: fine("full:2", "0>1@0", size=32, period=2, repeats=2)),
    ("reserved", "no lane of link 0>1 in cycle 0", lambda: fine("full:2", "0:0>1@0 1:0>1@4", size=64, period=5, repeats=2)),
    ("reserved", "no lane of the copy unit of node 0", lambda: fine(
        "full:2", "0>0@0 0>0@2 0>1@9", buffers=3, src_buffer=[0, 0, 0], dst_buffer=[1, 2, 0])),
    ("overloaded", "gets 8 cycles of work in 6", lambda: fine(
        "mesh:1x3", "0+1@0 2+1@1 1>0@40 1>2@40", "all-reduce", size=32, period=6, repeats=2)),
    ("waiting", "behind link 1>2 with another", lambda: fine(
        STAR, "0:1>0@0 1:1>3@3", "all-gather", size=32, roots=[1, 1], route=[0, 1], routes=[(2, 1), (2, 5)], waits=((4,), (0,)))),
    ("waiting", "3 flits in a buffer", lambda: waiting(0, 3, flits=2)),
    ("not-held", "node 1 holds nothing to send", lambda: fine("mesh:1x3", "1>2@0 0>1@0")),
    ("in-flight", "leaves node 1 while", lambda: fine("mesh:1x3", "0>1@0 1>2@9")),
    ("in-flight", "is in flight there", lambda: fine("mesh:1x3", "0+1@0 2+1@0 1>0@19 1>2@19", "all-reduce")),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "words", "make"), WRONG, ids=[f"{rule}-{i}" for i, (rule, _, _) in enumerate(WRONG)])
def test_wrong_schedules(rule: str, words: str, make: Callable[[], AnySchedule]) -> None:
    schedule = make()
    opinion = ct.second_opinion(schedule)
    assert opinion.valid is False
    assert words in opinion.words
    assert opinion.rule == {"causality": "missing", "overwritten": "missing", "original-lost": "duplicate"}.get(rule, rule)
    assert rule in ct.verify(schedule).counts


@pytest.mark.parametrize(
    "make",
    [
        path_all_reduce,
        lambda: cast(STAR, "0>1; 0>3", route=[0, 1], routes=[(0, 3), (0, 5)]),
        lambda: cast(PARALLEL, "0:0>1 1:0>1", route=[0, -1], routes=[(0,)]),
        lambda: cast("full:2", "0:0>1; 1:0>1", period=2, repeats=1 << 20),
        lambda: blocks("0>1", 3, 3, 3),
        lambda: fine("full:2", "0:0>1@0 1:0>1@3", size=32),
        lambda: fine("full:2", "0:0>1@0 1:0>1@3", size=64, period=6, repeats=2),
        lambda: fine("mesh:1x3", "0+1@0 2+1@0 1>0@20 1>2@20", "all-reduce"),
        lambda: fine("mesh:1x3", "0>1@0 1>2@10"),
        lambda: waiting(0, 3),
        lambda: apart(";"),
        lambda: carried_over(25),
        lambda: behind_one_that_waits(8),
    ],
)
def test_schedules_next_to_them_are_valid(make: Callable[[], AnySchedule]) -> None:
    schedule = make()
    assert ct.second_opinion(schedule).words == "valid"
    assert ct.verify(schedule).valid


def test_drawn_schedules() -> None:
    answers = agree(SOURCES, range(6))
    assert answers[None] == 0
    assert min(answers[True], answers[False]) > 45


def test_many_drawn_schedules() -> None:
    answers = agree(SOURCES, range(100, 180))
    print(f"both accept {answers[True]}, both refuse {answers[False]}")
    assert answers[None] == 0
    assert min(answers[True], answers[False]) > 800


def test_every_form(tmp_path: Path) -> None:
    for name, form in FORMS.items():
        folder = tmp_path / name
        folder.mkdir()
        assert json_of("verify", form.write(folder), "--second-opinion")["second_opinion"] == {"answer": "valid", "reason": ""}


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ct.save(path_all_reduce(), tmp_path / "right.json")
    ct.save(path_all_reduce("0+1 2+1; 1>0"), tmp_path / "wrong.json")
    right, wrong = (["verify", tmp_path / f"{name}.json", "--second-opinion"] for name in ("right", "wrong"))
    outcome = certree(*right)
    assert (outcome.code, outcome.out.splitlines()[-1]) == (0, "  second opinion: valid")
    outcome = certree(*wrong)
    assert outcome.code == 1
    assert "second opinion: invalid: at the end node 2 lacks the contribution of node 0 to chunk 0 (missing)" in outcome.out
    assert_bad_input(certree(*right, tmp_path / "wrong.json"), "--second-opinion is for a single schedule")
    monkeypatch.setattr(answered_twice, "second_opinion", lambda _: ct.SecondOpinion(False, "made up", "link", 3))
    outcome = certree(*right)
    assert outcome.code == 1
    assert (
        "the two differ, so one is wrong: the checker says valid, the second opinion invalid: step 3: made up (link)" in outcome.err
    )
    monkeypatch.undo()
    monkeypatch.setattr(plain_schedule, "MOST_ROWS", 3)
    outcome = certree(*right)
    assert outcome.code == 3
    assert "second opinion: undecided: 4 transfers and links of routes, 3 cells; allowed: 3 of each" in outcome.out
    outcome = certree(*wrong)
    assert outcome.code == 1


def test_what_is_no_schedule(tmp_path: Path) -> None:
    ct.save(ct.synthesize("mesh:2x2", size="1KiB", method="multitree"), tmp_path / "s.json")
    assert certree("export", tmp_path / "s.json", "-o", tmp_path / "tables").code == 0
    assert_bad_input(certree("verify", tmp_path / "tables", "--second-opinion"), "--second-opinion is for a schedule")


def test_the_group_must_reach_each_node_once() -> None:
    schedule = turning("ring:4")
    opinion = ct.second_opinion(replace(schedule, action=Action([[0, 3, 2, 1]])))
    assert (opinion.rule, opinion.step) == ("regular", None)
