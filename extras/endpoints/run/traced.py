"""Traces of `endpoints`, and of `simulate --endpoint`, in `model-check trace`."""

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from math import gcd
from pathlib import Path

from certree.api.artefacts import holds_schedule
from certree.api.inputs import size_or_default
from certree.api.runs.runnable import source_to_run
from certree.extras.endpoints.check.endpoint_trace_check import check_endpoint_trace
from certree.extras.endpoints.check.interface_trace_check import check_interface_trace, is_table_trace
from certree.extras.endpoints.check.joint_trace_check import check_joint_trace, is_joint_trace, require_messages
from certree.extras.endpoints.check.use_check import require_uses
from certree.extras.endpoints.model.endpoint import Runs
from certree.extras.endpoints.model.endpoint_traces import is_endpoint_trace, load_endpoint_trace
from certree.extras.endpoints.model.named_system import NamedSystem
from certree.extras.endpoints.model.whole_trace import WholeTrace, is_whole_trace, load_whole_trace
from certree.extras.endpoints.run.endpoint_runs import made_schedule
from certree.extras.endpoints.run.tables.iterations import in_iterations
from certree.extras.endpoints.run.tables.spacing import SPACINGS
from certree.extras.endpoints.run.tables.table_endpoints import TableEndpoints
from certree.extras.endpoints.run.tables.table_runs import endpoint_of_runs, spaced
from certree.extras.tla.check.model_runs import ModelResult, not_checked
from certree.extras.tla.check.traces.interfaces import RUNS, check_trace
from certree.extras.tla.check.traces.router_trace_check import check_schedule_flits
from certree.extras.tla.run.trace_kinds import TRACE_KINDS, Asked, Takes, TraceKind
from certree.hw.engines.runs import Options
from certree.hw.engines.table_framing import framed
from certree.models.common.errors import InputError, UnsupportedError, unknown_name
from certree.models.common.files import Opened
from certree.models.schedule.collective import parse_collective
from certree.models.tables.tables import Tables
from certree.models.traces.flits import load_flit_trace


def checked_endpoints(asked: Asked) -> list[ModelResult]:
    """A trace of endpoints, checked with a schedule or the default method's schedule for a network, where one is named."""
    ran = load_endpoint_trace(asked.trace)
    schedule = None
    for name in asked.names:
        collective = None if holds_schedule(name) else parse_collective(ran.collective)
        schedule = made_schedule(name, collective, None, {}, size_or_default(asked.size)).schedule
    return [check_endpoint_trace(ran, asked.trace, schedule, asked.time_limit)]


_TAKES = Takes(
    frozenset({"size"}),
    (0, 1),
    "a trace of endpoints takes the network or schedule that ran as its one NAME, and --size, and nothing else",
)
TRACE_KINDS.append(TraceKind(is_endpoint_trace, _TAKES, checked_endpoints))


def checked_tables(asked: Asked) -> list[ModelResult]:
    """A trace of `simulate --endpoint`, checked with the tables that ran and the system: its engines, where it has events of them,
    and its interfaces. Where no system is named it is ACE's, or for a trace without engines any that has tables as they are. Where
    the system states chunks, tables are cut as they were for the run, by its mode. InputError for a mode where nothing is cut, and
    for a system or parameters that change nothing in the check of a trace without engines."""
    source, trace = asked.names[0], asked.trace
    tables = source_to_run(Opened(Path(source)), asked.size, asked.machine)
    if not isinstance(tables, Tables):
        raise UnsupportedError(f"{source} has no tables: {tables.no_tables}")
    name = asked.names[1] if len(asked.names) > 1 else "ace" if is_joint_trace(trace) else "baseline"
    if asked.run not in (None, *RUNS):
        raise InputError(unknown_name("run mode", asked.run, RUNS))
    return _with_endpoints(asked, name, asked.run or RUNS[0], tables, trace)[0]


def _with_endpoints(asked: Asked, name: str, run: str, tables: Tables, messages: Path) -> tuple[list[ModelResult], Tables]:
    """The results on the engines, where the system of that name has some, and on interfaces; and the tables that ran, as cut."""
    has_engines, model = is_joint_trace(messages), endpoint_of_runs(name, asked.endpoint_params or "ace")
    if (model.system.runs is Runs.ENGINE) != has_engines:
        raise InputError(
            f"{messages}: {'events of engines' if has_engines else 'no events of engines'}; system {model.name} is another"
        )
    if model.cut is None:
        _refuse_idle(asked, has_engines=has_engines)
    every = may_have_run(tables, model, run)
    require_messages(messages, every[0])
    named = NamedSystem(model.name, model.endpoint, model.system)
    found = [_engines(messages, every[0], named, asked.time_limit)] if has_engines else []
    interfaces, ran = _interfaces(messages, every, asked.time_limit)
    return [*found, interfaces], ran


def may_have_run(tables: Tables, model: TableEndpoints, mode: str) -> list[Tables]:
    """The tables as the system cuts them; where it chooses their spacing, first with the one that it is likely to have chosen, then
    with others; of one that is ideal, which may have kept the order of another system, also as that one does."""
    models, is_stated = [model], model.cut is None or model.cut.spacing is not None
    if model.cut is not None and model.cut.period is None:
        others = model.endpoint.systems if model.system.runs is Runs.IDEAL else ()
        models += [replace(model, system=other) for other in others]
        if model.cut.spacing is None and mode == "paced":
            likely = [likely for one in models for likely in spaced(tables, Options(mode, endpoint=one))]
            models = likely + [replace(one, cut=replace(model.cut, spacing=spacing)) for one in models for spacing in SPACINGS]
    found: dict[tuple[int | None, int | None], Tables] = {}
    for place, one in enumerate(models):
        try:
            cut = in_iterations(tables, one, mode)
        except UnsupportedError:  # it runs nothing whose order could be kept
            if place == 0:
                raise
            continue
        spacing = None if one.cut is None else one.cut.spacing
        if is_stated or gcd(cut.period or 1, spacing or 1) == 1:  # others are never chosen
            found.setdefault((cut.period, cut.period and spacing), cut)
    return list(found.values())


