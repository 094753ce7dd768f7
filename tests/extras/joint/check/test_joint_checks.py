"""Joint schedules: what is right is accepted, and each rule rejects what breaks it."""

import random
from collections.abc import Callable
from typing import Any

import pytest

import certree.api as ct
from certree.extras.joint.check.joint_checks import verify_joint
from certree.extras.joint.run.joint_run import run_joint
from certree.models.common.errors import ScheduleFormatError
from tests.extras.joint.small_joint import small, verdict_on


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
        (_all_lengths_0, "joint-bound", "links all have length 0"),
    ],
)
def test_wrong_ones(change: Callable[[Any], None], rule: str, words: str) -> None:
    verdict = verdict_on(change)
    assert not verdict.valid
    assert any(one.rule == rule and words in one.message for one in verdict.violations), verdict.violations


def test_two_at_once_meet() -> None:
    """The same all-reduce twice in the same cycles meets itself on links; half a message later, in reduction units as well."""
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
