"""How far clocks may differ where rows fire in fine slots: sentence F17 of docs/decisions/0009-fine-slots.md, in closed form."""

from fractions import Fraction
from heapq import heappush, heappushpop
from math import ceil

import numpy as np

from certree.models.fine.slots import FineTimes, Int64, fine_times
from certree.models.network.topology import Int32
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import Op
from certree.models.schedule.timing import MAX_CYCLES


def skew_tolerance(schedule: Schedule) -> int | None:
    """The largest s found with which everything stays right, on time and without contention, where the counters of nodes start in
    cycles 0 .. s; None where no message leaves its node. O(uses log uses · log s).

    A message of a node that starts late enters all lanes of its route, and arrives, up to s cycles later. Sufficient are
    - on each lane ser + s cycles between messages of different nodes;
    - whatever is read, or overtaken by a copy, has landed s cycles before: a sum also behind all that may come before it then,
      those that are complete up to s cycles later;
    - landings are moved by less than the fewest cycles that a message takes: nothing arrives before what reads the old data;
    - no planned waits, which depend on others.
    """
    if not (schedule.src != schedule.dst).any():
        return None
    if schedule.plans_waits:
        return 0
    times = fine_times(schedule)
    low, high = 0, min(_shortest(times) - 1, _gap(times))
    if times.period is not None:
        high = min(high, 8 * times.period)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if _is_in_time(times, middle) else (low, middle - 1)
    return low


def tolerates(schedule: Schedule, skew: int) -> bool:
    """Whether everything stays right with counters that start up to `skew` cycles apart, by the same conditions."""
    if not (schedule.src != schedule.dst).any():
        return True
    if schedule.plans_waits:
        return skew == 0
    times = fine_times(schedule)
    return skew <= min(_shortest(times) - 1, _gap(times)) and _is_in_time(times, skew)


def spread_of(skew: int, drift: Fraction, cycles: int) -> int:
    """The largest number of cycles between counters that start up to `skew` apart and drift by up to `drift` in either
    direction: over the H cycles of a run these come apart by 2·drift·H + 1."""
    return skew + (ceil(2 * drift * cycles) + 1 if drift else 0)


def tolerates_clocks(schedule: Schedule, skew: int, drift: Fraction) -> bool:
    """Whether everything stays right with counters of this `skew` and `drift` (`spread_of`)."""
    if not drift:
        return tolerates(schedule, skew)
    times = fine_times(schedule)
    if times.schedule.is_repeating and times.work.max() > (1 - drift) * (times.period or 0):
        return False
    return tolerates(schedule, spread_of(skew, drift, times.cycles))


def drift_tolerance(schedule: Schedule) -> Fraction | None:
    """The largest drift found, in either direction, of counters that start together: over the H cycles of a run they come apart by
    2·drift·H + 1 cycles, which `skew_tolerance` must hold; and reduction units keep up with periods that are shorter by it."""
    skew = skew_tolerance(schedule)
    if skew is None:
        return None
    times = fine_times(schedule)
    drift = Fraction(max(0, skew - 1), 2 * max(1, times.cycles))
    if times.period is not None:
        drift = min(drift, 1 - Fraction(int(times.work.max()), times.period))
    return drift


def _shortest(times: FineTimes) -> int:
    return int((times.latency + times.length)[times.schedule.src != times.schedule.dst].min())


def _gap(times: FineTimes) -> int:
    """The fewest cycles that a lane is free between messages of different nodes."""
    uses, topology = times.reservations, times.schedule.topology
    pairs = len(topology.pair_capacity)
    parallel = np.bincount(topology.pair_of_link, minlength=pairs)[topology.pair_of_link] > 1
    named = np.flatnonzero((uses.link >= 0) & parallel[np.maximum(uses.link, 0)])
    place = np.concatenate((uses.pair, pairs + uses.link[named]))
    row, entry = np.concatenate((uses.row, uses.row[named])), np.concatenate((uses.entry, uses.entry[named]))
    place, row, entry = times.repeated(place, row, entry)
    order = np.lexsort((entry, place))
    place, row, entry = place[order], row[order], entry[order]
    lanes = np.concatenate((topology.pair_capacity, topology.capacity.astype(np.int64)))[place]
    if times.schedule.has_sizes:
        return min(_shortest(times), _least_gap(place, entry, entry + times.length[row], lanes))
    before = np.arange(len(place)) - lanes
    near = before >= 0
    near[near] = place[before[near]] == place[near]
    source = times.schedule.src[row]
    mixed = np.concatenate(([0], np.cumsum((np.diff(source) != 0) | (np.diff(place) != 0))))  # changes of node up to each use
    near[near] = mixed[near] > mixed[before[near]]
    return int((entry[near] - entry[before[near]] - times.ser).min(initial=_shortest(times)))


