"""`certree simulate` (run): Simulate tables or a schedule cycle by cycle."""

from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from certree.api.artefacts import kind_of
from certree.api.reports.run_report import (
    holds,
    left_out,
    planned_cycles,
    simulation_report,
    simulation_words,
    switch_report,
    switch_words,
)
from certree.api.reports.schedule_report import closed_form
from certree.api.runs.runnable import source_to_run
from certree.api.runs.simulation import NO_ENDPOINT, simulate, simulate_switch
from certree.cli.words.parameters import (
    COUNT,
    check_output,
    key_values,
    option_json,
    option_params,
    option_size,
    option_without_routers,
)
from certree.cli.words.progress_bar import now_and_then, working
from certree.cli.words.terminal import note, note_routers, show
from certree.hw.engines.runs import ENGINES, MODES, STEP_TIMES, Engine
from certree.hw.engines.schedule_run import SimulatedSchedule
from certree.hw.engines.traces import expected_size
from certree.hw.tables.directory import read_tables
from certree.models.common.errors import InputError
from certree.models.common.extras import provided
from certree.models.common.files import Opened
from certree.models.machine.machine import Machine
from certree.models.schedule.timing import FRAMINGS
from certree.models.tables.tables import Tables

_SWITCH_OPTIONS = ("engine", "without_routers", "skew", "drift")  # the options among those that --then goes with
READINGS = provided("readings of engine flow")
_MODEL_CHECKED = 6  # endpoints of a network whose tables TLC checks in minutes


@click.command("simulate")
@click.argument("path", type=click.Path(path_type=Path))
@option_size(recorded=True)
@option_params(recorded=True)
@click.option(
    "--run",
    type=click.Choice(MODES),
    default="slotted",
    show_default=True,
    help="When NIs send rows: in their slots, or as soon as dependencies are met.",
)
@click.option("--engine", type=click.Choice([*ENGINES, Engine.FLOW.value]), default="auto", show_default=True,
              help="fast: one event per message and link; lanes: the same, flit by flit; flit: through routers; "
                   "flow: seconds by GenModel, flows share links.")  # fmt: skip
@option_without_routers()
@click.option(
    "--flow", type=click.Choice(FRAMINGS), default="message", show_default=True, help="Send a chunk as one message or as packets."
)
@click.option(
    "--background",
    type=click.Path(path_type=Path),
    help="CSV file of background packets (see inject), on separate virtual channels.",
)
@click.option("--longest-wait", type=COUNT,
              help="On routers: report packets delayed by at least N cycles by other traffic (starvation).")  # fmt: skip
@click.option("--allow-deadlock", is_flag=True, help="Run even where routes may deadlock in the routers, to see what happens.")
@click.option("--then", "after", type=click.Path(path_type=Path),
              help="Tables that take over when all iterations of PATH, tables of the epoch before, are done.")  # fmt: skip
@click.option("--allow-late", is_flag=True, help="Run a schedule that relies on slots even where messages may be late.")
@click.option("--skew", help="Cycles by which counters start late: 7 for every node, or node=cycles pairs, 3=100,5=20.")
@click.option("--drift", help="Slowdown of counters: a rational (1/10000, -50ppm), or node=drift pairs.")
@click.option("--step-time", type=click.Choice(STEP_TIMES), default="paper", show_default=True,
              help="Paced: length of a step without rows. paper: MultiTree, footnote 4; "
                   "exact: with latency and reduction.")  # fmt: skip
@click.option("--endpoint", metavar="SYSTEM",
              help="none, or a system of endpoints: their memory bus, DMAs and engine feed and drain the NIs.")  # fmt: skip
@click.option("--endpoint-params", metavar="NAME|FILE", default="ace", show_default=True,
              help="Endpoints: a preset or a TOML file.")  # fmt: skip
@click.option("--computing", metavar="SHARE", default="0",
              help="Share of the memory bandwidth of endpoints that computing asks for, such as 3/5.")  # fmt: skip
@click.option("--trace", type=click.Path(path_type=Path),
              help="Write one JSON line per message, or, to a name ending in .json, a trace for ui.perfetto.dev.")  # fmt: skip
@click.option("--trace-flits", type=click.Path(path_type=Path),
              help="On routers: write a line for every step of flits and credits; may be the file of --trace.")  # fmt: skip
@click.option("--force", is_flag=True, help="Overwrite the traces.")
@click.option("--model", default="gentree", show_default=True, help="Flow engine: GenModel's parameters, a preset or a TOML file.")
@click.option("--reading", multiple=True, callback=key_values, metavar="NAME=VALUE",
              help="Flow engine: interpretation of GenModel where its paper is silent: "
                   + "; ".join(f"{name}={'|'.join(values)}" for name, values in READINGS.items()) + ".")  # fmt: skip
