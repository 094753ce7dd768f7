"""Rules `reserved`, `waiting` and `overloaded`: schedules with fine slots keep the links, buffers and units that they need free,
cycle by cycle."""

import numpy as np
from numpy.typing import NDArray

from certree.models.common.budget import hold
from certree.models.common.columns import ranges, within_words
from certree.models.fine.slots import fine_times
from certree.models.network.routing import DIRECT
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import MAX_CHANNELS, Slots
from certree.models.schedule.timing import MAX_CYCLES
from certree.verify.rule import Stage, check, rule
from certree.verify.rules.buffers import last_to_end
from certree.verify.verdict import Findings
from certree.verify.wording import list_text, row_text

Int64 = NDArray[np.int64]


@check(stage=Stage.LOAD, slots=(Slots.FINE,))
@rule(
    "reserved",
    "fine slots: more messages are on a link at a time than it has lanes, or two local transfers in one node, also of different "
    "iterations",
    "tests/verify/rules/test_fine_slots.py",
)
def check_reservations(schedule: Schedule, findings: Findings) -> None:
    """Report messages that find a lane taken. O(uses log uses)."""
    if not schedule.transfers:
        return
    times, (row, resource, start, lanes) = fine_times(schedule), link_uses(schedule)
    period = times.period
    if schedule.is_repeating and times.ser > (period or 0):
        first = int(row[0]) if len(row) else 0
        words = f"a message takes {times.ser} cycles of a lane, a period has {period}: it meets itself: {row_text(schedule, first)}"
        findings.add("reserved", int(schedule.step[first]), (first,), words)
        return
    resource, row, start = times.repeated(resource, row, start)
    order = np.lexsort((row, start, resource))
    row, resource, start = row[order], resource[order], start[order]
    end = start + times.length[row]
    del order
    # a message finds a lane free unless as many as there are lanes have entered before it and not left
    there = in_flight(resource, start, end)
    found = np.flatnonzero(there >= lanes[resource])
    found = found[np.unique(row[found], return_index=True)[1]]
    found = found[np.argsort(schedule.step[row[found]], kind="stable")]

    def tell(place: int) -> tuple[int, tuple[int, ...], str]:
        here, step = int(row[place]), int(schedule.step[row[place]])
        near = np.flatnonzero((resource[:place] == resource[place]) & (end[:place] > start[place]))[-lanes[resource[place]] :]
        others = list(dict.fromkeys(row[near].tolist()))
        where = resource_text(schedule, int(resource[place]))
        who = list_text([row_text(schedule, other) for other in others], " and ")
        free = int(end[near].min()) - int(start[place])
        modulo = f" modulo the period of {period}" if schedule.is_repeating else ""
        words = f"step {step}: {row_text(schedule, here)} finds {where} taken for {free} more cycles{modulo}, by {who}"
        return step, tuple(dict.fromkeys([here, *others])), words

    findings.add_each("reserved", found.tolist(), tell)
    if not len(found):
        _check_choices(schedule, findings)


def in_flight(resource: Int64, start: Int64, end: Int64) -> Int64:
    """How many uses before each one, in the order of (resource, start), have not ended when it starts. O(uses log uses)."""
    start, end = within_words(int(resource.max(initial=0)) + 1, start, end)
    span = int(end.max(initial=0)) + 1
    ends = resource * span + end
    ends.sort()
    left = np.searchsorted(ends, resource * span + start, side="right")
    return np.subtract(np.arange(len(resource)), left, out=left)


