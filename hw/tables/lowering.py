"""Lowering of a schedule to the rows that network interfaces execute."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.models.common.errors import TableFormatError, UnsupportedError
from certree.models.machine.machine import Machine
from certree.models.network.routing import DIRECT
from certree.models.network.topology import Int32, NodeKind
from certree.models.schedule.schedule import Op, Schedule
from certree.models.schedule.timing import slotted
from certree.models.tables import NIL, RowOp, Tables

Int64 = NDArray[np.int64]


def lower(schedule: Schedule, message_bytes: int, machine: Machine) -> Tables:
    """The tables of all nodes that execute `schedule` on a message of that many bytes (`docs/reference/tables.md`, "A row").

    `slotted` spreads steps of several rounds over unit rounds. Raises UnsupportedError, naming node and chunk, when rows cannot
    represent the schedule: a node that sends a chunk's REDUCE twice or gets its COPY twice, a switch that holds data. The verifier
    decides whether the schedule is valid. O(rows log rows) time, O(rows · widest row) memory.
    """
    schedule.require_version_1("tables")
    if schedule.collective.has_targets:
        raise UnsupportedError(
            f"tables address one vector that all endpoints share; {schedule.collective.kind} has a block for each"
        )
    plan, timing = slotted(schedule, message_bytes, machine)
    plan = _without_idle_routes(plan)
    _refuse_other_than_trees(plan)
    rows = _rows(plan)
    size = timing.chunk_bytes // machine.flit_bytes
    tables = Tables(
        topology=plan.topology,
        collective=plan.collective,
        machine=machine,
        chunks=plan.chunks,
        delay=plan.delay,
        period=plan.period,
        repeats=plan.repeats,
        message_bytes=message_bytes,
        chunk_bytes=timing.chunk_bytes,
        slot_cycles=timing.slot_cycles,
        schedule_digest="",
        addr=rows["flow"].astype(np.int64) * size,
        size=np.full(len(rows["flow"]), size, np.int64),
        routes=plan.routes,
        **rows,
        **_arrivals(plan),
    )
    return replace(tables, schedule_digest=_executed(tables, plan).digest)


def _without_idle_routes(plan: Schedule) -> Schedule:
    """The same transfers, and only the routes that they take."""
    used, place = np.unique(plan.route[plan.route != DIRECT], return_inverse=True)
    if len(used) == len(plan.routes):
        return plan
    route = plan.route.copy()
    route[route != DIRECT] = place
    return replace(plan, route=route, routes=tuple(plan.routes[index] for index in used.tolist()))


def _refuse_other_than_trees(plan: Schedule) -> None:
    """Raise UnsupportedError for the first transfer that a row cannot represent."""
    if len(plan.topology.kind) * plan.chunks * plan.steps >= 1 << 62:
        raise UnsupportedError(
            f"{len(plan.topology.kind)} nodes, {plan.chunks} chunks and {plan.steps} steps are too many for tables"
        )
    for side in (plan.src, plan.dst):
        bad = np.flatnonzero(plan.topology.kind[side] != NodeKind.ENDPOINT)
        if len(bad):
            raise UnsupportedError(
                f"node {side[bad[0]]} is not an endpoint, but handles chunk {plan.chunk[bad[0]]}; only endpoints have tables"
            )
    for op, side, fault in (
        (Op.REDUCE, plan.src, "sends more than one REDUCE"),
        (Op.COPY, plan.dst, "receives more than one GATHER"),
    ):
        rows = plan.op == op
        key = np.sort(_cell(plan, side)[rows])
        twice = key[1:][key[1:] == key[:-1]]
        if len(twice):
            node, chunk = divmod(int(twice[0]), plan.chunks)
            raise UnsupportedError(f"node {node} {fault} of chunk {chunk}; tables hold trees, in which each node has one parent")
    _refuse_exchanges(plan)


def _refuse_exchanges(plan: Schedule) -> None:
    """Raise UnsupportedError when two nodes reduce into each other: each REDUCE row would wait for the other's arrival."""
    reduce = np.flatnonzero(plan.op == Op.REDUCE)
    first, second = _match(_cell(plan, plan.dst)[reduce], _cell(plan, plan.src)[reduce])
    mutual = np.flatnonzero(plan.src[reduce][first] == plan.dst[reduce][second])
    if len(mutual):
        row = reduce[first[mutual[0]]]
        raise UnsupportedError(
            f"nodes {plan.src[row]} and {plan.dst[row]} reduce chunk {plan.chunk[row]} into each other; "
            "a table's REDUCE waits for all that its node receives, so neither would fire"
        )


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
    destinations = _ragged(of_gather, plan.dst[copy], len(gathers))
    # A REDUCE row waits for every reduction that its node receives of the chunk.
    arriving = _cell(plan, plan.dst)[reduce]
    waits, position = _match(cell[: len(reduce)], arriving)
    children = _ragged(waits, plan.src[reduce][position], len(reduce))
    parents = np.full(len(gathers), NIL, np.int32)
    index, source = _match(cell[len(reduce) :], _cell(plan, plan.dst)[copy])
    parents[index] = plan.src[copy][source]
    width = max(1, destinations.shape[1], children.shape[1])
    columns = {
        "node": plan.src[lead],
        "op": np.repeat(np.array([RowOp.REDUCE, RowOp.GATHER], np.int32), [len(reduce), len(gathers)]),
        "flow": plan.chunk[lead],
        "parent": np.concatenate((plan.dst[reduce], parents)).astype(np.int32),
        "children": np.concatenate((_widen(children, width), _widen(destinations, width))),
        "step": plan.step[lead],
        "route": np.where(plan.route[lead] == DIRECT, NIL, plan.route[lead]),
    }
    destination = np.where(columns["op"] == RowOp.REDUCE, columns["parent"], columns["children"][:, 0])
    order = np.lexsort((destination, columns["flow"], columns["op"], columns["step"], columns["node"]))
    return {name: np.ascontiguousarray(column[order]) for name, column in columns.items()}


