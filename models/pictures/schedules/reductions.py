"""The reduction units over time: a row for each node, a column for each round."""

from collections import defaultdict

import numpy as np

from certree.models.common.errors import UnsupportedError
from certree.models.pictures.colours import GREY, INK, ink_on, shade
from certree.models.pictures.schedules.spacetime import MOST_GROUPS, Axis, Box
from certree.models.pictures.schedules.uses import shown_of
from certree.models.pictures.svg import Sheet
from certree.models.schedule.schedule import Op, Schedule

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
    axis = Axis(sheet, schedule, shown, 22.0 if shown.columns <= 64 else 12.0 if shown.columns <= 160 else 6.0, unit)
    nodes = np.unique(schedule.dst[rows])
    size = -(-len(nodes) // MOST_GROUPS)
    groups = -(-len(nodes) // size)
    counts = np.zeros((groups, axis.bins))
    start = np.concatenate(([0], np.cumsum(schedule.rounds, dtype=np.int64)))[schedule.step[rows]]
    group = np.searchsorted(nodes, schedule.dst[rows]) // size
    for iteration in range(shown.iterations):
        at = (start + iteration * (schedule.period or 0)) * axis.bins // shown.columns
        np.add.at(counts, (group, at), 1.0)
    counts /= size
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
        if axis.width >= 9 and size == 1:
            for left, top, width, height in boxes:
                count = counts[round(top / ROW), round(left / axis.width)]
                sheet.text(left + width / 2, top + height / 2, f"{count:.0f}", size=8, fill=ink_on(tint))
    y = ROW * groups + 20
    _legend(sheet, y, most, busy, grouped=size > 1 or axis.bins < shown.columns)
    axis.iterations(y + 18)
    sheet.text(-70, -62, title, size=15, anchor="start", font_weight="bold", fill=INK)
    return sheet.render()


def _legend(sheet: Sheet, y: float, most: float, busy: float | None, *, grouped: bool) -> None:
    for number, count in enumerate(sorted({1.0, most} if not grouped else {most / 4, most / 2, most})):
        sheet.box(-70 + 62 * number, y - 6, 14, 12, fill=shade(count / most))
        sheet.text(-51 + 62 * number, y, f"{count:.3g}", size=10, anchor="start", fill=INK)
    words = "mean chunks to add per node and column" if grouped else "chunks that arrive to be added, per step"
    if busy is not None and not grouped:
        words += f"; each occupies the unit for {100 * busy:.1f} % of a slot, at most {100 * busy * most:.0f} % in all"
    sheet.text(130, y, words, size=10, anchor="start", fill=GREY)