def meetings(pair: Int64, first: Int64, last: Int64, around: Int64 | None = None) -> Int64:
    """How many other uses of its pair of nodes each use meets at some time from cycle `first` to `last`. `around`: shifts, in
    cycles, with which all uses recur. O(uses log uses)."""
    around = np.zeros(1, np.int64) if around is None else around
    begins, finishes = ((when[:, None] + around).ravel() for when in (first, last))
    begins, finishes, first, last = within_words(int(pair.max(initial=0)) + 1, begins, finishes, first, last)
    width = int(max(begins.max(), finishes.max())) + 1
    starts, ends = (np.sort(np.repeat(pair, len(around)) * width + when) for when in (begins, finishes))
    own = pair * width
    return np.searchsorted(starts, own + last) - np.searchsorted(ends, own + first, side="right") - 1


def _check_choices(schedule: Schedule, findings: Findings) -> None:
    """Report transfers without a route that may find no lane for all their time, where others name one of the parallel links.

    Each of them gets a lane whatever the others take, where fewer than all lanes of the pair have a message that meets it."""
    times = fine_times(schedule)
    uses, topology, period = times.reservations, schedule.topology, times.period
    several = np.flatnonzero(np.bincount(topology.pair_of_link)[uses.pair] > 1)
    pair, named = uses.pair[several], uses.link[several] >= 0
    mixed = several[np.isin(pair, pair[~named]) & np.isin(pair, pair[named])]
    row, pair, start = uses.row[mixed], uses.pair[mixed], uses.entry[mixed]
    if not len(row):
        return
    span = period or int(start.max()) + 1
    around = span * (np.array([-1, 0, 1]) if schedule.is_repeating else np.array([0]))
    free = np.flatnonzero(uses.link[mixed] < 0)
    first = start % span + (times.ser + span)
    others = meetings(pair, first, first + times.length[row], around)[free]
    found = free[others >= topology.pair_capacity[pair[free]]]

    def tell(place: int) -> tuple[int, tuple[int, ...], str]:
        here, step = int(row[place]), int(schedule.step[row[place]])
        words = f"may find no lane of {_link_text(schedule, int(pair[place]))} for all its time; let it name one of the links"
        return step, (here,), f"step {step}: {row_text(schedule, here)} {words}"

    findings.add_each("reserved", found.tolist(), tell)


def link_uses(schedule: Schedule) -> tuple[Int64, Int64, Int64, Int64]:
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


def _link_text(schedule: Schedule, pair: int) -> str:
    return f"link {schedule.topology.pair_src[pair]}>{schedule.topology.pair_dst[pair]}"


def resource_text(schedule: Schedule, resource: int) -> str:
    """A resource of `link_uses` in words."""
    topology = schedule.topology
    pairs, links = len(topology.pair_capacity), len(topology.src)
    if resource < pairs:
        return _link_text(schedule, resource)
    if resource < pairs + links:
        return f"link number {resource - pairs}"
    return f"the copy unit of node {resource - pairs - links}"


@check(stage=Stage.LOAD, slots=(Slots.FINE,))
@rule(
    "waiting",
    "fine slots: a message waits at a router longer than the buffer of its virtual channel can hold it, or another one comes into "
    "that buffer while it is there",
    "tests/verify/rules/test_fine_slots.py",
)
def check_waits(schedule: Schedule, findings: Findings) -> None:
    """Report planned waits for which there is no room. O(uses log uses)."""
    if not schedule.plans_waits:
        return
    times = fine_times(schedule)
    uses, period, room = times.reservations, times.period, times.machine.vc_buffer_flits
    channel = np.zeros(len(schedule.routes) + 1, np.int64)
    if schedule.virtual_channel is not None:
        channel[:-1] = schedule.virtual_channel  # the last entry is that of DIRECT
    buffer = uses.pair * MAX_CHANNELS + channel[schedule.route[uses.row]]
    longest = np.flatnonzero(
        (np.minimum(uses.wait, times.length[uses.row]) > room) | (uses.wait + times.length[uses.row] > (period or MAX_CYCLES))
    )

    def tell_long(use: int) -> tuple[int, tuple[int, ...], str]:
        row, wait = int(uses.row[use]), int(uses.wait[use])
        held = min(wait, int(times.length[row]))
        why = f"{held} flits of it are then in a buffer for {room}"
        if held <= room:
            why = f"it is there for {wait + int(times.length[row])} cycles, and comes again after {period}"
        where, step = _link_text(schedule, int(uses.pair[use])), int(schedule.step[row])
        return step, (row,), f"step {step}: {row_text(schedule, row)} waits {wait} cycles behind {where}: {why}"

    order = np.argsort(schedule.step[uses.row[longest]], kind="stable")
    findings.add_each("waiting", longest[order].tolist(), tell_long)
    if not len(longest):
        _check_company(schedule, findings, buffer)


