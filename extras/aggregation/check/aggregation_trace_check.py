"""Traces of reducing switches as behaviours of the specification: `specs/TraceInNetworkReduce.tla`, with the log as constant."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from certree.extras.aggregation.check.reducing_network import AggregatedFlow, check_traced_network
from certree.extras.aggregation.model.aggregation_traces import TracedFlow
from certree.extras.tla.check.generated import Generated, function, members, record, sequence, string
from certree.extras.tla.check.model_runs import ModelResult
from certree.extras.tla.check.traces.traced_steps import check_steps, log_text

#: property that a step may violate -> the field of the trace that it is about
_FIELD_OF = {
    "SwitchAsLogged": "switch",
    "WorksAsLogged": "works_on",
    "ArrivedAsLogged": "arrived",
    "ResultAsLogged": "has_result",
    "SentAsLogged": "sends",
}
_INVARIANTS = (*_FIELD_OF, "FinishedInTheEnd", "BalancedInTheEnd", "EachOnce", "RightSum")
#: property that the end of a trace may violate -> what is missing then
_LACKS = {
    "FinishedInTheEnd": "some host lacks a result",
    "BalancedInTheEnd": "the copies that were sent and neither arrived nor were lost are not those that it says are left",
}
_PROPERTIES = ("IsBehaviour", "SafeReuse")


def check_aggregation_trace(
    traced: Sequence[TracedFlow],
    flows: Sequence[AggregatedFlow],
    trace: Path,
    *,
    window: int | None = None,
    aggregators: int | None = None,
    time_limit: float = 300.0,
) -> list[ModelResult]:
    """Check step by step that the flows of a trace written by `aggregate --trace` are behaviours of the specification.

    `trace`: the file, for messages. `flows`: the flows that the run must have, computed from network and size
    (`aggregated_flows`). `window` and `aggregators`: of the run; where they are None, the values of the trace are used, and the
    message says so. A failure names the first line for which specification and trace differ. The trace of a run that stalled fails
    too: it violates a promise of the specification, or does not end. Raises InputError for a trace of another network or size,
    ToolMissingError without Java or TLC. TLC's time grows with the square of the lines.
    """
    check_traced_network(traced, flows, trace, window=window, aggregators=aggregators)
    return [_checked(flow, index, _believed(flow, window, aggregators), time_limit) for index, flow in enumerate(traced)]


def _believed(flow: TracedFlow, window: int | None, aggregators: int | None) -> str:
    """The values of a run that are known only from its trace."""
    told = [f"a window of {flow.window}"] if window is None else []
    told += [f"{flow.places} places"] if aggregators is None else []
    return f", with {' and '.join(told)} as stated in the trace" if told else ""


def _checked(flow: TracedFlow, index: int, believed: str, time_limit: float) -> ModelResult:
    tables = {"Parent": function(sorted(flow.parent.items())), "Log": log_text(flow.steps, _line_text)}
    tables["Left"] = members(sequence((string(way), node, number, copies)) for (way, node, number), copies in flow.left.items())
    values = {
        "Hosts": members(flow.hosts),
        "Switches": members(flow.switches),
        "Root": flow.root,
        "Packets": flow.packets,
        "Window": flow.window,
        "Slots": flow.places,
    }
    model = Generated("TraceInNetworkReduce", tables, values, _INVARIANTS, _PROPERTIES, "TraceSpec")
    name, lacks = f"trace of reducing switches, flow {index}", _LACKS
    return check_steps(name, model, flow.steps, _words, lacks, _FIELD_OF, believed=believed, time_limit=time_limit)


def _line_text(step: Mapping[str, Any]) -> str:
    event = step["event"]
    way = step.get("way", "up" if event in ("send", "add") else "down")
    fields = {"event": string(event), "way": string(way), "node": step["node"], "number": step["number"]}
    if event in ("add", "pass"):
        fields |= {"switch": step["switch"], "works": step["works_on"], "arrived": members(step["arrived"])}
        fields |= {"known": str(step["has_result"]).upper(), "sends": string(step["sends"])}
    return record(**fields)


def _words(step: Mapping[str, Any]) -> str:
    return f"{step['event']} of packet {step['number']}, node {step['node']}"
