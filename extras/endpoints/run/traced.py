"""Traces of `endpoints` in `model-check trace`."""

from certree.api.artefacts import holds_schedule
from certree.api.inputs import size_or_default
from certree.extras.endpoints.check.endpoint_trace_check import check_endpoint_trace
from certree.extras.endpoints.model.endpoint_traces import is_endpoint_trace, load_endpoint_trace
from certree.extras.endpoints.run.endpoint_runs import made_schedule
from certree.extras.tla.check.model_runs import ModelResult
from certree.extras.tla.run.trace_kinds import TRACE_KINDS, Asked, Takes, TraceKind
from certree.models.schedule.collective import parse_collective


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
