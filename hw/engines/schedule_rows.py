"""A schedule's own transfers as rows, messages and expected arrivals, which engines run for schedules without tables."""

import numpy as np
from numpy.typing import NDArray

from certree.hw.engines.schedule_run import SimulatedSchedule
from certree.hw.engines.table_rows import NotPacedError, Rows
from certree.models.common.columns import ranges
from certree.models.common.errors import UnsupportedError
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import Op
from certree.models.tables.table_columns import RowOp

Int64 = NDArray[np.int64]


class ScheduleRows(Rows):
    """Rows of a plan, like `TableRows` of tables: a row per (source, step, op, chunk), and a message per transfer.

    A row waits for exactly the transfers that have landed in its cell (source, chunk) by its step. Raises UnsupportedError when the
    data that a row reads would depend on timing: with a delay of several steps, a transfer in flight to the cell that the row
    reads, or transfers of both kinds in flight to one cell at once. O(rows log rows + waits) time and memory.
    """

    def __init__(self, plan: SimulatedSchedule) -> None:
        self.plan = plan
        schedule = plan.schedule
        if len(schedule.topology.kind) * schedule.chunks * (schedule.steps + 1) * 2 >= 1 << 62:
            raise UnsupportedError("this many nodes, chunks and steps are more than the simulator can number")
        self._schedule, self._arrivals = schedule, _Arrivals(schedule)
        self._order = np.lexsort((schedule.dst, schedule.chunk, schedule.op, schedule.step, schedule.src))
        names = ("chunk", "op", "step", "src", "dst", "route")
        self.sent = {name: getattr(schedule, name)[self._order] for name in names}
        fresh = np.ones(schedule.transfers, np.bool_)
        fresh[1:] = np.any([np.diff(self.sent[name]) != 0 for name in ("src", "step", "op", "chunk")], axis=0)
        self._lead = np.flatnonzero(fresh)  # the first message of each row
        self._row_columns = {name: self.sent[name][self._lead] for name in ("src", "step", "op", "chunk")}
        sizes = {
            "chunks": schedule.chunks,
            "repeats": schedule.repeats,
            "period": schedule.period or schedule.steps,
            "slot_cycles": plan.slot_cycles,
        }
        self._fill(sizes, plan.topology, plan.machine, plan.chunk_bytes)

    def _rows(self) -> dict[str, NDArray[np.integer]]:
        columns, nodes = self._row_columns, np.arange(len(self._schedule.topology.kind) + 1)
        waits_begin, waits = self._arrivals.landed(columns["src"], columns["chunk"], columns["step"])
        place = np.empty(len(self._order), np.int64)
        place[self._arrivals.order] = np.arange(len(self._order))
        return {
            "row_begin": np.searchsorted(columns["src"], nodes),
            "row_op": np.where(columns["op"] == Op.REDUCE, RowOp.REDUCE, RowOp.GATHER),
            "row_flow": columns["chunk"],  # for traces
            "row_cell": columns["chunk"],
            "row_step": columns["step"],
            "row_waits_begin": waits_begin,
            "row_waits": waits,
            "row_needs": np.ones(len(waits), np.int32),
            "row_messages_begin": np.append(self._lead, len(self._order)),
            "row_messages": np.arange(len(self._order)),
            "message_arrival": place[self._order],
            "message_cell": self.sent["chunk"],
            "arrival_begin": np.searchsorted(self._arrivals.node, nodes),
            "arrival_count": np.ones(len(self._order), np.int32),
        }

    def check_paced(self) -> None:
        """Raise NotPacedError unless each row waits for all transfers that ever reach its cell: else only slots separate later
        ones."""
        rows, arrivals = self._row_columns, self._arrivals
        low, high = arrivals.range(rows["src"], rows["chunk"], 0, self._schedule.steps)
        waiting = np.diff(self.rows["row_waits_begin"].astype(np.int64))
        early = np.flatnonzero(high - low > waiting)
        if len(early):
            row = early[0]
            raise NotPacedError(
                f"node {rows['src'][row]} sends chunk {rows['chunk'][row]} in step {rows['step'][row]} and receives it later; "
                "without tables only slots keep the two apart: run it slotted"
            )

    def describe_arrival(self, arrival: int) -> str:
        """An expected arrival in words."""
        transfer = self._arrivals.order[arrival]
        schedule = self._schedule
        op = RowOp.REDUCE if schedule.op[transfer] == Op.REDUCE else RowOp.GATHER
        return f"the {op.name} of flow {schedule.chunk[transfer]} from node {schedule.src[transfer]}"

    def describe_row(self, row: int) -> str:
        """A row in words."""
        columns = self._row_columns
        op = RowOp.REDUCE if columns["op"][row] == Op.REDUCE else RowOp.GATHER
        return f"step {columns['step'][row]} ({op.name} of flow {columns['chunk'][row]})"


