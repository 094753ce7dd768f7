"""Charts as pictures for slides: SVG and PNG by matplotlib, the same bytes for the same numbers."""

import io
from collections.abc import Sequence
from textwrap import wrap
from typing import Any

import matplotlib as mpl

mpl.use("Agg")  # before pyplot: no display is needed
import matplotlib.pyplot as plt
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from certree.api.reports.text import size_words
from certree.extras.designs.make.charts import BYTES, LOG, NAMES, Chart
from certree.extras.reports.make.plots import COLOURS, LINE_INCHES, LINES, MARKERS, STYLE

BROAD = 5.6  # inches of a chart
NAME = 24  # letters of a line of the legend
DECADES = 2000  # up to this ratio of the most to the least a logarithmic axis has marks at 1, 2 and 5
TICKS = 8  # sizes that are marked on an axis


def figure_files(charts: Sequence[Chart], networks: Sequence[str]) -> dict[str, bytes]:
    """The figure of some charts as .svg and .png, two charts to a row, with one legend at the side."""
    found = {}
    with mpl.rc_context({**STYLE, "text.parse_math": False}):  # names may have a $
        figure = figure_of(charts, networks)
        figure.canvas.draw()
        figure.set_layout_engine("none")  # places are known now, and are the same in both files
        for suffix, nothing in ((".svg", {"Date": None, "Creator": None}), (".png", {"Software": None})):
            buffer = io.BytesIO()
            figure.savefig(buffer, format=suffix[1:], metadata=nothing, dpi=150)
            found[suffix] = buffer.getvalue()
        plt.close(figure)
    return found


def figure_of(charts: Sequence[Chart], networks: Sequence[str]) -> Any:
    """The figure; its texts keep apart, since axes and legend have room of their own."""
    columns = min(2, len(charts))
    rows = -(-len(charts) // columns)
    lines = sum(len(wrap(name, NAME, break_long_words=True)) for name in networks)
    size = BROAD * columns + 2, max(3.8 * rows, LINE_INCHES * lines + 0.6)
    figure, grid = plt.subplots(rows, columns, figsize=size, layout="constrained", squeeze=False)
    handles: dict[str, Any] = {}
    for axes, chart in zip(grid.flat, charts, strict=False):
        handles |= _draw(axes, chart, networks)
    for axes in grid.flat[len(charts) :]:
        axes.set_visible(False)
    shown = [name for name in networks if name in handles]
    words = ["\n".join(wrap(name, NAME, break_long_words=True)) for name in shown]
    figure.legend([handles[name] for name in shown], words, loc="outside right center", frameon=False, handlelength=3)
    return figure


def _draw(axes: Any, chart: Chart, networks: Sequence[str]) -> dict[str, Any]:
    """Draw a chart; what stands for each network in a legend."""
    handles: dict[str, Any] = {}
    groups = list(dict.fromkeys(x for curve in chart.curves for x, _ in curve.points))
    for curve in chart.curves:
        if not curve.points:
            continue
        index = networks.index(curve.network)
        colour, values = COLOURS[index % len(COLOURS)], [y for _, y in curve.points]
        if chart.x_scale == NAMES:
            width = 0.8 / len(networks)
            places = [groups.index(x) + (index - (len(networks) - 1) / 2) * width for x, _ in curve.points]
            handles[curve.network] = axes.bar(places, values, width, color=colour)
            continue
        places = [float(x) for x, _ in curve.points]
        if curve.low:
            axes.fill_between(places, curve.low, curve.high, color=colour, alpha=0.15, linewidth=0)
        (handles[curve.network],) = axes.plot(
            places, values, color=colour, marker=MARKERS[index % len(MARKERS)], markersize=4.5, linewidth=1.4,
            linestyle=LINES[index // len(COLOURS) % len(LINES)],
        )  # fmt: skip
    _scale(axes, chart, groups)
    title = "\n".join(wrap(chart.title, 52))
    note = "\n".join(wrap(f"({chart.note})", 60, break_on_hyphens=False))
    axes.set_title(f"{title}\n{note}" if chart.note else title, fontsize=9)
    axes.set_xlabel(chart.x_label)
    axes.set_ylabel(chart.y_label)
    axes.grid(True, which="major", color="#e3e3e3", linewidth=0.7)
    axes.set_axisbelow(True)
    return handles


def _scale(axes: Any, chart: Chart, groups: Sequence[float | str]) -> None:
    if chart.y_scale == LOG:
        axes.set_yscale("log")
        low, high = axes.get_ylim()
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if high < DECADES * low else (1,)))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
        axes.yaxis.set_minor_locator(NullLocator())
    else:
        axes.set_ylim(bottom=0)
    if chart.x_scale == NAMES:
        axes.set_xticks(range(len(groups)), ["\n".join(wrap(str(name), 14, break_long_words=True)) for name in groups])
        return
    if chart.x_scale in (BYTES, LOG):
        axes.set_xscale("log", base=2)
        axes.xaxis.set_minor_locator(NullLocator())
    places = sorted(float(place) for place in groups)
    marked = places[:: -(-len(places) // TICKS)]
    axes.set_xticks(marked, [size_words(int(place)) if chart.x_scale == BYTES else f"{place:g}" for place in marked])
