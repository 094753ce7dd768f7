"""`certree synthesize` (make): Compute a schedule with its certificate."""

from pathlib import Path
from typing import Any

import click

from certree.api.api_errors import SearchInterrupted
from certree.api.checks.verdicts import on_machine
from certree.api.reports.schedule_report import schedule_report, schedule_words
from certree.api.runs.runnable import form_of
from certree.api.settings import setting
from certree.api.synthesis import synthesize
from certree.cli.words.parameters import (
    COUNT,
    argument_topology,
    check_output,
    completing,
    key_values,
    method_names,
    option_collective,
    option_json,
    option_output,
    option_params,
    option_size,
    options_search,
    options_workers,
)
from certree.cli.words.progress_bar import working
from certree.cli.words.schedules import SCHEDULE
from certree.cli.words.terminal import note, show
from certree.hw.engines.runs import FASTEST, MODES
from certree.models.common.extras import provided
from certree.models.network.topology import Topology
from certree.models.schedule.collective import Collective
from certree.models.schedule.schedule_file import SUFFIXES
from certree.models.schedule.symmetric.symmetric_file import save_any_schedule
from certree.verify.checker import verify_schedule

INTERRUPTED = 130


@click.command("synthesize")
@argument_topology()
@option_collective(members=True, relay=True)
@click.option(
    "--method",
    shell_complete=completing(method_names),
    default="auto",
    show_default=True,
    help="Synthesis method, NAME or NAME:OPTION=VALUE:...; `certree list` names them, `certree list NAME` has the options of one.",
)
@click.option(
    "--option",
    "options",
    multiple=True,
    callback=key_values,
    metavar="NAME=VALUE",
    help="An option of the method (repeatable); every method takes unit=BANDWIDTH, in which link rates are counted, rounded down.",
)
@click.option("--chunks", type=COUNT, help="Chunks K of one iteration; by default the method chooses.")
@click.option("--steps", type=COUNT, help="At most N steps in one iteration.")
@option_size()
@option_params()
@click.option(
    "--run",
    type=click.Choice([*MODES, FASTEST]),
    default="slotted",
    show_default=True,
    help="Execution model used when method auto ranks candidates: slotted (fixed time slots), paced (as soon as dependencies are "
    "met; ranked by simulation, large messages without routers), or the faster of both.",
)
@click.option(
    "--for",
    "goal",
    metavar="GOAL",
    help="Take only what reaches a goal, at a price that is printed: hardware (tables tolerate --skew and --drift, by default 20 "
    "cycles and 50 ppm), model-check (TLC checks all states), or an executor; `certree list` has all.",
)
@click.option("--skew", type=COUNT, help="Fine slots with guards: counters of nodes may start up to N cycles apart.")
@click.option("--drift", help="With --for hardware: counters drift by up to that in either direction, such as 50ppm.")
@click.option(
    "--order",
    metavar="ORDER",
    help="Add all chunks in one order: one (any), nested, balanced, chain, rank, an expression such as ((0,1),(2,3)), or a file.",
)
@click.option("--workload", type=click.Path(path_type=Path), help="TOML file of several collectives: one schedule for all at once.")
@options_search()
@click.option("--seeds", type=COUNT, default=1, show_default=True, help="Take the best of N searches, with seeds from --seed on.")
@options_workers("candidates and seeds", 1)
@option_output("the schedule (.json, .json.gz, .npz)")
@option_json()
@click.pass_context
def synthesize_command(
    context: click.Context,
    /,
    topology: Topology,
    collective: Collective,
    method: str,
    size: int,
    run: str,
    goal: str | None,
    workload: Path | None,
    output: Path | None,
    force: bool,
    as_json: bool,
    **asked: Any,
) -> int:
    """Compute a schedule, verify it, and add bounds and a certificate.

    Exit code 1 when an algorithm as published (rounds=published, formula=printed) is invalid; the file
    then has no certificate, and `certree verify` rejects it, too.
    Ctrl-C keeps the best schedule found so far (exit code 130).
    """
    if workload is not None:
        code: int = provided("joint schedules")(context, workload)
        return code
    check_output(output, force=force, suffixes=SUFFIXES, what="a schedule file")
    interrupted = False
    try:
        with working(f"synthesizing with {method}") as report:
            made = synthesize(topology, collective, method=method, size=size, run=run, goal=goal, progress=report, **asked)
    except SearchInterrupted as stopped:
        if stopped.best is None:
            note("error: interrupted before a schedule was found")
            return INTERRUPTED
        interrupted, made = True, stopped.best
    verdict = on_machine(made, verify_schedule(made))
    used = setting(made)
    document = schedule_report(made, verdict, size, used.machine)
    if run != "slotted" and verdict.valid:
        form = form_of(run, len(topology.endpoints), size, used.machine)
        document |= {"compared": form.name, "compared_cycles": form.cycles(made)}
    if goal is not None:
        document |= {name: made.provenance[name] for name in ("compared", "fastest_cycles") if name in made.provenance}
        document |= {"compared_cycles": document["time_cycles"]}
    if output is not None:
        save_any_schedule(made, output, force=force)
        note(f"wrote {output}")
    then = ("synthesize", topology.name, "-o", "schedule.json") if output is None else ("verify", output)
    show(document, _words, kind=SCHEDULE, as_json=as_json, then=() if interrupted else then)
    if interrupted:
        note("error: interrupted; this is the best schedule found so far" + (f", written to {output}" if output else ""))
        return INTERRUPTED
    return 0 if verdict.valid else 1


def _words(report: dict[str, Any]) -> str:
    compared = f"\n  compared {report['compared']}: {report['compared_cycles']:,} cycles" if "compared" in report else ""
    if (fastest := report.get("fastest_cycles")) is not None:
        compared += f", {report['compared_cycles'] / fastest:.3f} times the {fastest:,} without that goal"
    return schedule_words(report) + compared
