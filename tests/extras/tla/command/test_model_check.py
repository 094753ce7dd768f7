"""`certree model-check`: the tables of a schedule for real, named models, and what each outcome exits with."""

import dataclasses
import re
import signal
import sys
import time
from pathlib import Path

import pytest

from certree.extras.tla.check.model_runs import ModelResult
from certree.extras.tla.check.tlc import Result
from certree.hw.tables.directory import export_tables
from certree.hw.tables.lowering import lower
from certree.models.common.errors import ToolMissingError
from certree.models.machine.machine import load_machine
from certree.models.schedule.schedule_file import load_schedule
from tests.cli.artefacts import schedule_file
from tests.cli.running import assert_bad_input, certree, json_of, start

KEYS = {"name", "expected", "result", "distinct_states", "seconds"}


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return schedule_file(tmp_path_factory.mktemp("models"), "ring:4", "multitree")


def test_tables_of_a_schedule(file):
    outcome = json_of("model-check", "schedule", file, "--size", "1KiB")
    (model,) = outcome["models"]
    assert model.keys() >= KEYS
    assert (model["expected"], model["result"], model["mode"]) == ("success", "success", "exhaustive")
    assert model["distinct_states"] > 1
    assert model["seconds"] > 0


def test_wrong_tables_are_refuted_with_a_counterexample(file, tmp_path):
    """A row that leaves a slot too early is late, or sends a sum that is not complete."""
    schedule = load_schedule(file)
    step = schedule.step.copy()
    step[-1] -= 2
    wrong = dataclasses.replace(schedule, step=step, certificate=None)
    export_tables(lower(wrong, 1 << 10, load_machine("multitree")), tmp_path / "tables")
    picture = tmp_path / "place.svg"
    outcome = certree("model-check", "schedule", tmp_path / "tables", "--picture", picture)
    assert outcome.code == 1
    assert picture.read_text().startswith("<svg ")
    assert_bad_input(certree("model-check", "schedule", tmp_path / "tables", "--picture", picture), "place.svg")
    assert "NOT as expected" in outcome.out
    assert "slot" in outcome.out


def test_traces(file, tmp_path):
    trace = tmp_path / "trace.ndjson"
    assert certree("simulate", file, "--size", "1KiB", "--run", "paced", "--trace", trace).code == 0
    assert certree("model-check", "trace", trace, "--schedule", file, "--size", "1KiB", "--run", "paced").code == 0
    packets = ("--size", "1KiB", "--run", "paced", "--flow", "packet")
    assert certree("simulate", file, *packets, "--trace", trace, "--force", "--engine", "flit").code == 0
    assert certree("model-check", "trace", trace, "--schedule", file, *packets).code == 0
    outcome = certree("model-check", "trace", trace, "--schedule", file, "--size", "2KiB", "--run", "paced")
    assert outcome.code == 1
    assert "by the trace, in cycle" in outcome.out


def test_the_counterexample_of_a_mutant():
    """The busy port that the paper's estimate of a step admits, in words; and tables of the list by name."""
    outcome = certree("model-check", "MCNILockstepFaultsPacedEstimate")
    assert outcome.code == 0
    assert [line.split("  ")[-1] for line in outcome.out.splitlines()[-2:]] == [
        "fires",
        "the port to node 1 is busy with GATHER of flow 0",
    ]
    assert certree("model-check", "ring:4/multitree").code == 0


def result(**changes):
    fields = {
        "name": "MCRing", "expected": "success", "result": Result.SUCCESS, "distinct_states": 12, "total_states": 30,
        "seconds": 1.5, "mode": "exhaustive", "trace": "", "message": "", "as_expected": True,
    }  # fmt: skip
    return ModelResult(**(fields | changes))


GOOD = result()
MUTANT = result(name="MCMutant", expected="safety", result=Result.SAFETY, message="NoLateRow fails", trace="slot 0")
UNEXPECTED_PASS = result(name="MCMutant", expected="safety", as_expected=False, message="success where safety is expected")
SLOW = result(name="MCBig", result=Result.UNKNOWN, as_expected=False, message="time limit")


