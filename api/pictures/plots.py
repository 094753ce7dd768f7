"""Plots: matplotlib, without a display, the same bytes for the same input."""

import io
from collections.abc import Sequence
from fractions import Fraction
from textwrap import wrap
from typing import Any

import matplotlib as mpl

mpl.use("Agg")  # before pyplot: no display is needed
import matplotlib.pyplot as plt
from matplotlib.ticker import FuncFormatter, MaxNLocator, NullLocator

from certree.api.pictures.figure import Panel, Plot
from certree.api.reports.text import size_words
from certree.models.cost.fitting.fit import Fit
from certree.models.cost.fitting.measurements import BENCHMARKS

#: colours that tell apart on white, in print and for colour-blind eyes (Okabe and Ito), then line styles
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
LINES = ("-", "--", ":", "-.")
MARKERS = "osD^vP*X<>hd"
WIDEST = 26  # letters of a line of the legend
MOST_TICKS = 12  # places of points that are all marked on the axis
STYLE = {"svg.hashsalt": "certree", "svg.fonttype": "path", "font.size": 9, "axes.spines.top": False, "axes.spines.right": False}


def comparison_plot(cells: Sequence[dict[str, Any]], title: str, suffix: str) -> bytes:
    """Time over message size, log-log, and beside it time over the bandwidth bound, one line for each method.

    `cells`: as `certree compare --json` has them; those without a closed-form time are left out. `suffix`: .svg or .png. Full
    marks are closed forms; a cross marks a simulated time that differs from it.
    """
    timed = [cell for cell in cells if cell.get("time_cycles")]
    last = max((cell["message_bytes"] for cell in timed), default=0)
    lines = [
        (names, [cell for cell in timed if cell["method"] == names[0]]) for names in _alike(timed)
    ]  # the legend in the order of their right ends
    lines.sort(key=lambda line: [-cell["time_cycles"] for cell in line[1] if cell["message_bytes"] == last])
    with mpl.rc_context(STYLE):
        figure, (left, right) = plt.subplots(1, 2, figsize=(12, 5.4), layout="constrained")
        for index, (names, shown) in enumerate(lines):
            _draw(left, right, shown, "\n".join(wrap(", ".join(names), WIDEST)), index)
        bounds = sorted({(cell["message_bytes"], Fraction(cell["bound_cycles"])) for cell in timed})
        left.plot(
            [size for size, _ in bounds], [float(cycles) for _, cycles in bounds], color="#999999", linewidth=4, alpha=0.5,
            label="bandwidth bound", zorder=0,
        )  # fmt: skip
        for axes, label in ((left, "cycles"), (right, "time / bandwidth bound")):
            _scale(axes, sorted({cell["message_bytes"] for cell in timed}), label)
        right.axhline(1, color="#999999", linewidth=4, alpha=0.5, zorder=0)
        figure.suptitle(title, fontsize=11)
        handles, labels = left.get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside right upper", frameon=False, handlelength=3.4)
        return _bytes(figure, suffix)


