"""Fine slots booked anew: for another message size, for another machine, or with guards against clocks that differ.

Transfers are taken in the order in which they fired. Each one leaves in the first slot in which all that it reads has landed and
every link of its route, and the unit that adds it, is free for it. So every transfer reads the same data as before.
"""

from collections import defaultdict
from dataclasses import replace
from fractions import Fraction

import numpy as np

from certree.models.common.errors import UnsupportedError
from certree.models.fine.equal import in_equal_slots
from certree.models.fine.fine_tolerance import tolerates
from certree.models.fine.list_jobs import NONE, Cells, Places, Sharing
from certree.models.fine.list_scheduler import in_order
from certree.models.fine.slots import FineTimes, Int64, fine_times, is_made_for
from certree.models.machine.machine import Machine
from certree.models.schedule.made_for import MadeFor
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import Op
from certree.models.schedule.timing import slotted
from certree.models.schedule.tolerance import tolerant_slot

MAX_SLOTS = 1 << 24
MOST_USES = 1 << 20  # of links and units by transfers


def rebooked(schedule: Schedule, message_bytes: int, machine: Machine, skew: int = 0, slot: int | None = None) -> Schedule:
    """The transfers of a schedule with fine slots, fired in other slots, for a size, a machine, and counters that start up to
    `skew` cycles apart. `slot`: cycles of a slot, by default as before.

    Messages of different nodes are then at least `skew` cycles apart on a link, and at the unit that adds them, and what they bring
    is used as much later; nothing waits at routers. Raises UnsupportedError for schedules that repeat, for more than MOST_USES
    uses of links, and where a message takes fewer cycles than `skew`. O(uses log uses).
    """
    if schedule.repeats > 1:
        raise UnsupportedError("fine slots of a schedule that repeats are not booked anew")
    fresh = replace(schedule, made_for=MadeFor(message_bytes, machine), waits=None, certificate=None)
    fresh = fresh if slot is None else replace(fresh, slot_cycles=slot)
    times = fine_times(fresh)
    _require_bookable(times, skew)
    step = _fires(times, skew)
    if int(step.max(initial=0)) >= MAX_SLOTS:
        raise UnsupportedError(f"more than {MAX_SLOTS} slots")
    order = np.argsort(step, kind="stable")
    names = [*schedule.columns]
    columns = {name: getattr(schedule, name)[order] for name in names if name != "step"}
    rounds = np.ones(int(step.max(initial=0)) + 1, np.int32)
    return replace(fresh, step=step[order].astype(np.int32), rounds=rounds, **columns)


def fitted(schedule: Schedule, message_bytes: int, machine: Machine) -> Schedule:
    """A schedule with fine slots for another size or machine: itself where it was made for these, else booked anew, or in equal
    slots where that is not possible; one without fine slots as it is. UnsupportedError where nothing is (`in_equal_slots`)."""
    if not schedule.has_fine_slots or is_made_for(schedule, message_bytes, machine):
        return schedule
    try:
        return rebooked(schedule, message_bytes, machine)
    except UnsupportedError:
        return in_equal_slots(schedule)


def with_guards(schedule: Schedule, message_bytes: int, machine: Machine, skew: int) -> Schedule:
    """The transfers of a schedule in fine slots that tolerate counters which start up to `skew` cycles apart.

    It is the faster of two: the schedule where its fine slots tolerate them, or else its equal slots, made longer; and, where
    nothing repeats, what `rebooked` finds in slots of a cycle. Raises UnsupportedError where neither does, InputError as `slotted`.
    """
    if not schedule.has_fine_slots:
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


def _require_bookable(times: FineTimes, skew: int) -> None:
    if (uses := len(times.reservations.row)) > MOST_USES:
        raise UnsupportedError(f"transfers pass {uses} links in all; fine slots are booked anew for {MOST_USES} at most")
    moving = times.schedule.src != times.schedule.dst
    shortest = int(times.latency[moving].min(initial=skew)) + times.ser
    if skew >= shortest:
        raise UnsupportedError(f"a message takes {shortest} cycles, no more than the {skew} by which counters may differ")


def places_of(times: FineTimes) -> tuple[Places, Int64]:
    """The uses of links by the messages of a schedule, and the lanes of each resource: all links between two nodes together, and
    each of parallel links that a route names. O(uses)."""
    uses, topology = times.reservations, times.schedule.topology
    pairs = len(topology.pair_capacity)
    parallel = np.bincount(topology.pair_of_link, minlength=pairs) > 1
    named = np.flatnonzero((uses.link >= 0) & parallel[uses.pair])
    row, resource = np.append(uses.row, uses.row[named]), np.append(uses.pair, pairs + uses.link[named])
    after = np.append(uses.entry, uses.entry[named]) - times.fire[row]
    lanes = np.append(topology.pair_capacity, topology.capacity).astype(np.int64)
    return _sorted(row, resource, times.schedule.src[row].astype(np.int64), after, times.length[row]), lanes


