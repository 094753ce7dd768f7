"""Plots: matplotlib, without a display, the same bytes for the same input."""

import io
from collections.abc import Sequence
from fractions import Fraction
from textwrap import wrap
from typing import Any

from certree.extras.reports.make.plotting import NEEDED
from certree.models.common.errors import ToolMissingError

try:
    import matplotlib as mpl
except ModuleNotFoundError:
    raise ToolMissingError(NEEDED) from None

mpl.use("Agg")  # before pyplot: no display is needed
import matplotlib.pyplot as plt
from matplotlib.ticker import FuncFormatter, MaxNLocator, NullLocator

from certree.api.reports.text import size_words
from certree.extras.costs.model.fitting.fit import Fit
from certree.extras.costs.model.fitting.measurements import BENCHMARKS
from certree.extras.reports.make.figure import Panel, Plot, bound_words

#: colours that tell apart on white, in print and for colour-blind eyes (Okabe and Ito), then line styles
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
LINES = ("-", "--", ":", "-.")
MARKERS = "osD^vP*X<>hd"
WIDEST = 26  # letters of a line of the legend
MOST_LINES = 8  # of methods that have a colour and a name
MOST_BESIDE = 12  # names in a legend at the side of a row of panels; more go below
LINE_INCHES = 0.17  # of the legend at the side
FEW_NAMES = 5  # groups of bars whose names fit side by side
MOST_TICKS = 12  # places of points that are all marked on the axis
STYLE = {"svg.hashsalt": "certree", "svg.fonttype": "path", "font.size": 9, "axes.spines.top": False, "axes.spines.right": False}


def comparison_plot(cells: Sequence[dict[str, Any]], title: str, suffix: str) -> bytes:
    """Time over message size, log-log, and next to it time over the bandwidth bound, one line for each method; bars for one size.

    `cells`: as `certree compare --json` has them; those without a closed-form time are left out. `suffix`: .svg or .png. Full
    marks are closed forms; a cross marks a simulated time that differs from it. Of more than MOST_LINES methods the fastest at the
    largest size have colours; the others are thin and grey.
    """
    timed = [cell for cell in cells if cell.get("time_cycles")]
    if len({cell["message_bytes"] for cell in timed}) == 1:
        return _bars(timed, title, suffix)
    last = max((cell["message_bytes"] for cell in timed), default=0)
    lines = [
        (names, [cell for cell in timed if cell["method"] == names[0]]) for names in _equally_fast(timed)
    ]  # the legend in the order of their right ends
    lines.sort(key=lambda line: [-cell["time_cycles"] for cell in line[1] if cell["message_bytes"] == last])
    slow, lines = lines[: max(0, len(lines) - MOST_LINES)], lines[-MOST_LINES:]
    with mpl.rc_context(STYLE):
        figure, (left, right) = plt.subplots(1, 2, figsize=(12, 5.4), layout="constrained")
        for index, (_, shown) in enumerate(slow):
            _draw(left, right, shown, "" if index else f"{len(slow)} slower at {size_words(last)}", None)
        for index, (names, shown) in enumerate(lines):
            _draw(left, right, shown, "\n".join(wrap(", ".join(names), WIDEST)), index)
        bounds, name = {cell["message_bytes"]: _bound(cell) for cell in timed}, bound_words(timed)
        left.plot(sorted(bounds), [bounds[size] for size in sorted(bounds)], color="#999999", linewidth=4, alpha=0.5,
            label=name, zorder=0,
        )  # fmt: skip
        for axes, label in ((left, "cycles"), (right, f"time / {name}")):
            _scale(axes, sorted({cell["message_bytes"] for cell in timed}), label)
        right.axhline(1, color="#999999", linewidth=4, alpha=0.5, zorder=0)
        figure.suptitle(title, fontsize=11)
        handles, labels = left.get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside right center", frameon=False, handlelength=3.4)
        return _bytes(figure, suffix)


def _bars(timed: Sequence[dict[str, Any]], title: str, suffix: str) -> bytes:
    """One size: a bar for each method, the fastest first; the time bound as a line."""
    shown = sorted(timed, key=lambda cell: int(cell["time_cycles"]), reverse=True)
    names, places = ["\n".join(wrap(cell["method"], WIDEST)) for cell in shown], range(len(shown))
    bound, name = max(_bound(cell) for cell in shown), bound_words(shown)
    with mpl.rc_context(STYLE):
        figure, (left, right) = plt.subplots(1, 2, figsize=(11, 1.8 + 0.34 * len(shown)), layout="constrained", sharey=True)
        for axes, values, least, label in (
            (left, [cell["time_cycles"] for cell in shown], bound, "cycles"),
            (right, [_over(cell) for cell in shown], 1.0, f"time / {name}"),
        ):
            bars = axes.barh(places, values, 0.62, color=COLOURS[0])
            axes.bar_label(bars, [f"{value:,.4g}" if value < 1000 else f"{value:,.0f}" for value in values], padding=3, fontsize=8)
            axes.axvline(least, color="#999999", linewidth=3, alpha=0.6, zorder=0, label=name)
            axes.set_xlim(0, 1.18 * max(values))
            axes.set_yticks(places, names)
            axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
            axes.xaxis.set_major_locator(MaxNLocator(5))
            _dress(axes, label, "")
        other = [(place, cell) for place, cell in zip(places, shown, strict=True) if _differs(cell)]
        left.plot([cell["simulated_cycles"] for _, cell in other], [place for place, _ in other], "x", color=COLOURS[1])
        figure.suptitle(f"{title}, {size_words(shown[0]['message_bytes'])}", fontsize=11)
        left.legend(loc="lower right", frameon=False)
        return _bytes(figure, suffix)


