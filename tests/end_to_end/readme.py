"""The console blocks of README.md: what they run, what they show, and how to write them anew.

`python -m tests.end_to_end.readme` runs them all in a temporary folder and replaces the outputs in README.md.
"""

import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

README = Path(__file__).parents[2] / "README.md"
_BLOCK = re.compile(r"```console\n(.*?)```\n", re.DOTALL)
#: what differs from run to run
_VARYING = re.compile(r"[0-9.]+ s\b")


@dataclass(frozen=True)
class Command:
    """A line behind `$` and the output below it."""

    line: str
    shown: str

    def run(self, folder: str, programs: Path = Path(sys.executable).parent) -> str:
        """What the command prints to stdout in `folder`; exit codes other than 0 and 1 (refuted) are an error, and 1 of pytest."""
        path = os.pathsep.join([str(programs), os.environ["PATH"]])
        done = subprocess.run(
            self.line, shell=True, cwd=folder, env=os.environ | {"PATH": path}, capture_output=True, text=True, check=False
        )
        is_test = self.line.startswith("pytest ")
        if done.returncode not in (0, 0 if is_test else 1):
            raise RuntimeError(f"{self.line}: exit code {done.returncode}: {done.stdout if is_test else done.stderr}")
        return "" if is_test else done.stdout


def commands(text: str) -> list[Command]:
    """All commands of all console blocks, in order."""
    found = []
    for block in _BLOCK.findall(text):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            line, _, shown = part.partition("\n")
            found.append(Command(line, shown))
    return found


def without_times(text: str) -> str:
    """The text with wall times blanked out."""
    return _VARYING.sub("_ s", text)


def written_anew(text: str, folder: str, programs: Path = Path(sys.executable).parent) -> str:
    """The text with the outputs that its commands have now; equal ones stay, wall times included."""

    def replaced(block: re.Match[str]) -> str:
        parts = []
        for command in commands(block[0]):
            fresh = command.run(folder, programs)
            same = without_times(fresh) == without_times(command.shown)
            parts.append(f"$ {command.line}\n{command.shown if same else fresh}")
        return "```console\n" + "".join(parts) + "```\n"

    return _BLOCK.sub(replaced, text)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        README.write_text(written_anew(README.read_text(), scratch))
