"""Fine slots from the command line: a schedule is verified and timed, and other commands refuse it."""

from dataclasses import replace

import pytest

from certree.models.machine.machine import load_machine
from certree.models.schedule.made_for import MadeFor
from certree.models.schedule.schedule_file import save_schedule
from tests.cli.running import certree, json_of
from tests.models.examples import pair_all_reduce

LANDED = 257 + 158 + 1 + 32  # serialization, path, start and work of the reduction unit


def written(folder, leaves):
    """An all-reduce of 4 KiB between two nodes, whose sum leaves in that cycle."""
    schedule = pair_all_reduce(slot_cycles=1, made_for=MadeFor(4096, load_machine("multitree")))
    save_schedule(replace(schedule, rounds=[1] * (leaves + 1), step=[0, leaves]), folder / f"{leaves}.json")
    return folder / f"{leaves}.json"


@pytest.fixture
def made(tmp_path):
    return written(tmp_path, LANDED)


def test_it_is_timed(made):
    seen = json_of("verify", made)
    assert (seen["valid"], seen["steps"], seen["message_bytes"]) == (True, LANDED + 1, 4096)
    assert seen["time_cycles"] == LANDED + 257 + 158
    assert certree("certify", made, "-o", made.with_name("again.npz")).code == 0
    assert json_of("verify", made.with_name("again.npz"))["time_cycles"] == LANDED + 257 + 158


def test_a_cycle_earlier_is_too_early(tmp_path):
    outcome = certree("verify", written(tmp_path, LANDED - 1))
    assert outcome.code == 1
    assert f"is in flight there (until step {LANDED})" in outcome.out


def test_tables_and_runs(made, tmp_path):
    """Exported, verified and simulated with every engine, in the cycles of the closed form."""
    exported = json_of("export", made, "-o", tmp_path / "tables")
    assert (exported["slot_cycles"], exported["row_bits"]) == (1, 27)
    assert json_of("verify", tmp_path / "tables")["time_cycles"] == LANDED + 257 + 158
    for engine in ("auto", "lanes", "flit"):
        seen = json_of("simulate", tmp_path / "tables", "--engine", engine)
        assert (seen["cycles"], seen["late"], seen["contention_cycles"]) == (LANDED + 257 + 158, 0, 0)


def test_another_size(made):
    """Other slots, with a note."""
    other = certree("verify", made, "--size", "8KiB")
    assert "its fine slots are not for this size and machine; it is timed and run in others" in other.err
    seen = json_of("simulate", made, "--size", "8KiB")
    assert seen["cycles"] == json_of("verify", made, "--size", "8KiB")["time_cycles"]


def test_commands_that_do_not_know_fine_slots(made):
    outcome = certree("endpoints", made, "--program", "messages")
    assert outcome.code == 2
    assert "error: endpoints with engines: not supported for schedules that use slot_cycles (version 2)" in outcome.err


def test_costs_of_the_steps_that_follow_from_fine_slots(made):
    """Each node reads what it reads in the slots: as many messages, in the fewest steps."""
    found = json_of("cost", made)["cells"]
    assert found
    assert all(cell["seconds"] for cell in found)


def test_guards_against_skew(tmp_path):
    """`synthesize --skew`: fine slots that `verify` finds wide enough, right at that skew, and caught beyond what they tolerate."""
    made = tmp_path / "made.json"
    asked = ("--method", "recursive-doubling", "--size", "1KiB", "--skew", "20", "-o", made)
    assert json_of("synthesize", "hypercube:2", *asked)["skew_tolerance_cycles"] == 20
    seen = json_of("verify", made)
    assert (seen["valid"], seen["skew_tolerance_cycles"]) == (True, 20)
    words = certree("verify", made).out
    assert "clocks may start 20 cycles apart, or drift by" in words
    right = json_of("simulate", made, "--skew", "1=20,2=7", "--without-routers")
    assert (right["late"], right["contention_cycles"], right["data_ok"]) == (0, 0, True)
    wrong = certree("simulate", made, "--skew", "1=21", "--without-routers")
    assert (wrong.code, "late rows: 0" in wrong.out) == (1, False)


def test_skew_is_for_slots(tmp_path):
    outcome = certree("synthesize", "ring:4", "--run", "paced", "--skew", "3")
    assert (outcome.code, "error: skew is 3, run paced; allowed:" in outcome.err) == (2, True)
