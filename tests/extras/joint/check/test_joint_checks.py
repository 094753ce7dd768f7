"""Joint schedules: what is right is accepted, and each rule rejects what breaks it."""

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import certree.api as ct
from certree.extras.joint.check.joint_checks import verify_joint
from certree.extras.joint.check.joint_report import joint_report, joint_words
from certree.extras.joint.model.joint_schedule import JointSchedule, Part
from certree.extras.joint.run.joint_run import run_joint
from certree.models.common.errors import ScheduleFormatError
from certree.models.schedule.made_for import MadeFor
from certree.models.schedule.schedule import make_schedule
from certree.models.schedule.schedule_columns import Op
from tests.extras.joint.small_joint import small, verdict_on
from tests.verify.build import network
from tests.verify.fine_moved import MACHINE


def part(document: Any, name: str) -> Any:
    """The entry of a collective."""
    return next(one for one in document["collectives"] if one["name"] == name)


def test_right_one_is_valid() -> None:
    verdict = verdict_on(lambda _: None)
    assert verdict.valid, verdict.violations
    assert verdict.least is not None
    assert verdict.least.cycles <= verdict.joint.cycles == small().cycles
    assert verdict.least.weighted_ends <= verdict.joint.weighted_ends
    assert verdict.joint.cycles <= small().provenance["one_after_the_other_cycles"]


def _begin(name: str, cycle: int) -> Callable[[Any], None]:
    def change(document: Any) -> None:
        part(document, name)["begin"] = cycle

    return change


def _other_size(document: Any) -> None:
    part(document, "sum")["size"] = 1024


def _swapped_tags(document: Any) -> None:
    first, second = part(document, "sum"), part(document, "more")
    first["schedule"], second["schedule"] = second["schedule"], first["schedule"]
    first["slots"], second["slots"] = second["slots"], first["slots"]


def _lost_row(document: Any) -> None:
    transfers = part(document, "more")["schedule"]["transfers"]
    for column in transfers.values():
        column.pop()


def _higher_bound(document: Any) -> None:
    document["bounds"][-1]["value"] = str(int(document["bounds"][-1]["value"]) + 1)


def _alone(document: Any) -> Any:
    return next(bound for bound in document["bounds"] if "time" in bound)


def _higher_time(document: Any) -> None:
    _alone(document)["value"] = str(int(_alone(document)["value"]) + 1)


def _time_of_some(document: Any) -> None:
    _alone(document)["class"] = [*_alone(document)["class"], "equal shares"]


def _no_class(document: Any) -> None:
    del _alone(document)["time"]["class"]


def _other_machine(document: Any) -> None:
    document["machine"]["name"] = "another"


def _all_lengths_0(document: Any) -> None:
    document["bounds"][-1]["length"] = [0] * len(document["bounds"][-1]["length"])


@pytest.mark.parametrize(
    ("change", "rule", "words"),
    [
        (_other_size, "joint-form", "sum: its schedule is for 2048 bytes, not 1024"),
        (_swapped_tags, "joint-form", "sum: its schedule is of another collective"),
        (_lost_row, "joint-part", "more: "),
        (_begin("blocks", 0), "joint-start", "blocks sends in cycle 0; it may start in cycle 100"),
        (_begin("copies", 0), "joint-start", "copies sends in cycle 0; sum, which it is after, has landed"),
        (_higher_bound, "joint-bound", "cycles for sum, blocks, more and 1 more, not"),
        (_higher_time, "joint-bound", "the time bound shows"),
        (_time_of_some, "joint-bound", "must hold for every schedule"),
        (_no_class, "joint-bound", "class"),
        (_other_machine, "joint-form", "its schedule is for another machine than another"),
        (_all_lengths_0, "joint-bound", "links all have length 0"),
    ],
)
def test_wrong_ones(change: Callable[[Any], None], rule: str, words: str) -> None:
    verdict = verdict_on(change)
    assert not verdict.valid
    assert any(one.rule == rule and words in one.message for one in verdict.violations), verdict.violations


def test_two_at_once_meet() -> None:
    """One all-reduce twice in the same cycles meets itself on links; half a message later, in reduction units as well."""
    rules = set()
    for later in range(0, 400, 20):

        def change(document: Any, later: int = later) -> None:
            twice = dict(part(document, "more"), name="again", begin=part(document, "more")["begin"] + later)
            document["collectives"].append(twice)
            document["bounds"] = []

        verdict = verdict_on(change)
        rules |= set(verdict.counts)
        if later == 0:
            assert {"joint-link", "joint-unit"} == set(verdict.counts)
    assert rules == {"joint-link", "joint-unit"}


def test_for_another_network() -> None:
    assert set(verify_joint(small(), ct.topology("ring:5")).counts) == {"topology"}


def test_names_and_circles() -> None:
    def twice(document: Any) -> None:
        part(document, "sum")["name"] = "more"

    def circle(document: Any) -> None:
        part(document, "sum")["after"] = ["copies"]

    with pytest.raises(ScheduleFormatError, match="two collectives have the name 'more'"):
        verdict_on(twice)
    with pytest.raises(ScheduleFormatError, match="in a circle: sum waits for copies waits for sum"):
        verdict_on(circle)


def _rejected(joint: JointSchedule) -> str:
    (violation,) = verify_joint(replace(joint, bounds=())).violations
    assert violation.rule == "joint-form"
    return violation.message


