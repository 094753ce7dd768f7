"""Recomputed figures and tables of papers, compared with the numbers in the paper's text."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from certree.api.reports.text import one_line
from certree.api.workers import Workers
from certree.extras.papers.target import Compared, Target, compared, load_target, table_csv, table_markdown
from certree.extras.reports.make.figure import Plot
from certree.extras.reports.make.plotting import can_plot
from certree.extras.workers.batch import run_tasks
from certree.extras.workers.store import Store
from certree.models.common.errors import InputError
from certree.models.common.files import canonical_json, write_atomically
from certree.models.common.shown import Shown


@dataclass(frozen=True, repr=False)
class Reproduced(Shown):
    """A target with its cells. `plot`: the plot of the figure, None for a table. `cpu_seconds`: CPU time of the cells, those
    of earlier runs included; None where nothing had to be computed."""

    target: Target
    cells: tuple[Compared, ...]
    plot: Plot | None
    tasks: int
    cpu_seconds: float

    def title(self) -> str:
        """The name of the target."""
        return self.target.name

    def facts(self) -> dict[str, object]:
        """Number of cells, and of those that agree with the paper."""
        comparable = [cell for cell in self.cells if cell.agrees is not None]
        agree = sum(bool(cell.agrees) for cell in comparable)
        return {"cells": len(self.cells), "agree with the paper": f"{agree} of {len(comparable)}"}

    def table(self) -> str:
        """The table in Markdown."""
        return table_markdown(self.target, self.cells)

    def _repr_markdown_(self) -> str:
        return self.table()

    def _repr_html_(self) -> None:
        return None

    def plotted(self, suffix: str) -> bytes:
        """The figure as .svg or .png; InputError for a table."""
        from certree.extras.reports.make.plots import figure_plot

        if self.plot is None:
            raise InputError(f"{self.target.name} is a table and has no plot")
        return figure_plot(self.plot, self.target.heading, suffix)


def reproduce(
    target: str,
    *,
    networks: Sequence[str] = (),
    smoke: bool = False,
    workers: int | Workers | None = None,
    output: str | Path | None = None,
    progress: Callable[[str], None] | None = None,
) -> Reproduced:
    """Compute every cell of a figure or table of a paper, exactly.

    Parameters
    ----------
    target : str
        One of `names()["targets"]`, or a TOML file.
    networks : sequence of str
        In place of those of the target.
    smoke : bool
        Whether only a subset is computed, which takes seconds.
    workers : int or Workers, optional
        As in `sweep`.
    output : str or path, optional
        A folder for table.md, table.csv, cells.json, target.toml, the plot, and finished cells. The same call resumes from it after
        an interruption.
    progress : callable, optional
        Receives a line for each cell.

    Returns
    -------
    Reproduced

    Raises
    ------
    InputError
        For a target that is unknown or malformed.

    Examples
    --------
    >>> import certree.api as ct
    >>> ct.reproduce("multitree-fig2", smoke=True, workers=1)
    <Reproduced multitree-fig2: cells 2, agree with the paper 1 of 1>
    """
    asked = load_target(target)
    if networks:
        asked = asked.on(networks)
    if smoke:
        asked = asked.smoke()
    folder = None if output is None else Path(output)
    store = None if folder is None else Store(folder)
    tasks = asked.experiment.tasks()
    done = run_tasks(tasks, Workers.of(workers), store, progress or (lambda _text: None))
    results = asked.experiment.cells(done.results)
    found = Reproduced(asked, tuple(compared(asked, results)), asked.experiment.plot(results), len(tasks), done.cpu_seconds)
    if folder is not None:
        _write(folder, found, [f"--topology {network}" for network in networks] + ["--smoke"] * smoke)
    return found


def _write(output: Path, found: Reproduced, changes: Sequence[str]) -> None:
    banner = f"# Run with {one_line(' '.join(changes))}\n".encode() if changes else b""
    files = {
        "table.md": found.table().encode(),
        "table.csv": table_csv(found.cells).encode(),
        "cells.json": canonical_json([entry.document() for entry in found.cells]),
        "target.toml": banner + found.target.source,
    }
    if found.plot is not None and can_plot():
        files |= {f"plot{suffix}": found.plotted(suffix) for suffix in (".svg", ".png")}
    for name, data in files.items():
        write_atomically(output / name, data, force=True)
