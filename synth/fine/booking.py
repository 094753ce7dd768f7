"""Programs for the list scheduler: their rows, the least cycles of any booking, the cycles that remain after each row, local
search, and rows that a booking does not need."""

from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.models.common.columns import flat
from certree.models.common.errors import UnsupportedError
from certree.models.fine.list_jobs import NONE, Booked, Costs, Int32, Int64, Order, Rows, Turns
from certree.models.fine.list_scheduler import ListScheduler
from certree.models.schedule.schedule_columns import Op
from certree.synth._native import search
from certree.synth.fine.order import order_of
from certree.synth.fine.program import COLUMNS, Program, parallel_links

NEVER = 1 << 60  # cycles


def rows_of(program: Program) -> Rows:
    """The rows of a program."""
    topology = program.topology
    return Rows(
        src=program.src,
        dst=program.dst,
        adds=(program.op == Op.REDUCE).astype(np.uint8),
        routes=program.routes,
        lanes=topology.capacity.astype(np.int32),
        parallel=parallel_links(topology),
        nodes=len(topology.kind),
        links=np.arange(len(topology.src)),
    )


def booked_end(program: Program, costs: Costs) -> int:
    """The end, as a cycle, of a program that is booked in the order of its rows; NEVER where it cannot be booked."""
    try:
        scheduler = ListScheduler(rows_of(program), order_of(program))
        return min(scheduler.run(costs, turns).end for turns in islice(Turns.in_each_way(np.arange(program.rows)), 2))
    except UnsupportedError:
        return NEVER


def searched_turns(
    scheduler: ListScheduler, costs: Costs, turns: Turns, groups: tuple[Int32, Int32], tries: int, bound: int, seed: int
) -> Turns:
    """The best turns that a local search finds, starting from `turns`; it stops at a booking that ends in cycle `bound`. `groups`:
    the family and the part of the message of each row (`synth/native/fine/fine_search.hpp`). O(tries) times `ListScheduler.run`."""
    times, hop = scheduler.cycles(costs)
    first, release, patient, apart = turns.priority, turns.release, turns.patient, turns.apart
    _, priority, release = search(scheduler.jobs, times, hop, first, release, patient, apart, *groups, tries, bound, seed)
    return replace(turns, priority=priority, release=release)


def least_cycles(program: Program, costs: Costs) -> int:
    """The largest of three lower bounds: the longest chain of transfers, each of which waits for all data that reach the cell that
    it reads; the busiest link, which carries one message after the other; and the busiest reduction unit, which does likewise.

    Cycles from the first message that can be on a link until everything has landed. O(hops log hops + rows log rows + stages).
    """
    if not program.rows:
        return 0
    link, begin = flat(program.routes)
    lengths = np.diff(begin)
    row = np.repeat(np.arange(program.rows), lengths)
    hop = np.array(costs.hop, np.int64)[link]
    whole = np.bincount(row, hop, program.rows).astype(np.int64)
    is_added = (program.op == Op.REDUCE) & (lengths > 0)
    flight = np.where(lengths > 0, whole + costs.ends + costs.ser, 0)  # the source of a local copy may be read before it is made
    added = np.where(is_added, costs.start + costs.red, 0)
    sent = _earliest(program, flight + added)
    arrived = sent + flight
    passed = np.cumsum(hop) - hop
    before = passed - passed[begin[row]]
    pair, lanes = program.topology.pair_of_link[link], program.topology.pair_capacity
    links = _queues(pair, sent[row] + before, whole[row] - before + costs.ends + added[row], lanes, costs.ser)
    one = np.ones(len(program.topology.kind), np.int64)
    nodes, start = program.dst[is_added], np.full(int(is_added.sum()), costs.start)
    return max(int((arrived + added).max()), links, _queues(nodes, arrived[is_added], start, one, costs.red))


def _queues(at: NDArray[Any], since: Int64, rest: Int64, lanes: NDArray[Any], each: int) -> int:
    """A lower bound on the end of messages that queue `at` a place from cycle `since` on, each for `each` cycles on one of its
    lanes, and then take `rest` more cycles. Of any number of messages that come last, at least the first must wait for its turn."""
    if not len(at):
        return 0
    order = np.lexsort((since, at))
    at, since = at[order], since[order]
    ends = np.searchsorted(at, at, side="right")
    least = np.full(int(at[-1]) + 1, np.iinfo(np.int64).max)
    np.minimum.at(least, at, rest[order])
    turns = -(-(ends - np.arange(len(at))) // lanes[at])
    return int((since + turns * each + least[at]).max())


def _earliest(program: Program, flight: Int64) -> Int64:
    """The cycle in which each row can be sent, if nothing queues."""
    read, written = program.cells()
    ready = np.zeros(int(max(read.max(), written.max())) + 1, np.int64)
    sent = np.zeros(program.rows, np.int64)
    after: dict[int, list[NDArray[np.intp]]] = {}
    order = np.argsort(program.reads, kind="stable")
    bounds = np.flatnonzero(np.diff(program.reads[order]) != 0) + 1
    for rows in np.split(order, bounds):
        stage = int(program.reads[rows[0]])
        for earlier in [one for one in sorted(after) if one < stage]:
            for those in after.pop(earlier):
                np.maximum.at(ready, written[those], sent[those] + flight[those])
        sent[rows] = ready[read[rows]]
        for writes in np.unique(program.writes[rows]).tolist():
            after.setdefault(writes, []).append(rows[program.writes[rows] == writes])
    return sent


def rests(program: Program, order: Order, booked: Booked) -> Int64:
    """The cycles from the firing of each row to the end of all rows that depend on it, without other traffic."""
    rest = (booked.landed - booked.fire).tolist()
    waiting, landed, opens = order.waits, list(order.when_landed), [0] * len(order.needs)  # opens: by gate, the longest rest
    for row in np.argsort(-booked.fire, kind="stable").tolist():
        own = rest[row] + max((opens[gate] for gate in landed[row]), default=0)
        rest[row] = own
        for gate in waiting[row]:
            opens[gate] = max(opens[gate], own)
    return np.array(rest, np.int64)


def without_unread_copies(program: Program, order: Order, booked: Booked) -> tuple[Program, Int64]:
    """The program without the local copies that no transfer reads, if transfers that leave before a copy is made read the original;
    and the numbers of the rows that are left."""
    original, copy = booked.reads_original, np.array(order.original_of, np.int64)
    src_buffer = program.src_buffer.copy()
    src_buffer[original] = program.src_buffer[copy[original]]
    unread = np.setdiff1d(copy[copy != NONE], copy[(copy != NONE) & ~original])
    kept = np.setdiff1d(np.arange(program.rows), unread)
    columns = {name: getattr(program, name)[kept] for name in COLUMNS}
    block = np.unique(columns["block"], return_inverse=True)[1].astype(np.int32)
    columns |= {"src_buffer": src_buffer[kept], "block": block}
    return replace(program, **columns, routes=tuple(program.routes[row] for row in kept.tolist())), kept
