"""Schedules with fine slots where only the order of transfers counts, in levels, and in equal slots for other sizes."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from certree.models.common.columns import flat, ranges
from certree.models.common.errors import UnsupportedError
from certree.models.network.routing import DIRECT
from certree.models.schedule.paths import route_of
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import Op
from certree.models.schedule.unit_rounds import in_unit_rounds


def in_firing_order(schedule: Schedule) -> Schedule:
    """The transfers of a schedule with fine slots, with a step for each cycle in which any of them fires; others as they are.

    For those who need the order alone: links may have more messages in a step than they can take. What had landed when a transfer
    fired was sent in an earlier cycle, and nothing is read while something is under way to it: so at delay 1 every transfer reads
    the same data. Iterations follow each other, with no overlap. O(rows log rows).
    """
    if not schedule.has_fine_slots:
        return schedule
    step = np.unique(schedule.step, return_inverse=True)[1].astype(np.int32)
    plain = replace(schedule, step=step, slot_cycles=None, waits=None, period=None, repeats=1, certificate=None)
    return plain if schedule.repeats == 1 else replace(plain, period=plain.steps, repeats=schedule.repeats)


def in_levels(schedule: Schedule) -> Schedule:
    """The transfers of a schedule with fine slots in the fewest steps in which each reads the same data; others as they are.

    A transfer is one step behind the last one that had landed in the place that it reads; one that writes is not before those
    that had read the place, and is behind a copy that it must not overtake. Steps have as many rounds as their busiest link needs.
    Iterations follow each other. O(rows log rows + hops), a few numpy calls for each cycle in which transfers fire.
    """
    if not schedule.has_fine_slots:
        return schedule
    ordered = in_firing_order(schedule)
    src_buffer, dst_buffer = (np.int32(0) if column is None else column for column in (ordered.src_buffer, ordered.dst_buffer))
    read, written = (
        (end.astype(np.int64) * ordered.chunks + ordered.chunk) * ordered.buffers + buffer
        for end, buffer in ((ordered.src, src_buffer), (ordered.dst, dst_buffer))
    )
    places = len(ordered.topology.kind) * ordered.chunks * ordered.buffers
    usable, last_read, copied = (np.zeros(places, np.int32) for _ in range(3))  # steps from which on they may be read, or written
    level = np.zeros(ordered.transfers, np.int32)
    order = np.argsort(ordered.step, kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(ordered.step[order])) + 1) if len(order) else ():
        at, to, is_copy = read[rows], written[rows], ordered.op[rows] == Op.COPY
        before, found = None, np.maximum(usable[at], np.where(is_copy, usable[to], copied[to]))
        while before is None or (found != before).any():  # those that fire together read before any of them writes
            before = found
            np.maximum.at(last_read, at, found)
            found = np.maximum(found, last_read[to])
        level[rows] = found
        np.maximum.at(usable, to, found + 1)
        np.maximum.at(copied, to[is_copy], found[is_copy] + 1)
    return _in_steps(ordered, level, _rounds_of(ordered, level))


def _in_steps(schedule: Schedule, step: NDArray[np.int32], rounds: NDArray[np.int32]) -> Schedule:
    """The transfers in these steps, one iteration after the other: where there are several, in steps of one round."""
    whole = replace(schedule, step=step, rounds=rounds, period=None, repeats=1)
    if schedule.repeats == 1:
        return whole
    whole = in_unit_rounds(whole)
    return replace(whole, period=whole.steps, repeats=schedule.repeats)


def _rounds_of(schedule: Schedule, step: NDArray[np.int32]) -> NDArray[np.int32]:
    """The rounds of each step in which the transfers of a schedule go over the links of their routes; with a demand of granules."""
    rounds = np.ones(int(step.max(initial=0)) + 1, np.int32)
    granules = np.ones(schedule.chunks, np.int32) if schedule.chunk_granules is None else schedule.chunk_granules
    size = granules[schedule.chunk].astype(np.int64)
    np.maximum.at(rounds, step, size)
    topology = schedule.topology
    row, pair = route_of(topology, schedule.src, schedule.dst, schedule.route, schedule.routes)
    links, begin = flat(schedule.routes)
    routed = np.flatnonzero(schedule.route != DIRECT)  # over links that have names, also where several lead the same way
    which, place = ranges(begin[schedule.route[routed]], np.diff(begin)[schedule.route[routed]])
    for rows, used, capacity in (
        (row[pair >= 0], pair[pair >= 0], topology.pair_capacity),
        (routed[which], links[place], topology.capacity),
    ):
        uses, which_use = np.unique(step[rows].astype(np.int64) * len(capacity) + used, return_inverse=True)
        load = np.zeros(len(uses), np.int64)
        np.add.at(load, which_use, size[rows])
        busy, link = np.divmod(uses, len(capacity))
        np.maximum.at(rounds, busy, -(-load // capacity[link]))
    return rounds


def in_equal_slots(schedule: Schedule) -> Schedule:
    """The transfers of a schedule with fine slots in the order in which they fire, with as many rounds to a step as its busiest
    link needs.

    Raises UnsupportedError where steps would have several rounds and nodes have several buffers. O(rows log rows + hops).
    """
    ordered = in_firing_order(schedule)
    step, rounds = ordered.step, _rounds_of(ordered, ordered.step)
    if schedule.buffers > 1 and (rounds > 1).any():
        first = int(np.argmax(rounds > 1))
        fires = int(schedule.step[np.argmax(step == first)])
        raise UnsupportedError(
            "its fine slots are for another size or machine, and it has no equal slots: "
            f"in step {fires} several messages share a link"
        )
    return _in_steps(ordered, step, rounds)
