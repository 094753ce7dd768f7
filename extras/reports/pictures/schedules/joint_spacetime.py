"""Channels over time for several collectives at once: a row for each channel, a colour for each collective."""

from collections import defaultdict

import numpy as np
from numpy.typing import NDArray

from certree.api.reports.text import one_line
from certree.extras.joint.model.joint_schedule import JointSchedule
from certree.extras.joint.model.joint_uses import LinkUses, link_uses_of
from certree.extras.reports.pictures.colours import CHUNKS, GREY, GRID, INK, WRONG, ink_on, of_chunk
from certree.extras.reports.pictures.schedules.uses import lanes_of
from certree.extras.reports.pictures.svg import Sheet

MOST_ROWS, MOST_BOXES = 256, 40_000  # channels of their own, and messages on them
MOST_GROUPS, MOST_COLUMNS = 64, 240  # rows and columns of shares
MOST_HINTS = 4000  # boxes that say under the pointer what they are
MOST_LANES = 8  # of a channel that are drawn
MOST_NAMES = 24  # collectives in the legend
WIDTH, NAMES = 960.0, 70.0
Int64 = NDArray[np.int64]
Box = tuple[float, float, float, float]


def joint_picture(joint: JointSchedule, title: str | None = None) -> str:
    """SVG of a joint schedule over time: each message on each channel of its way, in the colour of its collective. What finds no
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
    topology, scale = joint.topology, WIDTH / last
    height = 15.0 if len(pairs) <= 64 else 11.0 if len(pairs) <= 128 else 8.0
    lane, fits = lanes_of(uses.pair, uses.entry, uses.length, topology.pair_capacity)
    line = np.searchsorted(pairs, uses.pair)
    most = np.ones(len(pairs), np.int64)
    np.maximum.at(most, line, lane + 1)
    lanes = np.minimum(most, MOST_LANES)
    tops = np.concatenate(([0.0], np.cumsum(height * lanes + 3)))
    _axis(sheet, last, float(tops[-1]))
    for top, below, pair in zip(tops.tolist(), tops[1:].tolist(), pairs.tolist(), strict=False):
        sheet.path([(0, top), (WIDTH, top)], stroke=GRID, stroke_width=0.8)
        name = f"{topology.pair_src[pair]} > {topology.pair_dst[pair]}"
        sheet.text(-8, (top + below) / 2, name, size=min(10.0, height), anchor="end", fill=INK)
    places = zip(
        (scale * uses.entry + 0.3).tolist(),
        (tops[line] + 1.5 + height * (lane % lanes[line])).tolist(),
        np.maximum(0.6, scale * uses.length - 0.6).tolist(),
        strict=True,
    )
    boxes: list[Box] = [(left, top, width, height - 1) for left, top, width in places]
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
    return float(tops[-1])


def _box(sheet: Sheet, joint: JointSchedule, uses: LinkUses, number: int, box: Box) -> None:
    """One box that says what it is, with the number of its collective where that fits."""
    tag, row, entry = int(uses.part[number]), int(uses.row[number]), int(uses.entry[number])
    schedule, colour = joint.parts[tag].schedule, of_chunk(tag)
    sends = f"chunk {int(schedule.chunk[row])}, {int(schedule.src[row])} > {int(schedule.dst[row])}"
    hint = f"{one_line(joint.parts[tag].name)}: {sends}, cycles {entry:,} to {entry + int(uses.length[number]):,}"
    left, top, width, height = box
    sheet.box(left, top, width, height, hint, 1, fill=colour)
    size = min(9.5, height - 2, 1.5 * width / max(2, len(str(tag))))
    if size >= 5.5:
        sheet.text(left + width / 2, top + height / 2, str(tag), size=size, fill=ink_on(colour))


def _shares(sheet: Sheet, joint: JointSchedule, uses: LinkUses, last: int) -> float:
    """A row for each node, or group of nodes: of each collective the share of the capacity out of it, one on the other; returns
    where they end."""
    topology, height = joint.topology, 13.0
    nodes = np.unique(topology.pair_src)
    size = -(-len(nodes) // MOST_GROUPS)
    group = np.searchsorted(nodes, topology.pair_src) // size
    rows, columns, parts = int(group.max()) + 1, min(last, MOST_COLUMNS), len(joint.parts)
    capacity = np.bincount(group, weights=topology.pair_capacity, minlength=rows)
    line, edges = group[uses.pair] * parts + uses.part, np.arange(columns + 1) * last // columns
    filled = np.array([np.bincount(line, np.clip(edge - uses.entry, 0, uses.length), rows * parts) for edge in edges])
    busy = np.diff(filled, axis=0).reshape(columns, rows, parts) / (capacity[:, None] * np.diff(edges)[:, None, None])
    bottoms = np.cumsum(busy, axis=2)
    _axis(sheet, last, height * rows)
    for number in range(rows):
        first, end = nodes[number * size], nodes[min((number + 1) * size, len(nodes)) - 1]
        sheet.text(-8, height * (number + 0.5), str(first) if first == end else f"{first}-{end}", size=9, anchor="end", fill=INK)
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
