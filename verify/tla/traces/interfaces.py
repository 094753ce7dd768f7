"""Simulator traces as behaviours of the specification: `specs/TraceNILockstep.tla`, with tables and log as its constants."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from certree.models.common.errors import InputError, UnsupportedError, unknown_name
from certree.models.schedule.timing import reduction_cycles
from certree.models.tables.table_columns import RowOp
from certree.models.tables.tables import Tables
from certree.models.traces.lines import trace_lines
from certree.verify.tla.counterexample import explain, picture, table_of_slots
from certree.verify.tla.generated import Generated, function, record, sequence, string
from certree.verify.tla.runs import ModelResult, traced_result
from certree.verify.tla.table_constants import Plan, plan_of, values, written
from certree.verify.tla.tlc import Result, TlcRun

RUNS = ("slotted", "paced")
_FIELDS = ("node", "row", "iteration", "destination", "fired", "first_flit", "last_flit_arrived", "usable")
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
# Unknown before the last link of the path.
_AT_THE_END = ("last_flit_arrived", "usable")

Key = tuple[int, int, int, int]


def check_trace(tables: Tables, trace: Path, run: str = "slotted", time_limit: float = 300.0) -> ModelResult:
    """Check that the trace of a run of these tables is a behaviour of the specification, with all times of all messages.

    `trace`: lines of JSON as `simulate --trace` writes them. The result is `success`, or `safety` or `deadlock` with a message
    that names the first message for which specification and trace differ. Raises InputError for a file that is not such a trace,
    the errors of `plan_of` for the tables, ToolMissingError without Java or TLC.
    """
    if run not in RUNS:
        raise InputError(unknown_name("run mode", run, RUNS))
    if run == "paced" and tables.repeats > 1:
        raise UnsupportedError(f"a table of {tables.repeats} iterations cannot be paced: the timestep counter has one")
    plan, log = plan_of(tables, whole=True), load_trace(trace)
    ser, buffer, chunk = (
        plan.timing.ser,
        tables.machine.ni_buffer_flits * tables.topology.scale,
        reduction_cycles(tables.chunk_bytes, tables.machine),
    )
    # at most behind all other sums of the run: a trace may come from tables whose slots are too short
    sums = max(1, plan.repeats * int((tables.arrival_op == RowOp.REDUCE).sum()))
    reduction = (tables.machine.reduce_start_cycles + chunk, tables.machine.reduce_start_cycles + chunk * sums)
    changed = {
        "Run": string(run),
        "MinReduceTicks": reduction[0],
        "MaxReduceTicks": reduction[1],
        "ReadyTicks": tables.machine.reduce_start_cycles,
        "UnitTicks": chunk,
        "BufferTicks": buffer,
        "StepTicks": ser if ser <= buffer else ser - buffer,
    }
    tables_and_log = written(plan) | {"Log": _log_text(log)}
    model = Generated("TraceNILockstep", tables_and_log, values(plan) | changed, _INVARIANTS, ("IsBehaviour",), "TraceSpec")
    answer = model.run(time_limit=time_limit)
    name = f"{run} trace of {tables.topology.name} {tables.collective.kind}"
    message = _message(answer, log, plan, reduction)
    return traced_result(name, answer, message, table_of_slots(answer), picture(answer, tables.topology))


def load_trace(path: Path) -> dict[Key, dict[str, int]]:
    """The lines of a trace by (node, row of that node, iteration, destination). Raises InputError for anything else."""
    log: dict[Key, dict[str, int]] = {}
    for _, fields in trace_lines(path, "simulate"):
        entry = {name: fields.whole(name) for name in _FIELDS}
        key = (entry["node"], entry["row"], entry["iteration"], entry["destination"])
        if key in log:
            fields.refuse(f"a second line for {_words(key)}")
        log[key] = entry
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


def _message(run: TlcRun, log: Mapping[Key, Mapping[str, int]], plan: Plan, reduction: tuple[int, int]) -> str:
    """The result in words: the first message for which specification and trace differ."""
    if run.result is Result.SUCCESS:
        return f"{len(log)} messages, all as in the specification"
    if run.broken == "NothingElseLogged":
        return f"{run.broken}: the trace has {len(log)} messages, more than the tables command"
    if run.trace and run.broken == "ReducedAsLogged":
        return f"{run.broken}: {_sum_difference(run, log, plan)}"
    if run.trace and (run.broken in _FIELD_OF or run.broken == "EveryMessageLogged"):
        return f"{run.broken}: {_difference(run, log, plan, reduction)}"
    return explain(run)


def _difference(run: TlcRun, log: Mapping[Key, Mapping[str, int]], plan: Plan, reduction: tuple[int, int]) -> str:
    """The first message in flight for which specification and trace differ."""
    flying = [dict(message) for message in run.trace[-1]["flying"]]
    for message in sorted(flying, key=lambda m: (m["sent"], m["src"], m["row"], m["dst"])):
        key = (message["src"], message["row"] - 1, message["item"][1], message["dst"])
        if run.broken == "EveryMessageLogged":
            if key not in log:
                return f"{_words(key)}: fired in cycle {message['sent']} by the specification, and not in the trace"
            continue
        field = _FIELD_OF[run.broken]
        if field in _AT_THE_END and len(message["enters"]) < len(message["links"]):
            continue
        low, high = _expected(message, plan, reduction)[field]
        if key in log and not low <= log[key][field] <= high:
            cycles = f"cycle {low}" if low == high else f"cycles {low} to {high}"
            return f"{_words(key)}: {field} in cycle {log[key][field]} by the trace, in {cycles} by the specification"
    raise AssertionError(f"{run.broken} is violated, but every message in flight agrees with the trace")


def _sum_difference(run: TlcRun, log: Mapping[Key, Mapping[str, int]], plan: Plan) -> str:
    """The sum that the reduction unit takes out of its turn or not in its time, of those that arrive in the last state."""
    machine, now = plan.tables.machine, run.trace[-1]["now"]
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
            given = log[late]["usable"]
            due = max(place[0] + machine.reduce_start_cycles, free) + reduction_cycles(plan.tables.chunk_bytes, machine)
            if place[0] == now and given != due:
                return f"{_words(late)}: usable in cycle {given} by the trace, in cycle {due} by the specification"
            free = max(free, given)
    raise AssertionError("ReducedAsLogged is violated, but every sum that arrives agrees with the trace")


def _expected(message: Mapping[str, Any], plan: Plan, reduction: tuple[int, int]) -> dict[str, tuple[int, int]]:
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
