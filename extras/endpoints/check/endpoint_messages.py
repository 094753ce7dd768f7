"""Comparison of the messages in a trace of endpoints with the executed schedule: senders, contents and dependencies."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from certree.extras.endpoints.model.endpoint_traces import EndpointTrace
from certree.extras.endpoints.model.endpoint_traces import Message as Name
from certree.models.common.errors import InputError, short
from certree.models.forms.lowering_chain import takes
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import Op
from certree.verify.rules.wiring import require_wired

_TRACED = takes("traces of endpoints", "virtual_channel")

#: a segment of the schedule, its first piece and the piece after its last
Part = tuple[int, int, int]


@dataclass(frozen=True)
class _Message:
    """A message of a node to `target` in a step; `number`: its position within the phase, from 1; `needs`: from the trace."""

    phase: int
    source: int
    number: int
    step: int
    target: int
    parts: tuple[Part, ...]
    needs: tuple[Name, ...]


def check_messages(ran: EndpointTrace, schedule: Schedule, where: str) -> None:
    """Raise InputError if a trace is of a network or collective other than the schedule's, or a node sends messages that differ
    from those of the schedule, in contents or order, or too early. The chunks copied (or added) to one node in a step by one route
    are divided into messages; each waits for the data that lands in its cells at least `delay` steps earlier. Phases and pieces are
    those of the trace.

    O(transfers log transfers + dependencies + messages of a program squared / 64).
    """
    _TRACED.require(schedule)
    require_wired(schedule)
    for name, told, due in (
        ("network", ran.network, schedule.topology.name),
        ("collective", ran.collective, str(schedule.collective.kind)),
    ):
        if told != due:
            raise InputError(f"{where}: {name} is {short(told)}; the schedule is for {short(due)}")
    nodes = tuple(schedule.topology.endpoints.tolist())
    if ran.nodes != nodes or schedule.chunks % ran.ways:
        raise InputError(
            f"{where}: {len(ran.nodes)} nodes and {ran.ways} ways; the schedule has nodes {_few(nodes)} and {schedule.chunks} "
            "segments"
        )
    if (schedule.topology.rank[np.concatenate((schedule.src, schedule.dst))] < 0).any():
        raise InputError(f"{where}: switches of the schedule add or store data; with engines, only endpoints do")
    columns = _in_order(schedule, schedule.chunks // ran.ways)
    for way in range(ran.ways):
        _check_needs(_messages(ran, way, columns[:, columns[0] == way], where), schedule.delay, f"{where}: way {way}")


def _in_order(schedule: Schedule, segments: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Rows of program, source, step, target, route, whether it adds, and segment: one column per transfer, sorted by these."""
    adds = schedule.op == Op.REDUCE
    way = schedule.chunk // segments
    keys = (way, schedule.src, schedule.step, schedule.dst, schedule.route, adds, schedule.chunk)
    columns = np.stack([key.astype(np.int64) for key in keys])
    return columns[:, np.lexsort(columns[::-1])]


def _messages(ran: EndpointTrace, way: int, columns: np.ndarray[Any, np.dtype[np.int64]], where: str) -> list[_Message]:
    """The messages of a program, after checking what each node sends. `columns`: as in `_in_order`, of this program."""
    keys = columns[:6]
    starts = np.flatnonzero(np.append(True, (keys[:, 1:] != keys[:, :-1]).any(axis=0))) if keys.shape[1] else np.zeros(0, np.int64)
    segments = np.split(columns[6], starts[1:])
    count = -(-np.diff(np.append(starts, keys.shape[1])) * ran.pieces // ran.pieces_of_message)
    found = []
    for node in ran.nodes:
        own = np.flatnonzero(columns[1, starts] == node)
        told = [(phase, number, message) for phase, of in enumerate(ran.sends[way]) for number, message in enumerate(of[node], 1)]
        if (due := int(count[own].sum())) != len(told):
            raise InputError(f"{where}: node {node} sends {len(told)} messages of way {way}; by the schedule {due}")
        targets = [ran.flows[message.flow].target for _, _, message in told]
        if targets != (right := np.repeat(columns[3, starts[own]], count[own]).tolist()):
            sends = f"node {node} sends its messages of way {way} to nodes {_few(targets)}"
            raise InputError(f"{where}: {sends}; by the schedule to {_few(right)}")
        parts = chain.from_iterable(_parts(segments[group].tolist(), ran.pieces, ran.pieces_of_message) for group in own.tolist())
        steps = np.repeat(columns[2, starts[own]], count[own]).tolist()
        found += [
            _Message(phase, node, number, step, target, part, message.needs)
            for (phase, number, message), step, target, part in zip(told, steps, targets, parts, strict=True)
        ]
    return found


def _parts(segments: Sequence[int], pieces: int, most: int) -> list[tuple[Part, ...]]:
    """The parts of some segments, each of `pieces` pieces, in each message of at most `most` pieces."""
    found = []
    for low in range(0, len(segments) * pieces, most):
        high = min(low + most, len(segments) * pieces)
        places = range(low // pieces, -(-high // pieces))
        found.append(tuple((segments[at], max(0, low - at * pieces), min(pieces, high - at * pieces)) for at in places))
    return found


def _check_needs(messages: Sequence[_Message], delay: int, where: str) -> None:
    """Check that each message waits for exactly the messages that it sends on, except those that one of these waits for."""
    landed: defaultdict[tuple[int, int], list[tuple[int, int, int]]] = defaultdict(list)  # (number here, pieces low to high)
    for index, message in enumerate(messages):
        for segment, low, high in message.parts:
            landed[message.target, segment].append((index, low, high))
    ancestors = [0] * len(messages)  # bits
    for index in sorted(range(len(messages)), key=lambda index: messages[index].step):
        message = messages[index]
        awaited = {
            other
            for segment, low, high in message.parts
            for other, first, end in landed[message.source, segment]
            if messages[other].step + delay <= message.step and first < high and low < end
        }
        if behind := sorted(other for other in awaited if messages[other].phase > message.phase):
            later, sends = messages[behind[0]], f"node {message.source} sends on in phase {message.phase}"
            raise InputError(f"{where}: {sends} what node {later.source} sends in phase {later.phase}")
        within = {other for other in awaited if messages[other].phase == message.phase}
        for other in within:
            ancestors[index] |= ancestors[other] | 1 << other
        due = sorted(
            (messages[one].source, messages[one].number)
            for one in within
            if not any(ancestors[other] >> one & 1 for other in within)
        )
        if sorted(message.needs) != due:
            what = f"message {message.number} of node {message.source} in phase {message.phase}"
            raise InputError(f"{where}: {what} waits for {_names(sorted(message.needs))}; by the schedule for {_names(due)}")


def _few(values: Sequence[int]) -> str:
    """The first of the values, and their number."""
    shown = ", ".join(map(str, values[:8]))
    return f"{shown}, ... ({len(values)})" if len(values) > 8 else shown or "none"


def _names(messages: Sequence[Name]) -> str:
    return ", ".join(f"{number} of node {sender}" for sender, number in messages[:8]) or "none"
