"""The reduction units over time: a row for each node, a column for each round."""

from collections import defaultdict

import numpy as np
from numpy.typing import NDArray

from certree.extras.reports.pictures.colours import GREY, INK, ink_on, shade
from certree.extras.reports.pictures.schedules.rows import MOST_GROUPS, Box
from certree.extras.reports.pictures.schedules.spacetime import Axis, column_width, scale_bar
from certree.extras.reports.pictures.schedules.uses import Int64, Shown, shown_of
from certree.extras.reports.pictures.svg import Sheet
from certree.models.common.errors import UnsupportedError
from certree.models.fine.slots import fine_times
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import Op

ROW = 13.0


def reductions_picture(schedule: Schedule, title: str, unit: str = "", busy: float | None = None) -> str:
    """SVG: how many chunks each node gets to add in each step, iterations added up. `busy`: the part of a slot for which one
    of them occupies the reduction unit, where it is known; `unit`: as in `spacetime_picture`.

    Nodes beyond MOST_GROUPS are drawn in groups, by the mean. UnsupportedError without reductions. O(rows · iterations shown).
    """
    rows = np.flatnonzero(schedule.op == Op.REDUCE)
    if not len(rows):
        raise UnsupportedError(f"{title}: no reductions, so no reduction unit is used")
    sheet, shown = Sheet(), shown_of(schedule)
    axis = Axis(sheet, schedule, shown, column_width(schedule, shown), unit)
    nodes = np.unique(schedule.dst[rows])
    size = -(-len(nodes) // MOST_GROUPS)
    groups = -(-len(nodes) // size)
    group = np.searchsorted(nodes, schedule.dst[rows]) // size
    fine = schedule.has_fine_slots
    counts = (_busy if fine else _arriving)(schedule, shown, rows, group, (groups, axis.bins)) / size
    most = float(counts.max())
    axis.grid(ROW * groups)
    levels: dict[str, list[Box]] = defaultdict(list)
    for number, line in enumerate(counts.tolist()):
        low, high = nodes[number * size], nodes[min((number + 1) * size, len(nodes)) - 1]
        sheet.text(-8, ROW * (number + 0.5), str(low) if size == 1 else f"{low}-{high}", size=9, anchor="end", fill=INK)
        for column, count in enumerate(line):
            if count:
                tint = shade(count / most)
                levels[tint].append((axis.width * column, ROW * number, axis.width - 0.6, ROW - 1))
    for tint, boxes in sorted(levels.items()):
        sheet.boxes(boxes, fill=tint)
        if axis.width >= 9 and size == 1 and not fine:
            for left, top, width, height in boxes:
                count = counts[round(top / ROW), round(left / axis.width)]
                sheet.text(left + width / 2, top + height / 2, f"{count:.0f}", size=8, fill=ink_on(tint))
    y = ROW * groups + 20
    if fine:
        scale_bar(sheet, -70, y, f"share of {100 * most:.0f} %, the most that a unit is busy in a column")
    else:
        _legend(sheet, y, most, busy, grouped=size > 1 or axis.bins < shown.columns)
    axis.iterations(y + 18)
    sheet.text(-70, -62, title, size=15, anchor="start", font_weight="bold", fill=INK)
    return sheet.render()


def _arriving(schedule: Schedule, shown: Shown, rows: Int64, group: Int64, shape: tuple[int, int]) -> NDArray[np.float64]:
    """The chunks that arrive to be added, by group and column."""
    counts = np.zeros(shape)
    start = np.concatenate(([0], np.cumsum(schedule.rounds, dtype=np.int64)))[schedule.step[rows]]
    for iteration in range(shown.iterations):
        at = (start + iteration * (schedule.period or 0)) * shape[1] // shown.columns
        np.add.at(counts, (group, at), 1.0)
    return counts


def _busy(schedule: Schedule, shown: Shown, rows: Int64, group: Int64, shape: tuple[int, int]) -> NDArray[np.float64]:
    """The units' busy time over that of the column, by group and column, of fine slots."""
    times, slot = fine_times(schedule), schedule.slot_cycles or 1
    edges, counts = np.arange(shape[1] + 1) * slot * shown.columns / shape[1], np.zeros(shape)
    for iteration in range(shown.iterations):
        begin = times.landing[rows] - times.red + iteration * (schedule.period or 0) * slot
        filled = np.array([np.bincount(group, np.clip(edge - begin, 0, times.red), shape[0]) for edge in edges])
        counts += np.diff(filled, axis=0).T
    return counts / np.diff(edges)


def _legend(sheet: Sheet, y: float, most: float, busy: float | None, *, grouped: bool) -> None:
    for number, count in enumerate(sorted({1.0, most} if not grouped else {most / 4, most / 2, most})):
        sheet.box(-70 + 62 * number, y - 6, 14, 12, fill=shade(count / most))
        sheet.text(-51 + 62 * number, y, f"{count:.3g}", size=10, anchor="start", fill=INK)
    words = "mean chunks to add per node and column" if grouped else "chunks that arrive to be added, per step"
    if busy is not None and not grouped:
        words += f"; each occupies the unit for {100 * busy:.1f} % of a slot, at most {100 * busy * most:.0f} % in all"
    sheet.text(130, y, words, size=10, anchor="start", fill=GREY)
