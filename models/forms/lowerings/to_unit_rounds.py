"""Steps of several rounds as steps of one."""

from certree.models.forms.lowering_chain import LOWERINGS, Lowering
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule, written_out
from certree.models.schedule.unit_rounds import in_unit_rounds


@LOWERINGS.register("to-unit-rounds")
class ToUnitRounds(Lowering):
    """A step for each round, with the transfers that leave in it."""

    removes = frozenset(("rounds",))

    def apply(self, schedule: AnySchedule) -> Schedule:
        """The transfers in steps of one round (`in_unit_rounds`)."""
        return in_unit_rounds(written_out(schedule))
