"""Fine slots booked anew: for another message size, for another machine, or with guards against clocks that differ.

Transfers are taken in the order in which they fired. Each one leaves in the first slot in which all that it reads has landed and
every link of its way, and the unit that adds it, is free for it. So everybody reads the same data as before.
"""

from bisect import bisect_left, insort
from collections import defaultdict
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np

from certree.models.common.errors import UnsupportedError
from certree.models.fine.equal import in_equal_slots
from certree.models.fine.fine_tolerance import tolerates
from certree.models.fine.slots import fine_times, is_made_for
from certree.models.machine.machine import Machine
from certree.models.schedule.made_for import MadeFor
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import Op
from certree.models.schedule.timing import slotted
from certree.models.schedule.tolerance import tolerant_slot

MAX_SLOTS = 1 << 24
MOST_USES = 1 << 20  # of links and units by transfers
MOST_TRIES = 1 << 10  # slots for transfers that have to leave together
Cell = tuple[int, int, int]  # node, chunk, buffer


def rebooked(schedule: Schedule, message_bytes: int, machine: Machine, skew: int = 0, slot: int | None = None) -> Schedule:
    """The transfers of a schedule with fine slots, fired in other slots, for a size, a machine, and counters that start up to
    `skew` cycles apart. `slot`: cycles of a slot, by default as before.

    Messages of different nodes are then at least `skew` cycles apart on a link, and at the unit that adds them, and what they bring
    is used as much later; nothing waits at routers. Raises UnsupportedError for schedules that repeat, for more than MOST_USES
    uses of links, and where a message takes fewer cycles than `skew`. O(uses log uses), in Python.
    """
    if schedule.repeats > 1:
        raise UnsupportedError("fine slots of a schedule that repeats are not booked anew")
    fresh = replace(schedule, made_for=MadeFor(message_bytes, machine), waits=None, certificate=None)
    fresh = fresh if slot is None else replace(fresh, slot_cycles=slot)
    booking = _Booking(fresh, skew)
    rows = np.lexsort((np.arange(schedule.transfers), schedule.step))
    for group in np.split(rows, np.flatnonzero(np.diff(schedule.step[rows])) + 1) if len(rows) else []:
        for together in booking.groups(group.tolist()):
            booking.book(together)
    step = np.array(booking.step, np.int64)
    if int(step.max(initial=0)) >= MAX_SLOTS:
        raise UnsupportedError(f"more than {MAX_SLOTS} slots")
    order = np.argsort(step, kind="stable")
    names = [*schedule.columns]
    columns = {name: getattr(schedule, name)[order] for name in names if name != "step"}
    rounds = np.ones(int(step.max(initial=0)) + 1, np.int32)
    return replace(fresh, step=step[order].astype(np.int32), rounds=rounds, **columns)


def fitted(schedule: Schedule, message_bytes: int, machine: Machine) -> Schedule:
    """A schedule with fine slots for another size or machine: itself where it was made for these, else booked anew, or in equal
    slots where that is not possible. UnsupportedError where nothing is (`in_equal_slots`)."""
    if is_made_for(schedule, message_bytes, machine):
        return schedule
    try:
        return rebooked(schedule, message_bytes, machine)
    except UnsupportedError:
        return in_equal_slots(schedule)


def with_guards(schedule: Schedule, message_bytes: int, machine: Machine, skew: int) -> Schedule:
    """The transfers of a schedule in fine slots that tolerate counters which start up to `skew` cycles apart.

    The faster of the schedule, where its fine slots do, or its equal slots, made longer; and, where nothing repeats, of what
    `rebooked` finds in slots of a cycle. Raises UnsupportedError where neither does, InputError as `slotted`.
    """
    if schedule.slot_cycles is None:
        plan, _ = slotted(schedule, message_bytes, machine)
        slot = tolerant_slot(plan, message_bytes, machine, skew=skew, drift=Fraction(0))
        made_for = MadeFor(message_bytes, machine)
        schedule = replace(plan, slot_cycles=slot, delay=1, made_for=made_for, certificate=None)
        if not tolerates(schedule, 0):
            raise UnsupportedError(
                "fine slots: something is sent while another transfer into it is under way; give it more buffers"
            )
    else:
        schedule = fitted(schedule, message_bytes, machine)
    candidates = [schedule] if tolerates(schedule, skew) else []
    try:
        candidates.append(rebooked(schedule, message_bytes, machine, skew, slot=1))
    except UnsupportedError:
        if not candidates:
            raise
    return min(candidates, key=lambda one: fine_times(one).cycles)


@dataclass
class _Cell:
    """Of one cell: when all that was sent into it has landed, when copies have, and the last slot that reads it."""

    landed: int = 0
    copied: int = 0
    read: int = 0


@dataclass
class _Resource:
    """Lanes of a link, a reduction unit or a copy unit: entries in order, and from which node."""

    lanes: int
    cycles: int
    entries: list[tuple[int, int]] = field(default_factory=list)

    def free_from(self, entry: int, source: int, guard: int) -> int:
        """The first cycle from `entry` on that may be free; itself where it is."""
        reach = self.cycles + guard
        near = self.entries[bisect_left(self.entries, (entry - reach + 1,)) : bisect_left(self.entries, (entry + reach,))]
        near = [one for one in near if abs(one[0] - entry) < (self.cycles if one[1] == source else reach)]
        if len(near) < self.lanes:
            return entry
        first, node = near[-self.lanes]
        return max(entry + 1, first + (self.cycles if node == source else reach))


