"""Schedules of any form in the slots in which they run at a size, on a machine."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import lru_cache

from certree.models.common.errors import InputError
from certree.models.fine.demand_slots import in_fine_slots_if_needed
from certree.models.fine.slots import fine_times
from certree.models.machine.machine import Machine
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule, SymmetricSchedule, written_out
from certree.models.schedule.timing import SlotTiming, in_slots, schedule_cycles, slot_timing, slotted


@dataclass(frozen=True, eq=False)
class TimedSchedule(ABC):
    """A schedule in the slots of a run: `schedule` has fine slots, or steps of one round."""

    schedule: Schedule
    message_bytes: int
    machine: Machine

    @property
    @abstractmethod
    def timing(self) -> SlotTiming:
        """The times of a slot; with fine slots those of its transfers in equal slots, with the slots as they are."""

    def cycles_in(self, slot_cycles: int) -> int:
        """The number of cycles of a run in equal slots of another length. InputError for a run of more than MAX_CYCLES."""
        return schedule_cycles(self.schedule, in_slots(self.schedule, self.timing, slot_cycles), self.machine)

    @property
    @abstractmethod
    def slot_cycles(self) -> int:
        """The number of cycles of a slot."""

    @property
    @abstractmethod
    def chunk_bytes(self) -> int:
        """The number of bytes of a chunk, padded to whole granules; of a granule where chunks have sizes."""

    @property
    @abstractmethod
    def cycles(self) -> int:
        """The number of cycles from the common start until everything has landed, in closed form. O(rows log rows)."""


@dataclass(frozen=True, eq=False)
class _EqualSlots(TimedSchedule):
    known: SlotTiming

    @property
    def timing(self) -> SlotTiming:
        return self.known

    @property
    def slot_cycles(self) -> int:
        return self.timing.slot_cycles

    @property
    def chunk_bytes(self) -> int:
        return self.timing.chunk_bytes

    @property
    def cycles(self) -> int:
        return schedule_cycles(self.schedule, self.timing, self.machine)


class _FineSlots(TimedSchedule):
    @property
    def timing(self) -> SlotTiming:
        equal = replace(self.schedule, slot_cycles=None, waits=None)
        return replace(slot_timing(equal, self.message_bytes, self.machine), slot_cycles=self.slot_cycles)

    @property
    def slot_cycles(self) -> int:
        return fine_times(self.schedule).slot

    @property
    def chunk_bytes(self) -> int:
        return fine_times(self.schedule).chunk_bytes

    @property
    def cycles(self) -> int:
        return fine_times(self.schedule).cycles


def timed(schedule: AnySchedule, message_bytes: int, machine: Machine) -> TimedSchedule:
    """A schedule in the slots of a run: fine slots booked for that size and machine, with a demand as well; else steps of one
    round, of a symmetric schedule for the arrivals at one node (`slotted`).

    Errors as `in_fine_slots_if_needed` and `slotted`; UnsupportedError for a symmetric schedule with fine slots that is too large
    to be written out. O(rows log rows), and the bookings; computed once while it is examined.
    """
    return _timed(schedule, message_bytes, machine)


@lru_cache(maxsize=2)
def _timed(schedule: AnySchedule, message_bytes: int, machine: Machine) -> TimedSchedule:
    plan = written_out(schedule) if schedule.has_fine_slots else schedule
    if not isinstance(plan, SymmetricSchedule):
        plan = in_fine_slots_if_needed(plan, message_bytes, machine)
    if isinstance(plan, Schedule) and plan.has_fine_slots:
        return _FineSlots(plan, message_bytes, machine)
    steps, timing = slotted(plan, message_bytes, machine)
    return _EqualSlots(steps, message_bytes, machine, timing)


def round_cycles(schedule: AnySchedule, message_bytes: int, machine: Machine) -> int | None:
    """The number of cycles of a round: of a fine slot as the schedule has it, else of a slot at that size, on that machine; None
    where rounds have no length of their own. O(rows log rows)."""
    if schedule.has_fine_slots:
        return schedule.slot_cycles
    try:
        run = timed(schedule, message_bytes, machine)
    except InputError:
        return None
    return run.slot_cycles if run.schedule.steps == int(schedule.rounds.sum()) and not run.schedule.has_fine_slots else None
