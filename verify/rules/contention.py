"""Rules `capacity` and `period`: no link carries more than it can, within a step and across overlapping iterations.

A direct transfer may use any of the parallel links between its two nodes; a routed one uses exactly the links it names. Both kinds
fit exactly when each link carries its routed load and each pair of neighbours the load of both kinds. So the resources are the
pairs and, where several links run in parallel, the single links.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.models.common.columns import ranges
from certree.models.network.routing import DIRECT
from certree.models.network.topology import Int32
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import Slots
from certree.verify.rule import Stage, check, rule
from certree.verify.verdict import Findings
from certree.verify.wording import list_text, row_text

Int64 = NDArray[np.int64]

_BLOCK = 1 << 18  # counters and rows at a time
SERIALIZED_WORK = 1 << 27  # rows and steps examined, once for each period that differs from the one before it


@dataclass(frozen=True)
class Claims:
    """The uses of resources by rows: `resource` and `row` by use; `capacity` and `pair` by resource."""

    resource: Int64
    row: Int64
    capacity: Int64
    pair: Int64


def claims(schedule: Schedule) -> Claims:
    """The resources that every row uses; rows without a link use none. O(rows + hops)."""
    topology = schedule.topology
    pairs = len(topology.pair_capacity)
    every = np.concatenate((topology.pair_capacity, topology.capacity.astype(np.int64)))
    owner = np.concatenate((np.arange(pairs), topology.pair_of_link))
    if not schedule.routes:
        pair = schedule.pair.astype(np.int64)
        if not len(pair) or pair.min() >= 0:  # the usual case, without copies
            return Claims(pair, np.arange(len(pair)), every, owner)
    direct = np.flatnonzero((schedule.route == DIRECT) & (schedule.pair >= 0))
    resources, rows = [schedule.pair[direct].astype(np.int64)], [direct]
    if schedule.routes:
        links, start = schedule.flat_routes
        routed = np.flatnonzero(schedule.route != DIRECT)
        route = schedule.route[routed]
        index, place = ranges(start[route], np.diff(start)[route])
        row, link = routed[index], links[place]
        parallel = np.bincount(topology.pair_of_link, minlength=pairs)[topology.pair_of_link[link]] > 1
        resources += [topology.pair_of_link[link], pairs + link[parallel]]
        rows += [row, row[parallel]]
    return Claims(
        np.concatenate(resources),
        np.concatenate(rows),
        every,
        owner,
    )


def _window_counts(group: Int64, position: Int64, window: int) -> tuple[Int64, Int64, Int64]:
    """Order by (group, position), and for each entry in that order the first entry of its group that lies less than `window`
    positions before it, and how many there are from that one to itself. O(n log n)."""
    order = np.lexsort((position, group))
    fresh = np.ones(len(order), np.bool_)
    fresh[1:] = np.diff(group[order]) != 0
    span = int(position.max(initial=0)) + 1
    base = (np.cumsum(fresh) - 1) * span
    key = base + position[order]
    low = np.searchsorted(key, np.maximum(key - (window - 1), base))
    return order, low, np.arange(1, len(order) + 1) - low


def loads_in_granules(schedule: Schedule) -> tuple[Claims, Int64, Int64, Int64]:
    """Uses by (step, resource), the first use of each such group, its granules, and those of its longest message; for schedules
    whose chunks have sizes. O(uses log uses)."""
    found = claims(schedule)
    step = schedule.step[found.row]
    order = np.lexsort((found.row, found.resource, step))
    uses = Claims(found.resource[order], found.row[order], found.capacity, found.pair)
    fresh = np.ones(len(order), np.bool_)
    fresh[1:] = (np.diff(step[order]) != 0) | (np.diff(uses.resource) != 0)
    first, size = np.flatnonzero(fresh), schedule.granules[schedule.chunk[uses.row]]
    if not len(first):
        return uses, first, first, first
    return uses, first, np.add.reduceat(size, first), np.maximum.reduceat(size, first)


def granule_rounds(schedule: Schedule) -> Int64:
    """For every step the fewest rounds in which its links carry what it sends, at least 1; for schedules whose chunks have sizes
    (`verify.rules.demand_rules` proves that they are enough). O(uses log uses)."""
    uses, first, load, largest = loads_in_granules(schedule)
    rounds = np.ones(schedule.steps, np.int64)
    needed = np.maximum(largest, -(-load // uses.capacity[uses.resource[first]]))
    np.maximum.at(rounds, schedule.step[uses.row[first]], needed)
    return rounds


def resource_text(schedule: Schedule, uses: Claims, resource: int) -> str:
    """The name of a resource in messages: the link between two nodes, or one of several."""
    topology = schedule.topology
    pair = uses.pair[resource]
    ends = f"{topology.pair_src[pair]}>{topology.pair_dst[pair]}"
    return (
        f"link {ends}"
        if resource < len(topology.pair_capacity)
        else f"link number {resource - len(topology.pair_capacity)} ({ends})"
    )


def _all_fit(schedule: Schedule, resource: NDArray[np.integer[Any]], step: Int32, capacity: Int64) -> bool:
    """Whether every step respects the capacity of every resource; faster than finding the step that does not.

    `resource` and `step`: one entry for each use. Where steps ascend and the table of all resources and steps is not much longer
    than the uses, these are counted for a few steps at a time, O(uses + table); otherwise they are sorted.
    """
    enough = np.minimum(capacity, len(step))  # keeps the product with the rounds within 64 bits
    if len(capacity) * schedule.steps > 4 * len(step) or (step[1:] < step[:-1]).any():
        return _sorted_fit(schedule, resource, step, enough)
    least = int(enough.min()) * int(schedule.rounds.min())
    first = np.searchsorted(step, np.arange(schedule.steps + 1, dtype=np.int32))  # equal types: no copy of the column
    group = (first[:-1] + len(capacity) * np.arange(schedule.steps)) // _BLOCK
    bounds = np.concatenate(([0], np.flatnonzero(np.diff(group)) + 1, [schedule.steps]))
    for low, high in pairwise(bounds.tolist()):
        rows = slice(first[low], first[high])
        loads = np.bincount((step[rows] - low) * np.int64(len(capacity)) + resource[rows], minlength=1)
        if loads.max() > least:
            loads.resize((high - low, len(capacity)), refcheck=False)
            if (loads > enough * schedule.rounds[low:high, None]).any():
                return False
    return True


def _sorted_fit(schedule: Schedule, resource: NDArray[np.integer[Any]], step: Int32, enough: Int64) -> bool:
    """Whether all transfers fit, found by sorting. O(uses log uses)."""
    used = resource * np.int64(schedule.steps) + step
    used.sort()
    fresh = np.ones(len(used), np.bool_)
    np.not_equal(used[1:], used[:-1], out=fresh[1:])
    if fresh.all():
        return True
    start = np.flatnonzero(fresh)
    load = np.diff(np.append(start, len(used)))
    at = np.divmod(used[start], schedule.steps)
    return bool((load <= enough[at[0]] * schedule.rounds[at[1]]).all())


def _direct_rows_fit(schedule: Schedule) -> bool:
    """Whether `_all_fit` holds, for schedules without routes in which each row has a link; false for all others."""
    if schedule.routes or not schedule.transfers or schedule.pair.min() < 0:
        return False
    return _all_fit(schedule, schedule.pair, schedule.step, schedule.topology.pair_capacity)


@check(stage=Stage.LOAD, slots=(Slots.EQUAL,))
@rule(
    "capacity",
    "one step puts more transfers on a link than capacity × rounds",
    "full:2 broadcast@0: copy 0 0>1 @0; copy 1 0>1 @0",
)
def check_capacity(schedule: Schedule, findings: Findings) -> None:
    """Report links overfilled by one step of one iteration: more transfers than capacity × rounds. O(rows log rows). Where chunks
    have sizes, `check_sizes` does this; with fine slots, `check_reservations` does."""
    if _direct_rows_fit(schedule):
        return
    uses = claims(schedule)
    if _all_fit(schedule, uses.resource, schedule.step[uses.row], uses.capacity):
        return
    step = schedule.step[uses.row].astype(np.int64)
    order, low, count = _window_counts(uses.resource, step, 1)
    resource, at = uses.resource[order], step[order]
    enough = np.minimum(uses.capacity, len(order))  # keeps the product within 64 bits
    over = count > enough[resource] * schedule.rounds[at].astype(np.int64)
    last = np.ones(len(order), np.bool_)
    last[:-1] = (np.diff(resource) != 0) | (np.diff(at) != 0)
    bad = np.flatnonzero(over & last)
    bad = bad[np.argsort(at[bad], kind="stable")]

    def tell(entry: int) -> tuple[int, tuple[int, ...], str]:
        rows = sorted(uses.row[order[low[entry] : entry + 1]].tolist())
        here, rounds = int(at[entry]), int(schedule.rounds[at[entry]])
        limit = f"capacity {uses.capacity[resource[entry]]}" + (f" x {rounds} rounds" if rounds > 1 else "")
        where = resource_text(schedule, uses, int(resource[entry]))
        which = list_text([row_text(schedule, row) for row in rows], " and ")
        return here, tuple(rows), f"step {here}: {where} carries {len(rows)} transfers ({limit}): {which}"

    findings.add_each("capacity", bad.tolist(), tell)


def _overlaps(schedule: Schedule, uses: Claims, repeats: int) -> tuple[Int64, Int64, Int64]:
    """Uses by (resource, step mod period, stage): order, first entry of each window of `repeats` stages, entries in the window.

    In period q of the whole run a row of stage σ (step div period) serves iteration q − σ, which exists for q − repeats < σ ≤ q.
    So the rows that meet on a resource are those of one residue whose stages lie in a window of `repeats` consecutive numbers.
    """
    period = schedule.period or schedule.steps
    step = schedule.step[uses.row].astype(np.int64)
    return _window_counts(uses.resource * period + step % period, step // period, repeats)


@check(stage=Stage.LOAD, slots=(Slots.EQUAL,))
@rule(
    "period",
    "overlapping iterations put more transfers on a link than it carries",
    "full:2 broadcast@0 period=1 repeats=2: copy 0 0>1 @0; copy 1 0>1 @1",
)
def check_period(schedule: Schedule, findings: Findings) -> None:
    """Report links overfilled by overlapping iterations, without writing the iterations out. O(rows log rows) for any `repeats`."""
    if not schedule.is_repeating:
        return
    uses, period = claims(schedule), schedule.period_rounds
    order, low, count = _overlaps(schedule, uses, schedule.repeats)
    resource, step = uses.resource[order], schedule.step[uses.row[order]]
    # a window of one step only is the rule `capacity`
    bad = np.flatnonzero((count > uses.capacity[resource]) & (step[low] != step))
    group = resource[bad] * period + step[bad] % period
    bad = bad[np.unique(group, return_index=True)[1]]
    bad = bad[np.argsort(step[bad], kind="stable")]

    def tell(entry: int) -> tuple[int, tuple[int, ...], str]:
        rows = uses.row[order[low[entry] : entry + 1]].tolist()
        here = int(step[entry])
        meeting = [
            f"{row_text(schedule, row)} of iteration {(here - start) // period} (its step {start})"
            for row, start in zip(rows, schedule.step[rows].tolist(), strict=True)
        ]
        limit = f"capacity {uses.capacity[resource[entry]]}, period {period}"
        where = resource_text(schedule, uses, int(resource[entry]))
        return here, tuple(rows), f"step {here}: {where} carries {len(rows)} transfers ({limit}): {list_text(meeting, ' and ')}"

    findings.add_each("period", bad.tolist(), tell)


def serialized_rounds(schedule: Schedule) -> int | None:
    """Rounds in which the same transfers, in the same steps, run free of contention: the sum over all steps of the whole run of the
    largest ceil(load / capacity), at least 1 each. None for a repeating schedule that would take too long to examine.

    O(rows log rows) where iterations do not overlap, else O(stages · (rows log rows + period)).
    """
    if schedule.has_sizes:
        return int(granule_rounds(schedule).sum())
    apart = not schedule.is_repeating or schedule.period_rounds >= schedule.steps
    if apart:
        idle = (schedule.repeats - 1) * ((schedule.period or schedule.steps) - schedule.steps)
        return schedule.repeats * _Load(schedule, schedule.steps).rounds(0, 1) + idle
    load, repeats = _Load(schedule, schedule.period or 1), schedule.repeats
    stages = load.stages
    if 2 * stages * (load.size + 1000) > SERIALIZED_WORK:
        return None
    # Periods differ while the pipeline fills and drains; the ones in between equal the last one of the filling.
    filling = [load.rounds(q, repeats) for q in range(min(repeats, stages))]
    emptying = [load.rounds(q, repeats) for q in range(repeats, repeats + stages - 1)]
    return sum(filling) + max(0, repeats - stages) * filling[-1] + sum(emptying)


class _Load:
    """The load of every link in each step of a period. `stages`: periods that one iteration touches; `size`: of its arrays."""

    def __init__(self, schedule: Schedule, period: int) -> None:
        uses = claims(schedule)
        step = schedule.step[uses.row].astype(np.int64)
        self._period, self.stages = period, -(-schedule.steps // period)
        self._steps = schedule.steps + (schedule.repeats - 1) * period
        group, number = np.unique(uses.resource * period + step % period, return_inverse=True)
        self._key = np.sort(number * self.stages + step // period)
        self._first = np.arange(len(group)) * self.stages
        self._capacity, self._residue = uses.capacity[group // period], group % period
        self.size = len(self._key) + period

    def rounds(self, q: int, repeats: int) -> int:
        """Total rounds of period q, where rows of stage σ are present in the periods σ ≤ q < σ + repeats."""
        low = np.searchsorted(self._key, self._first + max(0, q - repeats + 1))
        load = np.searchsorted(self._key, self._first + min(q, self.stages - 1), side="right") - low
        rounds = np.ones(self._period, np.int64)
        np.maximum.at(rounds, self._residue, -(-load // self._capacity))
        return int(rounds[: self._steps - q * self._period].sum())


def repeats_for_ever(schedule: Schedule) -> bool:
    """Whether the period stays free of contention for any number of repeats; with fine slots a valid one does. O(rows log rows)."""
    if schedule.period is None:
        return False
    if schedule.has_fine_slots:
        return schedule.is_repeating
    uses = claims(schedule)
    order, _, count = _overlaps(schedule, uses, schedule.steps)
    return bool((count <= uses.capacity[uses.resource[order]]).all())
