"""`certree model-check` (check): Check the TLA+ models, or a schedule's tables, with TLC."""

import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from certree.api.runs.model_checks import model_check
from certree.cli.words.parameters import COUNT, completing, option_json, option_params, option_size
from certree.cli.words.progress import working
from certree.cli.words.terminal import note, show
from certree.models.common.errors import InputError
from certree.models.common.files import check_writable, write_atomically
from certree.models.common.progress import Counted
from certree.models.machine.machine import Machine
from certree.models.schedule.timing import FRAMINGS
from certree.models.traces.endpoints import is_endpoint_trace
from certree.models.traces.flits import is_flit_trace
from certree.models.traces.reducing import is_aggregation_trace
from certree.verify.tla.model_file import listed
from certree.verify.tla.models import configuration_file
from certree.verify.tla.runs import SYMBOLIC, ModelResult
from certree.verify.tla.tlc import Result
from certree.verify.tla.traces.interfaces import RUNS

REFUTED, UNDECIDED = 1, 3


@click.command("model-check")
@click.argument("names", nargs=-1, metavar="[NAME]...", shell_complete=completing(lambda: [*listed().models, *listed().tables]))
@click.option("--schedule", type=click.Path(path_type=Path), help="A schedule file or tables directory to check instead.")
@option_size(recorded=True)
@option_params(recorded=True)
@click.option(
    "--trace",
    type=click.Path(path_type=Path),
    help="Check a trace of simulate (with --schedule), inject, aggregate or endpoints: is it a behaviour of the specification?",
)
@click.option("--run", type=click.Choice(RUNS), help="Mode of the traced run; slotted by default.")
@click.option("--skew", help="Skews of the traced run, as given to simulate.")
@click.option("--drift", help="Drifts of the traced run, as given to simulate.")
@click.option("--window", type=COUNT, help="Window of the traced aggregate; by default that of the trace.")
@click.option("--aggregators", type=COUNT, help="Aggregators of its switches; by default that of the trace.")
@click.option(
    "--flow",
    type=click.Choice(FRAMINGS),
    default="message",
    show_default=True,
    help="A chunk of the tables as one message, or as packets.",
)
@click.option(
    "--routers", is_flag=True, help="Instead of the tables: can the schedule's messages deadlock in the routers, at any timing?"
)
@click.option("--picture", type=click.Path(path_type=Path), help="Write an SVG of the counterexample.")
@click.option(
    "--write-cfg", metavar="NAME", help="Write the configuration of a model as a file for the TLA+ Toolbox, and check nothing."
)
@click.option("-o", "--output", type=click.Path(path_type=Path), help="File for --write-cfg; NAME.cfg by default.")
@click.option("--force", is_flag=True, help="Overwrite the picture or the configuration.")
@click.option("--symbolic", is_flag=True, help="Instead: prove with z3 an invariant of slotted tables of any size.")
@click.option("--kills", is_flag=True, hidden=True)
@click.option("--edits", is_flag=True, hidden=True)
@click.option("--full", is_flag=True, help="The larger models, too; for a schedule, up to an hour.")
@option_json()
def model_check_command(
    names: tuple[str, ...],
    schedule: Path | None,
    size: int | None,
    machine: Machine | None,
    trace: Path | None,
    run: str | None,
    skew: str | None,
    drift: str | None,
    window: int | None,
    aggregators: int | None,
    flow: str,
    routers: bool,
    picture: Path | None,
    write_cfg: str | None,
    output: Path | None,
    force: bool,
    symbolic: bool,
    kills: bool,
    edits: bool,
    full: bool,
    as_json: bool,
) -> int:
    """Check the named TLA+ models and listed tables (all small ones by default), or the tables of a schedule, with TLC.

    A single name also prints the counterexample of a model that must fail.

    With --trace: check whether a traced run is a behaviour of the specification. A trace of simulate is checked message by message,
    or, if --trace-flits wrote it, flit by flit, and needs --schedule. A trace of flits of inject needs its network as NAME, and its
    --params. A trace of aggregate is checked step by step; NAME is the network or schedule that was aggregated. A trace of
    endpoints states its own input; with NAME, a network or schedule, its messages must also be those of NAME.

    With --schedule and --routers: check the schedule's messages flit by flit in the routers of the machine: all orders of a few
    flits, random ones of more. Which message waits for which is left out, so that the answer is about any timing.

    With --symbolic: prove an inductive invariant of the slotted network interface with z3, for any valid table, and refute it for
    each mutant.

    Exit code 0 when all end as expected; 1 when one does not; 3 when a check did not finish.
    """
    if write_cfg is not None:
        return _write_configuration(write_cfg, output or Path(f"{write_cfg}.cfg"), force=force)
    if output is not None:
        raise click.UsageError("-o says where --write-cfg writes to")
    if kills:
        _takes_only("--kills prints one table of all mutants; it takes nothing else", "kills")
        return _of_the_checkout("kills")
    if edits:
        _takes_only("--edits is about single edits of modules; it takes their names and nothing else", "edits", "names")
        return _of_the_checkout("edits", *names)
    if symbolic and (schedule is not None or names or full):
        raise click.UsageError("--symbolic is about all tables; it takes no model names, no --schedule and no --full")
    if schedule is not None and names:
        raise click.UsageError("--schedule checks the tables of one schedule; it takes no model names")
    if trace is not None and not trace.is_file():
        raise InputError(f"{trace}: no such file")
    of_switches = trace is not None and is_aggregation_trace(trace)
    of_flits = trace is not None and is_flit_trace(trace)
    of_engines = trace is not None and is_endpoint_trace(trace)
    if of_switches and (schedule is not None or len(names) != 1 or symbolic or run is not None or flow != "message"):
        raise click.UsageError(
            "a trace of aggregate takes the network or schedule that was aggregated as its one NAME, --size, "
            "--params, --window and --aggregators, and nothing else"
        )
    if of_engines and (
        schedule is not None or len(names) > 1 or symbolic or run is not None or machine is not None or flow != "message"
    ):
        raise click.UsageError("a trace of endpoints takes the network or schedule that ran as its one NAME, and --size")
    if of_flits and (run is not None or symbolic or skew is not None or drift is not None or picture is not None):
        raise click.UsageError("a trace of flits has no --run, no --skew, no --drift and no --picture: its steps have no times")
    if of_flits and schedule is None and (len(names) != 1 or size is not None or flow != "message"):
        raise click.UsageError(
            "a trace of flits takes the --schedule that ran, or of inject the network as its one NAME, and --params"
        )
    if trace is not None and schedule is None and not (of_switches or of_engines or of_flits):
        raise click.UsageError("--trace needs the --schedule whose tables ran, or a trace of inject, aggregate or endpoints")
    if run is not None and trace is None:
        raise click.UsageError("--run is the execution model of a traced run; it needs --trace")
    if (skew is not None or drift is not None) and (trace is None or schedule is None):
        raise click.UsageError("--skew and --drift are those of a traced run of simulate; they need --trace and --schedule")
    if not of_switches and (window is not None or aggregators is not None):
        raise click.UsageError("--window and --aggregators are for a trace of aggregate")
    if routers and (schedule is None or trace is not None or picture is not None):
        raise click.UsageError("--routers is about the messages of a --schedule; it takes no --trace and no --picture")
    if picture is not None:
        if schedule is None:
            raise click.UsageError("--picture draws the tables of a --schedule")
        check_writable(picture, force=force)
    if (
        schedule is None
        and not (of_switches or of_flits)
        and not (of_engines and names)
        and (size is not None or machine is not None or flow != "message")
    ):
        raise click.UsageError("--size, --params and --flow are for --schedule; the models have their own")
    with working("model checking") as report:
        results = model_check(
            names,
            schedule=schedule,
            trace=trace,
            size=size,
            machine=machine,
            run=run,
            skew=skew,
            drift=drift,
            window=window,
            aggregators=aggregators,
            flow=flow,
            routers=routers,
            symbolic=symbolic,
            full=full,
            progress=_telling(report),
            tell=note,
        )
    if picture is not None and results[0].picture:
        write_atomically(picture, results[0].picture.encode(), force=force)
    document = {"models": [result_report(result) for result in results]}
    show(document, model_check_words, as_json=as_json)
    return exit_code(results)


