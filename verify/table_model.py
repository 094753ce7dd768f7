"""A set of tables as a TLA+ model: constants for `specs/NILockstep.tla`, generated, checked, and the answer in words.

Ticks are cycles: time in the model jumps from event to event, so nothing has to be scaled down and nothing is rounded. Slot
length and arrivals come from the tables; serialization, travel and the worst case of the reduction unit are computed afresh
(`certree.models.timing`) from message size and machine, so that a slot that is too short is found out.
"""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from certree.models.collective import CollectiveKind, parse_collective
from certree.models.errors import TableFormatError, UnsupportedError
from certree.models.machine import Machine
from certree.models.schedule import NO_ROOT, Op, make_schedule
from certree.models.tables import NIL, RowOp, Tables
from certree.models.timing import SlotTiming, ceil_div, chunk_bytes_of, path_latency, slot_timing
from certree.models.topology import Topology
from certree.verify.counterexample import explain, table_of_slots
from certree.verify.models import ModelResult, specs_folder
from certree.verify.tlc import Result, Simulation, TlcRun, run_tlc

MODULE = "TableModel"
# All states when messages (of which the number of states is a small multiple) times counters in a state is at most this;
# random runs beyond. mesh:3x3 with 9 trees is at 105,000.
EXHAUSTIVE_WORK = 1 << 21
# A state says for each node, chunk and iteration how often each node's contribution was added: nodes² counters for each chunk
# and iteration. TLC manages about this many.
MAX_COUNTERS = 1 << 18
MAX_TICKS = (1 << 31) - 1  # TLC's integers have 32 bits
SIMULATION_RUNS = 2
# In this order: of what is wrong in one state, the first is told.
_INVARIANTS = "TypeOK ExactlyOnce LinksExist OnlyExpected EveryArrivalAwaited NoBusyPort NoLateRow RightSum SlotIsLongEnough"
_PROPERTIES = "EveryRunEnds BeginsWithThePromise NeverBreaksThePromise BeginsAsScheduled StepsAsScheduled"

_GENERATED = ("Contributors", "Promised", "Table", "Arrivals", "Path", "Capacity", "TravelTicks")


@dataclass(frozen=True)
class _Plan:
    """What of the tables is checked: the first `repeats` iterations, with times in cycles."""

    tables: Tables
    timing: SlotTiming
    travel: NDArray[np.int64]  # of each joined pair, in the topology's order: from firing until the message is there
    period: int
    repeats: int

    @property
    def slots(self) -> int:
        """Slots from the first to the last that anything is played in."""
        return (self.repeats - 1) * self.period + int(self.tables.step.max(initial=0)) + 1

    @property
    def counters(self) -> int:
        """Numbers in the memory of a state."""
        return len(self.tables.topology.endpoints) ** 2 * self.tables.chunks * self.repeats

    @property
    def messages(self) -> int:
        """Messages of all iterations checked."""
        return self.repeats * len(self.tables.transfers()["row"])


def model_check_tables(tables: Tables, time_limit: float = 300.0, seed: int = 0) -> ModelResult:
    """Play the tables in the TLA+ model of the NIs, all behaviours or, for larger tables, random ones, and say which.

    `mode` is `exhaustive` or `simulation`. Of a repeating table as many iterations are checked as can meet, and one more; the
    message says how many: later ones meet the same rows, links and counters in the same slots. `message` of a refutation names
    property, node, row (counted from 0 within the node) and slot; `trace` is the table of slots. The result is `unknown` when
    `time_limit` seconds do not suffice. Raises UnsupportedError for tables with routes over several links and for tables
    beyond TLC's reach, TableFormatError for rows of no endpoint or chunk, with a child twice or of other data than their chunk's,
    and when a rooted collective's chunk has no one root, ToolMissingError without Java or TLC.
    """
    plan = _plan(tables)
    exhaustive = plan.messages * plan.counters <= EXHAUSTIVE_WORK
    simulation = None if exhaustive else Simulation(SIMULATION_RUNS, _longest_run(plan), seed)
    with tempfile.TemporaryDirectory(prefix="certree-model-") as folder:
        module, config = Path(folder) / f"{MODULE}.tla", Path(folder) / f"{MODULE}.cfg"
        module.write_text(_module_text(plan))
        config.write_text(_config_text(plan, with_properties=exhaustive))
        run = run_tlc(module, config, specs_folder(), time_limit=time_limit, simulation=simulation, heap="2g")
    return ModelResult(
        name=f"tables of {tables.topology.name} {tables.collective.kind}",
        expected=Result.SUCCESS,
        result=run.result,
        distinct_states=run.distinct_states,
        total_states=run.total_states,
        seconds=run.seconds,
        mode="exhaustive" if exhaustive else "simulation",
        trace=table_of_slots(run),
        message=_message(plan, run, simulation),
        as_expected=run.result is Result.SUCCESS,
    )