class _Arrivals:
    """The transfers of a schedule by (destination, chunk, step): `order`, and ranges of it."""

    def __init__(self, schedule: Schedule) -> None:
        self._schedule, self._span = schedule, schedule.steps + 1
        key = self._key(schedule.dst, schedule.chunk, schedule.step.astype(np.int64))
        self.order = np.lexsort((schedule.src, schedule.op, key))
        self.node = schedule.dst[self.order]
        self._keys = key[self.order]
        self._refuse_mixed()

    def _key(self, node: NDArray[np.integer], chunk: NDArray[np.integer], step: Int64) -> Int64:
        key: Int64 = (node.astype(np.int64) * self._schedule.chunks + chunk) * self._span + step
        return key

    def range(
        self, node: NDArray[np.integer], chunk: NDArray[np.integer], first: Int64 | int, end: Int64 | int
    ) -> tuple[Int64, Int64]:
        """Where the arrivals of each cell with steps from `first` to before `end` begin and end in `order`."""
        base = self._key(node, chunk, np.zeros(len(node), np.int64))
        limits = (np.clip(limit, 0, self._schedule.steps) for limit in (first, end))
        low, high = (np.searchsorted(self._keys, base + limit) for limit in limits)
        return low, high

    def landed(self, node: NDArray[np.integer], chunk: NDArray[np.integer], step: NDArray[np.integer]) -> tuple[Int64, Int64]:
        """Lists (begin, arrivals) of the transfers landed in each cell by a step. UnsupportedError where some may land early."""
        delay, now = self._schedule.delay, step.astype(np.int64)
        low, high = self.range(node, chunk, 0, now - delay + 1)
        in_flight = self.range(node, chunk, now - delay + 1, now)
        flying = np.flatnonzero(in_flight[1] > in_flight[0])
        if len(flying):
            row = flying[0]
            raise UnsupportedError(
                f"node {node[row]} sends chunk {chunk[row]} in step {step[row]} while a transfer into it is in flight "
                f"(delay {delay}): it needs a second buffer, which the machine does not have"
            )
        count = high - low
        return np.concatenate(([0], np.cumsum(count))), ranges(low, count)[1]

    def _refuse_mixed(self) -> None:
        """Raise UnsupportedError for a copy and a reduce in flight to one cell at once, which may land in the wrong order."""
        cell, step = self._keys // self._span, self._keys % self._span
        op = self._schedule.op[self.order]
        near = (np.diff(cell) == 0) & (np.diff(step) < self._schedule.delay) & (np.diff(step) > 0) & (np.diff(op) != 0)
        if near.any():
            second = self.order[int(np.argmax(near)) + 1]
            raise UnsupportedError(
                f"a copy and a reduce of chunk {self._schedule.chunk[second]} are in flight to node "
                f"{self._schedule.dst[second]} at once around step {self._schedule.step[second]} (delay "
                f"{self._schedule.delay}): either may land first"
            )
