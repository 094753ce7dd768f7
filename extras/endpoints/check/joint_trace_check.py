"""Traces of `simulate --endpoint` with an engine as behaviours of `AceEngine.tla`: iterations are its chunks, in one phase.

Steps of the log are the events of engines and messages, in the order of their cycles. The specification takes a message and sends
the only one that waits for it in one step; an interface sends when its row fires, so that such a message counts as taken then.
Ports hold all that comes, each message of an iteration at a place of its own, as in that machine.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from certree.extras.endpoints.check.endpoint_bound import moved_bytes
from certree.extras.endpoints.check.endpoint_trace_check import model_of, step_words
from certree.extras.endpoints.model.endpoint import Runs
from certree.extras.endpoints.model.endpoint_traces import EndpointTrace, TracedFlow, TracedSend
from certree.extras.endpoints.model.named_system import NamedSystem
from certree.extras.tla.check.model_runs import ModelResult
from certree.extras.tla.check.traces.traced_steps import check_steps
from certree.models.common.errors import InputError, UnsupportedError
from certree.models.common.files import Opened
from certree.models.tables.table_columns import NIL, RowOp
from certree.models.tables.tables import Tables
from certree.models.traces.lines import trace_lines

_EVENTS = {"load": "load", "gone on": "go on", "returned": "write back"}
_LOADED = "loaded"  # no step of the specification, in which a load is one step
#: what a line says of a message, in the order in which it happens
_TIMES = ("fired", "at_interface", "first_flit", "last_flit_arrived", "usable")
_KINDS = ("load", "take", "send", "go on", "write back")  # what one cycle has of an iteration, in this order
Message = tuple[int, int]  # sender, and which of those that it sends in an iteration, from 1


@dataclass(frozen=True)
class _Program:
    """Messages of an iteration: by (node, row, destination) the number; of each what it needs, and its target."""

    numbers: Mapping[tuple[int, int, int], int]
    needs: Mapping[Message, frozenset[Message]]
    target: Mapping[Message, int]


def first_line(path: Path) -> bytes:
    """The first line of a file, unzipped where its name ends in .gz. InputError where it cannot be read."""
    opened = Opened(path)
    return (opened.start or opened.data()).partition(b"\n")[0]


def is_joint_trace(path: Path) -> bool:
    """Whether a file begins like a trace of a run with an engine: its first event is a load."""
    return first_line(path).startswith(b'{"endpoint":')


def check_joint_trace(trace: Path, tables: Tables, named: NamedSystem, time_limit: float = 300.0) -> ModelResult:
    """Check step by step that the engines of a run of `tables` with the endpoints `named` did what the specification allows.

    Raises InputError for lines that are no events of these tables or have times that no run has, UnsupportedError for systems
    without an engine, systems that cut tables (`tables` are then those that came of it, and the system is named without), several
    buffers, and rows that wait for some of the arrivals of a cell. TLC's time grows with lines times iterations.
    """
    if named.system.runs is not Runs.ENGINE or named.cut is not None:
        raise UnsupportedError(f"{trace}: events of engines of tables as they are; system {named.text} has none")
    program = _program(tables)
    ran = _trace(tables, named, program)
    ran.steps.extend(_steps(trace, tables, program))
    lacks = {"BackInTheEnd": "some iteration is not back in memory"}
    return check_steps("trace of engines", model_of(ran), ran.steps, step_words, lacks, believed="", time_limit=time_limit)


def _program(tables: Tables) -> _Program:
    if tables.buffers > 1:
        raise UnsupportedError("events of engines: tables with several buffers have messages within a node, which engines have not")
    sent, keys = tables.transfers(), tables.transfer_keys().tolist()
    first = np.searchsorted(tables.node, np.arange(len(tables.topology.kind)))
    numbers: dict[tuple[int, int, int], int] = {}
    names: list[Message] = [(0, 0)] * len(keys)
    count: defaultdict[int, int] = defaultdict(int)
    target: dict[Message, int] = {}
    causes: defaultdict[int, set[Message]] = defaultdict(set)
    row, dst = sent["row"].tolist(), sent["dst"].tolist()
    for place in sorted(range(len(keys)), key=lambda place: row[place]):
        node = int(tables.node[row[place]])
        count[node] += 1
        names[place] = (node, count[node])
        numbers[node, row[place] - int(first[node]), dst[place]] = count[node]
        target[names[place]] = dst[place]
        causes[keys[place]].add(names[place])
    awaited: defaultdict[int, set[Message]] = defaultdict(set)
    for one, key in _awaited(tables):
        awaited[one] |= causes[key]
    needs = {names[place]: frozenset(awaited[row[place]]) for place in range(len(keys))}
    return _Program(numbers, needs, target)


def _awaited(tables: Tables) -> Iterator[tuple[int, int]]:
    """(row, arrival) of all that rows wait for, arrivals as in `Tables.arrival_keys`."""
    rows, keys = tables.awaited()
    if tables.is_counted:
        counts = dict(zip(tables.arrival_keys().tolist(), tables.arrival_count.tolist(), strict=True))
        partly = [row for row, key in zip(rows.tolist(), keys.tolist(), strict=True) if tables.wait[row] != counts[key]]
        if partly:
            raise UnsupportedError(f"events of engines: row {partly[0]} waits for some of the arrivals of its cell, not named ones")
    yield from zip(rows.tolist(), keys.tolist(), strict=True)
    if not tables.is_counted:  # a root waits for all that is added to its flow
        arrivals = tables.arrival_keys().tolist()
        reduced = np.flatnonzero(tables.arrival_op == RowOp.REDUCE).tolist()
        for root in np.flatnonzero((tables.op == RowOp.GATHER) & (tables.parent == NIL)).tolist():
            place = tables.node[root], tables.flow[root]
            yield from ((root, arrivals[one]) for one in reduced if (tables.arrival_node[one], tables.arrival_flow[one]) == place)


def _trace(tables: Tables, named: NamedSystem, program: _Program) -> EndpointTrace:
    """The run as the model has it, without its steps."""
    schedule, engine = tables.schedule, named.endpoint.engine
    sizes = tables.sizes(np.arange(tables.chunks)) * tables.machine.flit_bytes
    moved = moved_bytes(schedule.collective, tables.topology, schedule.chunk_root, schedule.chunk_target, sizes)
    load, result = int(moved.load.max(initial=0)), int(moved.result.max(initial=0))
    rooms = tuple(engine.sram_bytes * part // max(1, load + result) for part in (load, result))
    nodes = tuple(tables.topology.endpoints.tolist())
    messages = sorted(program.target)
    flows = tuple(TracedFlow(node, program.target[node, number], 0, 1, tables.repeats) for node, number in messages)
    of_node: dict[int, tuple[TracedSend, ...]] = {
        node: tuple(TracedSend(flow, tuple(sorted(program.needs[name]))) for flow, name in enumerate(messages) if name[0] == node)
        for node in nodes
    }
    return EndpointTrace(
        network=tables.topology.name, collective=str(tables.collective.kind), system=named.text, runs="engine", nodes=nodes,
        order=tuple(range(tables.repeats)), ways=1, pieces=1, pieces_of_message=1, state_machines=engine.state_machines,
        machines=(min(engine.state_machines, tables.repeats),), sram_bytes=engine.sram_bytes, rooms=rooms,
        sizes=(max(load, result), max(1, result)), rules={"in_order": True, "spare": False, "apart": True}, flows=flows,
        sends=((of_node,),), steps=[],
    )  # fmt: skip


def _steps(trace: Path, tables: Tables, program: _Program) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The log: lines of the trace as steps, in the order of cycles."""
    left: defaultdict[tuple[int, int], int] = defaultdict(lambda: 1)  # of an iteration at a node: the message that it sends next
    held: set[tuple[int, int, Message]] = set()  # those that count as taken when the one that waits for them goes
    for cycle, iteration, kind, node, message, number in sorted(_events(trace, tables, program)):
        step: dict[str, Any] = {"cycle": cycle, "node": node, "chunk": iteration, "move": _KINDS[kind]}
        following = program.needs.get((node, left[node, iteration]), frozenset())
        if _KINDS[kind] == "take":
            if following == {message}:
                held.add((node, iteration, message))
                continue
            step |= {"from": message[0], "takes": message[1]}
        if _KINDS[kind] == "send":
            step |= {"to": program.target[message], "sends": message[1]}
            left[node, iteration] += 1
            (waited, *_) = (*(one for one in following if (node, iteration, one) in held), None)
            if waited is not None:
                held.remove((node, iteration, waited))
                step |= {"move": "pass on", "from": waited[0], "takes": waited[1]}
        yield number, step


