"""Routes of the packets of reducing switches, as lanes."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from certree.extras.aggregation.run.switch_trees import AggregationTrees
from certree.hw.routers.network import RouterNetwork
from certree.models.common.errors import UnsupportedError

Int64 = NDArray[np.int64]
MAX_LANES = 1 << 26  # of all routes


@dataclass(frozen=True, eq=False)
class RouteLanes:
    """Routes up, edge by edge, then those down; a route is repeated for each lane of its narrowest pair, so that packets use
    all lanes in turn. `edge_routes`: number of routes of each edge up, then down; `begin[r]`: where the lanes of route r begin in
    `lanes`, which are numbered pair by pair."""

    edge_routes: Int64
    begin: Int64
    lanes: Int64

    @classmethod
    def of(cls, trees: AggregationTrees) -> "RouteLanes":
        """Raise UnsupportedError where they have more lanes than the simulator. O(lanes of all routes)."""
        width = trees.topology.pair_capacity
        first = np.concatenate(([0], np.cumsum(width)))
        of_edges = [*trees.up, *trees.down]
        routes = [list(route) for of_edge in of_edges for route in of_edge]
        copies = np.array([width[route].min() for route in routes])
        hops = np.array([len(route) for route in routes])
        total = int((copies * hops).sum())
        if total > MAX_LANES:
            raise UnsupportedError(f"{total} lanes on the routes of all packets are more than the simulator's {MAX_LANES}")
        lanes = [
            (first[route] + np.arange(count)[:, None] % width[route]).ravel()
            for route, count in zip(routes, copies.tolist(), strict=True)
        ]
        last_route = np.cumsum([len(of_edge) for of_edge in of_edges])
        edge_routes = np.diff(np.concatenate(([0], np.cumsum(copies)[last_route - 1])))
        begin = np.concatenate(([0], np.cumsum(np.repeat(hops, copies))))
        return cls(edge_routes, begin, np.concatenate(lanes))

    def on(self, network: RouterNetwork) -> Int64:
        """The lanes in the numbering of the network."""
        return network.lanes_of_pair()[1][self.lanes]

    def each_on(self, network: RouterNetwork) -> list[Int64]:
        """The lanes of each route."""
        lanes = self.on(network)
        return [lanes[first:last] for first, last in pairwise(self.begin.tolist())]

    @property
    def before(self) -> Int64:
        """For each lane of each route the one before it; -1 for the first."""
        before = np.concatenate(([-1], self.lanes[:-1]))
        before[self.begin[:-1]] = -1
        return before
