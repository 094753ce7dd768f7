"""The turns in which the list scheduler takes the transfers of a program: several starts, and local searches from the best.

Short delays can help: messages that reach a node over all its links in one cycle wait for the sums of all of them; messages that
come one after the other do not. So in some starts the messages to a node leave later over one link than over another.
"""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from heapq import nsmallest
from itertools import chain, islice

import numpy as np
from numpy.typing import NDArray

from certree.models.common.columns import numbered
from certree.models.common.errors import UnsupportedError
from certree.models.fine.list_jobs import NONE, Booked, Costs, Order, Turns
from certree.models.fine.list_scheduler import ListScheduler
from certree.synth.fine.booking import rests, rows_of, searched_turns
from certree.synth.fine.order import order_of
from certree.synth.fine.program import Program
from certree.synth.fine.turned import one_of_each
from certree.synth.method import Request

Int64 = NDArray[np.int64]

WORK = 4_000_000  # rows and hops that are booked for effort 1 in starts, and as many in each round of local searches
MOST_STARTS, MOST_TRIES = 512, 4096
LEADERS = 4  # best starts, which further ones resemble: as many again as there were starts
LEAST_TRIES = 64  # of all local searches: larger programs, for which fewer are left, gained nothing where measured
FIRST_STARTS, FIRST_WORK = 38, 100_000  # of each program
ORDERS = 4  # of routes that are equally long
SPACES = (4, 2, 5)  # quarters of the cycles of a sum between messages that a node adds
KEPT = (16, 4, 1)  # starts from which local searches go on, one round after the other
CLOSE = Fraction(257, 256)  # times the cycles of the best schedule so far: local searches go on up to this if they gained something
BATCH = 2_000_000  # rows and hops between two looks at the clock


