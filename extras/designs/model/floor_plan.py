"""Floor plans: the rack of every node, and the length of a cable between two."""

from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from certree.extras.designs.model.network_costs import Floor
from certree.models.common.registry import Registry
from certree.models.network.topology import NodeKind, Topology

Int64 = NDArray[np.int64]
#: by family, the order in which its endpoints fill the racks
ORDERS: Registry[Callable[[Topology], Int64]] = Registry("floor plan")


class FloorPlan:
    """The racks of a network. Endpoints fill racks in the order of their family, by default that of their ids; a switch stands in
    the rack of its first endpoint, one without endpoints in the rack in the middle. O(nodes + links)."""

    def __init__(self, topology: Topology, floor: Floor) -> None:
        self._floor = floor
        family = topology.name.split(",")[0].partition(":")[0]
        endpoints = ORDERS[family](topology) if family in ORDERS else topology.endpoints.astype(np.int64)
        self.rack = np.full(len(topology.kind), -1, np.int64)
        self.rack[endpoints] = np.arange(len(endpoints)) // floor.endpoints_per_rack
        self.racks = int(self.rack.max()) + 1
        self._place_switches(topology)

    def _place_switches(self, topology: Topology) -> None:
        is_switch = topology.kind == NodeKind.SWITCH
        first = np.full(len(topology.kind), len(topology.kind), np.int64)
        below = is_switch[topology.dst] & ~is_switch[topology.src]
        np.minimum.at(first, topology.dst[below], topology.src[below].astype(np.int64))
        hosts = is_switch & (first < len(topology.kind))
        self.rack[hosts] = self.rack[first[hosts]]
        self.rack[is_switch & ~hosts] = (self.racks - 1) // 2

    def metres(self, a: int, b: int) -> Fraction:
        """The length of a cable between two nodes: along and across the rows between their racks, and slack at the ends."""
        floor, first, second = self._floor, int(self.rack[a]), int(self.rack[b])
        if first == second:
            return floor.within_rack_metres
        (row, place), (other_row, other_place) = (divmod(rack, floor.racks_per_row) for rack in (first, second))
        along, across = abs(place - other_place), abs(row - other_row)
        return along * floor.rack_pitch_metres + across * floor.row_pitch_metres + floor.slack_metres


@ORDERS.register("torus")
def folded(topology: Topology) -> Int64:
    """Coordinates of each dimension but the last in the order 0, n - 1, 1, n - 2, ..., so that no neighbour is more than two
    places away; the last one varies fastest."""
    places = topology.coordinates
    if places is None:
        return topology.endpoints.astype(np.int64)
    keys = []
    for dimension in range(places.shape[1]):
        column = places[topology.endpoints, dimension].astype(np.int64)
        size = int(column.max()) + 1
        keys.append(np.where(2 * column < size, 2 * column, 2 * (size - 1 - column) + 1))
    return topology.endpoints[np.lexsort(keys[::-1])].astype(np.int64)


@ORDERS.register("dragonfly")
@ORDERS.register("hyperx")
def by_switch(topology: Topology) -> Int64:
    """Endpoints in the order of their switches, which is that of groups and rows."""
    is_switch = topology.kind == NodeKind.SWITCH
    switch = np.full(len(topology.kind), -1, np.int64)
    up = is_switch[topology.dst] & ~is_switch[topology.src]
    switch[topology.src[up]] = topology.dst[up]
    endpoints = topology.endpoints
    return endpoints[np.lexsort((endpoints, switch[endpoints]))].astype(np.int64)
