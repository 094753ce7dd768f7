"""Schedules for counters that differ."""

from certree.extras.goals.run.aim import HARDWARE, Wanted, goal
from certree.models.common.errors import UnsupportedError
from certree.models.fine.fine_tolerance import spread_of, tolerates_clocks
from certree.models.fine.rebooking import with_guards
from certree.models.fine.timed_schedule import timed
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule, written_out

#: guards make a run longer, so that counters drift further apart: the number of tries
TRIES = 8


@goal(HARDWARE)
def hardware(schedule: AnySchedule, wanted: Wanted) -> AnySchedule:
    """Tables that are right where counters start up to --skew cycles apart and drift by up to --drift.

    Its fine slots have guards, unless they tolerate that as they are. O(uses log uses) for each of TRIES at most.
    """
    plan = written_out(schedule)
    cycles = timed(plan, wanted.message_bytes, wanted.machine).cycles
    for _ in range(TRIES):
        made = with_guards(plan, wanted.message_bytes, wanted.machine, spread_of(wanted.skew, wanted.drift, cycles))
        if tolerates_clocks(made, wanted.skew, wanted.drift):
            return made
        cycles = timed(made, wanted.message_bytes, wanted.machine).cycles
    raise UnsupportedError(f"guards for a skew of {wanted.skew} cycles and a drift of {wanted.drift} make runs longer and longer")
