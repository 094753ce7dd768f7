"""Traces of `endpoints`, and of `simulate --endpoint` with an engine, in `model-check trace`."""

import tempfile
from dataclasses import replace
from pathlib import Path

from certree.api.artefacts import holds_schedule
from certree.api.inputs import size_or_default
from certree.api.runs.runnable import source_to_run
from certree.extras.endpoints.check.endpoint_trace_check import check_endpoint_trace
from certree.extras.endpoints.check.joint_trace_check import check_joint_trace, is_joint_trace, require_messages
from certree.extras.endpoints.check.use_check import require_uses
from certree.extras.endpoints.model.endpoint import Runs
from certree.extras.endpoints.model.endpoint_traces import is_endpoint_trace, load_endpoint_trace
from certree.extras.endpoints.model.named_system import NamedSystem
from certree.extras.endpoints.model.whole_trace import WholeTrace, is_whole_trace, load_whole_trace
from certree.extras.endpoints.run.endpoint_runs import made_schedule
from certree.extras.endpoints.run.tables.iterations import in_iterations
from certree.extras.endpoints.run.tables.table_runs import endpoint_of_runs
from certree.extras.tla.check.model_runs import ModelResult, not_checked
from certree.extras.tla.check.traces.interfaces import check_trace
from certree.extras.tla.check.traces.router_trace_check import check_schedule_flits
from certree.extras.tla.run.trace_kinds import TRACE_KINDS, Asked, Takes, TraceKind
from certree.hw.engines.table_framing import framed
from certree.models.common.errors import InputError, UnsupportedError
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


def checked_engines(asked: Asked) -> list[ModelResult]:
    """A trace of `simulate --endpoint ace`, checked with the tables that ran and the system, ACE's where none is named. Where that
    states chunks, tables are cut as they were for the run: the period of iterations does not matter here."""
    source, system = asked.names[0], asked.names[1] if len(asked.names) > 1 else "ace"
    tables = source_to_run(Opened(Path(source)), asked.size, asked.machine)
    if not isinstance(tables, Tables):
        raise UnsupportedError(f"{source} has no tables: {tables.no_tables}")
    model = endpoint_of_runs(system, asked.endpoint_params or "ace")
    named, tables = NamedSystem(system, model.endpoint, model.system), in_iterations(tables, model, "paced")
    require_messages(asked.trace, tables)
    return [_with_uses(check_joint_trace(asked.trace, tables, named, asked.time_limit), require_uses(asked.trace, tables))]


def checked_whole(asked: Asked) -> list[ModelResult]:
    """A trace of a whole run: its routers, and its engines where the run had some, or its interfaces where it had no endpoints. Of
    other endpoints, and where the specification does not have what ran, there is an entry that says so, and the lines are read."""
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
        named = None
        if whole.endpoint is not None:
            model = endpoint_of_runs(whole.endpoint, asked.endpoint_params or "ace")
            tables = in_iterations(tables, model, whole.run)
            named = NamedSystem(whole.endpoint, model.endpoint, model.system)
        try:
            of_messages = _of_messages(asked, whole, tables, named, messages)
        except UnsupportedError as error:
            what = "interfaces" if named is None else f"endpoints {named.text}"
            of_messages = not_checked(what, str(error).replace(f"{messages}: ", ""))
            require_messages(messages, tables)
        if named is not None:
            of_messages = _with_uses(of_messages, require_uses(messages, tables))
        routers = check_schedule_flits(load_flit_trace(flits), tables, whole.framing, asked.trace, time_limit=asked.time_limit)
    except InputError as error:
        words = str(error).replace(str(messages), f"{asked.trace}, messages").replace(str(flits), f"{asked.trace}, routers")
        raise InputError(words) from None
    return [of_messages, routers]


def _of_messages(asked: Asked, whole: WholeTrace, tables: Tables, named: NamedSystem | None, messages: Path) -> ModelResult:
    """The result on messages and engines. UnsupportedError where there is no specification of what ran."""
    if named is None:
        if not whole.equal_clocks:
            raise UnsupportedError("clocks that differ are not in the file; trace messages and flits apart")
        return check_trace(framed(tables, whole.framing), messages, whole.run, asked.time_limit)
    if named.system.runs is not Runs.ENGINE:
        raise UnsupportedError("only engines have a specification")
    return check_joint_trace(messages, tables, named, asked.time_limit)


def _with_uses(result: ModelResult, count: int) -> ModelResult:
    """The result, and how many messages keep the order of uses."""
    return replace(result, message=f"{result.message}; order of uses: checked, {count} messages behind earlier uses of their cells")


_OF_ENGINES = Takes(
    frozenset({"size", "machine", "endpoint_params"}),
    (1, 2),
    "a trace of engines takes the tables or schedule that ran, and the system where it is not ace, and --size, --params and "
    "--endpoint-params",
)
TRACE_KINDS.append(TraceKind(is_joint_trace, _OF_ENGINES, checked_engines))
_OF_WHOLE = Takes(
    _OF_ENGINES.options,
    (1,),
    "a trace of a whole run takes the tables or schedule that ran, --size, --params and --endpoint-params",
)
TRACE_KINDS.append(TraceKind(is_whole_trace, _OF_WHOLE, checked_whole))
