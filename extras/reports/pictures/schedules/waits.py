"""Where messages of a run waited, and the network with each channel in a shade of the cycles for which they waited for it."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping

from certree.extras.reports.pictures.colours import GREY, INK, shade
from certree.extras.reports.pictures.ground import Ground, is_drawn
from certree.extras.reports.pictures.svg import Sheet
from certree.hw.engines.traces import LinkUses, Record
from certree.models.network.topology import Topology

LISTED = 10  # channels in words
_LANE = re.compile(r"(\d+)>(\d+)")  # in the name of a lane


def waits_by_channel(records: Iterable[Record], uses: LinkUses) -> dict[tuple[int, int], int]:
    """(source, destination) of a channel -> cycles that messages waited for it, summed; those above 0 only.

    A message waits for a lane from the time at which it could have been there (by the least time that any message of the run took
    for the same hop) to its first flit there; and, where flits take turns, for as long as others hold up its flits more than on the
    lane before. O(uses · log).
    """
    lanes = [_LANE.match(name) for name in uses.names]
    fired = {record[-1]: record[3] for record in records}
    first: dict[int, dict[int, int]] = defaultdict(dict)
    last: dict[int, dict[int, int]] = defaultdict(dict)
    flits: dict[int, dict[int, int]] = defaultdict(dict)
    for message, lane, start, cycles in uses.messages:
        first[message][lane] = min(start, first[message].get(lane, start))
        last[message][lane] = max(start + cycles, last[message].get(lane, 0))
        flits[message][lane] = cycles + flits[message].get(lane, 0)
    hops: list[tuple[int, int, int, int]] = []  # lane before (-1: none), lane, cycles between, held up
    for message, starts in first.items():
        before, when, held = -1, fired.get(message, 0), 0
        for lane, start in sorted(starts.items(), key=lambda entry: entry[1]):
            longer = last[message][lane] - start - flits[message][lane]
            hops.append((before, lane, start - when, max(0, longer - held)))
            before, when, held = lane, start, longer
    least: dict[tuple[int, int], int] = {}
    for before, lane, gap, _ in hops:
        least[before, lane] = min(gap, least.get((before, lane), gap))
    at_source = min((gap for before, _, gap, _ in hops if before < 0), default=0)
    found: dict[tuple[int, int], int] = defaultdict(int)
    for before, lane, gap, held in hops:
        if (ends := lanes[lane]) is not None:
            waited = gap - (at_source if before < 0 else least[before, lane]) + held
            found[int(ends[1]), int(ends[2])] += waited
    return {pair: waited for pair, waited in sorted(found.items()) if waited > 0}


def waits_picture(topology: Topology, waits: Mapping[tuple[int, int], int], title: str) -> str:
    """SVG. `waits`: (source, destination) of a channel -> cycles, summed over messages; channels without an entry are grey. Below,
    the channels that were waited for most; of a network that is too large for a picture, only these. O(channels · nodes)."""
    sheet = Sheet()
    most = max(waits.values(), default=0)
    if is_drawn(topology):
        ground = Ground(sheet, topology)
        ground.frames()
        pairs = list(zip(topology.pair_src.tolist(), topology.pair_dst.tolist(), strict=True))
        for pair in sorted(range(len(pairs)), key=lambda pair: waits.get(pairs[pair], 0)):
            waited = waits.get(pairs[pair], 0)
            hint = f"{pairs[pair][0]} > {pairs[pair][1]}: {waited:,} cycles"
            ground.channel(pair, shade(0.15 + 0.85 * waited / most) if waited else "#d5dce2", 2.8 if waited else 1.2, hint=hint)
        ground.nodes()
    left, top, _, bottom = sheet.extent
    if most:
        for step in range(50):
            sheet.box(left + 3 * step, bottom + 20, 3.4, 12, fill=shade(0.15 + 0.85 * step / 49))
        sheet.text(left, bottom + 42, "> 0", size=9, anchor="start", fill=INK)
        sheet.text(left + 150, bottom + 42, f"{most:,}", size=9, fill=INK)
        sheet.text(
            left + 190, bottom + 26, "cycles that messages waited for the channel, summed", size=10, anchor="start", fill=INK
        )
    worst = sorted(waits.items(), key=lambda entry: (-entry[1], entry[0]))
    lines = [f"{source} > {destination}: {waited:,} cycles" for (source, destination), waited in worst[:LISTED]]
    if len(worst) > LISTED:
        lines.append(f"and {len(worst) - LISTED:,} channels more; {sum(waits.values()):,} cycles in all")
    if not is_drawn(topology):
        lines.append(f"{len(topology.kind):,} nodes are too many for a picture of the network")
    for number, line in enumerate(lines or ["no message waited"]):
        sheet.text(left, bottom + 64 + 15 * number, line, size=11, anchor="start", fill=GREY if line.startswith("and") else INK)
    sheet.text(left, top - 26, title, size=15, anchor="start", font_weight="bold", fill=INK)
    return sheet.render()
