"""Framing of chunks: as one message, or as packets of the machine's payload."""

from dataclasses import replace
from functools import lru_cache
from typing import overload

import numpy as np

from certree.hw.engines.schedule_run import SimulatedSchedule
from certree.hw.tables.lowering import lower
from certree.models.machine.machine import Machine, PacketMachine
from certree.models.schedule import timing as timing_of_chunks
from certree.models.schedule.timing import slot_timing
from certree.models.tables.tables import Tables


@overload
def framed(source: Tables, framing: str) -> Tables: ...
@overload
def framed(source: Tables | SimulatedSchedule, framing: str) -> Tables | SimulatedSchedule: ...
def framed(source: Tables | SimulatedSchedule, framing: str) -> Tables | SimulatedSchedule:
    """The tables (or the plan), unchanged for whole messages; for packets the same rows, with slots that are long enough for a
    header in every packet and never shorter than before. Fine slots are booked anew for messages of that length (`fitted`).
    O(rows log rows), and the bookings.
    """
    if framing == "message":
        return source
    longer = PacketMachine.of(source.machine)
    if source.schedule.has_fine_slots:
        return _booked(source, longer)
    timing = slot_timing(source.schedule, source.message_bytes, longer)
    if isinstance(source, SimulatedSchedule):
        return replace(source, machine=longer, timing=timing)
    return replace(source, machine=longer, slot_cycles=max(source.slot_cycles, timing.slot_cycles))


@lru_cache(maxsize=1)
def _booked(source: Tables | SimulatedSchedule, machine: Machine) -> Tables | SimulatedSchedule:
    """The source on a machine with other headers, in fine slots of its own; computed once for each run."""
    made = lower if isinstance(source, Tables) else SimulatedSchedule.of
    return made(source.schedule, source.message_bytes, machine)


def packet_lengths(source: Tables | SimulatedSchedule, framing: str) -> list[int]:
    """Flits of the packets that carry one chunk (`models.schedule.timing`); where chunks differ in size, the lengths of the
    shortest and the longest packets of any chunk."""
    machine = source.machine
    if source.schedule.has_sizes:
        granules = source.schedule.granules * (source.chunk_bytes // machine.flit_bytes)
        if framing == "packet":
            full = machine.packet_granules
            granules = np.minimum(np.concatenate((granules, (granules - 1) % full + 1)), full)
        return [machine.head_flits + one for one in sorted({int(granules.min()), int(granules.max())})]
    return timing_of_chunks.packet_lengths(source.chunk_bytes, source.machine, framing)
