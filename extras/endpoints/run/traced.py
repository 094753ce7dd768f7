"""Traces of `endpoints` in `model-check trace`."""

from collections.abc import Sequence
from pathlib import Path

from certree.api.artefacts import holds_schedule
from certree.api.runs.trace_kinds import TRACE_KINDS, Takes, TraceKind
from certree.extras.endpoints.check.endpoint_trace_check import check_endpoint_trace
from certree.extras.endpoints.model.endpoint_traces import is_endpoint_trace, load_endpoint_trace
from certree.extras.endpoints.run.endpoint_runs import made_schedule
from certree.models.schedule.collective import parse_collective
from certree.verify.tla.model_runs import ModelResult


def checked_endpoints(trace: Path, names: Sequence[str], size: int, time_limit: float) -> ModelResult:
    """A trace of endpoints, checked with a schedule or the default method's schedule for a network, where one is named."""
    ran = load_endpoint_trace(trace)
    schedule = None
    if names:
        collective = None if holds_schedule(names[0]) else parse_collective(ran.collective)
        schedule = made_schedule(names[0], collective, None, {}, size).schedule
    return check_endpoint_trace(ran, trace, schedule, time_limit)


_TAKES = Takes(
    frozenset({"size"}),
    (0, 1),
    "a trace of endpoints takes the network or schedule that ran as its one NAME, and --size, and nothing else",
)
TRACE_KINDS.append(TraceKind(is_endpoint_trace, _TAKES, checked_endpoints))
