"""All-reduces in a switch as a plan of MSCCL++: the switch adds up a part of the message and stores the sum at all ranks."""

import numpy as np

from certree.extras.runtimes.model.limits import MOST_BLOCK_CHANNELS, MOST_OPERATION_CHANNELS
from certree.extras.runtimes.model.plan import MEMORY, SWITCH, Operation, OpName, PlanRank, Span
from certree.extras.runtimes.model.program import Buffer
from certree.models.common.errors import UnsupportedError
from certree.models.schedule.collective import CollectiveKind
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import Op


def ranks_by_switch(schedule: Schedule, what: str) -> tuple[PlanRank, ...]:
    """The ranks of a plan in which a switch makes the all-reduce of a schedule; `what` begins the words of errors.

    In the schedule every rank sends every chunk to a switch once and receives it from there once. One rank may get the sum first
    and send it to the others by way of the switch. Chunks may have different switches side by side, which a runtime uses as one. So
    does one operation of the switch, `glres`, which reads a place of the inputs of all ranks and writes the sum to a place of all
    outputs. Each thread block has one for an equal part of the message, whatever the chunks of the schedule: nothing orders them.
    Before it all ranks have started, after it all wait for each other. A rank has as few thread blocks as the channels to all
    others need.

    UnsupportedError for another collective, several switches for a chunk, and transfers between ranks. O(transfers + ranks²).
    """
    schedule.collective.require_no_members(what)
    _require_all_through_switches(schedule, what)
    ranks = tuple(range(len(schedule.topology.endpoints)))
    blocks = -(-(len(ranks) - 1) // MOST_BLOCK_CHANNELS)
    chunks = len(ranks) * blocks
    groups = tuple((buffer, ranks) for buffer in (Buffer.INPUT, Buffer.OUTPUT))
    return tuple(
        PlanRank(chunks, chunks, 0, tuple(_block(rank, at, len(ranks), blocks) for at in range(blocks)), groups=groups)
        for rank in ranks
    )


def _require_all_through_switches(schedule: Schedule, what: str) -> None:
    """Raise UnsupportedError unless in an all-reduce every rank sends each chunk to one switch once, and gets it back once."""
    if schedule.collective.kind is not CollectiveKind.ALL_REDUCE:
        kind = schedule.collective.kind
        raise UnsupportedError(
            f"{what}: {kind} through a switch that reduces; the executor's operation of a switch is an all-reduce"
        )
    rank, ranks = schedule.topology.rank, len(schedule.topology.endpoints)
    up, down = rank[schedule.dst] < 0, rank[schedule.src] < 0
    other = up == down
    if other.any():
        at = int(other.argmax())
        what_else = "between switches that reduce" if up[at] else "past the switches that reduce"
        raise UnsupportedError(f"{what}: a transfer from node {schedule.src[at]} to {schedule.dst[at]}, {what_else}")
    switch = np.where(up, schedule.dst, schedule.src)
    pairs = np.unique(np.stack([schedule.chunk, switch], axis=1), axis=0)
    if len(pairs) > schedule.chunks:
        chunk = int(pairs[:-1, 0][pairs[:-1, 0] == pairs[1:, 0]][0])
        raise UnsupportedError(f"{what}: chunk {chunk} passes several switches that reduce; one can add it")
    up = up & (schedule.op == Op.REDUCE)  # a copy up is of a sum that the switch has sent to one rank
    for direction, rows, end in (("to", up, schedule.src), ("from", down, schedule.dst)):
        found = len(np.unique(schedule.chunk[rows].astype(np.int64) * ranks + rank[end[rows]]))
        if (found, rows.sum()) != (schedule.chunks * ranks,) * 2:
            due = f"expected {schedule.chunks * ranks}, one for each chunk and rank"
            raise UnsupportedError(f"{what}: {rows.sum()} transfers {direction} switches that reduce; {due}")


def _block(rank: int, at: int, ranks: int, blocks: int) -> tuple[Operation, ...]:
    """The operations of thread block `at` of a rank: it signals to its part of the other ranks, and waits for them."""
    others = [other for other in range(ranks) if other != rank]
    peers = others[at * MOST_BLOCK_CHANNELS : (at + 1) * MOST_BLOCK_CHANNELS]
    meet = Operation(OpName.NOTHING) if blocks == 1 else Operation(OpName.BARRIER, blocks=blocks)
    source, target = (
        Span(rank, buffer, rank * blocks + at, group=group) for group, buffer in enumerate((Buffer.INPUT, Buffer.OUTPUT))
    )
    return (
        *_notices(OpName.RELAXED_SIGNAL, peers),
        *_notices(OpName.RELAXED_WAIT, peers),
        meet,
        Operation(OpName.SWITCH_REDUCE_STORE, (source,), (target,), channel_type=SWITCH),
        meet,
        *_notices(OpName.SIGNAL, peers),
        *_notices(OpName.WAIT, peers),
    )


def _notices(name: OpName, peers: list[int]) -> list[Operation]:
    """Signals to, or waits for, other ranks, a few in each operation."""
    return [
        Operation(
            name,
            channels=tuple((MEMORY, peer, 0) for peer in peers[first : first + MOST_OPERATION_CHANNELS]),
            channel_type=MEMORY,
        )
        for first in range(0, len(peers), MOST_OPERATION_CHANNELS)
    ]
