"""Simulator traces as behaviours of the specification: `specs/TraceNILockstep.tla`, with tables and log as its constants."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil
from pathlib import Path
from typing import Any

from certree.extras.tla.check.counterexample import explain, picture, table_of_slots
from certree.extras.tla.check.generated import Generated, function, record, sequence, string
from certree.extras.tla.check.model_runs import ModelResult, run_result
from certree.extras.tla.check.table_constants import MAX_TICKS, CheckedTables, plan_of, values, written
from certree.extras.tla.check.tlc import Result, TlcRun
from certree.models.common.errors import InputError, UnsupportedError, unknown_name
from certree.models.machine.clocks import Clocks
from certree.models.schedule.timing import reduction_cycles
from certree.models.tables.table_columns import RowOp
from certree.models.tables.tables import Tables
from certree.models.traces.lines import trace_lines

RUNS = ("slotted", "paced")
_CYCLES = ("fired", "first_flit", "last_flit_arrived", "usable")
_FIELDS = ("node", "row", "iteration", "destination", *_CYCLES)
_INVARIANTS = (
    "EveryMessageLogged",
    "FiredAsLogged",
    "EnteredAsLogged",
    "ArrivedAsLogged",
    "UsableAsLogged",
    "ReducedAsLogged",
    "NothingElseLogged",
    "ExactlyOnce",
    "RightSum",
)
# The field of the trace that a violated invariant is about.
_FIELD_OF = {
    "FiredAsLogged": "fired",
    "EnteredAsLogged": "first_flit",
    "ArrivedAsLogged": "last_flit_arrived",
    "UsableAsLogged": "usable",
}
# In place of definitions of NILockstep: with the clocks of the run.
_CLOCKED = {"OpensAt": "GivenOpensAt", "LoadedFor": "GivenLoadedFor"}
# Unknown before the last link of the path.
_AT_THE_END = ("last_flit_arrived", "usable")

Key = tuple[int, int, int, int]


@dataclass(frozen=True)
class _Trace:
    """A run: its tables, the times of its messages counted from the cycle `first`, in which the first clock starts, and the least
    and the most time of a sum from its arrival until it is usable."""

    plan: CheckedTables
    log: Mapping[Key, Mapping[str, int]]
    first: int
    reduction: tuple[int, int]


def check_trace(
    tables: Tables, trace: Path, run: str = "slotted", time_limit: float = 300.0, *, clocks: Clocks | None = None
) -> ModelResult:
    """Check that the trace of a run of these tables is a behaviour of the specification, with all times of all messages.

    `trace`: lines of JSON as `simulate --trace` writes them. `clocks`: those of the run; None: all equal. The result is `success`,
    or `safety` or `deadlock` with a message that names the first message for which specification and trace differ. Raises
    InputError for a file that is not such a trace, the errors of `plan_of` for the tables, UnsupportedError for clocks with
    products above 31 bits, ToolMissingError without Java or TLC.
    """
    if run not in RUNS:
        raise InputError(unknown_name("run mode", run, RUNS))
    if run == "paced" and tables.repeats > 1:
        raise UnsupportedError(f"the specification of paced runs has one iteration; these tables have {tables.repeats}")
    plan, machine = plan_of(tables, whole=True), tables.machine
    nodes, clocks = tables.topology.endpoints.tolist(), clocks or Clocks.equal(len(tables.topology.kind))
    first, unit = min(clocks.skew[node] for node in nodes), reduction_cycles(tables.chunk_bytes, machine)
    # at most behind all other sums of the run: a trace may come from tables whose slots are too short
    sums = max(1, plan.repeats * int((tables.arrival_op == RowOp.REDUCE).sum()))
    reduction = machine.reduce_start_cycles + unit, machine.reduce_start_cycles + unit * sums
    traced = _Trace(plan, load_trace(trace, first), first, reduction)
    answer = _model(traced, run, unit, clocks).run(time_limit=time_limit)
    if answer.legend is not None:
        answer = replace(answer, legend={**answer.legend, "drifts": dict(enumerate(clocks.drift))})
    name = f"{run} trace of {tables.topology.name} {tables.collective.kind}"
    return run_result(name, answer, "trace", _message(answer, traced), table_of_slots(answer), picture(answer, tables.topology))


def _model(traced: _Trace, run: str, unit: int, clocks: Clocks) -> Generated:
    """The model of a run; `unit`: the cycles that the reduction unit takes for a sum."""
    plan, machine, ser = traced.plan, traced.plan.tables.machine, traced.plan.timing.ser
    buffer = int(machine.ni_buffer_flits * plan.tables.topology.scale)
    step = ser if ser <= buffer else ser - buffer
    nodes = plan.tables.topology.endpoints.tolist()
    _check_clocks(nodes, clocks, max(step, plan.slots * plan.tables.slot_cycles))
    skew = {node: clocks.skew[node] - traced.first for node in nodes}
    drift = function((node, sequence(clocks.drift[node].as_integer_ratio())) for node in nodes)
    given = written(plan) | {"Log": _log_text(traced.log), "Skew": function(skew.items()), "Drift": drift}
    changed = {
        "Run": string(run),
        "MinReduceTicks": traced.reduction[0],
        "MaxReduceTicks": traced.reduction[1],
        "ReadyTicks": machine.reduce_start_cycles,
        "UnitTicks": unit,
        "BufferTicks": buffer,
        "StepTicks": step,
        "MaxSkewTicks": max(skew.values()),
    }
    numbers = values(plan) | changed
    return Generated("TraceNILockstep", given, numbers, _INVARIANTS, ("IsBehaviour",), "TraceSpec", chosen=_CLOCKED)


def _check_clocks(nodes: Sequence[int], clocks: Clocks, most: int) -> None:
    """Raise UnsupportedError for clocks with which TLC cannot count `most` cycles, the longest time that a counter counts."""
    for node in nodes:
        skew, drift = clocks.skew[node], clocks.drift[node]
        rest = min(drift.denominator, most) * abs(drift.numerator)
        if max(drift.denominator, rest, skew + most + ceil(abs(most * drift))) > MAX_TICKS:
            raise UnsupportedError(
                f"node {node}: skew {skew} and drift {drift} in {most} cycles need numbers above {MAX_TICKS}, more than TLC has"
            )


def load_trace(path: Path, first: int = 0) -> dict[Key, dict[str, int]]:
    """The lines of a trace by (node, row of that node, iteration, destination), with cycles counted from `first`. Raises InputError
    for anything else."""
    log: dict[Key, dict[str, int]] = {}
    for _, fields in trace_lines(path, "simulate"):
        if "at_interface" in fields or "endpoint" in fields:
            fields.refuse("the run had endpoints, and the specification of interfaces has none")
        entry = {name: fields.whole(name) for name in _FIELDS}
        key = (entry["node"], entry["row"], entry["iteration"], entry["destination"])
        if key in log:
            fields.refuse(f"a second line for {_words(key)}")
        log[key] = {name: entry[name] - first for name in _CYCLES}
    return log


def _log_text(log: Mapping[Key, Mapping[str, int]]) -> str:
    """The log as a function; rows count from 1 in TLA+."""
    return function(
        (
            sequence((node, row + 1, iteration, destination)),
            record(fired=entry["fired"], entered=entry["first_flit"], arrived=entry["last_flit_arrived"], usable=entry["usable"]),
        )
        for (node, row, iteration, destination), entry in sorted(log.items())
    )


def _words(key: Key) -> str:
    node, row, iteration, destination = key
    return f"node {node}, row {row}, iteration {iteration}, to node {destination}"


def _message(run: TlcRun, traced: _Trace) -> str:
    """The result in words: the first message for which specification and trace differ."""
    if run.result is Result.SUCCESS:
        return f"{len(traced.log)} messages, all as in the specification"
    if run.broken == "NothingElseLogged":
        return f"{run.broken}: the trace has {len(traced.log)} messages, more than the tables command"
    if run.trace and run.broken == "ReducedAsLogged":
        return f"{run.broken}: {_sum_difference(run, traced)}"
    if run.trace and (run.broken in _FIELD_OF or run.broken == "EveryMessageLogged"):
        return f"{run.broken}: {_difference(run, traced)}"
    return explain(run)


def _difference(run: TlcRun, traced: _Trace) -> str:
    """The first message in flight for which specification and trace differ."""
    log, first = traced.log, traced.first
    flying = [dict(message) for message in run.trace[-1]["flying"]]
    for message in sorted(flying, key=lambda m: (m["sent"], m["src"], m["row"], m["dst"])):
        key = (message["src"], message["row"] - 1, message["item"][1], message["dst"])
        if run.broken == "EveryMessageLogged":
            if key not in log:
                return f"{_words(key)}: fired in cycle {first + message['sent']} by the specification, and not in the trace"
            continue
        field = _FIELD_OF[run.broken]
        if field in _AT_THE_END and len(message["enters"]) < len(message["links"]):
            continue
        low, high = _expected(message, traced.reduction)[field]
        if key in log and not low <= log[key][field] <= high:
            cycles = f"cycle {first + low}" if low == high else f"cycles {first + low} to {first + high}"
            return f"{_words(key)}: {field} in cycle {first + log[key][field]} by the trace, in {cycles} by the specification"
    raise AssertionError(f"{run.broken} is violated, but every message in flight agrees with the trace")


def _sum_difference(run: TlcRun, traced: _Trace) -> str:
    """The sum that the reduction unit takes out of its turn or not in its time, of those that arrive in the last state."""
    tables, now, first = traced.plan.tables, run.trace[-1]["now"], traced.first
    machine, unit = tables.machine, reduction_cycles(tables.chunk_bytes, tables.machine)
    found: dict[int, list[tuple[tuple[int, ...], Key]]] = {}
    for message in (dict(message) for message in run.trace[-1]["flying"]):
        last = len(message["enters"]) - 1
        there = message["enters"][last] + message["travel"][last]
        if message["op"] == "REDUCE" and len(message["links"]) == last + 1 and there <= now:
            turn = (there, message["src"] != message["dst"], message["links"][last][0], message["lanes"][last])
            key = (message["src"], message["row"] - 1, message["item"][1], message["dst"])
            found.setdefault(message["dst"], []).append((turn, key))
    for sums in found.values():
        free = 0
        for place, late in sorted(sums):
            given = traced.log[late]["usable"]
            due = max(place[0] + machine.reduce_start_cycles, free) + unit
            if place[0] == now and given != due:
                return f"{_words(late)}: usable in cycle {first + given} by the trace, in cycle {first + due} by the specification"
            free = max(free, given)
    raise AssertionError("ReducedAsLogged is violated, but every sum that arrives agrees with the trace")


def _expected(message: Mapping[str, Any], reduction: tuple[int, int]) -> dict[str, tuple[int, int]]:
    """First and last cycle of each field by the specification."""
    entered = message["enters"]
    there = entered[-1] + message["travel"][len(entered) - 1]
    shortest, longest = reduction if message["op"] == "REDUCE" else (0, 0)
    return {
        "fired": (message["sent"], message["sent"]),
        "first_flit": (entered[0], entered[0]),
        "last_flit_arrived": (there, there),
        "usable": (there + shortest, there + longest),
    }
