"""Targets: TOML files that configure a figure or table of a paper and hold the numbers of the paper's text, which the results are
compared with; notes explain differences."""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from fractions import Fraction
from pathlib import Path
from typing import Any

from certree.extras.papers.experiment import Cell, Experiment, Value, load_experiments
from certree.models.common.fields import Fields, exact_number
from certree.models.common.presets import Presets, parse_toml

NOT_STATED = "-"
TARGETS = Presets("certree.extras.papers", "targets", "target")


@dataclass(frozen=True)
class Bound:
    """A paper's statement that a value is above or below a limit, the limit itself excluded."""

    sign: str  # < or >
    limit: Fraction

    def __str__(self) -> str:
        return f"{self.sign} {self.limit}"

    def holds(self, value: Fraction) -> bool:
        """Whether a value satisfies it."""
        return value > self.limit if self.sign == ">" else value < self.limit


@dataclass(frozen=True)
class Statement:
    """The paper's value of the cells that one of `rows` and of `columns` (patterns with * and ?) match: one value, or one for
    each of them in turn. Numbers agree when they differ by at most `tolerance` times the paper's, texts when they are equal.
    `fitted`: what the target leaves open was chosen by these values, so that agreement is not a prediction."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    values: tuple[Value | Bound | None, ...]
    says: str
    tolerance: Fraction
    fitted: bool = False


@dataclass(frozen=True)
class Note:
    """Why the cells that one of `rows` and of `columns` match differ from the paper."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    text: str


@dataclass(frozen=True)
class Target:
    """A figure or table: `remarks` list choices made where the paper is silent; `source` is the file's own text."""

    name: str
    title: str
    experiment: Experiment
    statements: tuple[Statement, ...]
    notes: tuple[Note, ...]
    remarks: tuple[str, ...]
    source: bytes

    @property
    def heading(self) -> str:
        """The title for what is computed, which may be another network or a subset."""
        return self.experiment.titled(self.title)

    def smoke(self) -> "Target":
        """The experiment's smoke subset."""
        return replace(self, experiment=self.experiment.smoke())

    def on(self, networks: Sequence[str]) -> "Target":
        """The target on other networks."""
        return replace(self, experiment=self.experiment.on(networks))


@dataclass(frozen=True)
class Compared:
    """A cell with the value that the paper states, if any; `agrees` is None where there is nothing to compare."""

    cell: Cell
    paper: Value | Bound | None = None
    says: str | None = None
    tolerance: Fraction | None = None
    agrees: bool | None = None
    why: str | None = None
    fitted: bool = False

    @property
    def is_order(self) -> bool:
        """Whether the paper states an order only: above or below a limit, or which of several is the smaller one."""
        return isinstance(self.paper, Bound) or (isinstance(self.paper, str) and " < " in self.paper)

    @property
    def difference(self) -> Fraction | None:
        """certree's value ÷ the paper's − 1; None unless both are numbers."""
        ours, paper = self.cell.ours, self.paper
        return ours / paper - 1 if isinstance(ours, Fraction) and isinstance(paper, Fraction) and paper else None

    def document(self) -> dict[str, Any]:
        """Plain JSON; exact numbers as texts."""
        values = {
            "ours": self.cell.ours, "paper": self.paper, "difference": self.difference, "tolerance": self.tolerance,
        }  # fmt: skip
        texts = {name: None if value is None else str(value) for name, value in values.items()}
        words = {"says": self.says, "why": self.why, "reason": self.cell.reason}
        document = {"row": self.cell.row, "column": self.cell.column, **texts, "agrees": self.agrees, "fitted": self.fitted}
        return document | {name: text for name, text in words.items() if text is not None} | dict(self.cell.more)


def targets() -> dict[str, str]:
    """The titles of the targets that come with certree, by name; names in braces replaced by the values of these fields."""
    return {name: _listed_title(TARGETS.load(name), name) for name in TARGETS.names()}


