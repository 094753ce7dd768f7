"""The time bound of what tests run, without a search for bandwidth bounds."""

from functools import lru_cache

from certree.api.evidence import found_time_bounds
from certree.models.machine.machine import Machine
from certree.models.network.topology import Topology
from certree.models.schedule.collective import Collective
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule
from certree.verify.bounds.cheap import cheap_bounds
from certree.verify.bounds.instance import Instance


def least_cycles(schedule: AnySchedule, message_bytes: int, machine: Machine) -> int:
    """Cycles that no run of the schedule's collective undercuts; 0 where the network contradicts the machine."""
    instance = Instance.of(schedule)
    return _least(instance.topology, instance.collective, instance.shares, message_bytes, machine)


@lru_cache(maxsize=256)
def _least(topology: Topology, collective: Collective, shares: tuple[object, ...], size: int, machine: Machine) -> int:
    instance = Instance(topology, collective, shares)  # type: ignore[arg-type]
    found = found_time_bounds(instance, cheap_bounds(instance), size, machine)
    return int(found[0]["value"]) if found else 0
