"""Schedules of programs: what the messages of a program move, in as few steps as the links of a network and the data allow."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from heapq import heapify, heappop, heappush
from math import gcd
from typing import TYPE_CHECKING, Protocol

import numpy as np

from certree.extras.runtimes.make.registers import Chunks, Run, Transfer, transfers_of
from certree.extras.runtimes.model.layout import Layout
from certree.models.common.errors import InputError, UnsupportedError
from certree.models.demand import Demand
from certree.models.network.routing import routes_between
from certree.models.network.topology import Topology
from certree.models.schedule.collective import Collective
from certree.models.schedule.schedule import Schedule, make_schedule
from certree.models.schedule.schedule_columns import Op
from certree.synth.rounds import rounds_needed
from certree.verify.rules.contention import claims

if TYPE_CHECKING:
    import networkx as nx


class Checked(Protocol):
    """The verdict on a program of any kind."""

    @property
    def layout(self) -> Layout:
        """The layout of its data."""
        ...

    def run(self) -> Run:
        """One execution."""
        ...


def schedule_of_program(checked: Checked, topology: Topology, method: str) -> Schedule:
    """The schedule of a valid program on a network whose endpoints, in the order of their ids, are its ranks.

    Transfers take the routes of `models.network.routing`, and results can be used one step after they are sent. Several
    arrangements are tried (steps of one round where the links have room, or steps as long as their messages need; by what waits for
    them, or in the order of the program): the result is the one with the fewest rounds, then the fewest steps. `method`: for the
    provenance. InputError for a network with another number of endpoints, UnsupportedError for a program that adds up different
    chunks. O(transfers · steps).
    """
    endpoints = topology.endpoints
    if len(endpoints) != checked.layout.ranks:
        raise InputError(f"{topology.name} has {len(endpoints)} endpoints; the program has {checked.layout.ranks} ranks")
    run = checked.run()
    transfers = transfers_of(run)
    rows = _unplaced(transfers, run, topology, method)
    made = [_arranged(rows, steps) for steps in _arrangements(rows, transfers)]
    return min(made, key=lambda one: (int(one.rounds.sum()), one.steps))


def _arranged(rows: Schedule, steps: np.ndarray) -> Schedule:
    """The transfers in these steps, each as long as its links need."""
    made = make_schedule(
        rows.topology,
        rows.collective,
        rows.chunk_root,
        {name: getattr(rows, name) for name in rows.columns} | {"step": steps},
        chunk_target=rows.chunk_target,
        routes=rows.routes,
        provenance=rows.provenance,
        buffers=rows.buffers,
        chunk_granules=rows.chunk_granules,
    )
    return replace(made, rounds=rounds_needed(made))


def _granules(run: Run) -> list[int]:
    """The sizes of the chunks of an alltoallv in the largest unit that divides all."""
    sizes = [run.sizes.get(part, 1) for _, _, part in run.layout.parts()]
    return [size // gcd(*sizes) for size in sizes]


def _collective_of(run: Run, topology: Topology, granules: list[int] | None) -> Collective:
    """The collective of a run on a network; `granules`: of the chunks of an alltoallv."""
    layout, nodes = run.layout, topology.endpoints.tolist()
    demand, members = None, layout.roles.members
    if granules is not None:
        amounts: Counter[tuple[int, int]] = Counter()
        for (one, other, _), size in zip(layout.parts(), granules, strict=True):
            amounts[nodes[one], nodes[other]] += size
        demand = Demand(tuple((*pair, amount) for pair, amount in amounts.items()))
    among = None if members is None else tuple(nodes[rank] for rank in members)
    return Collective(layout.kind, None if layout.root is None else nodes[layout.root], among, demand)


def _unplaced(transfers: list[Transfer], run: Run, topology: Topology, method: str) -> Schedule:
    """All transfers in step 0, with their routes."""
    endpoints, layout = topology.endpoints, run.layout
    granules = _granules(run) if layout.roles.blocks else None
    roots, targets = Chunks(layout).ends()
    src, dst = (endpoints[[getattr(row, end)[0] for row in transfers]].astype(np.int32) for end in ("src", "dst"))
    moving = src != dst
    route = np.full(len(transfers), -1, np.int32)
    route[moving], routes = routes_between(topology, src[moving], dst[moving])
    return Schedule(
        topology=topology,
        collective=_collective_of(run, topology, granules),
        chunk_root=np.array([-1 if one < 0 else endpoints[one] for one in roots], np.int32),
        chunk_target=endpoints[targets].astype(np.int32) if targets else None,
        rounds=np.ones(1, np.int32),
        chunk=np.array([row.chunk for row in transfers], np.int32),
        op=np.array([Op.REDUCE if row.adds else Op.COPY for row in transfers], np.int8),
        step=np.zeros(len(transfers), np.int32),
        src=src,
        dst=dst,
        route=route,
        routes=routes,
        buffers=1 + max((max(row.src[1], row.dst[1]) for row in transfers), default=0),
        src_buffer=np.array([row.src[1] for row in transfers], np.int32),
        dst_buffer=np.array([row.dst[1] for row in transfers], np.int32),
        provenance={"method": method},
        chunk_granules=None if granules is None else np.array(granules, np.int32),
    )


def _order(transfers: list[Transfer]) -> "nx.DiGraph":
    """Which transfers come before which: `after` steps later at least."""
    import networkx as nx

    accesses: defaultdict[tuple[int, int, int], list[tuple[int, int, bool]]] = defaultdict(list)
    for number, row in enumerate(transfers):
        accesses[row.chunk, *row.src].append((row.read, number, False))
        accesses[row.chunk, *row.dst].append((row.written, number, True))
    graph = nx.DiGraph()
    graph.add_nodes_from(range(len(transfers)))
    for found in accesses.values():
        writers: list[int] = []
        readers: list[int] = []
        for _, number, writes in sorted(found, key=lambda access: (access[0], access[2], access[1])):
            adds = writes and transfers[number].adds
            for other in writers:
                if not (adds and transfers[other].adds):
                    _require(graph, other, number, 1)
            if not writes:
                readers.append(number)
                continue
            for other in readers:
                _require(graph, other, number, 0)
            if not adds:
                writers, readers = [], []
            writers.append(number)
    return graph


def _require(graph: "nx.DiGraph", first: int, second: int, after: int) -> None:
    if first != second:
        known = graph.get_edge_data(first, second, {"after": 0})["after"]
        graph.add_edge(first, second, after=max(known, after))


@dataclass(frozen=True)
class _Groups:
    """Transfers that must be in one step, and what comes before what: (first, second) -> steps between them."""

    members: list[list[int]]
    after: dict[tuple[int, int], int]
    #: links that a group uses, with the number of its messages on each
    uses: list[Counter[int]]

    @staticmethod
    def of(rows: Schedule, transfers: list[Transfer]) -> "_Groups":
        """Groups in an order in which none comes before one that it waits for."""
        import networkx as nx

        graph = _order(transfers)
        condensed = nx.condensation(graph)
        turn = {group: at for at, group in enumerate(nx.topological_sort(condensed))}
        of = {row: turn[group] for row, group in condensed.graph["mapping"].items()}
        after: dict[tuple[int, int], int] = {}
        for first, second, data in graph.edges(data=True):
            ends = of[first], of[second]
            if ends[0] != ends[1]:
                after[ends] = max(after.get(ends, 0), data["after"])
            elif data["after"]:
                raise UnsupportedError("messages overtake each other in a way that no schedule of steps says")
        members: list[list[int]] = [[] for _ in turn]
        uses: list[Counter[int]] = [Counter() for _ in turn]
        for row, group in of.items():
            members[group].append(row)
        claimed = claims(rows)
        for row, resource in zip(claimed.row.tolist(), claimed.resource.tolist(), strict=True):
            uses[of[row]][resource] += 1
        return _Groups(members, after, uses)


def _arrangements(rows: Schedule, transfers: list[Transfer]) -> Iterator[np.ndarray]:
    """Candidates for the steps of all transfers."""
    groups = _Groups.of(rows, transfers)
    capacity = claims(rows).capacity.tolist()
    count = len(groups.members)
    followers: list[list[tuple[int, int]]] = [[] for _ in range(count)]
    for (first, second), between in groups.after.items():
        followers[first].append((second, between))
    height = [0] * count
    for group in reversed(range(count)):
        height[group] = max((height[other] + between for other, between in followers[group]), default=0)
    level = [min(transfers[row].level for row in members) for members in groups.members]
    steps = np.zeros(len(transfers), np.int32)
    for priority in ([-one for one in height], level):
        for room in (capacity, None):
            for group, at in enumerate(_placed(groups.uses, followers, priority, room)):
                steps[groups.members[group]] = at
            yield steps.copy()


def _placed(
    uses: list[Counter[int]], followers: list[list[tuple[int, int]]], priority: list[int], capacity: list[int] | None
) -> list[int]:
    """The step of every group, as early as possible, by their priority; with `capacity` where links have room."""
    count = len(uses)
    missing = Counter(other for found in followers for other, _ in found)
    ready, step = [0] * count, [0] * count
    loads: defaultdict[int, Counter[int]] = defaultdict(Counter)
    queue = [(0, priority[group], group) for group in range(count) if not missing[group]]
    heapify(queue)
    while queue:
        at, _, group = heappop(queue)
        if capacity is not None and any(
            loads[at][one] and loads[at][one] + used > capacity[one] for one, used in uses[group].items()
        ):
            heappush(queue, (at + 1, priority[group], group))
            continue
        loads[at].update(uses[group])
        step[group] = at
        for other, between in followers[group]:
            ready[other] = max(ready[other], at + between)
            missing[other] -= 1
            if not missing[other]:
                heappush(queue, (ready[other], priority[other], other))
    return step
