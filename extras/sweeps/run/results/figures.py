"""Plots of a sweep: one for each axis with several values."""

from collections.abc import Iterable, Mapping
from fractions import Fraction
from statistics import median
from typing import Any

from certree.api.reports.text import size_words
from certree.api.runs.simulation import NO_ENDPOINT
from certree.extras.reports.make.figure import Panel, Plot, Series

#: axes that have a plot, and the label of theirs
AXES = {
    "size": "message size", "network": "network", "failures": "failures", "collective": "collective", "method": "method",
    "machine": "machine", "seed": "seed", "run": "run", "endpoint": "endpoint", "sram": "bytes of SRAM",
    "state_machines": "state machines",
}  # fmt: skip
#: what lines of a plot may be
LINES = ("method", "run", "endpoint", "state_machines", "sram")
MOST_PANELS = 12
MOST_LINES = 12  # of methods on networks on one pair of axes

Row = Mapping[str, Any]


def figures(rows: Iterable[Row]) -> dict[str, tuple[str, Plot]]:
    """For each axis with several values: the title and the plot of cycles along it. A line is a method; where there is one, or the
    axis is that of methods, a value of the first of LINES with several. Networks are on the same axes, a line for each method on
    each network, unless there would be more than MOST_LINES; then a panel is a network. A panel is a collective at one size.

    Cycles are simulated ones, or those of the closed form where nothing was simulated. Of cells that differ in other axes the
    median is drawn, of panels the first MOST_PANELS.
    """
    timed = [_brief(row) for row in rows if _cycles(row) is not None]
    found = {}
    for axis, label in AXES.items():
        values = list(dict.fromkeys(row[axis] for row in timed if row[axis] is not None))
        if len(values) > 1:
            found[axis] = f"Cycles by {label}", _plot([row for row in timed if row[axis] is not None], axis, label)
    return found


def _cycles(row: Row) -> int | None:
    simulated: int | None = row.get("simulated_cycles")
    has_endpoint = row.get("endpoint", NO_ENDPOINT) != NO_ENDPOINT  # which the closed form does not know
    return row.get("time_cycles") if simulated is None and not has_endpoint else simulated


def _brief(row: Row) -> dict[str, Any]:
    """The fields of a row that a plot needs."""
    return {axis: row.get(axis) for axis in AXES} | {"cycles": _cycles(row)}


def _plot(rows: list[dict[str, Any]], axis: str, label: str) -> Plot:
    line = next((name for name in LINES if name != axis and len({row[name] for row in rows}) > 1), LINES[axis == LINES[0]])
    split = [name for name in ("network", "collective", "size") if name != axis and len({row[name] for row in rows}) > 1]
    together = "network" in split and len({(row["network"], row[line]) for row in rows}) <= MOST_LINES
    if together:
        split.remove("network")
    panels: dict[str, dict[str, dict[Any, list[int]]]] = {}
    for row in rows:
        title = ", ".join(size_words(row[name]) if name == "size" else str(row[name]) for name in split)
        panels.setdefault(title, {}).setdefault(_name(row, line, together), {}).setdefault(row[axis], []).append(row["cycles"])
    drawn = [
        Panel(title, tuple(Series(name, _points(axis, points)) for name, points in lines.items()))
        for title, lines in list(panels.items())[:MOST_PANELS]
    ]
    scale = {"size": "bytes", "sram": "bytes", "seed": "linear", "state_machines": "linear"}.get(axis, "names")
    return Plot(tuple(drawn), x_label=label, y_label="cycles", x_scale=scale, y_scale="log" if axis == "size" else "linear")


def _name(row: Mapping[str, Any], line: str, together: bool) -> str:
    """A line of the legend, with the network where several are on the same axes."""
    value, where = row[line], f" on {row['network']}" if together else ""
    if line in ("method", "run", "endpoint"):
        return f"{value}{where}"
    return f"{AXES[line]}: {'-' if value is None else size_words(value) if line == 'sram' else value}{where}"


def _points(axis: str, found: Mapping[Any, list[int]]) -> tuple[tuple[float | str, float], ...]:
    is_number = axis in ("size", "seed", "sram", "state_machines")
    return tuple((x if is_number else str(x), float(Fraction(median(map(Fraction, cycles))))) for x, cycles in found.items())
