"""`certree synthesize`: a schedule with its evidence."""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import click

from certree.api.evidence import certified_or_fail
from certree.api.reports.schedules import schedule_report, schedule_words
from certree.api.runnable import FASTEST, form_of
from certree.cli.words.parameters import (
    COUNT,
    DURATION,
    argument_topology,
    check_output,
    key_values,
    option_collective,
    option_json,
    option_output,
    option_params,
    option_size,
)
from certree.cli.words.terminal import note, show, working
from certree.hw.engines.simulator import RUN_MODES
from certree.models.common.errors import InputError
from certree.models.machine.machine import Machine
from certree.models.network.topology import Topology
from certree.models.schedule.collective import Collective
from certree.models.schedule.symmetric import AnySchedule
from certree.models.schedule.symmetric_file import save_any_schedule
from certree.synth.method import Method, Monitor, Request, load_methods
from certree.verify.verdict import Verdict

INTERRUPTED = 130


@click.command("synthesize")
@argument_topology()
@option_collective()
@click.option(
    "--method",
    default="auto",
    show_default=True,
    help="How; `certree list` names the methods, `certree list METHOD` has its options.",
)
@click.option(
    "--option", "options", multiple=True, callback=key_values, metavar="NAME=VALUE", help="An option of the method; repeat."
)
@click.option("--chunks", type=COUNT, help="Chunks K of one iteration; by default the method chooses.")
@click.option("--steps", type=COUNT, help="At most so many steps in one iteration.")
@option_size()
@option_params()
@click.option(
    "--run",
    type=click.Choice([*RUN_MODES, FASTEST]),
    default="slotted",
    show_default=True,
    help="How the schedules that method auto compares are run; paced ones are simulated, on lanes that serve whole messages.",
)
@click.option("--effort", type=COUNT, help="Deterministic search budget, 1 by default: same seed, same bytes.")
@click.option("--time-limit", type=DURATION, help="Wall time, such as 60s; recorded, since results then depend on the computer.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@option_output("the schedule (.json, .json.gz, .npz)")
@option_json()
def synthesize_command(
    topology: Topology,
    collective: Collective,
    method: str,
    options: Mapping[str, str],
    chunks: int | None,
    steps: int | None,
    size: int,
    machine: Machine,
    run: str,
    effort: int | None,
    time_limit: Fraction | None,
    seed: int,
    output: Path | None,
    force: bool,
    as_json: bool,
) -> int:
    """Make a schedule, judge it, add bounds and certificate.

    Exit code 1 where an algorithm was asked for as published (rounds=published, formula=printed) and is refuted; what is written
    then has no certificate, and `certree verify` refutes it too.
    Ctrl-C keeps the best schedule found so far (exit code 130).
    """
    if effort is not None and time_limit is not None:
        raise click.UsageError("--effort and --time-limit exclude each other: a budget is deterministic or it is wall time")
    if run != "slotted" and method != "auto":
        raise InputError(f"--run {run} is for --method auto, which compares; {method} makes one schedule, however it is run")
    check_output(output, force=force)
    maker = load_methods()[method]
    with working(f"synthesizing with {method}") as report:
        monitor = Monitor(sink=report) if time_limit is None else Monitor.within(float(time_limit), report)
        request = Request(
            topology=topology,
            collective=collective,
            message_bytes=size,
            machine=machine,
            chunks=chunks,
            steps=steps,
            options=options,
            effort=effort or 1,
            seed=seed,
            monitor=monitor,
            form=form_of(run, size, machine),
        )
        made, interrupted = _make(maker, request)
        if made is None:
            note("error: interrupted before a schedule was found")
            return INTERRUPTED
        made = _recorded(made, request, time_limit)
        try:
            certified, verdict = certified_or_fail(made, search=not interrupted)
        except KeyboardInterrupt:
            interrupted = True
            certified, verdict = certified_or_fail(made, search=False)
    _hand_over(certified, verdict, request, output, force=force, as_json=as_json)
    if interrupted:
        note("error: interrupted; this is the best schedule found so far" + (f", written to {output}" if output else ""))
        return INTERRUPTED
    return 0 if verdict.valid else 1


def _make(maker: Method, request: Request) -> tuple[AnySchedule | None, bool]:
    """The schedule, or on Ctrl-C the best so far that is what was asked for; and whether it was interrupted."""
    try:
        return maker(request), False
    except KeyboardInterrupt:
        best = request.monitor.best  # on the way to fewer steps a method may offer more of them
        too_long = best is not None and request.steps is not None and best.steps > request.steps
        return None if too_long else best, True


def _recorded(schedule: AnySchedule, request: Request, time_limit: Fraction | None) -> AnySchedule:
    """The schedule with what it was made for in its provenance."""
    asked: dict[str, Any] = {"message_bytes": request.message_bytes, "machine": request.machine.name}
    if request.form is not None:
        asked["compared"] = request.form.name
    if time_limit is not None:
        asked["time_limit_seconds"] = str(time_limit)
    return replace(schedule, provenance={**schedule.provenance, **asked})


def _hand_over(
    schedule: AnySchedule, verdict: Verdict, request: Request, output: Path | None, *, force: bool, as_json: bool
) -> None:
    document = schedule_report(schedule, verdict, request.message_bytes, request.machine)
    if request.form is not None and verdict.valid:
        document |= {"compared": request.form.name, "compared_cycles": request.form.cycles(schedule)}
    if output is not None:
        save_any_schedule(schedule, output, force=force)
        note(f"wrote {output}")
    show(document, _words, as_json=as_json)


def _words(report: dict[str, Any]) -> str:
    compared = f"\n  compared {report['compared']}: {report['compared_cycles']:,} cycles" if "compared" in report else ""
    return schedule_words(report) + compared
