"""Checks that each cell adds its operands in the stated order of additions."""

import numpy as np
from numpy.typing import NDArray

from certree.hw.engines.table_rows import Rows
from certree.models.fine.slots import fine_times
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import Op

Int64 = NDArray[np.int64]


class StatedOrder:
    """The turns of the operands of each cell: `turn` of each message, in the order of `Rows.sent`.

    The turn of an operand is the number of operands that its cell gets before it, by the slots of the schedule. The first two
    operands of a cell that holds nothing have one turn, as additions commute. O(messages log messages).
    """

    def __init__(self, rows: Rows, schedule: Schedule) -> None:
        sent = rows.sent
        buffer = sent.get("dst_buffer", np.zeros(len(sent["dst"]), np.int32))
        self._sent, self._schedule = sent, schedule
        self._cell = (sent["dst"].astype(np.int64) * schedule.chunks + sent["chunk"]) * schedule.buffers + buffer
        self.turn = rows.rows["message_turn"] = self._turns(buffer)

    def _turns(self, buffer: NDArray[np.integer]) -> NDArray[np.uint32]:
        sent, schedule, is_sum = self._sent, self._schedule, self._sent["op"] == Op.REDUCE
        order = np.lexsort((self._times(), self._cell))
        begins = np.ones(len(order), np.bool_)
        begins[1:] = np.diff(self._cell[order]) != 0
        group = np.cumsum(begins) - 1
        before = np.cumsum(is_sum[order]) - is_sum[order]  # in all cells
        turn = before - before[begins][group]
        holds = np.isin(sent["dst"], schedule.collective.members_of(schedule.topology)) & (buffer == 0)
        is_empty = (~holds[order] & is_sum[order])[begins][group]
        found = np.zeros(len(order), np.uint32)
        found[order] = np.where(is_empty, np.maximum(turn, 1), turn)
        return found

    def _times(self) -> Int64:
        """The time at which each operand arrives, precise enough to order the operands of a cell."""
        sent, schedule = self._sent, self._schedule
        if not schedule.has_fine_slots:
            return sent["step"].astype(np.int64)
        times = fine_times(schedule)
        buffers = [sent[name] for name in ("dst_buffer", "src_buffer") if name in sent]
        names = ("route", "dst", "src", "chunk", "op", "step")  # as in a schedule, the last one first
        order = np.lexsort((*buffers, *(sent[name] for name in names)))
        comes = np.empty(len(order), np.int64)
        comes[order] = times.arrival
        return comes

    def words(self, message: int, iteration: int, later_turn: int) -> str:
        """A fault in words: the operand of a message came after one of a later turn."""
        sent = self._sent
        same = (self._cell == self._cell[message]) & (sent["op"] == Op.REDUCE) & (self.turn == later_turn)
        node, chunk = int(sent["dst"][message]), int(sent["chunk"][message])
        early, late = (f"node {sent['src'][one]} (step {sent['step'][one]})" for one in (message, int(np.argmax(same))))
        return f"node {node} adds chunk {chunk} of iteration {iteration} from {early} after that from {late}"
