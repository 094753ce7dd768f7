"""Commands use the size and machine that a schedule records and say so where they use others."""

import json
from importlib import resources

import pytest

from certree.models.machine.machine import load_machine
from certree.models.schedule.schedule_file import load_schedule
from tests.cli.artefacts import schedule_file
from tests.cli.running import assert_bad_input, certree, json_of

CSV = "chunk,op,src,dst,step\n0,reduce,1,0,0\n0,copy,0,1,1\n"
UNKNOWN = ["the schedule records no message size; 64 MiB assumed", "the schedule records no machine; multitree assumed"]


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return schedule_file(tmp_path_factory.mktemp("made-for"), "mesh:3x3", "multitree", size="1MiB")


def forgetful(file, **changes):
    """A copy without what it was made for, as older files are, or with other values of it."""
    document = json.loads(file.read_text())
    known = document.pop("made_for")
    if changes:
        document["made_for"] = known | changes
    copy = file.with_name("copy.json")
    copy.write_text(json.dumps(document))
    return copy


def used(outcome):
    """Exit code 0; the size, the machine and the cycles that a command used, and its notes."""
    assert outcome.code == 0, outcome
    document = outcome.document
    cycles = document.get("time_cycles", document.get("cycles"))
    return document["message_bytes"], document["machine"], cycles, outcome.err.splitlines()


def test_every_command_takes_the_size_it_was_made_for(file, tmp_path):
    """What `synthesize` prints, all others print, without being told the size again."""
    made = json_of("synthesize", "mesh:3x3", "--method", "multitree", "--size", "1MiB")
    assert made["message_bytes"] == 1 << 20
    expected = (1 << 20, "multitree", made["time_cycles"], [])
    assert used(certree("verify", file, "--json")) == expected
    assert used(certree("simulate", file, "--json")) == expected
    exported = certree("export", file, "-o", tmp_path / "t", "--json")
    assert (exported.code, exported.document["message_bytes"]) == (0, 1 << 20)
    assert used(certree("verify", tmp_path / "t", "--json")) == expected
    assert used(certree("import", tmp_path / "t", "-o", tmp_path / "i.json", "--json"))[:3] == expected[:3]
    assert used(certree("certify", tmp_path / "i.json", "-o", tmp_path / "c.json", "--json"))[:3] == expected[:3]
    assert used(certree("verify", tmp_path / "c.json", "--json")) == expected
    improved = json_of("improve", file, "-o", tmp_path / "b.json")
    assert (improved["message_bytes"], improved["cycles_before"]) == (1 << 20, made["time_cycles"])
    assert json_of("cost", file)["message_bytes"] == 1 << 20


@pytest.mark.parametrize("command", ["verify", "simulate"])
def test_options_override_it_with_a_note(file, command):
    size, machine, cycles, notes = used(certree(command, file, "--size", "64KiB", "--params", "switch-fc", "--json"))
    assert (size, machine) == (1 << 16, "switch-fc")
    assert notes[:2] == [
        "the schedule was made for 1 MiB; 64 KiB used instead",
        "the schedule was made for machine multitree; switch-fc used instead",
    ]
    assert cycles != used(certree(command, file, "--json"))[2]
    assert used(certree(command, file, "--size", "1MiB", "--params", "multitree", "--json"))[3] == []


@pytest.mark.parametrize("command", ["verify", "simulate"])
def test_older_files_mean_what_they_meant(file, command):
    old = forgetful(file)
    size, machine, cycles, notes = used(certree(command, old, "--json"))
    assert (size, machine, notes[:2]) == (64 << 20, "multitree", UNKNOWN)
    assert cycles == used(certree(command, file, "--size", "64MiB", "--json"))[2]
    assert used(certree(command, old, "--size", "1MiB", "--json"))[2:] == (used(certree(command, file, "--json"))[2], UNKNOWN[1:])


def test_what_a_csv_is_for_is_recorded_when_it_is_said(tmp_path):
    csv = tmp_path / "s.csv"
    csv.write_text(CSV)
    asked = ("certify", csv, "--topology", "ring:2", "--collective", "all-reduce")
    assert used(certree(*asked, "-o", tmp_path / "a.json", "--json"))[3][:2] == UNKNOWN
    assert load_schedule(tmp_path / "a.json").made_for is None
    assert certree(*asked, "--size", "5KiB", "-o", tmp_path / "b.json").code == 0
    assert used(certree("verify", tmp_path / "b.json", "--json"))[0] == 5 << 10
    faster = ("improve", csv, *asked[2:], "--size", "7KiB", "-o", tmp_path / "c.json")
    assert certree(*faster).code == 0
    assert load_schedule(tmp_path / "c.json").made_for.message_bytes == 7 << 10


def test_a_refuted_schedule_has_no_time_to_tell_a_size_for(tmp_path):
    csv = tmp_path / "s.csv"
    csv.write_text(CSV.replace("0,copy,0,1,1", "0,copy,0,1,0"))
    outcome = certree("verify", csv, "--topology", "ring:2", "--collective", "all-reduce")
    assert (outcome.code, outcome.err) == (1, "")


