"""The list scheduler: each transfer in the first cycle in which what it carries is there and all links of its route are free.

It is in C++, `models/native/fine`. It books transfers *by events* (`ListScheduler.run`), in the order of their times, so that
reduction units serve what arrives as `models.fine.slots` says; or *in a stated order* (`in_order`), where units are reserved as
links are. A transfer that can be sent books its links at once, from the first cycle in which all of them are free: gaps between
earlier bookings are used. `ListScheduler.forwarded` has messages wait at routers instead.

Both take links that others have reserved, releases of data, further resources of transfers such as the credits of virtual
channels (`with_credits`), waits that are planned on a route (as offsets of its places), and, by events, operands that are added
in a stated order (`Order.follows`). Time O(rows · hops · (log rows + bookings passed over)), memory O(rows · hops + lanes).
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from certree.models._lists import FineJobs, book_in_order
from certree.models.common.columns import flat
from certree.models.common.errors import UnsupportedError
from certree.models.fine.list_jobs import (
    NONE,
    Booked,
    Cells,
    Channels,
    Costs,
    Forwarded,
    Int32,
    Int64,
    Order,
    Places,
    Ragged,
    Reserved,
    Rows,
    Sharing,
    Turns,
)

_REFUSED = {
    1: "transfers wait for each other in a circle: no order without more buffers",
    2: "transfers that have to leave in one cycle meet on a link; more buffers would part them",
}


class ListScheduler:
    """The list scheduler for some rows (`transfers`) and what waits for what (`order`), on links of which some time is `reserved`.
    O(rows + hops)."""

    def __init__(self, rows: Rows, order: Order, reserved: Reserved | None = None) -> None:
        self.transfers, self.order, self.reserved = rows, order, reserved or Reserved.none()
        self._links, self.rows = rows.links, len(rows.routes)
        self.work = self.rows + sum(map(len, rows.routes))
        self.jobs = FineJobs(
            rows.src.astype(np.int32),
            rows.dst.astype(np.int32),
            rows.adds,
            _column(order.needs),
            _column(order.original_of),
            _column(order.group),
            rows.lanes,
            rows.nodes,
            [
                _ragged(column)
                for column in (rows.routes, order.when_sent, order.when_landed, order.opens, order.groups, rows.parallel)
            ],
            np.full(self.rows, NONE, np.int32) if order.follows is None else _column(order.follows),
            rows.holds.columns(self.rows),
            self.reserved.columns,
            np.zeros(0, np.int64),  # all messages have one length
        )

    def run(self, costs: Costs, turns: Turns | None = None) -> Booked:
        """The booking; by default in the order of the rows. UnsupportedError where transfers that have to leave together meet on a
        link. O(rows · hops · log rows)."""
        turns = Turns.first_of(np.arange(self.rows, dtype=np.int64)) if turns is None else turns
        times, hop = self.cycles(costs)
        found = self.jobs.book(times, hop, turns.priority, turns.release, turns.patient, turns.apart)
        outcome, fire, landed, link, reads = found
        if outcome:
            raise UnsupportedError(_REFUSED[outcome])
        return Booked(fire, landed, link, reads.astype(np.bool_))

    def forwarded(self, costs: Costs, turns: Turns, channels: Channels, rounds: int) -> Forwarded:
        """A paced run, in which messages wait at routers, first come, first served; a message without a buffer to wait in leaves
        later, for up to `rounds` times. Without groups and parallel links, further resources and what others have reserved.
        UnsupportedError as `run`. O(rounds) times `run`."""
        if len(self.transfers.holds.row) or len(self.reserved.resource):
            raise UnsupportedError("messages that wait at routers share their links with nobody, and hold nothing else")
        times, hop = self.cycles(costs)
        layer, route, layers, parts = channels.layer, channels.route, channels.layers, channels.parts
        found = self.jobs.forward(times, hop, turns.priority, turns.release, layer, route, layers, parts, channels.room, rounds)
        outcome, fire, landed, reads, wait, channel, crowded = found
        if outcome:
            raise UnsupportedError(_REFUSED[outcome])
        link = np.array([route[0] if len(route) == 1 else -1 for route in self.transfers.routes], np.int32)
        return Forwarded(Booked(fire, landed, link, reads.astype(np.bool_)), wait, channel, crowded)

    def cycles(self, costs: Costs) -> tuple[list[int], Int64]:
        """The cycles for the core: of messages, sums, ends, starts and slots, and by link."""
        times = [costs.ser, costs.red, costs.ends, costs.start, costs.slot]
        return times, np.array(costs.hop, np.int64)[self._links]


def in_order(
    places: Places,
    cells: Cells,
    lanes: Int64,
    slot: int,
    sharing: Sharing,
    guard: int = 0,
    reserved: Reserved | None = None,
) -> tuple[Int64, int]:
    """The cycle in which each row leaves, one of slots of `slot` cycles, and NONE; or the first group that found no common slot.

    Rows are booked group by group: each leaves when all that it reads has landed, what reads the cell that it writes has left, and
    no copy is under way there, nor, if it copies, anything. `lanes`: of each resource. `guard`: cycles between messages of
    different sources on a resource, where these are shared by `Sharing.MEETS`. O(places · (log places + bookings passed over)).
    """
    rows = len(cells.reads)
    release = np.zeros(rows, np.int64) if cells.release is None else cells.release
    before = reserved or Reserved.none()
    most = np.bincount(np.append(places.resource, before.resource), minlength=len(lanes)) + 1
    fire, met = book_in_order(
        (cells.begin.astype(np.int32), cells.rows.astype(np.int32)),
        places.columns(rows),
        cells.reads.astype(np.int32),
        cells.writes.astype(np.int32),
        cells.copies.astype(np.uint8),
        cells.lands,
        release,
        np.minimum(lanes, most).astype(np.int32),
        before.columns,
        slot,
        guard,
        int(sharing),
    )
    return fire, int(met)


def with_credits(rows: Rows, channel: Int32, costs: Costs, room: int, loop: int) -> Rows:
    """The rows, whose flits each take one of `room` credits of the virtual channel of their row on a link for `loop` cycles.

    A message takes as many as it has flits on the way before the first credit is back, until the last one is. UnsupportedError
    where there is not enough room for one message. O(hops log hops).
    """
    link, begin = flat(rows.routes)
    row = np.repeat(np.arange(len(rows.routes)), np.diff(begin))
    hop = np.array(costs.hop, np.int64)[rows.links][link]
    after = np.cumsum(hop) - hop
    after -= after[begin[row]]
    pools, pool = np.unique(link * (int(channel.max(initial=0)) + 1) + channel[row], return_inverse=True)
    each = room // min(costs.ser, loop)
    if each < 1:
        raise UnsupportedError(f"{room} credits: a message takes {min(costs.ser, loop)}")
    length = np.full(len(row), costs.ser + loop, np.int64)
    holds = Places(row, len(rows.lanes) + pool, rows.src.astype(np.int64)[row], after, length)
    lanes = np.concatenate((rows.lanes, np.full(len(pools), each, np.int32)))
    return replace(rows, lanes=lanes, holds=holds)


def _column(values: Sequence[int]) -> Int32:
    return np.array(values, np.int32)


def _ragged(rows: Sequence[Sequence[int]]) -> tuple[Int32, Int32]:
    """Offsets and values of rows of any lengths."""
    if isinstance(rows, Ragged):
        return rows.begin, rows.values
    values, begin = flat(rows)
    return begin.astype(np.int32), values.astype(np.int32)