def _message(plan: _Plan, run: TlcRun, simulation: Simulation | None) -> str:
    """What was found, or what a success covers."""
    if run.broken == "SlotIsLongEnough":
        return (
            f"{run.broken}: a slot of {plan.tables.slot_cycles} cycles; messages of {plan.timing.ser} cycles, latency "
            f"{plan.timing.lat} and reduction {plan.timing.red} need {plan.timing.slot_cycles} at delay {plan.tables.delay}"
        )
    if run.result is not Result.SUCCESS:
        return explain(run)
    how = f"{simulation.runs} random runs, seed {simulation.seed}" if simulation else "all states"
    iterations = "" if plan.tables.repeats == 1 else f", {plan.repeats} of {plan.tables.repeats} iterations"
    return how + iterations


def _plan(tables: Tables) -> _Plan:
    topology, machine = tables.topology, tables.machine
    if (tables.route != NIL).any():
        raise UnsupportedError("rows with routes over several links cannot be model-checked; allowed: neighbours only")
    _refuse_malformed(tables)
    steps = int(tables.step.max()) + 1 if len(tables.step) else 1
    period = tables.period or steps
    # iterations that share slots, and those whose messages are still in flight then; one more for the steady state
    repeats = min(tables.repeats, ceil_div(steps, period) + ceil_div(tables.delay, period) + 1)
    plan = _Plan(tables, _linked_timing(tables), _travel(topology, machine), period, repeats)
    plan = replace(plan, travel=plan.travel + plan.timing.ser)
    if plan.counters > MAX_COUNTERS:
        raise UnsupportedError(
            f"{len(topology.endpoints)} nodes, {tables.chunks} chunks and {repeats} iterations are too many for TLC: "
            f"{plan.counters} counters in a state; allowed: {MAX_COUNTERS}"
        )
    last = plan.slots * tables.slot_cycles + int(plan.travel.max()) + plan.timing.red
    if last > MAX_TICKS:
        raise UnsupportedError(f"the run lasts {last} cycles, more than TLC can count; take a smaller message")
    return plan


def _refuse_malformed(tables: Tables) -> None:
    """Raise TableFormatError for rows and arrivals that have no place in the model: it would pass over them."""
    for column, allowed, what in (
        (tables.node, tables.topology.endpoints, "node {} has rows, but is no endpoint"),
        (tables.arrival_node, tables.topology.endpoints, "node {} expects arrivals, but is no endpoint"),
        (tables.flow, np.arange(tables.chunks), "flow {} of a row is none of the chunks"),
        (tables.arrival_flow, np.arange(tables.chunks), "flow {} of an arrival is none of the chunks"),
        (
            tables.op,
            [RowOp.REDUCE, RowOp.GATHER],
            "op {} of a row is neither REDUCE nor GATHER; NOPs of a slotted table are implicit",
        ),
        (tables.arrival_op, [RowOp.REDUCE, RowOp.GATHER], "op {} of an arrival is neither REDUCE nor GATHER"),
    ):
        wrong = np.flatnonzero(~np.isin(column, allowed))
        if len(wrong):
            raise TableFormatError(what.format(column[wrong[0]]))
    children = np.sort(tables.children, axis=1)
    twice = np.argwhere((children[:, 1:] == children[:, :-1]) & (children[:, 1:] != NIL))
    if len(twice):  # the children of a row are a set in the model
        row, column = twice[0].tolist()
        raise TableFormatError(f"a row of node {tables.node[row]} names node {children[row, column]} as its child twice")
    # messages of the model carry whole chunks, wherever these lie
    size = chunk_bytes_of(tables.message_bytes, tables.chunks, tables.repeats, tables.machine) // tables.machine.flit_bytes
    misplaced = np.flatnonzero((tables.size != size) | (tables.addr != tables.flow.astype(np.int64) * size))
    if len(misplaced):
        row = misplaced[0]
        raise TableFormatError(
            f"a row of node {tables.node[row]} moves {tables.size[row]} granules at {tables.addr[row]}; "
            f"flow {tables.flow[row]} is {size} granules at {int(tables.flow[row]) * size}"
        )


def _linked_timing(tables: Tables) -> SlotTiming:
    """Slot timing of what the rows send over links; a row that sends where no link leads is for the model to refute."""
    moves = tables.transfers()
    linked = tables.topology.pair_index(moves["src"], moves["dst"]) >= 0
    schedule = make_schedule(
        tables.topology,
        parse_collective(CollectiveKind.ALL_REDUCE),
        np.full(tables.chunks, NO_ROOT, np.int32),
        {name: column[linked] for name, column in moves.items()},
        delay=tables.delay,
        period=tables.period,
        repeats=tables.repeats,
    )
    return slot_timing(schedule, tables.message_bytes, tables.machine)


def _travel(topology: Topology, machine: Machine) -> NDArray[np.int64]:
    """Path latency of each joined pair, in the topology's order."""
    pairs = len(topology.pair_src)
    columns = {"chunk": np.zeros(pairs, np.int32), "op": np.full(pairs, Op.COPY, np.int32), "step": np.zeros(pairs, np.int32)}
    columns |= {"src": topology.pair_src.astype(np.int32), "dst": topology.pair_dst.astype(np.int32)}
    probe = make_schedule(topology, parse_collective(CollectiveKind.ALL_REDUCE), [NO_ROOT], columns)
    latency = np.empty(pairs, np.int64)
    latency[topology.pair_index(probe.src, probe.dst)] = path_latency(probe, machine)
    return latency


