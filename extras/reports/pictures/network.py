"""The picture of a network: circles for endpoints, squares for switches, links as wide as their capacity, damage in red, links of a
part of the full speed in amber."""

import math
import textwrap
from collections.abc import Sequence
from typing import Any

import numpy as np

from certree.extras.reports.pictures.curves import Curves, Point
from certree.extras.reports.pictures.layout import LABEL_SIZE, lay_out
from certree.extras.reports.pictures.places import Layout
from certree.extras.reports.pictures.svg import Sheet
from certree.models.common.errors import TopologyError
from certree.models.network.topology import NodeKind, Topology

MAX_DRAWN, MAX_LINKS = 4096, 1 << 16  # nodes, and links of all of them
LONGEST = 60  # letters of a title
CAPTION = 72  # letters of a line below the picture
MARK = "#d0021b"
LINK, BETWEEN, GONE, SLOW, INK = "#5b7083", "#9db4c6", "#c8321f", "#d98e04", "#1d2b36"
ENDPOINT_FILL, SWITCH_FILL, REDUCING_FILL = "#dcebf7", "#f6e3b4", "#f3b676"


def network_picture(
    topology: Topology, undamaged: Topology | None = None, marked: Sequence[tuple[int, int]] = (), caption: str = ""
) -> str:
    """SVG of a network. `undamaged`: the network before nodes and links were removed; these are then drawn as missing.

    `marked`: pairs of nodes, shown as thick arrows from ringed nodes; twice the same node rings it. `caption`: lines below them.

    TopologyError for more than MAX_DRAWN nodes or MAX_LINKS links. O(nodes · links) at worst, for links that must avoid nodes.
    """
    for count, most, what in ((len(topology.kind), MAX_DRAWN, "nodes"), (len(topology.src), MAX_LINKS, "links")):
        if count > most:
            raise TopologyError(f"{topology.name}: {count} {what}; a picture shows up to {most}")
    whole = topology if undamaged is None or len(undamaged.kind) != len(topology.kind) else undamaged
    drawing = _Drawing(topology, whole)
    drawing.draw()
    drawing.mark(marked, caption)
    return drawing.sheet.render()


def _pairs(topology: Topology) -> dict[tuple[int, int], int]:
    """(src, dst) -> capacity of all parallel links."""
    ends = zip(topology.pair_src.tolist(), topology.pair_dst.tolist(), strict=True)
    return dict(zip(ends, topology.pair_capacity.tolist(), strict=True))