def _events(trace: Path, tables: Tables, program: _Program) -> Iterator[tuple[int, int, int, int, Message, int]]:
    """(cycle, iteration, kind, node, message, line) of every step. Those of one cycle and kind go by message: messages that a node
    sends in one cycle are numbered in the order of its rows, and lines of a trace are sorted otherwise.

    InputError for events that are unknown, and for times that no run has: those of a message in another order than _TIMES, and a
    chunk that is loaded before its load, or after its first message.
    """
    nodes = tables.topology.endpoints.tolist()
    times: defaultdict[tuple[int, int], _Loading] = defaultdict(_Loading)
    for number, fields in trace_lines(trace, "simulate"):
        where, iteration = f"{trace}, line {number}", fields.whole("iteration", 0, tables.repeats - 1)
        if "endpoint" in fields:
            event, node = fields.text("event", known=(*_EVENTS, _LOADED)), fields.choice("endpoint", nodes)
            cycle = fields.whole("cycle")
            if event in _EVENTS:
                yield cycle, iteration, _KINDS.index(_EVENTS[event]), node, (0, 0), number
            if event in ("load", _LOADED):
                times[node, iteration].note(event, cycle, where)
            continue
        node, row, target = (fields.whole(name) for name in ("node", "row", "destination"))
        which = program.numbers.get((node, row, target))
        if which is None:
            raise InputError(f"{where}: the tables have no message of row {row} of node {node} to node {target}")
        _require_order(where, [(name, fields.whole(name)) for name in _TIMES if name in fields])
        for kind, name, place in (("send", "fired", node), ("take", "usable", target)):
            cycle = fields.whole(name)
            times[place, iteration].used.append((cycle, where, f"{name} of node {place}"))
            yield cycle, iteration, _KINDS.index(kind), place, (node, which), number
    for (node, iteration), found in times.items():
        found.require(f"{trace}: iteration {iteration} at node {node}")