def _longest_run(plan: _Plan) -> int:
    """States of the longest run that is on time: each row fires, each message counts, and time stops at slots and messages.

    Messages of one slot leave their ports, arrive and count at the same times, but for differences in their paths.
    """
    stops_a_slot = 2 + 2 * len(np.unique(plan.travel))
    return 1 + plan.repeats * len(plan.tables.node) + plan.messages + plan.slots * stops_a_slot


def _function(pairs: Sequence[tuple[object, str]]) -> str:
    return " @@\n  ".join(f"({key} :> {value})" for key, value in pairs)


def _set(members: Sequence[object]) -> str:
    return "{" + ", ".join(map(str, members)) + "}"


def _row_text(tables: Tables, row: int) -> str:
    children = [child for child in tables.children[row].tolist() if child != NIL]
    return (
        f'[op |-> "{RowOp(int(tables.op[row])).name}", flow |-> {tables.flow[row]}, step |-> {tables.step[row]}, '
        f"parent |-> {tables.parent[row]}, children |-> {_set(children)}]"
    )


def _table_text(tables: Tables, node: int) -> str:
    """The node's rows in order."""
    rows = np.flatnonzero(tables.node == node)
    return "<<" + ",\n    ".join(_row_text(tables, row) for row in rows.tolist()) + ">>"


def _arrivals_text(tables: Tables, node: int) -> str:
    mine = np.flatnonzero(tables.arrival_node == node)
    columns = (tables.arrival_op[mine], tables.arrival_flow[mine], tables.arrival_peer[mine])
    return _set([f'<<"{RowOp(op).name}", {flow}, {peer}>>' for op, flow, peer in zip(*(c.tolist() for c in columns), strict=True)])


def _module_text(plan: _Plan) -> str:
    """The generated module. Each constant is a definition that names the one that does the work, see MCNILockstep.tla."""
    tables, topology = plan.tables, plan.tables.topology
    nodes, flows = topology.endpoints.tolist(), list(range(tables.chunks))
    roots = tables.schedule.chunk_root.tolist() if tables.collective.is_rooted else []
    everyone, at_root = [(flow, _set(nodes)) for flow in flows], [(flow, _set([root])) for flow, root in enumerate(roots)]
    pairs = list(zip(topology.pair_src.tolist(), topology.pair_dst.tolist(), strict=True))
    links = [f"<<{src}, {dst}>>" for src, dst in pairs]
    constants = {
        "Contributors": _function(everyone if tables.collective.reduces else at_root),
        "Promised": _function(everyone if tables.collective.gathers else at_root),
        "Table": _function([(node, _table_text(tables, node)) for node in nodes]),
        "Arrivals": _function([(node, _arrivals_text(tables, node)) for node in nodes]),
        "Path": _function([(link, _set([link])) for link in links]),
        "Capacity": _function(list(zip(links, map(str, topology.pair_capacity.tolist()), strict=True))),
        "TravelTicks": _function(list(zip(links, map(str, plan.travel.tolist()), strict=True))),
    }
    lines = [f"---- MODULE {MODULE} ----", "EXTENDS CheckNILockstep"]
    lines += [f"Given{name} ==\n  {text}\nMC{name} == Given{name}" for name, text in constants.items()]
    lines += [
        f"\\* Judged at the end of a run: a row that the short slot makes late is reported first, for it names the place.\n"
        f"SlotIsLongEnough == AllDone => SlotTicks >= {plan.timing.slot_cycles}",
        "====",
    ]
    return "\n".join(lines) + "\n"


def _config_text(plan: _Plan, *, with_properties: bool) -> str:
    """Properties of whole behaviours are left out of simulations, where each run is as long as any can be: it ends or deadlocks."""
    tables = plan.tables
    values = {
        "Nodes": _set(tables.topology.endpoints.tolist()),
        "Flows": _set(list(range(tables.chunks))),
        "Period": plan.period,
        "Repeats": plan.repeats,
        "Delay": tables.delay,
        "Run": '"slotted"',
        "SlotTicks": tables.slot_cycles,
        "SerTicks": plan.timing.ser,
        "MinReduceTicks": plan.timing.red,
        "MaxReduceTicks": plan.timing.red,
        "MaxSkewTicks": 0,
        "MaxDriftTicks": 0,
        "BufferTicks": 0,
        "StepTicks": 0,
        "MaxStepsApart": 0,
    }
    lines = ["SPECIFICATION Spec", "CONSTANTS"]
    lines += [f"  {name} <- MC{name}" for name in _GENERATED]
    lines += [f"  {name} = {value}" for name, value in values.items()]
    lines += ["  InTurn <- LowestFirst", f"INVARIANTS {_INVARIANTS}"]
    if with_properties:
        lines.append(f"PROPERTIES {_PROPERTIES}")
    return "\n".join(lines) + "\n"
