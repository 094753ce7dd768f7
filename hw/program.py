"""`Tables` as the plain columns that the simulator core runs."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.hw.consistency import arrival_keys, check_tables, dependencies, transfer_keys
from certree.models.errors import TableFormatError, UnsupportedError
from certree.models.tables import NIL, RowOp, Tables
from certree.models.timing import reduction_cycles, serialization_cycles
from certree.models.topology import UNKNOWN_LATENCY, NodeKind

Int64 = NDArray[np.int64]
MAX_CYCLES = 1 << 62
MAX_CELLS = 1 << 29  # integers of data: 4 GiB
MAX_STAGES = 1 << 30  # flits in all wires and pipelines: 4 GiB
MAX_FLITS = 1 << 31  # of one message


class Program:
    """The columns of `core/program.hpp` for one set of tables; `scalars` and `columns` go to the core as they are.

    Raises TableFormatError when the tables are malformed, UnsupportedError for switches and for sizes beyond the core's counters.
    O(rows log rows) time.
    """

    def __init__(self, tables: Tables) -> None:
        check_tables(tables)
        if (tables.topology.kind == NodeKind.SWITCH).any():
            raise UnsupportedError("the simulator runs direct networks; this one has switches")
        self.tables = tables
        self.scalars = self._scalars()
        columns = self._columns()
        self._check_limits(columns)
        self.columns = {name: column.astype(np.uint32) for name, column in columns.items()}

    def _scalars(self) -> dict[str, int]:
        tables, machine = self.tables, self.tables.machine
        return {
            "nodes": len(tables.topology.kind),
            "chunks": tables.chunks,
            "repeats": tables.repeats,
            "period": tables.period or int(tables.step.max(initial=0)) + 1,
            "slot_cycles": tables.slot_cycles,
            "message_flits": serialization_cycles(tables.chunk_bytes, machine),
            "ni_buffer_flits": machine.ni_buffer_flits,
            "reduce_start_cycles": machine.reduce_start_cycles,
            "reduce_chunk_cycles": reduction_cycles(tables.chunk_bytes, machine),
            "ni_cycles": machine.ni_cycles,
            "router_cycles": machine.router_cycles,
        }

    def _columns(self) -> dict[str, NDArray[np.integer]]:
        tables, nodes = self.tables, np.arange(len(self.tables.topology.kind) + 1)
        waits_row, waits = self._waits()
        sent = tables.transfers()
        order = np.lexsort((sent["dst"], sent["row"]))
        pair = tables.topology.pair_index(sent["src"][order], sent["dst"][order])
        if (pair < 0).any():
            lost = order[int(np.argmax(pair < 0))]
            raise TableFormatError(f"node {sent['src'][lost]} sends to node {sent['dst'][lost]}, and no link joins them")
        pairs, bundle = np.unique(pair, return_inverse=True)
        rows = np.arange(len(tables.node) + 1)
        return {
            "row_begin": np.searchsorted(tables.node, nodes),
            "row_op": tables.op,
            "row_flow": tables.flow,
            "row_step": tables.step,
            "row_waits_begin": np.searchsorted(waits_row, rows),
            "row_waits": waits,
            "row_messages_begin": np.searchsorted(sent["row"][order], rows),
            "row_messages": np.arange(len(order)),
            "message_bundle": bundle,
            "message_arrival": np.searchsorted(arrival_keys(tables), transfer_keys(tables)[order]),
            **self._bundles(pairs, np.bincount(bundle, minlength=len(pairs))),
            "arrival_begin": np.searchsorted(tables.arrival_node, nodes),
        }

    def _bundles(self, pairs: Int64, messages: Int64) -> dict[str, Int64]:
        """The lanes between two neighbours, as many as can ever be in use, each as long as the slowest link of the bundle."""
        topology = self.tables.topology
        stated = topology.latency.astype(np.int64)
        wire = np.where(stated == UNKNOWN_LATENCY, self.tables.machine.link_latency_cycles, stated)
        slowest = np.zeros(len(topology.pair_capacity), np.int64)
        np.maximum.at(slowest, topology.pair_of_link, wire)
        lanes = np.minimum(topology.pair_capacity[pairs], messages * self.tables.repeats)
        return {
            "bundle_begin": np.concatenate(([0], np.cumsum(lanes))),
            "bundle_source": topology.pair_src[pairs],
            "bundle_destination": topology.pair_dst[pairs],
            "bundle_latency": slowest[pairs],
        }

    def _waits(self) -> tuple[Int64, Int64]:
        """(row, arrival) for everything that a row waits for, rows ascending.

        A GATHER without parent waits for all REDUCE arrivals of its flow.
        """
        tables, expected = self.tables, arrival_keys(self.tables)
        found = [(row, np.searchsorted(expected, key)) for _, row, key in dependencies(tables)]
        roots = np.flatnonzero((tables.op == RowOp.GATHER) & (tables.parent == NIL))
        reductions = np.flatnonzero(tables.arrival_op == RowOp.REDUCE)
        cell = tables.arrival_node[reductions].astype(np.int64) * tables.chunks + tables.arrival_flow[reductions]
        wanted = tables.node[roots].astype(np.int64) * tables.chunks + tables.flow[roots]
        low, high = (np.searchsorted(cell, wanted, side) for side in ("left", "right"))
        spans = [reductions[a:b] for a, b in zip(low.tolist(), high.tolist(), strict=True)]
        found.append((np.repeat(roots, high - low), np.concatenate((np.zeros(0, np.int64), *spans))))
        row, arrival = (np.concatenate(parts) for parts in zip(*found, strict=True))
        order = np.lexsort((arrival, row))
        return row[order], arrival[order]

    def _check_limits(self, columns: dict[str, NDArray[np.integer]]) -> None:
        scalars = self.scalars
        path = columns["bundle_latency"] + 2 * (scalars["ni_cycles"] + scalars["router_cycles"])
        lanes = np.diff(columns["bundle_begin"])
        steps = (scalars["repeats"] + 1) * scalars["period"] + int(columns["row_step"].max(initial=0))
        for value, limit, what in (
            (steps * max(scalars["slot_cycles"], scalars["message_flits"]), MAX_CYCLES, "cycles"),
            (scalars["nodes"] * scalars["chunks"] * scalars["repeats"], MAX_CELLS, "chunks in all nodes"),
            (sum(a * b for a, b in zip(path.tolist(), lanes.tolist(), strict=True)), MAX_STAGES, "flits in wires and pipelines"),
            (scalars["message_flits"], MAX_FLITS, "flits in one message"),
        ):
            if value > limit:
                raise UnsupportedError(f"{value} {what} are more than the simulator's {limit}")

    def describe_arrival(self, arrival: int) -> str:
        """An expected arrival in words."""
        tables = self.tables
        op = RowOp(int(tables.arrival_op[arrival])).name
        return f"the {op} of flow {tables.arrival_flow[arrival]} from node {tables.arrival_peer[arrival]}"

    def describe_row(self, row: int) -> str:
        """A row in words, with its number in its node's table."""
        tables = self.tables
        place = row - int(self.columns["row_begin"][tables.node[row]])
        return f"row {place} ({RowOp(int(tables.op[row])).name} of flow {tables.flow[row]}, step {tables.step[row]})"


