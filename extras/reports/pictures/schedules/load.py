"""The network with each channel in a shade of how busy it is."""

import numpy as np

from certree.extras.reports.pictures.colours import GREY, INK, shade
from certree.extras.reports.pictures.ground import Ground, is_drawn
from certree.extras.reports.pictures.schedules.spacetime import scale_bar
from certree.extras.reports.pictures.schedules.uses import load_of
from certree.extras.reports.pictures.svg import Sheet
from certree.models.schedule.schedule import Schedule

CLASSES = 20  # of the histogram


def load_picture(schedule: Schedule, title: str) -> str:
    """SVG: the share of each channel's capacity in use: over the steady state of a schedule that repeats, else over all rounds.

    Of a network that is too large for a picture, how many channels are used how much. O(uses + channels · nodes).
    """
    load, topology, sheet = load_of(schedule), schedule.topology, Sheet()
    over = "steady state" if schedule.repeats > 1 else "whole run"
    if not is_drawn(topology):
        return _histogram(sheet, load.tolist(), title, over)
    ground = Ground(sheet, topology)
    ground.frames()
    most = max(float(load.max()), 1e-9)
    for pair in np.argsort(load, kind="stable").tolist():
        share = float(load[pair])
        ends = f"{int(topology.pair_src[pair])} > {int(topology.pair_dst[pair])}"
        hint = f"{ends}: {100 * share:.1f} % of capacity {topology.speed(int(topology.pair_capacity[pair]))}"
        ground.channel(pair, shade(share) if share else "#e3a6a6", 2.6, hint=hint, dash="" if share else "2 3")
    ground.nodes()
    left, _, _, bottom = sheet.extent
    scale_bar(sheet, left, bottom + 26, f"share of the channel's capacity in use, {over}; dashed: not used")
    busiest, used = int((load == load.max()).sum()), int((load > 0).sum())
    mean = 100 * float(load.mean())
    facts = f"busiest: {100 * most:.1f} % ({busiest} of {len(load)} channels); mean {mean:.1f} %; used: {used} of {len(load)}"
    ground.words(title, ["", facts])
    return sheet.render()


def _histogram(sheet: Sheet, load: list[float], title: str, over: str) -> str:
    """Bars: how many channels have a load within each twentieth."""
    counts, _ = np.histogram(np.minimum(load, 1.0), bins=CLASSES, range=(0.0, 1.0))
    width, height, most = 30.0, 220.0, max(int(counts.max()), 1)
    for number, count in enumerate(counts.tolist()):
        tall = height * count / most
        sheet.box(width * number, height - tall, width - 3, tall, fill=shade((number + 0.5) / CLASSES))
        if count:
            sheet.text(width * (number + 0.45), height - tall - 8, f"{count:,}", size=9, fill=INK)
    for number in range(0, CLASSES + 1, 4):
        sheet.text(width * number, height + 14, f"{100 * number // CLASSES} %", size=10, fill=INK)
    sheet.path([(0, height), (width * CLASSES, height)], stroke=GREY, stroke_width=1)
    sheet.text(
        0, height + 34, f"share of the capacity in use, {over}; above each bar the number of channels", 11, "start", fill=INK
    )
    sheet.text(0, height + 52, f"{len(load):,} channels are too many for a picture of the network", 11, "start", fill=GREY)
    sheet.text(0, -34, title, size=15, anchor="start", font_weight="bold", fill=INK)
    return sheet.render()
