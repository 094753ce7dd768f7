"""Traces of endpoint engines as behaviours of the specification: `specs/TraceAceEngine.tla`, with the run as its constants.

Fields of the first line of the trace that follow from other data are recomputed: the state machines of each phase, the messages
that ports hold, and, where the schedule is given, the messages and their dependencies.
"""

from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from certree.extras.endpoints.check.endpoint_messages import check_messages
from certree.extras.endpoints.model.endpoint_traces import EndpointTrace, TracedFlow, TracedSend
from certree.extras.tla.check.generated import Generated, function, members, record, sequence, string
from certree.extras.tla.check.model_runs import ModelResult
from certree.extras.tla.check.traces.traced_steps import check_steps, log_text
from certree.models.common.errors import InputError, short
from certree.models.schedule.schedule import Schedule

_INVARIANTS = ("TypeOK", "NoOverrun", "NoOverflow", "QueuedWhereItIs", "OneAtATime", "OnlyWhatIsDue", "BackInTheEnd")
#: a port: its flow, the lane, the index of the state machine within its phase
Port = tuple[int, int, int]


def check_endpoint_trace(
    ran: EndpointTrace, trace: Path, schedule: Schedule | None = None, time_limit: float = 300.0
) -> ModelResult:
    """Check step by step that a trace written by `endpoints --trace`, read from `trace`, is a behaviour of the specification.
    `schedule`: the schedule that its chunks must have followed; without one the trace's own messages are used, and the message
    says so.

    A failure names the first line that the specification does not allow. Raises InputError for a file that is not such a trace or
    whose first line contradicts itself or the schedule, ToolMissingError without Java or TLC. TLC's time grows with lines times
    nodes and chunks.
    """
    where = f"{trace}, line 1"
    check_head(ran, where)
    if schedule is not None:
        check_messages(ran, schedule, where)
    believed = "" if schedule is not None else ", with the messages of a chunk as stated in the trace"
    lacks = {"BackInTheEnd": "some chunk is not back in memory"}
    return check_steps("trace of engines", model_of(ran), ran.steps, step_words, lacks, believed=believed, time_limit=time_limit)


