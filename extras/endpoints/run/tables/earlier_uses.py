"""How often the cell of a message is read and written before it, in the order of slots, which endpoints keep in runs of tables
(sentence A14 of `docs/reference/tables.md`).

In slots a row reads what has landed in its cell by its step. At another timing a message may come before a row has read what was
there, or before a copy which it should not be overwritten by. So a message waits at the ports until the rows that read its cell in
earlier steps have fired, and as many transfers into the cell as must come before it have been taken: before a copy all that land
earlier, before a sum those up to the last such copy. Each row then waits for its number of arrivals (A8), finds exactly those that
it finds in slots, and the data are right.
"""

import numpy as np
from numpy.typing import NDArray

from certree.models.routers.lanes import messages_of_tables
from certree.models.schedule.schedule_columns import Op
from certree.models.tables.tables import Tables
from certree.verify.tables.dependencies import Moves

Int64 = NDArray[np.int64]


def earlier_uses(tables: Tables) -> tuple[Int64, Int64]:
    """(reads, writes): of each message that rows send, in the order in which engines number them, what must come before it. Both
    empty where nothing must, as in `trees`, whose rows name all that they wait for. O(rows log rows)."""
    nothing = np.zeros(0, np.int64)
    if not tables.is_counted or not len(tables.node):
        return nothing, nothing
    order, sent = messages_of_tables(tables)
    lands = Moves.of(tables).landing(tables)[order]
    written = tables.transfer_keys()[order]
    reads, writes = _reads_before(tables, written, lands), _writes_before(written, lands, sent["op"] == Op.COPY)
    return (reads, writes) if reads.any() or writes.any() else (nothing, nothing)


def _reads_before(tables: Tables, written: Int64, lands: Int64) -> Int64:
    """How many rows read the cell of each message in steps before it lands."""
    read, span = tables.cells(tables.node, tables.flow, tables.src_buffer), int(max(lands.max(initial=0), tables.step.max())) + 1
    keys = np.sort(read * span + tables.step)
    return np.searchsorted(keys, written * span + lands) - np.searchsorted(keys, written * span)


def _writes_before(written: Int64, lands: Int64, is_copy: NDArray[np.bool_]) -> Int64:
    """How many transfers must have been taken into the cell of each message: before a copy all that land earlier, before a sum
    those up to the last copy that lands earlier."""
    order = np.lexsort((lands, written))
    cell, copies = written[order], is_copy[order]
    number = np.arange(len(order))
    start = np.searchsorted(cell, cell)
    last_copy = np.concatenate(([-1], np.maximum.accumulate(np.where(copies, number, -1))[:-1]))
    found = np.zeros(len(order), np.int64)
    found[order] = np.where(copies, number, np.maximum(last_copy + 1, start)) - start
    return found
