"""README.md, the documentation and the READMEs of folders tell the truth: commands print what is shown, options and links exist."""

import re
import shlex
from functools import cache
from pathlib import Path

import click
import pytest

from certree import api
from certree.cli.main import certree
from tests.end_to_end.pages import PAGES, ROOT, without_times, written_anew

TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))


def without_diagrams(page: Path) -> str:
    return re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)


@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if re.search(r"```(console|pycon)", page.read_text())],
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_commands_print_what_is_shown(page: Path, tmp_path: Path) -> None:
    text, how = page.read_text(), f"`python -m tests.end_to_end.pages {page.relative_to(ROOT)}` writes the outputs anew"
    assert without_times(written_anew(text, str(tmp_path))) == without_times(text), how


@cache
def options(name: str) -> set[str]:
    """The options of a command and its subcommands."""
    command = certree.get_command(click.Context(certree), name)
    assert command is not None, name
    parts = command.commands.values() if isinstance(command, click.Group) else [command]
    return {opt for part in parts for parameter in part.params for opt in (*parameter.opts, *parameter.secondary_opts)} | {"--help"}


@each_page
def test_commands_in_the_text_exist(page: Path) -> None:
    for line in re.findall(r"`certree ([a-z-]+(?: [^`]*)?)`", without_diagrams(page)):
        name, *rest = shlex.split(line)
        assert {word.partition("=")[0] for word in rest if re.match("--?[a-z]", word)} <= options(name), line
    for line in re.findall(r"`make ([a-z -]+)`", without_diagrams(page)):
        assert set(line.split()) <= TARGETS, line


@pytest.mark.parametrize("page", [page for page in PAGES if page.parts[len(ROOT.parts)] != "docs"], ids=str)
def test_links_lead_somewhere(page: Path) -> None:
    """`make docs` checks those of the documentation."""
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", without_diagrams(page)):
        assert (page.parent / target).exists(), target


def test_the_readme_is_short_and_its_picture_is_what_draw_writes(tmp_path: Path) -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) <= 120
    schedule = api.synthesize("mesh:3x3", method="packing", size="64MiB")
    api.draw(schedule, tmp_path / "readme.svg", view="trees", chunks=range(4))
    assert (tmp_path / "readme.svg").read_text() == (ROOT / "docs" / "images" / "readme.svg").read_text()