def _telling(report: Callable[[str], None]) -> Callable[[ModelResult, int, int], None]:
    """A function that prints each result in a line, with the count so far."""
    return lambda result, done, total: report(Counted(result_words(result_report(result)), done, total))


def _write_configuration(name: str, path: Path, *, force: bool) -> int:
    _takes_only("--write-cfg writes the configuration of one model; it takes -o and --force", "write_cfg", "output", "force")
    write_atomically(path, configuration_file(name).encode(), force=force)
    note(f"wrote {path}")
    return 0


def _of_the_checkout(command: str, *names: str) -> int:
    """Options that have become programs of `tools/`, which is not in the wheel."""
    root = Path(__file__).parents[3]
    note(f"warning: --{command} is deprecated; use python -m tools.specs {command}")
    if not (root / "tools" / "specs").is_dir():
        raise click.UsageError(f"--{command} is only in a checkout of certree: python -m tools.specs {command}")
    if str(root) not in sys.path:
        sys.path.insert(0, str(root))
    programs: click.Group = import_module("tools.specs.__main__").specs
    return int(programs.main([command, *names], standalone_mode=False) or 0)


def _takes_only(what: str, *allowed: str) -> None:
    """A usage error, in these words, where the command line has other options than those allowed."""
    context = click.get_current_context()
    given = {name for name in context.params if context.get_parameter_source(name) is ParameterSource.COMMANDLINE}
    if given - set(allowed):
        raise click.UsageError(what)


def exit_code(results: list[ModelResult]) -> int:
    """The exit code: 1 for an unexpected result, else 3 for an unfinished one, else 0."""
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
    """A report for people: one line per model, then unexpected results with their counterexamples."""
    lines = [result_words(entry) for entry in report["models"]]
    for entry in report["models"]:
        if entry["message"] and (len(report["models"]) == 1 or not entry["as_expected"]):
            lines += [f"  {line}" for line in entry["message"].splitlines()]
        if entry["trace"] and (len(report["models"]) == 1 or not entry["as_expected"]):
            lines += [f"  {line}" for line in entry["trace"].splitlines()]
    if len(report["models"]) > 1:
        lines.append(f"{sum(entry['as_expected'] for entry in report['models'])} of {len(report['models'])} as expected")
    return "\n".join(lines)
