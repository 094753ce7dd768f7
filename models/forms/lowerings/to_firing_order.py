"""Fine slots in the order in which transfers fire."""

from certree.models.fine.equal import in_firing_order
from certree.models.forms.lowering_chain import LOWERINGS, Lowering
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule, written_out


@LOWERINGS.register("to-firing-order")
class ToFiringOrder(Lowering):
    """A step for each cycle in which any transfer of a schedule with fine slots fires."""

    removes = frozenset(("slot_cycles", "waits"))
    order_only = True

    def apply(self, schedule: AnySchedule) -> Schedule:
        """The transfers in their order (`in_firing_order`)."""
        return in_firing_order(written_out(schedule))
