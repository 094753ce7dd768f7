"""Joint schedules: schedules of several collectives in fine slots, each with the slot in which it begins, on one network."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.extras.joint.model.collective_list import Entry
from certree.models.fine.slots import fine_times
from certree.models.machine.machine import Machine
from certree.models.network.topology import Topology
from certree.models.schedule.schedule import Schedule


@dataclass(frozen=True, eq=False)
class Part:
    """A collective of a joint schedule: its `entry`, and its `schedule` in fine slots, the first of which opens in cycle `begin`,
    counted from the opening of the first slot of the run."""

    entry: Entry
    begin: int
    schedule: Schedule

    @property
    def name(self) -> str:
        """The name of the collective."""
        return self.entry.name

    @cached_property
    def fire(self) -> NDArray[np.int64]:
        """The cycle of the run in which each row fires."""
        return self.begin + fine_times(self.schedule).fire

    @cached_property
    def first(self) -> int:
        """The cycle in which its first transfer fires."""
        return int(self.fire.min(initial=1 << 62)) if self.schedule.transfers else self.begin

    @cached_property
    def landed(self) -> int:
        """The cycle in which all of its data have landed."""
        times = fine_times(self.schedule)
        return self.begin + times.cycles - times.machine.ni_start_cycles


@dataclass(frozen=True)
class Launching:
    """How ranks launch collectives: by rank all of its collectives in `orders`, of which `contexts` may be open at once. `order`:
    the certificate that all end, an order in which they do."""

    contexts: int
    orders: Mapping[int, tuple[str, ...]]
    order: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class JointSchedule:
    """Collectives on one network and machine, each in fine slots of its own length.

    `bounds`: what every run of these collectives takes (`certree.extras.joint.check.joint_bounds`). `provenance`: how it was made,
    and the cycles of its collectives one after the other. `launching`: where ranks launch its collectives by themselves.
    """

    topology: Topology
    machine: Machine
    parts: tuple[Part, ...]
    bounds: tuple[Mapping[str, Any], ...] = ()
    provenance: Mapping[str, Any] = field(default_factory=dict)
    launching: Launching | None = None

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The entries of its collectives."""
        return tuple(part.entry for part in self.parts)

    @property
    def ends(self) -> dict[str, int]:
        """The cycles from the common start until all data of each collective have landed, by name."""
        return {part.name: self.machine.ni_start_cycles + part.landed for part in self.parts}

    @property
    def cycles(self) -> int:
        """The number of cycles from the common start until all data have landed."""
        return max(self.ends.values())

    @property
    def weighted_ends(self) -> int:
        """The sum of the ends of collectives, each times its weight."""
        ends = self.ends
        return sum(part.entry.weight * ends[part.name] for part in self.parts)

    def __repr__(self) -> str:
        kinds = ", ".join(f"{part.name} {part.entry.collective.name}" for part in self.parts[:4])
        more = f" and {len(self.parts) - 4} more" if len(self.parts) > 4 else ""
        return f"<JointSchedule of {len(self.parts)} collectives on {self.topology.name}: {kinds}{more}; {self.cycles} cycles>"
