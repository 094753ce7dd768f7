"""The interactive view of a schedule in a cell of a notebook."""

from dataclasses import dataclass
from html import escape
from pathlib import Path

from certree.api.inputs import schedule_of
from certree.api.parsing import Network
from certree.api.settings import setting
from certree.extras.reports.explorer.page import explorer_page
from certree.models.common.files import Opened
from certree.models.machine.machine import Machine
from certree.models.schedule.collective import Collective
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule
from certree.models.tables.tables import Tables

_HEIGHT = 860  # pixels of the cell


@dataclass(frozen=True)
class Explorer:
    """The interactive view of a schedule: a notebook shows it; `html` is the page."""

    html: str

    def _repr_html_(self) -> str:
        """The page in a frame, which may run its scripts and reach nothing else."""
        frame = f'sandbox="allow-scripts" title="Transfers over time" style="width: 100%; height: {_HEIGHT}px; border: 0"'
        return f'<iframe {frame} srcdoc="{escape(self.html)}"></iframe>'


def explore(
    schedule: "str | Path | Opened | AnySchedule | Tables",
    *,
    topology: Network | None = None,
    collective: str | Collective | None = None,
    root: int | None = None,
    size: int | str | None = None,
    machine: str | Path | Machine | None = None,
    title: str | None = None,
) -> Explorer:
    """The interactive view of a schedule or tables, which a notebook shows below the cell: transfers step by step, filtered by
    chunk, channel or node.

    `schedule`: a schedule, tables, a file or a tables directory; `topology`, `collective` and `root`: as in `load`, for a CSV.
    `size` and `machine`: for cycles, by default what the schedule was made for. `title`: instead of the usual one.
    `draw(schedule, "F.html")` writes the same page. Raises InputError for unreadable input. Time and memory as the checker.

    >>> import certree.api as ct
    >>> view = ct.explore(ct.synthesize("ring:4", size="1MiB"))
    >>> view.html.startswith("<!DOCTYPE html>")
    True
    """
    found = schedule_of(schedule, topology, collective, root)
    return Explorer(explorer_page(found, setting(found, size, machine), title or found.title()))
