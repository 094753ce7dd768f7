"""Trees of hosts and reducing switches, taken from a schedule that reduces in its switches."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from certree.models.common.errors import UnsupportedError
from certree.models.forms.lowering_chain import takes
from certree.models.network.routing import DIRECT
from certree.models.network.topology import NodeKind, Topology
from certree.models.schedule.collective import CollectiveKind
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import Op

_AGGREGATED = takes("reducing switches")

if TYPE_CHECKING:
    import networkx as nx

Int64 = NDArray[np.int64]
MAX_LONGER = 4  # links by which an alternative route may be longer than the schedule's own
Route = tuple[int, ...]  # pairs of neighbours along a route, as in `Topology.pair_index`


@dataclass(frozen=True, eq=False)
class AggregationTrees:
    """One tree per flow. Over an edge (`flow`, `child`, `parent`, sorted by these) a child sends contributions to its switch, and
    results come back. `up` and `down` are the routes of each edge; packets take them in turn. `shares[f]`: how many of the
    schedule's `chunks` equal parts of the message belong to flow f."""

    topology: Topology
    chunks: int
    shares: tuple[int, ...]
    flow: Int64
    child: Int64
    parent: Int64
    up: tuple[tuple[Route, ...], ...]
    down: tuple[tuple[Route, ...], ...]

    @classmethod
    def of(cls, schedule: Schedule, most_routes: int = 1) -> "AggregationTrees":
        """The trees along which the chunks of an all-reduce go up and down again; chunks of one tree make one flow.

        `most_routes`: packets take at most N routes in turn between two nodes, the schedule's own and the next longer ones
        through switches, at most MAX_LONGER links longer. Raises UnsupportedError, with chunk and node, where a chunk does not go
        up one tree of reducing switches and down again. O(rows log rows), with alternative routes also O(edges · routes · links).
        """
        schedule = _AGGREGATED.lowered(schedule)
        topology = schedule.topology
        if schedule.collective.kind is not CollectiveKind.ALL_REDUCE:
            raise UnsupportedError(f"reducing switches do all-reduces; the schedule is a {schedule.collective.kind}")
        shares: dict[tuple[tuple[int, ...], ...], int] = {}
        for chunk, edges in _edges_of_chunks(schedule):
            _check_tree(topology, chunk, edges)
            shares[edges] = shares.get(edges, 0) + 1
        rows = [(flow, *edge) for flow, edges in enumerate(shares) for edge in edges]
        flow, child, parent = np.array([row[:3] for row in rows], np.int64).T
        other = _OtherRoutes(topology, most_routes)
        up, down = topology.pair_index(child, parent).tolist(), topology.pair_index(parent, child).tolist()
        return cls(
            topology,
            schedule.chunks,
            tuple(shares.values()),
            flow,
            child,
            parent,
            up=tuple(other.with_others(row[1], row[2], _pairs(schedule, pair, row[3])) for row, pair in zip(rows, up, strict=True)),
            down=tuple(
                other.with_others(row[2], row[1], _pairs(schedule, pair, row[4])) for row, pair in zip(rows, down, strict=True)
            ),
        )

    def levels(self, flow: int) -> list[Int64]:
        """Edges of a flow, those of the hosts first, then those of the switches above them, and so on, where all hosts are equally
        deep and the switches of a level have equally many children; an empty list elsewhere. O(edges · levels)."""
        edges = np.flatnonzero(self.flow == flow)
        level = edges[self.topology.kind[self.child[edges]] == NodeKind.ENDPOINT]
        children = np.bincount(self.parent[edges], minlength=len(self.topology.kind))
        levels = []
        while len(level):
            above, count = np.unique(self.parent[level], return_counts=True)
            if (count != count[0]).any() or (children[above] != count).any():
                return []
            levels.append(level)
            level = edges[np.isin(self.child[edges], above)]
            if 0 < len(level) < len(above):
                return []
        return levels


