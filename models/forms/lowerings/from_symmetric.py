"""Symmetric schedules written out."""

from certree.models.forms.lowering_chain import LOWERINGS, Lowering
from certree.models.forms.schedule_form import SYMMETRIC
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule, written_out


@LOWERINGS.register("from-symmetric")
class FromSymmetric(Lowering):
    """The transfers of all nodes in place of those of one."""

    removes = frozenset((SYMMETRIC,))

    def apply(self, schedule: AnySchedule) -> Schedule:
        """The schedule with all transfers written out. UnsupportedError where they are too many."""
        return written_out(schedule)
