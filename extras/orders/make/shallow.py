"""Placings of the least depth: as few messages as can be one after the other, and of these the cheapest under lengths of links."""

from collections.abc import Iterator, Sequence

import numpy as np

from certree.extras.orders.make.columns import ANYWHERE, Column, Int64, Pricing
from certree.verify.bounds.witnesses.metric import distances
from certree.verify.order.placing import Placing

_HOP = 1 << 40  # longer than all links together


class ShallowPricing(Pricing):
    """As `Pricing`, for depth first: hops from the contributions to the result, and from there to everyone."""

    def cheapest(self, length: Int64, roots: Sequence[int]) -> Iterator[tuple[int, Column]]:
        """(root, placing): of the least depth, and of these one that is short; arguments as of `Pricing`."""
        finer = np.minimum(length[: len(self.topology.src)], _HOP >> 16) + _HOP
        far = distances(self.topology, finer, self.holders)
        among = far[:, self.holders]
        placing = self._placed(among)
        for root in roots:
            yield root, self._column(placing, far, finer, root, ())
        if roots:
            return
        spread = among[:, self.place[self.members]].max(axis=1)
        root = int(np.argmin(placing.made[-1] + spread))
        before = self._before(far, finer, root)
        edges = [(before[node], node) for node in range(len(self.holders)) if node != root]
        yield ANYWHERE, self._column(placing, far, finer, int(self.holders[root]), self._outward(root, edges))

    def _placed(self, among: Int64) -> Placing:
        """Where sums are made so that they are ready early. A sum comes after the later of its operands."""
        count, holders = len(self.expression.ranks), len(among)
        made = np.zeros((count + len(self.expression.parts), holders), np.int64)
        source, comes = made.copy(), made.copy()
        home = self.place[self.members]
        source[:count], comes[:count] = home[:, None], among[home]
        for number, (a, b) in enumerate(self.expression.parts, count):
            late, early = np.maximum(comes[a], comes[b]), np.minimum(comes[a], comes[b])
            made[number] = late // _HOP * _HOP + late % _HOP + early % _HOP
            ways = made[number][:, None] + among
            source[number] = ways.argmin(axis=0)
            comes[number] = ways.min(axis=0)
        return Placing(made, source)

    def _before(self, far: Int64, finer: Int64, root: int) -> dict[int, int]:
        """By holder the one before it on its shortest path from the root."""
        found = {}
        for node in range(len(self.holders)):
            at = int(self.holders[node])
            for link in reversed(self._path(far, finer, root, at)):
                start = int(self.topology.src[link])
                if self.place[start] >= 0:
                    found[node] = int(self.place[start])
                    break
        return found
