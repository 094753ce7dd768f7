"""Forms of schedules: what they have beyond transfers between endpoints in steps of one round."""

from collections.abc import Callable

from certree.models.schedule.schedule import Schedule
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule

#: parts of forms, in the order in which messages name them, with the schedules that have them
PARTS: dict[str, Callable[[Schedule], bool]] = {
    "buffers": lambda schedule: schedule.buffers > 1,
    "virtual_channel": lambda schedule: schedule.virtual_channel is not None,
    "members": lambda schedule: schedule.collective.members is not None,
    "demand": lambda schedule: schedule.collective.demand is not None,
    "slot_cycles": lambda schedule: schedule.slot_cycles is not None,
    "waits": lambda schedule: schedule.waits is not None,
    "rounds": lambda schedule: bool((schedule.rounds != 1).any()),
    "period": lambda schedule: schedule.period is not None,
}
SYMMETRIC = "symmetric"  # of schedules that name the transfers of one node


def form_of(schedule: AnySchedule) -> frozenset[str]:
    """The parts of a schedule's form: names of PARTS, or SYMMETRIC alone. O(steps)."""
    if not isinstance(schedule, Schedule):
        return frozenset((SYMMETRIC,))
    return frozenset(part for part, has in PARTS.items() if has(schedule))
