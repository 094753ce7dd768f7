"""Schedule tables: the rows that network interfaces execute, all nodes in one set of columns.

`docs/reference/tables.md` is the contract; `Tables.transfers` defines the transfers that a row commands.
"""

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from certree.models.common.errors import TableFormatError
from certree.models.network.routing import DIRECT
from certree.models.network.topology import Int32
from certree.models.schedule.made_for import MadeFor
from certree.models.schedule.schedule import Schedule, make_schedule
from certree.models.schedule.schedule_columns import BUFFER_COLUMNS, NO_ROOT, Op
from certree.models.tables.table_columns import NIL, RowOp, TableColumns


@dataclass(frozen=True, eq=False, repr=False)
class Tables(TableColumns):
    """The tables of all nodes for one message.

    Row columns, sorted by (node, step, op, flow, buffers, first destination), no two equal in all: `node`, `op`, `flow`, `parent`,
    `step`, `addr`, `size` (granules), `route`, and `children` of shape (rows, width); NIL (-1) where a field is empty. `routes`:
    link numbers of each source route; `route` is NIL in rows to neighbours, otherwise an index into it: such a row has one
    destination. `virtual_channel`: the layer of virtual channels of each route; None where all are 0.
    Arrival columns, sorted: `arrival_node`, `arrival_op`, `arrival_flow`, `arrival_peer`: the transfers each node expects, once an
    iteration; a node is done when all have counted, and a GATHER without parent waits for all REDUCE arrivals of its flow.

    `profile`: what an interface must support. In `blocks` and `buffers` (`is_counted`) rows have `wait`, and `children` are the
    destinations of all rows; `parent` is NIL. An arrival is a cell with the number of its arrivals, `arrival_buffer`,
    `arrival_count` and `arrival_addr`; `arrival_op` is NOP and `arrival_peer` NIL: any. `buffers`: of each node and chunk;
    `src_buffer` and `dst_buffer`: which one a row reads, and which one its messages are for. `in_flight`: W. `chunk_root` and
    `chunk_target`: as of a schedule. In `trees` these columns are left out, and read as constants. `epoch`: the number by which the
    images of one export know each other (`docs/reference/tables.md`, "Banks"); None where none is stated. `fine_slots`: slots say
    when rows fire and nothing else; `waits` then as in a schedule. `chunk_granules`: with a demand the size of each chunk, in units
    of `chunk_bytes`; None where all have that size. `additions`: the order in which every chunk is added, an expression over ranks,
    which interfaces must keep; None where none is stated. `control`: what fires the rows of the interface that the tables are for,
    "slotted" (E2), or "lockstep", a timestep counter (E6).

    The constructor checks shapes and ranges (TableFormatError names column and row); `certree.verify` checks whether rows and
    arrivals are *valid*. O(entries) time and memory.
    """

    shown: ClassVar = {"rows": "node", "message bytes": "message_bytes", "slot cycles": "slot_cycles"}

    @property
    def has_sizes(self) -> bool:
        """Whether chunks have sizes, as with a demand."""
        return self.collective.demand is not None

    def sizes(self, flow: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
        """The granules of chunks. O(flows)."""
        unit = self.chunk_bytes // self.machine.flit_bytes
        if self.chunk_granules is None:
            return np.broadcast_to(np.int64(unit), len(flow))
        sizes: NDArray[np.int64] = self.chunk_granules.astype(np.int64)[flow] * unit
        return sizes

    def transfers(self) -> dict[str, Int32]:
        """The transfers that the rows command: columns `row` (of the sender), `chunk`, `op`, `step`, `src`, `dst`, `route`; where
        there are several buffers also `src_buffer` and `dst_buffer`."""
        if self.is_counted:
            row, column = np.nonzero((self.op != RowOp.NOP)[:, None] & (self.children != NIL))
            dst = self.children[row, column]
        else:
            reduces = np.flatnonzero((self.op == RowOp.REDUCE) & (self.parent != NIL))
            gathers, column = np.nonzero((self.op == RowOp.GATHER)[:, None] & (self.children != NIL))
            row = np.concatenate((reduces, gathers))
            dst = np.concatenate((self.parent[reduces], self.children[gathers, column]))
        moved = {
            "row": row.astype(np.int32),
            "chunk": self.flow[row],
            "op": np.array([Op.REDUCE, Op.REDUCE, Op.COPY], np.int32)[self.op[row]],
            "step": self.step[row],
            "src": self.node[row],
            "dst": dst,
            "route": np.where(self.route[row] == NIL, DIRECT, self.route[row]),
        }
        return moved if self.buffers == 1 else moved | {name: getattr(self, name)[row] for name in BUFFER_COLUMNS}

    def arrival_keys(self) -> NDArray[np.int64]:
        """A number for each expected arrival, in the order of (node, op, flow, peer), or of (node, flow, buffer)."""
        if self.is_counted:
            return self.cells(self.arrival_node, self.arrival_flow, self.arrival_buffer)
        return self._keys(self.arrival_node, self.arrival_op, self.arrival_flow, self.arrival_peer)

    def transfer_keys(self) -> NDArray[np.int64]:
        """The arrival that each of `transfers` causes, numbered as by `arrival_keys`."""
        sent = self.transfers()
        if self.is_counted:
            return self.cells(sent["dst"], sent["chunk"], self.dst_buffer[sent["row"]])
        return self._keys(sent["dst"], np.array([RowOp.REDUCE, RowOp.GATHER])[sent["op"]], sent["chunk"], sent["src"])

    def cells(self, node: Int32, flow: Int32, buffer: Int32) -> NDArray[np.int64]:
        """A number for each cell, in the order of (node, flow, buffer)."""
        cell: NDArray[np.int64] = (node.astype(np.int64) * self.chunks + flow) * self.buffers + buffer
        return cell

    def awaited(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """(row, arrival) for each arrival that a row names, its parent or children, numbered as by `arrival_keys`; where rows are
        counted, the cell of each row that waits."""
        if self.is_counted:
            row = np.flatnonzero(self.wait > 0)
            return row, self.cells(self.node[row], self.flow[row], self.src_buffer[row])
        reduces, column = np.nonzero((self.op == RowOp.REDUCE)[:, None] & (self.children != NIL))
        gathers = np.flatnonzero((self.op == RowOp.GATHER) & (self.parent != NIL))
        row = np.concatenate((reduces, gathers))
        peer = np.concatenate((self.children[reduces, column], self.parent[gathers]))
        return row, self._keys(self.node[row], self.op[row], self.flow[row], peer)

    def _keys(self, node: Int32, op: NDArray[Any], flow: Int32, peer: Int32) -> NDArray[np.int64]:
        key: NDArray[np.int64] = (node.astype(np.int64) * len(RowOp) + op) * self.chunks + flow
        return key * len(self.topology.kind) + peer

    @property
    def first_destination(self) -> Int32:
        """The parent of each REDUCE row of `trees`, the first child of every other row."""
        if self.is_counted:
            return self.children[:, 0] if self.children.shape[1] else self.parent
        return np.where(self.op == RowOp.REDUCE, self.parent, self.children[:, 0]) if self.children.shape[1] else self.parent

    @cached_property
    def schedule(self) -> Schedule:
        """The schedule that the rows execute, in canonical row order, made for the size and machine of the tables.

        The root of chunk c in `trees` is the node that gathers it without a parent, or that receives reductions and passes none on.
        Raises TableFormatError when a rooted collective's chunk has no such node, or several.
        """
        columns = self.transfers()
        roots = np.full(self.chunks, NO_ROOT, np.int32) if self.chunk_root is None else self.chunk_root
        if self.collective.is_rooted and not self.is_counted:
            roots = self._roots(columns)
        return make_schedule(
            self.topology,
            self.collective,
            roots,
            columns,
            self.chunk_target,
            buffers=self.buffers,
            routes=self.routes,
            virtual_channel=self.virtual_channel,
            delay=self.delay,
            period=self.period,
            repeats=self.repeats,
            provenance={"method": "tables"},
            made_for=MadeFor(self.message_bytes, self.machine),
            slot_cycles=self.slot_cycles if self.fine_slots else None,
            waits=self.waits,
            chunk_granules=self.chunk_granules,
        )

    def _roots(self, columns: dict[str, Int32]) -> Int32:
        """The root of each chunk: the sender that never receives it if copied, the receiver that never sends it if reduced."""
        sends, receives = (set(zip(columns["chunk"].tolist(), columns[side].tolist(), strict=True)) for side in ("src", "dst"))
        candidates = sorted(sends - receives if self.collective.gathers else receives - sends)
        chunks = [chunk for chunk, _ in candidates]
        if chunks != list(range(self.chunks)):
            roots = Counter(chunks)
            wrong = next((c for c in range(self.chunks) if roots[c] != 1), self.chunks)
            raise TableFormatError(f"flow {wrong} has {roots[wrong]} roots; expected exactly one")
        return np.array([node for _, node in candidates], np.int32)
