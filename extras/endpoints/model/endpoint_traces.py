"""Traces of engines at the endpoints: JSON lines (zipped where the name ends in .gz), the steps of `AceEngine.tla` in the order in
which they happened.

The first line states `format`, `version`, `network`, `collective`, `system`, who `runs` it ("engine"), `nodes`, `chunks`
(in the `order` of loading), `ways`, into how many `pieces` a segment of the schedule is cut, and how many of them a message has at
most (`pieces_of_message`); how many `state_machines` an engine has, and of them each phase (`machines`); the `rooms` of its
partitions of `sram_bytes` and the `sizes` of a chunk there; the deadlock-avoidance `rules` in force (`in_order`, `spare`,
`apart`). `flows` are what one node sends to another by one link, the last on its route, in one phase: `from`, `to`, `phase`, how
many physical `lanes` that link has, and the `depth`, messages that a port holds of it. `sends` lists for each way, phase and node
the messages of a chunk in the order in which they are sent: the `flow`, and what each `needs`, messages `[sender, number]` of the
same phase. Chunk c goes way c mod ways, has state machine c mod m of the m of a phase, and takes lane (c div ways) mod lanes.
Phases count from 0, messages of a sender from 1. Every other line is a step at `cycle` of a `node` with a `chunk`, its `move`:

    "load"        it is in the first partition and stands in the queue of its state machine
    "send"        message `sends` of its phase goes out, to node `to`
    "pass on"     message `takes` of node `from` comes in, and with it the next one goes out
    "take"        it comes in
    "go on"       the chunk is through with its phase, and has its place in the next partition
    "write back"  it is in memory
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from certree.models.common.errors import InputError
from certree.models.common.fields import Fields
from certree.models.traces.lines import MAX_NUMBER, is_trace, trace_of_steps

FORMAT, VERSION = "certree-endpoint-trace", 1
MOVES = ("load", "send", "pass on", "take", "go on", "write back")  # as in hw/core/endpoint/run/simulation.hpp
RULES = ("in_order", "spare", "apart")
_TAKES, _SENDS = ("pass on", "take"), ("send", "pass on")
_MAX_BYTES = 1 << 62

Message = tuple[int, int]  # sender, and which of those that it sends in a phase, from 1


@dataclass(frozen=True)
class TracedFlow:
    """The messages from `source` to `target` by one last link in one phase."""

    source: int
    target: int
    phase: int
    lanes: int
    depth: int


@dataclass(frozen=True)
class TracedSend:
    """A message of a chunk: its flow, and the messages that it waits for."""

    flow: int
    needs: tuple[Message, ...]


@dataclass(frozen=True)
class EndpointTrace:
    """The run, and the lines of its steps, each with its number in the file. `sends[way][phase]`: of each node, in order."""

    network: str
    collective: str
    system: str
    runs: str
    nodes: tuple[int, ...]
    order: tuple[int, ...]
    ways: int
    pieces: int
    pieces_of_message: int
    state_machines: int
    machines: tuple[int, ...]
    sram_bytes: int
    rooms: tuple[int, ...]
    sizes: tuple[int, ...]
    rules: Mapping[str, bool]
    flows: tuple[TracedFlow, ...]
    sends: tuple[tuple[Mapping[int, tuple[TracedSend, ...]], ...], ...]
    steps: list[tuple[int, Mapping[str, Any]]]

    @property
    def phases(self) -> int:
        """P."""
        return len(self.machines)


def is_endpoint_trace(path: Path) -> bool:
    """Whether a file begins like such a trace."""
    return is_trace(path, FORMAT)


def load_endpoint_trace(path: Path) -> EndpointTrace:
    """The trace in a file; InputError with the line for anything else. O(lines)."""
    head, steps = trace_of_steps(path, "endpoints", FORMAT, VERSION)
    trace = _head(head)
    for number, step in steps:
        _check_step(step, trace)
        trace.steps.append((number, step.table))
    return trace


def _head(head: Fields) -> EndpointTrace:
    nodes, chunks, ways = (
        head.wholes("nodes", 0, MAX_NUMBER),
        head.whole("chunks", 1, MAX_NUMBER),
        head.whole("ways", 1, MAX_NUMBER),
    )
    if len(set(nodes)) < len(nodes):
        head.refuse("nodes must each be listed once")
    order = head.wholes("order", 0, MAX_NUMBER)
    if len(order) != chunks or sorted(order) != list(range(chunks)):
        head.refuse(f"order must have each of the chunks 0 to {chunks - 1} once")
    machines, rooms, sizes = (
        head.wholes("machines", 1, MAX_NUMBER),
        head.wholes("rooms", 0, _MAX_BYTES),
        head.wholes("sizes", 1, _MAX_BYTES),
    )
    if not len(rooms) == len(sizes) == len(machines) + 1:
        head.refuse(f"rooms and sizes must be of {len(machines) + 1} partitions, one for each phase and one for results")
    kept = head.table_of("rules").only(*RULES)
    flows = tuple(
        _flow(head.inner(entry, f"flow {index}"), nodes, len(machines)) for index, entry in enumerate(head.entries("flows"))
    )
    return EndpointTrace(
        network=head.text("network"),
        collective=head.text("collective"),
        system=head.text("system"),
        runs=head.text("runs"),
        nodes=nodes,
        order=order,
        ways=ways,
        pieces=head.whole("pieces", 1, MAX_NUMBER),
        pieces_of_message=head.whole("pieces_of_message", 1, MAX_NUMBER),
        state_machines=head.whole("state_machines", 1, MAX_NUMBER),
        machines=machines,
        sram_bytes=head.whole("sram_bytes", 1, _MAX_BYTES),
        rooms=rooms,
        sizes=sizes,
        rules={rule: kept.choice(rule, (True, False)) for rule in RULES},
        flows=flows,
        sends=_sends(head, ways, len(machines), nodes, flows),
        steps=[],
    )


def _flow(fields: Fields, nodes: tuple[int, ...], phases: int) -> TracedFlow:
    return TracedFlow(
        source=fields.choice("from", nodes),
        target=fields.choice("to", nodes),
        phase=fields.whole("phase", 0, phases - 1),
        lanes=fields.whole("lanes", 1, MAX_NUMBER),
        depth=fields.whole("depth", 1, MAX_NUMBER),
    )


def _sends(
    head: Fields, ways: int, phases: int, nodes: tuple[int, ...], flows: tuple[TracedFlow, ...]
) -> tuple[tuple[dict[int, tuple[TracedSend, ...]], ...], ...]:
    listed = head.entries("sends")
    found = []
    for way in range(ways):
        of_part = []
        for phase in range(phases):
            where = f"{head.where}: sends of way {way}, phase {phase}"
            try:
                entries = [listed[way][phase][place] for place in range(len(nodes))]
                is_whole = len(listed) == ways and len(listed[way]) == phases and len(listed[way][phase]) == len(nodes)
            except (IndexError, KeyError, TypeError):
                is_whole = False
            if not is_whole or not all(isinstance(entry, list) for entry in entries):
                raise InputError(f"{where}: expected a list for each of the {len(nodes)} nodes")
            of_phase = {
                node: tuple(_send(message, node, phase, flows, f"{where}, node {node}") for message in entry)
                for node, entry in zip(nodes, entries, strict=True)
            }
            _check_needs(of_phase, flows, where)
            of_part.append(of_phase)
        found.append(tuple(of_part))
    return tuple(found)


def _send(entry: Any, node: int, phase: int, flows: tuple[TracedFlow, ...], where: str) -> TracedSend:
    fields = Fields(entry, where)
    number = fields.whole("flow", 0, len(flows) - 1)
    if (flows[number].source, flows[number].phase) != (node, phase):
        fields.refuse(f"flow {number} is of node {flows[number].source} in phase {flows[number].phase}")
    needs = fields.entries("needs", empty=True)
    if any(not isinstance(one, list) or len(one) != 2 or any(type(value) is not int for value in one) for one in needs):
        fields.refuse("needs must be a list of messages, each [sender, number]")
    return TracedSend(number, tuple((sender, which) for sender, which in needs))


def _check_needs(of_phase: Mapping[int, tuple[TracedSend, ...]], flows: tuple[TracedFlow, ...], where: str) -> None:
    for node, messages in of_phase.items():
        for message in messages:
            for sender, which in message.needs:
                sent = of_phase.get(sender, ())
                if not 1 <= which <= len(sent) or flows[sent[which - 1].flow].target != node:
                    raise InputError(f"{where}: node {node} waits for message {which} of node {sender}, which it does not get")


def _check_step(step: Fields, trace: EndpointTrace) -> None:
    """The fields that its move has, of nodes, chunks and messages that exist."""
    move = step.choice("move", MOVES)
    node = step.choice("node", trace.nodes)
    chunk = step.whole("chunk", 0, len(trace.order) - 1)
    way = trace.sends[chunk % trace.ways]
    if move in _TAKES:
        sender = step.choice("from", trace.nodes)
        step.whole("takes", 1, max(len(phase[sender]) for phase in way))
    if move in _SENDS:
        step.choice("to", trace.nodes)
        step.whole("sends", 1, max(len(phase[node]) for phase in way))