def check_head(ran: EndpointTrace, where: str) -> None:
    """Raise InputError if the first line of a trace is inconsistent about state machines, partitions or ports. O(messages)."""
    if ran.runs != "engine":
        raise InputError(f"{where}: the specification is about engines; this run is of {short(ran.system)}, which has none")
    if not ran.rules["apart"]:
        raise InputError(
            f"{where}: rule apart was left out: ports give messages in order of arrival, in the specification in order of sending"
        )
    even = tuple(ran.state_machines // ran.phases + (phase < ran.state_machines % ran.phases) for phase in range(ran.phases))
    if ran.machines != even:
        raise InputError(
            f"{where}: machines are {list(ran.machines)}; {ran.state_machines} for {ran.phases} phases are {list(even)}"
        )
    if sum(ran.rooms) > ran.sram_bytes:
        raise InputError(f"{where}: rooms are {sum(ran.rooms)} bytes together; the SRAM has {ran.sram_bytes}")
    for number, (flow, depth) in enumerate(zip(ran.flows, _depths(ran), strict=True)):
        if flow.depth != depth:
            raise InputError(
                f"{where}: flow {number} has a depth of {flow.depth}; by the rules that the trace states it is {depth}"
            )


def _depths(ran: EndpointTrace) -> list[int]:
    """The number of messages of each flow that a port must hold for each state machine (the rule `spare`): in a ring the messages
    sent before any is taken and one more, otherwise all messages of a chunk."""
    depths, spare = [0] * len(ran.flows), ran.rules["spare"]
    is_ring = [[_is_ring(of_phase, ran.flows) for of_phase in of_way] for of_way in ran.sends]
    for way, of_way in enumerate(ran.sends):
        for phase, of_phase in enumerate(of_way):
            counted = dict.fromkeys(range(len(ran.flows)), 0)
            for message in chain.from_iterable(of_phase.values()):
                counted[message.flow] += not message.needs or (spare and not is_ring[way][phase])
            depths = [max(depth, counted[flow]) for flow, depth in enumerate(depths)]
    rings = [all(way[phase] for way in is_ring) for phase in range(ran.phases)]
    return [max(1, depth + (spare and rings[flow.phase])) for flow, depth in zip(ran.flows, depths, strict=True)]


def _is_ring(of_phase: Mapping[int, Sequence[TracedSend]], flows: Sequence[TracedFlow]) -> bool:
    """Whether every node sends to and receives from at most one other, and no two messages wait for the same message."""
    ways = {(flows[message.flow].source, flows[message.flow].target) for messages in of_phase.values() for message in messages}
    waited_for = [(node, need) for node, messages in of_phase.items() for message in messages for need in message.needs]
    return all(len({way[end] for way in ways}) == len(ways) for end in (0, 1)) and len(set(waited_for)) == len(waited_for)


def _port(ran: EndpointTrace, flow: int, chunk: int) -> Port:
    told = ran.flows[flow]
    return flow, chunk // ran.ways % told.lanes, chunk % ran.machines[told.phase]


def _ports(ran: EndpointTrace) -> list[Port]:
    """The ports used by the messages of any chunk, in order."""
    return sorted({
        _port(ran, message.flow, chunk)
        for chunk in ran.order
        for of_phase in ran.sends[chunk % ran.ways]
        for message in chain.from_iterable(of_phase.values())
    })  # fmt: skip


def model_of(ran: EndpointTrace) -> Generated:
    """The specification with a run as its constants."""
    ports, chunks = _ports(ran), sorted(ran.order)
    number = {port: index for index, port in enumerate(ports, 1)}
    plan = sequence(range(1, ran.phases + 1))
    machines = [sequence(sequence((phase, chunk % count)) for phase, count in enumerate(ran.machines)) for chunk in chunks]
    tables = {
        "Plan": function((chunk, plan) for chunk in chunks),
        "Machine": function(enumerate(machines)),
        "Order": function((node, sequence(ran.order)) for node in ran.nodes),
        "Sends": function((chunk, _sends_text(ran, chunk, number)) for chunk in chunks),
        # in chunks, since TLC's integers have 32 bits
        "Size": sequence([1] * len(ran.sizes)),
        "Room": sequence(min(len(ran.order), room // size) for room, size in zip(ran.rooms, ran.sizes, strict=True)),
        "Depth": sequence(ran.flows[flow].depth for flow, _, _ in ports),
        "Log": log_text(ran.steps, _line_text),
    }
    values = {"Nodes": members(ran.nodes), "Chunks": members(chunks), "Phases": ran.phases}
    return Generated("TraceAceEngine", tables, values, _INVARIANTS, ("InOrder",), "TraceSpec")


def _sends_text(ran: EndpointTrace, chunk: int, number: Mapping[Port, int]) -> str:
    def text(message: TracedSend) -> str:
        port = number[_port(ran, message.flow, chunk)]
        return record(to=ran.flows[message.flow].target, port=port, needs=members(map(sequence, message.needs)))

    return sequence(
        function((node, sequence(map(text, messages))) for node, messages in of_phase.items())
        for of_phase in ran.sends[chunk % ran.ways]
    )


def _line_text(step: Mapping[str, Any]) -> str:
    fields = {"node": step["node"], "chunk": step["chunk"], "move": string(step["move"])}
    if step["move"] in ("pass on", "take"):
        fields["takes"] = sequence((step["from"], step["takes"]))
    if step["move"] in ("pass on", "send"):
        fields |= {"to": step["to"], "sends": step["sends"]}
    return record(**fields)


def step_words(step: Mapping[str, Any]) -> str:
    """A step in a few words."""
    return f"{step['move']} of chunk {step['chunk']}, node {step['node']}"
