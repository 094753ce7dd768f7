"""`certree tune` (make): The best schedule for every range of message sizes."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import click

from certree.api.reports.text import rate_words, rounded_words, size_words
from certree.api.workers import Workers
from certree.cli.words.parameters import (
    COUNT,
    SIZE,
    WHOLE,
    argument_topology,
    option_collective,
    option_json,
    option_params,
    options_workers,
)
from certree.cli.words.progress_bar import working
from certree.cli.words.table import say_table
from certree.cli.words.terminal import emit, note, say
from certree.extras.sweeps.tuning.running import LARGEST, SMALLEST, tune
from certree.models.machine.machine import Machine
from certree.models.network.topology import Topology
from certree.models.schedule.collective import Collective

_RATIOS = ("time_over_bound", "time_over_bound_any_shares")
_LEFT_OUT_FIRST = ("time at", "file", "algbw GB/s", "busbw GB/s")  # in a narrow terminal


@click.command("tune")
@argument_topology()
@option_collective(members=True, relay=True)
@click.option("--from", "smallest", type=SIZE, default=SMALLEST, show_default=True, help="The smallest size.")
@click.option("--to", "largest", type=SIZE, default=LARGEST, show_default=True, help="The largest size.")
@click.option("--factor", type=COUNT, default=2, show_default=True, help="Ratio of neighbouring sizes at which schedules are made.")
@option_params()
@click.option("--effort", type=COUNT, default=1, show_default=True, help="Deterministic search budget of each synthesis.")
@click.option("--seed", type=WHOLE, default=0, show_default=True)
@options_workers("sizes")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), required=True,
    help="A folder for the results; an interrupted tuning continues there.",
)  # fmt: skip
@option_json()
def tune_command(
    topology: Topology,
    collective: Collective,
    smallest: int,
    largest: int,
    factor: int,
    machine: Machine | None,
    effort: int,
    seed: int,
    workers: Workers,
    output: Path,
    as_json: bool,
) -> None:
    """Find the best schedule for every message size, and the sizes from which on another one is better.

    The folder gets table.json (what --json prints), curve.svg, the schedules, and a file for each size. All but times.csv are the
    same bytes wherever it ran. A schedule with fine slots is booked anew for sizes that it was not made for, as `simulate` and
    `export` do it.
    """
    with working(f"tuning {topology.name}") as tell:
        try:
            found = tune(
                topology, output, collective, smallest=smallest, largest=largest, factor=factor, machine=machine, effort=effort,
                seed=seed, workers=workers, progress=tell,
            )  # fmt: skip
        except KeyboardInterrupt:
            note(f"the same command resumes from {output}")
            raise
    note(f"wrote {found.folder}")
    if as_json:
        emit(found.table)
        return
    say("\n".join([f"{found.title()}, machine {found.machine.name}", *rounded_words(found.table)]))
    shared = any("time_over_bound_any_shares" in one for one in found.ranges)
    header = [
        "sizes",
        "method",
        "file",
        ">time at",
        ">cycles",
        ">algbw GB/s",
        ">busbw GB/s",
        ">time / bound",
        *[">with any shares"] * shared,
    ]
    say_table(header, [_row(one) for one in found.ranges], optional=_LEFT_OUT_FIRST)


def _row(one: dict[str, Any]) -> list[str]:
    cycles = one["time_cycles"]
    return [
        f"{size_words(one['from'])} to {size_words(one['to'])}",
        one["method"],
        one["file"],
        size_words(one["time_bytes"]),
        "-" if cycles is None else f"{cycles:,}",
        *("-" if one[name] is None else rate_words(one[name]).removesuffix(" GB/s") for name in ("algbw", "busbw")),
        *("-" if one[key] is None else f"{float(Fraction(one[key])):.4f}" for key in _RATIOS if key in one),
    ]
