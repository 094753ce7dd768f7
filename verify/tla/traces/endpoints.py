"""A trace of engines at the endpoints as a behaviour of the specification: `specs/TraceAceEngine.tla`, the run as its constants.

What the first line of the trace says of the engines is computed again where it follows from something else: the state machines
of each phase, how many messages ports hold, and, where the schedule is given, which messages there are and what they wait for.
"""

from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from certree.models.common.errors import InputError, short
from certree.models.schedule.schedule import Schedule
from certree.models.traces.endpoints import EndpointTrace, TracedFlow, TracedSend
from certree.verify.tla.runs import ModelResult, run_generated, traced_result
from certree.verify.tla.table_constants import function, members
from certree.verify.tla.tlc import Result, TlcRun
from certree.verify.tla.traces.endpoint_messages import check_messages

MODULE = "EndpointTraceModel"
_GIVEN = ("Plan", "Machine", "Order", "Sends", "Size", "Room", "Depth", "Log")
_INVARIANTS = ("TypeOK", "NoOverrun", "NoOverflow", "QueuedWhereItIs", "OneAtATime", "OnlyWhatIsDue", "BackInTheEnd")
#: a port: its flow, the lane, which of the state machines of its phase
Port = tuple[int, int, int]


def check_endpoint_trace(
    ran: EndpointTrace, trace: Path, schedule: Schedule | None = None, time_limit: float = 300.0
) -> ModelResult:
    """Whether a trace that `endpoints --trace` wrote, as it was read from `trace`, is a behaviour of the specification, step by
    step. `schedule`: what its chunks must have gone through; without one the trace's own word is taken, and the message says so.

    A refutation names the first line that the specification cannot do. Raises InputError for a file that is no such trace or whose
    first line contradicts itself or the schedule, ToolMissingError without Java or TLC. TLC's time grows with lines times nodes and
    chunks.
    """
    where = f"{trace}, line 1"
    check_head(ran, where)
    if schedule is not None:
        check_messages(ran, schedule, where)
    run = run_generated(MODULE, _module_text(ran), _config_text(ran), time_limit=time_limit)
    believed = "" if schedule is not None else ", with the messages of a chunk by the trace's own word"
    return traced_result("trace of engines", run, _message(run, ran, believed))


