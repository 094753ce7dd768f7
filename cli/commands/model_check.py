"""`certree model-check`: the TLA+ models, or the tables of one schedule, checked with TLC."""

from pathlib import Path
from typing import Any

import click

from certree.cli.parameters import MACHINE, SIZE, option_json
from certree.cli.playing import tables_to_run
from certree.cli.terminal import show, working
from certree.models.machine import Machine
from certree.verify.invariant import SYMBOLIC, check_invariant
from certree.verify.models import ModelResult, model_check
from certree.verify.table_model import model_check_tables
from certree.verify.tlc import Result
from certree.verify.trace_model import RUNS, check_trace

REFUTED, UNDECIDED = 1, 3
#: seconds for the tables of a schedule, without and with --full
TIME_LIMITS = (300.0, 3600.0)


@click.command("model-check")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--schedule", type=click.Path(path_type=Path), help="A schedule file or tables directory to check instead.")
@click.option("--size", type=SIZE, help="Message size of its tables; 64MiB by default, that of a tables directory.")
@click.option("--params", "machine", type=MACHINE, help="Machine of its tables; multitree by default, that of a tables directory.")
@click.option("--trace", type=click.Path(path_type=Path), help="A trace of simulate, which must be a behaviour of the tables.")
@click.option("--run", type=click.Choice(RUNS), default="slotted", show_default=True, help="How the traced run took its rows.")
@click.option("--symbolic", is_flag=True, help="Prove with z3 that slotted tables hold at any size, instead.")
@click.option("--full", is_flag=True, help="The bigger models too; for a schedule, up to an hour.")
@option_json()
def model_check_command(
    names: tuple[str, ...],
    schedule: Path | None,
    size: int | None,
    machine: Machine | None,
    trace: Path | None,
    run: str,
    symbolic: bool,
    full: bool,
    as_json: bool,
) -> int:
    """Check the named TLA+ models (all small ones by default), or the tables of a schedule, with TLC.

    With --trace: whether a run that the simulator traced is a behaviour of the specification, message by message.

    With --symbolic: an inductive invariant of the slotted network interface, proved with z3 for any table that keeps the rules of
    the checker, and refuted for each mutant of it.

    Exit code 0 when all end as expected; 1 when one does not; 3 when a check was not finished.
    """
    if symbolic and (schedule is not None or names or full):
        raise click.UsageError("--symbolic is about all tables; it takes no model names, no --schedule and no --full")
    if schedule is not None and names:
        raise click.UsageError("--schedule checks the tables of one schedule; it takes no model names")
    if trace is not None and schedule is None:
        raise click.UsageError("--trace needs the --schedule whose tables were played")
    if schedule is None and (size is not None or machine is not None):
        raise click.UsageError("--size and --params are for --schedule; the models have their own")
    with working("model checking") as report:
        if symbolic:
            results = check_invariant(lambda result: report(result_words(result_report(result))))
        elif schedule is None:
            results = model_check(list(names) or None, full, lambda result: report(result_words(result_report(result))))
        elif trace is not None:
            results = [check_trace(tables_to_run(schedule, size, machine), trace, run, TIME_LIMITS[full])]
        else:
            results = [model_check_tables(tables_to_run(schedule, size, machine), TIME_LIMITS[full])]
    document = {"models": [result_report(result) for result in results]}
    show(document, model_check_words, as_json=as_json)
    return exit_code(results)


def exit_code(results: list[ModelResult]) -> int:
    """Refuted before undecided before as expected."""
    unexpected = [result for result in results if not result.as_expected]
    if any(result.result != Result.UNKNOWN for result in unexpected):
        return REFUTED
    return UNDECIDED if unexpected else 0


def result_report(result: ModelResult) -> dict[str, Any]:
    """One entry of the JSON document."""
    return {
        "name": result.name,
        "expected": str(result.expected),
        "result": str(result.result),
        "as_expected": result.as_expected,
        "mode": result.mode,
        "distinct_states": result.distinct_states,
        "total_states": result.total_states,
        "seconds": round(result.seconds, 3),
        "message": result.message,
        "trace": result.trace,
    }


def result_words(report: dict[str, Any]) -> str:
    """One result in a line."""
    if report["mode"] == SYMBOLIC:
        found = "as expected" if report["as_expected"] else f"NOT as expected ({report['expected']})"
        return f"{report['name']}: {report['result']}, {found}"
    states = report["total_states"] if report["distinct_states"] is None else report["distinct_states"]
    kind = "states visited" if report["distinct_states"] is None else "distinct states"
    found = f"{report['result']}, as expected" if report["as_expected"] else f"{report['result']}, NOT as expected"
    return f"{report['name']}: {found}; {report['mode']}, {states:,} {kind}, {report['seconds']:.1f} s"


def model_check_words(report: dict[str, Any]) -> str:
    """A report for people: a line each, then what is not as expected, with its counterexample."""
    lines = [result_words(entry) for entry in report["models"]]
    for entry in report["models"]:
        if entry["message"] and (len(report["models"]) == 1 or not entry["as_expected"]):
            lines += [f"  {line}" for line in entry["message"].splitlines()]
        if entry["trace"] and not entry["as_expected"]:
            lines += [f"  {line}" for line in entry["trace"].splitlines()]
    if len(report["models"]) > 1:
        lines.append(f"{sum(entry['as_expected'] for entry in report['models'])} of {len(report['models'])} as expected")
    return "\n".join(lines)
