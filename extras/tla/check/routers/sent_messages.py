"""The messages of a schedule on a machine, in the order in which nodes send them."""

from dataclasses import dataclass

import numpy as np

from certree.models.machine.machine import Machine
from certree.models.routers.lanes import Columns, messages_of_tables
from certree.models.schedule.schedule import Schedule
from certree.models.tables.tables import Tables


@dataclass(frozen=True, eq=False)
class Sent:
    """Messages of an iteration: `columns`, as `models.routers.lanes` has them, of `chunk_bytes` each. `schedule`: in steps of one
    round, or fine slots."""

    schedule: Schedule
    machine: Machine
    chunk_bytes: int
    columns: Columns
    period: int

    @classmethod
    def of_tables(cls, tables: Tables) -> "Sent":
        """The messages that tables command."""
        period = tables.period or int(tables.step.max(initial=0)) + 1
        return cls(tables.schedule, tables.machine, tables.chunk_bytes, messages_of_tables(tables)[1], period)

    @classmethod
    def of_schedule(cls, schedule: Schedule, machine: Machine, chunk_bytes: int) -> "Sent":
        """The transfers of a schedule without tables, for example one in which switches add: those of a node one step after the
        other."""
        order = np.lexsort((schedule.dst, schedule.chunk, schedule.op, schedule.step, schedule.src))
        columns = {name: getattr(schedule, name)[order] for name in schedule.columns}
        return cls(schedule, machine, chunk_bytes, columns, schedule.period or schedule.steps)
