"""Lowering of a schedule to the rows that network interfaces execute."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.hw.tables.column_lines import filled, ragged, widen
from certree.hw.tables.counted import lower_counted
from certree.models.common.columns import match
from certree.models.common.errors import TableFormatError, UnsupportedError
from certree.models.fine.forwarding import unkept_waits
from certree.models.fine.slots import landing_steps
from certree.models.fine.timed_schedule import timed
from certree.models.machine.machine import Machine
from certree.models.network.routing import DIRECT
from certree.models.network.topology import Int32, NodeKind
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import Op
from certree.models.tables.table_columns import NIL, RowOp
from certree.models.tables.tables import Tables

Int64 = NDArray[np.int64]


def lower(schedule: Schedule, message_bytes: int, machine: Machine) -> Tables:
    """The tables of all nodes that execute `schedule` on a message of that many bytes, in the smallest profile that has rows for it
    (`docs/reference/tables.md`).

    `slotted` spreads steps of several rounds over unit rounds. Raises UnsupportedError, naming node and chunk, when no rows can
    represent the schedule ("Schedules without tables"). The verifier decides whether the schedule is valid. O(rows log rows) time,
    O(rows · widest row) memory.
    """
    plan, sizes = _sized(schedule, message_bytes, machine)
    plan = _without_idle_routes(plan)
    _refuse_switches(plan)
    for words in unkept_waits(plan):
        raise UnsupportedError(words)
    header = _header(plan, machine, sizes)
    tables = _lower_trees(plan, header) or lower_counted(plan, header)
    return replace(tables, schedule_digest=tables.schedule.digest)


def _lower_trees(plan: Schedule, header: dict[str, Any]) -> Tables | None:
    """The tables of a plan in profile `trees`; None where rows of trees cannot represent it."""
    if plan.collective.members is not None or plan.collective.has_targets or plan.buffers > 1 or not _are_trees(plan):
        return None
    tables = filled(header, _rows(plan) | _arrivals(plan))
    return tables if _are_told(tables, plan) else None


def _sized(schedule: Schedule, message_bytes: int, machine: Machine) -> tuple[Schedule, dict[str, int]]:
    """The schedule with the slots that tables have, and its sizes: fine slots fitted to these."""
    run = timed(schedule, message_bytes, machine)
    return run.schedule, {name: getattr(run, name) for name in ("message_bytes", "chunk_bytes", "slot_cycles")}


def _header(plan: Schedule, machine: Machine, sizes: dict[str, int]) -> dict[str, Any]:
    """The fields of tables that are not columns, in any profile."""
    return {
        **{name: getattr(plan, name) for name in ("topology", "collective", "chunks", "delay", "period", "repeats")},
        **{name: getattr(plan, name) for name in ("routes", "virtual_channel", "waits", "chunk_granules")},
        "machine": machine,
        **sizes,
        "fine_slots": plan.has_fine_slots,
        "schedule_digest": "",
    }


def _without_idle_routes(plan: Schedule) -> Schedule:
    """The schedule with the routes that its transfers take, and no others."""
    used, place = np.unique(plan.route[plan.route != DIRECT], return_inverse=True)
    if len(used) == len(plan.routes):
        return plan
    route = plan.route.copy()
    route[route != DIRECT] = place
    channel = None if plan.virtual_channel is None else plan.virtual_channel[used]
    waits = tuple(plan.waits[index] for index in used.tolist()) if plan.waits else None
    routes = tuple(plan.routes[index] for index in used.tolist())
    return replace(plan, route=route, routes=routes, virtual_channel=channel, waits=waits)


def _refuse_switches(plan: Schedule) -> None:
    """Raise UnsupportedError for the first transfer from or to a switch."""
    if len(plan.topology.kind) * plan.chunks * plan.buffers * plan.steps >= 1 << 62:
        raise UnsupportedError(
            f"{len(plan.topology.kind)} nodes, {plan.chunks} chunks and {plan.steps} steps are too many for tables"
        )
    for side in (plan.src, plan.dst):
        bad = np.flatnonzero(plan.topology.kind[side] != NodeKind.ENDPOINT)
        if len(bad):
            raise UnsupportedError(
                f"node {side[bad[0]]} is not an endpoint, but handles chunk {plan.chunk[bad[0]]}; only endpoints have tables"
            )


def _are_trees(plan: Schedule) -> bool:
    """Whether for each chunk a node sends one REDUCE at most and gets one COPY at most, passes on its sums, and sends its REDUCE
    when all messages to it have landed, for which the row waits. O(rows log rows)."""
    cells = [_cell(plan, side) for side in (plan.src, plan.dst)]
    reduce, copy = plan.op == Op.REDUCE, plan.op == Op.COPY
    for key in (cells[0][reduce], cells[1][copy]):
        if len(np.unique(key)) < len(key):
            return False
    if np.isin(np.intersect1d(cells[1][reduce], cells[1][copy]), cells[0][reduce], invert=True).any():
        return False
    first, second = match(cells[1][reduce], cells[0][reduce])
    return not (landing_steps(plan)[reduce][first] > plan.step[reduce][second]).any()


def _cell(plan: Schedule, node: Int32) -> Int64:
    """One number per (node, chunk of the transfer)."""
    return node.astype(np.int64) * plan.chunks + plan.chunk


def _rows(plan: Schedule) -> dict[str, Any]:
    """Columns node, op, flow, parent, children, step and route, in table order."""
    reduce, copy = (np.flatnonzero(plan.op == op) for op in (Op.REDUCE, Op.COPY))
    # A GATHER row is a (sender, chunk, step); its destinations are the row's children. Each one on a route has a row of its own.
    span = int(plan.step.max()) + 1 if plan.transfers else 1
    shared = np.unique(_cell(plan, plan.src)[copy] * span + plan.step[copy], return_inverse=True)[1]
    alone = np.where(plan.route[copy] == DIRECT, 0, plan.dst[copy] + 1)
    gathers, first, of_gather = np.unique(shared * (len(plan.topology.kind) + 1) + alone, return_index=True, return_inverse=True)
    lead = np.concatenate((reduce, copy[first]))
    cell = _cell(plan, plan.src)[lead]
    destinations = ragged(of_gather, plan.dst[copy], len(gathers))
    # A REDUCE row waits for every reduction that its node receives of the chunk.
    arriving = _cell(plan, plan.dst)[reduce]
    waits, position = match(cell[: len(reduce)], arriving)
    children = ragged(waits, plan.src[reduce][position], len(reduce))
    parents = np.full(len(gathers), NIL, np.int32)
    index, source = match(cell[len(reduce) :], _cell(plan, plan.dst)[copy])
    parents[index] = plan.src[copy][source]
    width = max(1, destinations.shape[1], children.shape[1])
    columns = {
        "node": plan.src[lead],
        "op": np.repeat(np.array([RowOp.REDUCE, RowOp.GATHER], np.int32), [len(reduce), len(gathers)]),
        "flow": plan.chunk[lead],
        "parent": np.concatenate((plan.dst[reduce], parents)).astype(np.int32),
        "children": np.concatenate((widen(children, width), widen(destinations, width))),
        "step": plan.step[lead],
        "route": np.where(plan.route[lead] == DIRECT, NIL, plan.route[lead]),
    }
    destination = np.where(columns["op"] == RowOp.REDUCE, columns["parent"], columns["children"][:, 0])
    order = np.lexsort((destination, columns["flow"], columns["op"], columns["step"], columns["node"]))
    return {name: np.ascontiguousarray(column[order]) for name, column in columns.items()}


def _arrivals(plan: Schedule) -> dict[str, Any]:
    """The expected arrivals of each node, once per iteration: one for every transfer that ends there."""
    op = np.where(plan.op == Op.REDUCE, RowOp.REDUCE, RowOp.GATHER).astype(np.int32)
    order = np.lexsort((plan.src, plan.chunk, op, plan.dst))
    return {
        "arrival_node": plan.dst[order],
        "arrival_op": op[order],
        "arrival_flow": plan.chunk[order],
        "arrival_peer": plan.src[order],
    }


def _are_told(tables: Tables, plan: Schedule) -> bool:
    """Whether the rows show the root of every chunk, as those of trees must."""
    try:
        executed = tables.schedule
    except TableFormatError:
        return False
    return np.array_equal(executed.chunk_root, plan.chunk_root)
