"""Where schedules have too many transfers to be merged, others of few are made and merged."""

import pytest

import certree.api as ct
from certree.extras.joint.check.joint_checks import verify_joint
from certree.extras.joint.make import joining
from certree.extras.joint.make.choices import with_few
from certree.extras.joint.run.joint_run import run_joint

GROUPS = ([0, 1, 2], [1, 2, 3], [0, 2, 3], [0, 1, 3])


def test_few_are_merged(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four groups of three on a switch, where each endpoint is in three: with room for few transfers only, all run at once."""
    entries = [ct.Entry(f"g{number}", ct.collective("all-reduce", members=group), 1 << 18) for number, group in enumerate(GROUPS)]
    known: dict[object, object] = {}
    of, choices, _ = joining.choices_for("switch:4", entries, None, 1, 0, "members", known, lambda _: None)
    all_choices = {one.name: with_few(of.topology, of.machine, one, choices[one.name], ["members"]) for one in of.entries}
    few = sum(kept[-1].uses for kept in all_choices.values())
    assert few < sum(min(choice.uses for choice in kept) for kept in choices.values())
    monkeypatch.setattr(joining, "_USES", few - 1)  # too few for these, too
    without = joining.joint("switch:4", entries, relay="members", known=known)
    monkeypatch.setattr(joining, "_USES", few)
    made = joining.joint("switch:4", entries, relay="members", known=known)
    assert {part.schedule.provenance["method"] for part in made.parts} == {"direct"}
    assert made.cycles < without.cycles == without.provenance["one_after_the_other_cycles"]
    assert verify_joint(made).valid
    assert run_joint(made, "flit").holds


def test_who_has_none() -> None:
    of = ct.Entry("copies", ct.collective("broadcast", 0), 1 << 10)
    assert with_few(ct.topology("ring:3"), joining.machine_for(ct.topology("ring:3"), None), of, [], ["all"]) == []
