"""Fine slots for demands: when each message of a schedule whose chunks differ in size leaves, at a size and on a machine.

Steps of such a schedule are as long as their longest message, and tables have slots of one length. So their rows fire in fine
slots: the transfers are taken step by step, in the order of their rows, and each leaves as soon as its chunk has come and every
link of its route is free for it from then on. Nothing waits at routers.
"""

from dataclasses import replace

import numpy as np

from certree.models.common.errors import UnsupportedError
from certree.models.fine.list_jobs import Cells, Sharing
from certree.models.fine.list_scheduler import in_order
from certree.models.fine.rebooking import cells_of, fitted, places_of
from certree.models.fine.slots import FineTimes, Int64, fine_times, is_made_for
from certree.models.machine.machine import Machine
from certree.models.schedule.made_for import MadeFor
from certree.models.schedule.schedule import Schedule

MOST_SLOTS = 1 << 20  # of a run: a slot lasts a cycle, or the least power of two with which it has no more


def in_fine_slots_if_needed(schedule: Schedule, message_bytes: int, machine: Machine) -> Schedule:
    """The schedule with the fine slots that it runs in at this size and on this machine; itself where slots have one length.

    With a demand it is `booked`, with fine slots `fitted`. Errors as these."""
    if schedule.collective.demand is not None:
        return booked(schedule, message_bytes, machine)
    return fitted(schedule, message_bytes, machine)


def booked(schedule: Schedule, message_bytes: int, machine: Machine) -> Schedule:
    """A schedule for a demand in fine slots, itself where it has those of this size and machine; its other fields stay.

    UnsupportedError where a chunk reaches a node twice, or a transfer has no link: the order of its transfers is then not known.
    InputError as `FineTimes`. O(hops · log hops).
    """
    if schedule.has_fine_slots and is_made_for(schedule, message_bytes, machine):
        return schedule
    return booked_in(unplaced(schedule, message_bytes, machine), np.argsort(schedule.step, kind="stable"))


def unplaced(schedule: Schedule, message_bytes: int, machine: Machine) -> Schedule:
    """The transfers of a schedule for a demand, all in the first slot. Errors as `booked`."""
    _refuse_several_paths(schedule)
    still = replace(
        schedule, step=np.zeros(schedule.transfers, np.int32), rounds=np.ones(1, np.int32), delay=1, slot_cycles=1,
        waits=None, made_for=MadeFor(message_bytes, machine), certificate=None,
    )  # fmt: skip
    return replace(still, slot_cycles=1 << (_fullest(fine_times(still)) // MOST_SLOTS).bit_length())


def booked_in(still: Schedule, order: Int64) -> Schedule:
    """Transfers that are `unplaced`, taken in this order, in which each is behind the one that brings its chunk."""
    slot = fine_times(still).slot
    while True:
        still = replace(still, slot_cycles=slot)
        fires = slots_in(fine_times(still), order)
        if (last := int(fires.max(initial=0))) < MOST_SLOTS:
            break
        slot *= 1 << (last // MOST_SLOTS).bit_length()
    order = np.argsort(fires, kind="stable")
    columns = {name: getattr(still, name)[order] for name in still.columns if name != "step"}
    return replace(still, step=fires[order].astype(np.int32), rounds=np.ones(last + 1, np.int32), **columns)


def _refuse_several_paths(schedule: Schedule) -> None:
    reached = np.sort(schedule.dst.astype(np.int64) * schedule.chunks + schedule.chunk)
    twice = reached[1:][reached[1:] == reached[:-1]]
    if len(twice):
        node, chunk = divmod(int(twice[0]), schedule.chunks)
        raise UnsupportedError(f"chunk {chunk} reaches node {node} twice; chunks of a demand have one path in tables and in times")
    if (schedule.pair[schedule.route < 0] < 0).any():
        raise UnsupportedError("a transfer has no link; verify the schedule first")


def _fullest(times: FineTimes) -> int:
    """The number of cycles that messages take on the fullest link."""
    uses, capacity = times.reservations, times.schedule.topology.pair_capacity
    load = np.zeros(len(capacity), np.int64)
    np.add.at(load, uses.pair, times.length[uses.row])
    return int((load // capacity).max(initial=0))


def slots_in(times: FineTimes, rows: Int64) -> Int64:
    """The slot in which each row fires: the first from which on its chunk is there, and its links are free for good."""
    places, lanes = places_of(times)
    reads, writes = cells_of(times.schedule)
    copies = np.ones(len(rows), np.bool_)
    cells = Cells(reads, writes, copies, times.latency + times.length, np.arange(len(rows) + 1), rows)
    fire, _ = in_order(places, cells, lanes, times.slot, Sharing.BEHIND)
    return fire // times.slot
