"""Rule `in-flight`: in a schedule with several buffers nothing depends on when within its delay a transfer lands.

Schedules with one buffer for each node and chunk are of version 1, in which what is sent in step s lands exactly at step s + delay.
"""

import numpy as np
from numpy.typing import NDArray

from certree.models.schedule.schedule import Op, Schedule
from certree.verify.rule import Stage, check, rule
from certree.verify.rules.wiring import executable_rows
from certree.verify.verdict import Findings
from certree.verify.wording import buffer_text, row_text, row_with_step

Int64 = NDArray[np.int64]


@check(stage=Stage.CONTENTS, base_suffices=True)
@rule(
    "in-flight",
    "with several buffers: a transfer leaves a cell while another one into it is under way, or a copy and another transfer are "
    "under way into one cell, sent in different steps",
    "full:2 all-reduce delay=2 buffers=2: reduce 0 1.0>0.0 @0; reduce 0 0.0>1.0 @1",
)
def check_in_flight(schedule: Schedule, findings: Findings) -> None:
    """Report transfers whose data would depend on the moment at which another one lands. O(rows log rows); nothing to do with one
    buffer or delay 1."""
    if schedule.buffers == 1 or schedule.delay == 1:
        return
    rows = np.flatnonzero(executable_rows(schedule))
    read, written = _cells(schedule, rows)
    order = np.lexsort((rows, schedule.step[rows], written))
    _check_reads(schedule, findings, rows, read, written, order)
    _check_writes(schedule, findings, rows[order], written[order])


def _cells(schedule: Schedule, rows: Int64) -> tuple[Int64, Int64]:
    """The numbers, from 0, of the cells that rows read and write."""
    found = []
    for node, buffer in ((schedule.src, schedule.src_buffer), (schedule.dst, schedule.dst_buffer)):
        assert buffer is not None
        cell = schedule.chunk[rows] * np.int64(len(schedule.topology.kind)) + node[rows]
        found.append(cell * schedule.buffers + buffer[rows])
    number = np.unique(np.concatenate(found), return_inverse=True)[1]
    return number[: len(rows)], number[len(rows) :]


def _check_reads(schedule: Schedule, findings: Findings, rows: Int64, read: Int64, written: Int64, order: Int64) -> None:
    """Report rows sent in step t from a cell that a transfer sent in step s, s < t < s + delay, is to reach."""
    width, step = schedule.steps + 1, schedule.step[rows].astype(np.int64)
    arriving = (written * width + step)[order]
    before = np.searchsorted(arriving, read * width + step) - 1  # the last one that was sent into the cell before
    found = np.flatnonzero((before >= 0) & (arriving[before] > read * width + np.maximum(step - schedule.delay, -1)))
    writer = rows[order[before]]

    def tell(place: int) -> tuple[int, tuple[int, ...], str]:
        row, other, now = int(rows[place]), int(writer[place]), int(step[place])
        where = buffer_text(schedule, row, source=True)
        return now, (row, other), f"step {now}: {row_text(schedule, row)} leaves {where} while {_arriving(schedule, other)}"

    findings.add_each("in-flight", found[np.argsort(step[found], kind="stable")].tolist(), tell)


def _check_writes(schedule: Schedule, findings: Findings, rows: Int64, written: Int64) -> None:
    """Report transfers into a cell that one sent less than `delay` steps before is still to reach, unless both are reduces. Of the
    rows, which come by cell and step, only neighbours are looked at: where any two meet so, two neighbours do."""
    step, copies = schedule.step[rows].astype(np.int64), schedule.op[rows] == Op.COPY
    apart = np.diff(step)
    meet = (np.diff(written) == 0) & (apart > 0) & (apart < schedule.delay) & (copies[1:] | copies[:-1])
    found = np.flatnonzero(meet)

    def tell(place: int) -> tuple[int, tuple[int, ...], str]:
        row, other, now = int(rows[place + 1]), int(rows[place]), int(step[place + 1])
        words = (
            f"step {now}: {row_text(schedule, row)} is sent into {buffer_text(schedule, row)} while {_arriving(schedule, other)}"
        )
        return now, (row, other), words

    findings.add_each("in-flight", found[np.argsort(step[found], kind="stable")].tolist(), tell)


def _arriving(schedule: Schedule, row: int) -> str:
    return f"{row_with_step(schedule, row)} is under way there (until step {int(schedule.step[row]) + schedule.delay})"
