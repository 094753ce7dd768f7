"""Branchings on networks with switches: all-gather, reduce-scatter, broadcast and reduce along paths that are split off first.

As for trees (`certree.synth.packing.splitting`) paths through switches become edges between endpoints, each with a slot of its own;
one that leads from u to v in one slot leads from v to u in another, so the edges make a directed network whose arcs have equal
twins. Branchings fit into it just when every set of endpoints can be entered by all that are rooted outside (Edmonds); a set that
cannot, found by maximum flows, shows where paths must be rearranged. ForestColl (Zhao et al., 2024) splits switches off one by one,
which keeps the rate of the best cut; rearranging, which keeps slots free of contention, may end short of it, and then the gap is
stated.
"""

from fractions import Fraction
from functools import cached_property
from math import gcd
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.models.network.topology import Int32, Topology
from certree.models.schedule.collective import Collective
from certree.synth import _native
from certree.synth.graphs.cuts import best_cut
from certree.synth.packing.splitting import Paths, SwitchedNetwork


class RoutedBranchings(SwitchedNetwork):
    """A network with switches and a collective of one phase (`certree.synth.packing.branchings.KINDS`)."""

    def __init__(self, topology: Topology, collective: Collective) -> None:
        super().__init__(topology)
        root = collective.root
        ranks = range(self.size) if root is None else [int(self.topology.rank[root])]
        self._collective, self._roots = collective, np.array(ranks, np.int32)

    @cached_property
    def strength(self) -> Fraction:
        """The most branchings per round, by the best cut (`best_cut`); they need not be found."""
        return 1 / Fraction(best_cut(self.topology, self._collective)["value"])

    @property
    def tight(self) -> tuple[int, int]:
        """(K, L): the fewest branchings, as many for each root, in a period of exactly that rate; of one root in two slots at
        least, since paths in both directions of one slot join only pairs where endpoints have one port."""
        times = self.multiple // gcd(self.multiple, self.strength.numerator)
        if self.multiple == 1 and self.strength.denominator == 1:
            times = 2
        return self.strength.numerator * times, self.strength.denominator * times

    @property
    def multiple(self) -> int:
        """Trees come in as many as there are roots."""
        return len(self._roots)

    @property
    def is_even(self) -> bool:
        """Whether all endpoints are roots."""
        return len(self._roots) == self.size

    @property
    def edge_capacity(self) -> Fraction:
        """The most tree edges per round: each takes a port of one endpoint in one direction."""
        return Fraction(int(self._ports.sum()))

    def least_height(self, period: int) -> int:
        """A lower bound on the height, since a node has no more children in all than ports times slots."""
        degree = int(self._ports.max()) * period
        height, reached, layer = 0, 1, degree
        while reached < self.size:
            height, reached, layer = height + 1, reached + layer, layer * degree
        return height

    def _pack_into(self, paths: Paths, trees: int, *, moves: int, seed: int) -> tuple[bool, Int32]:
        """(True, parents) or (False, 1 for the ranks of a set that not all that are rooted outside can enter, else 0).

        `moves` and `seed` change nothing.
        """
        tail, head = np.concatenate((paths.u, paths.v)), np.concatenate((paths.v, paths.u))
        capacity = np.concatenate((paths.capacity, paths.capacity))
        roots = np.tile(self._roots, trees // self.multiple)
        closed = _closed_set(self.size, tail, head, capacity, np.bincount(roots, minlength=self.size))
        if closed is not None:
            return False, closed.astype(np.int32)
        order = np.lexsort((head, tail))
        parents = _native.pack_branchings(
            nodes=self.size, tail=tail[order], head=head[order], capacity=capacity[order], roots=roots
        )
        if not len(parents):
            raise AssertionError("branchings fit where every set of endpoints can be entered")
        return True, parents

    def _crossings_needed(self, trees: int, part: Int32) -> int:
        """The number of branchings rooted outside set 1, all of which must enter it."""
        return trees // self.multiple * int((part[self._roots] == 0).sum())

    def _competing(self, edge: NDArray[np.int64], upward: NDArray[np.bool_]) -> NDArray[np.int64]:
        """A number for each direction of each edge, since both are used independently."""
        return 2 * edge + upward


class FreelyRoutedBranchings(RoutedBranchings):
    """`RoutedBranchings` with one given root for each branching; `held`: how many for each endpoint, in rank order."""

    def __init__(self, topology: Topology, collective: Collective, held: NDArray[np.int64]) -> None:
        super().__init__(topology, collective)
        self._roots = np.repeat(np.arange(self.size), held).astype(np.int32)


def _closed_set(size: int, tail: Int32, head: Int32, capacity: NDArray[Any], held: NDArray[Any]) -> NDArray[np.bool_] | None:
    """Flags of a set of nodes with fewer arcs into it than branchings rooted outside (`held`, by node); None where there is none.

    A maximum flow to each node from a source that feeds the roots.
    """
    from ortools.graph.python import max_flow  # noqa: PLC0415

    flow: Any = max_flow.SimpleMaxFlow()
    flow.add_arcs_with_capacity(
        np.concatenate((tail, np.full(size, size))),
        np.concatenate((head, np.arange(size))),
        np.concatenate((capacity, held)),
    )
    for node in range(size):
        if (status := flow.solve(size, node)) != flow.OPTIMAL:
            raise RuntimeError(f"maximum flow ended with {status}")
        if flow.optimal_flow() < int(held.sum()):
            inside = np.zeros(size, np.bool_)
            inside[flow.get_sink_side_min_cut()] = True
            return inside
    return None
