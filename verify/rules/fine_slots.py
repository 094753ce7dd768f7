"""Rules `reserved` and `overloaded`: schedules with fine slots keep the links and units that they need free, cycle by cycle."""

import numpy as np
from numpy.typing import NDArray

from certree.models.fine_slots import fine_times
from certree.models.schedule.schedule import Schedule
from certree.verify.rule import Stage, check, rule
from certree.verify.verdict import LISTED_PER_RULE, Findings
from certree.verify.wording import list_text, row_text

Int64 = NDArray[np.int64]


@check(stage=Stage.LOAD)
@rule(
    "reserved",
    "fine slots: more messages are on a link at a time than it has lanes, or two local transfers in one node, also of different "
    "iterations",
    "tests/verify/rules/test_fine_slots.py",
)
def check_reservations(schedule: Schedule, findings: Findings) -> None:
    """Report messages that find a lane taken. O(uses log uses)."""
    if schedule.slot_cycles is None or not schedule.transfers:
        return
    times, (row, resource, entry, lanes) = fine_times(schedule), _uses(schedule)
    period = times.period
    if period is not None and times.ser > period:
        first = int(row[0]) if len(row) else 0
        words = f"a message takes {times.ser} cycles of a lane, a period has {period}: it meets itself: {row_text(schedule, first)}"
        findings.add("reserved", int(schedule.step[first]), (first,), words)
        return
    start = entry if period is None else entry % period
    if period is not None:  # each once more, a period later: what reaches over the end of a period meets the start of the next
        row, resource = np.tile(row, 2), np.tile(resource, 2)
        start = np.concatenate((start, start + period))
    order = np.lexsort((row, start, resource))
    row, resource, start = row[order], resource[order], start[order]
    # a message finds its lane free unless as many as there are lanes have entered less than `ser` cycles before it
    ahead = np.arange(len(row)) - lanes[resource]
    before = np.maximum(ahead, 0)
    taken = (ahead >= 0) & (resource[before] == resource) & (start[before] + times.ser > start)
    found = np.flatnonzero(taken)
    found = found[np.unique(row[found], return_index=True)[1]]
    found = found[np.argsort(schedule.step[row[found]], kind="stable")]

    def tell(place: int) -> tuple[int, tuple[int, ...], str]:
        here, step = int(row[place]), int(schedule.step[row[place]])
        others = list(dict.fromkeys(row[place - lanes[resource[place]] : place].tolist()))
        where = _resource_text(schedule, int(resource[place]))
        who = list_text([row_text(schedule, other) for other in others], " and ")
        free = int(start[place - lanes[resource[place]]]) + times.ser - int(start[place])
        modulo = "" if period is None else f" modulo the period of {period}"
        words = f"step {step}: {row_text(schedule, here)} finds {where} taken for {free} more cycles{modulo}, by {who}"
        return step, tuple(dict.fromkeys([here, *others])), words

    findings.add_each("reserved", found.tolist(), tell)


def _uses(schedule: Schedule) -> tuple[Int64, Int64, Int64, Int64]:
    """(row, resource, cycle of entry) of each use, and the lanes of each resource: joined pairs, single links where several run in
    parallel, and the copy units of nodes."""
    topology, found = schedule.topology, fine_times(schedule).reservations
    pairs, links = len(topology.pair_capacity), len(topology.src)
    lanes = np.concatenate((topology.pair_capacity, topology.capacity.astype(np.int64), np.ones(len(topology.kind), np.int64)))
    parallel = np.bincount(topology.pair_of_link, minlength=pairs)[topology.pair_of_link] > 1
    named = np.flatnonzero((found.link >= 0) & parallel[np.maximum(found.link, 0)])
    local = np.flatnonzero(schedule.src == schedule.dst)
    row: Int64 = np.concatenate((found.row, found.row[named], local))
    resource: Int64 = np.concatenate((found.pair, pairs + found.link[named], pairs + links + schedule.src[local].astype(np.int64)))
    entry: Int64 = np.concatenate((found.entry, found.entry[named], fine_times(schedule).fire[local]))
    return row, resource, entry, lanes


def _resource_text(schedule: Schedule, resource: int) -> str:
    topology = schedule.topology
    pairs, links = len(topology.pair_capacity), len(topology.src)
    if resource < pairs:
        return f"link {topology.pair_src[resource]}>{topology.pair_dst[resource]}"
    if resource < pairs + links:
        return f"link number {resource - pairs}"
    return f"the copy unit of node {resource - pairs - links}"


@check(stage=Stage.LOAD)
@rule(
    "overloaded",
    "fine slots: in each period a reduction unit gets more to add than it can",
    "tests/verify/rules/test_fine_slots.py",
)
def check_units(schedule: Schedule, findings: Findings) -> None:
    """Report reduction units that fall behind further with each iteration. O(rows)."""
    if schedule.slot_cycles is None:
        return
    times = fine_times(schedule)
    if times.period is None:
        return
    slow = np.flatnonzero(times.work > times.period)

    def tell(node: int) -> tuple[int, tuple[int, ...], str]:
        words = f"node {node} adds for {times.work[node]} cycles in each iteration, which is one every {times.period} cycles"
        return 0, (), words

    findings.add_each("overloaded", slow[:LISTED_PER_RULE].tolist(), tell)
    findings.add_unlisted("overloaded", max(0, len(slow) - LISTED_PER_RULE))
