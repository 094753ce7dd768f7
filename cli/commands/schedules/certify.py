"""`certree certify` (check): Add bounds and a certificate to a schedule."""

from pathlib import Path
from typing import Any

import click

from certree.api.api_errors import InvalidScheduleError, SearchInterrupted
from certree.api.checks.checking import certify, verify
from certree.api.checks.exactness import certify_exact
from certree.api.inputs import schedule_of
from certree.api.settings import setting
from certree.cli.words.parameters import (
    COUNT,
    DURATION,
    TOPOLOGY,
    check_output,
    option_collective,
    option_json,
    option_output,
    option_params,
    option_route,
    option_size,
    option_solver,
)
from certree.cli.words.progress_bar import working
from certree.cli.words.schedules import show_schedule
from certree.cli.words.terminal import note
from certree.models.machine.machine import Machine
from certree.models.network.topology import Topology
from certree.models.schedule.collective import Collective
from certree.models.schedule.made_for import MadeFor
from certree.models.schedule.schedule_file import SUFFIXES
from certree.models.schedule.symmetric.symmetric_file import save_any_schedule
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule

UNDECIDED, INTERRUPTED = 3, 130


@click.command("certify")
@click.argument("schedule", type=click.Path(path_type=Path))
@click.option("--topology", type=TOPOLOGY, help="The network of a CSV.")
@option_collective(required=False, members=True, help_text="The collective of a CSV.")
@option_route()
@option_size(recorded=True)
@option_params(recorded=True)
@click.option("--exact", is_flag=True, help="Look for a better schedule, or prove that there is none (small networks).")
@click.option("--effort", type=COUNT, help="Of --exact: deterministic search budget, 1 by default.")
@click.option("--time-limit", type=DURATION, help="Of --exact: wall time, such as 60s; the result then depends on the computer.")
@option_solver()
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
    exact: bool,
    **search: Any,
) -> int:
    """Find bounds for any schedule and write it with its certificate. An invalid schedule is not written.

    With --size or --params the file records these as the size and machine that it was made for. With --exact the certificate proves
    that no schedule with as many chunks, steps and rounds per chunk has fewer of any, or, with fine slots, takes fewer cycles; or a
    better schedule is written next to it, as NAME.better.json. Exit code of --exact: 3 where neither was found.
    """
    check_output(output, force=force, suffixes=SUFFIXES, what="a schedule file")
    given = {name: value for name, value in search.items() if value is not None}
    if given and not exact:
        raise click.UsageError(f"--{next(iter(given)).replace('_', '-')} is an option of --exact")
    source = schedule_of(schedule, topology, collective, route=route)
    used = setting(source, size, machine, note)
    try:
        if exact:
            return _exactly(source, used, output, force=force, as_json=as_json, size=size, machine=machine, **given)
        with working("looking for bounds"):
            certified = certify(source, size=size, machine=machine)
    except InvalidScheduleError as error:
        return show_schedule(error.schedule, error.verdict, used, as_json=as_json)
    save_any_schedule(certified, output, force=force)
    note(f"wrote {output}")
    return show_schedule(certified, verify(certified), used, as_json=as_json, then=("export", output, "-o", "tables"))


def _exactly(source: AnySchedule, used: MadeFor, output: Path, *, force: bool, as_json: bool, **asked: Any) -> int:
    """Certify against the best that exists; write what was found, also after Ctrl-C."""
    stem = next(output.name.removesuffix(end) for end in sorted(SUFFIXES, key=len, reverse=True) if output.name.endswith(end))
    better = output.with_name(f"{stem}.better.json")
    check_output(better, force=force)
    interrupted = False
    try:
        with working("looking for a better schedule") as report:
            found = certify_exact(source, progress=report, **asked)
    except SearchInterrupted as stopped:
        interrupted, found = True, stopped.best
    save_any_schedule(found.schedule, output, force=force)
    note(f"wrote {output}")
    if found.better is not None:
        save_any_schedule(found.better, better, force=force)
        note(f"wrote {better}")
    answer = found.report(None if found.better is None else str(better))
    then = ("export", output, "-o", "tables")
    show_schedule(found.schedule, found.verdict, used, as_json=as_json, then=then, more=answer)
    if interrupted:
        note("error: interrupted; this is what was found so far")
        return INTERRUPTED
    return UNDECIDED if found.exact == "open" else 0
