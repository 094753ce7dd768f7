"""`certree draw` (hand over): Draw a schedule, a bound, a run or a network as SVG or PNG."""

from pathlib import Path

import click

from certree.cli.words.parameters import (
    TOPOLOGY,
    check_output,
    comma_list,
    completing,
    option_collective,
    option_output,
    option_params,
    option_size,
    option_without_routers,
)
from certree.cli.words.progress_bar import working
from certree.cli.words.terminal import note
from certree.extras.reports.make.drawing import PAGES, SUFFIXES, draw, require_suffix
from certree.extras.reports.make.views import VIEWS
from certree.hw.engines.runs import MODES
from certree.models.common.errors import InputError
from certree.models.machine.machine import Machine
from certree.models.network.topology import Topology
from certree.models.schedule.collective import Collective


def _chunk(text: str) -> int:
    if not text.isdecimal():
        raise InputError(f"chunk {text!r}; allowed: whole numbers from 0")
    return int(text)


@click.command("draw")
@click.argument("subject", shell_complete=completing(list))
@click.option(
    "--view",
    metavar="VIEW",
    shell_complete=completing(lambda: [*VIEWS, "network"]),
    help=f"Of a schedule: {', '.join(VIEWS)}; of a network: network, bound. Default: spacetime, or violation.",
)
@click.option("--chunks", type=comma_list(_chunk), help="Chunks of view trees, such as 0,5; by default the first 16.")
@click.option("--bound", "witness", metavar="KIND", help="Bound of view bound; by default the strongest on bandwidth time.")
@click.option("--run", type=click.Choice(MODES), default="slotted", show_default=True, help="Execution model of view waits.")
@option_without_routers()
@click.option("--topology", type=TOPOLOGY, help="The network of a CSV.")
@option_collective(required=False, help_text="The collective of a CSV, or of a network's bound.")
@option_size(recorded=True)
@option_params(recorded=True)
@click.option("--title", help="Title instead of the usual one.")
@option_output(f"the picture, a name that ends in {', '.join(SUFFIXES)}, or of a schedule in {PAGES[0]}", required=True)
def draw_command(
    subject: str,
    view: str | None,
    chunks: list[int] | None,
    witness: str | None,
    run: str,
    without_routers: bool,
    topology: Topology | None,
    collective: Collective | None,
    size: int | None,
    machine: Machine | None,
    title: str | None,
    output: Path,
    force: bool,
) -> None:
    """Draw SUBJECT: a schedule, a CSV (with --topology and --collective), tables, a joint schedule, a network, a trace of simulate.

    Views of a schedule: spacetime (channels over time, a colour per chunk), trees, load (how busy each channel is), reductions (the
    reduction units over time), bound (the witness of its certificate), violation (the step in which it breaks a rule), waits
    (where messages of a simulated run waited). Pictures of large schedules aggregate, and say so. A .html is the interactive view
    of a schedule: its transfers over time, step by step, by chunk, channel or node.
    """
    require_suffix(output, (*SUFFIXES, *PAGES))
    check_output(output, force=force)
    with working("drawing"):
        draw(
            subject, output, view=view, title=title, chunks=chunks, topology=topology, collective=collective, kind=witness,
            size=size, machine=machine, run=run, without_routers=without_routers, force=force,
        )  # fmt: skip
    note(f"wrote {output}")