class _Booking:
    """The slots found so far, in `step` by row."""

    def __init__(self, schedule: Schedule, skew: int) -> None:
        times = fine_times(schedule)
        uses, machine, topology = times.reservations, times.machine, schedule.topology
        if len(uses.row) > MOST_USES:
            raise UnsupportedError(
                f"transfers pass {len(uses.row)} links in all; fine slots are booked anew for {MOST_USES} at most"
            )
        local = schedule.src == schedule.dst
        shortest = int(times.latency[~local].min(initial=skew)) + times.ser
        if skew >= shortest:
            raise UnsupportedError(f"a message takes {shortest} cycles, no more than the {skew} by which counters may differ")
        self.step = [0] * schedule.transfers
        self._slot, self._skew = times.slot, skew
        self._src, self._dst, self._local = schedule.src.tolist(), schedule.dst.tolist(), local.tolist()
        self._copies, self._lands = (schedule.op == Op.COPY).tolist(), (times.latency + times.ser).tolist()
        buffers = [
            np.zeros(schedule.transfers, np.int32) if column is None else column
            for column in (schedule.src_buffer, schedule.dst_buffer)
        ]
        self._reads, self._writes = (
            list(zip(node.tolist(), schedule.chunk.tolist(), buffer.tolist(), strict=True))
            for node, buffer in zip((schedule.src, schedule.dst), buffers, strict=True)
        )
        self._cells: dict[Cell, _Cell] = defaultdict(_Cell)
        self._start, self._red = machine.reduce_start_cycles, times.red
        parallel = np.bincount(topology.pair_of_link, minlength=len(topology.pair_capacity)) > 1
        links: dict[tuple[str, int], _Resource] = {}
        self._needs: list[list[tuple[_Resource, int, int]]] = [[] for _ in range(schedule.transfers)]
        offset = (uses.entry - times.fire[uses.row]).tolist()
        for row, pair, link, after in zip(uses.row.tolist(), uses.pair.tolist(), uses.link.tolist(), offset, strict=True):
            of_pair = links.setdefault(("pair", pair), _Resource(int(topology.pair_capacity[pair]), times.ser))
            self._needs[row].append((of_pair, after, self._src[row]))
            if link >= 0 and parallel[pair]:
                of_link = links.setdefault(("link", link), _Resource(int(topology.capacity[link]), times.ser))
                self._needs[row].append((of_link, after, self._src[row]))
        for row in range(schedule.transfers):
            if self._local[row]:
                unit = links.setdefault(("copy", self._src[row]), _Resource(1, times.ser))
                self._needs[row].append((unit, 0, self._src[row]))
            if not self._copies[row]:
                unit = links.setdefault(("unit", self._dst[row]), _Resource(1, times.red))
                self._needs[row].append((unit, self._lands[row] + self._start, -1 - row))  # in any order: always with the guard

    def groups(self, rows: list[int]) -> list[list[int]]:
        """Rows of one slot, so that those that read a cell come before or with those that write it."""
        writers: dict[Cell, list[int]] = defaultdict(list)
        for row in rows:
            writers[self._writes[row]].append(row)
        if not any(self._reads[row] in writers for row in rows):
            return [[row] for row in rows]
        group = {row: row for row in rows}  # of those that meet in a cell, all leave together

        def head(row: int) -> int:
            while group[row] != row:
                row = group[row]
            return row

        for row in rows:
            for other in writers.get(self._reads[row], ()):
                group[head(other)] = head(row)
        found: dict[int, list[int]] = defaultdict(list)
        for row in rows:
            found[head(row)].append(row)
        return list(found.values())

    def book(self, rows: list[int]) -> None:
        """One slot for all these rows, the first that is right."""
        fire = max(self._earliest(row) for row in rows)
        for _ in range(MOST_TRIES):
            while (later := self._free_from(rows, fire)) > fire:
                fire = later
            taken = [(resource, (fire + after, source)) for row in rows for resource, after, source in self._needs[row]]
            if self._take_all(taken):
                break
            fire += self._slot
        else:
            raise UnsupportedError(
                f"transfers of node {self._src[rows[0]]} that have to leave in one slot with others meet on a link"
            )
        for row in rows:
            self._send(row, fire)

    def _earliest(self, row: int) -> int:
        """When all that a row reads has landed, what reads the cell that it writes has left, and no copy is under way there."""
        reads, writes = self._cells[self._reads[row]], self._cells[self._writes[row]]
        under_way = writes.landed if self._copies[row] else writes.copied
        earliest = max(reads.landed, writes.read, under_way)
        return earliest + -earliest % self._slot

    def _free_from(self, rows: list[int], fire: int) -> int:
        """The first slot from `fire` on in which resources may be free for each of these rows by itself."""
        needs = (need for row in rows for need in self._needs[row])
        latest = max((unit.free_from(fire + after, source, self._skew) - after for unit, after, source in needs), default=fire)
        return latest + -latest % self._slot

    def _take_all(self, entries: list[tuple[_Resource, tuple[int, int]]]) -> bool:
        """Take the resources; none where rows that leave together want the same."""
        for number, (resource, entry) in enumerate(entries):
            if resource.free_from(*entry, self._skew) > entry[0]:
                for other, taken in entries[:number]:
                    other.entries.remove(taken)
                return False
            insort(resource.entries, entry)
        return True

    def _send(self, row: int, fire: int) -> None:
        self.step[row] = fire // self._slot
        landed = fire + self._lands[row] + (0 if self._copies[row] else self._start + self._red)
        landed += 0 if self._local[row] and self._copies[row] else self._skew
        reads, writes = self._cells[self._reads[row]], self._cells[self._writes[row]]
        reads.read = max(reads.read, fire)
        writes.landed = max(writes.landed, landed)
        if self._copies[row]:
            writes.copied = max(writes.copied, landed)