def _edges_of_chunks(schedule: Schedule) -> Iterator[tuple[int, tuple[tuple[int, ...], ...]]]:
    """(chunk, edges as (child, parent, route up, route down)) of every chunk, edges sorted."""
    topology = schedule.topology
    order = np.lexsort((schedule.dst, schedule.src, schedule.op, schedule.chunk))
    columns = [column[order].tolist() for column in (schedule.chunk, schedule.op, schedule.src, schedule.dst, schedule.route)]
    rows = list(zip(*columns, strict=True))
    begin = np.searchsorted(schedule.chunk[order], np.arange(schedule.chunks + 1)).tolist()
    for chunk in range(schedule.chunks):
        up: dict[tuple[int, int], int] = {}
        down: dict[tuple[int, int], int] = {}
        for _, op, src, dst, route in rows[begin[chunk] : begin[chunk + 1]]:
            edges, edge = (up, (src, dst)) if op == Op.REDUCE else (down, (dst, src))
            if op == Op.REDUCE and (topology.kind[dst] != NodeKind.SWITCH or not topology.reducing[dst]):
                raise UnsupportedError(f"chunk {chunk} is reduced at node {dst}, which is not a reducing switch")
            if edge in edges:
                raise UnsupportedError(f"chunk {chunk} goes from node {src} to node {dst} twice")
            edges[edge] = route
        if up.keys() != down.keys():
            child, parent = min(up.keys() ^ down.keys())
            raise UnsupportedError(
                f"chunk {chunk}: its result does not return along its contributions' route, nodes {child} and {parent}"
            )
        yield chunk, tuple((*edge, up[edge], down[edge]) for edge in sorted(up))


def _check_tree(topology: Topology, chunk: int, edges: Sequence[tuple[int, ...]]) -> None:
    parent: dict[int, int] = {}
    for child, above, _, _ in edges:
        if child in parent:
            raise UnsupportedError(f"chunk {chunk}: node {child} sends to nodes {parent[child]} and {above}; in a tree to one")
        parent[child] = above
    roots = {above for above in parent.values() if above not in parent}
    if len(roots) != 1:
        raise UnsupportedError(f"chunk {chunk} has {len(roots)} roots {sorted(roots)}; a tree has one")
    missing = set(topology.endpoints.tolist()) - parent.keys()
    if missing:
        raise UnsupportedError(f"chunk {chunk}: node {min(missing)} sends no contribution")
    for node, first in parent.items():
        above, passed = first, 0
        while above in parent and passed <= len(parent):
            above, passed = parent[above], passed + 1
        if above in parent:
            raise UnsupportedError(f"chunk {chunk}: above node {node} the switches send in a circle")


def _pairs(schedule: Schedule, direct: int, route: int) -> Route:
    """A transfer's pairs of neighbours: `direct`, its one pair, or a route."""
    return (direct,) if route == DIRECT else tuple(schedule.topology.pair_of_link[list(schedule.routes[route])].tolist())


class _OtherRoutes:
    """Routes through switches, shortest first."""

    def __init__(self, topology: Topology, most: int) -> None:
        self._topology, self._most = topology, most

    @cached_property
    def _graph(self) -> "nx.DiGraph":
        """The links between switches."""
        import networkx as nx

        topology = self._topology
        switches = topology.kind == NodeKind.SWITCH
        inner = switches[topology.pair_src] & switches[topology.pair_dst]
        return nx.DiGraph(zip(topology.pair_src[inner].tolist(), topology.pair_dst[inner].tolist(), strict=True))

    def with_others(self, src: int, dst: int, own: Route) -> tuple[Route, ...]:
        """`own`, then others."""
        if self._most == 1:
            return (own,)
        import networkx as nx

        topology, found = self._topology, [own]
        ends = (topology.pair_src == src) | (topology.pair_dst == dst)
        graph = self._graph.copy()
        graph.add_edges_from(
            (a, b)
            for a, b in zip(topology.pair_src[ends].tolist(), topology.pair_dst[ends].tolist(), strict=True)
            if all(node in (src, dst) or topology.kind[node] == NodeKind.SWITCH for node in (a, b))
        )
        for nodes in islice(nx.shortest_simple_paths(graph, src, dst), self._most + 1):
            pairs = tuple(topology.pair_index(np.array(nodes[:-1]), np.array(nodes[1:])).tolist())
            if len(pairs) > len(own) + MAX_LONGER or len(found) == self._most:
                break
            if pairs != own:
                found.append(pairs)
        return tuple(found)
