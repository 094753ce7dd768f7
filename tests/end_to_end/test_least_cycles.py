"""The table of fewest cycles: as the command writes it, and whole."""

from pathlib import Path

import pytest

from tools.tables.least_cycles import GRANULES, HEAD, NETWORKS, row

HOW = "`python -m tools.tables.least_cycles > docs/benchmarks/least-cycles.md` writes the table anew"
TABLE = (Path(__file__).parents[2] / "docs" / "benchmarks" / "least-cycles.md").read_text()


@pytest.mark.parametrize(("network", "granules"), [("switch:4", 8), ("ring:4", 1), ("ace-torus:2x2x1", 3)])
def test_its_rows_are_what_the_command_writes(network: str, granules: int) -> None:
    assert row(network, granules) + "\n" in TABLE, HOW


def test_it_is_whole() -> None:
    assert TABLE.startswith(HEAD), HOW
    rows = [line.strip("|").split("|") for line in TABLE[len(HEAD) :].splitlines()]
    assert [(cells[0].strip(" `"), int(cells[1])) for cells in rows] == [(one, number) for one in NETWORKS for number in GRANULES]