def _listed_title(document: Mapping[str, Any], name: str) -> str:
    title = Fields(document, name).text("title")
    for field_name, value in document.items():
        title = title.replace(f"{{{field_name}}}", str(value))
    return title


def load_target(name: str) -> Target:
    """A target by name, or a TOML file; InputError says what is wrong in it."""
    data = TARGETS.read(name)
    fields = Fields(parse_toml(data, name), name, quotes_optional=True)
    title, tolerance = fields.text("title"), fields.exact("tolerance", default="0")
    remarks = fields.texts("remarks", default=[])
    statements = fields.each("stated", lambda entry: _statement(entry, tolerance))
    notes = fields.each("notes", _note)
    experiments = load_experiments()
    experiment = experiments[fields.text("experiment", known=experiments)](fields)
    fields.done()
    return Target(Path(name).stem, title, experiment, statements, notes, remarks, data)


def _statement(fields: Fields, tolerance: Fraction) -> Statement:
    return Statement(
        rows=fields.text_or_texts("row"),
        columns=_columns(fields),
        values=tuple(map(_stated, fields.figures("paper"))),
        says=fields.text("says"),
        tolerance=fields.exact("tolerance", default=str(tolerance)),
        fitted=fields.choice("fitted", (True, False), default=False),
    )


def _stated(text: str) -> Value | Bound | None:
    """An exact number, `> 1`, `< 1`, nothing, or any other text as it is."""
    if text == NOT_STATED:
        return None
    limit = exact_number(text[1:]) if text[:1] in ("<", ">") else None
    if limit is not None:
        return Bound(text[0], limit)
    number = exact_number(text)
    return text if number is None else number


def _note(fields: Fields) -> Note:
    return Note(fields.text_or_texts("row"), _columns(fields), " ".join(fields.text("text").split()))


def _columns(fields: Fields) -> tuple[str, ...]:
    return fields.text_or_texts("column") if "column" in fields else ("*",)


def compared(target: Target, cells: Sequence[Cell]) -> list[Compared]:
    """Every cell with what the target's file states of it; the first statement and the first note that match count."""
    taken: dict[Statement, Iterator[Value | Bound | None]] = {
        statement: iter(statement.values) for statement in target.statements if len(statement.values) > 1
    }
    return [_compared(target, cell, taken) for cell in cells]


def _compared(target: Target, cell: Cell, taken: Mapping[Statement, Iterator[Value | Bound | None]]) -> Compared:
    statement = next((entry for entry in target.statements if _matches(entry, cell)), None)
    if statement is None:
        return Compared(cell)
    paper = next(taken[statement], None) if statement in taken else statement.values[0]
    if paper is None:
        return Compared(cell)
    agrees = None if cell.ours is None else _agree(cell.ours, paper, statement.tolerance)
    why = next((note.text for note in target.notes if _matches(note, cell)), None) if agrees is False else None
    tolerance = statement.tolerance if isinstance(paper, Fraction) else None
    return Compared(cell, paper, statement.says, tolerance, agrees, why, statement.fitted)


def _matches(pattern: Statement | Note, cell: Cell) -> bool:
    return any(fnmatchcase(cell.row, row) for row in pattern.rows) and any(
        fnmatchcase(cell.column, column) for column in pattern.columns
    )


def _agree(ours: Value, paper: Value | Bound, tolerance: Fraction) -> bool:
    if isinstance(ours, Fraction) and isinstance(paper, Bound):
        return paper.holds(ours)
    if isinstance(ours, Fraction) and isinstance(paper, Fraction):
        return abs(ours - paper) <= tolerance * abs(paper)
    return str(ours) == str(paper)


