"""Rows as a slotted network interface stores them: by slot within the period, with a stage, and with lines of arrivals in place of
names, so that it needs no searches (`docs/reference/tables.md`, E2)."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from certree.hw.formats.bit_layout import OP_BITS, Field, Widths
from certree.models.tables.paced_steps import own_steps
from certree.models.tables.table_columns import LOCKSTEP, NIL, RowOp
from certree.models.tables.tables import Tables

Int64 = NDArray[np.int64]


@dataclass(frozen=True)
class SlotRows:
    """The rows of all nodes in the order in which they fire, one line for each; columns as the fields of `slot_fields`.

    `lane`, `line`: for each outgoing lane (`lanes_of`) whether a message of the row takes it, or one of its bundle, and the line
    of that message in the list of arrivals of its destination; a message within a node takes none, and has its line at lane 0.
    `wait_line`, `wait_lines`: the lines of its own list that a row waits for; `need`: how many arrivals of an iteration each of
    these must have counted. `line_bits`: of the number of a line.
    """

    row_of: Int64  # the row of `Tables` that a line is of
    node: Int64
    stage: Int64
    slot: Int64
    row: Int64  # its number in the table of the node
    wait_line: Int64
    wait_lines: Int64
    need: Int64
    lane: Int64
    line: Int64
    line_bits: int


def period_of(tables: Tables) -> int:
    """The period, of tables that do not repeat the number of their steps."""
    return tables.period or int(steps_of(tables).max(initial=0)) + 1


def steps_of(tables: Tables) -> NDArray[np.integer]:
    """The step of each row as its interface counts it: in lockstep the steps of its node, not times (E9)."""
    return own_steps(tables.node, tables.step) if tables.control == LOCKSTEP and tables.fine_slots else tables.step


def local_number(owner: NDArray[np.integer]) -> Int64:
    """The number of each row, or arrival, among those of its node; `owner` ascending."""
    return np.arange(len(owner)) - np.searchsorted(owner, owner)


def slot_rows(tables: Tables) -> SlotRows:
    """The rows in firing order. O(rows log rows + transfers log transfers)."""
    period, arrival_line, step = period_of(tables), local_number(tables.arrival_node), steps_of(tables)
    first, lines, need = _waits(tables)
    sent = tables.transfers()
    arrival = np.searchsorted(tables.arrival_keys(), tables.transfer_keys())
    lane, line = _lanes(tables, sent, arrival_line[arrival])
    number = local_number(tables.node)
    order = np.lexsort((number, step % period, tables.node))
    own = np.where(lines > 0, first - np.searchsorted(tables.arrival_node, tables.node), 0)
    return SlotRows(
        row_of=order,
        node=tables.node[order].astype(np.int64),
        stage=(step // period)[order].astype(np.int64),
        slot=(step % period)[order].astype(np.int64),
        row=number[order],
        wait_line=own[order],
        wait_lines=lines[order],
        need=need[order],
        lane=lane[order],
        line=line[order],
        line_bits=max(1, int(arrival_line.max(initial=0)).bit_length()),
    )


def lanes_of(tables: Tables, side: str) -> dict[int, list[tuple[int, int]]]:
    """The lanes of each endpoint, (pair, lane of the bundle), in the order of the neighbours' ids: `src`, those that leave it, or
    `dst`, those that come in."""
    topology = tables.topology
    here, there = (topology.pair_src, topology.pair_dst) if side == "src" else (topology.pair_dst, topology.pair_src)
    lanes: dict[int, list[tuple[int, int]]] = {node: [] for node in topology.endpoints.tolist()}
    for pair in np.lexsort((there, here)).tolist():
        if int(here[pair]) in lanes:
            lanes[int(here[pair])] += [(pair, lane) for lane in range(int(topology.pair_capacity[pair]))]
    return lanes


def _lanes(tables: Tables, sent: Mapping[str, NDArray[np.integer]], line: Int64) -> tuple[Int64, Int64]:
    """For each row and outgoing lane of its node whether a message takes the lane, or another of its bundle, and its line.
    O(rows · lanes of a node + transfers · lanes of a bundle) time."""
    topology, of_node = tables.topology, lanes_of(tables, "src")
    first = np.zeros(len(topology.pair_src), np.int64)  # the lowest lane of each pair, at its source
    for lanes in of_node.values():
        for number, (pair, place) in enumerate(lanes):
            first[pair] = number if place == 0 else first[pair]
    width = (len(tables.node), max(1, *map(len, of_node.values())))
    lane, lines = np.zeros(width, np.int64), np.zeros(width, np.int64)
    local = sent["src"] == sent["dst"]
    lines[sent["row"][local], 0] = line[local]
    hops = np.array([topology.dst[route[0]] for route in tables.routes] or [NIL], np.int64)
    row, route = sent["row"][~local], tables.route[sent["row"][~local]]
    neighbour = np.where(route == NIL, sent["dst"][~local], hops[np.where(route == NIL, 0, route)])
    pairs = topology.pair_index(sent["src"][~local], neighbour)
    for place in range(int(topology.pair_capacity.max(initial=0))):
        has = topology.pair_capacity[pairs] > place
        numbers = first[pairs[has]] + place
        lane[row[has], numbers], lines[row[has], numbers] = 1, line[~local][has]
    return lane, lines


def _waits(tables: Tables) -> tuple[Int64, Int64, Int64]:
    """For each row the first of the arrivals that it waits for, how many these are, and how often each must have counted."""
    if tables.is_counted:
        first = np.searchsorted(tables.arrival_keys(), tables.cells(tables.node, tables.flow, tables.src_buffer))
        return first, (tables.wait > 0).astype(np.int64), tables.wait.astype(np.int64)
    ops, chunks = len(RowOp), tables.chunks
    keys = (tables.arrival_node.astype(np.int64) * ops + tables.arrival_op) * chunks + tables.arrival_flow
    # A REDUCE waits for all reductions of its flow (A3), and so does a GATHER without parent; any other for its one copy (A4).
    copies = (tables.op == RowOp.GATHER) & (tables.parent != NIL)
    op = np.where(copies, RowOp.GATHER, RowOp.REDUCE)
    wanted = (tables.node.astype(np.int64) * ops + op) * chunks + tables.flow
    low, high = (np.searchsorted(keys, wanted, side) for side in ("left", "right"))
    return low, high - low, np.ones(len(wanted), np.int64)


def slot_fields(rows: SlotRows, widths: Widths) -> list[Field]:
    """The fields of a line, most significant first."""

    def bits(values: Int64) -> int:
        return max(1, int(values.max(initial=0)).bit_length())

    fields = [
        Field("stage", bits(rows.stage), False),
        Field("slot", bits(rows.slot), False),
        Field("row", bits(rows.row), False),
        Field("op", OP_BITS, False),
        Field("flow", widths.flow, False),
        Field("wait_line", rows.line_bits, False),
        Field("wait_lines", bits(rows.wait_lines), False),
        *([Field("need", widths.wait, False)] if widths.wait else []),
        *([Field("src_buffer", widths.buffer, False), Field("dst_buffer", widths.buffer, False)] if widths.buffer else []),
        Field("addr", widths.addr, False),
        Field("size", widths.size, False),
        Field("route", widths.route, True),
    ]
    places = range(rows.lane.shape[1] - 1, -1, -1)  # place 0 is the least significant
    fields += [Field(f"lane[{place}]", 1, False) for place in places]
    return fields + [Field(f"line[{place}]", rows.line_bits, False) for place in places]


def slot_matrix(rows: SlotRows, tables: Tables, fields: list[Field]) -> Int64:
    """A column for each field, nil as NIL."""
    names = ("op", "flow", "src_buffer", "dst_buffer", "addr", "size", "route")
    given = {name: getattr(tables, name)[rows.row_of] for name in names}
    given |= {name: getattr(rows, name) for name in ("stage", "slot", "row", "wait_line", "wait_lines", "need")}
    columns = []
    for field in fields:
        name, _, place = field.name.partition("[")
        columns.append(getattr(rows, name)[:, int(place[:-1])] if place else given[name])
    return np.stack(columns, axis=1).astype(np.int64)
