"""Methods that were compared, on one network or several."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from certree.api.reports.text import counted, size_words
from certree.extras.reports.make.figure import Panel, Plot, Series
from certree.extras.sweeps.run.results.table import frame_of, plottable
from certree.models.common.shown import Shown
from certree.models.machine.machine import Machine
from certree.models.network.topology import Topology
from certree.models.schedule.collective import Collective


@dataclass(frozen=True, repr=False)
class ComparedMethods(Shown):
    """Methods at several sizes: a JSON object for each, as `certree compare --json` has them; exact numbers as texts."""

    topology: Topology
    collective: Collective
    machine: Machine
    cells: tuple[dict[str, Any], ...]

    def facts(self) -> dict[str, object]:
        """Cycles by size and method."""
        return {f"{size_words(cell['message_bytes'])} {cell['method']}": outcome_words(cell) for cell in self.cells}

    def frame(self) -> Any:
        """The cells as a DataFrame of pandas, with floats next to exact texts as in table.csv of a sweep; ToolMissingError without
        pandas."""
        return frame_of(self.rows())

    def rows(self) -> list[dict[str, Any]]:
        """The cells with network, collective, and floats next to exact texts."""
        return [plottable({"network": self.topology.name, "collective": self.collective.name, **cell}) for cell in self.cells]

    def plotted(self, suffix: str) -> bytes:
        """The plot as .svg or .png: time, and time over the bandwidth bound, over the size."""
        from certree.extras.reports.make.plots import comparison_plot

        return comparison_plot(self.cells, f"{self.title()}, machine {self.machine.name}", suffix)


@dataclass(frozen=True, repr=False)
class ComparedNetworks(Shown):
    """Comparisons on several networks, in their order, for one plot and one table."""

    of: tuple[ComparedMethods, ...]

    def __iter__(self) -> Iterator[ComparedMethods]:
        return iter(self.of)

    def title(self) -> str:
        """The collective and how many networks."""
        return f"{self.of[0].collective.words} on {counted(len(self.of), 'networks')}"

    def facts(self) -> dict[str, object]:
        """Cycles by network, size and method."""
        return {f"{found.topology.name} {name}": value for found in self.of for name, value in found.facts().items()}

    def frame(self) -> Any:
        """The cells of all networks as a DataFrame of pandas, as that of one; ToolMissingError without pandas."""
        return frame_of([row for found in self.of for row in found.rows()])

    def plotted(self, suffix: str) -> bytes:
        """The plot as .svg or .png: time over the size, a line for each method on each network, on one pair of axes."""
        from certree.extras.reports.make.plots import figure_plot

        lines: dict[str, dict[int, float]] = {}
        for found in self.of:
            for cell in found.cells:
                if cell.get("seconds"):
                    points = lines.setdefault(f"{cell['method']} on {found.topology.name}", {})
                    points[cell["message_bytes"]] = float(Fraction(cell["seconds"]) * 10**6)
        series = tuple(Series(name, tuple(sorted(points.items()))) for name, points in lines.items())
        plot = Plot((Panel("", series),), "message size", "µs", x_scale="bytes", y_scale="log")
        return figure_plot(plot, self.title(), suffix)


def outcome_words(cell: dict[str, Any]) -> str:
    """The result of one method at one size, in a few words."""
    cycles = cell.get("time_cycles")
    return cell.get("not_applicable") or cell.get("refuted") or f"{'-' if cycles is None else f'{cycles:,}'} cycles"
