"""The container file installs options that certree has, by a command that its comment and the page both name."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
CONTAINER = (ROOT / "Containerfile").read_text()


def test_its_options_are_those_of_the_project() -> None:
    (asked,) = re.findall(r"^ARG OPTIONS=(\S+)$", CONTAINER, re.MULTILINE)
    known = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert {*asked.split(",")} <= known.keys() - {"all", "dev", "docs"}


def test_the_page_has_its_commands() -> None:
    page = (ROOT / "docs" / "how-to" / "offline.md").read_text()
    commands = re.findall(r"^#   (docker .+)$", CONTAINER, re.MULTILINE)
    assert len(commands) == 2
    assert all(command in page for command in commands)
