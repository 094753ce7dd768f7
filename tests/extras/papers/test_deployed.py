"""The table of networks that people have: what single attempts answer, how parts are put together, and rows of the page."""

import json
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

from certree.models.network.spec import parse_topology
from certree.models.schedule.collective import CollectiveKind
from tools.tables import deployed
from tools.tables.deployed import DETAILS, MET, NETWORKS, SHORT, Attempt, attempt, attempts, page

HOW = "`python -m tools.tables.deployed docs/benchmarks/deployed.md [NETWORK ...]` writes the rows anew"
PAGE = Path(__file__).parents[3] / "docs" / "benchmarks" / "deployed.md"


def test_an_attempt() -> None:
    made = [field for fields in attempt("full-mesh:2x3", CollectiveKind.ALL_GATHER, "symmetric", {}) for field in fields.items()]
    assert made == [("time", "5/18"), ("bound", "5/18"), ("free", True)]
    (refused,) = attempt("slimfly:3", CollectiveKind.ALL_GATHER, "boxes", {})
    assert str(refused["reason"]).startswith("boxes needs equal boxes")


def test_cells() -> None:
    assert Attempt("packing", Fraction(1, 2), Fraction(1, 2), free=True).text == MET
    assert Attempt("packing", Fraction(21, 40), Fraction(1, 2), free=True).text == "5.0 %"
    assert Attempt("packing", Fraction(1, 2), Fraction(1, 2)).text == f"{MET} †"
    assert Attempt("packing", reason="too large").text == "–"


def test_attempts_end_in_time(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """One that takes longer than it may is ended, and says nothing."""
    code = "import tools.tables.deployed as d; d.SECONDS = 1; d.attempt = lambda *a: iter(dict, 0); d.main({!r})"
    arguments = ["attempt", "ring:3", "all-gather", "packing", json.dumps({})]
    done = subprocess.run([sys.executable, "-c", code.format(arguments)], check=False, stdout=subprocess.DEVNULL)
    assert done.returncode < 0


def test_parts_are_put_together() -> None:
    """A row takes the place of the same network's; others stay, in the order of the list."""
    first, second = list(NETWORKS)[:2]
    one = page("", {second: (f"| `{second}` | old |", [f"| `{second}` | all-to-all | 1 |"])})
    two = page(one, {first: (f"| `{first}` | new |", [])})
    three = page(two, {second: (f"| `{second}` | new |", [])})
    rows = [line for line in three.splitlines() if "` | " in line and line.startswith("| `") and MET not in line]
    assert rows == [f"| `{first}` | new |", f"| `{second}` | new |"]
    assert f"| `{second}` | all-to-all | 1 |" in two
    assert f"Not computed yet: `{list(NETWORKS)[2]}`" in three


def test_the_page() -> None:
    """Rows are of networks in the list, complete, and each cell that does not meet its bound is explained below."""
    head, _, below = PAGE.read_text().partition(DETAILS)
    rows = [line.strip("|").split("|") for line in head.splitlines() if line.startswith("| `") and line.split("`")[1] != MET]
    for name, _, *cells in rows:
        spec = name.strip().strip("`")
        assert spec in NETWORKS, HOW
        assert len(cells) == len(SHORT), HOW
        open_cells = sum(not cell.strip().startswith(MET) for cell in cells)
        assert sum(line.startswith(f"| `{spec}` |") for line in below.splitlines()) == open_cells, HOW
    assert page(PAGE.read_text(), {}) == PAGE.read_text(), HOW


def test_methods_and_networks_exist() -> None:
    assert all(list(attempts(kind)) for kind in SHORT)
    assert all(len(parse_topology(spec).endpoints) >= 32 for spec in NETWORKS)
    assert deployed.MESSAGE == 1 << 30
