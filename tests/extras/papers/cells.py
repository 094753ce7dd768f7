"""Cells of reproduced figures, and changed copies of the files that describe them."""

from pathlib import Path

from tests.cli.artefacts import changed
from tests.cli.running import certree

SMALL = Path(__file__).parent / "small"


def cells_of(target, *arguments):
    """The cells by row and column."""
    outcome = certree("reproduce", target, "--jobs", "1", "--json", *arguments)
    assert outcome.code == 0, outcome.err
    return {(cell["row"], cell["column"]): cell for cell in outcome.document["cells"]}


def published(folder, name, *changes):
    """A target of the package, changed."""
    return changed(folder, f"extras/papers/targets/{name}.toml", *changes)


def small(folder, *changes, name="all-reduce"):
    """A target of the tests, changed."""
    return changed(folder, SMALL / f"{name}.toml", *changes)
