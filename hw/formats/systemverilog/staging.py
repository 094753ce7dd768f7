"""How many chunks of an incoming lane the staging area holds for the reduction unit."""

import numpy as np

from certree.models.network.routing import DIRECT
from certree.models.schedule.schedule_columns import Op
from certree.models.tables.table_columns import LOCKSTEP
from certree.models.tables.tables import Tables


def staged_chunk_bits(tables: Tables, lanes: int, chunk_cycles: int, least_flits: int) -> int:
    """Bits of the number of a chunk of a lane.

    Slots leave the unit time: two chunks. In lockstep two are enough where the unit adds a chunk of each of the `lanes` while a
    lane brings one; elsewhere there is room for all that one lane brings in the whole run. O(transfers).
    """
    is_slow = tables.machine.reduce_start_cycles + lanes * chunk_cycles > least_flits
    if tables.control != LOCKSTEP or not is_slow:
        return 1
    topology, sent = tables.topology, tables.transfers()
    before = np.array([topology.src[route[-1]] for route in tables.routes] or [0])
    sums = np.flatnonzero(sent["op"] == Op.REDUCE)
    route = sent["route"][sums]
    source = np.where(route == DIRECT, sent["src"][sums], before[np.where(route == DIRECT, 0, route)])
    brought = np.unique(sent["dst"][sums].astype(np.int64) * len(topology.kind) + source, return_counts=True)[1]
    return max(1, (int(brought.max(initial=0)) * tables.repeats - 1).bit_length())
