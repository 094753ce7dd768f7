"""Schedules that TLC checks."""

from certree.extras.goals.run.aim import Wanted, goal
from certree.extras.tla.check.table_model import extent_of_success
from certree.hw.run import tables_or_plan
from certree.models.common.errors import UnsupportedError
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule
from certree.models.tables.tables import Tables


@goal("model-check")
def model_check(schedule: AnySchedule, wanted: Wanted) -> AnySchedule:
    """Tables that are small enough for TLC to check all states, as `certree model-check --schedule` does."""
    tables = tables_or_plan(schedule, wanted.message_bytes, wanted.machine, files=False)
    if not isinstance(tables, Tables):
        raise UnsupportedError("there are no tables that TLC could check")
    mode, _ = extent_of_success(tables)
    if mode != "exhaustive":
        raise UnsupportedError(f"TLC would check {len(tables.node)} rows by random runs, not all states")
    return schedule
