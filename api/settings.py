"""Message size and machine for timing and running a schedule: those requested, else those recorded, else the defaults."""

from collections.abc import Callable
from pathlib import Path

from certree.api import parsing
from certree.api.parsing import DEFAULT_MACHINE
from certree.api.reports.text import one_line, size_words
from certree.models.common.errors import InputError
from certree.models.machine.machine import MACHINES, Machine, load_machine
from certree.models.machine.speeds import contradiction, default_machine
from certree.models.network.topology import Topology
from certree.models.schedule.made_for import MadeFor
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule

Tell = Callable[[str], None]


def silent(_text: str) -> None:
    """Ignore the note."""


def setting(
    schedule: AnySchedule, size: int | str | None = None, machine: str | Path | Machine | None = None, tell: Tell = silent
) -> MadeFor:
    """The size and the machine to use with a schedule. `tell` receives a line for each that differs from what it records."""
    used = MadeFor(message_size(schedule, size, tell), machine_of(schedule, machine, tell))
    if schedule.has_fine_slots and used != schedule.made_for:
        tell("its fine slots are not for this size and machine; it is timed and run in others")
    return used


def machine_for(topology: Topology, machine: str | Path | Machine | None, tell: Tell = silent) -> Machine:
    """The machine requested, else the default one with the link speeds that the network states (`tell` then receives a line).
    Raises InputError where a requested machine contradicts the network."""
    if machine is None:
        used = default_machine(topology, DEFAULT_MACHINE)
        if used != parsing.machine():
            speed = f"{used.clock_hz / 10**9:.6g} GHz" if topology.bandwidth is None else f"{topology.bandwidth / 10**9:.6g} GB/s"
            tell(f"timed with {speed} for a link of capacity 1, as the network states; latencies are of {used.name.split()[0]}")
        return used
    asked = parsing.machine(machine)
    if (wrong := contradiction(topology, asked)) is not None:
        advice = "leave out --params to time it with the speeds of the network, or give a machine that has them"
        raise InputError(f"{one_line(topology.name)} and machine {one_line(asked.name)} contradict each other: {wrong}; {advice}")
    return asked


def message_size(schedule: AnySchedule, size: int | str | None, tell: Tell = silent) -> int:
    """The bytes requested, else those that the schedule was made for, else the default; `tell` as in `setting`."""
    known = schedule.made_for
    if size is None and known is not None:
        return known.message_bytes
    used = parsing.size() if size is None else parsing.size(size)
    if known is None and size is None:
        tell(f"the schedule records no message size; {size_words(used)} assumed")
    elif known is not None and known.message_bytes != used:
        tell(f"the schedule was made for {size_words(known.message_bytes)}; {size_words(used)} used instead")
    return used


def machine_of(schedule: AnySchedule, machine: str | Path | Machine | None, tell: Tell = silent) -> Machine:
    """The machine requested, else the one that the schedule was made for, else the default; `tell` as in `setting`, and
    where a recorded machine has the name of a preset but other values."""
    known = schedule.made_for
    if machine is None and known is not None:
        name = known.machine.name
        if name in MACHINES.names() and load_machine(name) != known.machine:
            tell(f"the schedule records other values of machine {name} than the preset has; those recorded are used")
        return known.machine
    used = default_machine(schedule.topology, DEFAULT_MACHINE) if machine is None else parsing.machine(machine)
    if known is None and machine is None:
        tell(f"the schedule records no machine; {used.name} assumed")
    elif known is not None and known.machine != used:
        same = " with other values" if known.machine.name == used.name else ""
        tell(f"the schedule was made for machine {one_line(known.machine.name)}; {one_line(used.name)}{same} used instead")
    return used
