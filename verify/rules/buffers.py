"""Rule `in-flight`: in a schedule with several buffers, or with fine slots, nothing depends on when exactly a transfer lands.

Schedules with one buffer for each node and chunk and without fine slots are of version 1, in which what is sent in step s lands
exactly at step s + delay.
"""

import numpy as np
from numpy.typing import NDArray

from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import Op
from certree.verify.rule import Stage, check, rule
from certree.verify.rules.history import landing_column
from certree.verify.rules.tree_proof import flows_along_trees
from certree.verify.rules.wiring import executable_rows
from certree.verify.verdict import Findings
from certree.verify.wording import buffer_text, row_text, row_with_step

Int64 = NDArray[np.int64]
_NONE = -1


@check(stage=Stage.CONTENTS, base_suffices=True)
@rule(
    "in-flight",
    "with several buffers, or fine slots: a transfer leaves a cell while another one into it is in flight, or a copy and another "
    "transfer are in flight into one cell, sent in different steps",
    "full:2 all-reduce delay=2 buffers=2: reduce 0 1.0>0.0 @0; reduce 0 0.0>1.0 @1",
)
def check_in_flight(schedule: Schedule, findings: Findings) -> None:
    """Report transfers whose data would depend on the moment at which another one lands. O(rows log rows); nothing to do in version
    1, and with delay 1."""
    if not schedule.has_fine_slots and (schedule.buffers == 1 or schedule.delay == 1):
        return
    if executable_rows(schedule).all() and flows_along_trees(schedule):
        return  # nothing leaves a cell before what comes into it, one transfer at most, has landed
    rows = np.flatnonzero(executable_rows(schedule))
    read, written = _cells(schedule, rows)
    order = np.lexsort((rows, schedule.step[rows], written))
    flights = _Flights(schedule, rows[order], written[order])

    def tell_read(place: int) -> tuple[int, tuple[int, ...], str]:
        row, other = read_early[place]
        now, where = int(schedule.step[row]), buffer_text(schedule, row, source=True)
        return now, (row, other), f"step {now}: {row_text(schedule, row)} leaves {where} while {flights.words(other)}"

    def tell_write(place: int) -> tuple[int, tuple[int, ...], str]:
        row, other = sent_early[place]
        now, where = int(schedule.step[row]), buffer_text(schedule, row)
        return now, (row, other), f"step {now}: {row_text(schedule, row)} is sent into {where} while {flights.words(other)}"

    everything, copies = np.ones(len(rows), np.bool_), schedule.op[rows[order]] == Op.COPY
    read_early = flights.met(rows, read, everything)
    findings.add_each("in-flight", range(len(read_early)), tell_read)
    among_all = flights.met(rows[order][copies], written[order][copies], everything)
    among_copies = flights.met(rows[order][~copies], written[order][~copies], copies)
    sent_early = sorted(among_all + among_copies, key=lambda pair: int(schedule.step[pair[0]]))
    findings.add_each("in-flight", range(len(sent_early)), tell_write)


class _Flights:
    """The rows into each cell, by cell and step."""

    def __init__(self, schedule: Schedule, rows: Int64, cell: Int64) -> None:
        self._schedule, self._rows, self._cell = schedule, rows, cell
        self._landing = landing_column(schedule, rows)
        self._width = schedule.steps + 1
        self._key = cell * self._width + schedule.step[rows]

    def met(self, rows: Int64, cell: Int64, counted: NDArray[np.bool_]) -> list[tuple[int, int]]:
        """(row, other) for each of some rows at a cell (to leave it, or to be sent into it) for which one of the `counted` rows
        into that cell, sent in an earlier step, is in flight: of several the one that lands last. By step."""
        if not len(self._rows):
            return []
        step = self._schedule.step[rows].astype(np.int64)
        last = last_to_end(self._cell, self._landing, counted)
        before = np.searchsorted(self._key, cell * self._width + step) - 1
        place = np.where((before >= 0) & (self._cell[before] == cell), last[before], _NONE)
        found = np.flatnonzero((place != _NONE) & (self._landing[place] > step))
        found = found[np.argsort(step[found], kind="stable")]
        return list(zip(rows[found].tolist(), self._rows[place[found]].tolist(), strict=True))

    def words(self, row: int) -> str:
        """A row that is in flight, and until when."""
        until = int(landing_column(self._schedule, np.array([row]))[0])
        return f"{row_with_step(self._schedule, row)} is in flight there (until step {until})"


def last_to_end(group: Int64, end: Int64, counted: NDArray[np.bool_]) -> Int64:
    """For each place, the groups being numbers in ascending order, the place up to it and in its group of the counted one that ends
    last; -1 where there is none. O(n log n)."""
    count = len(group)
    order = np.argsort(end, kind="stable")
    rank = np.empty(count, np.int64)
    rank[order] = np.arange(1, count + 1)
    best = np.maximum.accumulate(group * (count + 1) + np.where(counted, rank, 0)) % (count + 1)
    return np.where(best == 0, _NONE, order[best - 1])


def _cells(schedule: Schedule, rows: Int64) -> tuple[Int64, Int64]:
    """The numbers, from 0, of the cells that rows read and write."""
    found = []
    for node, buffer in ((schedule.src, schedule.src_buffer), (schedule.dst, schedule.dst_buffer)):
        cell = schedule.chunk[rows] * np.int64(len(schedule.topology.kind)) + node[rows]
        found.append(cell if buffer is None else cell * schedule.buffers + buffer[rows])
    number = np.unique(np.concatenate(found), return_inverse=True)[1]
    return number[: len(rows)], number[len(rows) :]
