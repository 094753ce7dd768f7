"""Compare designs: cells on workers, kept in a folder, and what the folder says of them at any time."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from certree.api.reports.text import size_words
from certree.api.settings import silent
from certree.api.workers import Workers
from certree.extras.designs.make.charts import figures
from certree.extras.designs.make.compared import ComparedDesigns
from certree.extras.designs.model.bill import bill_of
from certree.extras.designs.model.cells import GRID, DesignCell
from certree.extras.designs.model.rows import CUT, Row, csv_of, read_rows, row_of, timed, write_rows
from certree.extras.designs.model.specification import read_designs
from certree.extras.designs.model.structure import structure_of
from certree.extras.designs.run.plan import DesignsPlan
from certree.extras.designs.run.training_cell import from_grid
from certree.extras.designs.run.viewing import VIEW
from certree.extras.reports.make.plotting import can_plot
from certree.extras.sweeps.run.cells import Seldom, run_cells
from certree.extras.sweeps.run.measure import FAILED, MISSING, VALID
from certree.extras.workers.store import Store, claim
from certree.extras.workers.task import TIMED_OUT, Outcome, Task
from certree.models.common.errors import InputError
from certree.models.common.files import write_atomically

SPECIFICATION, TABLE, NETWORKS, PAGE = "specification.json", "cells.csv", "networks.csv", "index.html"
WHAT = "a comparison of designs"


def designs(
    specification: str | Path | Mapping[str, Any],
    output: str | Path,
    *,
    workers: int | Workers | None = None,
    retry: bool = False,
    progress: Callable[[str], None] | None = None,
    interrupted: Callable[[ComparedDesigns], None] | None = None,
) -> ComparedDesigns:
    """Compare networks by performance, failures, training time and cost, and rank them with reasons.

    What is not computed yet, failed or was cut is a row with its status.

    Parameters
    ----------
    specification : str, path or dict
        A TOML file, or its fields: `networks`, `collectives`, `sizes`, `method`, and tables `failures`, `sensitivity` and
        `training`.
    output : str or path
        A folder for index.html, pictures (.svg, .png), cells.csv, networks.csv, a page in views for each network, with the
        interactive view of a schedule, and a file for each cell. Tables and page are rewritten from time to time while cells run.
        The same call resumes after an interruption.
    workers, retry, progress
        As in `sweep`.
    interrupted : callable, optional
        Receives what is done on an interrupt, when the folder has it, before KeyboardInterrupt goes on.

    Returns
    -------
    ComparedDesigns

    Raises
    ------
    InputError
        Before anything runs, for a specification that is malformed or has a combination that cannot work, a part that a cost model
        does not have, and networks of different sizes where they are compared for equal endpoints.

    Examples
    --------
    >>> import certree.api as ct
    >>> found = ct.designs({"networks": ["ring:4", "full:4"], "sizes": ["1KiB", "1MiB"], "method": "multitree"}, "four", workers=1)
    >>> [place.network for place in found.rankings[0].places]
    ['full:4', 'ring:4']
    """
    asked, folder, tell = read_designs(specification), Path(output), progress or silent
    plan = DesignsPlan(asked)
    nothing = _nothing(plan, folder, tell)
    store = claim(folder, SPECIFICATION, asked.document, WHAT)

    def now() -> ComparedDesigns:
        seconds = store.cpu_seconds()
        return replace(nothing, rows=tuple(_rows(plan, store)), cpu_seconds=sum(seconds.get(key, 0.0) for key in plan.keys))

    def kept(task: Task, outcome: Outcome) -> dict[str, Any]:
        """The contents of a cell's file, without facts of the computer, and without a page, which has a file of its own."""
        found = _kept(task, outcome)
        if (page := found.pop(VIEW, None)) is not None:
            path = folder / asked.view_path(plan.viewed[task.key])
            path.parent.mkdir(exist_ok=True)
            write_atomically(path, page.encode(), force=True)
        return found

    def is_due(key: str) -> bool:
        """Whether a cell is to run: one whose page is missing runs again."""
        known = store.load(key)
        if known is None or "status" not in known:
            return True
        if key in plan.viewed and known["status"] == VALID:
            return not (folder / asked.view_path(plan.viewed[key])).is_file()
        return retry and known["status"] in (FAILED, CUT)

    left = [key for key in plan.keys if is_due(key)]
    try:
        seldom = Seldom(lambda: write_tables(now()))
        run_cells(map(plan.task, left), len(left), kept, Workers.of(workers), store, tell, len(plan.keys) - len(left), seldom)
        tell("writing the page and pictures")
        found = now()
        write_folder(found)
        return found
    except KeyboardInterrupt:
        tell("interrupted; writing what is done")
        found = now()
        write_folder(found)
        if interrupted is not None:
            interrupted(found)
        raise