def _refuse_idle(asked: Asked, *, has_engines: bool) -> None:
    """Raise InputError for what is given, and changes nothing where tables are checked as they are."""
    if asked.run is not None:
        raise InputError("run: only tables that the system cuts into chunks depend on the mode of the run; leave it out")
    if has_engines:
        return
    if len(asked.names) > 1:
        raise InputError(
            f"{asked.trace}: it does not say which system ran; without events of engines a system is for the chunks that it "
            f"states, and {asked.names[1]} states none: leave it out"
        )
    if asked.endpoint_params is not None:
        raise InputError(f"{asked.trace}: no events of engines, to which --endpoint-params could apply; leave it out")


def checked_whole(asked: Asked) -> list[ModelResult]:
    """A trace of a whole run: its engines where the run had some, its interfaces, with endpoints or without, and its routers. Where
    a specification does not have what ran, there is an entry that says so, and the lines are read."""
    whole, source = load_whole_trace(asked.trace), asked.names[0]
    if whole.endpoint is None and asked.endpoint_params is not None:
        raise InputError(f"{asked.trace}: the run had no endpoints, to which --endpoint-params could apply")
    tables = source_to_run(Opened(Path(source)), asked.size, asked.machine)
    if not isinstance(tables, Tables):
        raise UnsupportedError(f"{source} has no tables: {tables.no_tables}")
    with tempfile.TemporaryDirectory(prefix="certree-") as folder:
        messages, flits = Path(folder) / "messages", Path(folder) / "flits"
        messages.write_text(whole.messages)
        flits.write_text(whole.flits)
        return _of_whole(asked, whole, tables, messages, flits)


def _of_whole(asked: Asked, whole: WholeTrace, tables: Tables, messages: Path, flits: Path) -> list[ModelResult]:
    """The results on its two traces; what is wrong with a line names the file, and the line among those of its kind."""
    try:
        if whole.endpoint is None:
            found = [_interfaces_alone(asked, whole, tables, messages)]
        else:
            found, tables = _with_endpoints(asked, whole.endpoint, whole.run, tables, messages)
        routers = check_schedule_flits(load_flit_trace(flits), tables, whole.framing, asked.trace, time_limit=asked.time_limit)
    except InputError as error:
        words = str(error).replace(str(messages), f"{asked.trace}, messages").replace(str(flits), f"{asked.trace}, routers")
        raise InputError(words) from None
    return [*found, routers]


def _interfaces_alone(asked: Asked, whole: WholeTrace, tables: Tables, messages: Path) -> ModelResult:
    """The result on interfaces of a run without endpoints, or why there is no specification of what ran."""
    try:
        if not whole.equal_clocks:
            raise UnsupportedError("clocks that differ are not in the file; trace messages and flits apart")
        return check_trace(framed(tables, whole.framing), messages, whole.run, asked.time_limit)
    except UnsupportedError as error:
        require_messages(messages, tables)
        return not_checked("interfaces", str(error).replace(f"{messages}: ", ""))


def _engines(trace: Path, tables: Tables, named: NamedSystem, time_limit: float) -> ModelResult:
    """The result on engines, or why the specification does not have what ran."""
    try:
        return check_joint_trace(trace, tables, named, time_limit)
    except UnsupportedError as error:
        return not_checked(f"endpoints {named.text}", str(error).replace(f"{trace}: ", "").removeprefix("events of engines: "))


def _interfaces(trace: Path, every: Sequence[Tables], time_limit: float) -> tuple[ModelResult, Tables]:
    """The result on interfaces with endpoints, and how many messages keep the order of uses, which is checked without TLC, too;
    and the tables of which the run is a behaviour, otherwise the first ones."""
    count, ran = require_uses(trace, every[0]), every[0]
    try:
        result = check_interface_trace(trace, ran, time_limit)
        for other in every[1:]:
            if result.as_expected:
                break
            again = check_interface_trace(trace, other, time_limit)
            result, ran = (again, other) if again.as_expected else (result, ran)
    except UnsupportedError as error:
        result = not_checked("interfaces with endpoints", str(error).removeprefix("interfaces with endpoints: "))
    told = replace(result, message=f"{result.message}; order of uses: checked, {count} messages behind earlier uses of their cells")
    return told, ran


_OF_TABLES = Takes(
    frozenset({"size", "machine", "endpoint_params", "run"}),
    (1, 2),
    "a trace of a run with endpoints takes the tables or schedule that ran, the system where it is an engine other than ace or "
    "states chunks, --run where it states chunks, and --size, --params and --endpoint-params",
)
TRACE_KINDS.append(TraceKind(is_table_trace, _OF_TABLES, checked_tables))
_OF_WHOLE = Takes(
    _OF_TABLES.options - {"run"},
    (1,),
    "a trace of a whole run takes the tables or schedule that ran, --size, --params and --endpoint-params",
)
TRACE_KINDS.append(TraceKind(is_whole_trace, _OF_WHOLE, checked_whole))
