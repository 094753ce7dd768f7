"""The pages of drawn edits and of co-simulations: as many as promised, each edit caught, no case with a difference.

And the usage of `python -m tests.rtl`.
"""

import re
from pathlib import Path

import pytest

from certree.hw.golden import golden_trace
from tests.rtl import record
from tests.rtl.__main__ import main
from tests.rtl.banks import PAIRS
from tests.rtl.cases import CASES, LOCKSTEP_CASES
from tests.rtl.edits.planted import PLANTED
from tests.rtl.mutants import COUNTER, OPENED, PACED, PAGE, RTL, STEPS, SURVIVES, TABLES, edits

EDITS = "`python -m tests.rtl.mutants` writes the page anew"
_RUN = "CCACHE_DISABLE=1 python -m tests.rtl small grid random large lockstep banks | python -m tests.rtl.record"
CASES_RUN = f"`{_RUN}` writes the page anew"
#: the modules of the interface; those of flits have edits in tests/extras/flits/test_flit_agreement.py
_MODULES = [path for path in (Path(__file__).parents[2] / "hw" / "rtl").rglob("*.sv") if path.parent.name not in ("bench", "flits")]


def _rows(part: str) -> list[list[str]]:
    lines = [line for line in part.splitlines() if line.startswith("| ")][1:]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]


def _modules() -> list[list[str]]:
    """Edits of the interface and of its timestep counter."""
    return [row for row in _rows(PAGE.read_text().split("## Tables")[0]) if row[0] != "file"]


def test_the_page_has_edits_of_every_module_and_each_is_caught() -> None:
    drawn, made = PAGE.read_text().split(OPENED)
    modules, (tables, steps), opened = _modules(), map(_rows, drawn.split("## Tables")[1:]), _rows(made)
    assert [row[:2] for row in opened] == [[edit.file, edit.name] for edit in PLANTED], EDITS
    assert (len(modules), len(tables), len(steps)) == (RTL + COUNTER, TABLES, STEPS), EDITS
    assert {row[0] for row in steps} == set(PACED), EDITS
    assert {row[0] for row in modules} == {path.name for path in _MODULES}, EDITS
    assert len({row[2] for row in modules}) >= 8
    assert [row for row in modules + tables + steps + opened if row[-1] in ("", SURVIVES)] == []


def test_the_page_is_of_these_modules() -> None:
    """Each edit on it is one of those that could be drawn from the module as it is."""
    modules = _modules()
    drawable = {(edit.file, str(edit.line), edit.operator, edit.before, edit.after) for path in _MODULES for edit in edits(path)}
    shown = [(*row[:3], *(cell.strip("`").replace("\\|", "|") for cell in row[3:5])) for row in modules]
    assert set(shown) - drawable == set(), EDITS


def test_events_are_those_of_the_golden_traces() -> None:
    cases, counters, pairs = map(_rows, re.split("## A timestep counter|## Take-over by new tables", record.PAGE.read_text()))
    rows = {cells[0].rstrip("*"): cells for cells in [*cases[1:], *counters[1:]]}
    assert {cells[-3] for cells in [*rows.values(), *pairs[1:]]} == {"0"}
    assert {cells[0].rstrip("*") for cells in counters[1:]} == set(LOCKSTEP_CASES), CASES_RUN
    assert set(rows) == set(CASES), CASES_RUN
    assert {cells[0] for cells in pairs[1:]} == set(PAIRS), CASES_RUN
    small = [name for name in rows if "8x8" not in name]
    assert {name: int(rows[name][6].replace(",", "")) for name in small} == {
        name: golden_trace(CASES[name]()).count(b"\n") - 1 for name in small
    }, CASES_RUN


@pytest.mark.parametrize(
    ("argument", "told"),
    [("mesh-2x3", "there is no case 'mesh-2x3'; did you mean mesh-2x2"), ("--fast", "unrecognized arguments: --fast")],
)
def test_an_unknown_argument_is_told(argument: str, told: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main([argument])
    assert stopped.value.code == 2
    assert told in capsys.readouterr().err


def test_usage_names_the_kinds_of_cases(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["--help"])
    assert stopped.value.code == 0
    assert "small, grid, random" in re.sub(r"\s+", " ", capsys.readouterr().out)