def test_parts_that_do_not_belong_to_it() -> None:
    """Objects, which no file goes through."""
    joint = small()
    elsewhere = replace(joint, topology=ct.topology("full:4"), parts=joint.parts[:1])
    assert _rejected(elsewhere) == "sum: its schedule is for another network than full:4"
    first, second = joint.parts[:2]
    again = replace(second, entry=replace(second.entry, name=first.name))
    assert _rejected(replace(joint, parts=(first, again))) == "two collectives have the name 'sum'"
    unknown = replace(first, entry=replace(first.entry, after=("nobody",)))
    assert _rejected(replace(joint, parts=(unknown,))) == "sum is after 'nobody'; known: sum"
    assert _rejected(replace(joint, parts=())).startswith("there are no collectives")
    assert "weight is 0" in _rejected(replace(joint, parts=(replace(first, entry=replace(first.entry, weight=0)),)))


def _copies(topology: Any, steps: list[int], links: list[int], name: str, begin: int) -> Part:
    """A broadcast from 0 to 1, a chunk in each of the slots of a cycle, on the links that are named."""
    count = len(steps)
    columns = {
        "chunk": np.arange(count, dtype=np.int32),
        "op": np.full(count, int(Op.COPY), np.int8),
        "step": np.array(steps, np.int32),
        "src": np.zeros(count, np.int32),
        "dst": np.ones(count, np.int32),
        "route": np.arange(count, dtype=np.int32) if links else np.full(count, -1, np.int32),
    }
    collective = ct.collective("broadcast", 0, members=(0, 1))
    size = 9 * count * MACHINE.flit_bytes
    schedule = make_schedule(
        topology,
        collective.fitted(topology),
        [0] * count,
        columns,
        routes=tuple((link,) for link in links),
        slot_cycles=1,
        made_for=MadeFor(size, MACHINE),
    )
    return Part(ct.Entry(name, collective, size), begin, schedule)


def test_a_message_without_route_between_two_with_routes() -> None:
    """At any time one of two links is free, but none for all of its time."""
    topology = network("eee", [(0, 1, 1), (1, 0, 1), (0, 1, 1), (1, 2, 1), (2, 1, 1)])
    named = _copies(topology, [0, 12], [0, 2], "named", 0)
    for begin, rules in ((5, {"joint-link"}), (40, set())):
        free = _copies(topology, [0], [], "free", begin)
        assert set(verify_joint(JointSchedule(topology, MACHINE, (named, free), ())).counts) == rules


def test_messages_that_name_a_parallel_link_have_it() -> None:
    """Only those that name none need a lane that nothing else takes; such joint schedules are made, and run to the cycle."""
    pairs = [(0, 1), (1, 0), (1, 2), (2, 1), (2, 3), (3, 2), (3, 0), (0, 3), (0, 3), (3, 0)]
    topology = network("eeee", [(*pair, 1) for pair in pairs])
    pair = [ct.Entry("a", ct.collective("all-to-all"), 1024), ct.Entry("b", ct.collective("all-gather"), 1024)]
    made = ct.joint(topology, pair)
    assert made.cycles < made.provenance["one_after_the_other_cycles"]
    assert run_joint(made, "flit").holds


def test_bounds_that_are_exact() -> None:
    """Two all-gathers on two nodes: one header more than all bytes need, and the ends in Smith's order."""
    entries = [ct.Entry("a", ct.collective("all-gather"), 4096), ct.Entry("b", ct.collective("all-gather"), 8192, weight=3)]
    verdict = verify_joint(ct.joint("full:2", entries))
    assert verdict.least is not None
    assert (verdict.joint.cycles, verdict.least.cycles, verdict.least.weighted_ends) == (544, 543, 1532)


def test_words_without_a_bound() -> None:
    """A bound of zero cycles has no ratio."""
    verdict = verify_joint(replace(small(), bounds=()))
    assert verdict.least is not None
    shown = joint_report(replace(verdict, least=replace(verdict.least, cycles=0)))
    assert "time_over_bound" not in shown
    assert "(bound 0)" in joint_words(shown)


def _mutated(draw: random.Random) -> Callable[[Any], None]:
    """A row of one collective in the slot of a row of another, or two rows of two collectives exchanged."""

    def change(document: Any) -> None:
        one, other = draw.sample(document["collectives"], 2)
        rows = [draw.randrange(len(entry["schedule"]["transfers"]["step"])) for entry in (one, other)]
        first, second = (entry["schedule"]["transfers"] for entry in (one, other))
        if draw.random() < 0.5:
            cycles = other["begin"] + second["step"][rows[1]] * other["schedule"]["slot_cycles"]
            step = max(0, (cycles - one["begin"]) // one["schedule"]["slot_cycles"])
            draw_step = min(step, one["slots"] - 1)
            first["step"][rows[0]] = draw_step if draw_step != first["step"][rows[0]] else (draw_step + 1) % one["slots"]
        else:
            for name in ("chunk", "src", "dst", "op"):
                first[name][rows[0]], second[name][rows[1]] = second[name][rows[1]], first[name][rows[0]]

    return change


def test_mutants() -> None:
    """What the run shows to be wrong is never accepted: late rows, contention, another end, wrong data. A row that moves to a cycle
    in which all that it needs is free may be right, in the run as well."""
    draw, rejected, right = random.Random(5), 0, 0
    for _ in range(60):
        try:
            verdict = verdict_on(_mutated(draw))
        except ScheduleFormatError:
            rejected += 1
            continue
        if verdict.valid:
            assert run_joint(verdict.joint).holds
            right += 1
        rejected += not verdict.valid
    assert rejected + right == 60
    assert rejected > 40
