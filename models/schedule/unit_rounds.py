"""Conversion of steps of several rounds into steps of one round each: the round of each transfer within its step."""

from collections import defaultdict
from dataclasses import replace
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from certree.models._lists import first_fit
from certree.models.common.budget import PYTHON, hold, spend
from certree.models.common.columns import flat, have_common, numbered, ranges
from certree.models.common.errors import UnsupportedError
from certree.models.network.routing import DIRECT
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import MAX_CHUNKS

Int64 = NDArray[np.int64]
#: offsets and values of lists of numbers
_Lists = tuple[NDArray[np.int32], NDArray[np.int32]]

#: of schedules that are still in use: `spread`, which is the same for every delay
_SPREADS: WeakKeyDictionary[Schedule, tuple[Int64, Int64]] = WeakKeyDictionary()


def in_unit_rounds(schedule: Schedule, delay: int | None = None) -> Schedule:
    """The schedule with every step of r rounds spread over r steps of one round; itself when all steps have one round.

    Where routes over several links do not fit r rounds the step becomes longer, and all behind it moves. Causality is kept:
    a dependent transfer starts in a later step, or `delay` rounds after it. A schedule of delay 1 can be given another `delay` d:
    d - 1 empty steps then follow each step, so that shorter slots suffice.
    Raises UnsupportedError where a send would include data that in steps of several rounds arrive too late for it, and for more
    than MAX_CHUNKS rounds.
    """
    if (schedule.rounds == 1).all():
        return schedule
    schedule.require_equal_slots("spreading steps over rounds")
    if schedule.buffers > 1:
        raise UnsupportedError("spreading steps over rounds: not supported for schedules that use buffers (version 2)")
    if schedule.delay > 1 or delay is None:
        delay = schedule.delay
    gaps = (schedule.steps - 1) * (delay - schedule.delay)
    if int(schedule.rounds.sum(dtype=np.int64)) + gaps > MAX_CHUNKS:
        raise UnsupportedError(f"more than {MAX_CHUNKS} rounds cannot be spread over steps of one round")
    if schedule not in _SPREADS:
        _SPREADS[schedule] = spread(schedule)
    offset, length = _SPREADS[schedule]
    start = np.concatenate(([0], np.cumsum(length + (delay - schedule.delay))))
    moved = start[schedule.step] + offset
    _refuse_other_data(schedule, moved, delay)
    steps = start[-1] - (delay - schedule.delay)
    return replace(schedule, rounds=np.ones(steps, np.int32), step=moved.astype(np.int32), delay=delay, certificate=None)


def _refuse_other_data(schedule: Schedule, spread: NDArray[np.int64], delay: int) -> None:
    """Raise UnsupportedError when a transfer that leaves before another lands at its source would, with the steps `spread` and
    that delay, leave after it. `spread` keeps the order of steps. O(rows log rows)."""
    if not schedule.transfers:
        return
    size = len(schedule.topology.kind) * schedule.chunks
    if schedule.delay == 1 and size * schedule.steps < 1 << 62:  # the usual case, told faster
        cells = [
            (end * np.int64(schedule.chunks) + schedule.chunk) * schedule.steps + schedule.step
            for end in (schedule.src, schedule.dst)
        ]
        if not have_common(*cells):
            return
    ends = np.concatenate((schedule.dst, schedule.src)).astype(np.int64) * schedule.chunks + np.tile(schedule.chunk, 2)
    cell = np.unique(ends, return_inverse=True)[1] * schedule.steps
    into, out = cell[: schedule.transfers], cell[schedule.transfers :]
    order = np.lexsort((spread, into))
    arriving = (into + schedule.step)[order]
    # of the transfers in flight to the source of each row when it leaves, the one that lands first
    low = out + np.maximum(schedule.step.astype(np.int64) - schedule.delay + 1, 0)
    first = np.minimum(np.searchsorted(arriving, low), schedule.transfers - 1)
    in_flight = (low <= arriving[first]) & (arriving[first] <= out + schedule.step)
    changed = np.flatnonzero(in_flight & (spread >= spread[order[first]] + delay))
    if len(changed):
        row, early = changed[0], order[first[changed[0]]]
        raise UnsupportedError(
            f"node {schedule.src[row]} sends chunk {schedule.chunk[row]} in step {schedule.step[row]} without what it receives from"
            f" node {schedule.src[early]} in step {schedule.step[early]}: in steps of one round that lands first"
        )


