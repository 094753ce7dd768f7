"""A schedule as it runs where no table can say it: its transfers, with the sizes and the slot of one message."""

from dataclasses import dataclass

from certree.models.machine.machine import Machine
from certree.models.network.topology import Topology
from certree.models.schedule.collective import Collective
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.timing import SlotTiming, slotted


@dataclass(frozen=True, eq=False)
class Plan:
    """The counterpart of `Tables` for any schedule: `schedule` has steps of one round. What both have has the same names."""

    schedule: Schedule
    machine: Machine
    timing: SlotTiming

    @classmethod
    def of(cls, schedule: Schedule, message_bytes: int, machine: Machine) -> "Plan":
        """The plan for a message of that many bytes; errors as `slotted`. O(rows log rows)."""
        spread, timing = slotted(schedule, message_bytes, machine)
        return cls(spread, machine, timing)

    @property
    def topology(self) -> Topology:
        """The network."""
        return self.schedule.topology

    @property
    def collective(self) -> Collective:
        """What it promises."""
        return self.schedule.collective

    @property
    def chunks(self) -> int:
        """K."""
        return self.schedule.chunks

    @property
    def repeats(self) -> int:
        """Iterations."""
        return self.schedule.repeats

    @property
    def message_bytes(self) -> int:
        """As asked for."""
        return self.timing.message_bytes

    @property
    def chunk_bytes(self) -> int:
        """Of each chunk."""
        return self.timing.chunk_bytes

    @property
    def slot_cycles(self) -> int:
        """Length of a slot."""
        return self.timing.slot_cycles
