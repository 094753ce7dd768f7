"""Schedule tables: the rows that network interfaces execute, all nodes in one set of columns.

`docs/reference/tables.md` is the contract; `Tables.transfers` defines the transfers that a row commands.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from certree.models.common.columns import check_range, whole_column
from certree.models.common.errors import TableFormatError, UnsupportedError, short
from certree.models.common.quantities import MAX_SIZE
from certree.models.common.shown import Shown
from certree.models.machine.machine import Machine
from certree.models.network.routing import DIRECT
from certree.models.network.topology import Int32, Topology
from certree.models.schedule.collective import Collective
from certree.models.schedule.made_for import MadeFor
from certree.models.schedule.schedule import MAX_CHUNKS, MAX_REPEATS, MAX_STEPS, NO_ROOT, Op, Schedule, make_schedule

NIL = -1
_WIDE = ("addr", "size")  # the columns of 64 bits
MAX_TABLE_STEPS = 1 << 24  # of one iteration: the schedule of the rows lists the length of every step
MAX_BYTES = 1 << 60  # sums of addresses stay within 64 bits
COUNTS = {  # field -> largest value allowed
    "chunks": MAX_CHUNKS,
    "delay": MAX_STEPS,
    "period": MAX_STEPS,
    "repeats": MAX_REPEATS,
    "message_bytes": MAX_SIZE,
    "chunk_bytes": MAX_BYTES,
    "slot_cycles": MAX_BYTES,
}


class RowOp(IntEnum):
    """Opcodes of table rows."""

    NOP = 0
    REDUCE = 1
    GATHER = 2


@dataclass(frozen=True, eq=False, repr=False)
class Tables(Shown):
    """The tables of all nodes for one message.

    Row columns, sorted by (node, step, op, flow, first destination), no two equal in all five: `node`, `op`, `flow`, `parent`,
    `step`, `addr`, `size` (granules), `route`, and `children` of shape (rows, width); NIL (-1) where a field is empty. `routes`:
    link numbers of each source route; `route` is NIL in rows to neighbours, otherwise an index into it: such a row has one
    destination.
    Arrival columns, sorted: `arrival_node`, `arrival_op`, `arrival_flow`, `arrival_peer`: the transfers each node expects, once an
    iteration; a node is done when all have counted, and a GATHER without parent waits for all REDUCE arrivals of its flow.

    The constructor checks shapes and ranges (TableFormatError names column and row); `certree.verify` checks whether rows and
    arrivals are *valid*. O(entries) time and memory.
    """

    shown: ClassVar = {"rows": "node", "message bytes": "message_bytes", "slot cycles": "slot_cycles"}

    topology: Topology
    collective: Collective
    machine: Machine
    chunks: int
    delay: int
    period: int | None
    repeats: int
    message_bytes: int
    chunk_bytes: int
    slot_cycles: int
    schedule_digest: str
    node: Int32
    op: Int32
    flow: Int32
    parent: Int32
    children: Int32
    step: Int32
    addr: NDArray[np.int64]
    size: NDArray[np.int64]
    route: Int32
    arrival_node: Int32
    arrival_op: Int32
    arrival_flow: Int32
    arrival_peer: Int32
    routes: tuple[tuple[int, ...], ...] = ()

    def __post_init__(self) -> None:
        for name, high in COUNTS.items():
            value = getattr(self, name)
            if not (name == "period" and value is None) and (type(value) is not int or not 1 <= value <= high):
                raise TableFormatError(f"{name} is {short(value)}; allowed: whole numbers from 1 to {high}")
        last, flows, numbers = len(self.topology.kind) - 1, (0, self.chunks - 1), (0, np.iinfo(np.int64).max)
        rows = {"node": (0, last), "op": (0, 2), "flow": flows, "parent": (NIL, last), "children": (NIL, last)}
        rows |= {"step": (0, MAX_TABLE_STEPS - 1), "addr": numbers, "size": numbers, "route": (NIL, len(self.routes) - 1)}
        self._check_columns(rows)
        arrivals = {"arrival_node": (0, last), "arrival_op": (1, 2), "arrival_flow": flows, "arrival_peer": (0, last)}
        self._check_columns(arrivals)

        if (last + 1) ** 2 * self.chunks * len(RowOp) >= 1 << 63:
            raise UnsupportedError(f"{last + 1} nodes and {self.chunks} chunks are more than tables can number")

    def _check_columns(self, limits: Mapping[str, tuple[int, int]]) -> None:
        """Make the columns of a table read-only, once they are whole numbers within the limits, of one length, of endpoints."""
        nodes, *_ = limits
        for name, (low, high) in limits.items():
            dtype = np.int64 if name in _WIDE else np.int32
            column = whole_column(getattr(self, name), name, dtype, TableFormatError, 2 if name == "children" else 1)
            object.__setattr__(self, name, column)
            if len(column) != len(getattr(self, nodes)):
                raise TableFormatError(f"{name} has {len(column)} rows; {nodes} has {len(getattr(self, nodes))}")
            check_range(column, name, low, high, TableFormatError)
        owner = getattr(self, nodes)
        strangers = np.flatnonzero(self.topology.rank[owner] < 0)
        if len(strangers):
            raise TableFormatError(f"{nodes} row {strangers[0]}: node {owner[strangers[0]]} is not an endpoint")

    def transfers(self) -> dict[str, Int32]:
        """The transfers that the rows command: columns `row` (of the sender), `chunk`, `op`, `step`, `src`, `dst`, `route`."""
        reduces = np.flatnonzero((self.op == RowOp.REDUCE) & (self.parent != NIL))
        gathers, column = np.nonzero((self.op == RowOp.GATHER)[:, None] & (self.children != NIL))
        row = np.concatenate((reduces, gathers))
        return {
            "row": row.astype(np.int32),
            "chunk": self.flow[row],
            "op": np.repeat(np.array([Op.REDUCE, Op.COPY], np.int32), [len(reduces), len(gathers)]),
            "step": self.step[row],
            "src": self.node[row],
            "dst": np.concatenate((self.parent[reduces], self.children[gathers, column])),
            "route": np.where(self.route[row] == NIL, DIRECT, self.route[row]),
        }

    def arrival_keys(self) -> NDArray[np.int64]:
        """A number for each expected arrival, in the order of (node, op, flow, peer)."""
        return self._keys(self.arrival_node, self.arrival_op, self.arrival_flow, self.arrival_peer)

    def transfer_keys(self) -> NDArray[np.int64]:
        """The arrival that each of `transfers` causes, numbered as by `arrival_keys`."""
        sent = self.transfers()
        return self._keys(sent["dst"], np.array([RowOp.REDUCE, RowOp.GATHER])[sent["op"]], sent["chunk"], sent["src"])

    def awaited(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """(row, arrival) for each arrival that a row names, its parent or children, numbered as by `arrival_keys`."""
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
        """The parent of each REDUCE row, the first child of each GATHER row."""
        return np.where(self.op == RowOp.REDUCE, self.parent, self.children[:, 0]) if self.children.shape[1] else self.parent

    @cached_property
    def schedule(self) -> Schedule:
        """The schedule that the rows execute, in canonical row order, made for the size and machine of the tables.

        The root of chunk c is the node that gathers it without a parent, or that receives reductions and passes none on.
        Raises TableFormatError when a rooted collective's chunk has no such node, or several.
        """
        columns = self.transfers()
        roots = np.full(self.chunks, NO_ROOT, np.int32)
        if self.collective.is_rooted:
            roots = self._roots(columns)
        return make_schedule(
            self.topology,
            self.collective,
            roots,
            columns,
            routes=self.routes,
            delay=self.delay,
            period=self.period,
            repeats=self.repeats,
            provenance={"method": "tables"},
            made_for=MadeFor(self.message_bytes, self.machine),
        )

    def _roots(self, columns: dict[str, Int32]) -> Int32:
        """The root of each chunk: the sender that never receives it if copied, the receiver that never sends it if reduced."""
        sends, receives = (set(zip(columns["chunk"].tolist(), columns[side].tolist(), strict=True)) for side in ("src", "dst"))
        candidates = sorted(sends - receives if self.collective.gathers else receives - sends)
        chunks = [chunk for chunk, _ in candidates]
        if chunks != list(range(self.chunks)):
            wrong = next((c for c in range(self.chunks) if chunks.count(c) != 1), self.chunks)
            raise TableFormatError(f"flow {wrong} has {chunks.count(wrong)} roots; expected exactly one")
        return np.array([node for _, node in candidates], np.int32)
