"""The network with each channel in a shade of the cycles for which messages of a run waited for it."""

from collections.abc import Mapping

from certree.extras.reports.pictures.colours import GREY, INK, shade
from certree.extras.reports.pictures.ground import Ground, is_drawn
from certree.extras.reports.pictures.svg import Sheet
from certree.models.network.topology import Topology

LISTED = 10  # channels in words


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
