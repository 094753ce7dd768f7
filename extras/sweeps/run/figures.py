"""Plots of a sweep: one for each axis with several values."""

from collections.abc import Iterable, Mapping
from fractions import Fraction
from statistics import median
from typing import Any

from certree.api.reports.text import size_words
from certree.extras.reports.make.figure import Panel, Plot, Series

#: axes that have a plot, and the label of theirs
AXES = {
    "size": "message size", "network": "network", "failures": "failures", "collective": "collective", "method": "method",
    "machine": "machine", "seed": "seed", "run": "run",
}  # fmt: skip
MOST_PANELS = 12

Row = Mapping[str, Any]


def figures(rows: Iterable[Row]) -> dict[str, tuple[str, Plot]]:
    """For each axis with several values: the title and the plot of cycles along it. A line is a method, or else a run; a panel is
    a network at one size, or else at several.

    Cycles are simulated ones, or those of the closed form where nothing was simulated. Of cells that differ in other axes the
    median is drawn, of panels the first MOST_PANELS.
    """
    timed = [_brief(row) for row in rows if _cycles(row) is not None]
    found = {}
    for axis, label in AXES.items():
        values = list(dict.fromkeys(row[axis] for row in timed))
        if len(values) > 1:
            found[axis] = f"Cycles by {label}", _plot(timed, axis, label)
    return found


def _cycles(row: Row) -> int | None:
    simulated: int | None = row.get("simulated_cycles")
    return row.get("time_cycles") if simulated is None else simulated


def _brief(row: Row) -> dict[str, Any]:
    """What a plot needs of a row."""
    return {axis: row[axis] for axis in AXES} | {"cycles": _cycles(row)}


def _plot(rows: list[dict[str, Any]], axis: str, label: str) -> Plot:
    line = "run" if axis == "method" else "method"
    split = [name for name in ("network", "collective", "size") if name != axis and len({row[name] for row in rows}) > 1]
    panels: dict[str, dict[str, dict[Any, list[int]]]] = {}
    for row in rows:
        title = ", ".join(size_words(row[name]) if name == "size" else str(row[name]) for name in split)
        panels.setdefault(title, {}).setdefault(row[line], {}).setdefault(row[axis], []).append(row["cycles"])
    drawn = [
        Panel(title, tuple(Series(name, _points(axis, points)) for name, points in lines.items()))
        for title, lines in list(panels.items())[:MOST_PANELS]
    ]
    scale = {"size": "bytes", "seed": "linear"}.get(axis, "names")
    return Plot(tuple(drawn), x_label=label, y_label="cycles", x_scale=scale, y_scale="log" if axis == "size" else "linear")


def _points(axis: str, found: Mapping[Any, list[int]]) -> tuple[tuple[float | str, float], ...]:
    is_number = axis in ("size", "seed")
    return tuple((x if is_number else str(x), float(Fraction(median(map(Fraction, cycles))))) for x, cycles in found.items())
