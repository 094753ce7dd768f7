"""The number of rows that the window of the interface must hold so that none is late."""

import numpy as np

from certree.hw.formats.systemverilog.images import SlotRows, period_of
from certree.models.tables.tables import Tables

MOST_ROWS = 16  # of a window in fine slots
MOST_LOCKSTEP_ROWS = 48  # of a window in lockstep
_READ, _SKIPPED = 3, 2  # cycles for a row and those for one that is disabled in a period


def window_rows(tables: Tables, rows: SlotRows) -> int | None:
    """In slots of one length the most rows of a node that fire in one slot. In fine slots the least window with which each row
    enters it before its slot opens, after a start with a full window; None where that takes more than MOST_ROWS.
    O(windows · firings) time."""
    together = np.unique(rows.node * period_of(tables) + rows.slot, return_counts=True)[1]
    least = int(together.max(initial=1))
    if not tables.fine_slots:
        return least
    firings = [_firings(tables, rows, node) for node in np.unique(rows.node).tolist()]
    return next((size for size in range(least, MOST_ROWS + 1) if all(_is_on_time(one, size) for one in firings)), None)


def lane_queue(buffer_flits: int, least_flits: int) -> int:
    """In lockstep, messages that a lane can have left when a step begins, with at most `buffer_flits` flits (E7); each has at least
    `least_flits`, but for the one of which the last flit may be being sent."""
    return 1 + buffer_flits // least_flits


def lockstep_rows(tables: Tables, rows: SlotRows, lanes: int, queue: int, least_flits: int) -> int | None:
    """In lockstep, a window with which the row after each row that fires has been read by the next cycle, whatever the others do;
    None where that takes more than MOST_LOCKSTEP_ROWS.

    Each row takes a lane or the copy unit. With `queue` messages left at a lane it may get one more at once, and any further one
    when it has sent as many (`least_flits` cycles each): `burst` rows take no time, and all others `least_flits` over the
    number of these ports. O(firings) time.
    """
    is_local = (rows.lane == 0).all(axis=1)
    together = np.unique((rows.node * period_of(tables) + rows.slot)[is_local], return_counts=True)[1]
    ports, burst = lanes + bool(is_local.any()), lanes * (queue + 1) + 2 * int(together.max(initial=0))
    most = 1
    for node in np.unique(rows.node).tolist():
        behind = longest = -least_flits  # cycles, times ports, by which reading a series of rows takes longer than firing them
        cycles = [taken for _, taken in _firings(tables, rows, node)]
        for taken in cycles:
            behind = max(behind, 0) + ports * taken - least_flits
            longest = max(longest, behind)
        most = max(most, min(len(cycles), burst - (-(longest + least_flits + 2 * ports) // least_flits)))
    return most if most <= MOST_LOCKSTEP_ROWS else None


def _firings(tables: Tables, rows: SlotRows, node: int) -> list[tuple[int, int]]:
    """For each firing of a node, in order, the cycle in which it is due and those that it takes to read the row."""
    period, found, skipped = period_of(tables), [], 0
    own = np.flatnonzero(rows.node == node)
    lines = list(zip(rows.slot[own].tolist(), rows.stage[own].tolist(), rows.wait_lines[own].tolist(), strict=True))
    for turn in range(tables.repeats + int(rows.stage[own].max(initial=0))):
        for slot, stage, waits in lines:
            if 0 <= turn - stage < tables.repeats:
                found.append(((turn * period + slot) * tables.slot_cycles, _READ + waits + skipped))
                skipped = 0
            else:
                skipped += _SKIPPED
    return found


def _is_on_time(firings: list[tuple[int, int]], size: int) -> bool:
    """Whether each row enters a window of `size` rows before the cycle in which it is due."""
    entered = firings[0][0] - 1 if firings else 0
    for place in range(size, len(firings)):
        due, cycles = firings[place]
        room = firings[place - size][0] + 1
        # the first row that finds the window full has been read by the time that there is room
        entered = room if place == size else max(entered + cycles, room)
        if entered >= due:
            return False
    return True
