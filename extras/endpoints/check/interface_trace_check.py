"""Traces of `simulate --endpoint` as behaviours of `NIUses.tla`, whatever the system: which rows fire and which messages count, in
which order, and that messages wait for earlier uses of their cells (sentence A14 of `docs/reference/tables.md`).

Endpoints decide when things happen, and the specification knows no times. So the log is only the order of the trace: of one cycle
messages count first, then rows fire, those of a node in the order of their steps. A message that has overtaken one of an earlier
iteration with which it shares a counter is in memory when the trace says so, and counts when that one has (A11). Messages of one
cycle count in the reverse order of the steps in which they land: what comes behind an earlier use of its cell is usable later.

The specification has a cell for each iteration. So tables whose iterations use work cells in turn, which only slots keep apart, are
not checked.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from certree.extras.endpoints.check.joint_trace_check import first_line, is_joint_trace
from certree.extras.tla.check.generated import Generated, record, sequence, string
from certree.extras.tla.check.model_runs import ModelResult
from certree.extras.tla.check.table_constants import untimed_plan_of, values, written
from certree.extras.tla.check.traces.traced_steps import check_steps, log_text
from certree.models.common.errors import InputError, UnsupportedError
from certree.models.tables.table_memory import layout
from certree.models.tables.tables import Tables
from certree.models.traces.lines import trace_lines

_Counted = tuple[int, int, tuple[int, int, int], int]  # of a message: cycle in which it is usable, line, row, and destination
_INVARIANTS = ("ReadsAsInSlots", "EndsAsInSlots", "RightSum", "DoneInTheEnd")


def is_table_trace(path: Path) -> bool:
    """Whether a file begins like a trace of `simulate --endpoint`: with an event of an engine, or a message that was fetched."""
    first = first_line(path)
    return is_joint_trace(path) or (first.startswith(b'{"node":') and b'"at_interface":' in first)


def check_interface_trace(trace: Path, tables: Tables, time_limit: float = 300.0) -> ModelResult:
    """Check step by step that the interfaces of a run of `tables` with endpoints did what the specification allows.

    Lines must be messages of the tables (`require_messages`). Raises InputError for messages of a row that say several
    cycles of its firing, UnsupportedError for fine slots, messages of several sizes, iterations that share work cells, and tables
    that are too large for TLC. TLC's time grows with lines times rows.
    """
    if tables.fine_slots:
        raise UnsupportedError("interfaces with endpoints: the specification has no fine slots")
    if tables.has_sizes:
        raise UnsupportedError("interfaces with endpoints: not supported for messages of several sizes; the model has one for all")
    if tables.repeats > tables.in_flight and layout(tables).work_stride:
        raise UnsupportedError(
            f"interfaces with endpoints: iterations use the work cells of the {tables.in_flight}. before them again; the model has "
            "a cell for each iteration"
        )
    plan = untimed_plan_of(tables, whole=True)
    steps = tuple(_steps(trace, tables, plan.period))
    model = Generated(
        "TraceNIUses", written(plan) | {"Log": log_text(steps, _text)}, values(plan) | {"Run": string("paced")}, _INVARIANTS,
        spec="TraceSpec", chosen={"CanCountUntimed": "InAnyTurn"},
    )  # fmt: skip
    lacks = {"DoneInTheEnd": "some row has not fired, or some message has not counted"}
    return check_steps("trace of interfaces", model, steps, _words, lacks, believed="", time_limit=time_limit)


def _steps(trace: Path, tables: Tables, period: int) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The log, in the order of cycles, with the number of the line that each step is from."""
    first = np.searchsorted(tables.node, np.arange(len(tables.topology.kind)))
    fired: dict[tuple[int, int, int], tuple[int, int]] = {}
    counted: list[_Counted] = []
    for number, fields in trace_lines(trace, "simulate"):
        if "endpoint" in fields:
            continue
        node, row, iteration, target = (fields.whole(name) for name in ("node", "row", "iteration", "destination"))
        cycle = fields.whole("fired")
        one = (node, row, iteration)
        if fired.setdefault(one, (cycle, number))[0] != cycle:
            before = fired[one]
            raise InputError(f"{trace}, line {number}: fired in cycle {cycle}; line {before[1]} has cycle {before[0]} for this row")
        counted.append((fields.whole("usable"), number, one, target))
    steps: list[tuple[tuple[int, ...], int, Mapping[str, Any]]] = []
    for (node, row, iteration), (cycle, number) in fired.items():
        slot = int(tables.step[first[node] + row]) + iteration * period
        steps.append(((cycle, 1, node, slot, row), number, {"move": "fire", "row": (node, row, iteration)}))
    for at, (cycle, number, one, target) in _in_turn(counted, tables, first):
        lands = int(tables.step[first[one[0]] + one[1]])  # and a delay, which all have
        steps.append(((at, 0, one[2], cycle, -lands, number), number, {"move": "count", "row": one, "to": target}))
    for place, number, step in sorted(steps, key=lambda step: step[0]):
        yield number, {"cycle": place[0], **step}


def _in_turn(counted: list[_Counted], tables: Tables, first: np.ndarray) -> Iterator[tuple[int, _Counted]]:
    """Messages with the cycles in which they count: of iterations that share a counter no earlier than those of the ones before."""
    sent, keys = tables.transfers(), tables.transfer_keys().tolist()
    node = tables.node[sent["row"]]
    names = zip(node.tolist(), (sent["row"] - first[node]).tolist(), sent["dst"].tolist(), strict=True)
    counters = dict(zip(names, keys, strict=True))
    latest: defaultdict[tuple[int, int], dict[int, int]] = defaultdict(dict)  # of a counter, by iteration: the last cycle so far
    for message in sorted(counted, key=lambda entry: (entry[2][2], entry[:2])):
        cycle, _, one, target = message
        of = latest[counters[one[0], one[1], target], one[2] % tables.in_flight]
        at = max(cycle, of.get(one[2] - tables.in_flight, 0))
        of[one[2]] = max(at, of.get(one[2], 0))
        yield at, message


def _text(step: Mapping[str, Any]) -> str:
    """A line of the log; rows count from 1 in TLA+."""
    node, row, iteration = step["row"]
    target = {"to": step["to"]} if "to" in step else {}
    return record(move=string(step["move"]), row=sequence((node, row + 1, iteration)), **target)


def _words(step: Mapping[str, Any]) -> str:
    node, row, iteration = step["row"]
    whose = f"row {row} of node {node}, iteration {iteration}"
    return f"{whose}, fires" if step["move"] == "fire" else f"the message of {whose}, to node {step['to']} counts"
