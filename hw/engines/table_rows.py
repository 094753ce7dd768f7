"""Rows, messages and expected arrivals in columns, the input of every engine; and `Tables` in that form."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from certree.hw.core_calls import check_fits, narrowed
from certree.models.common.errors import UnsupportedError
from certree.models.machine.clocks import Clocks
from certree.models.machine.machine import Machine
from certree.models.network.routing import DIRECT
from certree.models.network.topology import Topology
from certree.models.routers.lanes import messages_of_tables
from certree.models.schedule.timing import lane_cycles, message_flits, reduction_cycles, serialization_cycles
from certree.models.tables.paced_steps import estimated_step_cycles, own_steps
from certree.models.tables.table_columns import NIL, RowOp
from certree.models.tables.table_form import require_sound
from certree.models.tables.table_memory import cell_places, layout
from certree.models.tables.tables import Tables

Int64 = NDArray[np.int64]
MAX_CYCLES = 1 << 62
MAX_CELLS = 1 << 29  # integers of data: 4 GiB
MAX_FLITS = 1 << 31  # of one message, and cycles


class NotPacedError(UnsupportedError):
    """A schedule that is correct only in slots."""


class Rows(ABC):
    """`scalars` and the `rows` columns of `common/program.hpp`; `sent` are the transfers that the rows command, in the order
    of their messages: `src`, `dst` and `route` among their columns.

    Raises UnsupportedError for sizes beyond the core's counters.
    """

    scalars: dict[str, int]
    rows: dict[str, NDArray[np.uint32]]
    flits: Int64  # of each message; `message_cycles` has its cycles on a lane
    sent: dict[str, NDArray[np.integer]]
    has_local: bool = False  # whether a transfer from a node to itself is between two of its buffers

    def _fill(
        self, sizes: dict[str, int], topology: Topology, machine: Machine, chunk_bytes: int, granules: Int64 | None = None
    ) -> None:
        """`sizes`: chunks, repeats, period and slot_cycles, and where memory is not one vector the fields of `_memory`; `granules`:
        of each message, where they differ."""
        nodes = len(topology.kind)
        vector = sizes["chunks"] * sizes["repeats"]
        sizes = {"cells": vector, "stride": sizes["chunks"], "work_base": vector, "work_stride": 0, "in_flight": 1} | sizes
        flits = serialization_cycles(chunk_bytes, machine, topology.scale)  # a flit for every cycle
        buffer = int(machine.ni_buffer_flits * topology.scale)
        self.scalars = {
            "nodes": nodes,
            **sizes,
            "step_cycles": estimated_step_cycles(flits, buffer),
            "ni_buffer_flits": buffer,
            "reduce_start_cycles": machine.reduce_start_cycles,
            "reduce_chunk_cycles": reduction_cycles(chunk_bytes, machine),
            "interface_cycles": machine.interface_cycles,
            "router_cycles": machine.router_cycles,
        }
        self._start = machine.ni_start_cycles
        columns = self._rows()
        whole = np.full(len(columns["message_cell"]), message_flits(chunk_bytes, machine), np.int64)
        self.flits = whole if granules is None else granules + machine.heads(granules)
        columns["message_cycles"] = lane_cycles(self.flits, topology.scale)
        check_fits("cycles of one message", int(columns["message_cycles"].max(initial=1)), MAX_FLITS)
        columns["message_turn"] = columns["message_addition"] = np.zeros(0, np.int32)  # no order is stated, and sums take one time
        self.rows = {name: narrowed(name, column) for name, column in columns.items()}
        self.set_clocks(Clocks.equal(nodes))
        self._check_counters()

    @abstractmethod
    def _rows(self) -> dict[str, NDArray[np.integer]]:
        """The columns of rows, messages and arrivals."""

    def set_clocks(self, clocks: Clocks) -> None:
        """Use skews and drifts in place of equal clocks."""
        self.rows |= {name: narrowed(name, column) for name, column in clocks.later(self._start).columns().items()}

    def _check_counters(self) -> None:
        scalars = self.scalars
        steps = (scalars["repeats"] + 1) * scalars["period"] + int(self.rows["row_step"].max(initial=0))
        longest = int(self.rows["message_cycles"].max(initial=1))
        check_fits("cycles", steps * max(scalars["slot_cycles"], longest), MAX_CYCLES)
        check_fits("chunks in all nodes", scalars["nodes"] * scalars["cells"], MAX_CELLS)
        check_fits("router_cycles", scalars["router_cycles"])

    def hops(self, routes: Sequence[tuple[int, ...]]) -> Int64:
        """The links that each message passes; none where it stays at its node."""
        length = np.array([1, *map(len, routes)], np.int64)  # DIRECT is -1
        return np.where(self.sent["src"] == self.sent["dst"], 0, length[self.sent["route"] - DIRECT])

    def node_of(self, row: int) -> tuple[int, int]:
        """The node of a row, and the row's number among those of the node."""
        begin = self.rows["row_begin"]
        node = int(np.searchsorted(begin, row, side="right")) - 1
        return node, row - int(begin[node])

    def in_node_order(self) -> None:
        """For paced runs, steps that are times become numbers: a node counts its own times, one iteration after the other."""
        node = np.searchsorted(self.rows["row_begin"], np.arange(len(self.rows["row_step"])), side="right") - 1
        number = own_steps(node, self.rows["row_step"])
        self.rows["row_step"] = narrowed("row_step", number)
        self.scalars["period"] = int(number.max(initial=0)) + 1

    @abstractmethod
    def check_paced(self) -> None:
        """Raise NotPacedError when only slots separate the data that a row reads from later arrivals."""

    @abstractmethod
    def describe_arrival(self, arrival: int) -> str:
        """An expected arrival in words."""

    @abstractmethod
    def describe_row(self, row: int) -> str:
        """A row in words."""


