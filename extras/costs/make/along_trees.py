"""The least GenModel seconds of any all-reduce along trees on a small network: a search beyond GenTree's family, and its proof.

Every element of the vector is summed up along some tree and copied along another one, each transfer in one of K steps that all
servers make together; different elements take different trees. A step takes its start-up, then the time of its busiest link, then
that of its busiest server. Without incast, which needs more senders than these networks have, the best shares of the trees are a
linear program, whose constraints, a tree each, are found by prices: `certree.extras.costs.make.priced_trees`.

The prices are the proof: whatever the schedule, a step takes no less than the mean of the times of its links, weighted by their
prices, and of its servers, weighted by theirs. So the cheapest tree, which is found exactly, bounds all schedules of K steps.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

import networkx as nx
import numpy as np

from certree.extras.costs.make.priced_trees import NEVER, Costs, Found, Tree, cheapest
from certree.extras.costs.model.formulas.genmodel import GenModel
from certree.extras.costs.model.link_kinds import LinkKind, link_kinds, switches_passed
from certree.models.common.errors import UnsupportedError
from certree.models.network.routing import routes_between
from certree.models.network.topology import Topology
from certree.models.schedule.paths import route_of

MOST_SERVERS, MOST_STEPS = 8, 8
_GRAIN = 1 << 24  # shares and prices are whole multiples of one over this
_MOST_ROUNDS, _CLOSE = 300, 1e-7
Shares = tuple[tuple[Fraction, Tree], ...]


class Network:
    """The costs of transfers and sums of servers: links by transfer, seconds per float of links and sums, start-ups by transfer."""

    def __init__(self, topology: Topology, model: GenModel) -> None:
        servers, kinds = topology.endpoints.astype(np.int64), link_kinds(topology)
        levels = {kind: model.level(LinkKind(kind)) for kind in np.unique(kinds).tolist()}
        self.servers = len(servers)
        if self.servers > min(MOST_SERVERS, *(level.incast_threshold for level in levels.values())) or topology.reducing.any():
            raise UnsupportedError(
                f"{topology.name}: trees are searched for up to {MOST_SERVERS} servers that add up, too few for incast"
            )
        ends = [(u, v) for u, v in product(range(self.servers), repeat=2) if u != v]
        src, dst = servers[[u for u, _ in ends]], servers[[v for _, v in ends]]
        row, pair = route_of(topology, src, dst, *routes_between(topology, src, dst))
        passed = switches_passed(topology, kinds, row, pair, len(ends))
        used, link = np.unique(pair, return_inverse=True)
        self.seconds: list[Fraction] = []
        for one in used.tolist():
            kind = int(kinds[one])
            width = Fraction(int(topology.pair_capacity[one]), int(topology.pair_capacity[kinds == kind].min()))
            self.seconds.append(levels[kind].beta_seconds_per_float / width)
        self.links: dict[tuple[int, int], list[int]] = {end: link[row == number].tolist() for number, end in enumerate(ends)}
        self.start_up = {end: model.start_seconds(*way) for end, way in zip(ends, passed.tolist(), strict=True)}
        self.first: Fraction = model.server.gamma_seconds_per_float + 3 * model.server.delta_seconds_per_float
        self.more: Fraction = model.server.gamma_seconds_per_float + model.server.delta_seconds_per_float


@dataclass(frozen=True)
class Prices:
    """Weights of links and of servers in each step, which add up to 1 at most."""

    links: tuple[tuple[Fraction, ...], ...]
    servers: tuple[tuple[Fraction, ...], ...]


@dataclass(frozen=True)
class Steps:
    """The best schedule in steps with these start-ups at most: `seconds_per_float` besides them, and `bound_per_float`, which no
    schedule is below, by `prices`."""

    start_ups: tuple[Fraction, ...]
    seconds_per_float: Fraction
    bound_per_float: Fraction
    shares: Shares
    prices: Prices

    def seconds(self, floats: Fraction) -> Fraction:
        """The seconds for a vector of `floats` floats."""
        return sum(self.start_ups, floats * self.seconds_per_float)

    def bound(self, floats: Fraction) -> Fraction:
        """No schedule in these steps takes less."""
        return sum(self.start_ups, floats * self.bound_per_float)


@dataclass(frozen=True)
class AlongTrees:
    """The `best` found, and `at_least`, which no schedule along trees is faster than, in seconds, for a vector."""

    best: Steps
    at_least: Fraction


class TreeSearch:
    """Searches on one network, which share what they find about steps."""

    def __init__(self, topology: Topology, model: GenModel) -> None:
        self._network = Network(topology, model)
        self._levels = sorted(set(self._network.start_up.values()))
        self._crossing = self._least_crossing()
        self._known: dict[tuple[Fraction, ...], Steps | None] = {}

    def best(self, floats: Fraction) -> AlongTrees:
        """The best for a vector of `floats`. Choices of start-ups that a bound excludes are left out: that of as many steps without
        restrictions, and, for all longer ones as well, that of an element."""
        best: Steps | None = None
        bounds: list[Fraction] = []
        for count in range(2, MOST_STEPS + 2):
            least = self._crossing + (count - 1) * self._levels[0] + floats * self._element()
            if count > MOST_STEPS or (best is not None and least >= best.seconds(floats)):
                bounds.append(least)
                break
            free = self._steps((self._levels[-1],) * count)
            assert free is not None
            for start_ups in sorted(product(self._levels, repeat=count), key=sum):
                least = sum(start_ups, floats * free.bound_per_float)
                if best is not None and least >= best.seconds(floats):
                    bounds.append(least)
                    break
                if (found := self._steps(start_ups)) is not None:
                    bounds.append(found.bound(floats))
                    best = found if best is None or found.seconds(floats) < best.seconds(floats) else best
        assert best is not None
        return AlongTrees(best, min(bounds))

    def _element(self) -> Fraction:
        """Seconds per float that an element takes at least, whatever the steps: the mean over servers of arrivals and sums."""
        network = self._network
        narrow = min(network.seconds[links[-1]] for links in network.links.values())
        terms = range(2, network.servers + 1)
        added = min((network.first + (count - 2) * network.more) / (count - 1) for count in terms)
        return ((network.servers - 1) * (2 * narrow + added)) / network.servers

    def _least_crossing(self) -> Fraction:
        """The least start-up with which transfers join all servers: some step of every schedule has no less."""
        for level in self._levels:
            joined = nx.Graph([end for end, start_up in self._network.start_up.items() if start_up <= level])
            if joined.number_of_nodes() == self._network.servers and nx.is_connected(joined):
                return level
        return self._levels[-1]

    def _steps(self, start_ups: tuple[Fraction, ...]) -> Steps | None:
        if start_ups not in self._known:
            self._known[start_ups] = _Program(self._network, start_ups).solve()
        return self._known[start_ups]


@dataclass(frozen=True)
class _Solution:
    """Prices, the cost of the cheapest of the trees met, and how much of the vector takes each of these."""

    prices: Prices
    cost: float
    shares: Shares


class _Program:
    """The linear program in prices: as much as possible for the cheapest of the trees met so far."""

    def __init__(self, network: Network, start_ups: tuple[Fraction, ...]) -> None:
        self._network, self._start_ups = network, start_ups
        self._met: dict[Tree, None] = {}

    def solve(self) -> Steps | None:
        """The best shares and prices; None where no tree fits into the steps."""
        if not self._meet(cheapest(list(self._costs(self._even(), exact=False))), NEVER):
            return None
        best = None
        for _ in range(_MOST_ROUNDS):
            found = self._solution()
            if found is None:
                break
            best = found
            if not self._meet(cheapest(list(self._costs(best.prices, exact=False))), best.cost * (1 - _CLOSE)):
                break
        if best is None:
            return None
        bound = min(found.cost for found in cheapest(list(self._costs(best.prices, exact=True))))
        return Steps(self._start_ups, self._seconds(best.shares), bound, best.shares, best.prices)

    def _even(self) -> Prices:
        links, servers = len(self._network.seconds), self._network.servers
        steps = range(len(self._start_ups))
        return Prices(tuple((Fraction(1, links),) * links for _ in steps), tuple((Fraction(1, servers),) * servers for _ in steps))

    def _meet(self, found: Sequence[Found], below: float) -> bool:
        """Whether there are new trees that cost less; they are kept."""
        fresh = [one.tree for one in found if one.cost < below and one.tree not in self._met]
        self._met.update(dict.fromkeys(fresh))
        return bool(fresh)

    def _solution(self) -> _Solution | None:
        """The solution of the program with the trees met; None where the solver finds none."""
        from ortools.linear_solver import pywraplp

        network, scale = self._network, float(max(self._network.seconds))
        program: Any = pywraplp.Solver.CreateSolver("GLOP")
        program.SuppressOutput()
        free = program.infinity()
        links = [[program.NumVar(0, free, "") for _ in network.seconds] for _ in self._start_ups]
        servers = [[program.NumVar(0, free, "") for _ in range(network.servers)] for _ in self._start_ups]
        for row in (*links, *servers):
            program.Add(sum(row) <= 1)
        cost, rows = program.NumVar(0, free, ""), []
        for tree in self._met:
            paid = [links[step][link] * (float(network.seconds[link]) / scale) for step, link in self._passed(tree)]
            paid += [servers[step][server] * (float(seconds) / scale) for (step, server), seconds in self._worked(tree).items()]
            rows.append(program.Add(cost <= sum(paid)))
        program.Maximize(cost)
        if program.Solve() != program.OPTIMAL:
            return None
        parts = [max(0, round(abs(row.dual_value()) * _GRAIN)) for row in rows]
        shares = tuple((Fraction(part, sum(parts)), tree) for part, tree in zip(parts, self._met, strict=True) if part)
        prices = Prices(*(tuple(_whole([one.solution_value() for one in row]) for row in kind) for kind in (links, servers)))
        return _Solution(prices, cost.solution_value() * scale, shares)

    def _costs(self, prices: Prices, *, exact: bool) -> Iterator[Costs]:
        """The costs of each step by prices."""
        network = self._network
        kind: Any = object if exact else float
        for allowed, links, servers in zip(self._start_ups, prices.links, prices.servers, strict=True):
            paid = [price * seconds for price, seconds in zip(links, network.seconds, strict=True)]
            link = np.full((network.servers, network.servers), NEVER, kind)
            for end, passed in network.links.items():
                if network.start_up[end] <= allowed:
                    link[end] = sum((paid[one] for one in passed), Fraction(0))
            first, more = (np.array([price * work for price in servers], kind) for work in (network.first, network.more))
            yield Costs(link, first, more)

    def _passed(self, tree: Tree) -> Iterator[tuple[int, int]]:
        """(step, link) of all transfers."""
        for step, src, dst in (*tree.sums, *tree.copies):
            yield from ((step, link) for link in self._network.links[src, dst])

    def _worked(self, tree: Tree) -> dict[tuple[int, int], Fraction]:
        """Seconds per float that servers add up in each step."""
        worked: dict[tuple[int, int], Fraction] = {}
        for step, _, dst in tree.sums:
            known = worked.get((step, dst))
            worked[step, dst] = self._network.first if known is None else known + self._network.more
        return worked

    def _seconds(self, shares: Shares) -> Fraction:
        """Seconds per float of the busiest links and servers of all steps."""
        load: dict[tuple[int, int], Fraction] = {}
        work: dict[tuple[int, int], Fraction] = {}
        for share, tree in shares:
            for step, link in self._passed(tree):
                load[step, link] = load.get((step, link), Fraction(0)) + share * self._network.seconds[link]
            for at, seconds in self._worked(tree).items():
                work[at] = work.get(at, Fraction(0)) + share * seconds
        steps = range(len(self._start_ups))
        busiest = (
            max((value for (at, _), value in found.items() if at == step), default=Fraction(0))
            for found in (load, work)
            for step in steps
        )
        return sum(busiest, Fraction(0))


def _whole(row: Sequence[float]) -> tuple[Fraction, ...]:
    """Prices as fractions that add up to 1 at most."""
    parts = [max(0, round(value * _GRAIN)) for value in row]
    return tuple(Fraction(part, max(_GRAIN, sum(parts))) for part in parts)
