"""Whether a slotted run with equal clocks takes the same cycles through the routers of a machine as on lanes."""

import numpy as np

from certree.models.common.errors import InputError
from certree.models.fine.demand import in_fine_slots_if_needed
from certree.models.machine.machine import Machine
from certree.models.routers.framing import packet_lengths
from certree.models.routers.transparency import (
    SHARED_INTERFACE,
    has_routers,
    pass_without_waiting,
    pipeline_effect,
    schedule_effect,
)
from certree.models.schedule.symmetric.symmetric import AnySchedule, SymmetricSchedule, written_out
from certree.models.schedule.timing import chunk_bytes_of, message_flits, slotted
from certree.models.tables.tables import Tables


def agreement_of_schedule(
    schedule: AnySchedule, machine: Machine, message_bytes: int, framing: str | None = None, slot_cycles: int | None = None
) -> str | None:
    """The effect that routers may add to the closed form of a schedule; None: both agree to the cycle (`schedule_effect`).

    `framing`: of chunks, "message" or "packet"; None: of whole messages. `slot_cycles`: of its tables, by default as long as
    needed. A symmetric schedule is written out where its slots may matter, if it is not too large. O(transfers log transfers).
    """
    chunk = chunk_bytes_of(message_bytes, schedule.message_chunks, schedule.repeats, machine)
    lengths = packet_lengths(chunk, machine, framing or "message")
    if isinstance(schedule, SymmetricSchedule):
        effect = pipeline_effect(schedule.topology, machine, min(lengths), max(lengths), is_far=False)
        if machine.router.interfaces == "node" and has_routers(machine):
            effect = SHARED_INTERFACE
    else:
        effect = schedule_effect(schedule, machine, lengths)
    if effect is None:
        return None
    try:
        plan = in_fine_slots_if_needed(written_out(schedule), message_bytes, machine)
        if plan.slot_cycles is not None:
            return schedule_effect(plan, machine, lengths, plan.slot_cycles)
        plan, timing = slotted(plan, message_bytes, machine)
    except InputError:  # too large to be written out, or without slots
        return effect
    return schedule_effect(plan, machine, lengths, slot_cycles or timing.slot_cycles)


def waits_for_credits(schedule: AnySchedule, machine: Machine, message_bytes: int) -> bool:
    """Whether messages are so long that they wait for credits in the routers of the machine, which its closed form leaves out. Not
    asked of a schedule for a demand. O(links), and as `agreement_of_schedule` where they may."""
    if schedule.collective.demand is not None:
        return False
    chunk = chunk_bytes_of(message_bytes, schedule.message_chunks, schedule.repeats, machine)
    flits = np.array([message_flits(chunk, machine)])
    if pass_without_waiting(schedule.topology, machine, flits).all():
        return False
    return agreement_of_schedule(schedule, machine, message_bytes) is not None


def agreement_of_tables(tables: Tables, framing: str | None = None) -> str | None:
    """`agreement_of_schedule` of the schedule that the rows execute, with the slots of the tables."""
    lengths = packet_lengths(tables.chunk_bytes, tables.machine, framing or "message")
    return schedule_effect(tables.schedule, tables.machine, lengths, tables.slot_cycles)
