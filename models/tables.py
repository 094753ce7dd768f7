"""Schedule tables: the rows that network interfaces execute, all nodes in one set of columns.

`hw/README.md` is the contract; `Tables.transfers` is the one definition of what a row makes its node do.
"""

from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from certree.models.common.errors import TableFormatError
from certree.models.common.shown import Shown
from certree.models.machine.machine import Machine
from certree.models.network.routing import DIRECT
from certree.models.network.topology import Int32, Topology
from certree.models.schedule.collective import Collective
from certree.models.schedule.made_for import MadeFor
from certree.models.schedule.schedule import NO_ROOT, Op, Schedule, make_schedule

NIL = -1
MAX_TABLE_STEPS = 1 << 24  # of one iteration: the schedule that the rows play lists the length of every step


class RowOp(IntEnum):
    """Opcodes of table rows."""

    NOP = 0
    REDUCE = 1
    GATHER = 2


@dataclass(frozen=True, eq=False, repr=False)
class Tables(Shown):
    """The tables of all nodes for one message.

    Row columns, sorted by (node, step, op, flow, first destination), no two alike in all five: `node`, `op`, `flow`, `parent`,
    `step`, `addr`, `size` (granules), `route`, and `children` of shape (rows, width); NIL (-1) where a field is empty. `routes`:
    link numbers of each source route; `route` is NIL in rows to neighbours, otherwise an index into it: such a row has one
    destination.
    Arrival columns, sorted: `arrival_node`, `arrival_op`, `arrival_flow`, `arrival_peer`: the transfers each node expects, once an
    iteration; a node is done when all have counted, and a GATHER without parent waits for all REDUCE arrivals of its flow.
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

    @property
    def first_destination(self) -> Int32:
        """The parent of each REDUCE row, the first child of each GATHER row."""
        return np.where(self.op == RowOp.REDUCE, self.parent, self.children[:, 0]) if self.children.shape[1] else self.parent

    @cached_property
    def schedule(self) -> Schedule:
        """The schedule that the rows play, in canonical row order, made for the size and machine of the tables.

        The root of chunk c is the node that gathers it without a parent, or that receives reductions and passes none on.
        Raises TableFormatError when a rooted collective's chunk has no such node, or several, and for steps beyond
        MAX_TABLE_STEPS.
        """
        if int(self.step.max(initial=0)) >= MAX_TABLE_STEPS:
            raise TableFormatError(f"a row has step {self.step.max()}; allowed: 0 to {MAX_TABLE_STEPS - 1}")
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
        """Copied chunks: the sender that never receives it; reduced ones: the receiver that never sends it."""
        sends, receives = (set(zip(columns["chunk"].tolist(), columns[side].tolist(), strict=True)) for side in ("src", "dst"))
        candidates = sorted(sends - receives if self.collective.gathers else receives - sends)
        chunks = [chunk for chunk, _ in candidates]
        if chunks != list(range(self.chunks)):
            wrong = next((c for c in range(self.chunks) if chunks.count(c) != 1), self.chunks)
            raise TableFormatError(f"flow {wrong} has {chunks.count(wrong)} roots; expected exactly one")
        return np.array([node for _, node in candidates], np.int32)
