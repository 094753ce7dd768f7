"""Joint schedules that are invalid are refused before they run, and before a model that lacks these rules is asked."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

import certree.api as ct
from certree.extras.joint.make.joining import joint
from certree.extras.joint.model.collective_list import Entry
from certree.extras.joint.model.joint_file import save_joint
from certree.extras.joint.model.joint_schedule import JointSchedule
from certree.extras.joint.run.joint_refusals import InvalidJointError
from certree.extras.joint.run.joint_run import run_joint
from tests.cli.running import certree


def _changed(joint: JointSchedule, number: int, **change: object) -> JointSchedule:
    """With another entry of the part of this number."""
    parts = list(joint.parts)
    parts[number] = replace(parts[number], entry=replace(parts[number].entry, **change))
    return replace(joint, parts=tuple(parts))


@cache
def _pair() -> JointSchedule:
    of = ct.collective
    return joint("ring:3", [Entry("a", of("broadcast", 0), 256), Entry("b", of("broadcast", 1), 256)])


def _early() -> JointSchedule:
    return _changed(_pair(), 0, start=500)


def _late() -> JointSchedule:
    return _changed(_pair(), 0, late=((1, 9000),))


def _size() -> JointSchedule:
    return _changed(_pair(), 0, size=512)


def _exchanged() -> JointSchedule:
    made = _pair()
    a, b = made.parts
    return replace(made, parts=(replace(a, schedule=b.schedule), replace(b, schedule=a.schedule)))


def _same_name() -> JointSchedule:
    return _changed(_pair(), 1, name="a")


def _copies() -> JointSchedule:
    """All-reduces on two paths, which share node 0 and no link; each begins with a local copy there."""
    groups = [
        Entry(name, ct.collective("all-reduce", members=members), 1024) for name, members in (("a", (0, 1, 2)), ("b", (0, 4, 5)))
    ]
    made = joint("ring:6", groups, relay="members")
    return replace(made, parts=tuple(replace(part, begin=begin) for part, begin in zip(made.parts, (48, 0), strict=True)))


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (_early, "joint-start: a sends in cycle 0; it may start in cycle 500"),
        (_late, "joint-late: a row 0: node 1 is reached in cycle"),
        (_size, "joint-form: a: its schedule is for 256 bytes, not 512"),
        (_exchanged, "joint-form: a: its schedule is of another collective: broadcast from node 1, not broadcast from node 0"),
        (_same_name, "joint-form: two collectives have the name 'a'"),
        (_copies, "joint-link: a row 4 (chunk 0 from 0 to 0, fired in cycle 48) finds no lane of the copy unit of node 0 free"),
    ],
)
def test_what_the_checker_refuses(wrong: Callable[[], JointSchedule], words: str, tmp_path: Path) -> None:
    """The model would hold for all of these, and runs may: they know neither the entries nor the copy units."""
    with pytest.raises(InvalidJointError) as refused:
        ct.model_check(schedule=wrong())  # type: ignore[arg-type]  # as the path of its file
    assert str(refused.value).startswith(f"the schedule is invalid: {words}")
    assert refused.value.exit_code == 1
    if not words.startswith("joint-form"):  # these have no file, or another error there
        save_joint(wrong(), tmp_path / "wrong.json")
        assert run_joint(wrong()).data_ok
        ran = certree("simulate", tmp_path / "wrong.json")
        assert (ran.code, ran.out) == (1, "")
        assert str(refused.value) in ran.err
