"""`certree bundle` (hand over): Write a schedule or frontier with all its evidence as one file."""

from pathlib import Path

import click

from certree.api.api_errors import InvalidScheduleError
from certree.api.settings import setting
from certree.cli.words.parameters import (
    TOPOLOGY,
    check_output,
    option_collective,
    option_json,
    option_output,
    option_params,
    option_route,
    option_size,
    option_without_routers,
)
from certree.cli.words.progress_bar import working
from certree.cli.words.schedules import show_schedule
from certree.cli.words.terminal import note, show
from certree.extras.bundles.check.documents import bundle_report, bundle_words
from certree.extras.bundles.make.making import bundle
from certree.extras.bundles.model.bundle import SUFFIX
from certree.hw.engines.runs import MODES
from certree.models.machine.machine import Machine
from certree.models.network.topology import Topology
from certree.models.schedule.collective import Collective


@click.command("bundle")
@click.argument("source", type=click.Path(path_type=Path))
@click.option("--topology", type=TOPOLOGY, help="The network that it must be for; required for a CSV.")
@option_collective(required=False, help_text="The collective that it must be; required for a CSV.")
@option_route()
@option_size(recorded=True)
@option_params(recorded=True)
@click.option("--format", "format_name", default="readmemh", show_default=True, help="Table format; `certree list` names them.")
@click.option(
    "--run",
    "runs",
    type=click.Choice(MODES),
    multiple=True,
    default=MODES[:1],
    show_default=True,
    help="Modes that are simulated (repeatable).",
)
@option_without_routers()
@click.option("--without-tla", is_flag=True, help="Leave out the results of TLC, which needs Java.")
@option_output("the bundle (.certree)", required=True)
@option_json()
def bundle_command(
    source: Path,
    topology: Topology | None,
    collective: Collective | None,
    route: str | None,
    size: int | None,
    machine: Machine | None,
    format_name: str,
    runs: tuple[str, ...],
    without_routers: bool,
    without_tla: bool,
    output: Path,
    force: bool,
    as_json: bool,
) -> int:
    """Write a schedule, tables, a frontier or a joint schedule with all its evidence as one file, read it back and re-check it.

    The evidence: the certificate with bounds and proofs, the tables, simulated runs, results of TLC, and a page that says how to
    re-check everything. `certree verify` re-checks the file, offline and without a solver. The same input gives the same bytes.
    """
    check_output(output, force=force, suffixes=(SUFFIX,), what="a bundle")
    try:
        with working("collecting evidence") as report:
            made = bundle(
                source,
                output,
                topology=topology,
                collective=collective,
                route=route,
                size=size,
                machine=machine,
                format=format_name,
                runs=runs,
                without_routers=without_routers,
                tla=not without_tla,
                force=force,
                progress=report,
            )
    except InvalidScheduleError as error:
        return show_schedule(error.schedule, error.verdict, setting(error.schedule, size, machine, note), as_json=as_json)
    note(f"wrote {output}")
    show(bundle_report(made), bundle_words, kind="bundle", as_json=as_json, then=("verify", output))
    return 0