@pytest.mark.parametrize(
    ("results", "code"),
    [([GOOD, MUTANT], 0), ([GOOD, UNEXPECTED_PASS], 1), ([SLOW, GOOD], 3), ([SLOW, UNEXPECTED_PASS], 1)],
)
def test_exit_codes(monkeypatch, results, code):
    """A mutant that fails as it must is fine; a pass where a failure is expected is not; a time-out is neither."""

    def check(names, full, report, make_tables):
        for number, one in enumerate(results, 1):
            report(one, number, len(results))
        return results

    monkeypatch.setattr("certree.extras.tla.run.model_checks.models.model_check", check)
    outcome = certree("model-check", "--json")
    assert outcome.code == code
    assert [model["name"] for model in outcome.document["models"]] == [one.name for one in results]
    assert len(outcome.err.splitlines()) == len(results)
    words = certree("model-check").out
    good = sum(one.as_expected for one in results)
    assert words.splitlines()[-1] == f"{good} of {len(results)} as expected"


def test_names_and_full_reach_the_checker(monkeypatch):
    asked = []

    def check(names, full, report, make_tables):
        asked.append((names, full))
        return [GOOD]

    monkeypatch.setattr("certree.extras.tla.run.model_checks.models.model_check", check)
    for arguments in ([], ["MCRing", "MCMesh"], ["--full"]):
        assert certree("model-check", *arguments).code == 0
    assert asked == [(None, False), (["MCRing", "MCMesh"], False), (None, True)]


OLD = {
    "schedule": ["--schedule", "s.json"],
    "routers": ["--routers", "--schedule", "s.json"],
    "trace": ["--trace", "t.ndjson", "--schedule", "s.json", "--run", "paced"],
    "symbolic": ["--symbolic"],
    "config": ["--write-cfg", "MCAllReduce"],
}
NEW = {
    "schedule": ["schedule", "s.json"],
    "routers": ["routers", "s.json"],
    "trace": ["trace", "t.ndjson", "--schedule", "s.json", "--run", "paced"],
    "symbolic": ["symbolic"],
    "config": ["config", "MCAllReduce"],
}


@pytest.mark.parametrize("command", OLD)
def test_old_options_do_the_same_and_name_the_command(monkeypatch, tmp_path, command):
    asked = []

    def check(**arguments):
        asked.append({name: value for name, value in arguments.items() if name not in ("progress", "tell")})
        return [GOOD]

    monkeypatch.chdir(tmp_path)
    Path("t.ndjson").write_text("{}\n")
    monkeypatch.setattr("certree.extras.tla.command.outcomes.model_check", check)
    sized = ["--size", "1KiB", "--flow", "packet", "--full", "--json"]
    more = {"symbolic": ["--json"], "config": ["-o", "a.cfg", "--force"]}.get(command, sized)
    new, old = (certree("model-check", *first[command], *more) for first in (NEW, OLD))
    assert (new.code, old.code, old.out) == (0, 0, new.out), (new, old)
    assert old.err == f"warning: model-check {OLD[command][0]} is deprecated; use certree model-check {command}\n{new.err}"
    assert asked[:1] == asked[1:]


def test_the_help_lists_the_commands():
    text = certree("model-check", "--help").out
    assert re.findall(r"^  ([a-z]+) ", text.split("Commands:")[1], re.MULTILINE) == sorted([*OLD, "specs"])


def test_missing_tools(monkeypatch, file):
    def check(*arguments, **options):
        raise ToolMissingError("no java on PATH")

    monkeypatch.setattr("certree.extras.tla.run.model_checks.model_check_tables", check)
    outcome = certree("model-check", "schedule", file)
    assert (outcome.code, outcome.out, outcome.err) == (69, "", "error: no java on PATH\n")


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_what_was_started_ends_with_it(monkeypatch, number, tmp_path):
    """Neither a TLC nor its folder is left behind."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    process = start("model-check", "MCNILockstepMeshAnyOrder")
    while process.poll() is None and not tlcs_below(tmp_path):
        time.sleep(0.05)
    process.send_signal(number)
    assert process.communicate()[1].strip() == "error: interrupted"
    assert process.returncode == 130
    assert not tlcs_below(tmp_path)
    assert not list(tmp_path.iterdir())


def tlcs_below(folder):
    """The processes whose command line names a place in `folder`."""
    return [path for path in Path("/proc").glob("[0-9]*/cmdline") if str(folder).encode() + b"/" in read_if_there(path)]


def read_if_there(path):
    try:
        return path.read_bytes()
    except OSError:  # ended meanwhile
        return b""
