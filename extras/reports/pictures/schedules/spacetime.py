"""Channels over time: a row for each channel, a column for each round, a colour for each chunk; iterations overlap."""

from collections import defaultdict

import numpy as np
from numpy.typing import NDArray

from certree.extras.reports.pictures.colours import CHUNKS, GREY, GRID, INK, PALE, WRONG, lightened, of_chunk, shade
from certree.extras.reports.pictures.schedules.rows import (
    MOST_COLUMNS,
    MOST_HINTS,
    MOST_ROWS,
    NAMES,
    Box,
    ChannelRows,
    node_groups,
    number_in,
)
from certree.extras.reports.pictures.schedules.uses import Shown, Uses, shown_of, uses_of
from certree.extras.reports.pictures.svg import Sheet
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import Op

BAND = 11.0  # height of the bar of an iteration


def spacetime_picture(schedule: Schedule, title: str, unit: str = "") -> str:
    """SVG of a schedule over time. Reduces are in the full colour of their chunk, copies in a light one; what a channel cannot
    carry is framed in red. Of repeated iterations the first are drawn: prologue, two periods of the steady state, epilogue.

    More than MOST_ROWS channels are drawn by node, or by groups of nodes, as shares of the capacity in use; the picture says so.
    `unit`: how long a round is, for the axis. Transfers between buffers of one node use no channel and are not drawn.
    O(uses · iterations shown).
    """
    uses, shown = uses_of(schedule), shown_of(schedule)
    sheet = Sheet()
    pairs = np.unique(uses.pair)
    if len(pairs) > MOST_ROWS:
        axis = Axis(sheet, schedule, shown, min(24.0, 960 / min(shown.columns, MOST_COLUMNS)), unit)
        below = _shares(axis, schedule, uses)
    else:
        axis = Axis(sheet, schedule, shown, column_width(schedule, shown), unit)
        below = _boxes(axis, schedule, uses, pairs)
    axis.iterations(below)
    sheet.text(-NAMES, -62, title, size=15, anchor="start", font_weight="bold", fill=INK)
    return sheet.render()


def column_width(schedule: Schedule, shown: Shown) -> float:
    """Pixels of a column; of fine slots as many as fit on a page."""
    width = 24.0 if shown.columns <= 64 else 13.0 if shown.columns <= 160 else 6.0
    return min(width, 960 / shown.columns) if schedule.has_fine_slots else width


