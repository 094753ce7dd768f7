"""The recipes of CONTRIBUTING.md, each tried in a copy of the checkout.

`python -m tests.end_to_end.contributing` writes the outputs of their commands anew.
"""

import importlib.util
import os
import re
import shutil
import sys
import sysconfig
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tests.end_to_end.pages import Command, commands, written_anew

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "CONTRIBUTING.md"
PARTS = ("models", "synth", "verify", "specs", "hw", "api", "cli", "extras", "tools", "tests")
_RECIPE = re.compile(r"^### (.*?)\n(.*?)(?=^##|\Z)", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"^```(?:python|toml)\n# (\S+)( \(added\))?\n(.*?)^```\n", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Recipe:
    """A section of the page: files by path, what is added to files that exist, and commands."""

    title: str
    text: str

    @property
    def files(self) -> dict[str, str]:
        """New files."""
        return {path: text for path, added, text in _FILE.findall(self.text) if not added}

    @property
    def entries(self) -> dict[str, str]:
        """Text that goes to the end of files that are there."""
        return {path: text for path, added, text in _FILE.findall(self.text) if added}

    @property
    def commands(self) -> list[Command]:
        """What is run, with the output shown."""
        return commands(self.text)

    def apply(self, checkout: Path) -> None:
        """Put the files into a copy."""
        for path, text in self.files.items():
            assert not (checkout / path).exists(), path
            (checkout / path).write_text(text)
        for path, text in self.entries.items():
            old = (checkout / path).read_text()
            (checkout / path).unlink()  # a link to the file of this checkout
            (checkout / path).write_text(old + text)


def recipes() -> list[Recipe]:
    """All of them."""
    return [Recipe(title, text) for title, text in _RECIPE.findall(PAGE.read_text())]


def copied(folder: Path) -> Path:
    """A copy of the checkout, made of links to its files, with commands `certree` and `pytest` that import from it alone."""
    checkout = folder / "checkout"
    for part in PARTS:
        shutil.copytree(ROOT / part, checkout / part, copy_function=os.symlink, ignore=shutil.ignore_patterns("__pycache__"))
    (checkout / "pyproject.toml").symlink_to(ROOT / "pyproject.toml")
    for module in ("hw._core", "models._lists", "synth._native", "verify._proofs"):
        spec = importlib.util.find_spec(f"certree.{module}")
        assert spec is not None
        assert spec.origin is not None
        (checkout / module.partition(".")[0] / Path(spec.origin).name).symlink_to(spec.origin)
    package = checkout / "lib" / "certree"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text('"""The copy."""\n')
    for part in PARTS[:-1]:
        (package / part).symlink_to(checkout / part)
    programs = {
        "certree": "-c 'from certree.cli.main import main; main()'",
        "pytest": f"-m pytest -p no:cacheprovider -c {checkout}/pyproject.toml",
    }
    (checkout / "bin").mkdir()
    for name, program in programs.items():
        path = os.pathsep.join((str(package.parent), sysconfig.get_path("purelib")))
        script = checkout / "bin" / name
        script.write_text(
            f'#!/bin/sh\nPYTHONPATH={path} exec {sys.executable} -S {program} "$@"\n'
        )  # -S: without the editable install
        script.chmod(0o755)
    return checkout


def rewrite() -> None:
    """Run everything and replace the outputs."""

    def fresh(section: re.Match[str]) -> str:
        with tempfile.TemporaryDirectory() as folder:
            checkout = copied(Path(folder))
            Recipe(section[1], section[2]).apply(checkout)
            return written_anew(section[0], str(checkout), checkout / "bin")

    PAGE.write_text(_RECIPE.sub(fresh, PAGE.read_text()))


if __name__ == "__main__":
    rewrite()
