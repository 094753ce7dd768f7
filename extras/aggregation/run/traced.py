"""Traces of `aggregate` in `model-check trace`."""

from certree.api.artefacts import holds_schedule
from certree.extras.aggregation.check.aggregation_trace_check import check_aggregation_trace
from certree.extras.aggregation.check.reducing_network import aggregated_flows
from certree.extras.aggregation.model.aggregation_traces import is_aggregation_trace, load_aggregation_trace
from certree.extras.aggregation.run.aggregations import aggregated_schedule
from certree.extras.tla.check.model_runs import ModelResult
from certree.extras.tla.run.trace_kinds import TRACE_KINDS, Asked, Takes, TraceKind


def checked_aggregation(asked: Asked) -> list[ModelResult]:
    """A trace of aggregate, checked with the trees of a network or schedule; a network gets one tree for each flow of the run."""
    traced, source = load_aggregation_trace(asked.trace), asked.names[0]
    schedule, used = aggregated_schedule(source, asked.size, asked.machine, None, asked.tell)
    if len(traced) < schedule.chunks and not holds_schedule(source):
        schedule, used = aggregated_schedule(source, asked.size, asked.machine, len(traced))
    flows = aggregated_flows(schedule, used.message_bytes, used.machine)
    return check_aggregation_trace(
        traced, flows, asked.trace, window=asked.window, aggregators=asked.aggregators, time_limit=asked.time_limit
    )


_TAKES = Takes(
    frozenset({"size", "machine", "window", "aggregators"}),
    (1,),
    "a trace of aggregate takes the network or schedule that was aggregated as its one NAME, --size, --params, --window and "
    "--aggregators, and nothing else",
)
TRACE_KINDS.append(TraceKind(is_aggregation_trace, _TAKES, checked_aggregation))
