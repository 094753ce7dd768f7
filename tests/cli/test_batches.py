"""Many paths at once, JUnit and SARIF, and what the project ships for CI: an action's script and a hook."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
import yaml

import certree.api as ct
from certree.api.kinds import schedule_files
from certree.models.common import budget
from tests.cli.artefacts import schedule_file
from tests.cli.running import assert_bad_input, certree

ROOT = Path(__file__).parents[2]
WAITING = ROOT / "tests/fuzz/corpus/schedule.switches.route-passes-a-link-twice"
CSV = "chunk,op,src,dst,step\n0,reduce,1,0,0\n\n0,reduce,2,0,0\n0,copy,0,1,1\n0,copy,0,2,0\n"  # an empty line is not a row
FOR_CSV = ("--topology", "ring:3", "--collective", "all-reduce")


@pytest.fixture
def folder(tmp_path):
    """Two schedules, tables and a wrong CSV, in sub-folders; hidden and other files."""
    made = tmp_path / "repository"
    (made / "deep" / "er").mkdir(parents=True)
    (made / ".hidden").mkdir()
    schedule_file(made, "ring:3", "ring", "ring.json", size="1KiB")
    schedule_file(made / "deep" / "er", "ring:3", "packing", "packed.json.gz", size="1KiB")
    (made / ".hidden" / "ring.json").write_bytes((made / "ring.json").read_bytes())
    assert certree("export", made / "ring.json", "-o", made / "tables").code == 0
    (made / "package.json").write_text('{"name": "other"}')
    (made / "net.json").write_text('{"format": "certree-topology"')
    (made / "mine.csv").write_text(CSV)
    return made


def test_folder(folder):
    """All that starts as one of certree's files; CSVs where it is said what they are for."""
    told = certree("verify", folder)
    assert told.code == 0
    lines = [line.removeprefix(f"valid: {folder}/") for line in told.out.splitlines()]
    names = ("deep/er/packed.json.gz", "ring.json", "tables")
    assert lines == [*(f"{name}: all-reduce on ring:3" for name in names), "3 of 3 valid"]
    assert "mine.csv: skipped: a CSV does not say its network" in told.err
    told = certree("verify", folder, *FOR_CSV, "--json")
    assert told.code == 1
    document = told.document
    assert document["valid"] is False
    assert [file["valid"] for file in document["files"]] == [True, False, True, True]
    assert [file["path"] for file in document["files"]][1].endswith("mine.csv")
    assert document["files"][2]["time_cycles"] > 0


def test_what_cannot_be_read_does_not_hide_the_rest(folder):
    (folder / "broken.json").write_text('{"format":"certree-schedule"')
    told = certree("verify", folder / "broken.json", folder / "ring.json")
    assert told.code == 2
    assert told.out.startswith(f"unreadable: {folder}/broken.json: {folder}/broken.json is not JSON")
    assert told.out.endswith("1 of 2 valid\n")
    assert told.err == "error: 1 of 2 could not be read\n"


def test_a_route_that_waits_for_itself_does_not_hide_the_rest(folder):
    """The check of the route never ended, and no other file of the call was answered."""
    told = certree("verify", WAITING, folder / "ring.json")
    assert told.code == 1
    words = "its route passes a link twice, so that its messages may wait for themselves: 0>3, 3>1, 1>3, 3>1"
    assert told.out.splitlines()[1].endswith(words)
    assert told.out.endswith("1 of 2 valid\n")


@pytest.mark.parametrize(
    ("command", "file"),
    [("certify", "a.json"), ("export", "tables"), ("improve", "a.json"), ("bundle", "a.certree"), ("report", "a.html")],
)
def test_other_commands_end_on_a_route_that_waits_for_itself(command, file, tmp_path):
    told = certree(command, WAITING, "-o", tmp_path / file)
    assert told.code == (0 if command == "report" else 1)
    assert command == "report" or "passes a link twice" in told.out


def test_what_exceeds_its_budget_does_not_hide_the_rest(folder, monkeypatch):
    made = ct.synthesize("ring:4", method="recursive-doubling", size="1KiB")  # no trees: it is executed
    ct.save(made, folder / "doubling.json")
    monkeypatch.setattr(budget, "MOST_STEPS", 40)
    told = certree("verify", folder / "doubling.json", folder / "ring.json", "--json")
    assert told.code == 3
    files = told.document["files"]
    assert [file["valid"] for file in files] == [False, True]
    assert files[0]["undecided"] is True
    assert "undecided: contents after 8 transfers, with up to 4 contributions each: takes 64 steps" in files[0]["error"]
    assert told.err == "error: 1 of 2 are undecided\n"
    told = certree("verify", folder / "doubling.json")
    assert (told.code, told.out) == (3, "")
    assert told.err.startswith("error: undecided: contents after 8 transfers")


