"""`certree sweep` (study): Run every combination of networks, sizes, methods and more."""

from pathlib import Path
from typing import Any

import click

from certree.api.reports.text import counted, one_line, rounded_of, rounded_words
from certree.api.workers import Workers
from certree.cli.words.parameters import option_json, options_workers
from certree.cli.words.progress_bar import working
from certree.cli.words.terminal import emit, note, say
from certree.extras.reports.make.plotting import NO_PLOTS, can_plot
from certree.extras.sweeps.run.cells import duration_words
from certree.extras.sweeps.run.measure import FAILED, INVALID
from certree.extras.sweeps.run.plan import SweepPlan
from certree.extras.sweeps.run.running import PlannedSweep, Swept, plan_sweep, sweep
from certree.extras.sweeps.run.specification import sweep_example
from certree.models.common.errors import InputError

_SHOWN = 20  # cells without a valid schedule that are named


@click.command("sweep")
@click.argument("specification", metavar="[SPEC.toml]", required=False, type=click.Path(path_type=Path))
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="A folder for the results; an interrupted sweep continues there."
)
@click.option("--example", is_flag=True, help="Print a complete specification with comments.")
@click.option("--dry-run", is_flag=True, help="List the cells and estimate the time, and run nothing.")
@click.option("--retry", is_flag=True, help="Repeat cells that failed.")
@options_workers("cells")
@option_json()
def sweep_command(
    specification: Path | None,
    output: Path | None,
    example: bool,
    dry_run: bool,
    retry: bool,
    workers: Workers,
    as_json: bool,
) -> int:
    """Make, verify and simulate a schedule for every combination of the networks, collectives, sizes, methods, machines, seeds,
    failures and runs that SPEC.toml lists.

    The folder gets table.csv, table.parquet (with pyarrow), plots by axis, a file for each cell, and times.csv; all others are the
    same bytes wherever cells ran. Each cell has a process of its own. Exit code 3 where cells failed, which are rows with their
    message; 1 where a schedule is invalid.
    """
    if example:
        say(sweep_example().rstrip(), wrap=False)
        return 0
    if specification is None:
        raise InputError("SPEC.toml is missing; certree sweep --example prints one")
    if dry_run:
        _tell_plan(plan_sweep(specification, output), workers, as_json=as_json)
        return 0
    if output is None:
        raise InputError("-o is missing: the folder for the results")
    with working(f"sweeping {specification}") as tell:
        try:
            found = sweep(specification, output, workers=workers, retry=retry, progress=tell)
        except KeyboardInterrupt:
            note(f"the same command resumes from {output}")
            raise
    _tell(found, as_json=as_json)
    return found.exit_code


def _tell_plan(planned: PlannedSweep, workers: Workers, *, as_json: bool) -> None:
    cells = planned.plan.cells
    if as_json:
        rows = [{"label": cell.label, "key": cell.key} for cell in cells]
        emit(
            {
                "title": planned.title(),
                **_rounded(planned.plan),
                "cells": rows,
                "present": planned.present,
                "estimated_cpu_seconds": planned.cpu_seconds,
                "unmeasured": planned.unmeasured,
            }
        )
        return
    say("\n".join([cell.label for cell in cells] + _rounded_words(planned.plan)), wrap=False)
    left = len(planned.plan.by_key) - planned.present
    present = f", {planned.present:,} of them there already" if planned.present else ""
    words = f"{counted(len(cells), 'cells')}{present}; about {duration_words(planned.cpu_seconds)} of CPU time"
    if not workers.is_remote:
        words += f", {duration_words(planned.cpu_seconds / workers.number)} with {counted(workers.number, 'workers')}"
    if planned.unmeasured:
        words += f" (a rough rule for {planned.unmeasured:,} of {left:,}, since none like them was measured)"
    note(words)


def _tell(found: Swept, *, as_json: bool) -> None:
    note(f"{counted(found.ran, 'cells')} run; all of them took {found.cpu_seconds:.1f} CPU s")
    if not found.has_parquet:
        note("no table.parquet: pip install 'certree[parquet]'")
    if not can_plot():
        note(NO_PLOTS)
    note(f"wrote {found.folder}")
    if as_json:
        emit({"title": found.title(), **_rounded(found.plan), "folder": str(found.folder), "cells": list(found.rows())})
        return
    lines = [f"{found.title()}: " + ", ".join(f"{count:,} {status}" for status, count in found.counts.items())]
    lines += _rounded_words(found.plan)
    lines += [f"  {one}" for one in _wrong(found)]
    say("\n".join(lines))


def _rounded(plan: SweepPlan) -> dict[str, Any]:
    """The key `rounded` with what an import rounded of each network; nothing where no rate was rounded."""
    networks = plan.specification.networks.items()
    found = {name: topology.rounded.document() for name, topology in networks if topology.rounded is not None}
    return {"rounded": found} if found else {}


def _rounded_words(plan: SweepPlan) -> list[str]:
    """The line of each network whose rates were rounded."""
    networks = plan.specification.networks.items()
    return [f"  {one_line(name)}: {line.strip()}" for name, one in networks for line in rounded_words(rounded_of(one))]


def _wrong(found: Swept) -> list[str]:
    """Cells that failed or are invalid, with their messages."""
    wrong: list[dict[str, Any]] = [row for row in found.rows() if row["status"] in (FAILED, INVALID)]
    axes = ("drawn", "collective", "size", "method", "machine", "seed", "run")
    lines = [f"{row['status']}: {' '.join(str(row[axis]) for axis in axes)}: {row['message']}" for row in wrong[:_SHOWN]]
    return lines + ([f"and {len(wrong) - _SHOWN:,} more in {found.folder / 'table.csv'}"] if len(wrong) > _SHOWN else [])
