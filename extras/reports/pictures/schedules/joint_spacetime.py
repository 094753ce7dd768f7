"""Channels over time for several collectives at once: a row for each channel, a colour for each collective."""

from collections import defaultdict

import numpy as np

from certree.api.reports.text import one_line
from certree.extras.joint.model.joint_schedule import JointSchedule
from certree.extras.joint.model.joint_uses import LinkUses, link_uses_of
from certree.extras.reports.pictures.colours import CHUNKS, GREY, GRID, INK, WRONG, of_chunk
from certree.extras.reports.pictures.schedules.rows import (
    MOST_COLUMNS,
    MOST_HINTS,
    MOST_ROWS,
    NAMES,
    Box,
    ChannelRows,
    Int64,
    node_groups,
    number_in,
)
from certree.extras.reports.pictures.schedules.uses import lanes_of
from certree.extras.reports.pictures.svg import Sheet

MOST_BOXES = 40_000  # messages on channels of their own
MOST_NAMES = 24  # collectives in the legend
WIDTH = 960.0


def joint_picture(joint: JointSchedule, title: str | None = None) -> str:
    """SVG of a joint schedule over time: each message on each channel of its route, in the colour of its collective. What finds no
    lane of a channel is framed in red.

    More than MOST_ROWS channels or MOST_BOXES messages are drawn by node, or by groups of nodes, as shares of the capacity in use;
    the picture says so. O(uses · log uses).
    """
    uses, sheet = link_uses_of(joint), Sheet()
    last = max(1, uses.end, *(part.landed for part in joint.parts))
    pairs = np.unique(uses.pair)
    is_small = len(pairs) <= MOST_ROWS and len(uses.row) <= MOST_BOXES
    below = _boxes(sheet, joint, uses, pairs, last) if is_small else _shares(sheet, joint, uses, last)
    y = _legend(sheet, joint, below + 22)
    words = f"time in cycles from the opening of the first slot; all has landed after {joint.cycles:,} cycles of the run"
    if not is_small:
        words += f"; {len(pairs):,} channels and {len(uses.row):,} messages on them are too many: shares of the capacity in use"
    sheet.text(-NAMES, y + 6, words, size=10, anchor="start", fill=GREY)
    heading = title or f"{len(joint.parts)} collectives at once on {one_line(joint.topology.name)}"
    sheet.text(-NAMES, -40, heading, size=15, anchor="start", font_weight="bold", fill=INK)
    return sheet.render()


def _axis(sheet: Sheet, last: int, bottom: float) -> None:
    """Cycles above the rows, at round numbers."""
    step = next(size for power in range(20) for size in (10**power, 2 * 10**power, 5 * 10**power) if last // size <= 12)
    for cycle in range(0, last + 1, step):
        left = WIDTH * cycle / last
        sheet.path([(left, -6), (left, bottom)], stroke=GRID, stroke_width=0.8)
        sheet.text(left, -14, f"{cycle:,}", size=9, fill=INK)


def _boxes(sheet: Sheet, joint: JointSchedule, uses: LinkUses, pairs: Int64, last: int) -> float:
    """A row for each channel, a box for each message on it; returns where they end."""
    scale = WIDTH / last
    lane, fits = lanes_of(uses.pair, uses.entry, uses.length, joint.topology.pair_capacity)
    lines = ChannelRows(joint.topology, pairs, uses.pair, lane)
    _axis(sheet, last, lines.bottom)
    lines.draw(sheet, WIDTH)
    places = zip(
        (scale * uses.entry + 0.3).tolist(),
        lines.box_tops.tolist(),
        np.maximum(0.6, scale * uses.length - 0.6).tolist(),
        strict=True,
    )
    boxes: list[Box] = [(left, top, width, lines.height - 1) for left, top, width in places]
    if len(boxes) <= MOST_HINTS:
        for number, box in enumerate(boxes):
            _box(sheet, joint, uses, number, box)
    else:
        groups: dict[int, list[Box]] = defaultdict(list)
        for number, box in zip(uses.part.tolist(), boxes, strict=True):
            groups[number % len(CHUNKS)].append(box)
        for colour, same in sorted(groups.items()):
            sheet.boxes(same, fill=of_chunk(colour))
    sheet.boxes([boxes[place] for place in np.flatnonzero(~fits).tolist()], fill="none", stroke=WRONG, stroke_width=2.2)
    return lines.bottom


def _box(sheet: Sheet, joint: JointSchedule, uses: LinkUses, number: int, box: Box) -> None:
    """One box that says what it is, with the number of its collective where that fits."""
    tag, row, entry = int(uses.part[number]), int(uses.row[number]), int(uses.entry[number])
    schedule, colour = joint.parts[tag].schedule, of_chunk(tag)
    sends = f"chunk {int(schedule.chunk[row])}, {int(schedule.src[row])} > {int(schedule.dst[row])}"
    hint = f"{one_line(joint.parts[tag].name)}: {sends}, cycles {entry:,} to {entry + int(uses.length[number]):,}"
    sheet.box(*box, hint, 1, fill=colour)
    number_in(sheet, box, tag, colour)


def _shares(sheet: Sheet, joint: JointSchedule, uses: LinkUses, last: int) -> float:
    """A row for each node, or group of nodes: of each collective the share of the capacity out of it, one on the other; returns
    where they end."""
    height, (names, group, capacity) = 13.0, node_groups(joint.topology)
    rows, columns, parts = len(names), min(last, MOST_COLUMNS), len(joint.parts)
    line, edges = group[uses.pair] * parts + uses.part, np.arange(columns + 1) * last // columns
    filled = np.array([np.bincount(line, np.clip(edge - uses.entry, 0, uses.length), rows * parts) for edge in edges])
    busy = np.diff(filled, axis=0).reshape(columns, rows, parts) / (capacity[:, None] * np.diff(edges)[:, None, None])
    bottoms = np.cumsum(busy, axis=2)
    _axis(sheet, last, height * rows)
    for number, name in enumerate(names):
        sheet.text(-8, height * (number + 0.5), name, size=9, anchor="end", fill=INK)
        sheet.path([(0, height * (number + 1)), (WIDTH, height * (number + 1))], stroke=GRID, stroke_width=0.5)
    groups: dict[int, list[Box]] = defaultdict(list)
    for column, row, tag in np.argwhere(busy > 0).tolist():
        tall = (height - 1) * float(busy[column, row, tag])
        top = height * (row + 1) - (height - 1) * float(bottoms[column, row, tag])
        groups[tag % len(CHUNKS)].append((WIDTH * column / columns, top, WIDTH / columns + 0.2, tall))
    for colour, same in sorted(groups.items()):
        sheet.boxes(same, fill=of_chunk(colour))
    return height * rows


def _legend(sheet: Sheet, joint: JointSchedule, y: float) -> float:
    """The colour, number, name and time of each collective; returns where it ends."""
    ends, start = joint.ends, joint.machine.ni_start_cycles
    for number, part in enumerate(joint.parts[:MOST_NAMES]):
        sheet.box(-NAMES, y - 6, 14, 12, rounding=2, fill=of_chunk(number))
        what = (
            f"{number}: {one_line(part.name)}, {part.entry.collective.words}, cycles {start + part.first:,} to {ends[part.name]:,}"
        )
        sheet.text(-NAMES + 19, y, what, size=10, anchor="start", fill=INK)
        y += 15
    if (more := len(joint.parts) - MOST_NAMES) > 0:
        sheet.text(-NAMES + 19, y, f"and {more} more; every {len(CHUNKS)} of them have one colour", 10, "start", fill=GREY)
        y += 15
    return y