def _sorted(*columns: Int64) -> Places:
    order = np.argsort(columns[0], kind="stable")
    return Places(*(column[order] for column in columns))


def with_units(times: FineTimes) -> tuple[Places, Int64]:
    """The places with copy units and, a message at a time, reduction units: these serve arrivals in any order, so that no two of
    them have one source."""
    schedule, nodes = times.schedule, len(times.schedule.topology.kind)
    places, lanes = places_of(times)
    local, adds = np.flatnonzero(schedule.src == schedule.dst), np.flatnonzero(schedule.op == Op.REDUCE)
    copy, unit = len(lanes) + schedule.src[local], len(lanes) + nodes + schedule.dst[adds]
    comes = (times.latency + times.ser)[adds] + times.machine.reduce_start_cycles
    length = np.repeat([times.ser, times.red], [len(places.row) + len(local), len(adds)])
    found = _sorted(
        np.concatenate((places.row, local, adds)),
        np.concatenate((places.resource, copy, unit)),
        np.concatenate((places.source, schedule.src[local], -1 - adds)),
        np.concatenate((places.after, 0 * local, comes)),
        length,
    )
    return found, np.append(lanes, np.ones(2 * nodes, np.int64))


def cells_of(schedule: Schedule) -> tuple[Int64, Int64]:
    """The numbers of the cells that each row reads and that it writes. O(rows log rows)."""
    zero = np.zeros(schedule.transfers, np.int32)
    buffers = (zero if column is None else column for column in (schedule.src_buffer, schedule.dst_buffer))
    chunk, nodes = schedule.chunk.astype(np.int64), (schedule.src.astype(np.int64), schedule.dst.astype(np.int64))
    first, second = ((node * schedule.chunks + chunk) * schedule.buffers + one for node, one in zip(nodes, buffers, strict=True))
    reads, writes = np.unique(np.stack((first, second)), return_inverse=True)[1].reshape(2, -1)
    return reads, writes


def groups_of(step: Int64, reads: Int64, writes: Int64) -> tuple[Int64, Int64]:
    """Rows of one slot, so that those that read a cell leave before or with those that write it: of those that meet in a cell all
    together. By group where its rows begin, and the rows. O(rows log rows)."""
    cells = 1 + int(max(reads.max(initial=0), writes.max(initial=0)))
    read, written = step * cells + reads, step * cells + writes
    group = np.arange(len(step)).tolist()

    def head(row: int) -> int:
        while group[row] != row:
            row = group[row]
        return row

    writers = defaultdict(list)
    for row in np.flatnonzero(np.isin(written, read)).tolist():
        writers[written[row]].append(row)
    for row in np.flatnonzero(np.isin(read, written)).tolist():
        for other in writers[read[row]]:
            group[head(other)] = head(row)
    heads = np.array([head(row) for row in range(len(step))], np.int64) if writers else np.arange(len(step))
    first = np.full(len(step), len(step))
    np.minimum.at(first, heads, np.arange(len(step)))
    rows = np.lexsort((first[heads], step))
    begin = np.flatnonzero(np.append(True, np.diff(heads[rows]) != 0)) if len(rows) else np.zeros(0, np.int64)
    return np.append(begin, len(rows)), rows


def _fires(times: FineTimes, skew: int) -> Int64:
    """The first slot in which each row can fire: the transfers are taken in the order in which they fired."""
    schedule = times.schedule
    places, lanes = with_units(times)
    (reads, writes), copies = cells_of(schedule), schedule.op == Op.COPY
    begin, rows = groups_of(schedule.step.astype(np.int64), reads, writes)
    lands = times.latency + times.ser + np.where(copies, 0, times.machine.reduce_start_cycles + times.red)
    lands += np.where(copies & (schedule.src == schedule.dst), 0, skew)
    cells = Cells(reads, writes, copies, lands, begin, rows)
    fire, met = in_order(places, cells, lanes, times.slot, Sharing.MEETS, skew)
    if met != NONE:
        node = schedule.src[rows[begin[met]]]
        raise UnsupportedError(f"transfers of node {node} that have to leave in one slot with others meet on a link")
    return fire // times.slot