def initial_cells(nodes: int, chunks: int) -> NDArray[np.uint64]:
    """What every node holds at the start, shape (nodes, chunks of all iterations): a mixing hash of (node, chunk).

    SplitMix64 (Steele, Lea, Flood 2014) of node · 2^40 + chunk: no two cells are alike and none is zero (only an input beyond the
    largest node id mixes to zero), so that a missing, doubled or misplaced contribution changes the sum.
    """
    node, chunk = np.arange(nodes, dtype=np.uint64)[:, None], np.arange(chunks, dtype=np.uint64)
    cells: NDArray[np.uint64] = np.bitwise_or(node << np.uint64(40), chunk) + np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        cells = (cells ^ (cells >> np.uint64(shift))) * np.uint64(factor)
    mixed: NDArray[np.uint64] = cells ^ (cells >> np.uint64(31))
    return mixed


def first_wrong(tables: Tables, cells: NDArray[np.uint64], chunk_root: NDArray[Any]) -> tuple[int, int] | None:
    """The first (rank, chunk of all iterations) whose value is not what the collective promises; None when all are right.

    Sums are taken here, over the initial values, modulo 2^64.
    """
    endpoints = tables.topology.endpoints
    initial = initial_cells(len(tables.topology.kind), cells.shape[1])
    roots = np.tile(chunk_root, tables.repeats)
    if tables.collective.reduces:
        promised = initial[endpoints].sum(axis=0, dtype=np.uint64)
    else:
        promised = initial[roots, np.arange(len(roots))]
    wrong = cells[endpoints] != promised
    if not tables.collective.gathers:  # due at the root only
        wrong &= endpoints[:, None] == roots
    if not wrong.any():
        return None
    rank, chunk = np.unravel_index(int(np.argmax(wrong)), wrong.shape)
    return int(rank), int(chunk)
