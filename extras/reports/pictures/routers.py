"""Positions of networks of routers, each with endpoints of its own: grids of HyperX, groups of dragonflies, circles of others."""

import math

import numpy as np

from certree.extras.reports.pictures.places import SMALL, SPACING, Layout, Points, are_alike, block, on_plane
from certree.models.network.topology import NodeKind, Topology

FAMILIES = ("hyperx", "dragonfly", "slimfly", "jellyfish")
PITCH = 2.5 * SMALL  # between nodes that stand side by side
ROOM = 10.0  # between a frame and what is in it or next to it


def on_routers(topology: Topology) -> Layout | None:
    """The layout of a network of these families, None for another.

    A router with its endpoints has a place of its own: in the row and column that it has in a HyperX, in the circle of its group in
    a dragonfly, else in one circle. O(nodes + links)."""
    family, _, arguments = topology.name.split(",")[0].partition(":")
    if family not in FAMILIES:
        return None
    is_router = topology.kind == (NodeKind.ENDPOINT if topology.is_direct else NodeKind.SWITCH)
    sizes = [int(one) for one in arguments.partition("@")[0].split("x")]
    groups = {router: list[int]() for router in np.flatnonzero(is_router).tolist()}
    if not topology.is_direct:
        for tail, head in zip(topology.src.tolist(), topology.dst.tolist(), strict=True):
            if head in groups and tail not in groups:
                groups[head].append(tail)
    if family == "hyperx" and math.prod(sizes) == len(groups) and not topology.is_direct:
        return _grid(topology, groups, sizes if len(sizes) > 1 else [1, *sizes])
    if family == "dragonfly" and sizes[0] * sizes[1] == len(groups):
        return _circles(topology, groups, sizes[0])
    return None if topology.is_direct else _circles(topology, groups, len(groups))


def _grid(topology: Topology, groups: dict[int, list[int]], sizes: list[int]) -> Layout:
    """A router for each row and column, its endpoints in a block to the right and below, where no link between routers goes."""
    layout = Layout(np.zeros((len(topology.kind), 2)), SMALL, bows=True)
    place = on_plane(np.stack(np.unravel_index(np.arange(len(groups)), sizes), axis=1).astype(np.int32))
    most = max(len(group) for group in groups.values())
    across = math.ceil(math.sqrt(most))
    step = SPACING + 2 * ROOM + across * PITCH
    for (router, group), (row, column) in zip(groups.items(), place.tolist(), strict=True):
        x, y = column * step, row * step
        layout.points[router] = x, y
        block(layout, router, group, (x + 2.2 * SMALL, y + 3 * SMALL), across)
        if not are_alike(topology, group):
            del layout.blocks[router]
    return layout


def _circles(topology: Topology, groups: dict[int, list[int]], count: int) -> Layout:
    """Groups of routers in a circle of circles, and the endpoints of each router outside of it. With a router in each group, the
    routers stand in one circle."""
    points: Points = np.zeros((len(topology.kind), 2))
    layout = Layout(points, SMALL)
    inside = len(groups) // count
    most = max(len(group) for group in groups.values())
    inner = 0.0 if inside == 1 else max(1.6 * PITCH, inside * 1.3 * PITCH / (2 * math.pi))
    share = 1.0 if inside > 1 else 0.6  # of the circle around one router
    outer = inner if not most else max(inner + 1.4 * PITCH, inside * most * PITCH / (2 * math.pi * share))
    side = 2 * (outer + SMALL + ROOM)
    ring = max(SPACING, 0.75 * side, count * (side * (1.12 if inside > 1 else 0.8)) / (2 * math.pi))
    for number, (router, group) in enumerate(groups.items()):
        home, place = divmod(number, inside)
        around = 2 * math.pi * home / count - math.pi / 2
        centre = ring * np.array([math.cos(around), math.sin(around)])
        angle = around + 2 * math.pi * place / inside
        points[router] = centre + inner * np.array([math.cos(angle), math.sin(angle)])
        spread = 2 * math.pi / inside if inside > 1 else len(group) * PITCH / max(outer, 1.0)
        for index, node in enumerate(group):
            turn = angle + spread * ((index + 0.5) / len(group) - 0.5)
            points[node] = centre + outer * np.array([math.cos(turn), math.sin(turn)])
        if inside > 1 and place == 0:
            layout.frames.append((float(centre[0]) - side / 2, float(centre[1]) - side / 2, side, side))
    return layout
