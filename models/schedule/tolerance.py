"""Slot lengths that tolerate different start times and drifting clocks."""

from fractions import Fraction
from math import ceil

from certree.models.common.errors import InputError
from certree.models.machine.machine import Machine
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.timing import reduction_wait, slot_timing


def tolerant_slot(schedule: Schedule, message_bytes: int, machine: Machine, *, skew: int, drift: Fraction) -> int:
    """The least slot (cycles) found with which no row is late and no message waits, if skews lie in 0 .. `skew` and drifts in
    -`drift` .. `drift`.

    With H slots in the run, counters are apart by at most spread = skew + 2·drift·H·T + 1 cycles (1: openings are rounded up), and

        d·T·(1 - drift)  >=  ser + lat + red + spread         what is sent in a slot counts before the slot that uses it opens
        T·(1 - drift)    >=  ser                              an NI has sent what it sends over a link in a slot
        T·(1 - drift)    >=  ser + stagger + spread           where messages come to a link from several NIs
        T·(1 - drift)    >=  work                             a reduction unit keeps up

    are sufficient, `red` being that of arrivals spread by that much more. Raises InputError as `slot_timing` does, for a
    negative skew or drift, and where the drift of a whole run eats up more than the slots can give. O(rows log rows).
    """
    if skew < 0 or not 0 <= drift < 1:
        raise InputError(f"skew {skew}, drift {drift}; allowed: a skew from 0 cycles and a drift from 0 to less than 1")
    timing = slot_timing(schedule, message_bytes, machine)
    slow, apart = 1 - drift, 2 * drift * schedule.total_steps
    merges = len(schedule.routes) > 0
    if schedule.delay * slow <= apart or (merges and slow <= apart):
        raise InputError(
            f"a drift of {drift} moves clocks apart by more than a slot in the {schedule.total_steps} slots of the run"
        )
    slot = timing.slot_cycles
    while True:
        spread = ceil(skew + apart * slot) + 1
        red = reduction_wait(timing.work, machine, timing.uneven + spread, slot)
        needed = [
            (timing.ser + timing.lat + red + skew + 1) / (schedule.delay * slow - apart),
            max(timing.ser, timing.work) / slow,
        ]
        if merges:
            needed.append((timing.ser + timing.stagger + skew + 1) / (slow - apart))
        longer = max(ceil(value) for value in needed)
        if longer <= slot:
            return slot
        slot = longer