def _match(wanted: Int64, offered: Int64) -> tuple[Int64, Int64]:
    """All pairs (i, j) with wanted[i] == offered[j], as two index columns; `wanted` may repeat and so may `offered`."""
    order = np.argsort(offered, kind="stable")
    low, high = (np.searchsorted(offered[order], wanted, side) for side in ("left", "right"))
    count = high - low
    first = np.repeat(np.cumsum(count) - count, count)
    return np.repeat(np.arange(len(wanted)), count), order[np.repeat(low, count) + np.arange(count.sum()) - first]


def _ragged(group: Int64, value: Int32, groups: int) -> Int32:
    """One line per group, its values ascending and filled up with NIL."""
    order = np.lexsort((value, group))
    group, value = group[order], value[order]
    place = np.arange(len(group)) - np.searchsorted(group, group)
    lines = np.full((groups, int(place.max()) + 1 if len(place) else 0), NIL, np.int32)
    lines[group, place] = value
    return lines


def _widen(lines: Int32, width: int) -> Int32:
    return np.pad(lines, ((0, 0), (0, width - lines.shape[1])), constant_values=NIL)


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


def _executed(tables: Tables, plan: Schedule) -> Schedule:
    """The schedule that the rows execute; UnsupportedError when its chunks have roots other than the plan's."""
    try:
        executed = tables.schedule
    except TableFormatError as error:
        raise UnsupportedError(f"rows cannot tell the root of every chunk: {error}") from None
    other = np.flatnonzero(executed.chunk_root != plan.chunk_root)
    if len(other):
        chunk = other[0]
        raise UnsupportedError(
            f"chunk {chunk} has root {plan.chunk_root[chunk]}, but its transfers make node {executed.chunk_root[chunk]} the root"
        )
    return executed
