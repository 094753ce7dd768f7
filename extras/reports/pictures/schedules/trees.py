"""The tree of each chunk over the network, side by side."""

import math
from collections.abc import Sequence

import numpy as np

from certree.extras.reports.pictures.colours import COPY, INK, REDUCE
from certree.extras.reports.pictures.ground import Ground
from certree.extras.reports.pictures.schedules.uses import Uses, uses_of
from certree.extras.reports.pictures.svg import Sheet
from certree.models.common.errors import InputError
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import Op

MOST_TREES = 16  # in one picture
WIDEST = 1500.0  # pixels of a row of trees
NARROWEST = 200.0  # pixels from tree to tree, for the words above them


def trees_picture(schedule: Schedule, title: str, chunks: Sequence[int] | None = None) -> str:
    """SVG: for each of the chunks (by default the first MOST_TREES) the channels that its reduces and its copies take, and the ring
    around its root. InputError for a chunk that the schedule does not have. O(uses + chunks drawn · channels · nodes)."""
    wanted = list(range(min(schedule.chunks, MOST_TREES))) if chunks is None else list(dict.fromkeys(chunks))
    for chunk in wanted:
        if not 0 <= chunk < schedule.chunks:
            raise InputError(f"chunk {chunk} is not in the schedule; chunks are 0 to {schedule.chunks - 1}")
    sheet, uses = Sheet(), uses_of(schedule)
    width = Ground(Sheet(), schedule.topology).size[0]
    across = max(1, min(len(wanted), math.ceil(math.sqrt(len(wanted) * 1.4))))
    zoom = min(1.0, max(0.3, (WIDEST / across - 50) / max(width, 1.0)))
    low_x, low_y, high_x, high_y = _room(schedule, zoom)
    for number, chunk in enumerate(wanted):
        row, column = divmod(number, across)
        corner = (max(high_x - low_x + 30, NARROWEST) * column, (high_y - low_y + 50) * row)
        _tree(Ground(sheet, schedule.topology, zoom=zoom, corner=corner), schedule, uses, chunk, (corner[0], corner[1] + low_y))
    left, top, _, bottom = sheet.extent
    for x, colour, words in ((0.0, REDUCE, "reduce"), (110.0, COPY, "copy")):
        sheet.path([(left + x, bottom + 28), (left + x + 26, bottom + 28)], stroke=colour, stroke_width=2.4)
        sheet.text(left + x + 32, bottom + 28, words, size=11, anchor="start", fill=INK)
    more = f"; {len(wanted)} of {schedule.chunks:,} chunks are drawn" if len(wanted) < schedule.chunks else ""
    words = "yellow: root of the chunk"
    sheet.text(left + 210, bottom + 28, words + more, size=11, anchor="start", fill=INK)
    sheet.text(left, top - 26, title, size=15, anchor="start", font_weight="bold", fill=INK)
    return sheet.render()


def roots_of(schedule: Schedule, chunk: int) -> list[int]:
    """The root of a chunk; in an all-reduce the nodes that get reduces of it and pass none on."""
    root = int(schedule.chunk_root[chunk])
    if root >= 0:
        return [root]
    rows = (schedule.chunk == chunk) & (schedule.op == Op.REDUCE)
    return [int(node) for node in np.setdiff1d(schedule.dst[rows], schedule.src[rows])]


def _room(schedule: Schedule, zoom: float) -> tuple[float, float, float, float]:
    """Left, top, right and bottom of one tree with its curved channels, in pixels from the corner of its outermost nodes."""
    sheet = Sheet()
    ground = Ground(sheet, schedule.topology, zoom=zoom)
    ground.channels()
    ground.nodes()
    return sheet.extent


def _tree(ground: Ground, schedule: Schedule, uses: Uses, chunk: int, above: tuple[float, float]) -> None:
    """`above`: where the words begin, over the left of everything drawn."""
    ground.channels()
    mine = np.flatnonzero(schedule.chunk[uses.row] == chunk)
    for index in mine.tolist():
        row, pair = int(uses.row[index]), int(uses.pair[index])
        op, step = Op(int(schedule.op[row])), int(schedule.step[row])
        hint = f"step {step}: {op.name.lower()} of chunk {chunk}, {int(schedule.src[row])} > {int(schedule.dst[row])}"
        ground.channel(pair, REDUCE if op is Op.REDUCE else COPY, 2.4 * max(ground.zoom, 0.6), hint=hint)
    roots = roots_of(schedule, chunk)
    for node in range(len(schedule.topology.kind)):
        ground.node(node, ring="#000000" if node in roots else "", fill="#ffd84d" if node in roots else "")
    steps = schedule.step[uses.row[mine]]
    when = f", steps {int(steps.min())} to {int(steps.max())}" if len(steps) else ": no transfers"
    ground.sheet.text(above[0] - ground.radius, above[1] - 14, f"chunk {chunk}{when}", size=11, anchor="start", fill=INK)
