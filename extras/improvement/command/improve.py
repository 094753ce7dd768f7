"""`certree improve` (make): Search for a faster schedule, starting from a valid one."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import click

from certree.api.api_errors import InvalidScheduleError, SearchInterrupted
from certree.api.checks.checking import verify
from certree.api.inputs import schedule_of
from certree.api.reports.schedule_report import closed_form, schedule_report, schedule_words
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
    options_search,
)
from certree.cli.words.progress_bar import working
from certree.cli.words.schedules import SCHEDULE, show_schedule
from certree.cli.words.terminal import note, show
from certree.extras.improvement.make.improve import improve
from certree.models.machine.machine import Machine
from certree.models.network.topology import Topology
from certree.models.schedule.collective import Collective
from certree.models.schedule.schedule_file import SUFFIXES
from certree.models.schedule.symmetric.symmetric_file import save_any_schedule

INTERRUPTED = 130


@click.command("improve")
@click.argument("schedule", type=click.Path(path_type=Path))
@click.option("--topology", type=TOPOLOGY, help="The network of a CSV.")
@option_collective(required=False, help_text="The collective of a CSV.")
@option_route()
@option_size(recorded=True)
@option_params(recorded=True)
@options_search()
@option_output("the improved schedule (.json, .json.gz, .npz)", required=True)
@option_json()
def improve_command(
    schedule: Path,
    topology: Topology | None,
    collective: Collective | None,
    route: str | None,
    size: int | None,
    machine: Machine | None,
    effort: int | None,
    time_limit: Fraction | None,
    seed: int,
    output: Path,
    force: bool,
    as_json: bool,
) -> int:
    """Search for a faster schedule at a message size, starting from a valid one: other slots, orders, trees, delays,
    repeats.

    The result is verified, has a certificate, and is never slower; where nothing is faster it is the given schedule.
    An invalid schedule gives exit code 1, and nothing is written. Ctrl-C keeps the best so far (exit code 130).
    """
    check_output(output, force=force, suffixes=SUFFIXES, what="a schedule file")
    source = schedule_of(schedule, topology, collective, route=route)
    used = setting(source, size, machine, note)
    interrupted = False
    try:
        with working("improving") as tell:
            best = improve(source, size=size, machine=machine, effort=effort, time_limit=time_limit, seed=seed, progress=tell)
    except InvalidScheduleError as error:
        return show_schedule(error.schedule, error.verdict, used, as_json=as_json)
    except SearchInterrupted as stopped:
        interrupted, best = True, stopped.best
    save_any_schedule(best, output, force=force)
    note(f"wrote {output}")
    before = closed_form(source, used.message_bytes, used.machine)["time_cycles"]
    document = schedule_report(best, verify(best), used.message_bytes, used.machine)
    document |= {"cycles_before": before, "steps_before": source.total_steps}
    show(document, improvement_words, kind=SCHEDULE, as_json=as_json, then=() if interrupted else ("verify", output))
    if interrupted:
        note("error: interrupted; this is the best schedule found so far")
    return INTERRUPTED if interrupted else 0


def improvement_words(report: dict[str, Any]) -> str:
    """The report as text: the schedule, compared with that before."""
    before, now = report["cycles_before"], report["time_cycles"]
    if before is None or now is None:
        last = "unchanged: it has no closed form to compare with"
    elif before == now:
        last = f"unchanged: nothing faster than {before:,} cycles was found"
    else:
        last = f"improved: {before / now:.3f} times as fast as before ({before:,} cycles)"
    return f"{schedule_words(report)}\n  {last}"
