"""The page "The path of a schedule through the code" has the files of each command, in the order in which they are first
entered."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "explanation" / "flow.md").read_text()
COMMANDS = dict(re.findall(r"^## `certree (.*?)`\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL))
LEFT_OUT = ("models/common/", "cli/words/")

TRACE = """
import sys
root, arguments = sys.argv[1], sys.argv[2:]
entered = {}

def note(frame, event, argument):
    code = frame.f_code
    if event == "call" and code.co_flags & 1 and code.co_filename.startswith(root) and not while_importing(frame.f_back):
        entered.setdefault(code.co_filename[len(root) + 1 :], len(entered))

def while_importing(frame):
    "What is registered when a module is imported is no step of a command."
    while frame is not None and frame.f_code is not main.run.__code__:
        if frame.f_code.co_name == "<module>":
            return True
        frame = frame.f_back
    return False

from certree.cli import main

sys.setprofile(note)
code = main.run(arguments)
sys.setprofile(None)
print(*sorted(entered, key=entered.get), sep="\\n", file=sys.stderr)
sys.exit(code)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the commands run; they are those of the page in turn."""
    return tmp_path_factory.mktemp("flow")


def entered(command: str, folder: Path) -> list[str]:
    """The files of this checkout whose functions ran, in the order in which they were first entered."""
    words = [sys.executable, "-c", TRACE, str(ROOT), *command.split()]
    ended = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    files = [line for line in ended.stderr.splitlines() if line.endswith(".py") and (ROOT / line).is_file()]
    return [file for file in files if not file.startswith((*LEFT_OUT, ".venv/"))]


@pytest.mark.parametrize("command", list(COMMANDS))
def test_the_files_of_a_command(command: str, folder: Path) -> None:
    if command == "simulate tables":
        entered("export mt.json -o tables", folder)
    lines = [re.findall(r"`([\w./]+)`", cells) for cells in re.findall(r"^\| (`.*?) \|", COMMANDS[command], re.MULTILINE)]
    places = [place for line in lines for place in line]
    ran = entered(command, folder)
    of = {file: next((place for place in places if file.startswith(place)), None) for file in ran}
    assert [file for file, place in of.items() if place is None] == []
    first = [min(ran.index(file) for file in ran if of[file] in line) for line in lines]
    assert first == sorted(first)
    assert set(of.values()) == set(places)
