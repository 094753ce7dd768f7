"""Positions of the nodes of a network: on its coordinates, in packages, in layers of switches, in groups, or in a circle."""

import math

import numpy as np
from numpy.typing import NDArray

from certree.extras.reports.pictures.places import RADIUS, SMALL, SPACING, Layout, Points, are_alike, block, on_plane
from certree.extras.reports.pictures.routers import on_routers
from certree.models.network.topology import NodeKind, Topology

FARTHEST = 4096  # coordinate of a node that stands on it
LABEL_SIZE = 8.5  # of the names of switches
ROW = 16  # endpoints of one switch that stand side by side; with more, they form a block, and so do other large groups
TILT = 0.35 * math.pi  # over the nodes of a package: turns their circle so that no two are level


def lay_out(topology: Topology) -> Layout:
    """The layout that suits the network. O(nodes + links) apart from sorting."""
    if (found := on_routers(topology)) is not None:
        return found
    coordinates = topology.coordinates if _are_places(topology.coordinates) else None
    direct = topology.is_direct
    if coordinates is not None and coordinates.shape[1] == 3:
        return _packages(topology, coordinates)
    if coordinates is not None and direct and coordinates.shape[1] == 1:
        return _line_or_circle(topology)
    if coordinates is not None and direct:
        return Layout(on_plane(coordinates)[:, ::-1] * SPACING)
    if direct:
        return _full_grid(topology) or _circle(len(topology.kind))
    sides = _two_sides(topology)
    return _layers(topology) if sides is None else _facing(topology, sides)


def _are_places(coordinates: NDArray[np.int32] | None) -> bool:
    """Whether nodes can stand on their coordinates: files may hold any."""
    if coordinates is None or not 0 <= coordinates.min() <= coordinates.max() < FARTHEST:
        return False
    return len(np.unique(coordinates, axis=0)) == len(coordinates)


def _circle(count: int) -> Layout:
    radius = max(SPACING, count * 2.6 * RADIUS / (2 * math.pi))
    angle = 2 * math.pi * np.arange(count) / count - math.pi / 2
    return Layout(radius * np.stack([np.cos(angle), np.sin(angle)], axis=1))


