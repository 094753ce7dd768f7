"""Routes of the packets of reducing switches, as lanes."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from certree.hw.reducing.trees import AggregationTrees
from certree.hw.routers.network import RouterNetwork
from certree.models.common.errors import UnsupportedError

Int64 = NDArray[np.int64]
MAX_LANES = 1 << 26  # of all ways


@dataclass(frozen=True, eq=False)
class WayLanes:
    """Routes ("ways") up, edge by edge, then those down; a way is repeated for each lane of its narrowest pair, so that packets use
    all lanes in turn. `edge_ways`: number of ways of each edge up, then down; `begin[w]`: where the lanes of way w begin in
    `lanes`, which are numbered pair by pair."""

    edge_ways: Int64
    begin: Int64
    lanes: Int64

    @classmethod
    def of(cls, trees: AggregationTrees) -> "WayLanes":
        """UnsupportedError where they have more lanes than the simulator. O(lanes of all ways)."""
        width = trees.topology.pair_capacity
        first = np.concatenate(([0], np.cumsum(width)))
        of_edges = [*trees.up, *trees.down]
        ways = [list(way) for of_edge in of_edges for way in of_edge]
        copies = np.array([width[way].min() for way in ways])
        hops = np.array([len(way) for way in ways])
        total = int((copies * hops).sum())
        if total > MAX_LANES:
            raise UnsupportedError(f"{total} lanes on the routes of all packets are more than the simulator's {MAX_LANES}")
        lanes = [
            (first[way] + np.arange(count)[:, None] % width[way]).ravel() for way, count in zip(ways, copies.tolist(), strict=True)
        ]
        last_way = np.cumsum([len(of_edge) for of_edge in of_edges])
        edge_ways = np.diff(np.concatenate(([0], np.cumsum(copies)[last_way - 1])))
        begin = np.concatenate(([0], np.cumsum(np.repeat(hops, copies))))
        return cls(edge_ways, begin, np.concatenate(lanes))

    def on(self, network: RouterNetwork) -> Int64:
        """The lanes in the numbering of the network."""
        return network.lanes_of_pair()[1][self.lanes]

    def each_on(self, network: RouterNetwork) -> list[Int64]:
        """The lanes of each way."""
        lanes = self.on(network)
        return [lanes[first:last] for first, last in pairwise(self.begin.tolist())]

    @property
    def before(self) -> Int64:
        """For each lane of each way the one before it; -1 for the first."""
        before = np.concatenate(([-1], self.lanes[:-1]))
        before[self.begin[:-1]] = -1
        return before
