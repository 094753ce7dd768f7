"""`certree report` (hand over): Write an HTML report on schedules: verdict, bounds, times, and an interactive view."""

from pathlib import Path

import click

from certree.cli.words.parameters import (
    TOPOLOGY,
    check_output,
    option_collective,
    option_output,
    option_params,
    option_size,
    option_without_routers,
)
from certree.cli.words.progress_bar import working
from certree.cli.words.terminal import note
from certree.extras.reports.pages.report import SUFFIXES, report
from certree.models.machine.machine import Machine
from certree.models.network.topology import Topology
from certree.models.schedule.collective import Collective


@click.command("report")
@click.argument("paths", type=click.Path(path_type=Path), nargs=-1, required=True, metavar="PATH...")
@click.option("--topology", type=TOPOLOGY, help="The network of a CSV.")
@option_collective(required=False, help_text="The collective of a CSV.")
@option_size(recorded=True)
@option_params(recorded=True)
@click.option("--published/--no-published", default=True, show_default=True, help="Time published algorithms for comparison.")
@click.option("--simulate/--no-simulate", default=True, show_default=True, help="Simulate the schedule.")
@option_without_routers()
@click.option("--model-check", is_flag=True, help="Check its tables with TLC too (needs Java; minutes).")
@click.option("--title", help="Title instead of the usual one.")
@option_output("the report, F.html", required=True)
def report_command(
    paths: tuple[Path, ...],
    topology: Topology | None,
    collective: Collective | None,
    size: int | None,
    machine: Machine | None,
    published: bool,
    simulate: bool,
    without_routers: bool,
    model_check: bool,
    title: str | None,
    output: Path,
    force: bool,
) -> None:
    """Write one HTML file on schedule files, CSVs (with --topology and --collective) or tables directories, several side by side.

    It has the verdict, the bounds with pictures of their witnesses, times over sizes, an interactive view of the transfers, loads,
    tables, a simulated run, and the command that re-checks each. It loads nothing from elsewhere. An invalid schedule is reported
    with its violations; exit code 0 says that the report was written.
    """
    check_output(output, force=force, suffixes=SUFFIXES, what="a report")
    with working("writing the report"):
        report(
            paths, output, title=title, topology=topology, collective=collective, size=size, machine=machine, published=published,
            simulate=simulate, without_routers=without_routers, model_check=model_check, force=force,
        )  # fmt: skip
    note(f"wrote {output}")
