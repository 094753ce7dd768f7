"""Rows of pictures over time: one for each channel, with its lanes, or one for each group of nodes."""

import numpy as np
from numpy.typing import NDArray

from certree.extras.reports.pictures.colours import GRID, INK, ink_on
from certree.extras.reports.pictures.svg import Sheet
from certree.models.network.topology import Topology

MOST_ROWS = 256  # channels of their own; of more, those out of one node, or of a group of nodes, share a row
MOST_GROUPS, MOST_COLUMNS = 64, 240  # rows and columns of shares
MOST_HINTS = 4000  # boxes that say under the pointer what they are
MOST_LANES = 8  # of a channel that are drawn; of a wider one several transfers share a lane
NAMES = 70.0  # room for names
Int64 = NDArray[np.int64]
Box = tuple[float, float, float, float]


class ChannelRows:
    """A row for each of some channels, with the lanes that it uses. `height`: of a lane; `box_tops`: of each use, where its box
    begins."""

    def __init__(self, topology: Topology, pairs: Int64, pair: Int64, lane: Int64) -> None:
        self._topology, self._pairs = topology, pairs
        self.height = 15.0 if len(pairs) <= 64 else 11.0 if len(pairs) <= 128 else 8.0
        line = np.searchsorted(pairs, pair)
        most = np.ones(len(pairs), np.int64)
        np.maximum.at(most, line, lane + 1)
        lanes = np.minimum(most, MOST_LANES)
        self._tops = np.concatenate(([0.0], np.cumsum(self.height * lanes + 3)))
        self.box_tops = self._tops[line] + 1.5 + self.height * (lane % lanes[line])

    @property
    def bottom(self) -> float:
        """The lower end of the last row."""
        return float(self._tops[-1])

    def draw(self, sheet: Sheet, width: float) -> None:
        """A line above each row, and the nodes of its channel."""
        for top, below, pair in zip(self._tops.tolist(), self._tops[1:].tolist(), self._pairs.tolist(), strict=False):
            sheet.path([(0, top), (width, top)], stroke=GRID, stroke_width=0.8)
            name = f"{self._topology.pair_src[pair]} > {self._topology.pair_dst[pair]}"
            sheet.text(-8, (top + below) / 2, name, size=min(10.0, self.height), anchor="end", fill=INK)


def number_in(sheet: Sheet, box: Box, number: int, fill: str) -> None:
    """A number in a box, where it fits."""
    left, top, width, height = box
    size = min(9.5, height - 2, 1.5 * width / max(2, len(str(number))))
    if size >= 5.5:
        sheet.text(left + width / 2, top + height / 2, str(number), size=size, fill=ink_on(fill))


def node_groups(topology: Topology) -> tuple[list[str], Int64, NDArray[np.float64]]:
    """(names, group by pair, capacity by group) of nodes with channels out, in at most MOST_GROUPS groups of consecutive ids."""
    nodes = np.unique(topology.pair_src)
    size = -(-len(nodes) // MOST_GROUPS)
    names = []
    for low in range(0, len(nodes), size):
        first, last = nodes[low], nodes[min(low + size, len(nodes)) - 1]
        names.append(str(first) if first == last else f"{first}-{last}")
    group = np.searchsorted(nodes, topology.pair_src) // size
    capacity = np.bincount(group, weights=topology.pair_capacity, minlength=len(names))
    return names, group, capacity.astype(np.float64)
