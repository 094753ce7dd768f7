"""The best cut bound of a rooted collective, exactly: Newton's iteration over maximum flows.

Source: the rate search of ForestColl (Zhao et al., 2024), with Newton (Dinkelbach) steps in place of its binary search.
"""

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.models.common.errors import UnsupportedError
from certree.models.network.topology import NodeKind, Topology
from certree.models.schedule.collective import Collective, CollectiveKind

Int64 = NDArray[np.int64]
_NARROW = Fraction(9, 8)
FLOW_WORK = 1 << 26  # endpoints times links: some seconds


def best_cut(topology: Topology, collective: Collective) -> dict[str, Any]:
    """The largest cut bound on the bandwidth time; in an all-gather or reduce-scatter every endpoint (that takes
    part) roots an equal share.

    For a set S of nodes with an endpoint in it that must receive data: the data that start outside S must cross into S. So time >=
    share that starts outside S / capacity(links into S) · M/B. Sums that run towards a root (reduce-scatter, reduce), and a scatter
    seen from its ends, are the same with all links reversed. Returns the bound document of `certree.verify.bounds.witness`: kind
    "cut", the value and the set. Of equal cuts the first of: single endpoints, then the smallest set around each endpoint, by id.
    UnsupportedError for an all-reduce, which has no roots, and an all-to-all, whose best cut is not found by flows.

    One maximum flow for each endpoint that is owed something and each improvement, each O(N^2 sqrt(links)) at worst. Where
    endpoints times links exceed FLOW_WORK only single endpoints are looked at, and a larger set may be a better bound.
    """
    if not collective.is_rooted or collective.kind is CollectiveKind.ALL_TO_ALL:
        raise UnsupportedError(f"a cut bound needs one root for each chunk and all that are owed it; {collective.kind} has none")
    collective.require_fits(topology)
    turned = collective.kind in (CollectiveKind.REDUCE_SCATTER, CollectiveKind.REDUCE, CollectiveKind.SCATTER)
    tail, head = (topology.pair_dst, topology.pair_src) if turned else (topology.pair_src, topology.pair_dst)
    weight, owed, scale = _demand(collective, topology)
    network = _Network(topology, tail, head, weight)
    entering = np.zeros(len(topology.kind), np.int64)
    np.add.at(entering, head, topology.pair_capacity)
    others = int(weight.sum()) - weight
    alone = {node: int(others[topology.rank[node]]) for node in owed}
    best = min((node for node in owed if alone[node]), key=lambda node: (Fraction(int(entering[node]), alone[node]), node))
    inside, rate = [best], Fraction(int(entering[best]), alone[best])
    for node in owed if len(owed) * len(topology.src) <= FLOW_WORK else []:
        while (tighter := network.set_below(rate, node)) is not None:
            inside, rate = tighter
    if collective.kind is CollectiveKind.SCATTER:  # the set that the chunks enter is the other side
        existing = np.flatnonzero(topology.kind != NodeKind.ABSENT)
        inside = np.setdiff1d(existing, inside).tolist()
    return {"kind": "cut", "quantity": "bandwidth", "value": str(1 / (rate * scale)), "witness": {"set": inside}}


def narrow_sets(topology: Topology) -> list[list[int]]:
    """Disjoint sets of nodes with little spare capacity for an all-gather: at most an eighth more than for the best cut. Sets that
    meet are joined; an empty list where that leaves a single one. Costs a maximum flow for each endpoint.
    """
    endpoints = topology.endpoints
    gather = Collective(CollectiveKind.ALL_GATHER)
    rate = _NARROW / (Fraction(best_cut(topology, gather)["value"]) * len(endpoints))
    network = _Network(topology, topology.pair_src, topology.pair_dst, np.ones(len(endpoints), np.int64))
    found = [network.set_below(rate, node) for node in endpoints.tolist()]
    apart = joined([set(narrow[0]) for narrow in found if narrow is not None])
    return [sorted(inside) for inside in apart] if len(apart) > 1 else []


def joined(sets: list[set[int]]) -> list[set[int]]:
    """Disjoint sets: those that meet are united."""
    apart: list[set[int]] = []
    for inside in sets:
        meeting = [other for other in apart if other & inside]
        apart = [other for other in apart if not other & inside] + [inside.union(*meeting)]
    return apart


def _demand(collective: Collective, topology: Topology) -> tuple[Int64, list[int], int]:
    """The data that start at each endpoint (with links reversed where `best_cut` does so), in parts of M / scale; the endpoints
    that it is owed to; and that scale."""
    endpoints, members = topology.endpoints, collective.members_of(topology)
    is_root, takes_part = endpoints == collective.root, np.isin(endpoints, members)
    if collective.has_targets:  # gather: every other endpoint's block is owed to the root; scatter: the reverse
        return (takes_part & ~is_root).astype(np.int64), endpoints[is_root].tolist(), len(members)
    if collective.has_one_root:  # broadcast: the root's vector is owed to all; reduce: the reverse
        return is_root.astype(np.int64), members.tolist(), 1
    return takes_part.astype(np.int64), members.tolist(), len(members)


class _Network:
    """The topology behind one source node that feeds every endpoint by its weight."""

    def __init__(self, topology: Topology, tail: np.ndarray, head: np.ndarray, weight: Int64) -> None:
        from ortools.graph.python import max_flow  # noqa: PLC0415

        self._endpoints, self._tail, self._head, self._capacity = topology.endpoints, tail, head, topology.pair_capacity
        self._weight, self._source = weight, len(topology.kind)
        self._flow = max_flow.SimpleMaxFlow()
        feeds = np.full(len(self._endpoints), self._source)
        self._arcs = self._flow.add_arcs_with_capacity(
            np.concatenate((tail, feeds)), np.concatenate((head, self._endpoints)), np.zeros(len(tail) + len(feeds), np.int64)
        )

    def set_below(self, rate: Fraction, node: int) -> tuple[list[int], Fraction] | None:
        """A set S around `node` with capacity into S < rate · (weight outside S), and that ratio; None when there is none.

        With rate · weight fed to every endpoint, a cut around S carries capacity(S) + rate · (weight in S), which is less than
        rate · (all weight) just when S is such a set. Everything is scaled by the denominator: the flow is in whole numbers.
        """
        feeds = rate.numerator * self._weight
        self._flow.set_arcs_capacity(self._arcs, np.concatenate((self._capacity * rate.denominator, feeds)))
        if (status := self._flow.solve(self._source, node)) != self._flow.OPTIMAL:
            raise RuntimeError(f"maximum flow ended with {status}")
        if self._flow.optimal_flow() >= int(feeds.sum()):
            return None
        inside = np.sort(np.array(self._flow.get_sink_side_min_cut(), np.int64))
        crossing = np.isin(self._head, inside) & ~np.isin(self._tail, inside)
        outside = int(self._weight[~np.isin(self._endpoints, inside)].sum())
        return inside.tolist(), Fraction(int(self._capacity[crossing].sum()), outside)
