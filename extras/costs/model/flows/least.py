"""The least seconds of any all-reduce in GenModel, of schedules that add terms up in the step in which they arrive.

For each element of the vector a schedule of K steps makes N servers know the sum of N terms. A server that receives from w - 1
others in a step has w communicators on its link; a sum of f terms there needs f - 1 of them at least, so that f <= w, and takes
f - 1 additions and f + 1 memory accesses (GenTree, Section 3.1). Every step takes as long as its busiest link and then its busiest
server, hence at least the mean over the servers. So the sum of these costs over all arrivals and sums of an element, times
floats / N, and the start-ups of K steps, bound the time from below. By K:

- 1: every server receives N - 1 terms and adds N
- 2: some server adds all N terms in the first step; or none does, and every server adds up g >= 2 sums of the first step, which
  have all N terms
- more: some server has the whole sum first, after step a. The sums that it is made of are a tree of depth a, no two of them the
  same; so they take no less than the cheapest tree of that depth. Every other server gets the sum later, by one arrival more at
  least, and K > a; or, where K = a, it makes the sum in the last step, by a sum of two terms at least

One step or more must cross each cut of the network, and starts up accordingly. Links between switches and unequal loads of servers
are left out, so the bound is weakest where these matter (CDC384). One copy of each element must cross each link between switches
each way. Where that takes less time than links of servers do, as on all networks of GenTree's Table 7, it would not raise the
bound, as different links are busy at the same time.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

import numpy as np
from numpy.typing import NDArray

from certree.extras.costs.model.formulas.genmodel import GenModel
from certree.extras.costs.model.link_kinds import link_kinds, switches_passed
from certree.models.common.errors import UnsupportedError
from certree.models.network.routing import routes_between
from certree.models.network.topology import Topology
from certree.models.schedule.paths import route_of

MORE = 3  # steps: fewer have bounds of their own
_MOST = 1 << 61  # of exact whole numbers in trees of sums


@dataclass(frozen=True)
class Least:
    """No schedule takes less than `seconds`; `steps` of the case that decides."""

    seconds: Fraction
    steps: int


def least_seconds(topology: Topology, model: GenModel, floats: Fraction) -> Least:
    """The bound for a vector of `floats`, where all links of servers are equally wide. O(N · links + switches² · hops + N³).

    UnsupportedError where links of servers differ, or where switches add.

    >>> from fractions import Fraction
    >>> from certree.extras.costs.model.formulas.genmodel import load_genmodel
    >>> from certree.models.network.spec import parse_topology
    >>> round(float(least_seconds(parse_topology("ss:24"), load_genmodel("gentree"), Fraction(10**8)).seconds), 4)
    1.366
    """
    servers = topology.endpoints
    widths = topology.pair_capacity[np.isin(topology.pair_dst, servers)]
    if topology.reducing.any() or len(set(widths.tolist())) > 1:
        raise UnsupportedError(
            f"{topology.name}: the bound in GenModel seconds is for servers that add and have equally wide links"
        )
    local, crossing = _start_ups(topology, model)
    costs = _Costs(model, len(servers))
    found = []
    for steps, element in ((1, costs.one_step()), (2, costs.two_steps()), *costs.more_steps()):
        found.append(Least(crossing + (steps - 1) * local + floats * element / len(servers), steps))
    return min(found, key=lambda one: one.seconds)


def _start_ups(topology: Topology, model: GenModel) -> tuple[Fraction, Fraction]:
    """(least start-up of any flow; the least with which some flow of every schedule must start up).

    The latter: joining servers in the order of the start-ups between them, as in a minimum spanning tree, the last one that joins
    two parts; no schedule crosses between these parts by less.
    """
    servers = _two_of_each_switch(topology)
    kinds = link_kinds(topology)
    part = {server: server for server in servers.tolist()}
    costs: dict[tuple[int, int], Fraction] = {}
    for source in servers.tolist():
        others = servers[servers > source]
        if not len(others):
            continue
        sources = np.full(len(others), source)
        row, pair = route_of(topology, sources, others, *routes_between(topology, sources, others))
        passed = switches_passed(topology, kinds, row, pair, len(others))
        costs |= {(source, other): model.start_seconds(*way) for other, way in zip(others.tolist(), passed.tolist(), strict=True)}
    last = Fraction(0)

    def top(node: int) -> int:
        while part[node] != node:
            part[node] = part[part[node]]
            node = part[node]
        return node

    for (one, other), seconds in sorted(costs.items(), key=lambda item: item[1]):
        if top(one) != top(other):
            part[top(one)] = top(other)
            last = seconds
    return min(costs.values()), last


def _two_of_each_switch(topology: Topology) -> NDArray[np.int64]:
    """Servers whose start-ups are those of all: two with the same neighbours are as far from every third one."""
    neighbours: dict[tuple[int, ...], list[int]] = {}
    for server in topology.endpoints.tolist():
        key = tuple(sorted(topology.pair_dst[topology.pair_src == server].tolist()))
        neighbours.setdefault(key, []).append(server)
    return np.array(sorted(server for found in neighbours.values() for server in found[:2]), np.int64)


class _Costs:
    """Seconds of an element, summed over all servers."""

    def __init__(self, model: GenModel, servers: int) -> None:
        self._servers, self._level, self._server = servers, model.middle, model.server

    def _sum(self, terms: int) -> Fraction:
        """The cost of receiving all but one of that many terms and adding them."""
        received = (terms - 1) * (self._level.flow_seconds(terms) + self._server.gamma_seconds_per_float)
        return received + (terms + 1) * self._server.delta_seconds_per_float

    def one_step(self) -> Fraction:
        """Every server adds all."""
        return self._servers * self._sum(self._servers)

    def two_steps(self) -> Fraction:
        """One server adds all, the others get the sum; or every server adds up sums of parts."""
        count = self._servers
        one = self._sum(count) + (count - 1) * self._level.beta_seconds_per_float
        return min([one, *(count * self._sum(second) + self._parts(second) for second in range(2, count))])

    def _parts(self, parts: int) -> Fraction:
        """To make that many sums which together have all terms, and of which one of one term costs nothing: equal ones are the
        cheapest, as the costs of a sum without two of its accesses are convex in the number of its terms."""
        least, longer = divmod(self._servers, parts)
        sums = longer * self._sum(least + 1) + (parts - longer) * self._sum(least)
        return sums - 2 * parts * self._server.delta_seconds_per_float

    def more_steps(self) -> Iterator[tuple[int, Fraction]]:
        """For each number of steps from MORE on, until more would not make trees of sums cheaper, what an element takes."""
        others, steps = self._servers - 1, MORE
        copied, added = others * self._level.beta_seconds_per_float, others * self._sum(2)
        depths = self._trees()
        for _ in range(MORE - 1):
            shallow = next(depths)
        for deep in depths:
            yield steps, min(shallow + copied, deep + added)
            if deep == shallow:
                return
            steps, shallow = steps + 1, deep

    def _trees(self) -> Iterator[Fraction]:
        """The costs of sums of all terms in the cheapest trees of depth 1, 2, ...; in exact whole numbers. O(N³) each."""
        count = self._servers
        sums = [Fraction(0), *(self._sum(terms) for terms in range(2, count + 1))]  # of 1, 2, ... terms
        scale = lcm(*(one.denominator for one in sums))
        whole = [int(one * scale) for one in sums]
        if whole[-1] * count >= _MOST:
            raise UnsupportedError("the parameters have too many digits for the bound in GenModel seconds")
        never = np.int64(_MOST)
        own = np.array(whole, np.int64)
        best = np.full(count + 1, never)  # to have a sum of that many terms, by depth 0
        best[1] = 0
        rest = np.arange(count + 1)[:, None] - np.arange(count + 1)
        while True:
            parts, deeper = best, best.copy()
            padded = np.where(rest >= 0, best[rest], never)  # of n - k terms
            for terms in range(2, count + 1):
                parts = np.minimum((parts[None, :] + padded).min(axis=1), never)
                deeper = np.minimum(deeper, parts + own[terms - 1])
            best = deeper
            yield Fraction(int(best[count]), scale)