def check_head(ran: EndpointTrace, where: str) -> None:
    """InputError where the first line of a trace says of state machines, partitions or ports what cannot be. O(messages)."""
    if ran.runs != "engine":
        raise InputError(f"{where}: the specification is of engines; this run is of {short(ran.system)}, which has none")
    if not ran.rules["apart"]:
        raise InputError(
            f"{where}: rule apart was left out: ports give messages as they come, in the specification as they were sent"
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
    """How many messages of each flow a port has to hold for each state machine (the rule `spare`): in a ring those that are sent
    before any is taken and one, otherwise all of a chunk."""
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
    """Every node sends to one other at most and hears from one, and no two messages wait for the same one."""
    ways = {(flows[message.flow].source, flows[message.flow].target) for messages in of_phase.values() for message in messages}
    waited_for = [(node, need) for node, messages in of_phase.items() for message in messages for need in message.needs]
    return all(len({way[end] for way in ways}) == len(ways) for end in (0, 1)) and len(set(waited_for)) == len(waited_for)


def _port(ran: EndpointTrace, flow: int, chunk: int) -> Port:
    told = ran.flows[flow]
    return flow, chunk // ran.ways % told.lanes, chunk % ran.machines[told.phase]


def _ports(ran: EndpointTrace) -> list[Port]:
    """Those that any chunk's messages come by, in order."""
    return sorted({
        _port(ran, message.flow, chunk)
        for chunk in ran.order
        for of_phase in ran.sends[chunk % ran.ways]
        for message in chain.from_iterable(of_phase.values())
    })  # fmt: skip


def _module_text(ran: EndpointTrace) -> str:
    ports = _ports(ran)
    number = {port: index for index, port in enumerate(ports, 1)}
    plan = _tuple(range(1, ran.phases + 1))
    machines = [
        _tuple([f"<<{phase}, {chunk % count}>>" for phase, count in enumerate(ran.machines)]) for chunk in sorted(ran.order)
    ]
    values = {
        "Plan": function([(chunk, plan) for chunk in sorted(ran.order)]),
        "Machine": function(list(enumerate(machines))),
        "Order": function([(node, _tuple(ran.order)) for node in ran.nodes]),
        "Sends": function([(chunk, _sends_text(ran, chunk, number)) for chunk in sorted(ran.order)]),
        # in chunks, for TLC's integers have 32 bits
        "Size": _tuple([1] * len(ran.sizes)),
        "Room": _tuple([min(len(ran.order), room // size) for room, size in zip(ran.rooms, ran.sizes, strict=True)]),
        "Depth": _tuple([ran.flows[flow].depth for flow, _, _ in ports]),
        "Log": "<<\n  " + ",\n  ".join(_line_text(step) for _, step in ran.steps) + ">>",
    }
    # a definition that is evaluated once, and a name for the configuration
    lines = [f"---- MODULE {MODULE} ----", "EXTENDS TraceAceEngine, TLC"]
    lines += [f"Given{name} == {values[name]}\nMC{name} == Given{name}" for name in _GIVEN]
    return "\n".join([*lines, "====", ""])


def _sends_text(ran: EndpointTrace, chunk: int, number: Mapping[Port, int]) -> str:
    def text(message: TracedSend) -> str:
        needs = members([f"<<{sender}, {which}>>" for sender, which in message.needs])
        target = ran.flows[message.flow].target
        return f"[to |-> {target}, port |-> {number[_port(ran, message.flow, chunk)]}, needs |-> {needs}]"

    return _tuple([
        function([(node, _tuple([text(message) for message in messages])) for node, messages in of_phase.items()])
        for of_phase in ran.sends[chunk % ran.ways]
    ])  # fmt: skip


def _line_text(step: Mapping[str, Any]) -> str:
    fields = [f"node |-> {step['node']}", f"chunk |-> {step['chunk']}", f'move |-> "{step["move"]}"']
    if step["move"] in ("pass on", "take"):
        fields.append(f"takes |-> <<{step['from']}, {step['takes']}>>")
    if step["move"] in ("pass on", "send"):
        fields.append(f"to |-> {step['to']}, sends |-> {step['sends']}")
    return f"[{', '.join(fields)}]"


def _tuple(values: Sequence[object] | range) -> str:
    return f"<<{', '.join(map(str, values))}>>"


def _config_text(ran: EndpointTrace) -> str:
    lines = [
        "SPECIFICATION TraceSpec",
        "CONSTANTS",
        f"  Nodes = {members(ran.nodes)}",
        f"  Chunks = {members(sorted(ran.order))}",
        f"  Phases = {ran.phases}",
        *(f"  {name} <- MC{name}" for name in _GIVEN),
        f"INVARIANTS {' '.join(_INVARIANTS)}",
        "PROPERTIES InOrder",
    ]
    return "\n".join(lines) + "\n"


def _message(run: TlcRun, ran: EndpointTrace, believed: str) -> str:
    """What was found: the first line that the specification cannot do, or what it lacks."""
    if run.result is Result.SUCCESS:
        return f"{len(ran.steps)} steps, all as the specification has them{believed}"
    if not run.trace:
        return f"{run.broken}: no state to show" if run.broken else ""
    state = run.trace[-1]
    done = state["line"]
    if run.result is Result.DEADLOCK:
        number, step = ran.steps[done]
        words = f"line {number}, cycle {step['cycle']}: {step['move']} of chunk {step['chunk']}, node {step['node']}"
        return f"{words}: the specification cannot do that there"
    if run.broken == "BackInTheEnd":
        return f"{run.broken}: the trace ends after {done} steps, and some chunk is not back in memory"
    return f"{run.broken}: after {done} steps"
