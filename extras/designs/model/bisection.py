"""The bisection of a network: the least capacity, in one direction, between two halves of its endpoints.

Exact for few nodes, by trying all splits. Else two bounds: the best split that was found, and what any split must have, from
routes between all pairs. Where both are the same, that is the bisection. Endpoints with one cable each, to a switch, count as a
part of that switch, and one that is on the other side costs its cable.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.models.network.topology import NodeKind, Topology

ENUMERATED = 20  # nodes, of which all splits are tried
BLOCK = 1 << 14  # splits at once
SEARCHED = 512  # nodes, at most, for which a split is searched
EXACT, EMBEDDING, FOUND = "exact", "embedding", "best found"

Int64 = NDArray[np.int64]


@dataclass(frozen=True)
class Bisection:
    """The bisection in full links. `lower`: no split has less (class `lower_class`, "exact" or "embedding"); `upper`: a split that
    has it, None where none was searched."""

    lower: Fraction
    upper: Fraction | None
    lower_class: str

    @property
    def is_exact(self) -> bool:
        """Whether it is known."""
        return self.lower == self.upper

    def words(self, rate: Fraction) -> str:
        """`256 GB/s (exact)`, `192 (embedding) to 256 (best found) GB/s`, for full links of that rate, in GB/s."""
        if self.is_exact:
            return f"{_decimal(self.lower * rate)} GB/s ({EXACT})"
        upper = "unknown" if self.upper is None else f"{_decimal(self.upper * rate)} ({FOUND})"
        return f"{_decimal(self.lower * rate)} ({self.lower_class}) to {upper} GB/s"


def _decimal(value: Fraction) -> str:
    return f"{float(value):,.6g}"


class _Graph:
    """Nodes that are split, with the capacity between them in units, and how many endpoints each one has.

    `access`: the units of the cable of an endpoint, where all have one, equally wide both ways, to and from the same switch.
    """

    def __init__(self, topology: Topology) -> None:
        is_endpoint = topology.kind == NodeKind.ENDPOINT
        self.access = _access(topology)
        self.nodes = np.flatnonzero(topology.kind != NodeKind.ABSENT if self.access is None else topology.kind == NodeKind.SWITCH)
        place = np.full(len(topology.kind), -1, np.int64)
        place[self.nodes] = np.arange(len(self.nodes))
        if self.access is not None:
            up = is_endpoint[topology.src]
            place[topology.src[up]] = place[topology.dst[up]]
        tails, heads = place[topology.src], place[topology.dst]
        self.weight = np.zeros((len(self.nodes), len(self.nodes)), np.int64)
        np.add.at(self.weight, (tails, heads), topology.capacity.astype(np.int64) * (tails != heads))
        self.has = np.bincount(place[topology.endpoints], minlength=len(self.nodes))
        self.half = len(topology.endpoints) // 2
        self.each = int(self.weight.sum()) + 1 if self.access is None else self.access  # for an endpoint that a half has too many

    def too_many(self, inside: Any) -> Any:
        """How many endpoints must change their side, for numbers of endpoints on the first side."""
        other = int(self.has.sum()) - self.half
        return np.minimum(np.abs(inside - self.half), np.abs(inside - other))

    def units(self, side: NDArray[np.bool_]) -> int:
        """The capacity of the cut that a split of the nodes leads to, in the direction that has less."""
        out, back = self.weight[np.ix_(side, ~side)].sum(), self.weight[np.ix_(~side, side)].sum()
        return int(min(out, back) + self.each * self.too_many(self.has[side].sum()))


def _access(topology: Topology) -> int | None:
    is_endpoint = topology.kind == NodeKind.ENDPOINT
    up, down = is_endpoint[topology.src], is_endpoint[topology.dst]
    units = np.unique(topology.capacity[up | down])
    count = len(topology.endpoints)
    single = (up & down).sum() == 0 and (np.bincount(topology.src[up], minlength=len(is_endpoint))[is_endpoint] == 1).all()
    ends = list(zip(topology.src[up].tolist(), topology.dst[up].tolist(), strict=True))
    back = list(zip(topology.dst[down].tolist(), topology.src[down].tolist(), strict=True))
    both_ways = len(ends) == count and sorted(ends) == sorted(back)
    return int(units[0]) if single and len(units) == 1 and both_ways else None


def bisection_of(topology: Topology) -> Bisection:
    """The bisection, or bounds on it. With an odd number of endpoints one half has one more.

    O(2^nodes · links) for up to ENUMERATED nodes; else O(endpoints · links) for the lower bound, and O(nodes²) for each step of
    the search.
    """
    graph = _Graph(topology)
    if len(graph.nodes) <= ENUMERATED:
        exact = Fraction(_enumerated(graph)) / topology.scale
        return Bisection(exact, exact, EXACT)
    lower = _embedding(topology, graph) / topology.scale
    if len(graph.nodes) > SEARCHED:
        return Bisection(lower, None, EMBEDDING)
    return Bisection(lower, Fraction(_searched(graph)) / topology.scale, EMBEDDING)


def _enumerated(graph: _Graph) -> int:
    """The least cut of all splits into halves; the first node is inside."""
    count = len(graph.nodes)
    tails, heads = np.nonzero(graph.weight)
    units = graph.weight[tails, heads]
    best = -1
    for low in range(0, 1 << (count - 1), BLOCK):
        numbers = 2 * np.arange(low, min(low + BLOCK, 1 << (count - 1)), dtype=np.int64) + 1
        sides = (numbers[:, None] >> np.arange(count)) & 1 == 1
        spare = graph.too_many(sides @ graph.has)
        if graph.access is None:
            sides, spare = sides[spare == 0], spare[spare == 0]
        if len(sides):
            out = (sides[:, tails] & ~sides[:, heads]) @ units
            back = (~sides[:, tails] & sides[:, heads]) @ units
            least = int((np.minimum(out, back) + graph.each * spare).min())
            best = least if best < 0 else min(best, least)
    return best


def _embedding(topology: Topology, graph: _Graph) -> Fraction:
    """A lower bound on the cut of every split, from routes on which every pair of endpoints sends one unit.

    Pairs in different halves, divided by the load of the busiest unit of capacity: the cut carries all of these pairs. Where
    endpoints are parts of switches, k of them on the other side cost their cables, and leave as many pairs as make the sum is least
    for k = 0 or for all endpoints of a half.
    """
    count, load = len(topology.endpoints), _loads(topology)
    is_endpoint = topology.kind == NodeKind.ENDPOINT
    inner = [
        load[link] / units
        for link, units in enumerate(topology.capacity.tolist())
        if graph.access is None or not (is_endpoint[topology.src[link]] or is_endpoint[topology.dst[link]])
    ]
    cables = None if graph.access is None else Fraction(graph.access * graph.half)
    busiest = max(inner, default=Fraction(0))
    if cables is not None and not busiest:  # all endpoints at one switch
        return cables
    lower = Fraction(graph.half * (count - graph.half)) / busiest
    return lower if cables is None else min(lower, cables)


def _loads(topology: Topology) -> list[Fraction]:
    """The load of each link when every pair of endpoints sends one unit, at each node split among the links of shortest paths."""
    load = [Fraction(0)] * len(topology.src)
    heads, capacity = topology.dst.tolist(), topology.capacity.tolist()
    out_of: list[list[int]] = [[] for _ in topology.kind]
    for link, tail in enumerate(topology.src.tolist()):
        out_of[tail].append(link)
    for target in topology.endpoints.tolist():
        far = topology.distances(target, backward=True).tolist()
        amount = [Fraction(0)] * len(far)
        for node in topology.endpoints.tolist():
            amount[node] = Fraction(1)
        for node in sorted((one for one in range(len(far)) if far[one] > 0), key=lambda one: -far[one]):
            nearer = [link for link in out_of[node] if far[heads[link]] == far[node] - 1] if amount[node] else []
            total = sum(capacity[link] for link in nearer)
            for link in nearer:
                part = amount[node] * Fraction(capacity[link], total)
                load[link] += part
                amount[heads[link]] += part
    return load


def _searched(graph: _Graph) -> int:
    """The best split that moves of a node and exchanges of two lead to, from runs of equal numbers of nodes with endpoints."""
    rank: Int64 = np.cumsum(graph.has > 0) - (graph.has > 0)
    best, run = -1, max(1, int((graph.has > 0).sum()) // 2)
    while run >= 1:
        side: NDArray[np.bool_] = np.asarray((rank // run) % 2 == 0)
        _improve(graph, side)
        units = graph.units(side)
        best = units if best < 0 else min(best, units)
        run //= 2
    return best


def _improve(graph: _Graph, side: NDArray[np.bool_]) -> None:
    """Move nodes, and exchange pairs of them, as long as both directions, and endpoints on a wrong side, cost less."""
    both = graph.weight + graph.weight.T
    while True:
        sign = np.where(side, 1, -1)
        gain = (both * -sign[None, :]).sum(axis=1) * sign
        inside = int(graph.has[side].sum())
        now = 2 * graph.each * int(graph.too_many(inside))
        moved = gain + now - 2 * graph.each * graph.too_many(inside - sign * graph.has)
        ins, outs = np.flatnonzero(side), np.flatnonzero(~side)
        after = graph.too_many(inside - graph.has[ins][:, None] + graph.has[outs][None, :])
        pairs = gain[ins][:, None] + gain[outs][None, :] - 2 * both[np.ix_(ins, outs)] + now - 2 * graph.each * after
        node, best = int(moved.argmax()), int(pairs.max(initial=0))
        if moved[node] > 0 and moved[node] >= best:
            side[node] = ~side[node]
        elif best > 0:
            first, second = divmod(int(pairs.argmax()), pairs.shape[1])
            side[ins[first]], side[outs[second]] = False, True
        else:
            return
