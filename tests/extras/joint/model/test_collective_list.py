"""Files that list collectives: what they say, and one line for what is wrong, before anything is made."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import certree.api as ct
from certree.extras.joint.check.joint_checks import verify_joint
from certree.extras.joint.make.alone import alone
from certree.extras.joint.make.joining import joint
from certree.extras.joint.model.collective_list import load_collectives
from certree.extras.joint.model.joint_file import joint_document, joint_from_document, load_joint, save_joint
from certree.extras.joint.model.joint_schedule import Launching
from certree.models.common.errors import InputError
from certree.models.machine.machine import load_machine
from tests.cli.running import assert_bad_input, certree, json_of
from tests.extras.joint.small_joint import entries, small, written

ONE = '[[collective]]\nkind = "all-reduce"\nsize = "1KiB"\nname = "a"\n'


def test_text(tmp_path: Path) -> None:
    found = load_collectives(written(tmp_path), ct.topology("ring:4"), ct.machine("multitree")).entries
    assert {entry.name: entry for entry in found} == {entry.name: entry for entry in entries()}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "collective"),
        ("x = 1\n" + ONE, "unknown field 'x'"),
        (ONE + "speed = 3\n", "unknown field 'speed'"),
        (ONE.replace("all-reduce", "all-reducee"), "all-reducee"),
        (ONE + ONE, "two collectives have the name 'a'"),
        (ONE + 'after = ["b"]\n', "a is after 'b'; known: a"),
        (ONE + 'after = ["a"]\n', "in a circle: a waits for a"),
        (ONE + 'members = "0-9"\n', "member 4 is not an endpoint"),
        (ONE + 'start = "soon"\n', "start is 'soon'; allowed: a time with ns"),
        (ONE + "start = -1\n", "-1"),
        (ONE + "weight = 0\n", "weight"),
        (ONE.replace("1KiB", "1Kib!"), "1Kib!"),
        ('launches = {x = ["a"]}\n' + ONE, "'x' is not the id of an endpoint"),
    ],
)
def test_bad_files(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "w.toml"
    path.write_text(text)
    with pytest.raises(ct.InputError) as refused:
        load_collectives(path, ct.topology("ring:4"), ct.machine("multitree"))
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


def test_members_that_cannot_be_reached(tmp_path: Path) -> None:
    path = tmp_path / "w.toml"
    path.write_text(ONE + 'members = "0,2"\n')
    with pytest.raises(ct.CertreeError, match="reach"):
        load_collectives(path, ct.topology("mesh:1x3,without-node=1"), ct.machine("multitree"))


def test_files(tmp_path: Path) -> None:
    save_joint(small(), tmp_path / "a.json")
    save_joint(load_joint(tmp_path / "a.json"), tmp_path / "b.json")
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()


def test_launches_that_deadlock(tmp_path: Path) -> None:
    path = tmp_path / "w.toml"
    path.write_text('launches = {0 = ["a", "b"], 1 = ["b", "a"]}\n' + ONE + ONE.replace('"a"', '"b"'))
    with pytest.raises(
        ct.InputError, match="may deadlock: a waits for rank 1, which is in b; b waits for rank 0, which is in a; launch"
    ):
        joint("ring:4", path)


def test_commands(tmp_path: Path) -> None:
    file, made = written(tmp_path), tmp_path / "j.json"
    outcome = certree("synthesize", "ring:4", "--workload", file, "-o", made)
    assert outcome.code == 0, outcome
    assert outcome.out.startswith("valid: joint schedule on ring:4, 4 collectives")
    assert json_of("verify", made)["valid"]
    assert json_of("simulate", made)["data_ok"]
    assert "right in every collective" in certree("simulate", made).out
    assert_bad_input(certree("synthesize", "ring:4", "--workload", file, "--chunks", "3"), "--chunks: not with --workload")
    assert_bad_input(certree("simulate", made, "--run", "paced"), "--run: not with a joint schedule")
    assert_bad_input(certree("verify", made, "--size", "1KiB"), "a joint schedule states the size of each of its collectives")
    assert_bad_input(certree("export", made, "-o", tmp_path / "t"), "is a joint schedule; name the schedule of a collective as")
    assert json_of("verify", f"{made}:sum")["valid"]
    assert certree("draw", f"{made}:more", "-o", tmp_path / "more.svg").code == 0
    assert certree("export", f"{made}:blocks", "-o", tmp_path / "t").code == 0
    assert_bad_input(certree("verify", f"{made}:other"), "has no collective other; it has sum")


def test_ranks_launch_in_the_order_of_the_file(tmp_path: Path) -> None:
    """Also where a collective waits for one before another that waits for none."""
    path = tmp_path / "w.toml"
    names = (("a", ""), ("b", 'after = ["a"]'), ("c", ""))
    tables = "".join(
        f'[[collective]]\nname = "{name}"\nkind = "broadcast"\nroot = 0\nsize = 1024\n{more}\n' for name, more in names
    )
    path.write_text('launches = {0 = ["a", "b", "c"]}\n' + tables)
    made = joint("ring:3", path)
    assert made.launching == Launching(1, dict.fromkeys(range(3), ("a", "b", "c")), ("a", "b", "c"))
    save_joint(made, tmp_path / "j.json")
    again = load_joint(tmp_path / "j.json")
    assert again.launching == made.launching
    for wrong in (
        replace(made.launching, order=("a", "c", "b")),
        replace(made.launching, order=("a", "b")),
        replace(made.launching, orders={0: ("a", "b")}),
        replace(made.launching, orders={**made.launching.orders, 1: ("b", "a", "c")}),
    ):
        assert set(verify_joint(replace(made, launching=wrong)).counts) == {"joint-launch"}
    path.write_text('launches = {0 = ["a", "c", "b"]}\n' + tables)
    with pytest.raises(ct.InputError, match="launches may deadlock: b waits for rank 0, which is in c"):
        joint("ring:3", path)


@pytest.mark.parametrize("rank", ["00", "9" * 5000])
def test_ranks_that_are_no_ids(tmp_path: Path, rank: str) -> None:
    path = tmp_path / "w.toml"
    path.write_text(f'launches = {{{rank} = ["broadcast-0"]}}\n[[collective]]\nkind = "broadcast"\nroot = 0\nsize = 1024\n')
    with pytest.raises(ct.InputError, match="is not the id of an endpoint"):
        joint("ring:3", path)


def test_late_starts_are_last_one_after_the_other() -> None:
    """Whatever the order of the list."""
    late = ct.Entry("late", ct.collective("all-gather"), 1024, start=10**6)
    soon = ct.Entry("soon", ct.collective("all-gather"), 1024)
    cycles = {joint("ring:3", pair).provenance["one_after_the_other_cycles"] for pair in ([late, soon], [soon, late])}
    assert len(cycles) == 1


def test_what_waits_may_still_go_before_what_starts_later() -> None:
    """Behind the one that it is after, and not behind all that wait for none."""
    first, late = (ct.Entry(name, ct.collective("all-gather"), 1024, start) for name, start in (("first", 0), ("late", 10**6)))
    second = ct.Entry("second", ct.collective("all-gather"), 1024, after=("first",))
    in_turn = alone("ring:3", [first, late, second])[0]
    assert in_turn.ends["second"] < 10**6 < in_turn.ends["late"]
    assert verify_joint(in_turn).valid


@pytest.mark.parametrize("start", ["0", "0us", "0.0 ms", "00ns"])
def test_a_start_of_nothing(tmp_path: Path, start: str) -> None:
    path = tmp_path / "w.toml"
    path.write_text(f'{ONE}start = "{start}"\n')
    assert load_collectives(path, ct.topology("ring:4"), ct.machine("multitree")).entries[0].start == 0


@pytest.mark.parametrize("start", ["0hmm", "0 µ", "nus", "-0"])
def test_a_start_that_is_not_a_time(tmp_path: Path, start: str) -> None:
    path = tmp_path / "w.toml"
    path.write_text(f'{ONE}start = "{start}"\n')
    with pytest.raises(ct.InputError, match=r"w\.toml.*time"):
        load_collectives(path, ct.topology("ring:4"), ct.machine("multitree"))


@pytest.mark.parametrize("name", ["", "x" * 101, "a\nvalid: b", "a\x01", "a\x7f"])
def test_names_that_cannot_be_shown(tmp_path: Path, name: str) -> None:
    """They could forge lines of verdicts, and break pictures."""
    bad = [ct.Entry(name, ct.collective("broadcast", 0), 64)]
    with pytest.raises(InputError, match="allowed: 1 to 100 printable characters"):
        ct.joint("ring:3", bad)
    with pytest.raises(InputError, match="allowed: 1 to 100 printable characters"):
        ct.save_collectives(bad, tmp_path / "w.toml")
    document = joint_document(small())
    document["collectives"][0]["name"] = name
    with pytest.raises(InputError, match="allowed: 1 to 100 printable characters"):
        joint_from_document(document, "it")
    assert not list(tmp_path.iterdir())


def test_what_is_written_is_read(tmp_path: Path) -> None:
    path, network, machine = tmp_path / "w.toml", ct.topology("ring:3"), load_machine("multitree")
    given = [ct.Entry('\N{GRINNING FACE} "é\\', ct.collective("broadcast", 0), 64)]
    ct.save_collectives(given, path)
    assert load_collectives(path, network, machine).stated[0].name == given[0].name
    one = given[0]
    for bad, words in (
        ([replace(one, name=str(number)) for number in range(1025)], "1025 collectives; allowed: 1024"),
        ([replace(one, collective=ct.collective("all-reduce", members=[0, 1]), late=((2, 5),))], "start of 2, which is no member"),
        ([replace(one, late=((0, 0),))], "allowed: 1 to"),
    ):
        with pytest.raises(InputError, match=words):
            ct.save_collectives(bad, path, force=True)
    assert len(load_collectives(path, network, machine).stated) == 1


def test_entries_that_are_none() -> None:
    of = ct.collective("broadcast", 0)
    for bad, words in (
        (1, "expected an Entry"),
        (ct.Entry("a", None, 64), "expected a name and a collective"),  # type: ignore[arg-type]
        (ct.Entry("a", of, 64, after=(["x"],)), "expected names in a list"),  # type: ignore[arg-type]
    ):
        with pytest.raises(InputError, match=words):
            ct.joint("ring:3", [bad])  # type: ignore[list-item]


@pytest.mark.parametrize("after", ["0", "false", '""', "{}"])
def test_waits_that_are_no_list(tmp_path: Path, after: str) -> None:
    path = tmp_path / "w.toml"
    path.write_text(f'[[collective]]\nkind = "broadcast"\nroot = 0\nsize = 64\nafter = {after}\n')
    with pytest.raises(InputError, match="after"):
        load_collectives(path, ct.topology("ring:3"), load_machine("multitree"))


@pytest.mark.parametrize(
    ("collectives", "options", "message"),
    [
        (3, {}, "collectives are 3; allowed: a file, or a list of ct.Entry"),
        (None, {}, "collectives are None; allowed"),
        ([], {"effort": 0}, "effort is 0; allowed: 1 or more"),
        ([], {"effort": "x"}, "effort is 'x'; allowed: 1 or more"),
    ],
)
def test_arguments_of_other_kinds_are_named(collectives: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ct.InputError, match=re.escape(message)):
        ct.joint("ring:3", collectives, **options)


@pytest.mark.parametrize("members", [None, [0, 1, 2]])
def test_no_relays_to_leave_out(members: list[int] | None) -> None:
    """Where all endpoints take part, named or not, there is nothing to leave out; one collective with others is enough."""
    whole = ct.Entry("whole", ct.collective("broadcast", 0, members=members), 64)
    with pytest.raises(InputError, match=r"^relay members: all endpoints take part in every collective; name the members of one$"):
        ct.joint("ring:3", [whole], relay="members")
    some = ct.Entry("some", ct.collective("broadcast", 0, members=[0, 1]), 64)
    assert ct.joint("ring:3", [whole, some], relay="members").provenance["relays"] == {"whole": "all", "some": "members"}


def test_members_that_do_not_reach_each_other_alone() -> None:
    pair = [
        ct.Entry("far", ct.collective("broadcast", 0, members=[0, 2]), 64),
        ct.Entry("near", ct.collective("broadcast", 0, [0, 1]), 64),
    ]
    with pytest.raises(InputError, match=r"^far: relay members: ring:4,only=0\+2: disconnected: no path from 0 to 2"):
        ct.joint("ring:4", pair, relay="members")
    made = ct.joint("ring:4", pair, relay="fewest")
    assert made.provenance["relays"] == {"far": "all", "near": "members"}
