"""Times of a schedule over message sizes, against the time that bounds allow and against published algorithms."""

import base64
from fractions import Fraction
from typing import Any

from certree.api.reports.schedule_report import closed_form
from certree.api.reports.text import size_words
from certree.api.reports.time_bounds import ANY_SHARES, TIME_BOUND, over_bounds, time_bound
from certree.extras.reports.make.figure import bound_words
from certree.extras.reports.make.plotting import can_plot
from certree.models.common.errors import InputError, UndecidedError
from certree.models.schedule.made_for import MadeFor
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule
from certree.synth.filling import made_and_options
from certree.synth.method import Method, Request, load_methods
from certree.verify.checker import verify_schedule
from certree.verify.verdict import Quality

FACTORS = (Fraction(1, 1024), Fraction(1, 32), Fraction(1), Fraction(8))  # of the size that the schedule was made for
LEAST_BYTES = 1024
MOST_ENDPOINTS = 144  # of a network on which published algorithms are made for the comparison
THIS = "this schedule"
Cell = dict[str, Any]


def times(schedule: AnySchedule, quality: Quality, used: MadeFor, *, published: bool) -> tuple[list[Cell], str | None]:
    """(cells as of `compare`, what was left out): the schedule at several sizes, and, if `published`, the algorithms that apply."""
    sizes = sorted({max(LEAST_BYTES, int(used.message_bytes * factor)) for factor in FACTORS})
    bounds = {size: time_bound(schedule, quality, size, used.machine) for size in sizes}
    cells = [_timed(THIS, size, closed_form(schedule, size, used.machine)["time_cycles"], bounds[size]) for size in sizes]
    if not published:
        return cells, "published algorithms were not asked for"
    if len(schedule.topology.endpoints) > MOST_ENDPOINTS:
        return cells, f"published algorithms: the network has more than {MOST_ENDPOINTS} endpoints; certree compare runs them"
    methods = load_methods()
    for name in methods:
        if methods[name].published:
            cells += _published(methods[name], schedule, used, bounds)
    return cells, None


def _published(method: Method, schedule: AnySchedule, used: MadeFor, bounds: dict[int, Cell]) -> list[Cell]:
    """A method's valid schedules at the sizes, timed; none where it does not apply."""
    cells: list[Cell] = []
    checked: dict[str, bool] = {}
    for size, bound in bounds.items():
        try:
            made, _ = made_and_options(method, Request(schedule.topology, schedule.collective, size, used.machine))
            if made.digest not in checked:
                checked[made.digest] = verify_schedule(made).valid
            cycles = closed_form(made, size, used.machine)["time_cycles"] if checked[made.digest] else None
        except (InputError, UndecidedError):
            return cells
        if cycles is not None:
            cells.append(_timed(method.name, size, cycles, bound))
    return cells


def _timed(name: str, size: int, cycles: int | None, bounds: Cell) -> Cell:
    """A cell as the plot of `compare` takes it. Methods choose their shares: all are measured by the bound for any shares, if there
    is one."""
    bound = {"time_bound_cycles": bounds["time_bound_cycles"]}
    if TIME_BOUND + ANY_SHARES in bounds:
        bound = dict.fromkeys((TIME_BOUND, TIME_BOUND + ANY_SHARES), bounds[TIME_BOUND + ANY_SHARES])
    return {"method": name, "message_bytes": size, "time_cycles": cycles, **bound, **over_bounds(cycles, bound)}


def time_table(cells: list[Cell]) -> dict[str, Any]:
    """Rows for the page: the time bound, then methods by their time at the largest size; a cell has cycles and cycles ÷ bound."""
    sizes = sorted({cell["message_bytes"] for cell in cells})
    bounds = {cell["message_bytes"]: cell["time_bound_cycles"] for cell in cells if cell["method"] == THIS}
    found: dict[str, dict[int, int]] = {}
    for cell in cells:
        if cell.get("time_cycles"):
            found.setdefault(cell["method"], {})[cell["message_bytes"]] = cell["time_cycles"]
    rows = []
    for name, at in sorted(found.items(), key=lambda entry: (entry[1].get(sizes[-1], 1 << 62), entry[0])):
        line = []
        for size in sizes:
            cycles, bound = at.get(size), bounds.get(size)
            over = f"{cycles / bound:,.2f} ×" if cycles and bound else ""
            line.append({"cycles": "-" if cycles is None else f"{cycles:,}", "over": over})
        rows.append({"method": name, "cells": line})
    return {
        "bound": bound_words(cells),
        "sizes": [size_words(size) for size in sizes],
        "bounds": ["-" if bounds.get(size) is None else f"{bounds[size]:,}" for size in sizes],
        "rows": rows,
    }


def time_plot(cells: list[Cell], title: str) -> str | None:
    """The plot as a data URL; None without times, and without matplotlib."""
    timed = [cell for cell in cells if cell.get("time_cycles")]
    if not timed or not can_plot():
        return None
    from certree.extras.reports.make.plots import comparison_plot

    return data_url(comparison_plot(timed, title, ".svg"))


def data_url(svg: bytes | str) -> str:
    """An SVG picture as the source of an image."""
    return "data:image/svg+xml;base64," + base64.b64encode(svg if isinstance(svg, bytes) else svg.encode()).decode()
