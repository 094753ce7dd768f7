"""Placings of few links one after the other, for messages whose time is mostly that of the route."""

import numpy as np

from certree.extras.orders.make.columns import Int64, Pricing
from certree.models.network.topology import Topology
from certree.models.schedule.collective import Collective
from certree.verify.order.expressions import Expression


class HopPricing(Pricing):
    """A `Pricing` in which each link is longer by `hop`, and results go to everyone along shortest paths from where the sum and the
    farthest path are shortest together."""

    def __init__(self, topology: Topology, collective: Collective, expression: Expression, hop: int) -> None:
        super().__init__(topology, collective, expression)
        self.hop = hop

    def _tree(self, made: Int64, far: Int64, finer: Int64) -> tuple[int, list[tuple[int, int]]]:
        root = int(np.argmin(made + far[:, self.members].max(axis=1)))
        edges = []
        for node, end in enumerate(self.holders.tolist()):
            starts = self.topology.src[list(reversed(self._path(far, finer, root, end)))].tolist()
            before = next((int(self.place[start]) for start in starts if self.place[start] >= 0), None)
            if before is not None:
                edges.append((before, node))
        return root, edges
