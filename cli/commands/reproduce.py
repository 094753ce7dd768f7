"""`certree reproduce`: a figure of a paper, ours beside what its text states."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from certree.cli.parameters import COUNT, option_json
from certree.cli.reproduction import cells_of, load_target, run_jobs, smaller, table_of, targets
from certree.cli.terminal import emit, say, working
from certree.models.errors import InputError
from certree.models.files import canonical_json, write_atomically
from certree.models.topology_spec import parse_topology


@click.command("reproduce")
@click.argument("target", metavar="TARGET")
@click.option("--topology", "networks", multiple=True, help="Another network in the place of the target's; may repeat.")
@click.option("--smoke", is_flag=True, help="One network, two sizes.")
@click.option("--jobs", "workers", type=COUNT, default=2, show_default=True, help="Processes side by side.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="A folder for table.md, cells.json and what is done so far; a run that was interrupted goes on there.",
)
@option_json()
def reproduce_command(
    target: str, networks: tuple[str, ...], smoke: bool, workers: int, output: Path | None, as_json: bool
) -> None:
    """Simulate every cell of a figure: multitree-fig2, multitree-fig9, multitree-fig10, or a TOML file like cli/targets/*.toml.

    Cells are exact rationals; `paper` is filled in where the paper's text states a number.
    """
    asked = load_target(target)
    if networks:
        for network in networks:
            parse_topology(network)
        asked = replace(asked, networks=networks)
    if smoke:
        asked = smaller(asked)
    folder = _folder(output)
    jobs = list(asked.jobs()) if asked.lines else []
    with working(f"reproducing {asked.name}") as tell:
        results: dict[str, dict[str, Any]] = run_jobs(jobs, workers, folder, tell) if jobs else {}
    cells = cells_of(asked, results)
    if output is not None:
        write_atomically(output / "table.md", table_of(asked, cells).encode(), force=True)
        write_atomically(output / "cells.json", canonical_json(cells), force=True)
    if as_json:
        emit({"target": asked.name, "title": asked.title, "known": targets(), "cells": cells})
    else:
        say(table_of(asked, cells).rstrip())


def _folder(output: Path | None) -> Path | None:
    """Where finished cells are kept; InputError when `output` cannot be such a folder."""
    if output is None:
        return None
    try:
        (output / "cells").mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot write {output}: {error.strerror}") from None
    return output / "cells"
