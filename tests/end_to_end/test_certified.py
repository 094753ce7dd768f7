"""The tables of certified algorithms and of fewest cycles: as the commands write them, and whole."""

from pathlib import Path

import pytest

from certree.models.network.spec import parse_topology
from certree.models.schedule.collective import parse_collective
from certree.synth.method import load_methods
from certree.verify.checker import verify_schedule
from tests.synth.execution import ask
from tools.tables import least_cycles, optima
from tools.tables.certified import HEAD, NETWORKS, composed, table

HOW = "`python -m tools.tables.certified > docs/benchmarks/certified.md` writes the table anew"
PAGES = Path(__file__).parents[2] / "docs" / "benchmarks"
PAGE, CYCLES = ((PAGES / name).read_text() for name in ("certified.md", "least-cycles.md"))
TABLE, _, OPTIMA = PAGE.partition(optima.HEAD)


@pytest.mark.parametrize("spec", ["ring:4", "mesh:2x3", "tree:2+1", "ss:3"])
def test_its_rows_are_what_the_command_writes(spec: str) -> None:
    assert spec in NETWORKS
    for row in table([spec]):
        assert row + "\n" in TABLE, HOW


def test_it_is_whole() -> None:
    assert TABLE.startswith(HEAD), HOW
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in TABLE[len(HEAD) :].splitlines()]
    for collective in ("all-gather", "all-reduce"):
        assert [row[0] for row in rows if row[1] == collective] == [parse_topology(spec).name for spec in NETWORKS], HOW
    assert not any("undecided" in row[4] for row in rows)


def test_an_all_gather_and_its_reverse_are_an_all_reduce() -> None:
    gather = load_methods()["multitree"](ask("torus:3x3", "all-gather"))
    made = composed(gather)[0]
    assert verify_schedule(made).valid
    assert made.collective == parse_collective("all-reduce")
    assert composed(load_methods()["multitree"](ask("switch:4", "all-gather"))) == []


@pytest.mark.parametrize("spec", ["ring:5", "mesh:2x2", "tree:2+1", "full:4"])
def test_rows_of_optima_are_what_the_command_writes(spec: str) -> None:
    rows = list(optima.table([spec]))
    assert rows
    for row in rows:
        assert row + "\n" in OPTIMA, HOW


def test_most_optima_are_decided() -> None:
    """At most 4 optima are open, of all 40 networks, once for each algorithm that covers it."""
    rows = [[cell.strip(" `") for cell in line.strip("|").split("|")] for line in OPTIMA.splitlines()]
    assert [cells[0] for cells in rows if cells[1] == "multitree"] == list(optima.NETWORKS)
    assert len(optima.NETWORKS) == 40
    assert {cells[3] for cells in rows} <= {"optimal", "beaten", "open"}
    assert sum(cells[3] == "open" for cells in rows) <= 4
    switched = [cells[0] for cells in rows if cells[1] == "gentree"]
    assert switched == [name for name in optima.NETWORKS if name.split(":")[0] in ("switch", "fattree", "ss", "tree", "leafspine")]


@pytest.mark.parametrize(("network", "granules"), [("switch:4", 8), ("ring:4", 1), ("ace-torus:2x2x1", 3)])
def test_rows_of_fewest_cycles_are_what_the_command_writes(network: str, granules: int) -> None:
    assert least_cycles.row(network, granules) + "\n" in CYCLES, "`python -m tools.tables.least_cycles` writes the table anew"


def test_fewest_cycles_are_whole() -> None:
    assert CYCLES.startswith(least_cycles.HEAD)
    rows = [line.strip("|").split("|") for line in CYCLES[len(least_cycles.HEAD) :].splitlines()]
    wanted = [(network, number) for network in least_cycles.NETWORKS for number in least_cycles.GRANULES]
    assert [(cells[0].strip(" `"), int(cells[1])) for cells in rows] == wanted