class Axis:
    """The time axis of one picture."""

    def __init__(self, sheet: Sheet, schedule: Schedule, shown: Shown, width: float, unit: str) -> None:
        self.sheet, self.schedule, self.shown, self.unit = sheet, schedule, shown, unit
        self.bins = min(shown.columns, MOST_COLUMNS) if width < 6 else shown.columns
        self.width = max(width, 4.0) if self.bins == shown.columns else 960 / self.bins
        self.scale = self.width * self.bins / shown.columns  # pixels of a round

    def grid(self, bottom: float) -> None:
        """Draw prologue, steady state and epilogue, the borders of steps, and their numbers."""
        sheet, shown, width = self.sheet, self.shown, self.scale * self.shown.columns
        if shown.steady is not None and shown.closing is not None:
            spans = (
                ("prologue", 0, shown.steady),
                ("steady state", shown.steady, shown.closing),
                ("epilogue", shown.closing, None),
            )
            for name, first, last in spans:
                left, right = self.scale * first, width if last is None else self.scale * last
                if right > left:
                    if name != "steady state":
                        sheet.box(left, -6, right - left, bottom + 6, fill=PALE)
                    sheet.path([(left, -34), (left, bottom)], stroke=GREY, stroke_width=1, stroke_dasharray="4 3")
                    if right - left > 5.6 * len(name):
                        sheet.text((left + right) / 2, -34, name, size=10, fill=GREY)
        starts = [0, *np.cumsum(self.schedule.rounds, dtype=np.int64).tolist()]
        fine = self.schedule.has_fine_slots
        edges = list(range(shown.columns + 1)) if fine or shown.steady is not None else starts
        every = max(1, -(-len(edges) * 26 // max(1, int(width))))
        every = next(n * 10**k for k in range(12) for n in (1, 2, 5) if n * 10**k >= every) if fine else every
        for number, column in enumerate(edges[:-1]):
            if number % every == 0:
                sheet.path([(self.scale * column, -6), (self.scale * column, bottom)], stroke=GRID, stroke_width=0.8)
                sheet.text(self.scale * (column + edges[number + 1]) / 2, -14, str(number), size=9, fill=INK)
        sheet.text(-8, -14, "slot" if fine else "step", size=10, anchor="end", fill=INK)

    def iterations(self, top: float) -> None:
        """A bar for each iteration, and what the axis counts."""
        sheet, schedule, shown = self.sheet, self.schedule, self.shown
        y = top + 16
        if shown.steady is not None and schedule.period:
            for index in range(shown.iterations):
                lane = y + BAND * index
                left = self.scale * index * schedule.period
                sheet.box(left, lane, self.scale * schedule.steps, BAND - 3, rounding=2, fill="#b9c6d1")
                sheet.text(left - 4, lane + BAND / 2 - 1, str(index), size=8, anchor="end", fill=INK)
            sheet.text(-NAMES, y + BAND / 2, "iteration", size=10, anchor="start", fill=INK)
            y += BAND * shown.iterations + 12
        if schedule.has_fine_slots:
            words = [f"time in slots{self.unit}"]
        elif self.bins == shown.columns:
            words = [f"a column is a round{self.unit}"]
        else:
            words = [f"time in {self.bins} columns; rounds{self.unit}"]
        if shown.steady is not None and shown.closing is not None and shown.steady:
            words.append(f"prologue: before step {shown.steady}; epilogue: the last {shown.columns - shown.closing} steps")
        if shown.left_out:
            words.append(f"{shown.left_out:,} iterations more in the steady state, one every {schedule.period} steps, not drawn")
        sheet.text(-NAMES, y, "; ".join(words), size=10, anchor="start", fill=GREY)


def _boxes(axis: Axis, schedule: Schedule, uses: Uses, pairs: NDArray[np.int64]) -> float:
    """A row for each channel, a box for each use; returns where they end."""
    sheet, shown = axis.sheet, axis.shown
    lines = ChannelRows(schedule.topology, pairs, uses.pair, uses.lane)
    axis.grid(lines.bottom)
    lines.draw(sheet, axis.scale * shown.columns)
    period = schedule.period or 0
    hinted = len(uses.row) * shown.iterations <= MOST_HINTS
    groups: dict[tuple[int, int], list[Box]] = defaultdict(list)
    wrong: list[Box] = []
    for index, row in enumerate(uses.row.tolist()):
        for iteration in range(shown.iterations):
            left = axis.scale * float(uses.round[index] + iteration * period)
            box = (left + 0.6, float(lines.box_tops[index]), axis.scale * float(uses.length[index]) - 1.2, lines.height - 1)
            if hinted:
                _box(sheet, schedule, row, box, iteration)
            else:
                groups[int(schedule.chunk[row]) % len(CHUNKS), int(schedule.op[row])].append(box)
            if not uses.fits[index]:
                wrong.append(box)
    for (colour, op), boxes in sorted(groups.items()):
        sheet.boxes(boxes, **_style(colour, Op(op)))
    sheet.boxes(wrong, fill="none", stroke=WRONG, stroke_width=2.2)
    _legend(sheet, lines.bottom + 20, schedule, crowded=bool(wrong))
    return lines.bottom + 46


def _style(chunk: int, op: Op) -> dict[str, str | float]:
    colour = of_chunk(chunk)
    return {"fill": colour if op is Op.REDUCE else lightened(colour), "stroke": colour, "stroke_width": 0.9}


def _box(sheet: Sheet, schedule: Schedule, row: int, box: Box, iteration: int) -> None:
    """One box that says what it is, with the chunk's number where it fits."""
    chunk, op, step = int(schedule.chunk[row]), Op(int(schedule.op[row])), int(schedule.step[row])
    left, top, width, height = box
    when = f"step {step}" if schedule.repeats == 1 else f"step {step + iteration * (schedule.period or 0)}, iteration {iteration}"
    hint = f"{when}: {op.name.lower()} of chunk {chunk}, {int(schedule.src[row])} > {int(schedule.dst[row])}"
    sheet.box(left, top, width, height, hint, 1.5, **_style(chunk, op))
    number_in(sheet, box, chunk, str(_style(chunk, op)["fill"]))


def _legend(sheet: Sheet, y: float, schedule: Schedule, *, crowded: bool) -> None:
    """Colours of chunks, the two operations, and what a red frame means, in one line below the rows."""
    x, colours = -NAMES, min(schedule.chunks, len(CHUNKS))
    for colour in range(colours):
        more = schedule.chunks > colour + len(CHUNKS)
        words = (
            f"{colour}, {colour + len(CHUNKS)}{', …' if schedule.chunks > colour + 2 * len(CHUNKS) else ''}"
            if more
            else str(colour)
        )
        words = words if colour else f"chunk {words}"
        sheet.box(x, y - 6, 14, 12, rounding=2, fill=CHUNKS[colour])
        sheet.text(x + 19, y, words, size=10, anchor="start", fill=INK)
        x += 30 + 6.0 * len(words)
    y += 18
    x = -NAMES
    for op, words in ((Op.REDUCE, "reduce"), (Op.COPY, "copy")):
        sheet.box(x, y - 6, 14, 12, None, 2, **_style(0, op))
        sheet.text(x + 19, y, words, size=10, anchor="start", fill=INK)
        x += 80
    if crowded:
        sheet.box(x, y - 6, 14, 12, rounding=2, fill="none", stroke=WRONG, stroke_width=2.2)
        sheet.text(x + 19, y, "more than the channel carries", size=10, anchor="start", fill=WRONG)


def _shares(axis: Axis, schedule: Schedule, uses: Uses) -> float:
    """A row for each node, or group of nodes: the share of the capacity out of it that is in use; returns where they end."""
    sheet, shown = axis.sheet, axis.shown
    names, busy = shares(schedule, uses, shown, axis.bins)
    height = 11.0
    axis.grid(height * len(names))
    levels: dict[str, list[Box]] = defaultdict(list)
    for number, (name, line) in enumerate(zip(names, busy.tolist(), strict=True)):
        sheet.text(-8, height * (number + 0.5), name, size=9, anchor="end", fill=INK)
        for column, share in enumerate(line):
            if share > 0:
                tint = shade(round(share * 16) / 16)
                levels[tint].append((axis.width * column, height * number, axis.width + 0.2, height - 0.6))
    for tint, boxes in sorted(levels.items()):
        sheet.boxes(boxes, fill=tint)
    y = height * len(names) + 20
    scale_bar(sheet, -NAMES, y, "share of the capacity out of each row that is in use")
    channels = len(np.unique(uses.pair))
    sheet.text(
        -NAMES,
        y + 30,
        f"{channels:,} channels are too many for a row each: one for each node or group of nodes",
        10,
        "start",
        fill=GREY,
    )
    return y + 36


def shares(schedule: Schedule, uses: Uses, shown: Shown, columns: int) -> tuple[list[str], NDArray[np.float64]]:
    """(names, shares of shape (names, columns)) of nodes with channels out, in at most MOST_GROUPS groups of consecutive ids."""
    names, group, capacity = node_groups(schedule.topology)
    busy = np.zeros((len(names), columns))
    if (uses.length != 1).any():
        edges = np.arange(columns + 1) * shown.columns / columns
        row, most = group[uses.pair], len(names)
        filled = np.array([np.bincount(row, np.clip(edge - uses.round, 0, uses.length), most) for edge in edges])
        return names, np.asarray(np.diff(filled, axis=0).T / capacity[:, None] * columns / shown.columns)
    for iteration in range(shown.iterations):
        at = (uses.round + iteration * (schedule.period or 0)) * columns // shown.columns
        np.add.at(busy, (group[uses.pair], at), 1.0)
    width = np.bincount(np.arange(shown.columns) * columns // shown.columns, minlength=columns)
    return names, np.asarray(busy / capacity[:, None] / width)


def scale_bar(sheet: Sheet, x: float, y: float, words: str) -> None:
    """Shades from 0 to 100 %, and what they are of."""
    for step in range(50):
        sheet.box(x + 3 * step, y - 6, 3.4, 12, fill=shade(step / 49))
    for share in (0, 50, 100):
        sheet.text(x + 1.5 * share, y + 14, f"{share} %", size=9, fill=INK)
    sheet.text(x + 166, y, words, size=10, anchor="start", fill=INK)