class TableRows(Rows):
    """`Rows` of one set of tables.

    Raises TableFormatError when the tables are malformed, UnsupportedError for sizes beyond the core's counters.
    O(rows log rows) time.
    """

    def __init__(self, tables: Tables) -> None:
        require_sound(tables)
        self.tables, self.has_local = tables, tables.buffers > 1
        self._order, self.sent = messages_of_tables(tables)
        sizes = {
            "chunks": tables.chunks,
            "repeats": tables.repeats,
            "period": tables.period or int(tables.step.max(initial=0)) + 1,
            "slot_cycles": tables.slot_cycles,
        }
        granules = tables.sizes(self.sent["chunk"]) if tables.has_sizes else None
        self._fill(sizes | self._memory(), tables.topology, tables.machine, tables.chunk_bytes, granules)

    def _memory(self) -> dict[str, int]:
        """The layout of a node's memory, in chunks."""
        if not self.tables.is_counted:
            return {}
        if self.tables.has_sizes:  # one iteration with chunks of several sizes: a cell for each place of a chunk
            return {"cells": len(cell_places(self.tables)), "work_base": len(cell_places(self.tables))}
        size, memory = self._size, layout(self.tables)
        strides = {name: getattr(memory, name) // size for name in ("stride", "work_base", "work_stride")}
        return strides | {"in_flight": memory.in_flight, "cells": strides["work_base"] + memory.in_flight * strides["work_stride"]}

    def _cells(self, address: Int64) -> Int64:
        """The cells at addresses."""
        if self.tables.has_sizes:
            return np.searchsorted(cell_places(self.tables), address)
        return address // self._size

    @property
    def _size(self) -> int:
        return self.tables.chunk_bytes // self.tables.machine.flit_bytes

    def _rows(self) -> dict[str, NDArray[np.integer]]:
        tables, nodes = self.tables, np.arange(len(self.tables.topology.kind) + 1)
        waits_row, waits = self._waits()
        rows = np.arange(len(tables.node) + 1)
        arrival = np.searchsorted(tables.arrival_keys(), tables.transfer_keys()[self._order])
        counted = tables.is_counted
        return {
            "row_begin": np.searchsorted(tables.node, nodes),
            "row_op": tables.op,
            "row_flow": tables.flow,  # for traces
            "row_cell": self._cells(tables.addr) if counted else tables.flow,
            "row_step": tables.step,
            "row_waits_begin": np.searchsorted(waits_row, rows),
            "row_waits": waits,
            "row_needs": tables.wait[waits_row] if counted else np.ones(len(waits), np.int32),
            "row_messages_begin": np.searchsorted(self.sent["row"], rows),
            "row_messages": np.arange(len(self._order)),
            "message_arrival": arrival,
            "message_cell": self._cells(tables.arrival_addr[arrival]) if counted else self.sent["chunk"],
            "arrival_begin": np.searchsorted(tables.arrival_node, nodes),
            "arrival_count": tables.arrival_count,
        }

    def _waits(self) -> tuple[Int64, Int64]:
        """(row, arrival) for everything that a row waits for, rows ascending.

        A GATHER of `trees` without parent waits for all REDUCE arrivals of its flow.
        """
        tables = self.tables
        named_by, named = tables.awaited()
        if tables.is_counted:
            return named_by, np.searchsorted(tables.arrival_keys(), named)
        roots = np.flatnonzero((tables.op == RowOp.GATHER) & (tables.parent == NIL))
        reductions = np.flatnonzero(tables.arrival_op == RowOp.REDUCE)
        cell = tables.arrival_node[reductions].astype(np.int64) * tables.chunks + tables.arrival_flow[reductions]
        wanted = tables.node[roots].astype(np.int64) * tables.chunks + tables.flow[roots]
        low, high = (np.searchsorted(cell, wanted, side) for side in ("left", "right"))
        spans = [reductions[a:b] for a, b in zip(low.tolist(), high.tolist(), strict=True)]
        row = np.concatenate((named_by, np.repeat(roots, high - low)))
        arrival = np.concatenate((np.searchsorted(tables.arrival_keys(), named), *spans))
        order = np.lexsort((arrival, row))
        return row[order], arrival[order]

    def check_paced(self) -> None:
        """Raise NotPacedError unless each row waits for all that its cell ever gets, as rows of `trees` do."""
        tables, scalars = self.tables, self.scalars
        if scalars["work_base"] < scalars["cells"] and scalars["repeats"] > scalars["in_flight"]:
            raise NotPacedError(
                f"iterations of these tables use the work memory of the {scalars['in_flight']}. before them again; only slots keep "
                "them apart: run it slotted"
            )
        if not tables.is_counted:
            return
        keys = tables.arrival_keys()
        cell = tables.cells(tables.node, tables.flow, tables.src_buffer)
        place = np.minimum(np.searchsorted(keys, cell), max(0, len(keys) - 1))
        gets = np.where(keys[place] == cell, tables.arrival_count[place], 0) if len(keys) else np.zeros(len(cell), np.int64)
        early = np.flatnonzero(tables.wait < gets)
        if len(early):
            row = early[0]
            raise NotPacedError(
                f"node {tables.node[row]} sends chunk {tables.flow[row]} in step {tables.step[row]} and receives it later; "
                "only slots keep the two apart: run it slotted"
            )

    def describe_arrival(self, arrival: int) -> str:
        """An expected arrival in words."""
        tables = self.tables
        if tables.is_counted:
            number = f"{tables.arrival_count[arrival]} arrival" + "s" * bool(tables.arrival_count[arrival] > 1)
            buffer = f" in buffer {tables.arrival_buffer[arrival]}" if tables.buffers > 1 else ""
            return f"the {number} of flow {tables.arrival_flow[arrival]}{buffer}"
        op = RowOp(int(tables.arrival_op[arrival])).name
        return f"the {op} of flow {tables.arrival_flow[arrival]} from node {tables.arrival_peer[arrival]}"

    def describe_row(self, row: int) -> str:
        """A row in words, with its number in its node's table."""
        tables = self.tables
        return f"row {self.node_of(row)[1]} ({RowOp(int(tables.op[row])).name} of flow {tables.flow[row]}, step {tables.step[row]})"
