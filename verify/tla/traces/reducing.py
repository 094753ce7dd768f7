"""A trace of reducing switches as a behaviour of the specification: `specs/TraceInNetworkReduce.tla`, the log as its constant."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from certree.models.traces.reducing import TracedFlow
from certree.verify.tla.runs import ModelResult, run_generated, traced_result
from certree.verify.tla.table_constants import function, members
from certree.verify.tla.tlc import Result, TlcRun
from certree.verify.tla.traces.reducing_network import AggregatedFlow, check_traced_network

MODULE = "AggregationTraceModel"
#: what a step may differ in -> the field of the trace that says so
_FIELD_OF = {
    "SwitchAsLogged": "switch",
    "WorksAsLogged": "works_on",
    "ArrivedAsLogged": "arrived",
    "ResultAsLogged": "has_result",
    "SentAsLogged": "sends",
}
_INVARIANTS = (*_FIELD_OF, "FinishedInTheEnd", "EachOnce", "RightSum")
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
    """Whether the flows of a trace that `aggregate --trace` wrote are behaviours of the specification, step by step.

    `trace`: the file, for messages. `flows`: what the run must be of, made from network and size (`aggregated_flows`); `window` and
    `aggregators` of the run, for which the trace's own word is taken where they are None, and the message says so. A refutation
    names the first line at which specification and trace part. The trace of a run that was ended because it had stalled is
    refuted, too: it breaks a promise of the specification, or does not end. Raises InputError for a trace of another network or
    size, ToolMissingError without Java or TLC. TLC's time grows with the square of the lines.
    """
    check_traced_network(traced, flows, trace, window=window, aggregators=aggregators)
    return [_checked(flow, index, _believed(flow, window, aggregators), time_limit) for index, flow in enumerate(traced)]


def _believed(flow: TracedFlow, window: int | None, aggregators: int | None) -> str:
    """What of a run only its trace says."""
    told = [f"a window of {flow.window}"] if window is None else []
    told += [f"{flow.places} places"] if aggregators is None else []
    return f", with {' and '.join(told)} by the trace's own word" if told else ""


def _checked(flow: TracedFlow, index: int, believed: str, time_limit: float) -> ModelResult:
    run = run_generated(MODULE, _module_text(flow), _config_text(flow), time_limit=time_limit)
    return traced_result(f"trace of reducing switches, flow {index}", run, _message(run, flow, believed))


def _module_text(flow: TracedFlow) -> str:
    parent = function([(node, str(above)) for node, above in sorted(flow.parent.items())])
    log = ",\n  ".join(_line_text(step) for _, step in flow.steps)
    # a definition that is evaluated once, and a name for the configuration
    lines = [
        f"---- MODULE {MODULE} ----",
        "EXTENDS TraceInNetworkReduce, TLC",
        f"MCParent == {parent}",
        f"GivenLog == <<\n  {log}>>",
        "MCLog == GivenLog",
        "====",
    ]
    return "\n".join(lines) + "\n"


def _line_text(step: Mapping[str, Any]) -> str:
    event = step["event"]
    way = step.get("way", "up" if event in ("send", "add") else "down")
    fields = [f'event |-> "{event}"', f'way |-> "{way}"', f"node |-> {step['node']}", f"number |-> {step['number']}"]
    if event in ("add", "pass"):
        fields += [f"switch |-> {step['switch']}", f"works |-> {step['works_on']}", f"arrived |-> {members(step['arrived'])}"]
        fields += [f"known |-> {str(step['has_result']).upper()}", f'sends |-> "{step["sends"]}"']
    return f"[{', '.join(fields)}]"


def _config_text(flow: TracedFlow) -> str:
    lines = [
        "SPECIFICATION TraceSpec",
        "CONSTANTS",
        f"  Hosts = {members(flow.hosts)}",
        f"  Switches = {members(flow.switches)}",
        f"  Root = {flow.root}",
        "  Parent <- MCParent",
        f"  Packets = {flow.packets}",
        f"  Window = {flow.window}",
        f"  Slots = {flow.places}",
        "  Log <- MCLog",
        f"INVARIANTS {' '.join(_INVARIANTS)}",
        f"PROPERTIES {' '.join(_PROPERTIES)}",
    ]
    return "\n".join(lines) + "\n"


def _message(run: TlcRun, flow: TracedFlow, believed: str) -> str:
    """What was found: the first line that specification and trace see differently."""
    if run.result is Result.SUCCESS:
        return f"{len(flow.steps)} steps, all as the specification has them{believed}"
    if not run.trace:
        return f"{run.broken}: no state to show" if run.broken else ""
    done = run.trace[-1]["line"]
    if run.result is Result.DEADLOCK:
        return f"{_words(flow, done)}: the specification cannot do that there"
    if run.broken == "FinishedInTheEnd":
        return f"{run.broken}: the trace ends after {done} steps, and some host lacks a result"
    field = _FIELD_OF.get(run.broken)
    told = (
        ""
        if field is None
        else f": {field} is {flow.steps[done - 1][1][field]!r} by the trace, and something else by the specification"
    )
    return f"{run.broken}: {_words(flow, done - 1)}{told}"


def _words(flow: TracedFlow, index: int) -> str:
    number, step = flow.steps[index]
    return f"line {number}, cycle {step['cycle']}: {step['event']} of packet {step['number']}, node {step['node']}"
