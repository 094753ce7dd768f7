"""Late members: schedules that use what is there, what is refused of files and tables, and messages that come too early."""

from dataclasses import replace
from pathlib import Path

import pytest

import certree.api as ct
from certree.extras.joint.check.joint_checks import JointVerdict, verify_joint
from certree.extras.joint.check.joint_report import joint_report, joint_words
from certree.extras.joint.make.alone import alone
from certree.extras.joint.make.choices import with_late
from certree.extras.joint.make.late_ranks import early_first
from certree.extras.joint.model.collective_list import Entry, load_collectives
from certree.extras.joint.model.joint_file import joint_document, joint_from_document
from certree.extras.joint.run.joint_run import run_joint
from certree.extras.reports.pages.joint_page import joint_page
from certree.models.common.errors import InputError
from certree.models.fine.slots import fine_times
from certree.models.machine.machine import load_machine

LATE = 20_000


def entry(size: int = 1 << 15, late: tuple[tuple[int, int], ...] = ((3, LATE),)) -> Entry:
    return Entry("sum", ct.collective("all-reduce"), size, late=late)


@pytest.fixture(scope="module")
def made() -> ct.JointSchedule:
    return ct.joint("switch:4", [entry()])


def test_the_others_add_up_first(made: ct.JointSchedule) -> None:
    verdict = verify_joint(made)
    assert verdict.valid
    assert run_joint(made).holds
    assert made.parts[0].first < LATE
    assert verdict.least is not None
    assert made.provenance["one_after_the_other_cycles"] == alone("switch:4", [entry()])[0].cycles == made.cycles
    bulk = alone("switch:4", [replace(entry(), late=(), start=LATE)])[0].cycles
    assert made.cycles - LATE < (bulk - LATE) * 9 // 10
    # its own 32 KiB at 16 bytes a cycle leave the late member after it has come
    assert LATE + (1 << 11) < verdict.least.cycles < made.cycles < bulk


def _with_late(joint: ct.JointSchedule, node: int, cycle: int) -> JointVerdict:
    document = joint_document(joint)
    document["collectives"][0]["late"] = [[node, cycle]]
    return verify_joint(joint_from_document(document, "it"))


def test_nothing_leaves_a_member_too_early(made: ct.JointSchedule) -> None:
    part = made.parts[0]
    first = int(part.fire[part.schedule.src == 3].min())
    assert LATE <= first <= LATE + 8
    assert _with_late(made, 3, first).valid
    wrong = _with_late(made, 3, first + 1)
    assert set(wrong.counts) == {"joint-late"}
    assert f"node 3 sends in cycle {first}; it takes part from cycle {first + 1}" in wrong.violations[0].message


def test_nothing_reaches_a_member_too_early() -> None:
    copies = ct.joint("ring:3", [Entry("copy", ct.collective("broadcast", 0), 1024)])
    part = copies.parts[0]
    to = (part.schedule.dst == 1) & (part.schedule.src != 1)
    reached = int((part.fire + fine_times(part.schedule).latency)[to].min())
    assert _with_late(copies, 1, reached).valid
    wrong = _with_late(copies, 1, reached + 1)
    assert set(wrong.counts) == {"joint-late"}
    assert f"node 1 is reached in cycle {reached}; it takes part from cycle {reached + 1}" in wrong.violations[0].message


def test_wrong_late_members_of_files(made: ct.JointSchedule) -> None:
    document = joint_document(made)
    for late, why in (([[9, 5]], "no member"), ([[3, 5], [3, 6]], "has one already"), ([[3, 0]], "allowed: 1 to")):
        document["collectives"][0]["late"] = late
        verdict = verify_joint(joint_from_document(document, "it"))
        assert set(verdict.counts) == {"joint-form"}
        assert why in verdict.violations[0].message
    document["collectives"][0]["late"] = [[3, "soon"]]
    with pytest.raises(InputError, match="expected pairs of a member and a cycle"):
        joint_from_document(document, "it")


def test_starts_by_member(tmp_path: Path) -> None:
    path, network, machine = tmp_path / "w.toml", ct.topology("ring:4"), load_machine("multitree")
    path.write_text('[[collective]]\nkind = "all-reduce"\nsize = 64\nmembers = "0-2"\nstart = {0 = "1us", 2 = 2000}\n')
    (read,) = load_collectives(path, network, machine).entries
    assert (read.start, read.late) == (0, ((0, 1000), (2, 2000)))
    shifted = replace(read, start=500)
    ct.save_collectives([read, replace(shifted, name="later")], path, force=True)
    assert load_collectives(path, network, machine).stated == (read, replace(shifted, name="later"))
    path.write_text('[[collective]]\nkind = "all-reduce"\nsize = 64\nmembers = "0-2"\nstart = {3 = 5}\n')
    with pytest.raises(InputError, match="start of 3, which is no member"):
        load_collectives(path, network, machine)
    path.write_text('[[collective]]\nkind = "all-reduce"\nsize = 64\nstart = {x = 5}\n')
    with pytest.raises(InputError, match="'x' is not the id of an endpoint"):
        load_collectives(path, network, machine)
    with pytest.raises(InputError, match="sum: start of 9, which is no member"):
        ct.joint("ring:4", [entry(late=((9, 5),))])


@pytest.mark.parametrize(("network", "late"), [("switch:4", (3,)), ("switch:5", (0,)), ("full:4", (1,)), ("switch:5", (1, 4))])
def test_schedules_of_any_number_of_early_members(network: str, late: tuple[int, ...]) -> None:
    """Odd and even numbers of early members; several late ones; each is a valid all-reduce."""
    topology, asked = ct.topology(network), entry(4096, tuple((node, 100 * node + 5000) for node in late))
    made = list(early_first(topology, load_machine("multitree"), asked))
    assert len(made) > 2
    assert all(ct.verify(one).valid for one in made)


def test_where_links_are_shared_all_others_are_booked_late() -> None:
    """On a ring the rounds meet; what other methods make is booked around the late member."""
    assert not list(early_first(ct.topology("ring:6"), load_machine("multitree"), entry(1 << 14, ((3, LATE),))))
    made = ct.joint("ring:4", [Entry("copy", ct.collective("broadcast", 0), 4096, late=((2, 1500),)), entry(2048, ((3, 3000),))])
    verdict = verify_joint(made)
    assert verdict.valid
    assert run_joint(made).holds
    assert made.parts[0].first < 1500


def test_members_alone_relay_where_that_is_asked_for() -> None:
    """What the early ones add up first has no rows at others either; with others as relays it says so."""
    network, machine = ct.topology("ring:6"), load_machine("multitree")
    asked = Entry("sum", ct.collective("all-reduce", members=[0, 1, 2, 3]), 1024, late=((3, LATE),))
    for relay, used in (("members", {0, 1, 2, 3}), ("all", {0, 1, 2, 3, 4, 5})):
        choices = with_late(network, machine, asked, [], [relay])
        assert {choice.relay for choice in choices} == {relay}
        for choice in choices:
            schedule = choice.jobs.schedule
            ends = {int(node) for route in schedule.routes for link in route for node in (network.src[link], network.dst[link])}
            assert ends == used
            assert schedule.topology is network
            assert ct.verify(schedule).valid


def test_late_members_are_shown(made: ct.JointSchedule) -> None:
    document = joint_report(verify_joint(made))
    assert document["collectives"][0]["late"] == [{"member": 3, "cycle": LATE}]
    assert "all-reduce; late: 3 from cycle 20,000" in joint_words(document)
    assert "late: 3 from cycle 20,000" in joint_page([made], simulate=False)
