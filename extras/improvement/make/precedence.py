"""Precedence constraints under which a schedule with other slots has the same result, and the links that its rows use."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from certree.models.common.errors import UnsupportedError
from certree.models.fine.rebooking import cells_of
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import Op
from certree.verify.rules.contention import claims

MAX_ROWS = 40_000
MAX_CONSTRAINTS = 1_000_000


@dataclass(frozen=True)
class Precedence:
    """Rows as jobs of one slot. `before[r]`: (row, gap) pairs, slot[r] ≥ slot[row] + gap; `after[r]`: the same seen from the other
    end, slot[row] ≥ slot[r] + gap. `resources[r]`: what a row takes, one unit each; `capacity`: of each resource.
    """

    before: Sequence[Sequence[tuple[int, int]]]
    after: Sequence[Sequence[tuple[int, int]]]
    resources: Sequence[Sequence[int]]
    capacity: Sequence[int]

    @classmethod
    def of(cls, schedule: Schedule, delay: int) -> "Precedence":
        """The constraints under which the rows of a valid schedule in steps of one round, without a period, mean the same with that
        `delay`, whatever their slots.

        In each cell (node, chunk and buffer) what had landed when a transfer left still has, what had not still has not, and a copy
        keeps its place among the arrivals; then by induction over the slots every transfer carries what it carried. With several
        buffers nothing leaves a cell, and no copy is sent to it, while something is on its way there. UnsupportedError for
        more than MAX_ROWS rows or MAX_CONSTRAINTS constraints. O(rows log rows + constraints).
        """
        rows = schedule.transfers
        if rows > MAX_ROWS:
            raise UnsupportedError(f"{rows} transfers; slots are searched for up to {MAX_ROWS}")
        arrivals: dict[int, list[int]] = defaultdict(list)
        departures: dict[int, list[int]] = defaultdict(list)
        step = schedule.step.tolist()
        several = schedule.buffers > 1
        for row, (read, written) in enumerate(zip(*(cells.tolist() for cells in cells_of(schedule)), strict=True)):
            arrivals[written].append(row)
            departures[read].append(row)
        is_copy = (schedule.op == Op.COPY).tolist()
        found: dict[tuple[int, int], int] = {}

        def order(first: int, second: int, gap: int) -> None:
            found[first, second] = max(gap, found.get((first, second), gap))
            if len(found) > MAX_CONSTRAINTS:
                raise UnsupportedError(f"more than {MAX_CONSTRAINTS} pairs of transfers depend on each other")

        for cell, landing in arrivals.items():
            for arrival in landing:
                for departure in departures.get(cell, ()):
                    if step[arrival] + schedule.delay <= step[departure]:
                        order(arrival, departure, delay)
                    else:
                        order(departure, arrival, 0 if several else 1 - delay)
            for copy in landing:
                if is_copy[copy]:
                    for other in landing:
                        if step[other] != step[copy]:
                            first, second = sorted((copy, other), key=step.__getitem__)
                            order(first, second, delay if several else 1)
        before: list[list[tuple[int, int]]] = [[] for _ in range(rows)]
        after: list[list[tuple[int, int]]] = [[] for _ in range(rows)]
        for (first, second), gap in found.items():
            before[second].append((first, gap))
            after[first].append((second, gap))
        uses = claims(schedule)
        resources: list[list[int]] = [[] for _ in range(rows)]
        for row, resource in zip(uses.row.tolist(), uses.resource.tolist(), strict=True):
            resources[row].append(resource)
        return cls(before, after, resources, uses.capacity.tolist())


class Occupancy:
    """Use of resources by slot: the full slots of each resource as the bits of one number."""

    def __init__(self, precedence: Precedence) -> None:
        self._precedence = precedence
        self._full = [0] * len(precedence.capacity)
        self._load: dict[tuple[int, int], int] = {}

    def take(self, row: int, slot: int) -> None:
        """Enter a row."""
        for resource in self._precedence.resources[row]:
            load = self._load.get((resource, slot), 0) + 1
            self._load[resource, slot] = load
            if load >= self._precedence.capacity[resource]:
                self._full[resource] |= 1 << slot

    def leave(self, row: int, slot: int) -> None:
        """Take a row out again."""
        for resource in self._precedence.resources[row]:
            self._load[resource, slot] -= 1
            self._full[resource] &= ~(1 << slot)

    def load(self, resource: int, slot: int) -> int:
        """The number of rows that use a resource in a slot."""
        return self._load.get((resource, slot), 0)

    def full(self, row: int) -> int:
        """The slots in which some resource of the row is full, as bits."""
        taken = 0
        for resource in self._precedence.resources[row]:
            taken |= self._full[resource]
        return taken


def justified(precedence: Precedence, slots: Sequence[int], order: Sequence[int]) -> list[int] | None:
    """Slots in which the rows, placed one after the other in that order, each come as early as those placed before allow.

    None where one finds no place. O(rows · (constraints per row + slots / 64)).
    """
    placed: list[int | None] = [None] * len(slots)
    occupancy = Occupancy(precedence)
    for row in order:
        low, high = 0, None
        for other, gap in precedence.before[row]:
            at = placed[other]
            if at is not None:
                low = max(low, at + gap)
        for other, gap in precedence.after[row]:
            at = placed[other]
            if at is not None:
                high = at - gap if high is None else min(high, at - gap)
        free = ~(occupancy.full(row) >> low)
        slot = low + (free & -free).bit_length() - 1
        if high is not None and slot > high:
            return None
        placed[row] = slot
        occupancy.take(row, slot)
    return [slot for slot in placed if slot is not None]


def mirrored(precedence: Precedence) -> Precedence:
    """The precedence with time running backwards."""
    return Precedence(precedence.after, precedence.before, precedence.resources, precedence.capacity)