def _full_grid(topology: Topology) -> Layout | None:
    """A grid, where exactly the nodes of a row and those of a column are joined (`full-mesh:AxB`)."""
    count, source, target = len(topology.kind), topology.pair_src, topology.pair_dst
    for across in range(2, count // 2 + 1):
        in_row, in_column = source // across == target // across, source % across == target % across
        if count % across == 0 and (in_row != in_column).all() and len(source) == count * (across + count // across - 2):
            return Layout(np.stack(np.divmod(np.arange(count), across)[::-1], axis=1) * float(SPACING))
    return None


def _line_or_circle(topology: Topology) -> Layout:
    """A ring stands in a circle, a path in a row."""
    count = len(topology.kind)
    if count > 2 and topology.pair_index(np.array([0]), np.array([count - 1]))[0] >= 0:
        return _circle(count)
    return Layout(np.stack([SPACING * np.arange(count), np.zeros(count)], axis=1))


def _packages(topology: Topology, coordinates: NDArray[np.int32]) -> Layout:
    """A frame for each (row, column); endpoints in a circle by place, local switches inside it."""
    ends = topology.kind != NodeKind.SWITCH
    inside = int(coordinates[ends, 2].max()) + 1
    wide = max(34.0, inside * 3.0 * SMALL / (2 * math.pi) + 6)
    side = 2 * (wide + SMALL + 10)
    step = side + 44
    place = coordinates[:, 2].astype(np.float64)
    angle = (2 * math.pi * place + TILT) / inside
    offset = wide * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    locals_ = int((coordinates[:, 2] - inside).max()) + 1
    if locals_ > 0:
        turn = 2 * math.pi * (place - inside) / locals_ + math.pi / locals_ + TILT / inside
        ring = 0.0 if locals_ == 1 else max(21.0, locals_ * 30 / (2 * math.pi))
        outer = wide + ring + 20
        offset = np.where(ends[:, None], offset * (outer / wide), ring * np.stack([np.cos(turn), np.sin(turn)], axis=1))
        step, side = step + 2 * (outer - wide), side + 2 * (outer - wide)
    centre = coordinates[:, 1::-1] * step
    frames = [(x - side / 2, y - side / 2, side, side) for x, y in sorted({(float(x), float(y)) for x, y in centre})]
    return Layout(centre + offset, SMALL, frames, packages=coordinates[:, :2].astype(np.int64))


def _two_sides(topology: Topology) -> dict[int, int] | None:
    """Switch -> side, when all switches have endpoints of their own and their cables run between two sides (BiGraph, DGX-2)."""
    import networkx as nx

    is_switch = topology.kind == NodeKind.SWITCH
    inner = is_switch[topology.src] & is_switch[topology.dst]
    graph = nx.Graph()
    graph.add_nodes_from(np.flatnonzero(is_switch).tolist())
    graph.add_edges_from(zip(topology.src[inner].tolist(), topology.dst[inner].tolist(), strict=True))
    homes = {int(b) for a, b in zip(topology.src, topology.dst, strict=True) if topology.kind[a] == NodeKind.ENDPOINT}
    if not graph.number_of_edges() or not set(graph) <= homes or not nx.is_bipartite(graph):
        return None
    return dict(nx.bipartite.color(graph))


def _facing(topology: Topology, sides: dict[int, int]) -> Layout:
    """Two rows of switches that face each other, endpoints outside of them."""
    points = np.zeros((len(topology.kind), 2))
    rows: list[list[list[int]]] = [[], []]
    groups = _groups(topology)
    for side in (0, 1):
        homes = [switch for switch in sorted(sides) if sides[switch] == side]
        rows[side] = [group for home, group in groups if home in homes]
    width = max(sum(len(group) * 2.6 * RADIUS + SPACING / 3 for group in row) for row in rows)
    drop = max(1.6 * SPACING, width / 8)
    for side, row in enumerate(rows):
        outward = -1 if side == 0 else 1
        count = sum(len(group) for group in row)
        gap = width / max(1, count)
        at = 0.0
        for group in row:
            for node in group:
                points[node] = (at + gap / 2, outward * (drop / 2 + 1.4 * SPACING))
                at += gap
        homes = [switch for switch in sorted(sides) if sides[switch] == side]
        for index, switch in enumerate(homes):
            points[switch] = ((index + 0.5) * width / len(homes), outward * drop / 2)
    return Layout(points)


def _groups(topology: Topology) -> list[tuple[int, list[int]]]:
    """(first switch of theirs, endpoints) in the order of the first endpoint; endpoints without a switch have -1."""
    home = np.full(len(topology.kind), -1, np.int64)
    for link in range(len(topology.src) - 1, -1, -1):
        tail, head = topology.src[link], topology.dst[link]
        if topology.kind[tail] == NodeKind.ENDPOINT and topology.kind[head] == NodeKind.SWITCH:
            home[tail] = head
    groups: dict[int, list[int]] = {}
    for node in np.flatnonzero(topology.kind != NodeKind.SWITCH).tolist():
        groups.setdefault(int(home[node]), []).append(node)
    return list(groups.items())


def _heights(topology: Topology) -> NDArray[np.int64]:
    """Hops from the nearest endpoint."""
    height = np.where(topology.kind == NodeKind.SWITCH, -1, 0)
    level = 0
    while True:
        fresh = topology.dst[(height[topology.src] == level) & (height[topology.dst] < 0)]
        if not len(fresh):
            return np.maximum(height, 0)
        level += 1
        height[fresh] = level


def _layers(topology: Topology) -> Layout:
    """Endpoints at the bottom, grouped by their switch, and a row of switches for each further hop upwards.

    Where some switches join groups and others are inside of one, as in boxes of GPUs, the first stand above the others, and a group
    has a frame."""
    height = _heights(topology)
    layout = Layout(np.zeros((len(topology.kind), 2)), rows=True)
    single = np.bincount(topology.src, minlength=len(topology.kind)) == 1
    groups = _groups(topology)
    limit = ROW // 2 if max(len(group) for _, group in groups) > ROW else ROW
    at = 0.0
    for home, group in groups:
        if home >= 0 and len(group) > limit and are_alike(topology, group):
            across = math.ceil(math.sqrt(len(group) / 1.5))
            block(layout, home, group, (at, 0.0), across)
            layout.radius = SMALL
            at += across * 2.5 * SMALL + 26
        else:
            for index, node in enumerate(group):
                layout.points[node] = (at + (index + 0.5) * 2.6 * RADIUS, 0)
            at += len(group) * 2.6 * RADIUS + 22
    drop = max(1.5 * SPACING, at / (9 if single[topology.endpoints].all() else 4))
    inside = _inside_groups(topology, height, groups)
    if len(inside):
        drop /= 2
        height = np.where((height == 0) | np.isin(np.arange(len(height)), inside), height, height + 1)
    _place_rows(layout.points, topology, height, drop, at)
    for _, group in groups if len(inside) else []:
        nodes = [*group, *(switch for switch in inside if set(_below(topology, height, switch).tolist()) <= set(group))]
        low, high = layout.points[nodes].min(axis=0) - 1.5 * RADIUS, layout.points[nodes].max(axis=0) + 1.5 * RADIUS
        layout.frames.append((float(low[0]), float(low[1]), float(high[0] - low[0]), float(high[1] - low[1])))
    return layout


def _inside_groups(topology: Topology, height: NDArray[np.int64], groups: list[tuple[int, list[int]]]) -> list[int]:
    """The switches of the first row whose endpoints are all in one group; none where all of them are, or no switch is."""
    group = np.full(len(topology.kind), -1)
    for number, (_, nodes) in enumerate(groups):
        group[nodes] = number
    row = np.flatnonzero(height == 1).tolist()
    found = [switch for switch in row if len(set(group[_below(topology, height, switch)].tolist())) == 1]
    return found if len(found) < len(row) else []


def _place_rows(points: Points, topology: Topology, height: NDArray[np.int64], drop: float, width: float) -> None:
    """Each switch above the middle of what is below it, as far as there is room."""
    longest = max((len(label) for label in topology.labels or ()), default=0)
    room = max(3.2 * RADIUS, 0.7 * LABEL_SIZE * longest)
    for level in range(1, int(height.max()) + 1):
        row = np.flatnonzero((height == level) & (topology.kind == NodeKind.SWITCH)).tolist()
        wanted = [float(np.mean(points[_below(topology, height, node), 0])) for node in row]
        for node, x in zip(row, _spread(wanted, width, room), strict=True):
            points[node] = (x, -level * drop)


def _below(topology: Topology, height: NDArray[np.int64], node: int) -> NDArray[np.int32]:
    """The neighbours of a switch that are lower."""
    near = topology.dst[topology.src == node]
    return np.asarray(near[height[near] < height[node]])


def _spread(wanted: list[float], width: float, room: float) -> list[float]:
    """Places near the wanted ones, `room` apart; all over the width when all want the same."""
    count = len(wanted)
    if count > 1 and max(wanted) - min(wanted) < room:
        span = max(room * count, min(width, 2 * SPACING * count))
        return [width / 2 + (index + 0.5) * span / count - span / 2 for index in range(count)]
    placed = [0.0] * count
    last = -math.inf
    for index in sorted(range(count), key=lambda index: (wanted[index], index)):
        placed[index] = last = max(wanted[index], last + room)
    shift = (sum(placed) - sum(wanted)) / max(1, count)
    return [x - shift for x in placed]
