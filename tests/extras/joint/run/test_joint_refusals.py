"""Joint schedules that are invalid, or that routers may spoil, are refused before a model that lacks these rules is asked."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import pytest

import certree.api as ct
from certree.api.api_errors import DeadlockError, InvalidScheduleError
from certree.extras.joint.make.joining import joint
from certree.extras.joint.model.collective_list import Entry
from certree.extras.joint.model.joint_schedule import JointSchedule
from certree.extras.joint.run import joint_refusals
from certree.extras.joint.run.joint_model import model_check_joint
from certree.extras.joint.run.joint_refusals import InvalidJointError, require_joint_free, require_joint_in_time
from certree.extras.joint.run.joint_rows import tables_of
from certree.verify.deadlock.freedom import deadlock_of_tables

RACING = "sum"


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
    """All-reduces along a row and a column, which share node 0 and no link; each begins with a local copy there."""
    groups = [
        Entry(name, ct.collective("all-reduce", members=members), 1024)
        for name, members in (("a", range(4)), ("b", range(0, 16, 4)))
    ]
    made = joint("torus:4x4", groups, relay="members")
    return replace(made, parts=tuple(replace(part, begin=begin) for part, begin in zip(made.parts, (48, 0), strict=True)))


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (_early, "joint-start: a sends in cycle 0; it may start in cycle 500"),
        (_late, "joint-late: a row 0: node 1 is reached in cycle"),
        (_size, "joint-form: a: its schedule is for 256 bytes, not 512"),
        (_exchanged, "joint-form: a: its schedule is of another collective: broadcast from node 1, not broadcast from node 0"),
        (_same_name, "joint-form: two collectives have the name 'a'"),
        (_copies, "joint-link: a row 8 (chunk 0 from 0 to 0, fired in cycle 48) finds no lane of the copy unit of node 0 free"),
    ],
)
def test_what_the_checker_refuses(wrong: Callable[[], JointSchedule], words: str) -> None:
    """The model would hold for all of these: it knows neither the entries nor the copy units."""
    with pytest.raises(InvalidJointError) as refused:
        ct.model_check(schedule=wrong())  # type: ignore[arg-type]  # as the path of its file
    assert str(refused.value).startswith(f"the schedule is invalid: {words}")
    assert refused.value.exit_code == 1


def test_a_circle_through_several_collectives():
    """Each of two exchanges over two links is free of deadlock; with one virtual channel both are not."""
    entries = [Entry(f"c{at}", ct.collective("all-to-all", members=[at, (at + 2) % 5]), 1 << 16) for at in range(2)]
    made = joint("ring:5", entries, machine=replace(ct.machine("multitree"), vc_count=1), relay="all")
    tables = tables_of(made)
    assert all(deadlock_of_tables(one).free for one in tables)
    with pytest.raises(DeadlockError, match="that is a circle"):
        model_check_joint(made)
    require_joint_free(replace(made, parts=made.parts[:1]), tables[:1])


def test_slots_that_routers_may_spoil(monkeypatch):
    """Where routers add time, a collective whose order only slots keep is refused, by its name; others are not."""
    of = ct.collective
    made = joint("ring:4", [Entry(RACING, of("all-reduce"), 256), Entry("copies", of("broadcast", 0), 64)])
    tables = tables_of(made)
    require_joint_in_time(made, tables)
    monkeypatch.setattr(joint_refusals, "joint_effect", lambda tables: "interfaces are shared")
    require_joint_in_time(replace(made, parts=tuple(part for part in made.parts if part.name != RACING)), tables)
    with pytest.raises(InvalidScheduleError, match=f"late: .*messages may be late: interfaces are shared, in {RACING}"):
        require_joint_in_time(made, tables)
