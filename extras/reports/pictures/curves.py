"""Lines between nodes of a layout: straight, or curved around the nodes between their ends."""

import math

import numpy as np
from numpy.typing import NDArray

from certree.extras.reports.pictures.places import SPACING, Layout
from certree.models.network.topology import NodeKind, Topology

Point = tuple[float, float]
APART = 3.5  # pixels between the middle line and each direction
BARB, TURN = 7.0, 2.6  # of an arrow: length, and angle to its line


class Curves:
    """The lines of one picture."""

    def __init__(self, layout: Layout, topology: Topology) -> None:
        self._layout = layout
        self._switch = topology.kind == NodeKind.SWITCH
        self._spans = layout.points.min(axis=0), layout.points.max(axis=0)

    def between(self, a: int, b: int) -> list[Point]:
        """A straight line (two points), or a cubic curve around the nodes between the ends (four). O(nodes)."""
        start, end = self._layout.points[a], self._layout.points[b]
        delta = end - start
        length = float(np.hypot(*delta)) or 1.0
        straight = [(float(start[0]), float(start[1])), (float(end[0]), float(end[1]))]
        if length <= SPACING or self._layout.packages is not None:
            return straight
        across = np.array([-delta[1], delta[0]]) / length
        offsets = self._layout.points - start
        along, aside = offsets @ delta / length, offsets @ across
        near = (along > 1) & (along < length - 1) & (np.abs(aside) < self._layout.radius + 3)
        switched = self._switch[[a, b]].any() and abs(delta[1]) > 1 and not self._layout.bows
        if not near.any() or switched:
            return straight
        height = 12 + 0.3 * length if self._layout.rows else 0.5 * SPACING + 0.06 * length
        bow = across * self._side(start, across) * height
        return [(float(x), float(y)) for x, y in (start, start + bow + 0.06 * delta, end + bow - 0.06 * delta, end)]

    def directed(self, tail: int, head: int) -> list[Point]:
        """The line of one direction, next to that of the other, from the edge of its tail to the edge of its head."""
        points = self.between(tail, head)
        (x0, y0), (x1, y1) = points[0], points[-1]
        length = math.hypot(x1 - x0, y1 - y0) or 1.0
        ux, uy = (x1 - x0) / length, (y1 - y0) / length
        points = [(x - APART * uy, y + APART * ux) for x, y in points]
        radius = self._layout.radius
        for end, other, gap in ((0, 1, radius), (-1, -2, radius + 2)):
            (x, y), (px, py) = points[end], points[other]
            reach = math.hypot(px - x, py - y) or 1.0
            if reach > gap:
                points[end] = (x + (px - x) * gap / reach, y + (py - y) * gap / reach)
        return points

    def _side(self, start: NDArray[np.float64], across: NDArray[np.float64]) -> float:
        """+1 or -1: outwards at the border of the picture, upwards or to the left elsewhere."""
        low, high = self._spans
        axis = int(abs(across[1]) >= abs(across[0]))
        outward = 1.0 if start[axis] >= high[axis] - 1 and high[axis] - low[axis] > 1 else -1.0
        if self._layout.rows:
            outward = 1.0  # away from the switches
        return outward if across[axis] > 0 else -outward


def barbs(points: list[Point], size: float = BARB) -> list[Point]:
    """The head of an arrow at the end of a line: left, tip, right."""
    (px, py), (x, y) = points[-2], points[-1]
    length = math.hypot(x - px, y - py) or 1.0
    ux, uy = (x - px) / length, (y - py) / length
    sides = [
        (
            x + size * (ux * math.cos(turn) - uy * math.sin(turn)),
            y + size * (ux * math.sin(turn) + uy * math.cos(turn)),
        )
        for turn in (TURN, -TURN)
    ]
    return [sides[0], (x, y), sides[1]]
