"""`certree designs` (study): Compare networks by performance, failures, training time and cost, and rank them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from certree.api.workers import Workers
from certree.cli.words.parameters import comma_list, option_json, options_workers
from certree.cli.words.progress_bar import working
from certree.cli.words.table import say_table
from certree.cli.words.terminal import emit, note, say
from certree.extras.designs.make.compared import ComparedDesigns
from certree.extras.designs.model.network_costs import NETWORK_COSTS
from certree.extras.designs.model.rows import without_result
from certree.extras.designs.model.specification import COST, DEFAULT_COSTS, DRAWS, ENDPOINTS, MOST_DRAWS
from certree.extras.designs.run.running import PAGE, designs
from certree.extras.reports.make.plotting import NO_PLOTS, can_plot
from certree.models.common.errors import InputError

SPECIFICATION = ".toml"
INTERRUPTED = 130
_SHOWN = 20  # cells without a result that are named
_LIST = comma_list(str)


def _whole(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 6):
        raise InputError(f"dead links {text!r}: expected whole numbers joined by commas, such as 1,2,3")
    return int(text)


@click.command("designs")
@click.argument("networks", metavar="NET...|SPEC.toml", nargs=-1, required=True)
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True,
              help="A folder for the results; an interrupted comparison continues there.")  # fmt: skip
@click.option("--collectives", type=_LIST, help="Collectives, joined by commas; all-reduce by default.")
@click.option("--sizes", type=_LIST, help="Message sizes, joined by commas.")
@click.option("--method", help="The method of all cells, NAME or NAME:OPTION=VALUE:...; auto by default.")
@click.option("--params", "machine", help="Machine parameters: a preset or a TOML file, as for sweep.")
@click.option(
    "--dead-links", type=comma_list(_whole), metavar="LIST", help="Numbers of dead links, such as 1,2,3,4,5; none by default."
)
@click.option(
    "--draws", type=click.IntRange(1, MOST_DRAWS), metavar="N", help=f"Draws of each number of dead links; {DRAWS} by default."
)
@click.option("--failure-method", metavar="METHOD", help="The method of cells with dead links; that of the others by default.")
@click.option("--rates", type=_LIST, metavar="LIST", help="Factors of the rate of all links, such as 1/2,2.")
@click.option("--latencies", type=_LIST, metavar="LIST", help="Factors of all latencies.")
@click.option("--train", "workloads", multiple=True, metavar="WORKLOAD",
              help="Time the training of a workload (repeatable), from the times of all-reduces at two --sizes or more;"
                   " SPEC.toml may name a method instead.")  # fmt: skip
@click.option("--costs", multiple=True, metavar="MODEL",
              help=f"{', '.join(NETWORK_COSTS.names())}, or a TOML file (repeatable); {DEFAULT_COSTS} by default.")  # fmt: skip
@click.option("--equal", type=click.Choice([ENDPOINTS, COST]), help="What networks have in common in the first ranking.")
@click.option("--time-limit", metavar="TIME", help="Cut a cell after this wall time, such as 10m.")
@click.option("--retry", is_flag=True, help="Repeat cells that failed or were cut.")
@options_workers("cells")
@option_json()
def designs_command(
    networks: Sequence[str], output: Path, *, retry: bool, workers: Workers, as_json: bool, **options: Any
) -> int:  # fmt: skip
    """Compare networks by performance, failures, training time and cost, and rank them with reasons.

    NET...: networks as in other commands, or one file ending in .toml with everything that is asked. The folder gets index.html,
    pictures (.svg and .png), cells.csv and networks.csv, and a file for each cell. Each cell has a process of its own. Exit code 3
    where cells failed or were cut, which are rows with their reason; 1 where a schedule is invalid.
    """
    asked, told = _specification(networks, options), list[bool]()

    def stopped(found: ComparedDesigns) -> None:
        told.append(True)
        _tell(found, as_json=as_json, interrupted=True)

    with working("comparing designs") as tell:
        try:
            found = designs(
                asked, output, workers=workers, retry=retry, progress=tell,
                interrupted=stopped,
            )  # fmt: skip
        except KeyboardInterrupt:
            if output.is_dir():
                note(f"the same command resumes from {output}")
            if told and as_json:  # that was the one document
                note("interrupted")
                return INTERRUPTED
            raise
    if not can_plot():
        note(NO_PLOTS)
    note(f"all cells took {found.cpu_seconds:.1f} CPU s; wrote {output / PAGE}")
    _tell(found, as_json=as_json)
    return found.exit_code


def _specification(networks: Sequence[str], options: dict[str, Any]) -> str | dict[str, Any]:
    """The file, or the fields that the arguments state."""
    given = [name for name, value in options.items() if value not in (None, (), [])]
    if len(networks) == 1 and networks[0].endswith(SPECIFICATION):
        if given:
            raise InputError(
                f"{networks[0]} states everything that is asked: take --{given[0].replace('_', '-')} out, or name networks"
            )
        return networks[0]
    if options["sizes"] is None:
        raise InputError("--sizes is missing: message sizes joined by commas, such as 64KiB,1MiB,16MiB")
    found: dict[str, Any] = {"networks": list(networks)}
    for name in ("collectives", "sizes", "method", "machine", "equal", "time_limit"):
        if options[name] is not None:
            found[name] = options[name]
    if options["costs"]:
        found["costs"] = list(options["costs"])
    inner = {
        "failures": {"links": options["dead_links"], "draws": options["draws"], "method": options["failure_method"]},
        "sensitivity": {"rates": options["rates"], "latencies": options["latencies"]},
        "training": {"workloads": list(options["workloads"]) or None},
    }
    if options["dead_links"] is None and (options["draws"] or options["failure_method"]):
        raise InputError("--draws and --failure-method are for --dead-links, which is missing")
    for name, fields in inner.items():
        stated = {key: value for key, value in fields.items() if value is not None}
        if stated:
            found[name] = stated
    return found


def _tell(found: ComparedDesigns, *, as_json: bool, interrupted: bool = False) -> None:
    """The result, or what there is of it."""
    if as_json:
        emit(
            {
                "title": found.title(),
                **({"interrupted": True} if interrupted else {}),
                "folder": str(found.folder),
                "cells": [{name: value for name, value in row.items() if value is not None} for row in found.rows],
                "networks": found.network_rows(),
                "rankings": [ranking.document() for ranking in found.rankings],
            }
        )
        return
    say(f"{found.title()}: {found.counts_words}\n\nTimes:")
    say_table(*found.times())
    for ranking in found.rankings:
        say(f"\n{ranking.title}, {ranking.basis}:")
        models = [ranking.costs] if ranking.by == COST else list(found.bills)
        rows = [
            [
                str(place), one.network, "-" if one.score is None else f"{one.score:.3f}",
                *(f"{float(found.bills[name][one.network].cost):,.0f}" for name in models), one.reasons[0],
            ]
            for place, one in enumerate(ranking.places, 1)
        ]  # fmt: skip
        costs = [f">{name}, {found.currency(name)}" for name in models]
        say_table([">", "network", ">score", *costs, "because"], rows, optional=("because",))
    lost = without_result(found.rows)
    for row in lost[:_SHOWN]:
        what = " ".join(str(row[name]) for name in ("drawn", "collective", "size_bytes", "workload") if row.get(name))
        note(f"{row['status']}: {what or row['network']} {row['method']}: {row['message']}")
    if len(lost) > _SHOWN:
        note(f"and {len(lost) - _SHOWN:,} more in {found.folder / 'cells.csv'}")
