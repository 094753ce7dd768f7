"""Message streams between engines, and the number of messages of each that a port holds."""

import numpy as np
from numpy.typing import NDArray

from certree.extras.endpoints.run.messages import ChunkRows

Int64 = NDArray[np.int64]


def flow_columns(rows: ChunkRows, machines: list[int], *, spare: bool, apart: bool) -> dict[str, Int64]:
    """The streams of messages into ports, by last link, sender and phase; and the number of messages of each that a port holds, per
    state machine (`apart`) or for all that can be active.

    In a phase in which every node sends to and receives from one other, and no two messages wait for the same one (a ring): the
    messages that a chunk sends before it has taken any, and one more; without the additional place no port could take a message and
    send the next (AceEngine.tla). In other phases: all of a chunk's messages, so that a chunk whose turn it is never waits for
    room. Without `spare`: the messages that are sent before any is taken. Chunks of one part use every N-th state machine where
    the number of state machines is a multiple of the N parts, otherwise all. O(rows log rows)."""
    begin, pair = rows.links()
    earlier, later = rows.waits()
    phase, part, source = (rows.of_messages(name) for name in ("phase", "part", "src"))
    within = phase[earlier] == phase[later]
    earlier, later = earlier[within], later[within]
    begins = np.ones(len(phase), bool)
    begins[later] = False
    one_each = _wait_for_one_each(rows, earlier, later)
    last = pair[begin[1:] - 1]
    nodes = len(rows.schedule.topology.endpoints)
    flow, first, row_flow = np.unique((last * nodes + source) * rows.phases + phase, return_index=True, return_inverse=True)
    at_work = np.ones(rows.phases, np.int64)
    if not apart:
        count = np.array(machines)
        at_work = np.where(count % rows.parts == 0, count // rows.parts, count)
    depth = np.zeros(len(flow), np.int64)
    for number in range(rows.parts):
        own = part == number
        ring = _is_ring(rows, own) & one_each
        counted = own & np.where(ring[phase] | (not spare), begins, True)
        need = np.bincount(row_flow[counted], minlength=len(flow)) * at_work[phase[first]]
        depth = np.maximum(depth, need) if apart else depth + need
    if spare:
        ring = np.logical_and.reduce([_is_ring(rows, part == number) for number in range(rows.parts)]) & one_each
        of_link = np.append(True, last[first][1:] != last[first][:-1])
        depth += (of_link | apart) & ring[phase[first]]
    return {
        "row_flow": row_flow,
        "flow_link": last[first],
        "flow_phase": phase[first],
        "flow_depth": np.maximum(depth, 1),
    }


def _wait_for_one_each(rows: ChunkRows, earlier: Int64, later: Int64) -> NDArray[np.bool_]:
    """For every phase: whether no two messages have the same last dependency."""
    step, phase = rows.of_messages("step"), rows.of_messages("phase")
    order = np.lexsort((step[earlier], later))
    earlier, later = earlier[order], later[order]
    last = earlier[np.append(later[1:] != later[:-1], True)[: len(later)]]
    found, count = np.unique(last, return_counts=True)
    alone = np.ones(rows.phases, bool)
    alone[phase[found[count > 1]]] = False
    return alone


def _is_ring(rows: ChunkRows, own: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """For every phase: whether every node sends these messages to at most one other node and receives them from at most one."""
    phase, source, target = (rows.of_messages(name)[own] for name in ("phase", "src", "dst"))
    phase, source, target = np.unique(np.stack((phase, source, target)), axis=1)
    alone = np.ones(rows.phases, bool)
    for end in (source, target):
        place = phase * (int(end.max(initial=0)) + 1) + end
        _, first, count = np.unique(place, return_index=True, return_counts=True)
        alone[phase[first[count > 1]]] = False
    return alone
