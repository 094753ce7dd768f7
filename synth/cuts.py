"""The best cut bound of a rooted collective, exactly: Newton's iteration over maximum flows.

Source: the rate search of ForestColl (Zhao et al., 2024), with Newton (Dinkelbach) steps in place of its binary search.
"""

from fractions import Fraction
from typing import Any

import numpy as np

from certree.models.collective import Collective, CollectiveKind
from certree.models.errors import UnsupportedError
from certree.models.topology import Topology


def best_cut(topology: Topology, collective: Collective) -> dict[str, Any]:
    """The largest cut bound on the bandwidth time, every endpoint being the root of an equal share of the message.

    For a set S of nodes with an endpoint in it, the shares rooted outside S must each cross into S (all-gather) or leave S as at
    least one partial sum (reduce-scatter): time >= (endpoints outside S) / N / capacity(links into, or out of, S) · M/B.
    Returns the bound document of `certree.verify.witness`: kind "cut", the value and the set S. Of equal cuts the first of:
    single endpoints, then the smallest set around each endpoint, by id. UnsupportedError for an all-reduce, which has no roots.

    One maximum flow for each endpoint and each improvement, each O(N^2 sqrt(links)) at worst.
    """
    if not collective.is_rooted:
        raise UnsupportedError(f"a cut bound needs rooted chunks; {collective.kind} has none")
    outward = collective.kind is CollectiveKind.REDUCE_SCATTER
    tail, head = (topology.pair_dst, topology.pair_src) if outward else (topology.pair_src, topology.pair_dst)
    network = _Network(topology, tail, head)
    entering = np.zeros(len(topology.kind), np.int64)
    np.add.at(entering, head, topology.pair_capacity)
    endpoints = topology.endpoints.tolist()
    best = min(endpoints, key=lambda node: (int(entering[node]), node))
    inside, rate = [best], Fraction(int(entering[best]), len(endpoints) - 1)
    for node in endpoints:
        while (tighter := network.set_below(rate, node)) is not None:
            inside, rate = tighter
    return {
        "kind": "cut",
        "quantity": "bandwidth",
        "value": str(1 / (rate * len(endpoints))),
        "witness": {"set": inside},
    }


class _Network:
    """The topology behind one source node that feeds every endpoint alike."""

    def __init__(self, topology: Topology, tail: np.ndarray, head: np.ndarray) -> None:
        from ortools.graph.python import max_flow  # noqa: PLC0415

        self._endpoints, self._tail, self._head, self._capacity = topology.endpoints, tail, head, topology.pair_capacity
        self._source = len(topology.kind)
        self._flow = max_flow.SimpleMaxFlow()
        feeds = np.full(len(self._endpoints), self._source)
        self._arcs = self._flow.add_arcs_with_capacity(
            np.concatenate((tail, feeds)), np.concatenate((head, self._endpoints)), np.zeros(len(tail) + len(feeds), np.int64)
        )

    def set_below(self, rate: Fraction, node: int) -> tuple[list[int], Fraction] | None:
        """A set S around `node` with capacity into S < rate · (endpoints outside S), and that ratio; None when there is none.

        With `rate` fed to every endpoint, a cut around S carries capacity(S) + rate · (endpoints in S), which is less than
        rate · N just when S is such a set. Everything is scaled by the denominator: the flow is in whole numbers.
        """
        feeds = np.full(len(self._endpoints), rate.numerator)
        self._flow.set_arcs_capacity(self._arcs, np.concatenate((self._capacity * rate.denominator, feeds)))
        if (status := self._flow.solve(self._source, node)) != self._flow.OPTIMAL:
            raise RuntimeError(f"maximum flow ended with {status}")
        if self._flow.optimal_flow() >= rate.numerator * len(self._endpoints):
            return None
        inside = np.sort(np.array(self._flow.get_sink_side_min_cut(), np.int64))
        crossing = np.isin(self._head, inside) & ~np.isin(self._tail, inside)
        outside = len(self._endpoints) - int(np.isin(self._endpoints, inside).sum())
        return inside.tolist(), Fraction(int(self._capacity[crossing].sum()), outside)