def test_a_bug_does_not_hide_the_rest(folder, monkeypatch):
    """Where the check of one file ends in an internal error, the others get their answers; the exit code says so at the end."""
    checked = schedule_files.checked_schedule

    def fails(schedule, asked, then=()):
        if str(folder / "ring.json") in map(str, then):
            raise ZeroDivisionError("by hand")
        return checked(schedule, asked, then)

    monkeypatch.setattr(schedule_files, "checked_schedule", fails)
    asked = ("verify", folder / "ring.json", folder / "deep", folder / "tables")
    told = certree(*asked)
    lines = told.out.splitlines()
    assert told.code == 70
    assert lines[0].startswith(f"internal error: {folder}/ring.json: ZeroDivisionError: by hand (this is a bug in certree")
    assert [line.split(":")[0] for line in lines[1:3]] == ["valid", "valid"]
    assert told.err == "error: 1 of 3 ended in an internal error\n"
    assert [(file["valid"], "internal" in file) for file in certree(*asked, "--json").document["files"]] == [
        (False, True), (True, False), (True, False),
    ]  # fmt: skip
    assert certree(*asked, "--junit", folder / "j.xml", "--sarif", folder / "s.sarif").code == 70
    assert 'type="internal error"' in (folder / "j.xml").read_text()
    assert "a bug in certree ended the check" in (folder / "s.sarif").read_text()
    monkeypatch.setenv("CERTREE_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        certree(*asked)


def test_same_path_twice(folder):
    assert certree("verify", folder / "ring.json", folder / "ring.json").out.endswith("1 of 1 valid\n")


def test_junit(folder, tmp_path):
    report = tmp_path / "report.xml"
    (folder / "broken.npz").write_text("\x01")
    assert certree("verify", folder, *FOR_CSV, "--junit", report).code == 2
    suite = ET.fromstring(report.read_text())
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("5", "1", "1")
    cases = {Path(case.get("name")).name: case for case in suite}
    assert cases["ring.json"].get("classname") == "all-reduce on ring:3"
    assert not len(cases["ring.json"])
    failure = cases["mine.csv"].find("failure")
    assert failure.get("type") == "causality"
    assert "leaves node 0 before" in failure.text
    assert cases["broken.npz"].find("error").get("message").startswith(f"{folder}/broken.npz is not")
    assert_bad_input(certree("verify", folder, "--junit", report), "exists; pass --force to overwrite it")


def test_sarif(folder, tmp_path, monkeypatch):
    """File and line of the row, past the empty line; a path as it was given."""
    monkeypatch.chdir(folder)
    assert certree("verify", "mine.csv", "ring.json", *FOR_CSV, "--sarif", "log.sarif").code == 1
    log = json.loads((folder / "log.sarif").read_text())
    assert (log["version"], len(log["runs"])) == ("2.1.0", 1)
    driver, results = log["runs"][0]["tool"]["driver"], log["runs"][0]["results"]
    assert driver["name"] == "certree"
    assert [rule["id"] for rule in driver["rules"]] == ["causality"]
    (result,) = results
    assert (result["ruleId"], result["level"]) == ("causality", "error")
    (location,) = result["locations"]
    assert location["physicalLocation"] == {"artifactLocation": {"uri": "mine.csv"}, "region": {"startLine": 6}}
    assert location["logicalLocations"] == [{"fullyQualifiedName": "transfers[3]", "kind": "element"}]
    assert log["$schema"].endswith("sarif-2.1.0.json")


def test_names_that_steer_terminals_or_end_xml(tmp_path):
    schedule = json.loads(schedule_file(tmp_path).read_text())
    schedule["topology"]["name"] = "a<b>&\x1b[31m\x00"
    (tmp_path / "s.json").write_text(json.dumps(schedule))
    assert certree("verify", tmp_path / "s.json", "--junit", tmp_path / "j.xml", "--sarif", tmp_path / "s.sarif").code == 0
    assert ET.fromstring((tmp_path / "j.xml").read_text())[0].get("classname") == "all-reduce on a<b>&?[31m?"


@pytest.mark.parametrize(
    ("line", "reason"),
    [("verify empty", "empty"), ("verify ring.json empty", "empty: no schedule, frontier or tables in this folder"),
     ("verify ring.json ring.json --proofs p", "--proofs is for a single frontier"),
     ("verify ring.json --junit none/r.xml", "the folder none does not exist"), ("verify", "Missing argument 'PATH...'")],
)  # fmt: skip
def test_refused(folder, monkeypatch, line, reason):
    (folder / "empty").mkdir()
    monkeypatch.chdir(folder)
    assert_bad_input(certree(*line.split()), reason)


def script(folder, **variables):
    """The action's script in a folder."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GITHUB")} | {"PATH": path, **variables}
    command = ["bash", str(ROOT / ".github/actions/verify/verify.sh")]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_action(folder):
    """Valid files, then an invalid one with an annotation where GitHub runs it."""
    done = script(folder)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "3 of 3 valid")
    assert (folder / "certree-junit.xml").exists()
    assert (folder / "certree.sarif").exists()
    wrong = {"CERTREE_PATHS": "mine.csv ring.json", "CERTREE_ARGUMENTS": shlex.join(FOR_CSV), "GITHUB_ACTIONS": "true"}
    done = script(folder, **wrong)
    assert done.returncode == 1
    assert "::error file=mine.csv,line=6,title=causality::step 0: row 3" in done.stdout
    (folder / "empty").mkdir()
    done = script(folder, CERTREE_PATHS="empty", GITHUB_ACTIONS="true")
    assert (done.returncode, done.stdout) == (2, ""), "no annotations of the run before"


def test_definitions():
    """The action runs the script that is tested, with all its inputs; the hook is the command, for files named as it says."""
    action = yaml.safe_load((ROOT / ".github/actions/verify/action.yml").read_text())
    step = action["runs"]["steps"][-1]
    assert step["run"] == 'bash "$GITHUB_ACTION_PATH/verify.sh"'
    assert step["env"] == {f"CERTREE_{name.upper()}": f"${{{{ inputs.{name} }}}}" for name in action["inputs"]}
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    assert (hook["id"], hook["entry"], hook["language"]) == ("certree-verify", "certree verify", "python")


def test_hook_takes_what_it_is_given(folder):
    """Files as pre-commit passes them, behind the command."""
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    command = shlex.split(hook["entry"])[1:]
    assert certree(*command, folder / "ring.json", folder / "deep/er/packed.json.gz").code == 0
    assert certree(*command, *FOR_CSV, folder / "mine.csv").code == 1


def test_pipes_are_refused(tmp_path):
    """They would be read twice, and one that nobody writes to would be waited for."""
    pipe = tmp_path / "pipe.json"
    os.mkfifo(pipe)
    reason = f"cannot read {pipe}: it is a pipe or a device; write what it gives to a file"
    for command in ("verify", "simulate", "topology show", "cost"):
        assert_bad_input(certree(*command.split(), pipe), reason)


def test_frontier_of_any_name(tmp_path):
    made = tmp_path / "f.json"
    assert certree("frontier", "ring:4", "--collective", "all-gather", "--max-chunks", "1", "-o", made).code == 0
    made.rename(tmp_path / "fr1")
    assert certree("verify", tmp_path / "fr1").out.startswith("frontier of all-gather on ring:4: complete")


def test_without_memory_it_is_undecided(folder, monkeypatch):
    def fails(*_, **__):
        raise MemoryError

    monkeypatch.setattr("certree.api.checks.verdicts.verify_schedule", fails)
    told = certree("verify", folder / "ring.json", folder / "mine.csv", *FOR_CSV)
    assert told.code == 3
    assert told.out.count("undecided: it takes more memory than there is") == 2
    told = certree("verify", folder / "ring.json")
    assert (told.code, told.err) == (3, "error: undecided: it takes more memory than there is\n")


def test_programs_among_others(tmp_path):
    """A program has no network; its line says how many ranks it has, in the words and in the reports."""
    ct.save(ct.synthesize("ring:4", size="64KiB"), tmp_path / "ring.json")
    ct.export_program(tmp_path / "ring.json", "msccl-xml", tmp_path / "ring.xml")
    outcome = certree("verify", tmp_path, "--junit", tmp_path / "report.xml")
    assert outcome.code == 0
    assert f"valid: {tmp_path}/ring.xml: all-reduce of 4 ranks\n" in outcome.out
    assert 'classname="all-reduce of 4 ranks"' in (tmp_path / "report.xml").read_text()


def test_networks_among_others_and_lines_of_programs(tmp_path):
    """A network has nothing to verify; violations of a program are at the line of its step."""
    ct.save(ct.topology("ring:4"), tmp_path / "net.json")
    ct.export_program(ct.synthesize("ring:4", method="halving-doubling"), "msccl-xml", tmp_path / "right.xml")
    lines = (tmp_path / "right.xml").read_text().splitlines(keepends=True)
    number = next(at for at, line in enumerate(lines) if 'depid="0"' in line)
    awaited = next(at for at, line in enumerate(lines) if 'hasdep="1"' in line)
    lines[awaited] = lines[awaited].replace('hasdep="1"', 'hasdep="0"')
    (tmp_path / "wrong.xml").write_text("".join(lines))
    log = tmp_path / "log.sarif"
    outcome = certree("verify", *(tmp_path / name for name in ("net.json", "right.xml", "wrong.xml")), "--sarif", log)
    assert outcome.code == 1
    assert f"{tmp_path}/net.json: skipped: a network has nothing to verify\n" in outcome.err
    (first, *_) = json.loads(log.read_text())["runs"][0]["results"]
    line = first["locations"][0]["physicalLocation"]["region"]["startLine"]
    assert (first["ruleId"], line) == ("no-signal", number + 1)
    assert f"(line {line})" in certree("verify", tmp_path / "wrong.xml").out
