"""The sub-commands of `certree model-check`, except the default one: schedule, routers, trace, symbolic, config."""

from pathlib import Path
from typing import Any

import click

from certree.cli.words.parameters import COUNT, Decorator, option_json, option_params, option_size
from certree.cli.words.terminal import note
from certree.extras.tla.check.models import configuration_file
from certree.extras.tla.check.traces.interfaces import RUNS
from certree.extras.tla.command.outcomes import checked
from certree.extras.tla.run.trace_kinds import Takes, added_kind
from certree.models.common.errors import InputError
from certree.models.common.files import write_atomically
from certree.models.schedule.timing import FRAMINGS
from certree.models.traces.flits import is_flit_trace

FILE = click.Path(path_type=Path)
#: options that several sub-commands have
FLOW = click.option(
    "--flow",
    type=click.Choice(FRAMINGS),
    default="message",
    show_default=True,
    help="A chunk of the tables as one message, or as packets.",
)
PICTURE = click.option("--picture", type=FILE, help="Write an SVG of the counterexample.")
FORCE = click.option("--force", is_flag=True, help="Overwrite an existing file.")
RUN = click.option("--run", type=click.Choice(RUNS), default=RUNS[0], show_default=True, help="How rows are taken.")
LONG = click.option("--full", is_flag=True, help="Up to an hour, instead of five minutes.")
#: options of a traced run
TRACED: tuple[Decorator, ...] = (
    click.option("--run", type=click.Choice(RUNS), help="Mode of the traced run; slotted by default."),
    click.option("--skew", help="Skews of the traced run, as given to simulate."),
    click.option("--drift", help="Drifts of the traced run, as given to simulate."),
    click.option("--window", type=COUNT, help="Window of the traced aggregate; by default that of the trace."),
    click.option("--aggregators", type=COUNT, help="Aggregators of its switches; by default that of the trace."),
    click.option("--endpoint-params", metavar="NAME|FILE", help="Endpoints of the traced tables; by default ace."),
)


def all_of(*options: Decorator) -> Decorator:
    """These options, in this order in the help."""

    def decorate(function: Any) -> Any:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


@click.command("schedule")
@click.argument("schedule", type=FILE, metavar="FILE")
@all_of(option_size(recorded=True), option_params(recorded=True), FLOW, RUN, PICTURE, FORCE, LONG, option_json())
def schedule_mode(**asked: Any) -> int:
    """Check the tables of a schedule or a folder.

    Slotted, with the times of the machine; or paced, whatever the times of messages and of counters.
    """
    return checked(**asked)


@click.command("routers")
@click.argument("schedule", type=FILE, metavar="FILE")
@all_of(option_size(recorded=True), option_params(recorded=True), FLOW, LONG, option_json())
def routers_mode(**asked: Any) -> int:
    """Check a schedule's messages in the routers.

    Can they deadlock in the routers of the machine, at any timing? All orders of a few flits are checked, random ones of more.
    Which message waits for which is left out, so that the answer is about any timing.
    """
    return checked(routers=True, **asked)


@click.command("symbolic")
@all_of(RUN, option_json())
def symbolic_mode(run: str, as_json: bool) -> int:
    """Prove with z3 that tables of any size work.

    An inductive invariant of the slotted network interface is proved for any valid table, and refuted for each mutant; or of the
    paced one, whatever the times of messages and of counters, for any table that is right at any timing.
    """
    return checked(symbolic=True, run=run, as_json=as_json)


@click.command("config")
@click.argument("name", metavar="NAME")
@all_of(click.option("-o", "--output", type=FILE, help="The file; NAME.cfg by default."), FORCE)
def config_mode(name: str, output: Path | None, force: bool) -> None:
    """Write a model's .cfg for the TLA+ Toolbox, and check nothing."""
    path = output or Path(f"{name}.cfg")
    write_atomically(path, configuration_file(name).encode(), force=force)
    note(f"wrote {path}")


_FLITS = "a trace of flits takes the --schedule that ran, --size, --params and --flow; one of inject the network as its one NAME, "
_INJECTED = Takes(frozenset({"machine"}), (1,), f"{_FLITS}and --params; and nothing else")
_ROUTED = Takes(frozenset({"schedule", "size", "machine", "flow"}), (0,), _INJECTED.words)
_SIMULATED = Takes(
    frozenset({"schedule", "size", "machine", "flow", "run", "skew", "drift", "picture"}),
    (0,),
    "a trace of simulate takes the --schedule whose tables ran, --size, --params, --flow, --run, --skew, --drift and --picture, "
    "and nothing else",
)


@click.command("trace")
@click.argument("trace", type=FILE, metavar="TRACE")
@click.argument("names", nargs=-1, metavar="[NAME]")
@click.option("--schedule", type=FILE, help="The schedule file or folder of tables that ran.")
@all_of(option_size(recorded=True), option_params(recorded=True), FLOW, *TRACED, PICTURE, FORCE, LONG, option_json())
def trace_mode(trace: Path, names: tuple[str, ...], force: bool, full: bool, as_json: bool, **asked: Any) -> int:
    """Check a traced run against the specification.

    Is a run of simulate, inject, aggregate or endpoints a behaviour of the specification? A trace of simulate is checked
    message by message, or, if --trace-flits wrote it, flit by flit, and needs --schedule. A trace of flits of inject needs its
    network as NAME, and its --params. A trace of aggregate is checked step by step; NAME is the network or schedule that was
    aggregated. A trace of endpoints states its own input; with NAME, a network or schedule, its messages must also be those of
    NAME.
    """
    if not trace.is_file():
        raise InputError(f"{trace}: no such file")
    takes = _taken(trace, asked["schedule"])
    given = {name for name, value in asked.items() if value is not None and (name, value) != ("flow", "message")}
    needed = takes.options & {"schedule"}
    if len(names) not in takes.names or not needed <= given <= takes.options:
        raise click.UsageError(takes.words)
    return checked(names=names, trace=trace, full=full, force=force, as_json=as_json, **asked)


def _taken(trace: Path, schedule: Path | None) -> Takes:
    """The arguments and options that this trace takes."""
    if is_flit_trace(trace):
        return _INJECTED if schedule is None else _ROUTED
    kind = added_kind(trace)
    return _SIMULATED if kind is None else kind.takes


MODES = (schedule_mode, routers_mode, trace_mode, symbolic_mode, config_mode)
