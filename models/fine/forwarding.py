"""Forwarding without planned waits: a lane serves messages in the order in which their heads come, each as early as it can.

Tables say when messages leave their node and not when they enter the further links of their routes. Planned waits (sentence F14 of
docs/decisions/0009-fine-slots.md) are therefore kept exactly where this order gives the same times: `unkept_waits`.
"""

from collections.abc import Iterator
from heapq import heapreplace

import numpy as np

from certree.models.fine.slots import FineTimes, Int64, fine_times
from certree.models.schedule.schedule import Schedule


def unkept_waits(schedule: Schedule) -> Iterator[str]:
    """A sentence for each message that enters a link at another time than its waits say, where lanes serve one iteration by itself
    first come, first served; none where all waits are kept, in every iteration.

    One iteration is enough where reservations are disjoint: while a message waits all lanes of its link are taken by messages of
    its own iteration, and no message of another one can come between. It is needed where iterations repeat: the first and the last
    of them have no other one before or behind. Of messages that come to a link in one cycle the one from the lower link goes first
    (M5 of docs/reference/tables.md); where both come over the same link it is not known which. O(uses log uses).
    """
    if not schedule.plans_waits:
        return
    times = fine_times(schedule)
    uses = times.reservations
    starts = np.append(True, np.diff(uses.row) != 0)
    before = np.where(starts, 0, np.append(0, uses.wait[:-1]))  # at the router in front of the link
    own = len(schedule.topology.pair_capacity)  # a node's own messages go last
    source = np.where(starts, own, np.append(0, uses.pair[:-1]))  # the link over which each one comes
    contended = np.flatnonzero(np.isin(uses.pair, uses.pair[before > 0]))
    came = uses.entry - before
    order = contended[np.lexsort((source[contended], came[contended], uses.pair[contended]))]
    for at in np.split(order, np.flatnonzero(np.diff(uses.pair[order])) + 1):
        yield from _unkept_at(schedule, times, at, np.stack((came[at], source[at])))


def _unkept_at(schedule: Schedule, times: FineTimes, uses: Int64, came: Int64) -> Iterator[str]:
    """The bookings that are not kept at one link. `uses`: in the order in which they come; `came`: when, and over which link."""
    topology, pair = schedule.topology, int(times.reservations.pair[uses[0]])
    free = [0] * min(len(uses), int(topology.pair_capacity[pair]))  # no more of its lanes are ever taken
    ends = f"{topology.pair_src[pair]}>{topology.pair_dst[pair]}"
    rows, entries = times.reservations.row[uses].tolist(), times.reservations.entry[uses].tolist()
    for place, (row, come, planned) in enumerate(zip(rows, came[0].tolist(), entries, strict=True)):
        entry = max(come, free[0])
        heapreplace(free, entry + int(times.length[row]))
        who = f"step {schedule.step[row]}: the message from node {schedule.src[row]} to node {schedule.dst[row]}"
        if place and (came[:, place - 1] == came[:, place]).all() and entries[place - 1] != planned:
            yield f"{who} comes to link {ends} in the same cycle and over the same link as another one: either may wait"
            return
        if entry != planned:
            yield (
                f"{who} is to enter link {ends} in cycle {planned}; routers send on first come, first served, and as early as they "
                f"can: it would enter in cycle {entry}"
            )
            return