def _check_company(schedule: Schedule, findings: Findings, buffer: Int64) -> None:
    """Report messages that come into a buffer in which another one waits, or wait in one in which another one is."""
    times = fine_times(schedule)
    uses = times.reservations
    # transfers without a route take any virtual channel (V1): they count in each one behind their link in which something waits
    free, held = np.flatnonzero(schedule.route[uses.row] == DIRECT), np.unique(buffer[uses.wait > 0])
    low, high = (np.searchsorted(held, (uses.pair[free] + more) * MAX_CHANNELS) for more in (0, 1))
    count = high - low
    hold(64 * (len(uses.row) + int(count.sum())), f"virtual channels that {len(free):,} messages may take")
    row, place = ranges(low, count)
    use = np.concatenate((np.delete(np.arange(len(uses.row)), free), free[row]))
    buffer = np.concatenate((np.delete(buffer, free), held[place]))
    comes, goes = uses.ready[use], uses.ready[use] + uses.wait[use] + times.length[uses.row[use]]
    stays = goes - comes
    buffer, use, comes = times.repeated(buffer, use, comes)
    goes = comes + np.resize(stays, len(comes))
    order = np.lexsort((use, comes, buffer))
    use, buffer, comes, goes = use[order], np.unique(buffer[order], return_inverse=True)[1], comes[order], goes[order]
    waits = uses.wait[use] > 0
    found: dict[tuple[int, int], int] = {}
    for counted, asked in ((waits, np.ones(len(use), np.bool_)), (np.ones(len(use), np.bool_), waits)):
        last = last_to_end(buffer, goes, counted)
        before = np.append(-1, last[:-1])
        same = (before >= 0) & asked
        same[same] = buffer[before[same]] == buffer[same]
        met = np.flatnonzero(same)
        met = met[goes[before[met]] > comes[met]]
        found |= {
            (int(uses.row[use[place]]), int(uses.row[use[before[place]]])): int(uses.pair[use[place]]) for place in met.tolist()
        }
    pairs = sorted(found, key=lambda rows: (int(schedule.step[rows[0]]), rows))

    def tell(number: int) -> tuple[int, tuple[int, ...], str]:
        row, other = pairs[number]
        step, where = int(schedule.step[row]), _link_text(schedule, found[row, other])
        words = f"comes into the buffer behind {where} while {row_text(schedule, other)} is there"
        return step, (row, other), f"step {step}: {row_text(schedule, row)} {words}"

    findings.add_each("waiting", range(len(pairs)), tell)


@check(stage=Stage.LOAD, slots=(Slots.FINE,))
@rule(
    "overloaded",
    "fine slots: in each period a reduction unit gets more to add than it can",
    "tests/verify/rules/test_fine_slots.py",
)
def check_units(schedule: Schedule, findings: Findings) -> None:
    """Report reduction units that fall behind further with each iteration. O(rows)."""
    if not schedule.is_repeating:
        return
    times = fine_times(schedule)
    slow = np.flatnonzero(times.work > (times.period or 0))

    def tell(node: int) -> tuple[int, tuple[int, ...], str]:
        words = f"node {node} adds for {times.work[node]} cycles in each iteration, which is one every {times.period} cycles"
        return 0, (), words

    findings.add_each("overloaded", slow.tolist(), tell)
