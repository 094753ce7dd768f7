"""Targets, machines and parameters with one fault each: refused by the command that reads them."""

from pathlib import Path

import pytest

from tests.cli.artefacts import changed, schedule_file
from tests.cli.running import assert_bad_input, certree


def cases():
    """(command, file, old text, new text, part of the message), below a heading [command < file] each."""
    command = file = ""
    for line in (Path(__file__).parent / "bad_files.txt").read_text().splitlines():
        if line.startswith("[") and " < " in line:
            command, file = line.strip("[]").split(" < ")
        else:
            change, reason = line.rsplit(" -> ", 1)
            yield command, file, *change.replace(r"\n", "\n").split(" => "), reason


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return schedule_file(tmp_path_factory.mktemp("files"), size="4KiB", params="multitree-authors", name="ring.json").parent


@pytest.mark.parametrize(("command", "file", "old", "new", "reason"), list(cases()))
def test_refused(folder, monkeypatch, command, file, old, new, reason):
    monkeypatch.chdir(folder)
    changed(folder, file, (old, new))
    outcome = certree(*command.split())
    assert_bad_input(outcome, reason, notes=outcome.err.count("the schedule was made for"))
