"""A short proof for schedules in which every chunk travels along trees, the usual kind: no row needs to be executed.

*Copies.* The rows are copies, each (chunk, endpoint) but the chunk's root receives exactly one, the root none, and each copy leaves
when the one into its source has landed, or from the root (`starts`). Then every endpoint ends with the chunk: by induction over the
steps each copy carries the root's, since what a node holds after its one arrival never changes.

*Reduces.* Each (chunk, endpoint) but one, its root, sends exactly one reduce, the root none, and what lands at a node lands before
its own one leaves. Steps rise along every path of reduces, so none closes a circle and all end at the root. A node sends
its own contribution and what its senders sent, which by induction are those of separate subtrees: nothing is counted twice, and
the root ends with all of them.

*Both.* In an all-reduce the copies start at the root of the reduces, once the last reduce into it has landed. A copy into another
node lands after that node's own reduce has left, so neither meets the reduces into it.

*Targets.* The rows are copies, and those of a chunk, by their steps, lead from its root to its target: each leaves where the one
before it has landed by then. No node receives a chunk twice, and the root none. By the same induction each carries the root's.

In all cases no cell gets a copy together with another transfer, no transfer leaves an empty cell and no reduce enters one: none of
the rules of `semantics` and `check_writes` is broken. Schedules of other shapes may be valid too; the abstract machine decides.
"""

from collections.abc import Iterator
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from certree.models.fine.slots import landing_steps
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import Op

_BLOCK = 1 << 18  # rows at a time: reused memory need not be requested from the system
_NEVER = np.iinfo(np.int32).max  # a step after all others: step + delay stays below it

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]


@lru_cache(maxsize=1)
def flows_along_trees(schedule: Schedule) -> bool:
    """Whether the proof above holds for a schedule whose rows all run between different nodes that hold data.

    False proves nothing, as for any schedule with several buffers or of some endpoints only, and without targets any with fine
    slots. Kept for the schedule that was asked about last. O(transfers) time and 4 bytes of memory per chunk and endpoint; with
    targets O(transfers log transfers) time and O(transfers) memory.
    """
    if schedule.buffers > 1 or schedule.collective.members is not None:
        return False
    if (schedule.topology.holds & (schedule.topology.rank < 0)).any():  # switches that hold data
        return False
    if schedule.collective.has_targets:
        return _carried(schedule)
    collective, ranks = schedule.collective, len(schedule.topology.endpoints)
    edges = schedule.chunks * (ranks - 1)
    reduces = int(np.count_nonzero(schedule.op == Op.REDUCE))
    if schedule.has_fine_slots or (reduces, schedule.transfers - reduces) != (
        edges * collective.reduces,
        edges * collective.gathers,
    ):
        return False
    roots, starts = _roots(schedule), np.zeros(schedule.chunks, np.int32)
    if collective.reduces:
        found = _reduced(schedule)
        if found is None or (collective.is_rooted and (found[0] != roots).any()):
            return False
        roots, starts = found
    return not collective.gathers or _copied(schedule, roots, starts)


def _carried(schedule: Schedule) -> bool:
    """Whether copies bring every chunk from its root to its target along a path."""
    if schedule.chunk_target is None or not schedule.transfers or (schedule.op != Op.COPY).any():
        return False
    order = np.lexsort((schedule.step, schedule.chunk))
    chunk, step, src, dst = (getattr(schedule, name)[order] for name in ("chunk", "step", "src", "dst"))
    landed = landing_steps(schedule)[order]
    first = np.append(True, chunk[1:] != chunk[:-1])
    last, onward = np.append(first[1:], True), np.flatnonzero(~first)
    if first.sum() != schedule.chunks or (src[first] != schedule.chunk_root).any() or (dst[last] != schedule.chunk_target).any():
        return False
    if (src[onward] != dst[onward - 1]).any() or (landed[onward - 1] > step[onward]).any():
        return False
    reached = np.sort(chunk * np.int64(len(schedule.topology.kind)) + dst)
    return not ((reached[1:] == reached[:-1]).any() or (dst == schedule.chunk_root[chunk]).any())


def _roots(schedule: Schedule) -> Int64:
    """The cell (chunk · endpoints + rank) of every chunk's root."""
    ranks = len(schedule.topology.endpoints)
    return np.arange(schedule.chunks) * ranks + schedule.topology.rank[schedule.chunk_root]


def _rows(schedule: Schedule, op: Op) -> Iterator[tuple[Int32, Int32, Int64, Int64]]:
    """(chunk, step, cell of the source, cell of the destination) of the rows of one kind, block by block."""
    rank, ranks = schedule.topology.rank, len(schedule.topology.endpoints)
    every_node = ranks == len(rank)
    for low in range(0, schedule.transfers, _BLOCK):
        block = slice(low, low + _BLOCK)
        of_kind = schedule.op[block] == op
        chunk, step, src, dst = (getattr(schedule, name)[block] for name in ("chunk", "step", "src", "dst"))
        if not of_kind.all():
            chunk, step, src, dst = chunk[of_kind], step[of_kind], src[of_kind], dst[of_kind]
        first = chunk * np.int64(ranks)
        yield (chunk, step, first + src, first + dst) if every_node else (chunk, step, first + rank[src], first + rank[dst])


def _reduced(schedule: Schedule) -> tuple[Int64, Int32] | None:
    """(cell of the root of each chunk, step from which on it holds the sum), where all reduces are trees; None elsewhere."""
    ranks = len(schedule.topology.endpoints)
    left = np.full(schedule.chunks * ranks, -1, np.int32)
    for _, step, source, _ in _rows(schedule, Op.REDUCE):
        left[source] = step
    roots = np.flatnonzero(left < 0)
    if len(roots) != schedule.chunks or (roots // ranks != np.arange(schedule.chunks)).any():
        return None
    left[roots] = _NEVER
    delay, complete = np.int32(schedule.delay), np.zeros(schedule.chunks, np.int32)
    for chunk, step, _, target in _rows(schedule, Op.REDUCE):
        leaves = left[target]
        if (leaves < step + delay).any():
            return None
        at_root = leaves == _NEVER
        np.maximum.at(complete, chunk[at_root], step[at_root] + delay)
    return roots, complete


def _copied(schedule: Schedule, roots: Int64, starts: Int32) -> bool:
    """Whether all copies are trees from these cells, which hold the chunk from the step `starts` on."""
    landed = np.full(schedule.chunks * len(schedule.topology.endpoints), -1, np.int32)
    for _, step, _, target in _rows(schedule, Op.COPY):
        landed[target] = step + np.int32(schedule.delay)
    if (landed[roots] >= 0).any() or np.count_nonzero(landed < 0) != schedule.chunks:
        return False
    landed[roots] = starts
    return all((landed[source] <= step).all() for _, step, source, _ in _rows(schedule, Op.COPY))
