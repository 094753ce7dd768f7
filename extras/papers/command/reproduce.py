"""`certree reproduce` (study): Recompute a figure of a paper and compare it with its text."""

from pathlib import Path

import click

from certree.api.workers import Workers
from certree.cli.words.parameters import completing, option_json, options_workers
from certree.cli.words.progress_bar import working
from certree.cli.words.terminal import emit, next_step, note, say
from certree.extras.papers.reproduction import reproduce
from certree.extras.papers.target import load_target, targets
from certree.extras.reports.make.plotting import NO_PLOTS, can_plot


@click.command("reproduce")
@click.argument("target", metavar="[TARGET]", required=False, shell_complete=completing(targets))
@click.option("--topology", "networks", multiple=True, help="Another network instead of the target's (repeatable).")
@click.option("--smoke", is_flag=True, help="Run a subset that takes seconds.")
@options_workers("cells")
@click.option("--configuration", is_flag=True, help="Print an editable TOML file of the target.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="A folder for tables, plots and finished cells; an interrupted run continues there.",
)
@option_json()
def reproduce_command(
    target: str | None,
    networks: tuple[str, ...],
    smoke: bool,
    workers: Workers,
    configuration: bool,
    output: Path | None,
    as_json: bool,
) -> None:
    """Compute every cell of a figure or table: TARGET is a listed name or a TOML file. Without TARGET: list the names.

    Cells are exact; `paper` is filled in where the paper's text states a value, and `why` explains differences. The folder
    gets table.md, table.csv, cells.json, plot.svg, plot.png, and target.toml, the file that was run, with --smoke and
    --topology in its first line.
    """
    if target is None:
        _list(as_json=as_json)
        return
    if configuration:
        say(load_target(target).source.decode().rstrip(), wrap=False)
        return
    with working(f"reproducing {target}") as tell:
        try:
            found = reproduce(target, networks=networks, smoke=smoke, workers=workers, output=output, progress=tell)
        except KeyboardInterrupt:
            note("without -o, finished cells are lost" if output is None else f"the same command resumes from {output}")
            raise
    if found.tasks:
        note(f"{found.tasks} cells took {found.cpu_seconds:.1f} CPU s")
    if output is not None:
        note(f"wrote {output}" if found.plot is None or can_plot() else f"wrote {output}; {NO_PLOTS}")
    if as_json:
        cells = [entry.document() for entry in found.cells]
        emit({"target": found.target.name, "title": found.target.heading, "cells": cells, "remarks": found.target.remarks})
    else:
        say(found.table().rstrip(), wrap=False)


def _list(*, as_json: bool) -> None:
    known = targets()
    if as_json:
        emit({"targets": [{"name": name, "title": title} for name, title in known.items()]})
    else:
        say("\n".join(f"{name}: {title}" for name, title in known.items()))
        first = next(iter(known))
        next_step("reproduce", first, "-o", first)
