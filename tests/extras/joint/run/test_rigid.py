"""Schedules whose rows must leave together are moved as a whole, and others are booked around them."""

import pytest

import certree.api as ct
from certree.extras.joint.check.joint_checks import verify_joint
from certree.extras.joint.make.joining import joint
from certree.extras.joint.make.merging import Jobs, merged
from certree.extras.joint.make.routed import with_joint_channels
from certree.extras.joint.model.collective_list import Entry
from certree.extras.joint.model.joint_schedule import JointSchedule, Part
from certree.extras.joint.run.joint_run import run_joint
from certree.models.fine.rebooking import with_guards
from certree.models.machine.machine import load_machine
from certree.models.schedule.symmetric.symmetric_schedule import written_out

NETWORK = "torus:2x2x2,without-node=6"
TOTAL = Entry("sum", ct.collective("all-reduce"), 2048)
SCATTERS = [Entry(name, ct.collective("scatter", 0), 4096, start=begin) for name, begin in (("a", 0), ("b", 90))]


def jobs_of(entry: Entry, method: str) -> Jobs:
    made = ct.synthesize(NETWORK, entry.collective, method=method, size=entry.size)
    return Jobs.of(with_guards(written_out(made), entry.size, load_machine("multitree"), 0))


@pytest.fixture(scope="module")
def jobs() -> dict[str, Jobs]:
    """The jobs of an exchange of everyone with everyone, whose sums wait for each other, and of two scatters."""
    return {"sum": jobs_of(TOTAL, "one-shot"), **dict.fromkeys("ab", jobs_of(SCATTERS[0], "single-pass"))}


def joined(parts: tuple[Part, ...]) -> JointSchedule:
    return with_joint_channels(JointSchedule(parts[0].schedule.topology, load_machine("multitree"), parts))


def test_others_are_booked_around(jobs: dict[str, Jobs]) -> None:
    assert [one.is_rigid for one in jobs.values()] == [True, False, False]
    parts = merged([TOTAL, *SCATTERS], jobs, 1, lambda entry, _: jobs[entry.name].times.fire)
    assert parts[0].begin == 0
    assert parts[0].schedule is jobs["sum"].schedule
    made = joined(parts)
    assert verify_joint(made).valid
    assert run_joint(made).holds
    assert run_joint(made, "flit").holds
    assert made.cycles < sum(one.times.cycles for one in jobs.values())


def test_a_second_one_begins_where_nothing_meets(jobs: dict[str, Jobs]) -> None:
    """Two of them on the same links: the second begins where all of its uses are free, and a cycle earlier something meets."""
    second = Entry("again", TOTAL.collective, TOTAL.size)
    both = {"sum": jobs["sum"], "again": jobs["sum"]}
    parts = merged([TOTAL, second], both, 1, lambda entry, _: both[entry.name].times.fire)
    assert parts[0].begin == 0 < parts[1].begin <= parts[0].landed
    assert verify_joint(joined(parts)).valid
    assert not verify_joint(joined((parts[0], Part(second, parts[1].begin - 1, parts[1].schedule)))).valid
    late = Entry("again", TOTAL.collective, TOTAL.size, start=5, late=((0, 10_000),))
    moved = merged([TOTAL, late], both, 1, lambda entry, _: both[entry.name].times.fire)[1]
    assert moved.fire[moved.schedule.src == 0].min() >= 10_000


def test_in_a_workload() -> None:
    """Without moving the rigid one, this would be one after the other."""
    made = joint(NETWORK, [TOTAL, *SCATTERS])
    assert made.cycles * 3 < made.provenance["one_after_the_other_cycles"] * 2
