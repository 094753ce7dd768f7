"""Traces of `endpoints`, and of `simulate --endpoint` with an engine, in `model-check trace`."""

from pathlib import Path

from certree.api.artefacts import holds_schedule
from certree.api.inputs import size_or_default
from certree.api.runs.runnable import source_to_run
from certree.extras.endpoints.check.endpoint_trace_check import check_endpoint_trace
from certree.extras.endpoints.check.joint_trace_check import check_joint_trace, is_joint_trace
from certree.extras.endpoints.model.endpoint_traces import is_endpoint_trace, load_endpoint_trace
from certree.extras.endpoints.model.named_system import NamedSystem
from certree.extras.endpoints.run.endpoint_runs import made_schedule
from certree.extras.endpoints.run.tables.iterations import in_iterations
from certree.extras.endpoints.run.tables.table_runs import endpoint_of_runs
from certree.extras.tla.check.model_runs import ModelResult
from certree.extras.tla.run.trace_kinds import TRACE_KINDS, Asked, Takes, TraceKind
from certree.models.common.errors import UnsupportedError
from certree.models.common.files import Opened
from certree.models.schedule.collective import parse_collective
from certree.models.tables.tables import Tables


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
    named = NamedSystem(system, model.endpoint, model.system)
    return [check_joint_trace(asked.trace, in_iterations(tables, model, "paced"), named, asked.time_limit)]


_OF_ENGINES = Takes(
    frozenset({"size", "machine", "endpoint_params"}),
    (1, 2),
    "a trace of engines takes the tables or schedule that ran, and the system where it is not ace, and --size, --params and "
    "--endpoint-params",
)
TRACE_KINDS.append(TraceKind(is_joint_trace, _OF_ENGINES, checked_engines))