@dataclass(frozen=True, eq=False)
class Trial:
    """A program that is booked: `order`: which rows wait for which; `whole`: all its rows; `few`: one row of each block where the
    rows of blocks are rotations of each other, otherwise all rows; `block`: the row of `few` for each row. `first`: the booking of
    `whole` in the order of the rows."""

    program: Program
    costs: Costs
    order: Order
    whole: ListScheduler
    first: Booked
    few: ListScheduler
    block: NDArray[np.int32]

    @classmethod
    def of(cls, program: Program, costs: Costs) -> "Trial":
        """Errors as `ListScheduler.run`."""
        order = order_of(program)
        whole = ListScheduler(rows_of(program), order)
        first = whole.run(costs)
        few = one_of_each(program, order, whole, costs)
        every = np.arange(program.rows, dtype=np.int32)
        return cls(program, costs, order, whole, first, *((whole, every) if few is None else (few, program.block)))

    def starts(self, seed: int) -> Iterator[Turns]:
        """Yield turns without end: the order of rows; the longest rest first; messages no faster than units add; operations or
        parts of the message in turn; on grids long routes first; then turns in which random links or parts of the message wait."""
        rows = np.arange(self.few.rows, dtype=np.int64)
        yield from Turns.in_each_way(rows)
        rest, link, part = self._rest, self._link, self.groups[1]
        yield from Turns.in_each_way(rest)
        yield from Turns.in_each_way(self._mean(self.first.fire))
        far = self._longest_first(np.random.default_rng(seed))
        for one in islice(far, 1):
            yield from Turns.in_each_way(one)
        yield from (Turns(rest, release) for release in self._spaced(rest))
        for one in chain(self._in_turns(), far):
            yield from Turns.in_each_way(one)
        rng, ports, quarter = np.random.default_rng(seed), int(link.max(initial=0)) + 1, -(-self.costs.red // 4)
        for number in range(1 << 30):
            waits = (
                rng.permutation(ports) * (quarter * (1 + number % 4))
                if number % 3
                else rng.integers(self.costs.ser + 1, size=ports)
            )
            later = rng.integers(1 + rng.integers(1, 3 * self.costs.ser), size=int(part.max()) + 1) * (number % 2)
            for patient in (False, True):
                yield Turns(rest + later[part], waits[link].astype(np.int64), patient, apart=bool(number & 4))

    def like(self, turns: Turns, rng: np.random.Generator) -> Turns:
        """Turns like the given ones, in which the messages of one link wait for a different time, or one part of the message is
        earlier or later. Sometimes other rows are patient, or rows are apart."""
        (_, part), link, ser, red = self.groups, self._link, self.costs.ser, self.costs.red
        priority, release, patient, apart = turns.priority, turns.release, turns.patient, turns.apart
        if rng.integers(2):
            wait = rng.integers(ser + 2 * red + 1)
            release = np.where(link == rng.integers(link.max(initial=0) + 1), wait, release)
        else:
            later = rng.integers(-ser, ser + 1)
            priority = priority + later * (part == rng.integers(part.max(initial=0) + 1))
        return Turns(priority, release, patient ^ (not rng.integers(8)), apart ^ (not rng.integers(8)))

    def _in_turns(self) -> Iterator[Int64]:
        """Yield priorities of the rows of `few`: reduces before copies, short routes first; one part of the message after the
        other, long routes first. With switches either can be the fastest of all starts. Nothing where all routes have one
        length."""
        hops, most = self._hops, int(self._hops.max(initial=0)) + 1
        if self._is_uneven:
            yield self.program.op[self.first_rows].astype(np.int64) * most + hops
            yield self.groups[1] * np.int64(most) - hops

    def _longest_first(self, rng: np.random.Generator) -> Iterator[Int64]:
        """Yield priorities of the rows of `few` on networks with coordinates: the longest routes first, and of equally long ones
        those that lead equally far in each direction together; in order, then in random orders. Nothing where all routes have one
        length."""
        place, hops = self.program.topology.coordinates, self._hops
        if place is None or not self._is_uneven:
            return
        ends = place.astype(np.int64)[np.stack((self.program.dst, self.program.src))[:, self.first_rows]]
        there = (ends[0] - ends[1]) % (place.max(axis=0) + 1)
        number = np.unique(there, axis=0, return_inverse=True)[1].reshape(-1)
        turns = np.arange(int(number.max(initial=0)) + 1)
        for _ in range(ORDERS):
            yield turns[number] - hops * len(turns)
            turns = rng.permutation(turns)

    def _spaced(self, rest: Int64) -> Iterator[Int64]:
        """Yield releases that space the first messages that a node adds: by the cycles of a sum, by less, and by more. The first
        chunks are then complete early, and their sums travel on while the others are added. First come the chunks whose sums have
        the longest route to go, or chunks in their order. `rest`: a priority for each row, the lowest first."""
        found, chunk, order = self.few.transfers, self.program.chunk[self.first_rows].astype(np.int64), self.few.order
        waits = np.array([bool(gates) for gates in order.waits]) | (np.array(order.original_of) != NONE)
        rows = np.flatnonzero((found.adds > 0) & ~waits)
        if not len(rows):
            return
        hop = np.array(self.costs.hop, np.int64)[found.links]
        flight = np.array([hop[list(found.routes[row])].sum() for row in rows.tolist()])
        node, chunk = found.dst[rows], chunk[rows]
        cell = np.unique(node * (chunk.max() + 1) + chunk, return_inverse=True)[1]
        longest = np.zeros(cell.max() + 1, np.int64)
        np.minimum.at(longest, cell, rest[rows])
        for turn in (longest[cell], 0 * chunk):
            place = numbered(node, np.lexsort((-flight, chunk, turn, node)))
            for quarters in SPACES:
                release = np.zeros(self.few.rows, np.int64)
                release[rows] = np.maximum(place * self.costs.red * quarters // 4 - flight + flight.min(), 0)
                yield release

    @property
    def groups(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The family and the part of the message of each row of `few`."""
        return self._numbered(self.program.family), self._numbered(self.program.part)

    def turns_at(self, cycle: Int64) -> Turns:
        """Turns in which each row of `few` leaves in its `cycle`; a local one as soon as it can, in that order."""
        local = np.array([not route for route in self.few.transfers.routes])
        return Turns(cycle, np.where(local, 0, cycle))

    def booked(self, turns: Turns) -> Booked:
        """All rows, booked with the turns of their blocks."""
        return self.whole.run(self.costs, turns.of_rows(self.block))

    @cached_property
    def first_rows(self) -> Int64:
        """The first row of each block."""
        return np.unique(self.block, return_index=True)[1]

    @cached_property
    def _hops(self) -> Int64:
        """The number of links of each row of `few`."""
        return np.array([len(self.program.routes[row]) for row in self.first_rows.tolist()], np.int64)

    @property
    def _is_uneven(self) -> bool:
        """Whether some routes are longer than others."""
        return len(np.unique(self._hops[self._hops > 0])) > 1

    @cached_property
    def _rest(self) -> Int64:
        """A priority of each row of `few`, lower for a longer rest."""
        return -self._mean(rests(self.program, self.order, self.first))

    def _numbered(self, column: NDArray[np.int32]) -> NDArray[np.int32]:
        return np.unique(column[self.first_rows], return_inverse=True)[1].astype(np.int32)

    def _mean(self, values: Int64) -> Int64:
        """The mean of the block of each row of `few`."""
        total = np.zeros(len(self.first_rows), np.int64)
        np.add.at(total, self.block, values)
        return np.asarray(total // np.bincount(self.block))

    @cached_property
    def _link(self) -> Int64:
        """The number of the last link of each row of `few` among those into the same node."""
        into = self.program.topology.dst
        place = numbered(into)
        routes = (self.program.routes[row] for row in self.first_rows.tolist())
        return np.array([place[route[-1]] if route else 0 for route in routes], np.int64)


def tried(trial: Trial, request: Request) -> tuple[Turns, Booked]:
    """The best of a few starts."""
    count = max(2, min(FIRST_STARTS, FIRST_WORK // trial.few.work))
    turns = min(_starts(trial, request, count), key=lambda start: start[0])[1]
    return turns, trial.booked(turns)


def searched(
    trial: Trial, request: Request, first: tuple[Turns, Booked], bound: int, most: int | None = None, bar: int | None = None
) -> Booked:
    """The best booking found, beginning with `first`: from many starts and from others like the best of these. Where that ends at
    `most` or earlier and the program is not too large, local searches follow from the best of all, first short ones from many
    starts, then longer ones from few. The search stops at a booking that ends by `bound`, and where further rounds that gain as
    much as the last one would not come close to `bar`."""
    turns, best = first
    if best.end <= bound or request.monitor.expired:
        return best
    work = WORK * request.effort // trial.few.work
    found = {rank_of(best): turns}
    count = min(MOST_STARTS, work // 2)
    for rank, other in _starts(trial, request, count):
        found.setdefault(rank, other)
    _add_others(trial, request, found, count)
    number, tries = 0, min(MOST_TRIES * request.effort, work)
    is_worth = tries >= LEAST_TRIES and (most is None or min(found)[0] <= most)
    for turn, kept in enumerate(KEPT if is_worth else ()):
        before = min(found)[0]
        for rank in nsmallest(kept, found):
            if rank[0] <= bound or request.monitor.expired:
                break
            start, number = found.pop(rank), number + 1
            other = _local_search(trial, request, start, -(-tries // kept), bound, number)
            ended = rank_of(trial.few.run(trial.costs, other))
            for one, those in ((ended, other), (rank, start)):
                if _of_all(trial, one, those) is not None:
                    found.setdefault(one, those)
                    break
        if not found:
            break
        after, gain = min(found)[0], before - min(found)[0]
        if bar is not None and after >= bar and (not gain or after - gain * (len(KEPT) - turn - 1) >= bar * CLOSE):
            break
    ends = (_of_all(trial, rank, found[rank]) for rank in nsmallest(KEPT[0], found))
    last = next((one for one in ends if one is not None), best)
    return min(best, last, trial.first, key=rank_of)


def _of_all(trial: Trial, rank: tuple[int, int], turns: Turns) -> Booked | None:
    """All rows booked with these turns; None where two messages meet, or they end later than one row of each block alone."""
    try:
        booked = trial.booked(turns)
    except UnsupportedError:
        return None
    return booked if booked.end == rank[0] else None


def _add_others(trial: Trial, request: Request, found: dict[tuple[int, int], Turns], count: int) -> None:
    """Add up to `count` turns, with their ranks, that are like those of the LEADERS, the best found so far."""
    rng = np.random.default_rng(request.seed)
    for _ in range(count):
        if request.monitor.expired:
            break
        leaders = nsmallest(LEADERS, found)
        other = trial.like(found[leaders[rng.integers(len(leaders))]], rng)
        with suppress(UnsupportedError):
            found.setdefault(rank_of(trial.few.run(trial.costs, other)), other)


def _local_search(trial: Trial, request: Request, turns: Turns, tries: int, bound: int, search: int) -> Turns:
    """The best turns that a local search finds; `search`: its number, by which it differs from others."""
    batch = max(1, BATCH // trial.few.work)
    for number, done in enumerate(range(0, tries, batch)):
        if request.monitor.expired:
            break
        seed = ((request.seed << 32) + (search << 16) + number) % (1 << 64)
        turns = searched_turns(trial.few, trial.costs, turns, trial.groups, min(batch, tries - done), bound, seed)
    return turns


def _starts(trial: Trial, request: Request, count: int) -> Iterator[tuple[tuple[int, int], Turns]]:
    """Yield up to `count` starts with their ranks; at least one."""
    is_any = False
    for turns in islice(trial.starts(request.seed), count):
        if is_any and request.monitor.expired:
            break
        with suppress(UnsupportedError):  # in some turns rows that leave together meet on a link
            yield rank_of(trial.few.run(trial.costs, turns)), turns
            is_any = True
    if not is_any:
        yield rank_of(trial.first), Turns.first_of(trial.first.fire[trial.first_rows])


def rank_of(booked: Booked) -> tuple[int, int]:
    """The rank of a booking: the cycle in which all data have landed; then, negated, the number of rows that need no copy."""
    return booked.end, -int(booked.reads_original.sum())
