"""Forms of schedules: what they have beyond transfers between endpoints in steps of one round."""

from certree.models.schedule.schedule import Schedule
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule

#: parts of forms, in the order in which messages name them: the fields of version 2, and others
PARTS = ("buffers", "virtual_channel", "members", "demand", "slot_cycles", "waits", "rounds", "period")
SYMMETRIC = "symmetric"  # of schedules that name the transfers of one node


def form_of(schedule: AnySchedule) -> frozenset[str]:
    """The parts of a schedule's form: names of PARTS, or SYMMETRIC alone. O(steps)."""
    if not isinstance(schedule, Schedule):
        return frozenset((SYMMETRIC,))
    others = {
        "waits": schedule.plans_waits,
        "rounds": bool((schedule.rounds != 1).any()),
        "period": schedule.period is not None,
    }
    return frozenset((*schedule.version_2_fields, *(name for name, has in others.items() if has)))
