"""Markdown pages with commands: what they run, what they show, and how to write the outputs anew.

A ```console block has commands behind `$ `, lines that continue one behind `> `, and what goes to stdout. A ```pycon block is a
session of Python. The blocks of a page run in one folder, in order. `python -m tests.end_to_end.pages [PAGE ...]` replaces outputs.
"""

import contextlib
import doctest
import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from certree.cli.main import run

ROOT = Path(__file__).parents[2]
FOLDERS = ("docs", "models", "synth", "verify", "specs", "hw", "api", "cli", "extras", "examples", "tools", "tests")
#: CONTRIBUTING.md runs in a copy of the checkout, see `contributing`
PAGES = [ROOT / "README.md", *(page for folder in FOLDERS for page in sorted((ROOT / folder).rglob("*.md")))]
OWN = Path(sys.executable).parent  # the programs of this environment
_SHELL = set("|<>;&$*`#\n")
_BLOCK = re.compile(r"```(console|pycon)\n(.*?)```\n", re.DOTALL)
#: what differs from run to run: seconds, and the interpreter
_VARYING = re.compile(r"[0-9.]+ s\b")


@dataclass(frozen=True)
class Command:
    """A line behind `$`, with those that continue it, and the output below."""

    line: str
    shown: str

    def run(self, folder: str, programs: Path = OWN) -> str:
        """What the command prints to stdout in `folder`; exit codes other than 0 and 1 (invalid) are an error, and 1 of pytest."""
        done = self._done(folder, programs)
        is_test = self.line.startswith("pytest ")
        if done.returncode not in (0, 0 if is_test else 1):
            raise RuntimeError(f"{self.line}: exit code {done.returncode}: {done.stdout if is_test else done.stderr}")
        return "" if is_test else done.stdout

    def _done(self, folder: str, programs: Path) -> "subprocess.CompletedProcess[str]":
        """In this process where the line is one command of this checkout, otherwise by a shell."""
        if programs == OWN and self.line.startswith("certree ") and not _SHELL & set(self.line):
            words = shlex.split(self.line)
            with (
                contextlib.chdir(folder),
                contextlib.redirect_stdout(io.StringIO()) as out,
                contextlib.redirect_stderr(io.StringIO()) as err,
            ):
                code = run(words[1:])
            return subprocess.CompletedProcess(words, code, out.getvalue(), err.getvalue())
        path = os.pathsep.join([str(programs), os.environ["PATH"]])
        return subprocess.run(
            self.line, shell=True, cwd=folder, env=os.environ | {"PATH": path}, capture_output=True, text=True, check=False
        )

    @property
    def text(self) -> str:
        """The line as it stands on a page."""
        return "$ " + self.line.replace("\n", "\n> ") + "\n"


def commands(text: str) -> list[Command]:
    """All commands of all console blocks, in order."""
    found = []
    for kind, block in _BLOCK.findall(text):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:] if kind == "console" else []:
            line, shown = re.fullmatch(r"(.*?\n(?:> .*?\n)*)(.*)", part, re.DOTALL).groups()  # type: ignore[union-attr]
            found.append(Command(line.removesuffix("\n").replace("\n> ", "\n"), shown))
    return found


def without_times(text: str) -> str:
    """The text with wall times blanked out."""
    return _VARYING.sub("_ s", text)


def written_anew(text: str, folder: str, programs: Path = OWN) -> str:
    """The text with the outputs that its commands have now; equal ones stay, wall times included."""
    session: dict[str, object] = {}

    def replaced(block: re.Match[str]) -> str:
        if block[1] == "pycon":
            return f"```pycon\n{_python(block[2], session, folder)}```\n"
        parts = []
        for command in commands(block[0]):
            fresh = command.run(folder, programs)
            same = without_times(fresh) == without_times(command.shown)
            parts.append(f"{command.text}{command.shown if same else fresh}")
        return "```console\n" + "".join(parts) + "```\n"

    return _BLOCK.sub(replaced, text)


def _python(block: str, session: dict[str, object], folder: str) -> str:
    """A block of Python with the outputs that it has now."""
    parts = []
    for example in doctest.DocTestParser().get_examples(block):
        with contextlib.chdir(folder), contextlib.redirect_stdout(io.StringIO()) as said:
            exec(compile(example.source, "page", "single"), session)
        parts.append(">>> " + example.source.rstrip("\n").replace("\n", "\n... ") + "\n" + said.getvalue())
    return "".join(parts)


def main(names: list[str]) -> None:
    """Write the outputs of these pages anew, of all by default."""
    for page in [Path(name).resolve() for name in names] or PAGES:
        with tempfile.TemporaryDirectory() as scratch:
            page.write_text(written_anew(page.read_text(), scratch))


if __name__ == "__main__":
    main(sys.argv[1:])
