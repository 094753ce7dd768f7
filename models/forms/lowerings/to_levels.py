"""Fine slots as the fewest steps that keep who reads what."""

from certree.models.fine.equal import in_levels
from certree.models.forms.lowering_chain import LOWERINGS, Lowering
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule, written_out


@LOWERINGS.register("to-levels")
class ToLevels(Lowering):
    """Steps as early as data allow for the transfers of a schedule with fine slots, as long as their busiest link needs."""

    removes = frozenset(("slot_cycles", "waits"))

    def apply(self, schedule: AnySchedule) -> Schedule:
        """The transfers in levels (`in_levels`)."""
        return in_levels(written_out(schedule))