def table_markdown(target: Target, cells: Sequence[Compared]) -> str:
    """The table, with the paper's values in brackets and without empty rows; then differences and missing cells with their reasons,
    and remarks."""
    columns = list(dict.fromkeys(entry.cell.column for entry in cells))
    rows = list(dict.fromkeys(entry.cell.row for entry in cells))
    found = {(entry.cell.row, entry.cell.column): entry for entry in cells}
    lines = [f"# {target.heading}", "", f"| | {' | '.join(columns)} |", "|---" * (len(columns) + 1) + "|"]
    for row in rows:
        if all(entry is None or entry.cell.ours is None for entry in (found.get((row, column)) for column in columns)):
            continue  # the reason stands below
        lines.append(f"| {row} | " + " | ".join(_entry(found.get((row, column))) for column in columns) + " |")
    parts = [lines, _comparison_lines(cells), _reason_lines(cells), [f"- {remark}" for remark in target.remarks]]
    return "\n\n".join("\n".join(part) for part in parts if part) + "\n"


def _entry(entry: Compared | None) -> str:
    if entry is None or entry.cell.ours is None:
        return "-"
    text = _words(entry.cell.ours)
    return text if entry.paper is None else f"{text} ({_words(entry.paper)})"


def _words(value: Value | Bound) -> str:
    if isinstance(value, Bound):
        return f"{value.sign} {_words(value.limit)}"
    if isinstance(value, str):
        return value
    return f"{value.numerator:,}" if value.denominator == 1 else f"{float(value):.4g}"


def _comparison_lines(cells: Sequence[Compared]) -> list[str]:
    """One line for how many cells agree with the paper (in brackets), then one for each that does not; each reason once."""
    stated = [entry for entry in cells if entry.agrees is not None]
    if not stated:
        return []
    lines = [f"{_counted(stated)} agree with what the paper states (in brackets):"]
    for statement in dict.fromkeys((entry.says, entry.tolerance) for entry in stated):
        within = "" if statement[1] is None else f", within {float(100 * statement[1]):.4g} %"
        lines.append(f"- {statement[0]}{within}")
    by_reason: dict[str, dict[str, list[str]]] = {}
    for entry in stated:
        if not entry.agrees:
            by = "" if entry.difference is None else f" ({float(100 * entry.difference):+.1f} %)"
            rows = by_reason.setdefault(entry.why or "No reason is known.", {})
            rows.setdefault(entry.cell.row, []).append(f"{entry.cell.column}{by}")
    for why, rows in by_reason.items():
        places = "; ".join(f"{row}: {', '.join(columns)}" for row, columns in rows.items())
        lines.append(f"- differs: {places}. {why}")
    return lines


def _counted(stated: Sequence[Compared]) -> str:
    """How many cells agree; what was fitted apart from what was not, and orders (more or less than a limit, or `a < b`) apart from
    numbers and names, which state more."""
    orders = [entry for entry in stated if entry.is_order and not entry.fitted]
    values = [entry for entry in stated if not entry.is_order and not entry.fitted]
    fitted = [entry for entry in stated if entry.fitted]
    known = ((values, "values" if orders or fitted else "cells"), (orders, "orders"), (fitted, "fitted cells"))
    return " and ".join(f"{sum(bool(one.agrees) for one in found)} of {len(found)} {words}" for found, words in known if found)


def _reason_lines(cells: Sequence[Compared]) -> list[str]:
    rows: dict[str, list[str]] = {}
    for entry in cells:
        if entry.cell.reason is not None:
            rows.setdefault(entry.cell.reason, []).append(entry.cell.row)
    return [f"- {', '.join(dict.fromkeys(names))}: {reason}" for reason, names in rows.items()]


CSV_COLUMNS = ("row", "column", "ours", "paper", "difference", "tolerance", "agrees", "fitted", "says", "why", "reason")


def table_csv(cells: Sequence[Compared]) -> str:
    """A line for each cell; exact numbers."""
    stream = io.StringIO()
    writer = csv.DictWriter(stream, CSV_COLUMNS, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(entry.document() for entry in cells)
    return stream.getvalue()
