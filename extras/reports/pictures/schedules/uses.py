"""Uses of channels by a schedule, and the iterations that a picture of it shows."""

from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from certree.models.fine.slots import fine_times
from certree.models.network.routing import DIRECT
from certree.models.schedule.schedule import Schedule

Int64 = NDArray[np.int64]


@dataclass(frozen=True)
class Uses:
    """The uses of channels in one iteration, one entry each, by (pair, step, row): the transfer's `row`, the joined `pair` of nodes
    (`Topology.pair_index`), its place in the transfer's route (`hop`), the `round` from the iteration's start, the `lane` of the
    pair's capacity, its `length` in rounds (the granules of the chunk where chunks have sizes, else 1), and whether it `fits`:
    uses of a step beyond rounds times capacity do not, and get the step's last round.

    Of a schedule with fine slots, by (pair, round, row): `round` is the slot in which the first flit enters, `length` the slots
    that the message touches, and what finds no free lane does not fit."""

    row: Int64
    pair: Int64
    hop: Int64
    round: Int64
    lane: Int64
    length: Int64
    fits: NDArray[np.bool_]


def uses_of(schedule: Schedule) -> Uses:
    """The uses of channels by the transfers of a schedule. Transfers between buffers of one node, and those without a link, use
    none. O(uses · log)."""
    if schedule.has_fine_slots:
        return _fine_uses(schedule, fine_times(schedule).slot)
    topology = schedule.topology
    direct = np.flatnonzero((schedule.route == DIRECT) & (schedule.pair >= 0))
    routed = np.flatnonzero(schedule.route != DIRECT)
    paths = [schedule.routes[index] for index in schedule.route[routed].tolist()]
    links = np.fromiter(chain.from_iterable(paths), np.int64)
    row = np.concatenate((direct, np.repeat(routed, [len(path) for path in paths]))).astype(np.int64)
    pair = np.concatenate((schedule.pair[direct].astype(np.int64), topology.pair_of_link[links].astype(np.int64)))
    lengths = np.array([len(path) for path in paths], np.int64)
    hop = np.concatenate(
        (np.zeros(len(direct), np.int64), np.arange(len(links)) - np.repeat(np.cumsum(lengths) - lengths, lengths))
    )
    step = schedule.step[row].astype(np.int64)
    order = np.lexsort((row, step, pair))
    row, pair, hop, step = row[order], pair[order], hop[order], step[order]
    group = pair * schedule.steps + step
    turn = np.arange(len(row)) - np.searchsorted(group, group)
    capacity = topology.pair_capacity[pair].astype(np.int64)
    rounds = schedule.rounds[step].astype(np.int64)
    start = np.concatenate(([0], np.cumsum(schedule.rounds, dtype=np.int64)))
    length, late, lane = schedule.granules[schedule.chunk[row]], turn // capacity, turn % capacity
    if schedule.has_sizes:
        late, lane = _after_each_other(group, capacity, length)
    return Uses(row, pair, hop, start[step] + np.minimum(late, rounds - 1), lane, length, late + length <= rounds)


def _fine_uses(schedule: Schedule, slot: int) -> Uses:
    """The uses of a schedule in fine slots as reserved, each on the first lane of its pair that is free when it enters."""
    times = fine_times(schedule)
    found = times.reservations
    hop = np.arange(len(found.row)) - np.searchsorted(found.row, found.row)
    order = np.lexsort((found.row, found.entry, found.pair))
    row, pair, entry = found.row[order], found.pair[order], found.entry[order]
    length = times.length[row]
    lane, fits = lanes_of(pair, entry, length, schedule.topology.pair_capacity)
    first = entry // slot
    return Uses(row, pair, hop[order], first, lane, -(-(entry + length) // slot) - first, fits)


def lanes_of(pair: Int64, entry: Int64, length: Int64, capacity: NDArray[np.integer]) -> tuple[Int64, NDArray[np.bool_]]:
    """The lane of each use, the first of its pair that is free when it enters, and whether there is one. Ordered by pair and
    entry."""
    lane, free = np.zeros(len(pair), np.int64), np.zeros(0, np.int64)
    fits = np.ones(len(pair), np.bool_)
    for index, start in enumerate(entry.tolist()):
        if index == 0 or pair[index] != pair[index - 1]:
            free = np.zeros(int(capacity[pair[index]]), np.int64)
        ready = np.flatnonzero(free <= start)
        fits[index] = len(ready) > 0
        lane[index] = place = int(ready[0]) if len(ready) else 0
        free[place] = start + length[index]
    return lane, fits


def _after_each_other(group: Int64, capacity: Int64, length: Int64) -> tuple[Int64, Int64]:
    """(round, lane) of messages of several rounds: each on the lane of its group that is free first."""
    late, lane = np.zeros_like(group), np.zeros_like(group)
    free: list[int] = []
    for index in range(len(group)):
        if index == 0 or group[index] != group[index - 1]:
            free = [0] * int(capacity[index])
        lane[index] = place = free.index(min(free))
        late[index] = free[place]
        free[place] += int(length[index])
    return late, lane


@dataclass(frozen=True)
class Shown:
    """The extent of a picture over time: `iterations` from the first on; their `columns` (rounds); the columns before `steady` are
    the prologue, those from `closing` on the epilogue (None where nothing repeats); `left_out`: iterations in the middle."""

    iterations: int
    columns: int
    steady: int | None
    closing: int | None
    left_out: int


def shown_of(schedule: Schedule) -> Shown:
    """All rounds of a schedule that does not repeat; else enough iterations that prologue, two periods of the steady state and
    epilogue are there."""
    rounds = _rounds(schedule)
    if not schedule.is_repeating:
        return Shown(1, rounds, None, None, 0)
    period = schedule.period_rounds
    stages = -(-rounds // period)
    iterations = min(schedule.repeats, stages + 1)
    columns = (iterations - 1) * period + rounds
    steady = min(stages - 1, iterations) * period
    return Shown(iterations, columns, steady, max(steady, iterations * period), schedule.repeats - iterations)


def load_of(schedule: Schedule) -> NDArray[np.float64]:
    """The share of its capacity that is in use of each joined pair, in the steady state of a schedule that repeats, else over all
    rounds. For pictures only: a float."""
    uses = uses_of(schedule)
    rounds = schedule.period_rounds if schedule.is_repeating else _rounds(schedule)
    capacity = schedule.topology.pair_capacity.astype(np.float64)
    length = fine_times(schedule).length[uses.row] / fine_times(schedule).slot if schedule.has_fine_slots else uses.length
    return np.asarray(np.bincount(uses.pair, weights=length, minlength=len(capacity)) / (capacity * rounds))


def _rounds(schedule: Schedule) -> int:
    """The number of columns of one iteration: its rounds; of fine slots those until all has landed."""
    if not schedule.has_fine_slots:
        return int(schedule.rounds.sum(dtype=np.int64))
    times = fine_times(schedule)
    last = int((times.reservations.entry + times.length[times.reservations.row]).max(initial=times.ser))
    return max(schedule.steps, -(-max(last, int(times.landing.max(initial=0))) // times.slot))