def spread(schedule: Schedule) -> tuple[Int64, Int64]:
    """The round (from 0) of each transfer within its step, and the rounds that each step then takes.

    A transfer takes the first round in which every link of its route has room, in row order. Transfers between neighbours always
    fit the rounds of their step when its links can carry them; routes over several links may need more (a colouring that first fit
    misses), and then the step gets longer: a second order, by how far the destination's number lies behind the source's, is tried
    as well, and the shorter result is kept. In a step whose links are over-subscribed the last round takes what is left, so that
    contention stays visible. A node that in one step sends a chunk and receives the same chunk sends it in an earlier round or in
    the same one; nodes that exchange a chunk do so in one round.
    O(rows log rows) for steps between neighbours; O(hops · rounds / 64) more for each row of the others, except in steps that do
    what one before them did, with other chunks.
    """
    offset, length = _between_neighbours(schedule), schedule.rounds.astype(np.int64)
    special = np.zeros(schedule.steps, np.bool_)
    special[schedule.step[schedule.route != DIRECT]] = True
    special[schedule.step[_meets_itself(schedule)]] = True
    special &= schedule.rounds > 1
    rows = np.flatnonzero(special[schedule.step])
    order = rows[np.argsort(schedule.step[rows], kind="stable")]
    claims, known = _Claims(schedule), dict[bytes, tuple[Int64, int]]()
    for group in np.split(order, np.flatnonzero(np.diff(schedule.step[order])) + 1) if len(order) else []:
        step = int(schedule.step[group[0]])
        rounds = int(schedule.rounds[step])
        chunk = np.unique(schedule.chunk[group], return_inverse=True)[1]
        key = np.concatenate(([rounds], schedule.route[group], schedule.src[group], schedule.dst[group], chunk)).tobytes()
        if key not in known:
            known[key] = _fit_step(schedule, claims, group, rounds)
        offset[group], length[step] = known[key]
    return offset, length


def _between_neighbours(schedule: Schedule) -> Int64:
    """First fit for transfers over one link: those that share it take turns, in row order."""
    topology = schedule.topology
    pair = schedule.pair
    key = schedule.step.astype(np.int64) * (len(topology.pair_capacity) + 1) + pair
    offset = numbered(key) // np.maximum(topology.pair_capacity[pair], 1)
    return np.minimum(offset, schedule.rounds[schedule.step] - 1)


def _meets_itself(schedule: Schedule) -> NDArray[np.bool_]:
    """Rows that send a chunk from a node which receives that chunk in the same step."""
    size = len(schedule.topology.kind) * schedule.chunks
    if size * schedule.steps < 1 << 62:
        base = schedule.step * np.int64(size) + schedule.chunk
        sends, receives = (base + end * np.int64(schedule.chunks) for end in (schedule.src, schedule.dst))
        if not have_common(sends, receives):
            return np.zeros(schedule.transfers, np.bool_)
    base = schedule.step.astype(np.int64) * len(schedule.topology.kind)
    cells = np.concatenate((base + schedule.src, base + schedule.dst))
    spot = np.unique(cells, return_inverse=True)[1] * schedule.chunks + np.tile(schedule.chunk, 2)
    return np.isin(spot[: schedule.transfers], spot[schedule.transfers :])


