"""Curves and bars of all networks on common axes, from rows."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import median
from typing import Any

from certree.api.reports.text import size_words
from certree.extras.designs.model.bill import Bill
from certree.extras.designs.model.cells import FAILURES, GRID, SENSITIVITY, TRAINING
from certree.extras.designs.model.rows import Row, timed
from certree.extras.sweeps.run.measure import VALID

Point = tuple[float | str, float]
BYTES, LOG, LINEAR, NAMES = "bytes", "log", "linear", "names"


@dataclass(frozen=True)
class Curve:
    """The points of a network; `low` and `high`: of a band around them, at the same places."""

    network: str
    points: tuple[Point, ...]
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()


@dataclass(frozen=True)
class Chart:
    """One pair of axes. `figure`: charts of one figure stand side by side. `x_scale`: "bytes", "log", "linear", or "names" for
    bars; `note`: what is left out."""

    figure: str
    title: str
    x_label: str
    y_label: str
    curves: tuple[Curve, ...]
    x_scale: str = LINEAR
    y_scale: str = LINEAR
    note: str = ""

    def document(self) -> dict[str, Any]:
        """Plain JSON for the page."""
        return {
            "figure": self.figure, "title": self.title, "x_label": self.x_label, "y_label": self.y_label,
            "x_scale": self.x_scale, "y_scale": self.y_scale, "note": self.note,
            "curves": [
                {"network": one.network, "points": one.points, "low": one.low, "high": one.high} for one in self.curves
            ],
        }  # fmt: skip


def charts_of(
    rows: Sequence[Row], networks: Sequence[str], bills: Mapping[str, Mapping[str, Bill]], currencies: Mapping[str, str]
) -> list[Chart]:
    """All charts that have a point. `bills` and `currencies`: by cost model."""
    found = [*_throughput(rows, networks), *_sensitivity(rows, networks), *_failures(rows, networks), *_training(rows, networks)]
    found += [_costs(name, networks, of, currencies[name]) for name, of in bills.items()]
    return [chart for chart in found if any(curve.points for curve in chart.curves)]


def _throughput(rows: Sequence[Row], networks: Sequence[str]) -> list[Chart]:
    found = []
    grid = timed(rows, GRID)
    for collective in dict.fromkeys(row["collective"] for row in rows if row["part"] == GRID):
        of = [row for row in grid if row["collective"] == collective]
        lost = sum(row["part"] == GRID and row["collective"] == collective for row in rows) - len(of)
        note = f"{lost} cells without a time are not drawn" if lost else ""
        for column, label, factor, scale in (
            ("busbw_GBps", "busbw, GB/s", 1, LINEAR),
            ("algbw_GBps", "algbw, GB/s", 1, LINEAR),
            ("seconds", "time, µs", 10**6, LOG),
            ("time_over_bound", "time / time bound", 1, LINEAR),
        ):
            curves = [
                Curve(
                    name,
                    tuple(
                        (row["size_bytes"], factor * row[column])
                        for row in sorted(of, key=lambda row: int(row["size_bytes"]))
                        if row["network"] == name and row[column] is not None
                    ),
                )
                for name in networks
            ]
            title = f"{collective}: {label.partition(',')[0]}"
            found.append(Chart(f"throughput-{_slug(collective)}", title, "message size", label, tuple(curves), BYTES, scale, note))
    return found


def _slug(text: str) -> str:
    return "".join(letter if letter.isalnum() else "-" for letter in text)


def _sensitivity(rows: Sequence[Row], networks: Sequence[str]) -> list[Chart]:
    """Time over that of the network as it is, for each collective."""
    found, timed_rows = [], timed(rows, SENSITIVITY)
    axes = (
        ("rate_factor", "latency_factor", "link rate, as a factor"),
        ("latency_factor", "rate_factor", "latency, as a factor"),
    )
    for collective in dict.fromkeys(row["collective"] for row in timed_rows):
        for axis, other, label in axes:
            of = [row for row in timed_rows if row["collective"] == collective and row[other] == 1]
            curves = []
            for name in networks:
                times = {row[axis]: row["seconds"] for row in of if row["network"] == name}
                if 1.0 in times and len(times) > 1:
                    curves.append(Curve(name, tuple((factor, times[factor] / times[1.0]) for factor in sorted(times))))
            if curves:
                title = f"Time by {label}: {collective} of {size_words(of[0]['size_bytes'])}, by {of[0]['method']}"
                found.append(Chart("sensitivity", title, label, "time / time as it is", tuple(curves), LOG))
    return found


def _failures(rows: Sequence[Row], networks: Sequence[str]) -> list[Chart]:
    """The median of the draws, with a band from the least to the most: busbw, and time over that of the whole network."""
    of = timed(rows, FAILURES)
    lost = sum(row["part"] == FAILURES for row in rows) - len(of)
    note = "draws that leave the network connected" + (f"; {lost} cells without a time are not drawn" if lost else "")
    found = []
    for collective in dict.fromkeys(row["collective"] for row in of):
        rates, ratios = [], []
        for name in networks:
            mine = [row for row in of if row["network"] == name and row["collective"] == collective]
            by_number = {
                number: [row for row in mine if row["dead_links"] == number] for number in {row["dead_links"] for row in mine}
            }
            rates.append(_banded(name, {number: [row["busbw_GBps"] for row in each] for number, each in by_number.items()}))
            if 0 in by_number:
                whole = by_number[0][0]["seconds"]
                ratios.append(
                    _banded(name, {number: [row["seconds"] / whole for row in each] for number, each in by_number.items()})
                )
        words = f"{collective} of {size_words(of[0]['size_bytes'])} by {of[0]['method']}"
        common = ("failures" if len({row["collective"] for row in of}) == 1 else f"failures-{_slug(collective)}",)
        found += [
            Chart(*common, f"Dead links: {words}", "dead links", "busbw, GB/s", tuple(rates), note=note),
            Chart(*common, "Dead links: median, and all draws", "dead links", "time / time without", tuple(ratios), note=note),
        ]
    return found


def _banded(name: str, values: Mapping[int, Sequence[float]]) -> Curve:
    numbers = sorted(values)
    return Curve(
        name,
        tuple((number, median(values[number])) for number in numbers),
        tuple(min(values[number]) for number in numbers),
        tuple(max(values[number]) for number in numbers),
    )


def _training(rows: Sequence[Row], networks: Sequence[str]) -> list[Chart]:
    of = [row for row in rows if row["part"] == TRAINING and row["status"] == VALID]
    beyond = ", ".join(dict.fromkeys(row["workload"] for row in of if row["message"]))
    note = f"some all-reduces are beyond the sizes of the grid: {beyond}" if beyond else ""
    found = []
    for column, label in (("iteration_seconds", "iteration, ms"), ("exposed_seconds", "exposed communication, ms")):
        curves = [
            Curve(name, tuple((row["workload"], 1000 * row[column]) for row in of if row["network"] == name)) for name in networks
        ]
        found.append(Chart("training", f"Training: {label.partition(',')[0]}", "workload", label, tuple(curves), NAMES, note=note))
    return found


def _costs(model: str, networks: Sequence[str], bills: Mapping[str, Bill], currency: str) -> Chart:
    groups = ("ports", "switches", "cables")
    curves = [
        Curve(
            name,
            (*((group, _thousands(bills[name].cost_of(group))) for group in groups), ("energy", _thousands(bills[name].energy))),
        )
        for name in networks
    ]
    return Chart("costs", f"Cost by {model}", "part", f"cost, thousand {currency}", tuple(curves), NAMES)


def _thousands(value: Fraction) -> float:
    return float(value / 1000)


def figures(charts: Iterable[Chart]) -> dict[str, list[Chart]]:
    """Charts by their figure."""
    found: dict[str, list[Chart]] = {}
    for chart in charts:
        found.setdefault(chart.figure, []).append(chart)
    return found
