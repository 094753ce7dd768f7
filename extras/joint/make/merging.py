"""Schedules of several collectives merged on the links that they share, by the list scheduler.

All transfers of all collectives stand in one order. Each leaves in the first slot in which all that it reads has landed, and every
link of its route, and the unit that adds it, are free of everything before it. Gaps are used. A collective that waits for others is
booked behind them, from the slot on in which all their data have landed.

Where transfers of a schedule have to leave together, since each sends what another one overwrites, and what they bring waits at a
link or unit, the schedule is *rigid*: it is moved as a whole, before the others, to where nothing of it meets what is booked.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from certree.extras.joint.model.collective_list import Entry
from certree.extras.joint.model.joint_schedule import Part
from certree.models.common.errors import UnsupportedError
from certree.models.fine.list_jobs import NONE, Cells, Places, Reserved, Sharing
from certree.models.fine.list_scheduler import in_order
from certree.models.fine.rebooking import MAX_SLOTS, cells_of, groups_of, with_units
from certree.models.fine.slots import FineTimes
from certree.models.machine.machine import Machine
from certree.models.schedule.made_for import MadeFor
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import Op
from certree.models.schedule.timing import slotted
from certree.models.schedule.tolerance import tolerant_slot

Int64 = NDArray[np.int64]
_PAIRS = 1 << 22  # of uses that are compared
#: by name and schedule of a collective the turn of each of its rows; the lowest is booked first
Priority = Callable[[Entry, Schedule], Int64]


@dataclass(frozen=True, eq=False)
class Jobs:
    """The input of the list scheduler from the rows of a schedule, computed once: its `times`, the places and lanes, the cells, and
    the groups that leave together, in the order in which they fire."""

    schedule: Schedule
    times: FineTimes
    places: Places
    lanes: Int64
    reads: Int64
    writes: Int64
    lands: Int64
    begin: Int64
    rows: Int64

    @cached_property
    def is_rigid(self) -> bool:
        """Whether its rows find no short slots even when it is alone. O(uses log uses)."""
        copies = self.schedule.op == Op.COPY
        cells = Cells(self.reads, self.writes, copies, self.lands, self.begin, self.rows)
        return in_order(self.places, cells, self.lanes, 1, Sharing.MEETS)[1] != NONE

    @classmethod
    def of(cls, schedule: Schedule) -> "Jobs":
        """The jobs of a schedule in fine slots. O(uses log uses)."""
        times = FineTimes(schedule)
        places, lanes = with_units(times)
        reads, writes = cells_of(schedule)
        begin, rows = groups_of(schedule.step.astype(np.int64), reads, writes)
        added = times.machine.reduce_start_cycles + times.red
        lands = times.latency + times.ser + np.where(schedule.op == Op.COPY, 0, added)
        return cls(schedule, times, places, lanes, reads, writes, lands, begin, rows)

    def releases(self, entry: Entry) -> Int64:
        """The first cycle in which each row may fire: it neither leaves nor reaches a member that does not take part yet."""
        schedule = self.schedule
        release = entry.releases(len(schedule.topology.kind))
        first: Int64 = np.maximum(release[schedule.src], release[schedule.dst] - self.times.latency)
        return first


def merged(entries: Sequence[Entry], jobs: Mapping[str, Jobs], slot: int, priority: Priority) -> tuple[Part, ...]:
    """The collectives in slots of `slot` cycles, merged in the order of `priority`.

    Those that wait for others are booked behind all that wait for fewer. UnsupportedError where
    transfers of one slot meet, and for more than MAX_SLOTS slots. O(uses · (log uses + bookings passed over)).
    """
    done: dict[str, Part] = {}
    taken = Reserved.none()
    level = _levels(entries)
    for number in range(max(level.values()) + 1):
        block = [entry for entry in entries if level[entry.name] == number]
        starts = {entry.name: max([entry.start, *(done[name].landed for name in entry.after)]) for entry in block}
        for entry in sorted((entry for entry in block if jobs[entry.name].is_rigid), key=lambda entry: starts[entry.name]):
            done[entry.name], taken = _moved(entry, jobs[entry.name], starts[entry.name], taken)
        if block := [entry for entry in block if not jobs[entry.name].is_rigid]:
            parts, taken = _booked(block, jobs, starts, slot, priority, taken)
            done |= {part.name: part for part in parts}
    return tuple(done[entry.name] for entry in entries)


def _moved(entry: Entry, jobs: Jobs, start: int, taken: Reserved) -> tuple[Part, Reserved]:
    """A schedule as it is, from the first cycle on in which none of its uses meets what is reserved; and what is reserved with it.
    Wide links and units count as one lane. Behind everything where the pairs of uses are more than _PAIRS. O(pairs log pairs)."""
    fire, places = jobs.times.fire, jobs.places
    entries = fire[places.row] + places.after
    until = np.where(places.source < 0, jobs.times.landing[places.row], entries + places.length)  # sums wait for their unit
    lengths = until - entries
    begin = max(start - int(fire.min(initial=0)), int((jobs.releases(entry) - fire).max(initial=0)), 0)
    order = np.argsort(taken.resource, kind="stable")
    low, high = (np.searchsorted(taken.resource[order], places.resource, side) for side in ("left", "right"))
    count = high - low
    if int(count.sum()) > _PAIRS:
        begin = max(begin, int((taken.entry + taken.length).max(initial=0)))
    else:
        mine = np.repeat(np.arange(len(count)), count)
        other = order[np.repeat(low - np.concatenate(([0], np.cumsum(count)[:-1])), count) + np.arange(int(count.sum()))]
        first = taken.entry[other] - until[mine]  # it must not begin between these two
        last = taken.entry[other] + taken.length[other] - entries[mine]
        for place in np.argsort(first, kind="stable").tolist():
            if first[place] < begin < last[place]:
                begin = int(last[place])
    columns = (taken.resource, places.resource), (taken.entry, begin + entries), (taken.length, lengths)
    return Part(entry, begin, jobs.schedule), Reserved(*(np.concatenate(one) for one in columns))


def _levels(entries: Sequence[Entry]) -> dict[str, int]:
    found: dict[str, int] = {}
    for entry in entries:
        found[entry.name] = max((1 + found[name] for name in entry.after), default=0)
    return found


def _booked(
    entries: Sequence[Entry],
    jobs: Mapping[str, Jobs],
    starts: Mapping[str, int],
    slot: int,
    priority: Priority,
    taken: Reserved,
) -> tuple[list[Part], Reserved]:
    """Collectives whose starts are known, among what is reserved; and what is reserved with them."""
    mine = [jobs[entry.name] for entry in entries]
    offset = np.cumsum([0, *(one.schedule.transfers for one in mine)])
    cells = np.cumsum([0, *(1 + int(max(one.reads.max(initial=-1), one.writes.max(initial=-1))) for one in mine)])
    ranks = [priority(entry, one.schedule) for entry, one in zip(entries, mine, strict=True)]
    turn, begin, rows = _turns(mine, ranks, offset)
    places = _joined([one.places for one in mine], offset)
    lanes = mine[0].lanes
    found, met = in_order(
        places,
        Cells(
            np.concatenate([one.reads + base for one, base in zip(mine, cells, strict=False)]),
            np.concatenate([one.writes + base for one, base in zip(mine, cells, strict=False)]),
            np.concatenate([one.schedule.op == Op.COPY for one in mine]),
            np.concatenate([one.lands for one in mine]),
            begin,
            rows[turn],
            np.concatenate([np.maximum(starts[entry.name], one.releases(entry)) for entry, one in zip(entries, mine, strict=True)]),
        ),
        lanes,
        slot,
        Sharing.MEETS,
        0,
        taken,
    )
    if met != NONE:
        raise UnsupportedError("transfers that have to leave in one slot with others meet on a link")
    if int(found.max(initial=0)) // slot >= MAX_SLOTS:
        raise UnsupportedError(f"more than {MAX_SLOTS} slots")
    parts = [
        placed(entry, one.schedule, found[low:high], slot, starts[entry.name])
        for entry, one, low, high in zip(entries, mine, offset, offset[1:], strict=False)
    ]
    resource = np.concatenate((taken.resource, places.resource))
    entry_cycles = np.concatenate((taken.entry, found[places.row] + places.after))
    return parts, Reserved(resource, entry_cycles, np.concatenate((taken.length, places.length)))


def _turns(mine: Sequence[Jobs], ranks: Sequence[Int64], offset: Int64) -> tuple[Int64, Int64, Int64]:
    """The groups of all schedules in the order of their ranks; those of one schedule stay in its order."""
    key, size, rows = [], [], []
    for number, (one, rank) in enumerate(zip(mine, ranks, strict=True)):
        lengths = np.diff(one.begin)
        first = rank[one.rows[one.begin[:-1]]] if len(one.rows) else rank
        key.append(np.stack((np.maximum.accumulate(first), np.full(len(first), number))))
        size.append(lengths)
        rows.append(one.rows + offset[number])
    keys, sizes, flat = np.concatenate(key, axis=1), np.concatenate(size), np.concatenate(rows)
    order = np.lexsort((np.arange(len(sizes)), keys[1], keys[0]))
    start = np.concatenate(([0], np.cumsum(sizes)))[:-1]
    begin = np.concatenate(([0], np.cumsum(sizes[order])))
    turn = np.repeat(start[order] - begin[:-1], sizes[order]) + np.arange(int(sizes.sum()))
    return turn, begin, flat


def _joined(places: Sequence[Places], offset: Int64) -> Places:
    """The places of all rows, each numbered on, and their sources apart: a node's messages of two collectives meet like others."""
    columns = {name: np.concatenate([getattr(one, name) for one in places]) for name in ("resource", "after", "length")}
    columns["row"] = np.concatenate([one.row + base for one, base in zip(places, offset, strict=False)])
    columns["source"] = np.concatenate([one.source * len(places) + number for number, one in enumerate(places)])
    return Places(**columns)


def placed(entry: Entry, schedule: Schedule, fire: Int64, slot: int, opens: int) -> Part:
    """The transfers of a schedule as they fire, in slots of `slot` cycles, from its first one on; `opens`: where it has none."""
    first = int(fire.min()) // slot if len(fire) else -(-opens // slot)
    step = fire // slot - first
    order = np.argsort(step, kind="stable")
    columns = {name: getattr(schedule, name)[order] for name in schedule.columns if name != "step"}
    rounds = np.ones(int(step.max(initial=0)) + 1, np.int32)
    made = replace(
        schedule, step=step[order].astype(np.int32), rounds=rounds, slot_cycles=slot, waits=None, certificate=None, **columns
    )
    return Part(entry, first * slot, made)


def in_equal_slots(schedule: Schedule, size: int, machine: Machine) -> Schedule:
    """A schedule in fine slots that are as long as its steps, which stay in their order: nothing is booked. O(rows log rows)."""
    plan, _ = slotted(schedule, size, machine)
    slot = tolerant_slot(plan, size, machine, skew=0, drift=Fraction(0))
    return replace(plan, slot_cycles=slot, delay=1, made_for=MadeFor(size, machine), certificate=None)
