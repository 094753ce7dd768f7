"""The plot of a tuning."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from certree.extras.reports.make.figure import Panel, Plot, Series


def plot(table: Mapping[str, Any]) -> Plot:
    """Cycles, and cycles divided by the time bound, at the sizes of the grid: a line for the schedules of each method."""
    points = table["points"]
    names = list(dict.fromkeys(point["method"] for point in points))

    def lines(value: str) -> list[Series]:
        mine = ((name, [point for point in points if point["method"] == name and point[value] is not None]) for name in names)
        return [Series(name, tuple((one["message_bytes"], float(Fraction(one[value]))) for one in those)) for name, those in mine]

    bound = Series(
        "time bound", tuple((one["message_bytes"], one["time_bound_cycles"]) for one in points if one["time_bound_cycles"])
    )
    panels = (Panel("cycles", (*lines("time_cycles"), bound)), Panel("time / time bound", tuple(lines("time_over_bound"))))
    return Plot(panels, x_label="message size", y_label="", x_scale="bytes", y_scale="log")
