"""Rule `shares`: in a collective with targets every block of the message is there, and each has equally many chunks."""

import numpy as np
from numpy.typing import NDArray

from certree.models.collective import CollectiveKind
from certree.models.schedule import Schedule
from certree.verify.verdict import Findings

Int64 = NDArray[np.int64]


def check_shares(schedule: Schedule, findings: Findings) -> None:
    """Report chunks that stay where they are, and blocks that have fewer chunks than the largest one has.

    A block is what one endpoint has for another one: each ordered pair in an all-to-all, each endpoint but the root in a gather or
    scatter. Were they unequal, or some left out, the schedule would move less than the message it is timed for. O(N^2 + chunks).
    """
    if schedule.chunk_target is None:
        return
    stays = np.flatnonzero(schedule.chunk_root == schedule.chunk_target)

    def tell_staying(chunk: int) -> tuple[int, tuple[int, ...], str]:
        return (
            0,
            (),
            f"chunk {chunk} is for node {schedule.chunk_root[chunk]} itself: a chunk goes from one endpoint to another one",
        )

    findings.add_each("shares", stays.tolist(), tell_staying)
    source, target, count = _blocks(schedule, schedule.chunk_target)
    full = int(count.argmax())

    def tell_short(block: int) -> tuple[int, tuple[int, ...], str]:
        having, most = (f"{count[at]} chunk(s) from node {source[at]} to node {target[at]}" for at in (block, full))
        return 0, (), f"{having}, but {most}: {schedule.collective.words} has equally many for each"

    findings.add_each("shares", np.flatnonzero(count < count[full]).tolist(), tell_short)


def _blocks(schedule: Schedule, chunk_target: NDArray[np.int32]) -> tuple[Int64, Int64, Int64]:
    """Source, target and number of chunks of every block, by source, then target (node ids)."""
    topology, ranks = schedule.topology, len(schedule.topology.endpoints)
    block = topology.rank[schedule.chunk_root].astype(np.int64) * ranks + topology.rank[chunk_target]
    count = np.bincount(block, minlength=ranks * ranks).reshape(ranks, ranks)
    wanted = ~np.eye(ranks, dtype=np.bool_)
    if schedule.collective.root is not None:
        is_root = topology.endpoints == schedule.collective.root
        wanted &= is_root if schedule.collective.kind is CollectiveKind.GATHER else is_root[:, None]
    source, target = np.nonzero(wanted)
    return topology.endpoints[source].astype(np.int64), topology.endpoints[target].astype(np.int64), count[source, target]
