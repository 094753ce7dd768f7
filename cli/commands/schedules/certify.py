"""`certree certify` (check): Add bounds and a certificate to a schedule."""

from pathlib import Path

import click

from certree.api.api_errors import InvalidScheduleError
from certree.api.checks.checking import certify, verify
from certree.api.inputs import schedule_of
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
)
from certree.cli.words.progress_bar import working
from certree.cli.words.schedules import show_schedule
from certree.cli.words.terminal import note
from certree.models.machine.machine import Machine
from certree.models.network.topology import Topology
from certree.models.schedule.collective import Collective
from certree.models.schedule.schedule_file import SUFFIXES
from certree.models.schedule.symmetric.symmetric_file import save_any_schedule


@click.command("certify")
@click.argument("schedule", type=click.Path(path_type=Path))
@click.option("--topology", type=TOPOLOGY, help="The network of a CSV.")
@option_collective(required=False, members=True, help_text="The collective of a CSV.")
@option_route()
@option_size(recorded=True)
@option_params(recorded=True)
@option_output("the certified schedule", required=True)
@option_json()
def certify_command(
    schedule: Path,
    topology: Topology | None,
    collective: Collective | None,
    route: str | None,
    size: int | None,
    machine: Machine | None,
    output: Path,
    force: bool,
    as_json: bool,
) -> int:
    """Find bounds for any schedule and write it with its certificate. An invalid schedule is not written.

    With --size or --params the file records these as the size and machine that it was made for.
    """
    check_output(output, force=force, suffixes=SUFFIXES, what="a schedule file")
    source = schedule_of(schedule, topology, collective, route=route)
    used = setting(source, size, machine, note)
    try:
        with working("looking for bounds"):
            certified = certify(source, size=size, machine=machine)
    except InvalidScheduleError as error:
        return show_schedule(error.schedule, error.verdict, used, as_json=as_json)
    save_any_schedule(certified, output, force=force)
    note(f"wrote {output}")
    return show_schedule(certified, verify(certified), used, as_json=as_json, then=("export", output, "-o", "tables"))
