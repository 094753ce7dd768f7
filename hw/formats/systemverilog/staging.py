"""How many chunks of an incoming lane the staging area holds for the reduction unit."""

from certree.models.common.extras import provided
from certree.models.tables.table_columns import LOCKSTEP
from certree.models.tables.tables import Tables


def staged_chunk_bits(tables: Tables, lanes: int, chunk_cycles: int, least_flits: int) -> int:
    """The number of bits of the number of a chunk of a lane.

    Slots leave the unit time: two chunks. In lockstep two are enough where the unit adds a chunk of each of the `lanes` while a
    lane brings one; elsewhere there is room for all chunks of a lane that can be there at any timing (`extras/tla`).
    """
    is_slow = tables.machine.reduce_start_cycles + lanes * chunk_cycles > least_flits
    if tables.control != LOCKSTEP or not is_slow:
        return 1
    most: int = provided("chunks that wait for a sum")(tables)
    return max(1, (most - 1).bit_length())