def test_the_values_of_the_machine_are_recorded_and_not_its_name(tmp_path):
    """The file of the machine may change or go, or have the name of a preset."""
    text = (resources.files("certree.models.machine") / "presets" / "multitree.toml").read_text()
    machine = tmp_path / "slow.toml"
    machine.write_text(text.replace("link_latency_cycles = 150", "link_latency_cycles = 999"))
    file = schedule_file(tmp_path, size="64KiB", params=str(machine))
    made = json_of("verify", file, "--params", machine)
    machine.unlink()
    assert load_schedule(file).made_for.machine.link_latency_cycles == 999
    size, name, cycles, notes = used(certree("verify", file, "--json"))
    assert (size, name, cycles) == (1 << 16, "multitree", made["time_cycles"])
    assert notes == ["the schedule records other values of machine multitree than the preset has; those recorded are used"]
    *_, preset, notes = used(certree("verify", file, "--params", "multitree", "--json"))
    assert preset < cycles
    assert notes == ["the schedule was made for machine multitree; multitree with other values used instead"]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"message_bytes": 0}, "made_for: message_bytes is 0; allowed: whole numbers from 1"),
        ({"message_bytes": "1MiB"}, "made_for: message_bytes is '1MiB'"),
        ({"machine": "multitree"}, 'made_for: machine: no "format" field'),
        ({"machine": {"format": "certree-machine", "version": 1}}, "made_for: machine: name, clock_hz"),
        ({"colour": "red"}, "made_for: unknown field 'colour'; known: message_bytes, machine"),
    ],
)
def test_wrong_records_are_bad_input(file, changes, reason):
    for command in ("verify", "simulate", "certify"):
        more = ("-o", file.with_name("never.json")) if command == "certify" else ()
        assert_bad_input(certree(command, forgetful(file, **changes), *more), reason)


def test_names_of_machines_cannot_start_lines(file):
    machine = load_schedule(file).made_for.document()["machine"] | {"name": "x\nvalid: everything", "clock_hz": 2 * 10**9}
    outcome = certree("verify", forgetful(file, machine=machine))
    assert outcome.code == 0
    assert "machine x?valid: everything" in outcome.out
    note = certree("verify", forgetful(file, machine=machine), "--params", "multitree").err
    assert note == "the schedule was made for machine x?valid: everything; multitree used instead\n"


@pytest.mark.parametrize("factor", [1, 2, 10])
def test_tables_with_long_slots(file, tmp_path, factor):
    """What `verify` and `simulate` say of them is the same; slots that are too long are reported."""
    assert certree("export", file, "--size", "64KiB", "-o", tmp_path / "t").code == 0
    manifest = tmp_path / "t" / "manifest.json"
    document = json.loads(manifest.read_text())
    least = document["slot_cycles"]
    manifest.write_text(json.dumps(document | {"slot_cycles": factor * least}))
    verified = json_of("verify", tmp_path / "t")
    simulated = json_of("simulate", tmp_path / "t")
    assert verified["time_cycles"] == simulated["cycles"] == simulated["closed_form_cycles"]
    assert (verified["slot_cycles"], verified["least_slot_cycles"]) == (factor * least, least)
    line = f"  slots of {factor * least:,} cycles; {least:,} would be enough\n"
    assert (line in certree("verify", tmp_path / "t").out) == (factor > 1)
    with_shorter = json.dumps(document | {"slot_cycles": least - 1})
    manifest.write_text(with_shorter)
    assert json_of("verify", tmp_path / "t", code=1)["violation_counts"] == {"slot": 1}


def test_tables_made_again_for_another_size_say_so(file, tmp_path):
    assert certree("export", file, "-o", tmp_path / "t").code == 0
    assert used(certree("simulate", tmp_path / "t", "--json"))[3] == []
    again = used(certree("simulate", tmp_path / "t", "--size", "2MiB", "--json"))
    assert (again[0], again[3]) == (2 << 20, ["the schedule was made for 1 MiB; 2 MiB used instead"])


def test_costs_are_of_one_size(file, tmp_path):
    other = schedule_file(tmp_path, size="64KiB")
    for subjects, size in (((file, "ring:4"), 1 << 20), ((other,), 1 << 16), (("ring:4",), 64 << 20)):
        assert json_of("cost", *subjects)["message_bytes"] == size
    outcome = certree("cost", file, other, "--size", "1MiB", "--json")
    assert outcome.document["message_bytes"] == 1 << 20
    assert f"{other}: the schedule was made for 64 KiB; 1 MiB used instead" in outcome.err
    assert f"{file}: " not in outcome.err


def test_endpoints_and_switches_take_it_too(tmp_path):
    ring = schedule_file(tmp_path, size="64KiB")
    for arguments, size in (((ring,), 1 << 16), ((ring, "--size", "32KiB"), 1 << 15), (("ring:4", "--method", "ring"), 16 << 20)):
        document = json_of("endpoints", *arguments, "--system", "ideal")
        assert document["payloads"] == [{"bytes": size, "start": 0}]
    assert "records no message size; 16 MiB assumed" in certree("endpoints", forgetful(ring), "--system", "ideal").err
    tree = schedule_file(tmp_path, "switch:4,reducing=switches", "netreduce", "tree.json", size="32KiB")
    outcome = certree("aggregate", tree, "--json")
    assert (outcome.document["message_bytes"], outcome.document["machine"], outcome.err) == (1 << 15, "multitree", "")
    assert load_machine("multitree") == load_schedule(tree).made_for.machine
