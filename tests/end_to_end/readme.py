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

    def run(self, folder: str) -> str:
        """What the command prints to stdout in `folder`; exit codes other than 0 and 1 (refuted) are an error."""
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        done = subprocess.run(
            self.line, shell=True, cwd=folder, env=os.environ | {"PATH": path}, capture_output=True, text=True, check=False
        )
        if done.returncode not in (0, 1):
            raise RuntimeError(f"{self.line}: exit code {done.returncode}: {done.stderr}")
        return done.stdout


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


def rewrite() -> None:
    """Run everything and replace the outputs."""
    with tempfile.TemporaryDirectory() as folder:
        text = README.read_text()

        def replaced(block: re.Match[str]) -> str:
            parts = []
            for command in commands(block[0]):
                fresh = command.run(folder)
                same = without_times(fresh) == without_times(command.shown)
                parts.append(f"$ {command.line}\n{command.shown if same else fresh}")
            return "```console\n" + "".join(parts) + "```\n"

        fresh = _BLOCK.sub(replaced, text)
    README.write_text(fresh)


if __name__ == "__main__":
    rewrite()
