"""Lowering of a schedule to rows that wait for numbers of arrivals: the profiles `blocks` and `buffers`."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.hw.tables.column_lines import filled, ragged
from certree.models.common.errors import UnsupportedError
from certree.models.fine.slots import landing_steps
from certree.models.network.routing import DIRECT
from certree.models.network.topology import Int32
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import Op
from certree.models.schedule.timing import ceil_div
from certree.models.tables.table_columns import NIL, Profile, RowOp
from certree.models.tables.table_memory import cell_addresses
from certree.models.tables.tables import Tables

Int64 = NDArray[np.int64]


def lower_counted(plan: Schedule, header: dict[str, Any]) -> Tables:
    """The tables of a plan with steps of one round, in profile `blocks` where chunks have targets, `buffers` elsewhere; `header` as
    `filled` has it.

    Raises UnsupportedError, naming node and chunk, for transfers whose result would depend on when others arrive, and for chunks
    with targets that take several paths. O(rows log rows) time.
    """
    profile = Profile.BLOCKS if plan.collective.has_targets else Profile.BUFFERS
    moved = _Moved(plan)
    if profile is Profile.BLOCKS:
        _refuse_other_than_paths(plan)
    moved.refuse_mixed()
    rows, arrivals = _rows(plan, moved), moved.arrivals()
    tables = filled(
        header,
        rows | arrivals | {"arrival_addr": arrivals["arrival_flow"].astype(np.int64)},  # before there is a layout
        profile=profile,
        buffers=plan.buffers,
        in_flight=min(plan.repeats, ceil_div(moved.longest_use(rows), plan.period)) if plan.period else 1,
        chunk_root=plan.chunk_root if plan.collective.is_rooted else None,
        chunk_target=plan.chunk_target,
    )
    return replace(
        tables,
        addr=cell_addresses(tables, tables.node, tables.flow, tables.src_buffer),
        arrival_addr=cell_addresses(tables, tables.arrival_node, tables.arrival_flow, tables.arrival_buffer),
    )


class _Moved:
    """The transfers of a plan by the cells that they read and write."""

    def __init__(self, plan: Schedule) -> None:
        lands = landing_steps(plan)
        self._plan, self._span = plan, max(plan.steps, int(lands.max(initial=0))) + 2
        zero = np.zeros(plan.transfers, np.int32)
        self.src_buffer = zero if plan.src_buffer is None else plan.src_buffer
        self.dst_buffer = zero if plan.dst_buffer is None else plan.dst_buffer
        self.reads, self.writes = self._cells(plan.src, self.src_buffer), self._cells(plan.dst, self.dst_buffer)
        key = self.writes * self._span + plan.step
        self._order = np.lexsort((plan.op, key))
        self._keys = key[self._order]  # of arrivals: by cell, then step
        self._lands = lands[self._order]
        self._landings = np.sort(self.writes * self._span + lands)

    def _cells(self, node: Int32, buffer: Int32) -> Int64:
        cell: Int64 = (node.astype(np.int64) * self._plan.chunks + self._plan.chunk) * self._plan.buffers + buffer
        return cell

    def landed(self, cell: Int64, step: Int32) -> Int64:
        """How many transfers have landed in each cell by a step; UnsupportedError where another is in flight to it."""
        base, now = cell * self._span, step.astype(np.int64)
        first = np.searchsorted(self._keys, base)
        have = np.searchsorted(self._landings, base + now, side="right")
        sent = np.searchsorted(self._keys, base + now)
        if (sent > have).any():
            row = int(np.argmax(sent > have))
            owner, chunk, buffer = self._told(int(cell[row]))
            delay = "fine slots" if self._plan.has_fine_slots else f"delay {self._plan.delay}"
            raise UnsupportedError(
                f"node {owner} sends {chunk} in step {step[row]} while a transfer into it is in flight "
                f"({delay}): it needs {'another' if buffer else 'a second'} buffer"
            )
        return have - first

    def refuse_mixed(self) -> None:
        """Raise UnsupportedError for a copy in flight to a cell together with another transfer that was sent in another step; with
        fine slots such a schedule is invalid."""
        if self._plan.has_fine_slots:
            return
        cell, step = self._keys // self._span, self._keys % self._span
        is_copy = self._plan.op[self._order] == Op.COPY
        near = (np.diff(cell) == 0) & (np.diff(step) < self._plan.delay) & (np.diff(step) > 0) & (is_copy[1:] | is_copy[:-1])
        if near.any():
            second = int(np.argmax(near)) + 1
            owner, chunk, _ = self._told(int(cell[second]))
            raise UnsupportedError(
                f"a copy and another transfer of {chunk} are in flight to node {owner} at once around step {step[second]} (delay "
                f"{self._plan.delay}): either may land first"
            )

    def _told(self, cell: int) -> tuple[int, str, int]:
        rest, buffer = divmod(cell, self._plan.buffers)
        node, chunk = divmod(rest, self._plan.chunks)
        return node, f"chunk {chunk}" + (f" of buffer {buffer}" if buffer else ""), buffer

    def longest_use(self, rows: dict[str, Any]) -> int:
        """The most slots from the first transfer into a cell to its last landing, or to the last row that reads it."""
        if not len(self._keys):
            return 1
        cell, step = self._keys // self._span, self._keys % self._span
        starts = np.flatnonzero(np.concatenate(([True], np.diff(cell) != 0)))
        first, last = step[starts], np.maximum.reduceat(self._lands, starts)
        read = (rows["node"].astype(np.int64) * self._plan.chunks + rows["flow"]) * self._plan.buffers + rows["src_buffer"]
        place = np.minimum(np.searchsorted(cell[starts], read), len(starts) - 1)
        known = cell[starts][place] == read
        np.maximum.at(last, place[known], rows["step"][known])
        return max(1, int((last - first).max()))

    def arrivals(self) -> dict[str, Any]:
        """The cells that get transfers, and the number that each of them gets in an iteration."""
        cell, count = np.unique(self.writes, return_counts=True)
        rest, buffer = np.divmod(cell, self._plan.buffers)
        node, flow = np.divmod(rest, self._plan.chunks)
        return {
            "arrival_node": node,
            "arrival_op": np.full(len(cell), RowOp.NOP),
            "arrival_flow": flow,
            "arrival_peer": np.full(len(cell), NIL),
            "arrival_buffer": buffer,
            "arrival_count": count,
        }


def _rows(plan: Schedule, moved: _Moved) -> dict[str, Any]:
    """Columns of rows in table order: transfers of one operation, step and pair of buffers to neighbours share a row."""
    alone = np.where((plan.route == DIRECT) & (plan.src != plan.dst), 0, plan.dst.astype(np.int64) + 1)
    keys = (alone, moved.dst_buffer, moved.src_buffer, plan.chunk, plan.op, plan.step, plan.src)
    order = np.lexsort((plan.dst, *keys))
    fresh = np.ones(plan.transfers, np.bool_)
    fresh[1:] = np.any([np.diff(key[order]) != 0 for key in keys], axis=0)
    lead = order[fresh]
    columns: dict[str, Any] = {
        "node": plan.src[lead],
        "op": np.where(plan.op[lead] == Op.REDUCE, RowOp.REDUCE, RowOp.GATHER),
        "flow": plan.chunk[lead],
        "parent": np.full(len(lead), NIL),
        "children": ragged(np.cumsum(fresh) - 1, plan.dst[order], len(lead)),
        "step": plan.step[lead],
        "route": np.where(plan.route[lead] == DIRECT, NIL, plan.route[lead]),
        "wait": moved.landed(moved.reads[lead], plan.step[lead]),
        "src_buffer": moved.src_buffer[lead],
        "dst_buffer": moved.dst_buffer[lead],
    }
    if not columns["children"].shape[1]:
        columns["children"] = np.full((len(lead), 1), NIL)
    names = ("dst_buffer", "src_buffer", "flow", "op", "step", "node")
    place = np.lexsort((columns["children"][:, 0], *(columns[name] for name in names)))
    return {name: column[place] for name, column in columns.items()}


def _refuse_other_than_paths(plan: Schedule) -> None:
    """Raise UnsupportedError for the first chunk that leaves or reaches a node twice, or comes back to its source."""
    node = plan.src.astype(np.int64) * plan.chunks + plan.chunk, plan.dst.astype(np.int64) * plan.chunks + plan.chunk
    for cells, fault in ((node[0], "leaves"), (node[1], "reaches")):
        key = np.sort(cells)
        twice = key[1:][key[1:] == key[:-1]]
        if len(twice):
            where, chunk = divmod(int(twice[0]), plan.chunks)
            raise UnsupportedError(f"chunk {chunk} {fault} node {where} twice; tables of blocks have one path for each chunk")
    back = np.flatnonzero(plan.dst == plan.chunk_root[plan.chunk])
    if len(back):
        row = back[0]
        raise UnsupportedError(f"chunk {plan.chunk[row]} comes back to its source, node {plan.dst[row]}; blocks leave it once")
