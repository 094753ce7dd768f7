"""The scorecard: its page has what checks and quick targets find, every line its reason, and every command runs."""

import re
import shlex
from collections import Counter, defaultdict
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest

from certree.extras.costs.model.formulas.genmodel import load_genmodel
from certree.extras.papers.scorecard.card import KINDS, PAPERS, Entry, Verdict, entries, lines, verdict_of
from certree.extras.papers.scorecard.check import CHECKS, Found, load_checks
from certree.extras.papers.target import TARGETS
from certree.models.common.errors import InputError
from tests.cli.running import certree
from tools.tables.scorecard import PAGE, page, results_of, row, times, totals

#: targets of a second at most
QUICK = {
    "multitree-fig2", "genmodel-fig8", "genmodel-fig10", "gentree-fig4", "gentree-fig9", "gentree-table3-picks", "gentree-table6",
    "netreduce-table10", "netreduce-table10-own", "netreduce-table10-chosen", "netreduce-table11", "switchfc-fig12",
    "ace-fig5",
}  # fmt: skip


@pytest.fixture(scope="module")
def found(tmp_path_factory) -> dict[str, list[Entry]]:
    """What quick targets and all checks find, by paper."""
    kept = results_of(tmp_path_factory.mktemp("results"), run=True)
    known = {paper: entries(paper, lambda name: kept(name) if name in QUICK else None) for paper in PAPERS}
    return {paper: [entry for entry in ours if entry.verdict is not Verdict.NOT_RUN] for paper, ours in known.items()}


def test_the_page_has_what_is_found(found) -> None:
    known = PAGE.read_text().splitlines()
    missing = [row(entry) for ours in found.values() for entry in ours if row(entry) not in known]
    assert not missing, "python -m tools.tables.scorecard FOLDER > docs/reference/scorecard.md writes them"


def test_what_differs_has_a_reason(found) -> None:
    for ours in found.values():
        for entry in ours:
            assert entry.reason or entry.verdict in (Verdict.AGREES, Verdict.SHOWN), entry


def test_every_check_and_target_has_a_line() -> None:
    asked = [line for paper in PAPERS for line in lines(paper)]
    assert {line.check for line in asked if line.check} == {*load_checks()}
    assert {line.target for line in asked if line.target} <= {*TARGETS.names()}
    stated = {name for name in TARGETS.names() if "[[stated]]" in TARGETS.read(name).decode()}
    assert stated - {line.target for line in asked if line.target} == {
        "multitree-fig10-variants",  # readings of Fig. 10, which has its own lines
        "switchfc-packages",  # training by collectives alone, which Fig. 11 has as a whole
    }


def test_the_totals_of_the_page_are_those_of_its_rows() -> None:
    text = PAGE.read_text()
    rows = [line for line in text.splitlines() if line.startswith(tuple(f"| {kind}, " for kind in KINDS))]
    counts = Counter(line.split(" | ")[2] for line in rows)
    assert f"| all | {len(rows)} | " + " | ".join(str(counts[verdict]) for verdict in Verdict) + " |" in text
    assert len(rows) == sum(len(lines(paper)) for paper in PAPERS)


def test_times_and_totals_are_said_once() -> None:
    """The page's sum of CPU seconds is that of its rows, and what papers.md says of the scorecard is what it says now."""
    parts = PAGE.read_text().partition("## CPU seconds of the targets")
    cells = [line.strip("| ").split(" | ") for line in parts[2].splitlines() if line.startswith("| ")]
    known = {name: Decimal(seconds.replace(",", "")) for name, seconds in cells[1:]}
    assert known.pop("sum") == sum(known.values())
    assert {*known} <= {*TARGETS.names()}
    assert (
        cells[0][0] == f"{len(known)} of {len({line.target for paper in PAPERS for line in lines(paper) if line.target})} targets"
    )
    counts = re.search(r"^\| all \| (.*) \|$", parts[0], re.MULTILINE)[1].split(" | ")
    words = "After: {} lines, {} agree, {} in part, {} differ, {} shown, {} not computed."
    assert words.format(*counts) in " ".join((PAGE.parents[1] / "benchmarks" / "papers.md").read_text().split())


def test_times_are_listed_by_length() -> None:
    took = {"switchfc-fig12": 0.2, "multitree-fig9": 1234.5}
    table = times(lambda name: {"cells": [], "cpu_seconds": took[name]} if name in took else {"cells": []}).splitlines()
    assert table[-3:] == ["| multitree-fig9 | 1,234.5 |", "| switchfc-fig12 | 0.2 |", "| sum | 1,234.7 |"]


