"""`certree reproduce`: A figure of a paper: ours beside what its text states."""

from collections.abc import Sequence
from pathlib import Path

import click

from certree.api.papers.target import Compared, Target, compared, load_target, table_csv, table_markdown, targets
from certree.api.papers.workers import run_tasks
from certree.api.pictures.figure import Plot
from certree.api.reports.text import one_line
from certree.cli.words.parameters import COUNT, option_json
from certree.cli.words.terminal import emit, note, say, working
from certree.models.common.errors import InputError
from certree.models.common.files import canonical_json, write_atomically


@click.command("reproduce")
@click.argument("target", metavar="[TARGET]", required=False)
@click.option("--topology", "networks", multiple=True, help="Another network in the place of the target's; may repeat.")
@click.option("--smoke", is_flag=True, help="A subset, seconds long.")
@click.option("--jobs", "workers", type=COUNT, default=2, show_default=True, help="Processes side by side.")
@click.option("--configuration", is_flag=True, help="Print the target's file, to be copied and changed, and do nothing else.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="A folder for tables, plots and what is done so far; a run that was interrupted goes on there.",
)
@option_json()
def reproduce_command(
    target: str | None,
    networks: tuple[str, ...],
    smoke: bool,
    workers: int,
    configuration: bool,
    output: Path | None,
    as_json: bool,
) -> None:
    """Compute every cell of a figure or table: TARGET is one of those listed without it, or a TOML file of one's own.

    Cells are exact; `paper` is filled in where the paper's text states a value, and where ours differs `why` says so. The folder
    gets table.md, table.csv, cells.json, plot.svg, plot.png, and target.toml, the file that says what was run, with --smoke and
    --topology in its first line.
    """
    if target is None:
        _list(as_json=as_json)
        return
    asked = load_target(target)
    if configuration:
        say(asked.source.decode().rstrip())
        return
    if networks:
        asked = asked.on(networks)
    if smoke:
        asked = asked.smoke()
    changes = [f"--topology {one_line(network)}" for network in networks] + ["--smoke"] * smoke
    folder = _folder(output)
    tasks = asked.experiment.tasks()
    with working(f"reproducing {asked.name}") as tell:
        try:
            done = run_tasks(tasks, workers, folder, tell)
        except KeyboardInterrupt:
            note("what is finished is lost without -o" if output is None else f"the same command goes on from what is in {output}")
            raise
    results = asked.experiment.cells(done.results)
    cells = compared(asked, results)
    if tasks:
        note(f"{len(tasks)} cells took {done.cpu_seconds:.1f} CPU s")
    if output is not None:
        _write(output, asked, changes, cells, asked.experiment.plot(results))
        note(f"wrote {output}")
    if as_json:
        emit({"target": asked.name, "title": asked.title, "cells": [entry.document() for entry in cells], "remarks": asked.remarks})
    else:
        say(table_markdown(asked, cells).rstrip())


def _list(*, as_json: bool) -> None:
    known = targets()
    if as_json:
        emit({"targets": [{"name": name, "title": title} for name, title in known]})
    else:
        say("\n".join(f"{name}: {title}" for name, title in known))


def _folder(output: Path | None) -> Path | None:
    """Where finished cells are kept; InputError when `output` cannot be such a folder."""
    if output is None:
        return None
    try:
        (output / "cells").mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot write {output}: {error.strerror}") from None
    return output / "cells"


def _write(output: Path, target: Target, changes: Sequence[str], cells: Sequence[Compared], plot: Plot | None) -> None:
    banner = f"# Run with {' '.join(changes)}\n".encode() if changes else b""
    files = {
        "table.md": table_markdown(target, cells).encode(),
        "table.csv": table_csv(cells).encode(),
        "cells.json": canonical_json([entry.document() for entry in cells]),
        "target.toml": banner + target.source,
    }
    if plot is not None:
        from certree.api.pictures.plots import figure_plot

        files |= {f"plot{suffix}": figure_plot(plot, target.title, suffix) for suffix in (".svg", ".png")}
    for name, data in files.items():
        write_atomically(output / name, data, force=True)
