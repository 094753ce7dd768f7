"""Mutants of joint schedules, each wrong by what it is: none is accepted.

A *slot* mutant fires a row of one collective in a slot in which a message of another is on a link that it takes. A *tag* mutant
exchanges two rows of two collectives, which differ in what they send. An *owner* mutant exchanges the schedules of two collectives,
so that all rows of both have the other's tag.
"""

from collections.abc import Iterator
from copy import deepcopy
from random import Random
from typing import Any

import numpy as np

import certree.api as ct
from certree.extras.joint.check.joint_checks import verify_joint
from certree.extras.joint.model.joint_file import joint_document, joint_from_document
from certree.extras.joint.model.joint_schedule import JointSchedule
from certree.models.common.errors import ScheduleFormatError
from certree.models.fine.slots import fine_times
from certree.verify.rules.fine_slots import link_uses
from tests.extras.joint.small_joint import small

ROW = ("chunk", "src", "dst", "op", "route")


def _second() -> JointSchedule:
    """An all-reduce in each row, an all-to-all of all and a late broadcast on a torus without node 4."""
    of = ct.collective
    entries = [
        ct.Entry("first", of("all-reduce", members=[0, 1, 2]), 4096),
        ct.Entry("last", of("all-reduce", members=[6, 7, 8]), 4096),
        ct.Entry("all", of("all-to-all"), 2048),
        ct.Entry("copies", of("broadcast", 5), 1024, start=200),
    ]
    return ct.joint("torus:3x3,without-node=4", entries)


def _slot_mutants(joint: JointSchedule) -> list[tuple[str, int, int]]:
    """Collective, row and step of rows that enter a link while a message of another collective is on it, in a slot of their own
    schedule that opens then."""
    columns = []
    for number, part in enumerate(joint.parts):
        row, link, entry, lanes = link_uses(part.schedule)
        assert lanes.max() == 1, "mutants are wrong where a link has one lane"
        columns.append((np.full(len(row), number), row, link, entry + part.begin, fine_times(part.schedule).length[row]))
    here, row, link, cycle, length = (np.concatenate(parts) for parts in zip(*columns, strict=True))
    mine, theirs = np.nonzero((link[:, None] == link) & (here[:, None] != here))
    slot = np.array([part.schedule.slot_cycles for part in joint.parts])[here[mine]]
    slots = -((cycle[mine] - cycle[theirs]) // slot)
    within = cycle[mine] + slots * slot < cycle[theirs] + length[theirs]
    found = [
        (joint.parts[here[one]].name, int(row[one]), int(joint.parts[here[one]].schedule.step[row[one]] + later))
        for one, later in zip(mine[within].tolist(), slots[within].tolist(), strict=True)
    ]
    steps = {part.name: part.schedule.steps for part in joint.parts}
    return [one for one in dict.fromkeys(found) if 0 <= one[2] < steps[one[0]]]


def _mutants(joint: JointSchedule, count: int, draws: Random) -> Iterator[tuple[str, Any]]:
    """At most `count` of the first kind, as many of the second, and every exchange of two whole schedules."""
    right = joint_document(joint)
    slots = _slot_mutants(joint)
    for name, row, step in draws.sample(slots, min(count, len(slots))):
        document = deepcopy(right)
        _part(document, name)["schedule"]["transfers"]["step"][row] = step
        yield f"slot: {name} row {row} in step {step}", document
    found = 0
    while found < count:
        document = deepcopy(right)
        one, other = (part["schedule"]["transfers"] for part in draws.sample(document["collectives"], 2))
        rows = [draws.randrange(len(transfers["step"])) for transfers in (one, other)]
        columns = [name for name in ROW if name in one and name in other]
        if all(one[name][rows[0]] == other[name][rows[1]] for name in columns):
            continue
        for name in columns:
            one[name][rows[0]], other[name][rows[1]] = other[name][rows[1]], one[name][rows[0]]
        found += 1
        yield f"tag: rows {rows}", document
    for first, second in [(a, b) for a in range(len(joint.parts)) for b in range(a)]:
        document = deepcopy(right)
        one, other = document["collectives"][first], document["collectives"][second]
        for name in ("schedule", "slots", "begin"):
            one[name], other[name] = other[name], one[name]
        yield f"owner: {first} and {second}", document


def _part(document: Any, name: str) -> Any:
    return next(part for part in document["collectives"] if part["name"] == name)


def _accepted(document: Any) -> bool:
    try:
        return verify_joint(joint_from_document(document, "joint.json")).valid
    except ScheduleFormatError:
        return False


def _accepted_of(joint: JointSchedule, count: int) -> tuple[int, list[str]]:
    """How many mutants there are, and which are accepted."""
    assert _accepted(joint_document(joint))
    mutants = [*_mutants(joint, count, Random(54))]
    return len(mutants), [name for name, document in mutants if _accepted(document)]


def test_some_mutants() -> None:
    made, accepted = _accepted_of(small(), 4)
    assert made == 4 + 4 + 6
    assert not accepted


def test_200_mutants() -> None:
    several = [_accepted_of(joint, 80) for joint in (small(), _second())]
    assert sum(made for made, _ in several) >= 200
    assert [accepted for _, accepted in several] == [[], []]
