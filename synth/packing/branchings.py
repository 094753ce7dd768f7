"""Packing branchings: all-gather, broadcast, reduce-scatter and reduce on direct networks at the rate of their best cut.

By Edmonds' theorem spanning branchings with given roots fit into a directed network just when every set of nodes can be entered by
all that are rooted outside. So the cut bound (`certree.synth.graphs.cuts`) is met, whatever the capacities of the links in either
direction. ForestColl (Zhao et al., 2024) makes trees at this rate for all-gathers; here they are packed link by link, with slots.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import gcd

import numpy as np

from certree.models.network.topology import Int32, Topology
from certree.models.schedule.collective import Collective, CollectiveKind
from certree.synth import _native
from certree.synth.graphs.cuts import best_cut
from certree.synth.packing.trees import NONE, TreeFamily

KINDS = (CollectiveKind.ALL_GATHER, CollectiveKind.REDUCE_SCATTER, CollectiveKind.BROADCAST, CollectiveKind.REDUCE)


@dataclass(frozen=True, eq=False)
class RootedNetwork:
    """A direct network and a collective of one phase, one of KINDS; the counterpart of `synth.packing.spanning_trees.Network`."""

    topology: Topology
    collective: Collective

    @property
    def size(self) -> int:
        """The number of endpoints."""
        return len(self.topology.endpoints)

    @property
    def roots(self) -> Int32:
        """The nodes that root equally many branchings each."""
        root = self.collective.root
        return self.topology.endpoints if root is None else np.array([root], np.int32)

    @cached_property
    def strength(self) -> Fraction:
        """The most branchings per round, by the best cut (`best_cut`, exact up to FLOW_WORK)."""
        return 1 / Fraction(best_cut(self.topology, self.collective)["value"])

    @property
    def multiple(self) -> int:
        """Trees come in as many as there are roots."""
        return len(self.roots)

    @property
    def is_even(self) -> bool:
        """Whether all nodes are roots."""
        return len(self.roots) == self.size

    @property
    def tight(self) -> tuple[int, int]:
        """(K, L): the fewest branchings, as many for each root, and the period that holds them, at just the rate `strength`."""
        times = len(self.roots) // gcd(len(self.roots), self.strength.numerator)
        return self.strength.numerator * times, self.strength.denominator * times

    @property
    def edge_capacity(self) -> Fraction:
        """The most tree edges per round."""
        return Fraction(int(self.topology.pair_capacity.sum()))

    def least_height(self, period: int) -> int:
        """The number of hops from the roots to the node farthest from one, or back."""
        return self._height

    @cached_property
    def _height(self) -> int:
        backward = self.collective.reduces
        return max(int(self.topology.distances(root, backward=backward).max()) for root in self.roots.tolist())

    def pack(self, collective: Collective, trees: int, period: int, *, moves: int, seed: int) -> TreeFamily | None:
        """`trees` branchings, as many for each root, each link in at most capacity · `period` of them; None when there are none.

        One maximum flow of `trees` units for each branching and link; `moves` and `seed` change nothing.
        """
        topology, ids = self.topology, self.topology.endpoints
        ends = topology.rank[topology.pair_src], topology.rank[topology.pair_dst]
        tail, head = ends[::-1] if collective.reduces else ends
        order = np.lexsort((head, tail))  # same links, same order, in both directions
        parents = _native.pack_branchings(
            nodes=self.size,
            tail=tail[order],
            head=head[order],
            capacity=topology.pair_capacity[order] * period,
            roots=np.tile(topology.rank[self.roots], trees // len(self.roots)),
        )
        if not len(parents):
            return None
        none = np.full((trees, len(topology.kind)), NONE, np.int32)
        table = none.copy()
        table[:, ids] = np.where(parents == NONE, NONE, ids[np.maximum(parents, 0)])
        return TreeFamily(
            topology,
            collective,
            root=np.tile(self.roots, trees // len(self.roots)),
            up=table if collective.reduces else none,
            down=table if collective.gathers else none,
            origin={"trees": "branchings", "packed": f"{trees}/{period}"},
        )
