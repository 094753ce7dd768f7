"""The interactive view of a schedule in a cell of a notebook."""

from dataclasses import dataclass
from html import escape
from pathlib import Path

from certree.api.inputs import schedule_of
from certree.api.parsing import Network
from certree.api.settings import setting
from certree.extras.reports.explorer.page import explorer_page
from certree.models.common.errors import InputError
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
    """The interactive view of a schedule or tables, for a cell of a notebook: transfers, filtered by chunk, channel or node.

    `draw(schedule, "F.html")` writes the same page. Time and memory are those of the checker.

    Parameters
    ----------
    schedule : Schedule, Tables, str or path
        A schedule, tables, a file or a folder of tables.
    topology, collective, root
        As in `load`, for a CSV.
    size, machine
        For cycles; by default what the schedule was made for.
    title : str, optional
        Instead of the usual one.

    Returns
    -------
    Explorer
        A notebook shows it below the cell; `html` is the page.

    Raises
    ------
    InputError
        For input that cannot be read, and for `topology`, `collective` and `root` with a schedule that is not in a file.

    Examples
    --------
    >>> import certree.api as ct
    >>> view = ct.explore(ct.synthesize("ring:4", size="1MiB"))
    >>> view.html.startswith("<!DOCTYPE html>")
    True
    """
    if not isinstance(schedule, str | Path | Opened) and (topology, collective, root) != (None, None, None):
        raise InputError("topology, collective and root are for a CSV; this schedule states its own")
    found = schedule_of(schedule, topology, collective, root)
    return Explorer(explorer_page(found, setting(found, size, machine), title or found.title()))