def test_a_wrong_number_differs(monkeypatch) -> None:
    load_checks()  # before an entry is replaced, which imports would register again
    monkeypatch.setitem(CHECKS._entries, "multitree-fig1", lambda: [Found("steps", 7, 6), Found("nodes", Fraction(1, 2), "half")])
    first = next(entry for entry in entries("multitree", lambda _: None) if entry.line.check == "multitree-fig1")
    assert first.verdict is Verdict.DIFFERS
    assert first.numbers == "0 of 2; steps: 7, the paper has 6; nodes: 0.5, the paper has half"
    assert "differs" in page({"multitree": [first]})
    assert list(totals({"multitree": [first]}))[-1] == "| all | 1 | 0 | 0 | 1 | 0 | 0 | 0 |"


def test_fitted_numbers_are_counted_apart(monkeypatch) -> None:
    """The verdict is that of the other numbers, where there are any."""
    nothing_checked = defaultdict(lambda: lambda: [Found("", 1, 1)])
    monkeypatch.setattr("certree.extras.papers.scorecard.card.load_checks", lambda: nothing_checked)
    says = next(line.says[0] for line in lines("multitree") if line.target == "multitree-fig2")
    cell = {"says": says, "ours": "1", "paper": "1", "difference": "0", "agrees": True, "fitted": True}
    wrong = cell | {"ours": "3", "paper": "2", "difference": "1/2", "agrees": False, "fitted": False}

    def first(*cells: dict[str, object]) -> Entry:
        known = entries("multitree", lambda name: {"cells": cells} if name == "multitree-fig2" else None)
        return next(entry for entry in known if entry.line.target == "multitree-fig2")

    mixed, fitted = first(cell, wrong, cell), first(cell, cell)
    assert (mixed.verdict, mixed.numbers) == (Verdict.DIFFERS, "0 of 1 and 2 of 2 fitted; off by at most 50 %")
    assert (fitted.verdict, fitted.numbers) == (Verdict.AGREES, "2 of 2 fitted")


def test_verdicts() -> None:
    assert [verdict_of(agrees) for agrees in ([True, True], [True, False], [False])] == [
        Verdict.AGREES,
        Verdict.PARTLY,
        Verdict.DIFFERS,
    ]


def test_a_pattern_that_matches_nothing_is_named(monkeypatch) -> None:
    nothing_checked = defaultdict(lambda: lambda: [Found("", 1, 1)])
    monkeypatch.setattr("certree.extras.papers.scorecard.card.load_checks", lambda: nothing_checked)
    cells = [{"says": "another", "agrees": True, "ours": "1", "paper": "1", "difference": "0", "fitted": False}]
    with pytest.raises(InputError, match="no cell of multitree-fig9 says on tori and meshes"):
        list(entries("multitree", lambda name: {"cells": cells} if name == "multitree-fig9" else None))


SHOWN = [line.command for paper in PAPERS for line in lines(paper) if line.command]


def test_every_shown_command_runs(tmp_path: Path, monkeypatch) -> None:
    run_shown(tmp_path, monkeypatch, SHOWN)


def test_a_shown_command_runs(tmp_path: Path, monkeypatch) -> None:
    run_shown(tmp_path, monkeypatch, ["certree flits torus:4x4"])
    assert "certree flits torus:4x4" in SHOWN


def run_shown(folder: Path, monkeypatch, commands: list[str]) -> None:
    """Run commands in a folder that has the files which they name."""
    monkeypatch.chdir(folder)
    for name, network in (("torus", "torus:2x2"), ("ring", "ring:3"), ("schedule", "ring:4")):
        assert certree("synthesize", network, "--method", "ring", "--size", "12KiB", "-o", f"{name}.json").code == 0
    rows = [f"co-located-ps,{servers},{floats},{seconds(servers, floats)}" for servers in range(2, 16) for floats in (10**6, 10**7)]
    Path("measurements.csv").write_text("\n".join(["benchmark,participants,floats,seconds", *rows]) + "\n")
    for shown in commands:
        program, *arguments = shlex.split(shown)
        assert program == "certree"
        assert certree(*arguments).code == 0, shown


def seconds(servers: int, floats: int) -> float:
    """The time of co-located PS by Table 2 with Table 5's parameters."""
    model = load_genmodel("gentree")
    others, server = Fraction(servers - 1, servers), model.server
    start = 2 * (2 * server.alpha_seconds + model.middle.alpha_seconds)
    links = 2 * others * model.middle.flow_seconds(servers)
    at_server = others * server.gamma_seconds_per_float + Fraction(servers + 1, servers) * server.delta_seconds_per_float
    return float(start + floats * (links + at_server))