@option_json()
@click.pass_context
def simulate_command(
    context: click.Context,
    /,
    path: Path,
    size: int | None,
    machine: Machine | None,
    run: str,
    engine: str,
    flow: str,
    longest_wait: int | None,
    after: Path | None,
    trace: Path | None,
    trace_flits: Path | None,
    force: bool,
    model: str,
    reading: dict[str, str],
    as_json: bool,
    **asked: Any,
) -> int:
    """Run a tables directory, or the tables exported from a schedule, with real data, cycle by cycle.

    A schedule that has no tables, such as one in which switches reduce, runs from its own transfers, and a note says so. The flow
    engine instead times a schedule file by GenModel on its network, step by step (GenTree, Section 5.3).

    With --then other tables, of the next epoch, take over at the end of the last iteration, without a reset; a message that
    meets an interface which executes the other tables is reported.

    Exit code 1 when a rank has a wrong result, or operands are added in another order than is stated, or when a slotted run
    without other packets is late, meets contention that is not planned, or misses its closed form (which assumes equal clocks,
    and routers that add nothing to it: what they add is shown, and is no failure); when epochs are mixed (--then) or packets
    starve (--longest-wait); when routes may deadlock in the routers of the machine, with any engine (--without-routers leaves
    routers out); or when a schedule relies on slots and its messages may be late because of routers, --skew, --drift or
    --background, or of endpoints where iterations share memory (--allow-late runs it).
    """
    opened = Opened(path)
    if (kind := kind_of(opened)) is not None and kind.run_by is not None:
        return int(provided(kind.run_by)(context, opened))
    _require_fitting(context, engine)
    _require_endpoint(context)
    if engine == Engine.FLOW:
        return int(provided("engine flow")(path, size, model, reading, as_json=as_json))
    if after is not None:
        return _switch(context, path, after, as_json=as_json)
    for path_of_trace in (trace, trace_flits):
        check_output(path_of_trace, force=force)
    source = source_to_run(opened, size, machine, note)
    expected = _expected_cycles(source) if run == "slotted" else None
    if trace is not None:
        messages, length = expected_size(source.schedule, trace, has_endpoints=_has_endpoints(context))
        of = " before compression" * (trace.suffix == ".gz") + " for each chunk" * (":chunk=" in str(context.params["endpoint"]))
        note(f"a trace of {messages:,} messages, about {length / 10**6:,.1f} MB{of}")
    with working("simulating") as tell:
        result = simulate(
            source, run=run, engine=engine, flow=flow, longest_wait=longest_wait, trace=trace, trace_flits=trace_flits, force=force,
            progress=now_and_then(tell, expected), **asked,
        )  # fmt: skip
    note_routers(result.engine, result.router_effect)
    if result.no_tables is not None:
        note(f"running from transfers, not from tables: {result.no_tables}")
    document = simulation_report(result, source) | {"flow": flow}
    if left_out(result):
        document["router_effect"] = result.router_effect
    if longest_wait is not None:
        document["starved"] = list(result.starved)
    if result.others is not None:
        others = result.others
        document["background"] = {"packets": others.packets, "arrived": others.arrived, "longest_latency": others.longest}
    show(document, simulation_words, as_json=as_json, then=_then(path, source))
    return 0 if holds(result, planned_cycles(source.schedule)) and not result.starved else 1


def _switch(context: click.Context, path: Path, after: Path, *, as_json: bool) -> int:
    """Run tables, and then those that take over."""
    given = {name for name in context.params if context.get_parameter_source(name) is ParameterSource.COMMANDLINE}
    for name in sorted(given - {"path", "after", "as_json", *_SWITCH_OPTIONS}):
        option = {"machine": "params"}.get(name, name.replace("_", "-"))
        raise InputError(f"--{option}: not with --then; allowed: --{', --'.join(_SWITCH_OPTIONS).replace('_', '-')}")
    for folder in (path, after):
        if not folder.is_dir():
            raise InputError(f"{folder} is not a tables directory; --then is for two of them, exported with --epoch")
    before, following = read_tables(path), read_tables(after)
    with working("simulating"):
        result = simulate_switch(before, following, **{name: context.params[name] for name in _SWITCH_OPTIONS})
    note_routers(result.before.engine, result.before.router_effect)
    show(switch_report(result, before, following), switch_words, as_json=as_json)
    return 0 if result.data_ok and holds(result.before) and holds(result.after) else 1


def _expected_cycles(source: Tables | SimulatedSchedule) -> int | None:
    """The closed form of a slotted run, for progress; None without one."""
    slot_cycles = source.slot_cycles if isinstance(source, Tables) else None
    cycles: int | None = closed_form(source.schedule, source.message_bytes, source.machine, slot_cycles)["time_cycles"]
    return cycles


def _require_fitting(context: click.Context, engine: str) -> None:
    """Raise InputError for an option that the engine would ignore."""
    of_flow = {"model", "reading"}
    both = {"path", "size", "engine", "as_json"}
    for name in context.params:
        given = context.get_parameter_source(name) is ParameterSource.COMMANDLINE
        if given and name not in both and (name in of_flow) != (engine == Engine.FLOW):
            option = "params" if name == "machine" else name.replace("_", "-")
            raise InputError(f"--{option} needs " + ("--engine flow" if name in of_flow else "another engine than flow"))


def _require_endpoint(context: click.Context) -> None:
    """Raise InputError for an option that a run without endpoints would ignore."""
    for name in ("endpoint_params", "computing"):
        given = context.get_parameter_source(name) is ParameterSource.COMMANDLINE
        if given and not _has_endpoints(context):
            raise InputError(f"--{name.replace('_', '-')} needs --endpoint SYSTEM")


def _has_endpoints(context: click.Context) -> bool:
    return context.params["endpoint"] not in (None, NO_ENDPOINT)


def _then(path: Path, source: Tables | SimulatedSchedule) -> tuple[object, ...]:
    """The command that usually follows: small tables can be model-checked."""
    small = len(source.topology.endpoints) <= _MODEL_CHECKED and isinstance(source, Tables)
    return ("model-check", "schedule", path) if small else ()
