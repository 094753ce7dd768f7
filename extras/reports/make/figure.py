"""Contents of plots: panels of series."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Series:
    """One line, or one bar of each group: (x, y); x is a number, or the name of a group."""

    name: str
    points: tuple[tuple[float | str, float], ...]


@dataclass(frozen=True)
class Panel:
    """One set of axes."""

    title: str
    series: tuple[Series, ...]


@dataclass(frozen=True)
class Plot:
    """A plot of panels: `x_scale` "bytes" (powers of two), "log", "linear", or "names" for bars; `y_scale` "log" or "linear"."""

    panels: tuple[Panel, ...]
    x_label: str
    y_label: str
    x_scale: str = "linear"
    y_scale: str = "linear"


def bound_words(cells: Sequence[Mapping[str, Any]]) -> str:
    """The name of the bound that cells of `compare` are measured by."""
    return "time bound" + " (any shares)" * any("time_bound_cycles_any_shares" in cell for cell in cells)
