"""Networks of equal boxes: the endpoints of each box, and the group that takes each box to every other.

The group has one element for each box. It acts freely on endpoints, so that a transfer and its images leave and reach different
endpoints, but not on the switches that join boxes: a link next to one of them may have fewer images than there are boxes, and each
of its images carries that many more of the images of a transfer.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from certree.models.common.errors import UnsupportedError
from certree.models.network.topology import Int32, NodeKind, Topology

NEEDS = "boxes needs equal boxes of endpoints, joined by switches"
MAX_INSIDE = 128  # endpoints of a box


@dataclass(frozen=True, eq=False)
class Boxes:
    """`images[b]`: where element b takes each node; it takes box 0 to box b. Endpoint p of box b is node b · `places` + p.

    `inside`: the nodes of box 0, endpoints first. `near`: boxes on one leaf switch, that many in a row; all of them where there are
    no leaf switches.
    """

    topology: Topology
    images: Int32
    places: int
    near: int
    inside: Int32

    @property
    def count(self) -> int:
        """The number of boxes."""
        return len(self.images)

    @cached_property
    def place(self) -> Int32:
        """For each node the first of its images."""
        return np.asarray(self.images.min(axis=0))

    @cached_property
    def link_images(self) -> Int32:
        """Shape (boxes, links): where each element takes each link. O(boxes · links)."""
        topology = self.topology
        link_of = np.argsort(topology.pair_of_link, kind="stable")
        rows = [link_of[topology.pair_index(images[topology.src], images[topology.dst])] for images in self.images]
        return np.array(rows, np.int32)

    @cached_property
    def orbit(self) -> Int32:
        """For each link the first of its images."""
        return np.asarray(self.link_images.min(axis=0))

    @cached_property
    def capacity(self) -> NDArray[np.int64]:
        """For each link the transfers of box 0 that it and its images can carry in a round together with all their images."""
        size = np.bincount(self.orbit, minlength=len(self.orbit))[self.orbit]
        return np.asarray(self.topology.capacity * size // self.count)


def boxes_of(topology: Topology) -> Boxes:
    """The boxes of a network; UnsupportedError where none are found.

    The search tries all numbers of endpoints in a box, from 2 on, with consecutive ids. The result has been checked: each element
    takes links to links of the same capacity, and no switch of a box is shared. O(divisors · links + boxes · links).
    """
    count = len(topology.endpoints)
    if topology.is_direct or (topology.endpoints != np.arange(count)).any():
        raise UnsupportedError(f"{NEEDS}; {topology.name} has {'no switches' if topology.is_direct else 'removed nodes'}")
    if len(topology.src) != len(topology.pair_src):
        raise UnsupportedError(f"{NEEDS}; {topology.name} has parallel links")
    for places in range(2, min(MAX_INSIDE, count // 2) + 1):
        if count % places == 0:
            found = _with_places(topology, places)
            if found is not None:
                return found
    raise UnsupportedError(f"{NEEDS}; none were found in {topology.name}")


def _with_places(topology: Topology, places: int) -> Boxes | None:
    boxes = len(topology.endpoints) // places
    near = _near(topology, places, boxes)
    if near is None:
        return None
    box, place = np.divmod(np.arange(boxes * places), places)
    group, member = np.divmod(box, near)
    shifts = []
    if near > 1:
        shifts.append((group * near + (member + 1) % near) * places + place)
    if near < boxes:
        shifts.append(((group + 1) % (boxes // near) * near + member) * places + place)
    moves = [extended(topology, shift) for shift in shifts]
    if any(move is None for move in moves):
        return None
    images = np.empty((boxes, len(topology.kind)), np.int32)
    images[0] = np.arange(len(topology.kind))
    for element in range(1, boxes):
        inner = element % near != 0
        before = element - 1 if inner else element - near
        move = moves[0] if inner else moves[-1]
        assert move is not None
        images[element] = move[images[before]]
    own = (np.sort(images, axis=0)[1:] != np.sort(images, axis=0)[:-1]).all(axis=0)
    inside = _component(topology, own)
    ends = inside[inside < boxes * places]
    if not np.array_equal(ends, np.arange(places)) or np.isin(images[1:, inside], inside).any():
        return None
    return Boxes(topology, images, places, near, inside)


def _near(topology: Topology, places: int, boxes: int) -> int | None:
    """The number of boxes nearest to box 0, including it; None where they are not the first ones, or their number is no divisor."""
    hops = topology.distances(0)[: boxes * places : places]
    close = np.flatnonzero(hops <= hops[1:].min())
    return len(close) if (close == np.arange(len(close))).all() and boxes % len(close) == 0 else None


def extended(topology: Topology, shift: NDArray[np.int64]) -> Int32 | None:
    """The endpoints' shift with images for the switches, each found by its neighbours whose images are known, twins in the order of
    their ids; None unless that takes links to links of the same capacity."""
    nodes = len(topology.kind)
    image = np.full(nodes, -1, np.int32)
    image[: len(shift)] = shift
    neighbours: list[list[tuple[int, int]]] = [[] for _ in range(nodes)]
    columns = (topology.src.tolist(), topology.dst.tolist(), topology.capacity.tolist())
    for tail, head, capacity in zip(*columns, strict=True):
        neighbours[head].append((tail, capacity))
    waiting = np.flatnonzero(topology.kind == NodeKind.SWITCH).tolist()
    while waiting:
        known = image >= 0
        there: dict[tuple[tuple[int, int], ...], list[int]] = {}
        for switch in waiting:
            there.setdefault(tuple(sorted(pair for pair in neighbours[switch] if known[pair[0]])), []).append(switch)
        left = []
        for switch in waiting:
            key = tuple(sorted((int(image[node]), capacity) for node, capacity in neighbours[switch] if known[node]))
            if not key:
                left.append(switch)
            elif there.get(key):
                image[switch] = there[key].pop(0)
            else:
                return None
        if len(left) == len(waiting):
            return None
        waiting = left
    pair = topology.pair_index(image[topology.pair_src], image[topology.pair_dst])
    fits = (pair >= 0).all() and (topology.pair_capacity[pair] == topology.pair_capacity).all()
    return image if fits and (topology.reducing[image] == topology.reducing).all() else None


def _component(topology: Topology, allowed: NDArray[np.bool_]) -> Int32:
    """The nodes that node 0 reaches through allowed ones, ascending."""
    seen = np.zeros(len(topology.kind), np.bool_)
    seen[0] = True
    usable = allowed[topology.src] & allowed[topology.dst]
    tails, heads = topology.src[usable], topology.dst[usable]
    while True:
        fresh = heads[seen[tails] & ~seen[heads]]
        if not len(fresh):
            return np.flatnonzero(seen).astype(np.int32)
        seen[fresh] = True
