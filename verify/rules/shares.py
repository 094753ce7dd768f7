"""Rule `shares`: in a collective with targets every block of the message has the same number of chunks."""

import numpy as np
from numpy.typing import NDArray

from certree.models.schedule.collective import CollectiveKind
from certree.models.schedule.schedule import Schedule
from certree.verify.rule import Stage, check, rule
from certree.verify.verdict import LISTED_PER_RULE, Findings

Int64 = NDArray[np.int64]


@check(stage=Stage.FORM, base_suffices=True)
@rule(
    "shares",
    "all-to-all, gather, scatter: a chunk starts at its own target, or blocks have unequal numbers of chunks",
    "full:3 scatter@0 targets=1,1: copy 0 0>1 @0; copy 1 0>1 @1",
)
def check_shares(schedule: Schedule, findings: Findings) -> None:
    """Report chunks that stay where they are, and blocks that have fewer chunks than the largest one has.

    A block is the data of one endpoint for another one: each ordered pair in an all-to-all, each endpoint but the root in a gather
    or scatter. With unequal or missing blocks the schedule would move less than the message that it is timed for.
    O(chunks log chunks).
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
    if not schedule.has_sizes:  # else rule `demand` says how much each block has
        _check_blocks(schedule, schedule.chunk_target, findings)


def _check_blocks(schedule: Schedule, chunk_target: NDArray[np.int32], findings: Findings) -> None:
    """Report the blocks that have fewer chunks than the largest. Counts the blocks in the schedule, not all possible ones: a
    network may have a million endpoints, and a file may name only two of its blocks."""
    ranks = len(schedule.collective.members_of(schedule.topology))
    moves = schedule.chunk_root != chunk_target
    present, count = np.unique(_numbers(schedule, schedule.chunk_root[moves], chunk_target[moves]), return_counts=True)
    if not len(present):
        return
    full = present[count == count.max()]
    blocks = ranks - 1 if schedule.collective.has_one_root else ranks * (ranks - 1)
    listed = np.setdiff1d(np.arange(min(blocks, len(full) + LISTED_PER_RULE)), full, assume_unique=True)
    chunks = dict(zip(present.tolist(), count.tolist(), strict=True))

    def having(block: int) -> str:
        source, target = _ends(schedule, block)
        return f"{chunks.get(block, 0)} chunk(s) from node {source} to node {target}"

    def tell_short(block: int) -> tuple[int, tuple[int, ...], str]:
        few, most = having(block), having(int(full[0]))
        return 0, (), f"{few}, but {most}: {schedule.collective.words} has equally many for each"

    findings.add_each("shares", listed.tolist(), tell_short)
    findings.add_unlisted("shares", blocks - len(full) - len(listed))


def _numbers(schedule: Schedule, source: NDArray[np.int32], target: NDArray[np.int32]) -> Int64:
    """The number of each block, in the order of source, then target, without those from a node to itself."""
    members = schedule.collective.members_of(schedule.topology)
    start, end = np.searchsorted(members, source), np.searchsorted(members, target)
    match schedule.collective.kind:
        case CollectiveKind.GATHER:
            return np.asarray(start - (start > end))
        case CollectiveKind.SCATTER:
            return np.asarray(end - (end > start))
    return np.asarray(start * (len(members) - 1) + end - (end > start))


def _ends(schedule: Schedule, block: int) -> tuple[int, int]:
    """Source and target (node ids) of the block of that number."""
    members, root = schedule.collective.members_of(schedule.topology), schedule.collective.root
    if root is None:
        source, other = divmod(block, len(members) - 1)
        return int(members[source]), int(members[other + (other >= source)])
    other = int(members[block + (block >= np.searchsorted(members, root))])
    return (other, root) if schedule.collective.kind is CollectiveKind.GATHER else (root, other)
