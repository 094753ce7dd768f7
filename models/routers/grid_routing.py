"""Dimension-order routing on rings, meshes, tori and hypercubes, and the datelines of their wrap-around links."""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from certree.models.network.topology import NodeKind, Topology

Int64 = NDArray[np.int64]
ANY, LOWER, UPPER = 0, 1, 2  # which VCs a hop may take: all, the lower half, the upper half


class Grid:
    """A network whose links join exactly the neighbours of a whole grid, each dimension open or closed to a ring.

    Packets go along the last dimension first. Around a ring they take the shorter direction; of two equal ones, nodes at even
    places take the upward one. Datelines break the cycle of a ring. By rule "wrap", hops of a packet that still has the wrap-around
    link ahead in this dimension use the upper half of the VCs, the others the lower half. By rule "ends", BookSim2's, a packet
    keeps the half in which it enters a ring: the upper one to a lower place, the lower one to a higher place. Packets that wrap
    upwards never take the link up into the second half of the ring, and packets that wrap downwards never take the link down out of
    it."""

    def __init__(
        self, topology: Topology, places: Int64, dimension: Int64, upward: NDArray[np.bool_], wraps: NDArray[np.bool_]
    ) -> None:
        self.topology = topology
        self.places = places  # of each node, shape (nodes, dimensions)
        self.sizes = places.max(axis=0) + 1
        self.dimension = dimension  # of each link
        self.upward = upward  # whether a link leads up, around the ring where it wraps
        self.wraps = wraps  # whether a link joins the two ends of its dimension
        self.is_ring = np.array([bool(wraps[dimension == d].any()) for d in range(len(self.sizes))])

    @classmethod
    def of(cls, topology: Topology) -> "Grid | None":
        """The grid of a topology; None when the topology is not a whole grid. O(links)."""
        if topology.coordinates is None or (topology.kind != NodeKind.ENDPOINT).any():
            return None
        places = topology.coordinates.astype(np.int64)
        sizes = places.max(axis=0) + 1
        if len(np.unique(places, axis=0)) != len(places) or int(np.prod(sizes)) != len(places) or places.min() < 0:
            return None
        step = places[topology.dst] - places[topology.src]
        moves = step != 0
        if (moves.sum(axis=1) != 1).any():
            return None
        dimension = moves.argmax(axis=1)
        length = step[np.arange(len(step)), dimension]
        wraps = (np.abs(length) == sizes[dimension] - 1) & (sizes[dimension] > 2)
        if (~wraps & (np.abs(length) != 1)).any():
            return None
        grid = cls(topology, places, dimension, (length > 0) != wraps, wraps)
        return grid if grid._is_whole() else None

    def _is_whole(self) -> bool:
        """Whether there is one link for every neighbour in every existing direction."""
        size, place = self.sizes[None, :], self.places
        up = np.where(self.is_ring[None, :], size > 1, place < size - 1).sum()
        down = np.where(self.is_ring[None, :], size > 1, place > 0).sum()
        key = (self.topology.src.astype(np.int64) * len(self.sizes) + self.dimension) * 2 + self.upward
        return len(np.unique(key)) == len(key) == int(up + down)

    def link_order(self, *, backward: bool = False) -> Int64:
        """Links by source (by destination when `backward`), the last dimension first, up (from above) before down."""
        node = self.topology.dst if backward else self.topology.src
        later = self.upward if backward else ~self.upward
        return np.lexsort((later, -self.dimension, node))

    def rings(self) -> Int64:
        """For each link the ring around which it leads, in one direction; -1 in dimensions that are open."""
        return np.where(self.is_ring[self.dimension], 2 * self.dimension + self.upward, -1)

    def table(self, port_of_lane: Int64, lane_begin: Int64, dateline_rule: str) -> NDArray[np.uint16]:
        """The hop from every router towards every node, shape (nodes, nodes): port | dateline << 14.

        Of the lanes of a link, node d takes number d mod width. By rule "ends" the datelines are those of packets that enter the
        ring here; others keep theirs. O(nodes²) memory.
        """
        nodes = len(self.places)
        width = self.topology.capacity.astype(np.int64)
        hops = np.full((nodes, nodes), 0x3FFF, np.uint16)
        to = np.arange(nodes)
        for node in range(nodes):
            far = to[to != node]
            link, dateline = self.next_links(np.full(len(far), node), far, dateline_rule)
            hops[node, far] = port_of_lane[lane_begin[link] + far % width[link]] | dateline << 14
        return hops

    def next_links(self, at: Int64, to: Int64, dateline_rule: str) -> tuple[Int64, Int64]:
        """(link, half of the VCs) by which packets at nodes `at` go on to other nodes `to`. By rule "ends" the halves are those of
        packets that enter the ring here; others keep theirs."""
        dimensions = self.places.shape[1]
        away = self.places[at] != self.places[to]
        dimension = dimensions - 1 - away[:, ::-1].argmax(axis=1)
        here, there = self.places[at, dimension], self.places[to, dimension]
        up = self._goes_up(dimension, here, there)
        is_upper = (there < here) if dateline_rule == "ends" else np.where(up, there < here, there > here)
        dateline = np.where(self.is_ring[dimension], np.where(is_upper, UPPER, LOWER), ANY)
        return self._link_at[at, dimension, up.astype(np.int64)], dateline

    @cached_property
    def _link_at(self) -> Int64:
        """The link from each node along each dimension, down and up; -1 for none."""
        found = np.full((*self.places.shape, 2), -1, np.int64)
        found[self.topology.src, self.dimension, self.upward.astype(np.int64)] = np.arange(len(self.dimension))
        return found

    def _goes_up(self, dimension: Int64, here: Int64, there: Int64) -> NDArray[np.bool_]:
        size = self.sizes[dimension]
        upwards = (there - here) % size
        shorter = np.where(2 * upwards == size, here % 2 == 0, 2 * upwards < size)
        result: NDArray[np.bool_] = np.where(self.is_ring[dimension], shorter, there > here)
        return result

    def datelines(self, links: Int64, begin: Int64 | None = None) -> Int64:
        """The half of the VCs for every hop of a route, by rule "wrap": UPPER up to the last wrap-around link of a stretch along
        one dimension. A route may go more than half around a ring, where "ends" would not be deadlock-free. `begin`: of many
        routes, one after the other, where each begins and ends. O(hops)."""
        dimension, upward = self.dimension[links], self.upward[links]
        is_first = np.ones(len(links), np.bool_)  # of a stretch
        is_first[1:] = (dimension[1:] != dimension[:-1]) | (upward[1:] != upward[:-1])
        is_first[[] if begin is None else begin[begin < len(links)]] = True
        stretch, wrapping = np.cumsum(is_first) - 1, np.flatnonzero(self.wraps[links])
        last = np.full(len(links), -1, np.int64)  # by stretch
        last[stretch[wrapping]] = wrapping  # of several the last
        halves = np.where(np.arange(len(links)) <= last[stretch], UPPER, LOWER)
        return np.where(self.is_ring[dimension], halves, ANY).astype(np.int64)
