"""Traces of engines at the endpoints: JSON lines (zipped where the name ends in .gz), the steps of `AceEngine.tla` in the order in
which they happened.

The first line says what ran: `format`, `version`, `network`, `collective`, `system`, who `runs` it ("engine"), `nodes`, `chunks`
(in the `order` of loading), `ways`, into how many `pieces` a segment of the schedule is cut, and how many of them a message has at
most (`pieces_of_message`); how many `state_machines` an engine has, and of them each phase (`machines`); the `rooms` of its
partitions of `sram_bytes` and the `sizes` of a chunk there; the `rules` against hanging that were kept (`in_order`, `spare`,
`apart`). `flows` are what one node sends to another by one link, the last on its way, in one phase: `from`, `to`, `phase`, how
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

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from certree.models.common.errors import InputError
from certree.models.common.files import check_format, first_bytes, parse_object, read_bytes

FORMAT, VERSION = "certree-endpoint-trace", 1
MOVES = ("load", "send", "pass on", "take", "go on", "write back")  # as in hw/core/endpoint/run/simulation.hpp
RULES = ("in_order", "spare", "apart")
_TAKES, _SENDS = ("pass on", "take"), ("send", "pass on")
_MAX = (1 << 31) - 1  # whole numbers of TLC
_MAX_BYTES = 1 << 62

Message = tuple[int, int]  # sender, and which of those that it sends in a phase, from 1


@dataclass(frozen=True)
class TracedFlow:
    """What `source` sends to `target` by one last link in one phase."""

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
    """What ran, and the lines of its steps, each with its number in the file. `sends[way][phase]`: of each node, in order."""

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
    """Whether a file begins as such a trace does."""
    return f'"format":"{FORMAT}"'.encode() in first_bytes(path, 200).replace(b" ", b"")


def load_endpoint_trace(path: Path) -> EndpointTrace:
    """The trace in a file; InputError with the line for anything else. O(lines)."""
    lines = read_bytes(path).splitlines()
    if not lines:
        raise InputError(f"{path} is empty; expected a trace of endpoints")
    where = f"{path}, line 1"
    head = _Fields(check_format(parse_object(lines[0], where), FORMAT, VERSION, where), where)
    trace = _head(head)
    now = 0
    for number, line in enumerate(lines[1:], 2):
        where = f"{path}, line {number}"
        step = parse_object(line, where)
        _check_step(_Fields(step, where), trace)
        if step["cycle"] < now:
            raise InputError(f"{where}: cycle is {step['cycle']}, before that of the line above, {now}")
        now = step["cycle"]
        trace.steps.append((number, step))
    return trace


@dataclass(frozen=True)
class _Fields:
    """A JSON object, field by field; `where` it stands."""

    values: Mapping[str, Any]
    where: str

    def refuse(self, what: str) -> InputError:
        return InputError(f"{self.where}: {what}")

    def whole(self, name: str, low: int = 0, high: int = _MAX) -> int:
        value = self.values.get(name)
        if type(value) is not int or not low <= value <= high:
            raise self.refuse(f"{name} is {value!r}; expected a whole number, {low} to {high}")
        return value

    def text(self, name: str) -> str:
        value = self.values.get(name)
        if not isinstance(value, str):
            raise self.refuse(f"{name} is {value!r}; expected a text")
        return value

    def among(self, name: str, allowed: Iterable[Any]) -> Any:
        value, known = self.values.get(name), list(allowed)
        if not any(type(value) is type(one) and value == one for one in known):
            raise self.refuse(f"{name} is {value!r}; allowed: {', '.join(map(str, known))}")
        return value

    def wholes(self, name: str, low: int = 0, high: int = _MAX) -> tuple[int, ...]:
        found = self.list(name)
        if any(type(value) is not int or not low <= value <= high for value in found):
            raise self.refuse(f"{name} must be a list of whole numbers, {low} to {high}")
        return tuple(found)

    def list(self, name: str) -> list[Any]:
        found = self.values.get(name)
        if not isinstance(found, list) or not found:
            raise self.refuse(f"{name} must be a list, and not empty")
        return found


def _head(head: _Fields) -> EndpointTrace:
    nodes, chunks, ways = head.wholes("nodes"), head.whole("chunks", 1), head.whole("ways", 1)
    if len(set(nodes)) < len(nodes):
        raise head.refuse("nodes must each be listed once")
    order = head.wholes("order")
    if len(order) != chunks or sorted(order) != list(range(chunks)):
        raise head.refuse(f"order must have each of the chunks 0 to {chunks - 1} once")
    machines, rooms, sizes = head.wholes("machines", 1), head.wholes("rooms", 0, _MAX_BYTES), head.wholes("sizes", 1, _MAX_BYTES)
    if not len(rooms) == len(sizes) == len(machines) + 1:
        raise head.refuse(f"rooms and sizes must be of {len(machines) + 1} partitions, one for each phase and one for results")
    rules = head.values.get("rules")
    if not isinstance(rules, dict) or rules.keys() != set(RULES) or any(type(kept) is not bool for kept in rules.values()):
        raise head.refuse(f"rules must say true or false of {', '.join(RULES)}")
    flows = tuple(
        _flow(entry, nodes, len(machines), f"{head.where}: flow {index}") for index, entry in enumerate(head.list("flows"))
    )
    return EndpointTrace(
        network=head.text("network"),
        collective=head.text("collective"),
        system=head.text("system"),
        runs=head.text("runs"),
        nodes=nodes,
        order=order,
        ways=ways,
        pieces=head.whole("pieces", 1),
        pieces_of_message=head.whole("pieces_of_message", 1),
        state_machines=head.whole("state_machines", 1),
        machines=machines,
        sram_bytes=head.whole("sram_bytes", 1, _MAX_BYTES),
        rooms=rooms,
        sizes=sizes,
        rules=rules,
        flows=flows,
        sends=_sends(head, ways, len(machines), nodes, flows),
        steps=[],
    )


def _flow(entry: Any, nodes: tuple[int, ...], phases: int, where: str) -> TracedFlow:
    if not isinstance(entry, dict):
        raise InputError(f"{where}: expected an object")
    fields = _Fields(entry, where)
    return TracedFlow(
        source=fields.among("from", nodes),
        target=fields.among("to", nodes),
        phase=fields.whole("phase", 0, phases - 1),
        lanes=fields.whole("lanes", 1),
        depth=fields.whole("depth", 1),
    )


def _sends(
    head: _Fields, ways: int, phases: int, nodes: tuple[int, ...], flows: tuple[TracedFlow, ...]
) -> tuple[tuple[dict[int, tuple[TracedSend, ...]], ...], ...]:
    listed = head.list("sends")
    found = []
    for way in range(ways):
        of_way = []
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
            of_way.append(of_phase)
        found.append(tuple(of_way))
    return tuple(found)


def _send(entry: Any, node: int, phase: int, flows: tuple[TracedFlow, ...], where: str) -> TracedSend:
    if not isinstance(entry, dict):
        raise InputError(f"{where}: expected an object for each message")
    fields = _Fields(entry, where)
    number = fields.whole("flow", 0, len(flows) - 1)
    if (flows[number].source, flows[number].phase) != (node, phase):
        raise fields.refuse(f"flow {number} is of node {flows[number].source} in phase {flows[number].phase}")
    needs = entry.get("needs")
    if not isinstance(needs, list) or any(
        not isinstance(one, list) or len(one) != 2 or any(type(value) is not int for value in one) for one in needs
    ):
        raise fields.refuse("needs must be a list of messages, each [sender, number]")
    return TracedSend(number, tuple((sender, which) for sender, which in needs))


def _check_needs(of_phase: Mapping[int, tuple[TracedSend, ...]], flows: tuple[TracedFlow, ...], where: str) -> None:
    for node, messages in of_phase.items():
        for message in messages:
            for sender, which in message.needs:
                sent = of_phase.get(sender, ())
                if not 1 <= which <= len(sent) or flows[sent[which - 1].flow].target != node:
                    raise InputError(f"{where}: node {node} waits for message {which} of node {sender}, which it does not get")


def _check_step(step: _Fields, trace: EndpointTrace) -> None:
    """The fields that its move has, of nodes, chunks and messages that exist."""
    move = step.among("move", MOVES)
    node = step.among("node", trace.nodes)
    chunk = step.whole("chunk", 0, len(trace.order) - 1)
    step.whole("cycle", 0, 1 << 63)
    way = trace.sends[chunk % trace.ways]
    if move in _TAKES:
        sender = step.among("from", trace.nodes)
        step.whole("takes", 1, max(len(phase[sender]) for phase in way))
    if move in _SENDS:
        step.among("to", trace.nodes)
        step.whole("sends", 1, max(len(phase[node]) for phase in way))
