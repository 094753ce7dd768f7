"""Schedules with fine slots where only the order of transfers counts, and in equal slots for other sizes and machines."""

from dataclasses import replace

import numpy as np

from certree.models.common.errors import UnsupportedError
from certree.models.schedule.paths import way_of
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.unit_rounds import in_unit_rounds


def in_firing_order(schedule: Schedule) -> Schedule:
    """The transfers of a schedule with fine slots, with a step for each cycle in which any of them fires; others as they are.

    For those who need the order alone: links may have more messages in a step than they can take. What had landed when a transfer
    fired was sent in an earlier cycle, and nothing is read while something is under way to it: so at delay 1 everybody reads the
    same. Iterations follow each other, with no overlap. O(rows log rows).
    """
    if schedule.slot_cycles is None:
        return schedule
    step = np.unique(schedule.step, return_inverse=True)[1].astype(np.int32)
    plain = replace(schedule, step=step, slot_cycles=None, waits=None, period=None, repeats=1, certificate=None)
    return plain if schedule.repeats == 1 else replace(plain, period=plain.steps, repeats=schedule.repeats)


def in_equal_slots(schedule: Schedule) -> Schedule:
    """The transfers of a schedule with fine slots in the order in which they fire, with as many rounds to a step as its busiest
    link needs.

    Raises UnsupportedError where steps would have several rounds and nodes have several buffers. O(rows log rows + hops).
    """
    ordered = in_firing_order(schedule)
    step = ordered.step
    rounds = np.ones(int(step.max(initial=0)) + 1, np.int32)
    row, pair = way_of(schedule.topology, schedule.src, schedule.dst, schedule.route, schedule.routes)
    row, pair = row[pair >= 0], pair[pair >= 0]
    uses, load = np.unique(step[row].astype(np.int64) * len(schedule.topology.pair_capacity) + pair, return_counts=True)
    busy, link = np.divmod(uses, len(schedule.topology.pair_capacity))
    np.maximum.at(rounds, busy, -(-load // schedule.topology.pair_capacity[link]))
    if schedule.buffers > 1 and (rounds > 1).any():
        first = int(np.argmax(rounds > 1))
        fires = int(schedule.step[np.argmax(step == first)])
        raise UnsupportedError(
            "its fine slots are for another size or machine, and it has no equal slots: "
            f"in step {fires} several messages share a link"
        )
    whole = replace(ordered, rounds=rounds, period=None, repeats=1)
    if schedule.repeats == 1:
        return whole
    whole = in_unit_rounds(whole)
    return replace(whole, period=whole.steps, repeats=schedule.repeats)
