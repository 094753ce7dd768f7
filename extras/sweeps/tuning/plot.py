"""The plot of a tuning."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from certree.extras.reports.make.figure import Panel, Plot, Series


def plot(table: Mapping[str, Any]) -> Plot:
    """Cycles, and cycles divided by the time bound, at the sizes of the grid: a line for the schedules of each method. The bound
    holds for all of them: in an all-gather or reduce-scatter it is the one for any shares."""
    points = table["points"]
    names = list(dict.fromkeys(point["method"] for point in points))

    def lines(value: str) -> list[Series]:
        mine = ((name, [point for point in points if point["method"] == name and point[value] is not None]) for name in names)
        return [Series(name, tuple((one["message_bytes"], float(Fraction(one[value]))) for one in those)) for name, those in mine]

    end = "_any_shares" * any("time_bound_cycles_any_shares" in point for point in points)
    name, key = "time bound" + " (any shares)" * bool(end), f"time_bound_cycles{end}"
    bound = Series(name, tuple((one["message_bytes"], one[key]) for one in points if one[key]))
    panels = (Panel("cycles", (*lines("time_cycles"), bound)), Panel(f"time / {name}", tuple(lines(f"time_over_bound{end}"))))
    return Plot(panels, x_label="message size", y_label="", x_scale="bytes", y_scale="log")
