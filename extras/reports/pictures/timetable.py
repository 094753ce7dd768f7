"""Time-space picture of a schedule: a row for each link, a box for each transfer that passes it, time to the right."""

import colorsys
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from certree.extras.reports.pictures.svg import Sheet
from certree.models.common.errors import UnsupportedError
from certree.models.network.routing import DIRECT
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import Op

MAX_LINKS, MAX_BOXES = 160, 20_000
MOST_LANES = 8  # of a link that are drawn; of a wider one several transfers share a lane
ROW, UNIT, NAMES = 17.0, 26.0, 64.0  # height of a lane, width of a round, room for the names
INK, GRID, STEP = "#1d2b36", "#dfe5ea", "#9fb0bd"


def timetable_picture(schedule: Schedule, title: str) -> str:
    """SVG of one iteration: reduces in full colour, copies in a light one with a border, the chunk's number inside. Transfers
    between buffers of one node pass no link and are not drawn.

    A link of capacity c has c lanes; transfers that share a link in a step of several rounds follow each other in row order.
    Transfers beyond the capacity of a link are framed in red. UnsupportedError for more than MAX_LINKS links or MAX_BOXES boxes.
    """
    row, pair = _uses(schedule)
    pairs, line = np.unique(pair, return_inverse=True)
    if len(pairs) > MAX_LINKS or len(row) > MAX_BOXES:
        raise UnsupportedError(f"a picture of {len(row)} transfers over {len(pairs)} links; allowed: {MAX_BOXES} and {MAX_LINKS}")
    start = np.concatenate(([0], np.cumsum(schedule.rounds)))
    sheet = Sheet()
    capacity = schedule.topology.pair_capacity[pairs]
    most = np.zeros(len(pairs), np.int64)  # transfers of one step on each link: no more lanes than these are shown
    at, count = np.unique(line * schedule.steps + schedule.step[row], return_counts=True)
    np.maximum.at(most, at // schedule.steps, count)
    lanes = np.minimum(np.minimum(capacity, most), MOST_LANES)
    tops = np.concatenate(([0], np.cumsum(ROW * lanes + 4)))
    _frame(sheet, schedule, pairs, start, tops)
    crowded = False
    seen: dict[tuple[int, int], int] = {}
    for index in np.lexsort((row, line)).tolist():
        transfer, where = int(row[index]), int(line[index])
        step = int(schedule.step[transfer])
        turn = seen.get((where, step), 0)
        seen[where, step] = turn + 1
        late = turn // int(capacity[where])
        fits = late < int(schedule.rounds[step])
        crowded = crowded or not fits
        late = min(late, int(schedule.rounds[step]) - 1)
        place = UNIT * float(start[step] + late), float(tops[where]) + 2 + ROW * (turn % int(lanes[where])), UNIT - 2, ROW - 1
        _box(sheet, schedule, transfer, place, fits=fits)
    sheet.text(-NAMES, -46, title, size=14, anchor="start", font_weight="bold", fill=INK)
    _legend(sheet, float(tops[-1]) + 26, crowded=crowded)
    return sheet.render()


def _uses(schedule: Schedule) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(row, joined pair) of every use of a link."""
    topology = schedule.topology
    direct = np.flatnonzero(schedule.route == DIRECT)
    pair = topology.pair_index(schedule.src[direct], schedule.dst[direct])
    routed = np.flatnonzero(schedule.route != DIRECT)
    paths = [schedule.routes[index] for index in schedule.route[routed].tolist()]
    links = np.fromiter(chain.from_iterable(paths), np.int64)
    rows = np.repeat(routed, [len(path) for path in paths])
    return np.concatenate((direct[pair >= 0], rows)), np.concatenate((pair[pair >= 0], topology.pair_of_link[links]))


def _frame(sheet: Sheet, schedule: Schedule, pairs: NDArray[np.int64], start: NDArray[np.int64], tops: NDArray[np.float64]) -> None:
    """Names of the links, numbers and borders of the steps."""
    topology = schedule.topology
    width, bottom = UNIT * float(start[-1]), float(tops[-1])
    for top, below, pair in zip(tops.tolist(), tops[1:].tolist(), pairs.tolist(), strict=False):
        sheet.path([(0, top), (width, top)], stroke=GRID, stroke_width=1)
        name = f"{topology.pair_src[pair]} > {topology.pair_dst[pair]}"
        sheet.text(-8, (top + below) / 2, name, size=10, anchor="end", fill=INK)
    sheet.path([(0, bottom), (width, bottom)], stroke=GRID, stroke_width=1)
    every = max(1, -(-schedule.steps // 60))
    for step, at in enumerate(start.tolist()):
        sheet.path([(UNIT * at - 1, -6), (UNIT * at - 1, bottom)], stroke=STEP, stroke_width=1.2)
        if step < schedule.steps and step % every == 0:
            sheet.text(UNIT * (at + start[step + 1]) / 2 - 1, -12, str(step), size=10, fill=INK)
    sheet.text(-8, -12, "step", size=10, anchor="end", fill=INK)


def _box(sheet: Sheet, schedule: Schedule, row: int, place: tuple[float, float, float, float], *, fits: bool) -> None:
    chunk, op = int(schedule.chunk[row]), Op(int(schedule.op[row]))
    colour, light = _colours(chunk)
    src, dst, step = int(schedule.src[row]), int(schedule.dst[row]), int(schedule.step[row])
    hint = f"step {step}: {op.name.lower()} of chunk {chunk}, {src} > {dst}" + ("" if fits else ", more than the link carries")
    left, top, width, height = place
    fill = colour if op is Op.REDUCE else light
    border = colour if fits else "#e00000"
    sheet.box(left, top, width, height, hint, 2, fill=fill, stroke=border, stroke_width=1.2 if fits else 2.6)
    size = min(10.0, height - 1, 1.5 * width / max(2, len(str(chunk))))
    if size >= 5:
        sheet.text(left + width / 2, top + height / 2, str(chunk), size=size, fill="#ffffff" if op is Op.REDUCE else INK)


def _colours(chunk: int) -> tuple[str, str]:
    """A dark and a light colour; neighbouring chunks differ most (golden ratio)."""
    hue = (0.58 + 0.618034 * chunk) % 1
    return tuple(  # type: ignore[return-value]
        "#" + "".join(f"{round(255 * part):02x}" for part in colorsys.hls_to_rgb(hue, lightness, saturation))
        for lightness, saturation in ((0.36, 0.55), (0.86, 0.55))
    )


def _legend(sheet: Sheet, y: float, *, crowded: bool) -> None:
    colour, light = _colours(0)
    for x, fill, text in ((0.0, colour, "reduce"), (90.0, light, "copy")):
        sheet.box(x, y - 7, 18, 14, rounding=2, fill=fill, stroke=colour, stroke_width=1.2)
        sheet.text(x + 24, y, text, size=10, anchor="start", fill=INK)
    words = "the number is the chunk; a column is a round" + ("; framed red: more than the link carries" if crowded else "")
    sheet.text(170, y, words, size=10, anchor="start", fill=INK)
