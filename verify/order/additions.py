"""The order in which a schedule adds: for each chunk an expression over ranks, such as ((0,1),(2,3)).

Sums of floating-point numbers depend on it. An expression is binary, as every addition rounds, and its operands have no order, as
additions commute bit for bit. A copy takes over what its source holds, and a reduce adds it to what its destination holds. Equal
expressions are one, across chunks and nodes, so that orders are compared by number.

Operands that come to a cell together have no order by themselves. These are reduces sent in one step, or fewer than `delay` steps
apart, and with fine slots those that arrive in one cycle. Here they are added in the order of rows; the order is then *stated*, and
holds where interfaces add in the order of rows. The first two operands of an empty cell, as of a switch, need no order.

The order is that of runs in slots. Paced runs, and programs of runtimes, add operands as they come.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from certree.models.common.budget import hold
from certree.models.common.columns import is_sorted
from certree.models.fine.slots import fine_times
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import Op
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule, written_out
from certree.verify._proofs import add_up
from certree.verify.order.expressions import Expression

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]

MOST_WRITTEN = 1 << 10  # ranks of an expression in words


@dataclass(frozen=True)
class Additions:
    """The orders in which the chunks of a valid schedule are added.

    `orders`: how many expressions the chunks end in; `differs`: (rank, chunk) of a sum that differs from the one at the first
    member, None where all ranks have the same; `tied`: (node, chunk) where operands come together, None where they never do, and
    `ties` how many do; `expression`: the one of all chunks, None where there are several, or more than MOST_WRITTEN ranks;
    `is_nested`: whether that expression has those of the first 1, 2, 4, ... members as its parts, None where there are several;
    `fixed_by`: what makes the order certain, or (`rows`, `arrival`) what does not.
    """

    orders: int
    differs: tuple[int, int] | None
    tied: tuple[int, int] | None
    ties: int
    expression: str | None
    is_nested: bool | None
    fixed_by: str

    @property
    def is_fixed(self) -> bool:
        """Whether no operands come to a cell together, so that the order is certain."""
        return self.tied is None

    @property
    def certain(self) -> str | None:
        """The expression of all chunks, where the order is certain."""
        return self.expression if self.is_fixed else None

    def document(self) -> dict[str, object]:
        """The value of the key `order` of reports."""
        named = {name: None if value is None else list(value) for name, value in (("differs", self.differs), ("tied", self.tied))}
        return {
            "orders": self.orders,
            "same_at_all_ranks": self.differs is None,
            "fixed_by": self.fixed_by,
            "nested": self.is_nested,
            "expression": self.expression,
            "ties": self.ties,
            **named,
        }


def additions_of(schedule: AnySchedule) -> Additions | None:
    """The orders of a valid schedule; None for a collective that does not add.

    UnsupportedError for a symmetric schedule that is too large to be written out. O(rows log rows) where rows are not in the order
    of their steps, else O(rows) time, and O(rows + cells) memory.
    """
    if not schedule.collective.reduces:
        return None
    plan = written_out(schedule)
    members = np.asarray(plan.collective.members_of(plan.topology), np.int64)
    start = np.full(len(plan.topology.kind) * plan.chunks * plan.buffers, -1, np.int32)
    hold(24 * len(start) + 40 * plan.transfers, f"the sums of {plan.chunks:,} chunks")
    chunk = np.arange(plan.chunks)
    own = _cells(plan, members[:, None], chunk)
    start[own] = plan.topology.rank[members][:, None]
    held, left, right, tied, ties = _added_up(plan, start)
    due = own if plan.collective.gathers else _cells(plan, plan.chunk_root.astype(np.int64), chunk)[None]
    ends = held[due]
    other = np.argwhere(ends != ends[0])
    orders = np.unique(ends)
    ranks = plan.collective.ranks_of(plan.topology)
    expression, is_nested = one_order(orders.tolist(), ranks, left, right, len(plan.topology.endpoints))
    return Additions(
        orders=len(orders),
        differs=(int(plan.topology.rank[members[other[0][0]]]), int(other[0][1])) if len(other) else None,
        tied=(int(plan.dst[tied]), int(plan.chunk[tied])) if ties else None,
        ties=ties,
        expression=expression,
        is_nested=is_nested,
        fixed_by="rows" if ties else "slots",
    )


def makes_sums_once(schedule: AnySchedule) -> bool:
    """Whether a valid schedule that adds makes each sum at one node, by one addition: then each chunk is added with one addition
    less than members take part. The first reduce into a cell of a switch is not an addition; where such a cell is used again, for
    another sum, the answer may be False though sums are made once. UnsupportedError as `additions_of`. O(rows log rows)."""
    plan = written_out(schedule)
    buffer = np.zeros(plan.transfers, np.int64) if plan.dst_buffer is None else plan.dst_buffer.astype(np.int64)
    cell = _cells(plan, plan.dst.astype(np.int64), plan.chunk.astype(np.int64)) + buffer
    adds, order = plan.op == Op.REDUCE, _landing(plan, _leaving(plan))[2]
    rows = order if len(order) else np.arange(plan.transfers)
    rows = rows[plan.topology.rank[plan.dst[rows]] < 0]
    first = rows[np.unique(cell[rows], return_index=True)[1]]
    additions = int(adds.sum()) - int(adds[first].sum())
    return additions == plan.chunks * (len(plan.collective.members_of(plan.topology)) - 1)


def _cells(plan: Schedule, node: Int64, chunk: Int64) -> Int64:
    return (node * plan.chunks + chunk) * plan.buffers


def _leaving(plan: Schedule) -> Int64:
    """The rows in the order in which they leave; empty where they are in this order already."""
    return np.zeros(0, np.int64) if is_sorted([plan.step]) else np.argsort(plan.step, kind="stable").astype(np.int64)


def _landing(plan: Schedule, leaving: Int64) -> tuple[Int64, Int64, Int64]:
    """The slots in which rows land and the cycles in which they come, with fine slots; and the rows in the order in which they
    land, empty where they are in this order already. `leaving`: that of `_leaving`."""
    if not plan.has_fine_slots:
        return np.zeros(0, np.int64), np.zeros(0, np.int64), leaving
    times = fine_times(plan)
    lands, comes = times.landing_slot, times.arrival
    return lands, comes, np.lexsort((np.arange(plan.transfers), comes, lands))


def _added_up(plan: Schedule, start: Int32) -> tuple[Int32, Int32, Int32, int, int]:
    """The result of `add_up` for the transfers of a plan."""
    leaving = _leaving(plan)
    lands, comes, landing = _landing(plan, leaving)
    apart = 1 if plan.has_fine_slots else plan.delay
    buffers = [np.zeros(0, np.int32) if column is None else column for column in (plan.src_buffer, plan.dst_buffer)]
    return add_up(
        columns=[plan.src, plan.dst, plan.chunk, *buffers, plan.step],
        op=plan.op,
        times=[lands, comes],
        orders=[leaving, landing],
        held=start,
        sizes=[plan.chunks, plan.buffers, plan.delay, len(plan.topology.endpoints), apart],
    )


def one_order(
    orders: Sequence[int], ranks: Sequence[int], left: Sequence[int] | Int32, right: Sequence[int] | Int32, first: int
) -> tuple[str | None, bool | None]:
    """The fields `expression` and `is_nested` of `Additions`, for the numbers of the sums that chunks end in.

    The contribution of a rank has its number; sum number i has the operands `left[i - first]` and `right[i - first]`.
    """
    if len(orders) != 1 or orders[0] < 0:
        return None, None
    whole = _expression(orders[0], ranks, left, right, first)
    return whole.text if len(ranks) <= MOST_WRITTEN else None, whole.is_nested


def _expression(
    top: int, ranks: Sequence[int], left: Sequence[int] | Int32, right: Sequence[int] | Int32, first: int
) -> Expression:
    """A sum as an expression over some ranks."""
    found, open_ = {top}, [top]
    while open_:
        one = open_.pop()
        below = (int(left[one - first]), int(right[one - first])) if one >= first else ()
        open_ += [part for part in below if part not in found]
        found.update(below)
    sums = sorted(one for one in found if one >= first)  # operands have lower numbers
    number = {rank: place for place, rank in enumerate(ranks)} | {one: len(ranks) + place for place, one in enumerate(sums)}
    return Expression.of(ranks, [(number[int(left[one - first])], number[int(right[one - first])]) for one in sums])