def figure_plot(plot: Plot, title: str, suffix: str) -> bytes:
    """The panels of a figure side by side, two to a row, and one legend for all. `suffix`: .svg or .png."""
    names = list(dict.fromkeys(series.name for panel in plot.panels for series in panel.series))
    columns = min(2, len(plot.panels))
    rows = -(-len(plot.panels) // columns)
    with mpl.rc_context(STYLE):
        figure, axes = plt.subplots(rows, columns, figsize=(5 * columns + 2, 3.4 * rows + 0.6), layout="constrained", squeeze=False)
        for place, panel in zip(axes.flat, plot.panels, strict=False):
            _panel(place, plot, panel, names)
        for place in axes.flat[len(plot.panels) :]:
            place.set_visible(False)
        figure.suptitle("\n".join(wrap(title, 30 * columns + 30)), fontsize=11)
        found: dict[str, Any] = {}
        for place in axes.flat:
            found |= {label: handle for handle, label in zip(*place.get_legend_handles_labels(), strict=True)}
        if len(names) > 1:
            shown = [name for name in names if name in found]
            figure.legend(
                [found[name] for name in shown], ["\n".join(wrap(name, WIDEST)) for name in shown],
                loc="outside right upper", frameon=False, handlelength=3.4,
            )  # fmt: skip
        return _bytes(figure, suffix)


def _panel(axes: Any, plot: Plot, panel: Panel, names: Sequence[str]) -> None:
    groups = list(dict.fromkeys(x for series in panel.series for x, _ in series.points))
    for series in panel.series:
        if not series.points:
            continue
        index = names.index(series.name)
        values = [y for _, y in series.points]
        if plot.x_scale == "names":
            width = 0.8 / len(names)
            places = [groups.index(x) + (index - (len(names) - 1) / 2) * width for x, _ in series.points]
            axes.bar(places, values, width, color=COLOURS[index % len(COLOURS)], label=series.name)
        else:
            axes.plot([x for x, _ in series.points], values, label=series.name, **_style(index))
    if plot.x_scale == "bytes":
        _byte_scale(axes, sorted(int(size) for size in groups))
    elif plot.x_scale == "log":
        axes.set_xscale("log")
    elif plot.x_scale == "names":
        axes.set_xticks(range(len(groups)), groups)
    elif len(groups) <= MOST_TICKS:
        axes.set_xticks(groups)
    axes.set_yscale(plot.y_scale)
    if plot.y_scale == "linear":
        axes.set_ylim(bottom=0)
    axes.set_title(panel.title, fontsize=9)
    _dress(axes, plot.x_label, plot.y_label)


def fit_plot(found: Fit, title: str, suffix: str) -> bytes:
    """Measured times (marks) and fitted ones (lines) of each benchmark, a float, over the number of participants, a line for each
    size; residuals below. `suffix`: .svg or .png."""
    rows = list(zip(found.points, found.fitted, found.residuals, strict=True))
    shown = [name for name in BENCHMARKS if any(point.benchmark == name for point, _, _ in rows)]
    sizes = sorted({point.floats for point in found.points})
    with mpl.rc_context(STYLE):
        figure, grid = plt.subplots(
            2,
            len(shown),
            figsize=(4.2 * len(shown) + 1.6, 6),
            layout="constrained",
            squeeze=False,
            sharex="col",
            height_ratios=(2, 1),
        )
        for (top, bottom), benchmark in zip(grid.T, shown, strict=True):
            for index, size in enumerate(sizes):
                line = [row for row in rows if (row[0].benchmark, row[0].floats) == (benchmark, size)]
                if not line:
                    continue
                count, style = [point.participants for point, _, _ in line], _style(index)
                top.plot(count, [1e9 * time / size for _, time, _ in line], **style | {"marker": ""}, label=f"{size:,} floats")
                style |= {"linestyle": ""}
                top.plot(count, [1e9 * point.seconds / size for point, _, _ in line], **style)
                bottom.plot(count, [100 * residual for *_, residual in line], **style)
            top.set_title(benchmark, fontsize=10)
            top.set_yscale("log")
            for formatter in (top.yaxis.set_major_formatter, top.yaxis.set_minor_formatter):
                formatter(FuncFormatter(lambda value, _: f"{value:.10g}"))
            bottom.axhline(0, color="#999999", linewidth=1)
            _dress(top, "", "ns a float")
            _dress(bottom, "participants", "residual, %")
            bottom.xaxis.set_major_locator(MaxNLocator(integer=True))
        figure.suptitle(title, fontsize=11)
        labelled = {label: handle for axes in grid[0] for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)}
        ordered = [f"{size:,} floats" for size in sizes]
        figure.legend([labelled[label] for label in ordered], ordered, loc="outside right upper", frameon=False)
        return _bytes(figure, suffix)


def _alike(timed: Sequence[dict[str, Any]]) -> list[list[str]]:
    """Methods whose times are the same at every size, together: their lines would hide each other."""
    times: dict[str, tuple[tuple[int, int, int], ...]] = {}
    for cell in timed:
        entry = (cell["message_bytes"], cell["time_cycles"], cell.get("simulated_cycles") or 0)
        times[cell["method"]] = (*times.get(cell["method"], ()), entry)
    groups: dict[tuple[tuple[int, int, int], ...], list[str]] = {}
    for name, found in times.items():
        groups.setdefault(found, []).append(name)
    return list(groups.values())


def _draw(left: Any, right: Any, cells: list[dict[str, Any]], label: str, index: int) -> None:
    style = _style(index)
    sizes = [cell["message_bytes"] for cell in cells]
    left.plot(sizes, [cell["time_cycles"] for cell in cells], label=label, **style)
    right.plot(sizes, [float(Fraction(cell["time_over_bound"])) for cell in cells], **style)
    other = [cell for cell in cells if cell.get("simulated_cycles") not in (None, cell["time_cycles"])]
    left.plot(
        [cell["message_bytes"] for cell in other], [cell["simulated_cycles"] for cell in other], "x", color=style["color"]
    )  # fmt: skip


def _style(index: int) -> dict[str, Any]:
    return {
        "color": COLOURS[index % len(COLOURS)],
        "linestyle": LINES[index // len(COLOURS) % len(LINES)],
        "marker": MARKERS[index % len(MARKERS)],
        "markersize": 4.5,
        "linewidth": 1.4,
    }


def _scale(axes: Any, sizes: Sequence[int], label: str) -> None:
    _byte_scale(axes, sizes)
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
    axes.yaxis.set_minor_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}" if axes.get_ylim()[1] < 20 else ""))
    _dress(axes, "message size", label)


def _byte_scale(axes: Any, sizes: Sequence[int]) -> None:
    axes.set_xscale("log", base=2)
    axes.set_xticks(sizes)
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda size, _: size_words(int(size))))
    axes.tick_params(axis="x", rotation=45 if len(sizes) > 6 else 0)


def _dress(axes: Any, x_label: str, y_label: str) -> None:
    axes.set_xlabel(x_label)
    axes.set_ylabel(y_label)
    axes.grid(True, which="major", color="#e3e3e3", linewidth=0.7)
    axes.set_axisbelow(True)


def _bytes(figure: Any, suffix: str) -> bytes:
    buffer = io.BytesIO()
    nothing = {"Date": None, "Creator": None} if suffix == ".svg" else {"Software": None}
    figure.savefig(buffer, format=suffix[1:], metadata=nothing, dpi=150)
    plt.close(figure)
    return buffer.getvalue()
