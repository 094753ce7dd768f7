"""Unequal shares of an all-gather: numbers of chunks that each endpoint roots.

K branchings with k_v of them rooted at v fit into L rounds just when every set X of nodes can be entered by those rooted outside:
L · capacity(into X) ≥ K − k(X) (Edmonds). For given K and L the vectors k that satisfy this are those above an intersecting
supermodular function, a contrapolymatroid: lowering the entries one after the other as far as each goes ends at the least sum
there is (Frank, "Covering branchings", 1979). So K chunks fit into L rounds with some shares just when that sum is at most K.

With switches a set of endpoints counts with those switches that make it hardest to enter, which changes nothing in this; but
branchings along paths through switches (`certree.synth.packing.routed_branchings`) need not be found at that rate.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from certree.models.network.topology import Int32, Topology
from certree.models.schedule.collective import Collective
from certree.synth.graphs.cuts import joined
from certree.synth.packing.branchings import RootedNetwork

MAX_CHUNKS = 1024
MAX_ROOTS = 512  # endpoints of supported networks


@dataclass(frozen=True, eq=False)
class FreelyRooted(RootedNetwork):
    """`RootedNetwork` with one given root for each branching."""

    own_roots: Int32

    @property
    def roots(self) -> Int32:
        """The root of every branching."""
        return self.own_roots


class FreeRoots:
    """The network of an all-gather, or for a reduce-scatter with all links reversed, behind a node that feeds the roots."""

    def __init__(self, topology: Topology, collective: Collective) -> None:
        from ortools.graph.python import max_flow  # noqa: PLC0415

        self.topology, self.collective = topology, collective
        tail, head = (topology.pair_dst, topology.pair_src) if collective.reduces else (topology.pair_src, topology.pair_dst)
        self._pairs = tail, head
        self._source, self._ends = len(topology.kind), topology.endpoints
        self._flow: Any = max_flow.SimpleMaxFlow()
        self._arcs = self._flow.add_arcs_with_capacity(
            np.concatenate((tail, np.full(len(self._ends), self._source))),
            np.concatenate((head, self._ends)),
            np.zeros(len(tail) + len(self._ends), np.int64),
        )
        entering = np.zeros(len(topology.kind), np.int64)
        np.add.at(entering, head, topology.pair_capacity)
        self._order = np.argsort(-entering[self._ends], kind="stable")  # endpoints with few links may root the most
        self._least = int(entering[self._ends].min())

    def shares(self, chunks: int, period: int) -> np.ndarray | None:
        """Chunks for each endpoint, in rank order, of `chunks` in all that fit into `period` rounds; None when none fit.

        A maximum flow for each endpoint.
        """
        held, _ = self._least_shares(chunks, period)
        spare = chunks - int(held.sum())
        if spare < 0:
            return None
        for _ in range(spare):  # spare chunks go to the endpoints with the least
            held[held.argmin()] += 1
        return held

    def _least_shares(self, chunks: int, period: int) -> tuple[np.ndarray, list[set[int]]]:
        """The fewest chunks for each endpoint, and for each endpoint that has any, a tight set around it."""
        held, tight = np.full(len(self._ends), chunks, np.int64), []
        for rank in self._order.tolist():
            feeds = held.copy()
            feeds[rank] = 0
            self._flow.set_arcs_capacity(self._arcs, np.concatenate((self.topology.pair_capacity * period, feeds)))
            if (status := self._flow.solve(self._source, int(self._ends[rank]))) != self._flow.OPTIMAL:
                raise RuntimeError(f"maximum flow ended with {status}")
            held[rank] = max(0, chunks - self._flow.optimal_flow())
            if held[rank]:
                tight.append(set(self._flow.get_sink_side_min_cut()))
        return held, tight

    def best_sets(self) -> list[list[int]]:
        """Disjoint sets of nodes, t of them, with the largest (t - 1) / capacity into them: no schedule takes fewer rounds per
        chunk, whatever its shares (`certree.verify.bounds.witnesses.rooted.subpartition`).

        Newton's iteration: at that rate the least shares fit, and then nothing is better, or they do not; then the tight sets of
        those that have any, joined where they meet, are tight too (intersecting supermodularity) and show more. Of sets that meet
        in switches alone the later ones drop these switches; if that proves no more, the best sets so far are the result.
        """
        sets: list[set[int]] = [{int(node)} for node in self._ends]
        best: list[list[int]] = []
        time = Fraction(0)
        while True:
            found = Fraction(len(sets) - 1, sum(self._entering(inside) for inside in sets))
            if found <= time:
                return best
            best, time = sorted(sorted(inside) for inside in sets), found
            held, tight = self._least_shares(time.denominator, time.numerator)
            if int(held.sum()) <= time.denominator:
                return best
            sets = self._apart(tight)

    def _apart(self, sets: list[set[int]]) -> list[set[int]]:
        """Disjoint sets: those with endpoints in common joined, each switch left to the first that has it."""
        ends = set(self._ends.tolist())
        whole = [set().union(*(inside for inside in sets if inside & group)) for group in joined([one & ends for one in sets])]
        taken: set[int] = set()
        apart = []
        for inside in whole:
            apart.append(inside - taken)
            taken |= inside
        return apart

    def _entering(self, inside: set[int]) -> int:
        """The capacity into a set."""
        flags = np.zeros(len(self.topology.kind), np.bool_)
        flags[list(inside)] = True
        tail, head = self._pairs
        return int(self.topology.pair_capacity[flags[head] & ~flags[tail]].sum())

    def most(self, period: int) -> tuple[int, np.ndarray]:
        """(K, chunks for each endpoint): the most chunks that fit into `period` rounds, up to MAX_CHUNKS."""
        low, high = 1, min(MAX_CHUNKS, 2 * period * self._least * len(self._ends)) + 1
        best = self.shares(1, period)
        while best is None or high - low > 1:
            middle = (low + high) // 2
            found = self.shares(middle, period)
            low, high, best = (low, middle, best) if found is None else (middle, high, found)
        return low, best

    def rooted(self, held: np.ndarray) -> FreelyRooted:
        """The direct network with the given number of branchings rooted at each endpoint."""
        return FreelyRooted(self.topology, self.collective, np.repeat(self._ends, held).astype(np.int32))
