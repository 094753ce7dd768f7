"""A local search for the order in which the list scheduler takes the blocks of a program."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.models.common.errors import UnsupportedError
from certree.synth.fine.booking import Booked, Booking, Costs
from certree.synth.fine.order import Order, gates_of
from certree.synth.fine.program import Program
from certree.synth.fine.turned import turned
from certree.synth.method import Request

Int64 = NDArray[np.int64]

WORK = 600_000  # rows and hops that are booked for effort 1 where all rows are, and
TURNED_WORK = 2_000_000  # where one of each block is
MOST_ORDERS, MOST_TURNED = 128, 2048  # likewise; a search ends when a quarter of them in a row have brought nothing
LONGEST_PART = 1 << 9  # of an order, that is moved


def searched(request: Request, program: Program, order: Order, booking: Booking, costs: Costs, start: tuple[Booked, int]) -> Booked:
    """The best booking of a program that is found from one on (`start`, with a lower bound on its end, at which the search stops).

    The first orders of blocks are those of the longest rest, and of the first booking. In each try a part of an order comes to
    another place. Where blocks are turned into each other, the search books one row of each.
    """
    best, bound = start
    block, size = program.block, np.maximum(np.bincount(program.block), 1)
    mean = [np.bincount(block, by).astype(np.int64) // size for by in (-rests(program, order, best), best.fire)]
    orders = [np.argsort(np.argsort(by, kind="stable"), kind="stable") for by in mean]
    ends = [_both(booking, costs, turn[block]) for turn in orders]
    turn = min(zip(ends, orders, strict=True), key=lambda one: one[0].end)[1]
    best = min(best, *ends, key=end_of)
    if best.end <= bound or request.monitor.expired:
        return best
    search = _Search(request, costs, booking, block, MOST_ORDERS, WORK)
    if (one := _one_of_each(program, order, booking, costs, turn)) is not None:
        search = _Search(request, costs, one, np.arange(len(turn)), MOST_TURNED, TURNED_WORK)
    return min(best, _both(booking, costs, search.run(turn, bound)[block]), key=end_of)


def _one_of_each(program: Program, order: Order, booking: Booking, costs: Costs, turn: Int64) -> Booking | None:
    """A booking of one row for each block; None where its times are not those of all."""
    rows = turned(program, order)
    if rows is None:
        return None
    one = Booking(*rows)
    for patient in (False, True):
        try:
            few = one.run(costs, turn, patient=patient)
        except UnsupportedError:
            return None
        if (few.fire[program.block] != booking.run(costs, turn[program.block], patient=patient).fire).any():
            return None
    return one


def _both(booking: Booking, costs: Costs, priority: Int64) -> Booked:
    """The better of both ways to book."""
    return min((booking.run(costs, priority, patient=patient) for patient in (False, True)), key=end_of)


def end_of(booked: Booked) -> int:
    """The cycle in which everything has landed."""
    return booked.end


@dataclass(frozen=True, eq=False)
class _Search:
    """`block`: that of each row of the booking; `most`: orders, and `work`: rows and hops for effort 1."""

    request: Request
    costs: Costs
    booking: Booking
    block: NDArray[Any]
    most: int
    work: int

    def run(self, turn: Int64, bound: int) -> Int64:
        """The best turns of blocks that are found from some on, until something ends at the bound."""
        request, current = self.request, np.argsort(turn).tolist()
        rng = np.random.default_rng(request.seed)
        least, idle = _both(self.booking, self.costs, turn[self.block]).end, 0
        for _ in range(min(self.most, self.work * request.effort // (2 * self.booking.work))):
            if request.monitor.expired or least <= bound or idle > self.most // 4:
                break
            first, place, width = rng.integers(len(current), size=3).tolist()
            last = first + 1 + min(width, LONGEST_PART) // (1 << int(rng.integers(1, LONGEST_PART.bit_length())))
            part, rest = current[first:last], current[:first] + current[last:]
            moved = rest[:place] + part + rest[place:]
            end = _both(self.booking, self.costs, np.argsort(moved)[self.block]).end
            idle = 0 if end < least else idle + 1
            if end <= least:
                least, current = end, moved
        return np.argsort(current)


def rests(program: Program, order: Order, booked: Booked) -> Int64:
    """By row the cycles from its firing to the end of all that needs it, if nothing else were under way."""
    rest = (booked.landed - booked.fire).tolist()
    waiting, opens = gates_of(order), [0] * len(order.needs)  # opens: by gate, the longest rest of what it opens
    for row in np.argsort(-booked.fire, kind="stable").tolist():
        own = rest[row] + max((opens[gate] for gate in order.when_landed[row]), default=0)
        rest[row] = own
        for gate in waiting[row]:
            opens[gate] = max(opens[gate], own)
    return np.array(rest, np.int64)
