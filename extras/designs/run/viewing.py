"""The interactive view of a cell's schedule: a worker makes it with the cell, the folder has it as a page of its own."""

from collections.abc import Mapping
from typing import Any

from certree.extras.reports.explorer.page import explorer_page
from certree.extras.sweeps.run.measure import VALID, comparison_of, measured
from certree.models.schedule.made_for import MadeFor

VIEW = "view"  # of a result: the page


def measured_and_viewed(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """A cell as `measure` returns it, and the page of its schedule, where it is valid."""
    comparison = comparison_of(arguments)
    found = measured(comparison, arguments)
    if found["status"] != VALID:
        return found
    (schedule,) = comparison.schedules
    used = MadeFor(arguments["size"], comparison.machine)
    return found | {VIEW: explorer_page(schedule, used, schedule.title())}
