"""The step in which an invalid schedule breaks a rule: its transfers over the network, those that break the rule in red."""

import textwrap

import numpy as np

from certree.extras.reports.pictures.colours import GREY, INK, WRONG
from certree.extras.reports.pictures.ground import Ground, is_drawn
from certree.extras.reports.pictures.schedules.uses import uses_of
from certree.extras.reports.pictures.svg import Sheet
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import Op

MOST_LISTED = 14  # transfers in words
OTHER = "#7d8fa0"


def violation_picture(schedule: Schedule, title: str, rule: str, message: str, rows: tuple[int, ...]) -> str:
    """SVG: the transfers `rows` that break `rule` in red, the others of the same steps in grey; below, the message and each of
    those transfers in words. Of a network that is too large for a picture, only the words. O(uses + channels · nodes)."""
    sheet = Sheet()
    topology = schedule.topology
    known = [row for row in rows if 0 <= row < schedule.transfers]
    steps = sorted({int(schedule.step[row]) for row in known})
    if is_drawn(topology):
        ground = Ground(sheet, topology)
        ground.frames()
        ground.channels()
        uses = uses_of(schedule)
        now = np.flatnonzero(np.isin(schedule.step[uses.row], steps))
        bad = set(known)
        for index in sorted(now.tolist(), key=lambda index: int(uses.row[index]) in bad):
            row = int(uses.row[index])
            colour, width = (WRONG, 3.4) if row in bad else (OTHER, 1.8)
            ground.channel(int(uses.pair[index]), colour, width, hint=_words(schedule, row))
        touched = {int(end) for row in known for end in (schedule.src[row], schedule.dst[row])}
        for node in range(len(topology.kind)):
            ground.node(node, ring=WRONG if node in touched else "")
    else:
        sheet.text(0, 0, f"{len(topology.kind):,} nodes are too many for a picture of the network", 11, "start", fill=GREY)
    left, top, _, bottom = sheet.extent
    lines = [(line, WRONG) for line in textwrap.wrap(f"{rule}: {message}", 92)]
    lines += [(_words(schedule, row), INK) for row in known[:MOST_LISTED]]
    if len(known) > MOST_LISTED:
        lines.append((f"and {len(known) - MOST_LISTED:,} transfers more", GREY))
    lines.append((f"red: transfers that break the rule; grey: the others of step{'s' * (len(steps) != 1)} {_listed(steps)}", GREY))
    for number, (line, colour) in enumerate(lines):
        sheet.text(left, bottom + 26 + 15 * number, line, size=10.5, anchor="start", fill=colour)
    sheet.text(left, top - 26, title, size=15, anchor="start", font_weight="bold", fill=INK)
    return sheet.render()


def _listed(steps: list[int]) -> str:
    return ", ".join(map(str, steps[:6])) + (" …" if len(steps) > 6 else "") if steps else "none"


def _words(schedule: Schedule, row: int) -> str:
    op = Op(int(schedule.op[row])).name.lower()
    ends = f"{int(schedule.src[row])} > {int(schedule.dst[row])}"
    return f"step {int(schedule.step[row])}: transfer {row}, {op} of chunk {int(schedule.chunk[row])}, {ends}"