def read_compared(specification: str | Path | Mapping[str, Any], table: Path) -> ComparedDesigns:
    """The results in a cells.csv, without the files of cells. The networks are priced again; InputError as `designs`."""
    rows = read_rows(table.read_text(encoding="utf-8"))
    return replace(_nothing(DesignsPlan(read_designs(specification)), table.parent, silent), rows=tuple(rows))


def _nothing(plan: DesignsPlan, folder: Path, tell: Callable[[str], None]) -> ComparedDesigns:
    """The results before any cell is known: bills and structures of the networks."""
    asked = plan.asked
    bills = {
        costs.name: {name: bill_of(one, plan.machines[name], costs) for name, one in asked.networks.items()}
        for costs in asked.costs
    }  # fmt: skip
    for costs, of in bills.items():
        for name, bill in of.items():
            if not bill.cost:
                raise InputError(f"network costs {costs}: {name} costs nothing, and no time for the same cost exists; state prices")
    tell("bisections and paths of the networks")
    return ComparedDesigns(
        asked, folder, (), {name: structure_of(one, plan.machines[name]) for name, one in asked.networks.items()}, bills
    )


def _kept(task: Task, outcome: Outcome) -> dict[str, Any]:
    if outcome.result is not None:
        return {"task": task.label, **outcome.result}
    status = CUT if outcome.kind == TIMED_OUT else FAILED
    return {"task": task.label, "status": status, "message": outcome.error}


def _rows(plan: DesignsPlan, store: Store) -> Iterator[dict[str, Any]]:
    networks, rows = plan.asked.networks, list[dict[str, Any]]()
    for cell in plan.cells:
        known = store.load(cell.key) if cell.key else _from_grid(plan, cell, rows)
        rows.append(row_of(cell, len(networks[cell.network].endpoints), known))
    yield from rows


def _from_grid(plan: DesignsPlan, cell: DesignCell, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The result of a workload by times of the grid; MISSING where a cell of these has none."""
    mine = [row for row in rows if (row["part"], row["network"], row["collective"]) == (GRID, cell.network, "all-reduce")]
    has = timed(mine)
    if lost := sorted({row["size_bytes"] for row in mine} - {row["size_bytes"] for row in has}):
        return {"status": MISSING, "message": f"the grid has no time of all-reduce of {', '.join(map(size_words, lost))}"}
    points = sorted((row["size_bytes"], Fraction(row["time_seconds_exact"])) for row in has)
    return from_grid(cell.workload, plan.asked.networks[cell.network], plan.machines[cell.network], points)


def write_tables(found: ComparedDesigns) -> None:
    """cells.csv, networks.csv and the page."""
    from certree.extras.designs.pages.page import designs_page

    write_rows(found.rows, found.folder / TABLE)
    network_rows: list[Row] = list(found.network_rows())
    write_atomically(found.folder / NETWORKS, csv_of(network_rows, list(network_rows[0])).encode(), force=True)
    write_atomically(found.folder / PAGE, designs_page(found).encode(), force=True)


def write_folder(found: ComparedDesigns) -> None:
    """The tables, the page and then the pictures, which take longer."""
    write_tables(found)
    if not can_plot():
        return
    from certree.extras.designs.make.drawing import figure_files  # matplotlib is slow to load

    for name, charts in figures(found.charts()).items():
        for suffix, data in figure_files(charts, list(found.structures)).items():
            write_atomically(found.folder / f"{name}{suffix}", data, force=True)
