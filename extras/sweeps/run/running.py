"""A sweep: cells on workers, kept in a folder, and its table and plots."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from certree.api.settings import silent
from certree.api.workers import Workers
from certree.extras.reports.make.plotting import can_plot
from certree.extras.sweeps.run.cells import run_cells
from certree.extras.sweeps.run.estimate import estimated_seconds
from certree.extras.sweeps.run.measure import FAILED, INVALID, MISSING
from certree.extras.sweeps.run.plan import Cell, SweepPlan
from certree.extras.sweeps.run.results.table import frame_of, plottable, write_csv, write_parquet
from certree.extras.sweeps.run.specification import read_specification
from certree.extras.workers.store import Store, claim, is_claimed
from certree.extras.workers.task import Outcome
from certree.models.common.files import write_atomically
from certree.models.common.shown import Shown

SPECIFICATION, TABLE, PARQUET, PLOTS = "specification.json", "table.csv", "table.parquet", "plots"
WHAT = "a sweep"


@dataclass(frozen=True, repr=False)
class PlannedSweep(Shown):
    """The cells of a sweep before it runs: how many are there already, and an estimate of the CPU seconds of the others.
    `unmeasured`: cells whose estimate is a rough rule, since none like them was measured."""

    plan: SweepPlan
    present: int
    cpu_seconds: float
    unmeasured: int

    def title(self) -> str:
        """The title of the specification."""
        return self.plan.specification.title

    def facts(self) -> dict[str, object]:
        """Number of cells, and of those that are there."""
        return {"cells": len(self.plan.cells), "present": self.present}


@dataclass(frozen=True, repr=False)
class Swept(Shown):
    """A sweep that is done. `counts`: cells by status; `cpu_seconds`: of all of them, those of earlier runs included; `ran`: cells
    that this call computed; `has_parquet`: whether table.parquet was written."""

    plan: SweepPlan
    folder: Path
    counts: Mapping[str, int]
    cpu_seconds: float
    ran: int
    has_parquet: bool

    def title(self) -> str:
        """The title of the specification."""
        return self.plan.specification.title

    def facts(self) -> dict[str, object]:
        """Cells by status."""
        return {"cells": len(self.plan.cells), **self.counts}

    @property
    def exit_code(self) -> int:
        """3 where a cell failed, else 1 where a schedule is invalid, else 0."""
        return 3 if self.counts.get(FAILED) else int(bool(self.counts.get(INVALID)))

    def frame(self) -> Any:
        """The rows as a DataFrame of pandas, with floats next to exact texts as in table.csv; ToolMissingError without pandas."""
        return frame_of([plottable(row) for row in self.rows()])

    def rows(self) -> Iterator[dict[str, Any]]:
        """The cells with their results, in the order of the specification, as in table.csv; no entry where there is no value."""
        yield from _rows(self.plan, Store(self.folder))


def plan_sweep(specification: str | Path | Mapping[str, Any], output: str | Path | None = None) -> PlannedSweep:
    """The cells of a sweep, and an estimate of the time that those take that `output` does not hold yet.

    Nothing is written.

    Parameters
    ----------
    specification, output
        As in `sweep`.

    Returns
    -------
    PlannedSweep

    Raises
    ------
    InputError
        As `sweep`.

    Examples
    --------
    >>> import certree.api as ct
    >>> ct.plan_sweep({"networks": ["ring:4", "ring:8"], "sizes": ["1KiB", "1MiB"], "methods": ["ring"]})
    <PlannedSweep Sweep: cells 4, present 0>
    """
    plan = SweepPlan(read_specification(specification))
    if output is None or not is_claimed(Path(output), SPECIFICATION, plan.specification.document, WHAT):
        return PlannedSweep(plan, 0, *estimated_seconds(plan, list(plan.by_key.values()), {}))
    store = Store(Path(output))
    left = [cell for key, cell in plan.by_key.items() if store.load(key) is None]
    present = len(plan.by_key) - len(left)
    return PlannedSweep(plan, present, *estimated_seconds(plan, left, store.cpu_seconds()))


def sweep(
    specification: str | Path | Mapping[str, Any],
    output: str | Path,
    *,
    workers: int | Workers | None = None,
    retry: bool = False,
    progress: Callable[[str], None] | None = None,
) -> Swept:
    """Make, verify and simulate a schedule for every combination of networks, collectives, sizes, methods and more.

    Every cell has a process of its own: one that fails is a row with the status "failed" and its message. All files but times.csv
    are the same bytes wherever cells ran.

    Parameters
    ----------
    specification : str, path or dict
        A TOML file (`sweep_example` is one), or its fields.
    output : str or path
        A folder for table.csv, plots, table.parquet where pyarrow is installed, and a file for each cell. The same call resumes
        from it after an interruption.
    workers : int or Workers, optional
        Processes, by default one for each core, or `Workers` of a cluster.
    retry : bool
        Whether cells that failed in earlier calls are repeated.
    progress : callable, optional
        Receives lines of progress.

    Returns
    -------
    Swept

    Raises
    ------
    InputError
        Before anything runs, for a specification that is malformed or has a combination that cannot work, a folder with results of
        another one, and a scheduler that cannot be reached.

    Examples
    --------
    >>> import certree.api as ct
    >>> ct.sweep({"networks": ["ring:4"], "sizes": ["1KiB"], "methods": ["ring", "hdrm"]}, "rings", workers=1)
    <Swept Sweep: cells 2, not applicable 1, valid 1>
    """
    plan, folder, tell = SweepPlan(read_specification(specification)), Path(output), progress or silent
    store, asked = claim(folder, SPECIFICATION, plan.specification.document, WHAT), Workers.of(workers)
    left = [cell for cell in plan.by_key.values() if _is_due(store.load(cell.key), retry=retry)]
    try:
        run_cells(
            map(plan.task, left), len(left), lambda task, outcome: _kept(plan.by_key[task.key], outcome), asked, store, tell,
            len(plan.by_key) - len(left),
        )  # fmt: skip
    except KeyboardInterrupt:
        if any(row["status"] != MISSING for row in _rows(plan, store)):
            tell("interrupted; writing the table and plots of what is done")
            _write(plan, store)
        raise
    counts = Counter(row["status"] for row in _rows(plan, store))
    tell("writing the table and plots")
    has_parquet = _write(plan, store)
    seconds = store.cpu_seconds()
    total = sum(seconds.get(key, 0.0) for key in plan.by_key)
    return Swept(plan, folder, dict(sorted(counts.items())), total, len(left), has_parquet)


def _is_due(known: Mapping[str, Any] | None, *, retry: bool) -> bool:
    return known is None or "status" not in known or (retry and known["status"] == FAILED)


def _kept(cell: Cell, outcome: Outcome) -> dict[str, Any]:
    """The contents of a cell's file, without facts of the computer."""
    found = outcome.result or {"status": FAILED, "message": outcome.error}
    return {name: value for name, value in asdict(cell).items() if name != "key"} | found


def _rows(plan: SweepPlan, store: Store) -> Iterator[dict[str, Any]]:
    for cell in plan.cells:
        known = store.load(cell.key)
        yield (known or {"status": MISSING, "message": "not run yet"}) | asdict(cell)


def _write(plan: SweepPlan, store: Store) -> bool:
    write_csv(_rows(plan, store), store.folder / TABLE)
    if can_plot():
        _write_plots(plan, store)
    return write_parquet(_rows(plan, store), store.folder / PARQUET)


def _write_plots(plan: SweepPlan, store: Store) -> None:
    from certree.extras.reports.make.plots import figure_plot
    from certree.extras.sweeps.run.results.figures import figures

    plots = store.folder / PLOTS
    plots.mkdir(exist_ok=True)
    for axis, (title, plot) in figures(_rows(plan, store)).items():
        write_atomically(plots / f"{axis}.svg", figure_plot(plot, f"{plan.specification.title}: {title}", ".svg"), force=True)
