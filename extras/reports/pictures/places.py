"""Layouts: the places of the nodes of a network, and how nodes stand in blocks and on planes."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from certree.models.network.topology import Topology

Points = NDArray[np.float64]
SPACING = 72.0
RADIUS = 15.0
SMALL = 11.0


@dataclass
class Layout:
    """Positions in pixels (shape (nodes, 2), y downwards), node radius, frames (left, top, width, height), and the switches whose
    endpoints form a block (switch -> its endpoints): one thick cable stands for all of theirs. `stubs`: links between packages
    that are not neighbours in the picture are drawn as stubs. `rows`: links between endpoints of a row bow away from the switches;
    `bows`: links between switches bow around what is between their ends.
    """

    points: Points
    radius: float = RADIUS
    frames: list[tuple[float, float, float, float]] = field(default_factory=list)
    blocks: dict[int, list[int]] = field(default_factory=dict)
    packages: NDArray[np.int64] | None = None  # (row, column) of every node's package
    rows: bool = False
    bows: bool = False


def on_plane(coordinates: NDArray[np.int32]) -> Points:
    """Two columns from any number: the first half of them counts rows, the second half columns."""
    if coordinates.shape[1] == 2:
        return coordinates.astype(np.float64)
    sizes = coordinates.max(axis=0) + 1
    half = coordinates.shape[1] // 2
    row = np.ravel_multi_index(tuple(coordinates[:, :half].T), tuple(sizes[:half]))
    column = np.ravel_multi_index(tuple(coordinates[:, half:].T), tuple(sizes[half:]))
    return np.stack([row, column], axis=1).astype(np.float64)


def block(layout: Layout, home: int, group: list[int], at: tuple[float, float], across: int) -> None:
    """Put the endpoints of a switch side by side into a frame, from a place on."""
    left, top = at
    for index, node in enumerate(group):
        layout.points[node] = (left + (index % across + 0.5) * 2.5 * SMALL, top + (index // across) * 2.5 * SMALL)
    down = (len(group) - 1) // across + 1
    layout.frames.append((left - 3, top - 1.25 * SMALL - 5, across * 2.5 * SMALL + 6, down * 2.5 * SMALL + 10))
    layout.blocks[home] = group


def are_alike(topology: Topology, nodes: list[int]) -> bool:
    """Whether each of some nodes has one link in each direction, all of one capacity."""
    out = np.isin(topology.src, nodes)
    back = np.isin(topology.dst, nodes)
    once = [np.unique(ends).size == len(ends) == len(nodes) for ends in (topology.src[out], topology.dst[back])]
    return all(once) and len(np.unique(topology.capacity[out | back])) == 1