class _Drawing:
    """One picture in the making."""

    def __init__(self, topology: Topology, whole: Topology) -> None:
        self.topology = topology
        self.whole = whole
        self.layout: Layout = lay_out(whole)
        self.sheet = Sheet()
        self.pairs = _pairs(topology)
        self.missing = {pair for pair in _pairs(whole) if pair not in self.pairs}
        self.widest = max([*self.pairs.values(), 1])
        self.curves = Curves(self.layout, whole)

    def draw(self) -> None:
        """The network, with title and legend."""
        for left, top, width, height in self.layout.frames:
            self.sheet.box(left, top, width, height, rounding=8, fill="#f7f9fb", stroke="#d5dde4", stroke_width=1)
        drawn = {(min(pair), max(pair)) for pair in [*self.pairs, *self.missing]}
        bundled = {(min(home, node), max(home, node)) for home, group in self.layout.blocks.items() for node in group}
        for a, b in sorted(drawn - bundled):
            self._link(a, b)
        for home, group in sorted(self.layout.blocks.items()):
            self._bundle(home, group)
        for node in range(len(self.whole.kind)):
            self._node(node)
        self._words()

    def mark(self, marked: Sequence[tuple[int, int]], caption: str) -> None:
        """Arrows and rings over the network, and the caption below it."""
        for a, b in sorted(set(marked)):
            if a != b:
                self._arrow(a, b, {"stroke": MARK, "stroke_width": 3.5})
            x, y = self._point(a)
            self.sheet.circle(x, y, self.layout.radius + 4, fill="none", stroke=MARK, stroke_width=2.5)
        if caption:
            left, _, _, bottom = self.sheet.extent
            for number, line in enumerate(textwrap.wrap(caption, CAPTION)):
                self.sheet.text(left, bottom + 24 + 15 * number, line, size=11, anchor="start", fill=MARK)

    def _point(self, node: int) -> Point:
        x, y = self.layout.points[node]
        return float(x), float(y)

    def _width(self, capacity: int) -> float:
        """In proportion while that fits; compressed where the widest link is many times as wide as the narrowest."""
        full = self.topology.lanes
        if self.widest <= 4 * full:
            return 1.4 * capacity / full if capacity >= full else 0.8 + 0.6 * capacity / full
        return 1.1 + 5.5 * math.pow(capacity / self.widest, 0.75)

    def _colour(self, capacity: int) -> str:
        return SLOW if capacity < self.topology.lanes else LINK

    def _link(self, a: int, b: int) -> None:
        """The links between two nodes: one line where both directions are equal, arrows otherwise; missing links are dashed."""
        there, back = self.pairs.get((a, b), 0), self.pairs.get((b, a), 0)
        speeds = [self.topology.speed(capacity) for capacity in (there, back)]
        hint = f"{a} - {b}: capacity {speeds[0]}" if there == back else f"{a}>{b}: capacity {speeds[0]}, {b}>{a}: {speeds[1]}"
        if (a, b) in self.missing and (b, a) in self.missing:
            self._lines(a, b, {"stroke": GONE, "stroke_width": 1.6, "stroke_dasharray": "3 4"})
            return
        colour = BETWEEN if self._between(a, b) else self._colour(there)
        if there == back:
            self._lines(a, b, {"stroke": colour, "stroke_width": self._width(there)}, hint)
            return
        for tail, head, capacity in ((a, b, there), (b, a, back)):
            style: dict[str, Any] = {"stroke": self._colour(capacity), "stroke_width": self._width(capacity)}
            if not capacity and (tail, head) not in self.missing:
                continue
            if not capacity:
                style = {"stroke": GONE, "stroke_width": 1.6, "stroke_dasharray": "3 4"}
            self._arrow(tail, head, style)

    def _between(self, a: int, b: int) -> bool:
        packages = self.layout.packages
        return packages is not None and bool((packages[a] != packages[b]).any())

    def _lines(self, a: int, b: int, style: dict[str, Any], hint: str | None = None) -> None:
        if self._between(a, b) and self.layout.packages is not None:
            apart = np.abs(self.layout.packages[a] - self.layout.packages[b])
            if apart.max() > 1:
                self._stub(a, b, style)
                self._stub(b, a, style)
                return
        self.sheet.path(self.curves.between(a, b), hint, **style)

    def _stub(self, node: int, other: int, style: dict[str, Any]) -> None:
        """The start of a link to a package at the other end of the row or column, with the id of the node it leads to."""
        here = self.layout.points[node]
        along = np.sign(self.layout.packages[other] - self.layout.packages[node])[::-1]  # type: ignore[index]
        frame = next(f for f in self.layout.frames if f[0] <= here[0] <= f[0] + f[2] and f[1] <= here[1] <= f[1] + f[3])
        end = [float(here[0]), float(here[1])]
        axis = 0 if along[0] else 1
        border = frame[axis] if along[axis] > 0 else frame[axis] + frame[axis + 2]
        end[axis] = border - 14 * float(along[axis])
        self.sheet.path([(float(here[0]), float(here[1])), (end[0], end[1])], **style)
        end[axis] -= 10 * float(along[axis])
        self.sheet.text(end[0], end[1], str(other), size=8.5, fill="#6d7f8d")

    def _arrow(self, tail: int, head: int, style: dict[str, Any]) -> None:
        """One direction, next to the middle of the other, with a head."""
        points = self.curves.between(tail, head)
        (x0, y0), (x1, y1) = points[0], points[-1]
        length = math.hypot(x1 - x0, y1 - y0) or 1.0
        ux, uy = (x1 - x0) / length, (y1 - y0) / length
        points = [(x - 3.5 * uy, y + 3.5 * ux) for x, y in points]
        self.sheet.path(points, **style)
        reach = 1 - (self.layout.radius + 3) / length
        tip = (points[0][0] + (x1 - x0) * reach, points[0][1] + (y1 - y0) * reach)
        for turn in (2.6, -2.6):
            barb = (
                tip[0] + 7 * (ux * math.cos(turn) - uy * math.sin(turn)),
                tip[1] + 7 * (ux * math.sin(turn) + uy * math.cos(turn)),
            )
            self.sheet.path([tip, barb], stroke=style["stroke"], stroke_width=1.4)

    def _bundle(self, home: int, group: list[int]) -> None:
        """One thick cable for the equal links of all endpoints in a block."""
        x, y = (float(v) for v in self.layout.points[home])
        top = min(float(self.layout.points[node][1]) for node in group) - 1.25 * self.layout.radius - 5
        middle = float(np.mean([self.layout.points[node][0] for node in group]))
        capacities = [self.pairs[node, home] for node in group if (node, home) in self.pairs]
        if not capacities:
            return
        end, text = (middle, top), ((x + middle) / 2 + 6, (y + 2 * top) / 3)
        if self.layout.bows:  # to the nearest corner of the frame, and the words below it
            bottom = max(float(self.layout.points[node][1]) for node in group) + 1.25 * self.layout.radius
            end, text = (min(float(self.layout.points[node][0]) for node in group), top), (middle - 10, bottom + 15)
        self.sheet.path([(x, y), end], stroke=LINK, stroke_width=5)
        self.sheet.path([(x, y), end], stroke="#ffffff", stroke_width=1.4)
        self.sheet.text(*text, f"{len(capacities)} × {capacities[0]}", size=10, anchor="start", fill=INK)

    def _node(self, node: int) -> None:
        x, y = (float(v) for v in self.layout.points[node])
        radius, kind = self.layout.radius, self.topology.kind[node]
        label = None if self.topology.labels is None else self.topology.labels[node]
        hint = f"{node}" if label is None or label == str(node) else f"{node}: {label}"
        if kind == NodeKind.ABSENT:
            if self.whole.kind[node] != NodeKind.ABSENT:
                self.sheet.circle(x, y, radius, hint, fill="#ffffff", stroke=GONE, stroke_width=1.4, stroke_dasharray="3 3")
                self.sheet.text(x, y, str(node), size=self._text_size(node), fill=GONE)
            return
        if kind == NodeKind.SWITCH:
            fill = REDUCING_FILL if self.topology.reducing[node] else SWITCH_FILL
            size = radius if self.layout.packages is None else 0.85 * radius
            self.sheet.box(x - size, y - size, 2 * size, 2 * size, hint, 3, fill=fill, stroke=INK, stroke_width=1.2)
            if label is not None and label != str(node):
                self.sheet.text(x + size + 3, y - size + 2, label, size=LABEL_SIZE, anchor="start", fill="#6d7f8d")
        else:
            self.sheet.circle(x, y, radius, hint, fill=ENDPOINT_FILL, stroke=INK, stroke_width=1.2)
        self.sheet.text(x, y, str(node), size=self._text_size(node), fill=INK)

    def _text_size(self, node: int) -> float:
        """So that the digits fit into the node."""
        return min(12.0, 2.5 * self.layout.radius / max(2, len(str(node))))

    def _words(self) -> None:
        """Title above, legend below."""
        left, top, _, bottom = self.sheet.extent
        topology = self.topology
        switches = int((topology.kind == NodeKind.SWITCH).sum())
        counts = f"{len(topology.endpoints)} endpoints" + (f", {switches} switch{'es' * (switches > 1)}" if switches else "")
        name = topology.name if len(topology.name) <= LONGEST else f"{topology.name[:LONGEST]}…"
        self.sheet.text(left, top - 40, name, size=16, anchor="start", font_weight="bold", fill=INK)
        self.sheet.text(left, top - 20, f"{counts}, {len(topology.src)} links", size=11, anchor="start", fill=INK)
        x, y = left, bottom + 30
        for capacity in self._capacities():
            self.sheet.path([(x, y), (x + 28, y)], stroke=self._colour(capacity), stroke_width=self._width(capacity))
            text = f"capacity {topology.speed(capacity)}"
            self.sheet.text(x + 34, y, text, size=10, anchor="start", fill=INK)
            x += 34 + 6.2 * len(text) + 16
        notes = []
        if topology.reducing.any():
            notes.append(("box", "reduces"))
        if self.missing or (topology.kind != self.whole.kind).any():
            notes.append(("line", "removed"))
        for shape, text in notes:
            if shape == "box":
                self.sheet.box(x, y - 7, 14, 14, rounding=2, fill=REDUCING_FILL, stroke=INK, stroke_width=1)
            else:
                self.sheet.path([(x - 8, y), (x + 14, y)], stroke=GONE, stroke_width=1.6, stroke_dasharray="3 4")
            self.sheet.text(x + 20, y, text, size=10, anchor="start", fill=INK)
            x += 20 + 6.2 * len(text) + 16

    def _capacities(self) -> list[int]:
        """Up to six different ones, the least and the largest among them."""
        found = sorted(set(self.pairs.values()))
        if len(found) <= 6:
            return found
        return [found[round(index * (len(found) - 1) / 5)] for index in range(6)]
