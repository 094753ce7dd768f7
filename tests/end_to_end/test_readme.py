"""README.md tells the truth: its commands run, and print what it shows."""

import re
from pathlib import Path

from certree.cli.main import commands as known_commands
from tests.end_to_end.readme import README, commands, without_times

TEXT = README.read_text()


def test_commands_print_what_is_shown(tmp_path):
    """In one folder and in order, since they build on each other."""
    found = commands(TEXT)
    assert len(found) > 10
    for command in found:
        assert without_times(command.run(str(tmp_path))) == without_times(command.shown), command.line


def test_every_command_is_mentioned_and_no_other():
    table = TEXT[TEXT.index("## Commands") : TEXT.index("| exit code")]
    assert set(re.findall(r"^\| `certree ([a-z-]+)", table, re.MULTILINE)) | {"import"} == set(known_commands())


def test_links_and_folders_exist():
    for target in re.findall(r"\]\(([^)]+)\)", TEXT):
        assert (README.parent / target).exists(), target
    layout = TEXT[TEXT.index("## Layout") : TEXT.index("`models` ←")]
    for name in re.findall(r"^\| `([a-z]+)/` \|", layout, re.MULTILINE):
        assert (README.parent / name).is_dir(), name


def test_make_targets_exist():
    makefile = Path(README.parent / "Makefile").read_text()
    for line in re.findall(r"`make ([a-z -]+)`", TEXT):
        for target in line.split():
            assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
