"""`certree certify`: evidence for a schedule from anywhere."""

from pathlib import Path

import click

from certree.api.evidence import add_certificate
from certree.api.inputs import read_schedule
from certree.api.reports.schedules import schedule_report, schedule_words
from certree.cli.words.parameters import (
    TOPOLOGY,
    check_output,
    option_collective,
    option_json,
    option_output,
    option_params,
    option_size,
)
from certree.cli.words.terminal import note, show, working
from certree.models.machine.machine import Machine
from certree.models.network.topology import Topology
from certree.models.schedule.collective import Collective
from certree.models.schedule.symmetric_file import save_any_schedule


@click.command("certify")
@click.argument("schedule", type=click.Path(path_type=Path))
@click.option("--topology", type=TOPOLOGY, help="The network of a CSV.")
@option_collective(required=False, help_text="The collective of a CSV.")
@option_size()
@option_params()
@option_output("the certified schedule", required=True)
@option_json()
def certify_command(
    schedule: Path,
    topology: Topology | None,
    collective: Collective | None,
    size: int,
    machine: Machine,
    output: Path,
    force: bool,
    as_json: bool,
) -> int:
    """Find bounds for any schedule and write it with its certificate; one that is wrong is refuted and not written."""
    check_output(output, force=force)
    loaded = read_schedule(schedule, topology, collective)
    with working("looking for bounds"):
        certified, verdict = add_certificate(loaded)
    document = schedule_report(certified, verdict, size, machine)
    if verdict.valid:
        save_any_schedule(certified, output, force=force)
        note(f"wrote {output}")
    show(document, schedule_words, as_json=as_json)
    return 0 if verdict.valid else 1
