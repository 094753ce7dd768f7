"""Questions about runs in fine slots: whether an all-reduce can end within some cycles, and when each sum can be at an endpoint."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from certree.models.common.errors import UnsupportedError
from certree.models.fine.list_jobs import Costs
from certree.models.machine.machine import Machine
from certree.models.network.topology import Topology

MAX_ENDPOINTS, MAX_ROUTES = 5, 2_000
NEVER = 1 << 60

#: an endpoint, and a sum as a set of endpoints: bit i is the contribution of the i-th one
Place = tuple[int, int]


@dataclass(frozen=True, eq=False)
class Route:
    """A simple path of pairs (`Topology.pair_index`): `hops`, cycles from the entry into each to that into the next one; `flight`,
    from the entry into the first to the arrival of all flits."""

    src: int
    dst: int
    pairs: tuple[int, ...]
    hops: tuple[int, ...]
    flight: int


@dataclass(frozen=True, eq=False)
class RunQuestion:
    """Whether at least `chunks` chunks of at least `granules` granules each can be summed up within `cycles` cycles. More chunks,
    or longer ones, take no fewer cycles: leave out chunks and granules, and let everything else happen when it did.

    UnsupportedError for switches that reduce, and for more than MAX_ENDPOINTS endpoints or MAX_ROUTES routes.
    """

    topology: Topology
    machine: Machine
    chunks: int
    granules: int
    cycles: int

    def __post_init__(self) -> None:
        if self.topology.reducing.any():
            raise UnsupportedError("the fewest cycles are not claimed where switches reduce")
        if len(self.topology.endpoints) > MAX_ENDPOINTS:
            ends = len(self.topology.endpoints)
            raise UnsupportedError(f"the fewest cycles are claimed for up to {MAX_ENDPOINTS} endpoints; there are {ends}")

    @property
    def most(self) -> int:
        """The most cycles that a run may take, from the opening of the first slot."""
        return self.cycles - self.machine.ni_start_cycles

    @cached_property
    def costs(self) -> Costs:
        """The costs of a chunk."""
        return Costs.of(self.topology, self.granules * self.machine.flit_bytes, self.machine)

    @cached_property
    def own(self) -> dict[int, int]:
        """The contribution of each endpoint."""
        return {node: 1 << number for number, node in enumerate(self.topology.endpoints.tolist())}

    @cached_property
    def sums(self) -> range:
        """The sums that can occur; the last one is of everything."""
        return range(1, 1 << len(self.own))

    @cached_property
    def routes(self) -> list[Route]:
        """All simple paths from endpoint to endpoint that a message can pass in time."""
        topology, costs, found = self.topology, self.costs, list[Route]()
        hop = dict(zip(topology.pair_of_link.tolist(), costs.hop, strict=True))
        leaving = defaultdict(list)
        for pair, (tail, head) in enumerate(zip(topology.pair_src.tolist(), topology.pair_dst.tolist(), strict=True)):
            leaving[tail].append((pair, head))
        forwards = topology.forwards.tolist()
        stack: list[tuple[tuple[int, ...], tuple[int, ...]]] = [((node,), ()) for node in self.own]
        while stack:
            nodes, pairs = stack.pop()
            for pair, head in leaving[nodes[-1]]:
                hops = tuple(hop[one] for one in (*pairs, pair))
                flight = sum(hops) + costs.ends + costs.ser
                if head in nodes or flight > self.most:
                    continue
                if head in self.own:
                    found.append(Route(nodes[0], head, (*pairs, pair), hops, flight))
                if forwards[head]:
                    stack.append(((*nodes, head), (*pairs, pair)))
                if len(found) + len(stack) > MAX_ROUTES:
                    raise UnsupportedError(f"{topology.name} has more than {MAX_ROUTES} routes between endpoints: too many")
        return sorted(found, key=lambda route: (route.src, route.dst, route.pairs))


class Windows:
    """Cycles of sums at endpoints: the earliest in which one `came`, is `added`, or either (`has`); the `latest` that helps."""

    def __init__(self, question: RunQuestion) -> None:
        self.question, self.costs = question, question.costs
        self.came, self.added, self.has = (defaultdict[Place, int](lambda: NEVER) for _ in range(3))
        self.latest = defaultdict[Place, int](lambda: -1)
        self._flights: dict[tuple[int, int], int] = {}
        for route in question.routes:
            ends = route.src, route.dst
            self._flights[ends] = min(route.flight, self._flights.get(ends, NEVER))
        self.splits = [(one, other) for one in question.sums for other in question.sums if not one & other]
        for node, own in question.own.items():
            self.has[node, own] = 0
        while sum(self._earlier(found, place, cycle) for found, place, cycle in self._events()):
            pass
        whole = question.sums[-1]
        if self.possible:
            self.latest.update({(node, whole): question.most for node in question.own})
        while sum(self._later(place, cycle) for place, cycle in self._uses()):
            pass

    @property
    def possible(self) -> bool:
        """Whether every endpoint can have the whole sum in time, where lanes and units are free."""
        return all(self.has[node, self.question.sums[-1]] <= self.question.most for node in self.question.own)

    def additions(self, node: int, moved: int, there: int) -> range:
        """The cycles in which the unit of a node can begin to add one sum to another."""
        ser, start = self.costs.ser, self.costs.start
        moves = min(self.came[node, moved], self.has[node, moved] + ser) + start
        waits = min(self.added[node, there], self.has[node, there] + ser + start)
        return range(max(moves, waits), self.latest[node, moved | there] - self.costs.red + 1)

    def entries(self, route: Route, some: int) -> range:
        """The cycles in which a message with a sum can enter the first link of a route."""
        return range(self.has[route.src, some], self.latest[route.dst, some] - route.flight + 1)

    def cycles(self, first: Mapping[Place, int], place: Place) -> range:
        """The cycles from the first one to the last in which the sum still helps."""
        return range(first.get(place, NEVER), self.latest[place] + 1)

    def _events(self) -> Iterator[tuple[dict[Place, int], Place, int]]:
        for (src, dst), flight in self._flights.items():
            for some in self.question.sums:
                yield self.came, (dst, some), self.has[src, some] + flight
        for node in self.question.own:
            for moved, there in self.splits:
                yield self.added, (node, moved | there), self.additions(node, moved, there).start + self.costs.red

    def _earlier(self, found: dict[Place, int], place: Place, cycle: int) -> bool:
        """Whether a cycle is earlier than the one known; it is then noted."""
        if cycle >= min(NEVER, found[place]):
            return False
        found[place], self.has[place] = cycle, min(cycle, self.has[place])
        return True

    def _uses(self) -> Iterator[tuple[Place, int]]:
        for (src, dst), flight in self._flights.items():
            for some in self.question.sums:
                yield (src, some), self.latest[dst, some] - flight
        for node in self.question.own:
            for moved, there in self.splits:
                if found := self.additions(node, moved, there):
                    yield (node, moved), found[-1] - self.costs.start
                    yield (node, there), found[-1]

    def _later(self, place: Place, cycle: int) -> bool:
        """Whether a cycle is later than the last one in which a sum helped, and possible; it is then noted."""
        if cycle <= self.latest[place] or cycle < self.has[place]:
            return False
        self.latest[place] = cycle
        return True