def _bound(cell: dict[str, Any]) -> Any:
    """The time bound that holds for all methods: in an all-gather or reduce-scatter the one for any shares."""
    return cell.get("time_bound_cycles_any_shares", cell["time_bound_cycles"])


def _over(cell: dict[str, Any]) -> float:
    """The time over that bound."""
    return float(Fraction(cell.get("time_over_bound_any_shares", cell["time_over_bound"])))


def _differs(cell: dict[str, Any]) -> bool:
    """Whether a simulated time is known that is not the closed form."""
    return cell.get("simulated_cycles") not in (None, cell["time_cycles"])


def figure_plot(plot: Plot, title: str, suffix: str) -> bytes:
    """The panels of a figure side by side, two to a row, and one legend for all. `suffix`: .svg or .png."""
    names = list(dict.fromkeys(series.name for panel in plot.panels for series in panel.series))
    columns = min(2, len(plot.panels))
    rows = -(-len(plot.panels) // columns)
    with mpl.rc_context(STYLE):
        lines = 0 if len(names) > MOST_BESIDE * rows else sum(len(wrap(name, WIDEST)) for name in names)
        height = max(3.4 * rows + 0.6, LINE_INCHES * lines + 0.8)
        figure, axes = plt.subplots(rows, columns, figsize=(5 * columns + 2, height), layout="constrained", squeeze=False)
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
                loc="outside right center" if len(shown) <= MOST_BESIDE * rows else "outside lower center",
                ncols=1 if len(shown) <= MOST_BESIDE * rows else 2 * columns, frameon=False, handlelength=3.4,
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
        _names(axes, groups)
    elif len(groups) <= MOST_TICKS:
        axes.set_xticks(groups)
    axes.set_yscale(plot.y_scale)
    if plot.y_scale == "linear":
        axes.set_ylim(bottom=0)
    axes.set_title("\n".join(wrap(panel.title, 44)), fontsize=9)
    _dress(axes, plot.x_label, plot.y_label)


def _names(axes: Any, groups: Sequence[Any]) -> None:
    """Names below the groups of bars: in lines where they are few, turned where they would meet."""
    if len(groups) <= FEW_NAMES:
        axes.set_xticks(range(len(groups)), ["\n".join(wrap(str(name), 60 // max(1, len(groups)))) for name in groups])
    else:
        axes.set_xticks(range(len(groups)), groups, rotation=90)


def fit_plot(found: Fit, title: str, suffix: str) -> bytes:
    """Measured (marks) and fitted times (lines) per float of each benchmark over the number of participants, a line for each size;
    residuals below. `suffix`: .svg or .png."""
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
            _dress(top, "", "ns per float")
            _dress(bottom, "participants", "residual, %")
            bottom.xaxis.set_major_locator(MaxNLocator(integer=True))
        figure.suptitle(title, fontsize=11)
        labelled = {label: handle for axes in grid[0] for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)}
        ordered = [f"{size:,} floats" for size in sizes]
        figure.legend([labelled[label] for label in ordered], ordered, loc="outside right center", frameon=False)
        return _bytes(figure, suffix)


def _equally_fast(timed: Sequence[dict[str, Any]]) -> list[list[str]]:
    """Methods whose times are the same at every size, together: their lines would hide each other."""
    times: dict[str, tuple[tuple[int, int, int], ...]] = {}
    for cell in timed:
        entry = (cell["message_bytes"], cell["time_cycles"], cell.get("simulated_cycles") or 0)
        times[cell["method"]] = (*times.get(cell["method"], ()), entry)
    groups: dict[tuple[tuple[int, int, int], ...], list[str]] = {}
    for name, found in times.items():
        groups.setdefault(found, []).append(name)
    return list(groups.values())


def _draw(left: Any, right: Any, cells: list[dict[str, Any]], label: str, index: int | None) -> None:
    style = {"color": "#bbbbbb", "linewidth": 0.8} if index is None else _style(index)
    sizes = [cell["message_bytes"] for cell in cells]
    left.plot(sizes, [cell["time_cycles"] for cell in cells], label=label, **style)
    right.plot(sizes, [_over(cell) for cell in cells], **style)
    other = [cell for cell in cells if _differs(cell)]
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