class _Claims:
    """The links of a row as resources with capacities: joined pairs, and single links where several run in parallel. A row between
    neighbours claims their pair, and nothing where no link joins its ends."""

    def __init__(self, schedule: Schedule) -> None:
        topology = schedule.topology
        joined = len(topology.pair_capacity)
        self.capacity = np.concatenate((topology.pair_capacity, topology.capacity)).astype(np.int32)
        links, begin = flat(schedule.routes)
        parallel = np.bincount(topology.pair_of_link, minlength=joined)[topology.pair_of_link] > 1
        route = np.repeat(np.arange(len(begin) - 1), np.diff(begin))
        lists = np.concatenate((route, route[parallel[links]], len(schedule.routes) + np.arange(joined)))
        order = np.argsort(lists, kind="stable")
        values = np.concatenate((topology.pair_of_link[links], joined + links[parallel[links]], np.arange(joined)))
        self._values, self._count = (
            values[order].astype(np.int32),
            np.append(np.bincount(lists, minlength=len(begin) - 1 + joined), 0),
        )
        self._begin = np.cumsum(self._count) - self._count
        self._list = np.where(schedule.route != DIRECT, schedule.route, len(schedule.routes) + schedule.pair)
        self._list[(schedule.route == DIRECT) & (schedule.pair < 0)] = len(self._count) - 1

    def of(self, rows: Int64) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The resources of some rows, and where those of each begin, with the end of the last."""
        found = self._list[rows]
        begin = np.concatenate(([0], np.cumsum(self._count[found])))
        return begin.astype(np.int32), self._values[ranges(self._begin[found], self._count[found])[1]]


def _fit_step(schedule: Schedule, claims: _Claims, rows: Int64, rounds: int) -> tuple[Int64, int]:
    """Rounds of the rows of one step, and how many the step takes."""
    claimed = claims.of(rows)
    over = bool((np.bincount(claimed[1], minlength=len(claims.capacity)) > claims.capacity.astype(np.int64) * rounds).any())
    groups = _groups(schedule, rows)
    best: Int64 | None = None
    nodes = len(schedule.topology.kind)
    for key in (rows, (schedule.dst[rows] - schedule.src[rows]) % nodes):
        placed = first_fit(claimed, claims.capacity, *groups, key.astype(np.int64)).astype(np.int64)
        if best is None or placed.max() < best.max():
            best = placed
        if best.max() < rounds:
            break
    if best is None:
        raise AssertionError("the first key places all rows")
    return (np.minimum(best, rounds - 1), rounds) if over else (best, max(rounds, int(best.max()) + 1))


def _groups(schedule: Schedule, rows: Int64) -> tuple[_Lists, _Lists]:
    """Rows, numbered among those of the step, that must share a round, and for each of these groups those that must not come before
    it: a row that sends data comes before, or with, any row of the step that changes these data. As offsets and values."""
    sends, arrives = defaultdict(list), defaultdict(list)
    ends = (schedule.chunk[rows].tolist(), schedule.src[rows].tolist(), schedule.dst[rows].tolist())
    for row, (chunk, src, dst) in enumerate(zip(*ends, strict=True)):
        sends[src, chunk].append(row)
        arrives[dst, chunk].append(row)
    both = [cell for cell in sends if cell in arrives]
    if not both:
        every = np.arange(len(rows) + 1, dtype=np.int32)
        return (every, every[:-1]), (0 * every, every[:0])
    edges = sum(len(sends[cell]) * len(arrives[cell]) for cell in both)
    spend(20 * PYTHON * edges, f"the order of {len(rows):,} transfers of a step: {edges:,} pairs")
    hold(400 * edges, f"the order of {len(rows):,} transfers of a step: {edges:,} pairs")
    import networkx as nx  # noqa: PLC0415 - slow to load, and seldom needed

    graph: nx.DiGraph[int] = nx.DiGraph()
    graph.add_nodes_from(range(len(rows)))
    graph.add_edges_from((first, second) for cell in both for first in sends[cell] for second in arrives[cell])
    merged = nx.condensation(graph)
    members = [sorted(merged.nodes[group]["members"]) for group in merged.nodes]
    return _lists(members), _lists([sorted(merged.successors(group)) for group in merged.nodes])


def _lists(lists: list[list[int]]) -> _Lists:
    values, begin = flat(lists)
    return begin.astype(np.int32), values.astype(np.int32)