def _least_gap(place: Int64, entry: Int64, end: Int64, lanes: Int64) -> int:
    """The least gap of messages of several lengths, in the order of (place, entry), of any senders: the fewest cycles by which
    all could end later with no more of them on a link than it has lanes. O(uses log lanes)."""
    least, here, ends = MAX_CYCLES, -1, list[int]()
    for link, start, until, width in zip(place.tolist(), entry.tolist(), end.tolist(), lanes.tolist(), strict=True):
        if link != here:
            here, ends = link, []
        if len(ends) < width:
            heappush(ends, until)
            continue
        least = min(least, start - ends[0])
        heappushpop(ends, until)
    return least


def _is_in_time(times: FineTimes, skew: int) -> bool:
    """Whether all that is read or overtaken has landed, if everything may come `skew` cycles later."""
    schedule, landing = times.schedule, _latest(times, skew)
    if (landing - times.landing).max() >= _shortest(times):
        return False
    zero = np.zeros(schedule.transfers, np.int32)
    cells = [
        (node.astype(np.int64) * schedule.chunks + schedule.chunk) * schedule.buffers + (zero if buffer is None else buffer)
        for node, buffer in ((schedule.src, schedule.src_buffer), (schedule.dst, schedule.dst_buffer))
    ]
    reads, writes = cells
    copies, everyone = schedule.op == Op.COPY, np.ones(schedule.transfers, np.bool_)
    for asks, cell, counted in ((everyone, reads, everyone), (copies, writes, everyone), (~copies, writes, copies)):
        last = _last_before(cell[asks], schedule.step[asks], writes[counted], schedule.step[counted], landing[counted])
        if (last > times.fire[asks]).any():
            return False
    return True


def _last_before(cell: Int64, step: Int32, writes: Int64, sent: Int32, landing: Int64) -> Int64:
    """For each (cell, step) the last landing of what was sent into the cell in earlier steps; 0 where there is none."""
    if not len(writes):
        return np.zeros(len(cell), np.int64)
    span = int(max(step.max(initial=0), sent.max())) + 1
    key = writes * span + sent.astype(np.int64)
    order = np.argsort(key, kind="stable")
    values, rank = np.unique(landing[order], return_inverse=True)
    known, place = np.unique(writes[order], return_inverse=True)
    latest = np.maximum.accumulate(place * len(values) + rank)
    found = np.searchsorted(key[order], cell * span + step) - 1
    there = found >= 0
    there[there] = known[latest[found[there]] // len(values)] == cell[there]
    last = np.zeros(len(cell), np.int64)
    last[there] = values[latest[found[there]] % len(values)]
    return last


def _latest(times: FineTimes, skew: int) -> Int64:
    """The cycle by which what each row carries has landed at the latest."""
    schedule, arrived = times.schedule, times.arrival
    landing = arrived + np.where(schedule.src == schedule.dst, 0, skew)
    rows = np.flatnonzero(schedule.op == Op.REDUCE)
    if not len(rows):
        return landing
    node, ready = schedule.dst[rows].astype(np.int64), arrived[rows] + times.machine.reduce_start_cycles
    done = ready + times.served(node, ready)
    every, when = node, ready
    if times.period is not None:  # iterations without end: those that have begun, and as many behind as may come before
        many = 3 + skew // times.period
        start = ready % times.period
        when = np.concatenate([start + times.period * turn for turn in range(many)])
        every = np.tile(node, many)
        done, shift = when + times.served(every, when), ready - start - times.period
        ready = start + times.period  # in the second period the backlog is that of all
    else:
        shift = np.zeros(len(rows), np.int64)
    order = np.lexsort((when, every))
    span = int(when.max()) + skew + 2
    at = np.searchsorted(every[order] * span + when[order], node * span + np.minimum(ready + skew, span - 1), side="right") - 1
    landing[rows] = skew + done[order][at] + shift
    return landing