def require_messages(trace: Path, tables: Tables) -> None:
    """Raise InputError for lines that are not messages of these tables or events of endpoints, or have times in another order than
    _TIMES, and for messages that are not there once in each iteration. It says nothing about what endpoints and interfaces may do.
    O(lines)."""
    sent, first = tables.transfers(), np.searchsorted(tables.node, np.arange(len(tables.topology.kind)))
    node = tables.node[sent["row"]]
    known = set(zip(node.tolist(), (sent["row"] - first[node]).tolist(), sent["dst"].tolist(), strict=True))
    there: dict[tuple[int, int, int, int], int] = {}
    for number, fields in trace_lines(trace, "simulate"):
        where, iteration = f"{trace}, line {number}", fields.whole("iteration", 0, tables.repeats - 1)
        if "endpoint" in fields:
            fields.text("event", known=(*_EVENTS, _LOADED))
            fields.whole("cycle")
            continue
        named = fields.whole("node"), fields.whole("row"), fields.whole("destination")
        if named not in known:
            raise InputError(f"{where}: the tables have no message of row {named[1]} of node {named[0]} to node {named[2]}")
        _require_order(where, [(name, fields.whole(name)) for name in _TIMES if name in fields or name in ("fired", "usable")])
        if (before := there.setdefault((iteration, *named), number)) != number:
            raise InputError(f"{where}: the same message as in line {before}")
    missing = {(one, *name) for one in range(tables.repeats) for name in known} - there.keys()
    if missing:
        iteration, source, row, target = min(missing)
        raise InputError(
            f"{trace}: no line for the message of row {row} of node {source} to node {target} in iteration {iteration}"
        )


@dataclass
class _Loading:
    """When the chunk of an iteration at a node was loaded (cycle and line of each event), and used by messages."""

    events: dict[str, tuple[int, str]] = field(default_factory=dict)
    used: list[tuple[int, str, str]] = field(default_factory=list)

    def note(self, event: str, cycle: int, where: str) -> None:
        if event in self.events:
            raise InputError(f"{where}: a second event {event} of this iteration at this node")
        self.events[event] = (cycle, where)

    def require(self, whose: str) -> None:
        """Raise InputError where the load does not begin and end before the first message."""
        for event in ("load", _LOADED):
            if event not in self.events:
                raise InputError(f"{whose} has no event {event}")
        (load, _), (loaded, where) = self.events["load"], self.events[_LOADED]
        _require_order(where, [("load", load), (_LOADED, loaded)])
        if self.used:
            first, where, what = min(self.used)
            _require_order(where, [(_LOADED, loaded), (what, first)])


def _require_order(where: str, times: Sequence[tuple[str, int]]) -> None:
    for (name, cycle), (following, then) in pairwise(times):
        if then < cycle:
            raise InputError(f"{where}: {following} in cycle {then} is before {name} in cycle {cycle}")
