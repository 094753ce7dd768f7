"""Trees of an all-gather among boxes: the copies of the chunks of box 0, which the group takes to those of all boxes.

A chunk of place p goes to place p of every other box, at once or, with leaf switches, to one box of each leaf and from there to the
others; and from place p of each box to the rest of the box.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import ceil

import numpy as np
from numpy.typing import NDArray

from certree.models.common.errors import TopologyError, UnsupportedError
from certree.models.network.routing import routes_between
from certree.models.network.topology import Topology
from certree.models.schedule.collective import Collective, CollectiveKind
from certree.synth.packing.branchings import RootedNetwork
from certree.synth.packing.routed_branchings import RoutedBranchings
from certree.synth.packing.trees import NONE, TreeFamily
from certree.synth.symmetric.box_symmetry import Boxes

Path = tuple[int, ...]
Edge = tuple[int, int, Path]  # parent, child
FEW = (1, 2, 4, 8)
MOST_INNER = 1024  # trees of one packing inside a box


@dataclass
class Rows:
    """Copies in an order in which each comes after the one that brings its chunk: `chunk`, `src`, `dst`, `before` (the row of that
    one, -1 at the root), `path` (an entry of `paths`, which are for box 0) and `box`, whose element takes the path there."""

    paths: list[Path] = field(default_factory=list)
    chunk: list[int] = field(default_factory=list)
    src: list[int] = field(default_factory=list)
    dst: list[int] = field(default_factory=list)
    before: list[int] = field(default_factory=list)
    path: list[int] = field(default_factory=list)
    box: list[int] = field(default_factory=list)

    def add(self, chunk: int, src: int, dst: int, before: int, path: int, box: int) -> int:
        """The number of a new row."""
        for column, value in zip(
            (self.chunk, self.src, self.dst, self.before, self.path, self.box), (chunk, src, dst, before, path, box), strict=True
        ):
            column.append(value)
        return len(self.chunk) - 1


@dataclass(frozen=True)
class Inner:
    """`trees[v][p]`: edges (parent, child, path) in box 0 of variant v of the trees from place p, parents first. `adds`: switches
    are nodes of the trees, which add and multicast."""

    trees: tuple[tuple[tuple[Edge, ...], ...], ...]
    adds: bool = False


def gather_rows(boxes: Boxes, inner: Inner, each: int, *, by_leaves: bool) -> Rows:
    """The copies of `each` chunks of every place of box 0; chunk c of place p is number c · places + p. O(rows)."""
    rows = Rows()
    number: dict[Path, int] = {}

    def path_of(path: Path) -> int:
        if path not in number:
            number[path] = len(rows.paths)
            rows.paths.append(path)
        return number[path]

    between = _paths_between(boxes)
    places, near = boxes.places, boxes.near if by_leaves else boxes.count
    for chunk in range(each * places):
        copy, place = divmod(chunk, places)
        arrived = {0: -1}
        for first in range(near, boxes.count, near):
            arrived[first] = rows.add(chunk, place, first * places + place, -1, path_of(between[place, first]), 0)
        for leaf in range(0, boxes.count, near):
            for member in range(1, near):
                box, source = leaf + member, leaf * places + place
                route = path_of(between[place, member])
                arrived[box] = rows.add(chunk, source, box * places + place, arrived[leaf], route, leaf)
        for box, brought in arrived.items():
            holder = {place: brought}
            for parent, child, path in inner.trees[(copy * boxes.count + box) % len(inner.trees)][place]:
                source, target = int(boxes.images[box, parent]), int(boxes.images[box, child])
                holder[child] = rows.add(chunk, source, target, holder[parent], path_of(path), box)
    return rows


def _paths_between(boxes: Boxes) -> dict[tuple[int, int], Path]:
    """For each place and box the links of a shortest route from that place of box 0 to that of the other one."""
    place, box = (axis.ravel() for axis in np.indices((boxes.places, boxes.count - 1)))
    column, routes = routes_between(boxes.topology, place, (box + 1) * boxes.places + place)
    ends = zip(place.tolist(), (box + 1).tolist(), column.tolist(), strict=True)
    return {(p, b): routes[route] for p, b, route in ends}


def inner_trees(boxes: Boxes, *, adding: bool) -> Iterator[Inner]:
    """Trees inside a box without the links that lead to other boxes: shortest routes to all others, where there are any, packings
    of branchings, and (`adding`) stars around switches that reduce."""
    used = {int(boxes.orbit[link]) for path in _paths_between(boxes).values() for link in path}
    box = _box(boxes, used)
    if box is None:
        return
    part, link_of = box
    star = _star(part, link_of)
    if star is not None:
        yield star
    yield from _packed(part, link_of)
    hubs = [_hub(boxes, switch) for switch in boxes.inside.tolist() if adding and boxes.topology.reducing[switch]]
    if hubs and all(hubs):
        yield Inner(tuple(hubs), adds=True)


def _hub(boxes: Boxes, switch: int) -> tuple[tuple[Edge, ...], ...]:
    """A tree for each place, to a switch and from there to all others; nothing where the switch is not next to all of them."""
    topology, places = boxes.topology, np.arange(boxes.places)
    link_at = np.argsort(topology.pair_of_link, kind="stable")
    to, back = topology.pair_index(places, np.full_like(places, switch)), topology.pair_index(np.full_like(places, switch), places)
    if (to < 0).any() or (back < 0).any():
        return ()
    route, home = link_at[to].tolist(), link_at[back].tolist()
    return tuple(
        ((p, switch, (route[p],)), *((switch, q, (home[q],)) for q in range(boxes.places) if q != p)) for p in range(boxes.places)
    )


def _box(boxes: Boxes, used: set[int]) -> tuple[Topology, list[int]] | None:
    """Box 0 as a network of its own, and the links of the whole that its links are; None where it is not connected."""
    topology = boxes.topology
    number = np.full(len(topology.kind), -1, np.int32)
    number[boxes.inside] = np.arange(len(boxes.inside))
    kept = (number[topology.src] >= 0) & (number[topology.dst] >= 0) & ~np.isin(boxes.orbit, sorted(used))
    links = np.flatnonzero(kept)
    kind = topology.kind[boxes.inside]
    try:
        part = Topology(
            f"a box of {topology.name}",
            kind,
            number[topology.src[links]],
            number[topology.dst[links]],
            topology.capacity[links],
            topology.latency[links],
        )
    except TopologyError:
        return None
    return part, links.tolist()


def _star(part: Topology, link_of: list[int]) -> Inner | None:
    """Trees of one route from each place to every other; None where one would pass another endpoint."""
    size = len(part.endpoints)
    src, dst = (axis.ravel() for axis in np.nonzero(~np.eye(size, dtype=np.bool_)))
    if part.is_direct and (part.pair_index(src, dst) < 0).any():
        return None
    try:
        paths = _paths(part, link_of, src, dst)
    except UnsupportedError:
        return None
    trees = tuple(tuple((p, q, paths[p, q]) for q in range(size) if q != p) for p in range(size))
    return Inner((trees,))


def _paths(part: Topology, link_of: list[int], src: NDArray[np.int64], dst: NDArray[np.int64]) -> dict[tuple[int, int], Path]:
    link_at = np.argsort(part.pair_of_link, kind="stable")
    column, routes = routes_between(part, src, dst)
    direct = link_at[part.pair_index(src, dst)].tolist()
    found = {}
    for p, q, route, link in zip(src.tolist(), dst.tolist(), column.tolist(), direct, strict=True):
        found[p, q] = tuple(link_of[step] for step in routes[route]) if route >= 0 else (link_of[link],)
    return found


def _packed(part: Topology, link_of: list[int]) -> Iterator[Inner]:
    """Yield packings of branchings: few from each place, and as many as the best cut allows."""
    gather = Collective(CollectiveKind.ALL_GATHER)
    network = (RootedNetwork if part.is_direct else RoutedBranchings)(part, gather)
    size = len(part.endpoints)
    shapes = [(size * each, ceil(size * each / network.strength)) for each in FEW]
    shapes += [(size * int(network.strength * period / size), period) for period in FEW if network.strength * period >= size]
    for trees, period in dict.fromkeys([*shapes, network.tight]):
        family = network.pack(gather, trees, period, moves=0, seed=0) if trees <= MOST_INNER else None
        if family is None:
            continue
        link_at = np.argsort(part.pair_of_link, kind="stable")
        by_place: list[list[tuple[Edge, ...]]] = [[] for _ in range(size)]
        for tree in range(trees):
            by_place[int(family.root[tree])].append(tuple(_edges(family, tree, link_of, link_at)))
        yield Inner(tuple(tuple(by_place[p][v] for p in range(size)) for v in range(trees // size)))


def _edges(family: TreeFamily, tree: int, link_of: list[int], link_at: NDArray[np.integer]) -> Iterator[Edge]:
    part, down = family.topology, family.down[tree]
    queue = [int(family.root[tree])]
    for parent in queue:
        for child in np.flatnonzero(down == parent).tolist():
            route = NONE if family.down_route is None else int(family.down_route[tree, child])
            links = family.routes[route] if route != NONE else (int(link_at[part.pair_index(np.array(parent), np.array(child))]),)
            queue.append(child)
            yield parent, child, tuple(link_of[link] for link in links)
