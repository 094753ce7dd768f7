"""The order that a program needs: which rows wait until others have been sent, and which until others have landed.

For each cell reads and writes alternate. A read waits until all writes before it have landed, a write until all reads before it
have been sent. Messages that are all added to a cell between two reads land in any order, unless the program says otherwise. So
every row waits for two *gates* at most. Rows that wait for each other to be sent, as in an exchange between two accumulators, leave
in one cycle: a *group*.

A local copy keeps the data of its source for later. Rows that read the copy may read the original until the copy is made.
"""

import numpy as np

from certree.models.fine.list_jobs import NONE, Int64, Order, Ragged
from certree.models.schedule.schedule_columns import Op
from certree.synth._native import gates_of
from certree.synth.fine.program import Program


def order_of(program: Program, cells: tuple[Int64, Int64] | None = None) -> Order:
    """The gates of a program, or of rows with other `cells`, in C++ (`synth/native/fine/fine_gates.hpp`). O(rows log rows)."""
    cell = np.concatenate(cells or program.cells())
    order = np.lexsort((np.concatenate((program.reads, program.writes)), cell))  # of equal stages reads go first, in their order
    starts = np.flatnonzero(np.diff(cell[order], prepend=-1, append=-1)) if len(cell) else np.zeros(1, np.int64)
    needs, original_of, group, follows, *lists = gates_of(
        starts.astype(np.int32),
        (order % program.rows).astype(np.int32),
        (order >= program.rows).astype(np.uint8),
        (program.op == Op.COPY).astype(np.uint8),
        (program.src == program.dst).astype(np.uint8),
        program.in_order,
    )
    sent, landed, opens, groups = (Ragged(*one) for one in lists)
    known = follows.tolist() if (follows != NONE).any() else None
    return Order(needs.tolist(), sent, landed, opens, original_of.tolist(), list(groups), group.tolist(), known)
