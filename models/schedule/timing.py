"""Closed-form times of slotted schedules: exact integer cycles, one formula (`slot_length`) for exporter, checker and synthesizer.

Notation: ser = cycles in which one chunk passes a link of one chunk unit, which moves a flit every `scale` cycles (Topology),
rounded up; lat = path latency; red = worst time from the last flit's arrival to "reduced and usable", waiting behind the other
arrivals of the same slot included. A slot lasts

    slot_cycles = max(ser + stagger, work, copies · ser, ceil((ser + lat + red) / delay))

where `work` is the time the busiest reduction unit needs for one slot's arrivals. With slots no shorter than that, no backlog is
carried from slot to slot, which is what makes `red` a bound; whenever a unit is at least as fast as its links, ser is the
larger term anyway. `stagger` is zero between neighbours: messages over several links reach a link at different times after
their slots opened, and one that comes late may not meet one of the next slot that comes early. `copies` is the most messages to
itself that a node sends in one slot; the last of them waits for the others, which counts as its latency.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from certree.models.common.budget import hold
from certree.models.common.errors import InputError
from certree.models.machine.machine import Machine
from certree.models.schedule.paths import copies_before, is_local, link_stagger, path_latency
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import Op
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule, SymmetricSchedule
from certree.models.schedule.unit_rounds import in_unit_rounds

Int64 = NDArray[np.int64]
_Whole = TypeVar("_Whole", int, Int64)
MAX_CYCLES = 1 << 60  # of a whole run: sums stay within 64 bits

FRAMINGS = ("message", "packet")  # a chunk is one message, or packets of the machine's payload


@dataclass(frozen=True)
class SlotTiming:
    """The timing of slots: sizes in bytes, times in cycles."""

    message_bytes: int  # as requested
    padded_bytes: int  # a multiple of K · repeats · granule
    chunk_bytes: int
    ser: int
    lat: int
    uneven: int  # cycles between the shortest and the longest path
    red: int
    work: int
    stagger: int
    slot_cycles: int


def ceil_div(a: _Whole, b: int | _Whole) -> _Whole:
    """The whole number at or above a / b; of arrays, entry by entry."""
    return -(-a // b)


def reduction_cycles(chunk_bytes: _Whole, machine: Machine) -> _Whole:
    """Cycles the reduction unit is busy with one chunk."""
    quantum = machine.reduce_quantum_cycles
    most = min(machine.reduce_bytes_per_cycle * quantum, MAX_CYCLES)  # more than any chunk, and within 64 bits
    return ceil_div(chunk_bytes, most) * quantum


def message_flits(chunk_bytes: _Whole, machine: Machine) -> _Whole:
    """Flits of the message of one chunk, header included."""
    granules = ceil_div(chunk_bytes, machine.flit_bytes)
    return granules + machine.heads(granules)


def lane_cycles(flits: _Whole, scale: int | Fraction) -> _Whole:
    """Whole cycles that a message of `flits` flits occupies a lane, one of the `scale` units of a full link."""
    return scale * flits if isinstance(scale, int) else ceil_div(scale.numerator * flits, scale.denominator)


def serialization_cycles(chunk_bytes: _Whole, machine: Machine, scale: int | Fraction = 1) -> _Whole:
    """Cycles one chunk, header included, occupies one of the `scale` units of a full link."""
    return lane_cycles(message_flits(chunk_bytes, machine), scale)


def chunk_bytes_of(message_bytes: int, chunks: int, repeats: _Whole, machine: Machine) -> _Whole:
    """Bytes of one of the `chunks · repeats` equal chunks of a message, padded to whole granules (flit payloads)."""
    if message_bytes < 1:
        raise InputError(f"message of {message_bytes} bytes; allowed: 1 or more")
    granules = ceil_div(message_bytes, chunks * machine.flit_bytes)  # of all repeats
    return -(-granules // repeats) * machine.flit_bytes


def reduction_wait(work: _Whole, machine: Machine, apart: int, slot: _Whole) -> _Whole:
    """Cycles from an arrival to "reduced and usable", at most. `work`: for the reductions of a slot, 0 where there are none;
    `apart`: cycles over which the arrivals of one slot spread, so that those of the following slots may queue with them."""
    return (work > 0) * machine.reduce_start_cycles + (1 + apart // slot) * work


def slot_length(
    chunk_bytes: _Whole,
    machine: Machine,
    *,
    delay: int,
    peak: int,
    lat: int,
    uneven: int = 0,
    stagger: int = 0,
    scale: int | Fraction = 1,
    copies: int = 0,
) -> tuple[_Whole, _Whole, _Whole, _Whole]:
    """(ser, red, work, slot_cycles) for chunks of one size, or of each size in an array, as in the module's docstring.

    `peak`: reductions that a node gets from one slot, at most; `lat`: cycles of the longest path, `uneven` more than the shortest;
    `scale`: units of a full link; `copies`: messages to itself that a node sends in one slot, at most.
    Arrays are of int64: their entries must be such that no time exceeds it, numbers are exact at any size.
    """
    ser, work = serialization_cycles(chunk_bytes, machine, scale), peak * reduction_cycles(chunk_bytes, machine)
    least = _larger(_larger(ser + stagger, work), copies * ser)
    slot = _larger(least, ceil_div(ser + lat + reduction_wait(work, machine, 0, least), delay))
    if uneven:  # the longer a slot, the fewer of them queue together: the second length is the one that is right for itself
        slot = _larger(slot, ceil_div(ser + lat + reduction_wait(work, machine, uneven, slot), delay))
    return ser, reduction_wait(work, machine, uneven, slot), work, slot


def _larger(a: _Whole, b: _Whole) -> _Whole:
    return max(a, b) if isinstance(a, int) else np.maximum(a, b)


def peak_in_window(group: Int64, stage: Int64, window: int) -> int:
    """The most rows of one group whose stages lie in one window of `window` consecutive stages. O(rows log rows)."""
    if not len(group):
        return 0
    span = int(stage.max()) + 1
    key = np.sort(group * span + stage)
    low = np.maximum(key - (window - 1), key - key % span)
    return int((np.arange(1, len(key) + 1) - np.searchsorted(key, low)).max())


def peak_reductions(op: NDArray[Any], step: NDArray[Any], dst: NDArray[Any], period: int | None, repeats: int) -> int:
    """The most REDUCE arrivals that one node's reduction unit gets from one slot, overlapping iterations included."""
    rows = op == Op.REDUCE
    slot, node = step[rows].astype(np.int64), dst[rows].astype(np.int64)
    width = period or int(slot.max(initial=0)) + 1
    return peak_in_window(node * width + slot % width, slot // width, repeats)


def peak_copies(schedule: Schedule) -> int:
    """The most messages to itself that a node sends in one slot, overlapping iterations included. O(rows log rows)."""
    local = is_local(schedule)
    width = schedule.period or schedule.steps
    slot, node = schedule.step[local].astype(np.int64), schedule.src[local].astype(np.int64)
    return peak_in_window(node * width + slot % width, slot // width, schedule.repeats)


def slot_timing(schedule: Schedule, message_bytes: int, machine: Machine) -> SlotTiming:
    """Chunk size and slot length of a schedule with unit rounds, for a message and a machine. O(rows log rows).

    Raises InputError for steps of several rounds (see `in_unit_rounds`), a transfer without a link, a machine
    whose clock or link bandwidth is not the topology's, and times beyond MAX_CYCLES.
    """
    if (schedule.rounds != 1).any():
        raise InputError("slot times need steps of one round each; spread the schedule over unit rounds first")
    chunk = chunk_bytes_of(message_bytes, schedule.message_chunks, schedule.repeats, machine)
    latency = path_latency(schedule, machine)
    fastest, lat = (int(latency.min()), int(latency.max())) if len(latency) else (0, 0)
    stagger, copies = link_stagger(schedule, machine), peak_copies(schedule)
    lat = max(lat, (copies - 1) * serialization_cycles(chunk, machine, schedule.topology.scale))
    peak = peak_reductions(schedule.op, schedule.step, schedule.dst, schedule.period, schedule.repeats)
    ser, red, work, slot = slot_length(
        chunk, machine, delay=schedule.delay, peak=peak, lat=lat, uneven=lat - fastest, stagger=stagger,
        scale=schedule.topology.scale, copies=copies,
    )  # fmt: skip
    padded = chunk * schedule.message_chunks * schedule.repeats
    return in_slots(schedule, SlotTiming(message_bytes, padded, chunk, ser, lat, lat - fastest, red, work, stagger, slot), slot)


def in_slots(schedule: Schedule, timing: SlotTiming, slot_cycles: int) -> SlotTiming:
    """The timing with slots of that length, such as tables state; InputError for a run of more than MAX_CYCLES."""
    if (schedule.total_steps + 1) * slot_cycles + timing.ser + timing.lat + timing.red > MAX_CYCLES:
        raise InputError(f"the run would last more than {MAX_CYCLES} cycles; take a smaller message or a faster machine")
    return replace(timing, slot_cycles=slot_cycles)


def slotted(schedule: AnySchedule, message_bytes: int, machine: Machine) -> tuple[Schedule, SlotTiming]:
    """The schedule as a slotted run executes it, in steps of one round, and its timing; itself where all steps have one round.

    The rounds of one step do not wait for each other, so a schedule of delay 1 gets the delay d that is fastest for this message:
    slots as short as links and reduction units allow, and d - 1 empty ones after each step in which its last chunks arrive.
    Time falls with d until slots are that short: only the two values around that point, and 1, are tried.
    For a symmetric schedule it is the arrivals at one node, from which all times follow (`SymmetricSchedule.timed`).
    Errors as `in_unit_rounds` and `slot_timing`; UnsupportedError for fields of version 2 other than several buffers and members.
    O(rows log rows); computed once while it is examined.
    """
    return _slotted(schedule.timed if isinstance(schedule, SymmetricSchedule) else schedule, message_bytes, machine)


@lru_cache(maxsize=2)
def _slotted(schedule: Schedule, message_bytes: int, machine: Machine) -> tuple[Schedule, SlotTiming]:
    schedule.require_equal_slots("closed-form times")
    plan = in_unit_rounds(schedule)
    timing = slot_timing(plan, message_bytes, machine)
    if plan is schedule or schedule.delay > 1:
        return plan, timing
    best = (plan, timing, schedule_cycles(plan, timing, machine))
    enough = ceil_div(timing.ser + timing.lat + timing.red, max(timing.ser + timing.stagger, timing.work))
    for delay in sorted({max(2, enough - 1), max(2, enough)}):
        try:
            plan = in_unit_rounds(schedule, delay)
            timing = slot_timing(plan, message_bytes, machine)
        except InputError:  # too many rounds, or too many cycles
            continue
        cycles = schedule_cycles(plan, timing, machine)
        if cycles < best[2]:
            best = (plan, timing, cycles)
    return best[:2]


def schedule_cycles(schedule: Schedule, timing: SlotTiming, machine: Machine) -> int:
    """The number of cycles of a slotted run, from the common start until every chunk is written or reduced.

    Equals start + ((repeats - 1)·period + last_step)·slot_cycles + ser + lat + red_of_the_last. O(rows log rows).
    """
    if not schedule.transfers:
        return 0
    period = schedule.period or 0
    latency = path_latency(schedule, machine)
    end = schedule.step * np.int64(timing.slot_cycles)
    end += latency + copies_before(schedule, np.array([schedule.repeats - 1]))[0] * timing.ser
    last = int(end.max()) + (schedule.repeats - 1) * period * timing.slot_cycles + timing.ser
    return machine.ni_start_cycles + max(last, _last_reduction(schedule, timing, machine, latency))


def _last_reduction(schedule: Schedule, timing: SlotTiming, machine: Machine, latency: Int64) -> int:
    """The cycle in which the last reduction unit falls idle: first come, first served over the arrivals of the last iterations."""
    rows = np.flatnonzero(schedule.op == Op.REDUCE)
    if not len(rows):
        return 0
    period = schedule.period or schedule.steps
    cycles = reduction_cycles(timing.chunk_bytes, machine)
    if latency.min() == latency.max() and not is_local(schedule).any() and timing.work <= timing.slot_cycles:
        # A slot's arrivals come together, and are worked off before those of the next: those of the last slot are the last.
        last = (schedule.repeats - 1) * period + int(schedule.step[rows].max())
        stage, residue = np.divmod(schedule.step[rows], period)
        iteration = last // period - stage
        there = rows[(residue == last % period) & (iteration >= 0) & (iteration < schedule.repeats)]
        arrived = last * timing.slot_cycles + timing.ser + int(latency[0]) + machine.reduce_start_cycles
        return arrived + int(np.bincount(schedule.dst[there]).max()) * cycles
    stages = int(schedule.step.max()) // period + 1
    # Backlog does not outlive a slot, so a few slots before the last iteration are enough to start from an idle unit.
    lead = ceil_div(timing.red + timing.lat, timing.slot_cycles) + 1
    first = max(0, schedule.repeats - stages - ceil_div(lead, period))
    many = schedule.repeats - first
    hold(64 * many * len(rows), f"the last {many:,} iterations of {len(rows):,} reductions")
    iterations = np.arange(first, schedule.repeats, dtype=np.int64)
    slot = (iterations[:, None] * period + schedule.step[rows].astype(np.int64)).ravel()
    node = np.tile(schedule.dst[rows].astype(np.int64), len(iterations))
    waits = copies_before(schedule, iterations)[:, rows].ravel() * timing.ser
    ready = slot * timing.slot_cycles + timing.ser + np.tile(latency[rows], len(iterations)) + waits + machine.reduce_start_cycles
    order = np.lexsort((ready, node))
    node, ready = node[order], ready[order]
    position = np.arange(len(node)) - np.searchsorted(node, node)
    # finish[k] = max over j <= k of (ready[j] - j·cycles) + (k + 1)·cycles within a node, node by node
    bounds = [*np.flatnonzero(position == 0).tolist(), len(node)]
    started = ready - position * cycles
    for low, high in pairwise(bounds):
        np.maximum.accumulate(started[low:high], out=started[low:high])
    return int((started + (position + 1) * cycles).max())


def bandwidth_bound_cycles(rounds: Fraction, message_bytes: int, machine: Machine, scale: int | Fraction = 1) -> Fraction:
    """Cycles of `rounds` per chunk, as a rational: rounds · message / (bytes per cycle of one of the `scale` units of a link).

    With scale 1, `rounds` is a coefficient of M/B."""
    return rounds * scale * message_bytes / machine.flit_bytes


def packet_lengths(chunk_bytes: int, machine: Machine, framing: str) -> list[int]:
    """Flits of the packets that carry one chunk: a single message, or packets of `packet_payload_bytes` with a header each.

    UndecidedError for more packets than memory has room for.
    """
    granules, payload, count = _packets(chunk_bytes, machine, framing)
    hold(8 * count, f"the lengths of {count:,} packets")
    return [machine.head_flits + payload] * (count - 1) + [machine.head_flits + granules - (count - 1) * payload]


def framed_flits(chunk_bytes: int, machine: Machine, framing: str) -> int:
    """The sum of `packet_lengths`."""
    granules, _, count = _packets(chunk_bytes, machine, framing)
    return count * machine.head_flits + granules


def _packets(chunk_bytes: int, machine: Machine, framing: str) -> tuple[int, int, int]:
    """The flits of one chunk without headers, those of a full packet, and the number of packets."""
    granules = chunk_bytes // machine.flit_bytes
    payload = granules if framing == "message" else machine.packet_granules
    return granules, payload, ceil_div(granules, payload)
