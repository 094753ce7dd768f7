"""Families of trees: the reduces and copies of every chunk, without slots."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.models.common.columns import flat, ranges
from certree.models.common.errors import UnsupportedError
from certree.models.forms.lowering_chain import takes
from certree.models.network.routing import DIRECT
from certree.models.network.topology import Int32, Topology
from certree.models.schedule.collective import Collective
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import NO_ROOT, Op

_TREES = takes("trees", "virtual_channel")

NONE = DIRECT  # -1


@dataclass(frozen=True, eq=False)
class Transfers:
    """The transfers of a family and their dependencies.

    Columns, one entry per transfer: `chunk`, `op`, `src`, `dst`, `route` (as in a `Schedule`). Transfer i occupies
    channel[channel_offset[i] : channel_offset[i + 1]] for a slot, numbered as in `TreeFamily.channel_capacity`. `before`, `after`:
    row numbers; transfer after[i] needs the data of transfer before[i]. `turn`: as in the family; empty where it has none.
    `buffers`: `src_buffer` and `dst_buffer`, where there are several.
    """

    chunk: Int32
    op: NDArray[np.int8]
    src: Int32
    dst: Int32
    route: Int32
    channel_offset: Int32
    channel: Int32
    before: Int32
    after: Int32
    turn: Int32
    buffers: Mapping[str, Int32] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class TreeFamily:
    """K chunks, each with an in-tree for its reduces and an out-tree for its copies, from and to the same root.

    `up[k, node]`: where the node sends its sum of chunk k; `down[k, node]`: where it gets the finished chunk from; NONE at the
    root, at absent nodes, and everywhere in a phase that the collective lacks. Shapes (K, node ids). `origin`: how it was made.
    `up_route`, `down_route`: the route of each of these edges (DIRECT, or an index into `routes`); None where all are direct.
    `up_turn`, `down_turn`: slots modulo `turns` in which no link is overfilled if each edge keeps to its own; None where none are
    known, and then `turns` is 0.
    """

    topology: Topology
    collective: Collective
    root: Int32
    up: Int32
    down: Int32
    origin: Mapping[str, Any]
    up_route: Int32 | None = None
    down_route: Int32 | None = None
    routes: tuple[tuple[int, ...], ...] = ()
    up_turn: Int32 | None = None
    down_turn: Int32 | None = None
    turns: int = 0

    @property
    def chunks(self) -> int:
        """K."""
        return len(self.root)

    @cached_property
    def transfers(self) -> Transfers:
        """All transfers and their dependencies. O(K · N · hops) time and memory, and the square of the root's degree a chunk."""
        reduce_row, reduces = _numbered(self.up, 0)
        copy_row, copies = _numbered(self.down, len(reduces[0]))
        src = np.concatenate((reduces[1], self.down[copies]))
        dst = np.concatenate((self.up[reduces], copies[1]))
        before, after = [], []
        onward = reduce_row[reduces[0], self.up[reduces]]
        before.append(np.flatnonzero(onward != NONE))
        after.append(onward[onward != NONE])
        source = copy_row[copies[0], self.down[copies]]
        before.append(source[source != NONE])
        after.append(len(reduces[0]) + np.flatnonzero(source != NONE))
        into_root = np.flatnonzero(onward == NONE)  # the root sends a copy once all reduces into it are there
        from_root = len(reduces[0]) + np.flatnonzero(source == NONE)
        ends = np.searchsorted(copies[0][from_root - len(reduces[0])], np.arange(self.chunks + 1))
        chunk = reduces[0][into_root]
        row, place = ranges(ends[chunk], np.diff(ends)[chunk])
        before.append(into_root[row])
        after.append(from_root[place])
        route = np.concatenate((_at(self.up_route, reduces), _at(self.down_route, copies)))
        channel_offset, channel = self._channels(src, dst, route)
        return Transfers(
            chunk=np.concatenate((reduces[0], copies[0])).astype(np.int32),
            op=np.repeat(np.array([Op.REDUCE, Op.COPY], np.int8), [len(reduces[0]), len(copies[0])]),
            src=src.astype(np.int32),
            dst=dst.astype(np.int32),
            route=route,
            channel_offset=channel_offset,
            channel=channel,
            before=np.concatenate(before).astype(np.int32),
            after=np.concatenate(after).astype(np.int32),
            turn=np.concatenate((_at(self.up_turn, reduces), _at(self.down_turn, copies))) if self.turns else np.zeros(0, np.int32),
        )

    @cached_property
    def channel_capacity(self) -> NDArray[np.int64]:
        """Capacities of resources of transfers: the joined pairs for direct ones, then the single links for routes."""
        pairs = self.topology.pair_capacity
        return np.concatenate((pairs, self.topology.capacity.astype(np.int64))) if self.routes else pairs

    def _channels(self, src: NDArray[Any], dst: NDArray[Any], route: Int32) -> tuple[Int32, Int32]:
        """(channel_offset, channel) of rows with these ends and routes."""
        pair = self.topology.pair_index(src, dst)
        if not self.routes:
            return np.arange(len(src) + 1, dtype=np.int32), pair.astype(np.int32)
        places, begin = flat(self.routes)
        count = np.diff(begin, append=len(places) + 1)[route]  # a last place that direct rows (route -1) fill with their pair
        offset = np.concatenate(([0], np.cumsum(count)))
        row, place = ranges(begin[route], count)
        link = len(self.topology.pair_capacity) + np.append(places, 0)[place]
        return offset.astype(np.int32), np.where(route[row] == DIRECT, pair[row], link).astype(np.int32)

    @cached_property
    def period(self) -> int:
        """The shortest period in which every link can carry all its transfers."""
        uses = np.bincount(self.transfers.channel, minlength=len(self.channel_capacity))
        return max(1, int((-(-uses // self.channel_capacity)).max()))

    @cached_property
    def reductions(self) -> int:
        """The most reduces that one node takes in one iteration."""
        rows = self.transfers.op == Op.REDUCE
        return int(np.bincount(self.transfers.dst[rows], minlength=1).max()) if rows.any() else 0

    @cached_property
    def chain(self) -> int:
        """The number of transfers on the longest chain of dependencies. O(K · N · height)."""
        return int((depths(self.up).max(axis=1) + depths(self.down).max(axis=1)).max())


def _numbered(parent: Int32, first: int) -> tuple[NDArray[np.int64], tuple[NDArray[Any], ...]]:
    """Row numbers of the edges node - parent (NONE where there is none), and the (chunk, node) of every row."""
    rows = np.nonzero(parent != NONE)
    numbers: NDArray[np.int64] = np.full(parent.shape, NONE, np.int64)
    numbers[rows] = first + np.arange(len(rows[0]))
    return numbers, rows


def _at(table: Int32 | None, rows: tuple[NDArray[Any], ...]) -> Int32:
    """The entries at these (chunk, node); NONE, which is DIRECT, without a table."""
    return np.full(len(rows[0]), NONE, np.int32) if table is None else table[rows]


def depths(parent: Int32) -> Int32:
    """Edges from every node to its root, by chunk and node id."""
    depth = np.zeros(parent.shape, np.int32)
    above = parent.copy()
    chunk = np.arange(len(parent))[:, None]
    while (alive := above != NONE).any():
        depth += alive
        above = np.where(alive, parent[chunk, above], NONE)
    return depth


def family_from_parents(topology: Topology, collective: Collective, parents: Int32, origin: Mapping[str, Any]) -> TreeFamily:
    """The family that reduces and copies along the same trees: `parents[k, node]`, NONE at the root and at absent nodes."""
    none = np.full_like(parents, NONE)
    at_root = (parents == NONE) & (topology.rank >= 0)
    return TreeFamily(
        topology,
        collective,
        root=at_root.argmax(axis=1).astype(np.int32),
        up=parents if collective.reduces else none,
        down=parents if collective.gathers else none,
        origin=origin,
    )


def with_even_sums(family: TreeFamily) -> TreeFamily:
    """The trees of an all-reduce with other roots, so that the node that adds most adds as few sums as can be.

    A node adds a sum for each edge of a tree but one, and one more for each tree of which it is the root. Of its possible roots a
    tree gets one near its centre. Edges that turn round take each other's route and turn. The family itself where reduces and
    copies take different edges, or trees branch in switches. O(K · N · (K + height)).
    """
    endpoints = family.topology.endpoints
    if not np.array_equal(family.up, family.down) or (np.delete(family.up, endpoints, axis=1) != NONE).any():
        return family
    edges = np.nonzero(family.up != NONE)
    sums = np.bincount(np.concatenate((edges[1], family.up[edges])), minlength=family.up.shape[1]) - family.chunks
    left = np.zeros_like(sums)  # by node the number of trees that it is to root
    for _ in range(family.chunks):
        node = endpoints[np.argmin((sums + left)[endpoints])]
        left[node] += 1
    far, roots = _eccentricities(family.up, endpoints), []
    for tree in range(family.chunks):
        able = np.flatnonzero(left > 0)
        roots.append(int(able[np.argmin(far[tree, able])]))
        left[roots[-1]] -= 1
    return _rooted_at(family, roots)


def _eccentricities(parent: Int32, endpoints: Int32) -> Int32:
    """Edges from every node to the node of its tree that is farthest from it, by chunk and node id."""
    end = depths(_turned(parent, np.full(len(parent), endpoints[0]))).argmax(axis=1)
    from_end = depths(_turned(parent, end))
    return np.maximum(from_end, depths(_turned(parent, from_end.argmax(axis=1))))


def _turned(parent: Int32, roots: NDArray[Any]) -> Int32:
    """The trees with other roots."""
    turned = parent.copy()
    for tree, root in enumerate(roots.tolist()):
        below, node = NONE, root
        while node != NONE:
            turned[tree, node], below, node = below, node, parent[tree, node]
    return turned


def _rooted_at(family: TreeFamily, roots: Sequence[int]) -> TreeFamily:
    """The family with these roots; its tables are turned with the edges."""
    parent = _turned(family.up, np.array(roots))
    child = np.nonzero((parent != family.up) & (parent != NONE))  # the upper ends of edges that have turned round
    before = (child[0], parent[child])  # their lower ends

    def turned(own: Int32 | None, other: Int32 | None) -> Int32 | None:
        if own is None or other is None:
            return own
        table = own.copy()
        table[child] = other[before]
        table[np.arange(len(roots)), roots] = NONE
        return table

    return replace(
        family,
        root=np.array(roots, np.int32),
        up=parent,
        down=parent,
        up_route=turned(family.up_route, family.down_route),
        down_route=turned(family.down_route, family.up_route),
        up_turn=turned(family.up_turn, family.down_turn),
        down_turn=turned(family.down_turn, family.up_turn),
    )


def family_of(schedule: Schedule) -> TreeFamily:
    """The trees that a valid schedule uses.

    UnsupportedError unless each node sends a chunk's sum once and receives the finished chunk once.
    """
    schedule = _TREES.lowered(schedule)
    shape = (schedule.chunks, len(schedule.topology.kind))
    up, down, up_route, down_route = (np.full(shape, NONE, np.int32) for _ in range(4))
    for op, table, route, own, other, what in (
        (Op.REDUCE, up, up_route, schedule.src, schedule.dst, "sends more than one REDUCE"),
        (Op.COPY, down, down_route, schedule.dst, schedule.src, "receives more than one COPY"),
    ):
        rows = schedule.op == op
        cell = schedule.chunk[rows].astype(np.int64) * shape[1] + own[rows]
        cells, counts = np.unique(cell, return_counts=True)
        if (counts > 1).any():
            chunk, node = divmod(int(cells[counts > 1][0]), shape[1])
            raise UnsupportedError(f"not a schedule of trees: node {node} {what} of chunk {chunk}")
        table[schedule.chunk[rows], own[rows]] = other[rows]
        route[schedule.chunk[rows], own[rows]] = schedule.route[rows]
    return TreeFamily(
        schedule.topology,
        schedule.collective,
        root=_common_roots(schedule, up, down),
        up=up,
        down=down,
        origin={"trees": schedule.provenance.get("method", "file")},
        up_route=up_route,
        down_route=down_route,
        routes=schedule.routes,
    )


def _common_roots(schedule: Schedule, up: Int32, down: Int32) -> Int32:
    """The root of every chunk: the one endpoint that passes no reduce on and gets no copy."""
    candidate = np.broadcast_to(schedule.topology.rank >= 0, up.shape).copy()
    if schedule.collective.reduces:
        candidate &= up == NONE
    if schedule.collective.gathers:
        candidate &= down == NONE
    wrong = np.flatnonzero(candidate.sum(axis=1) != 1)
    if len(wrong):
        raise UnsupportedError(f"not a schedule of trees: chunk {wrong[0]} has no single root for both phases")
    roots: Int32 = candidate.argmax(axis=1).astype(np.int32)
    moved = np.flatnonzero((schedule.chunk_root != NO_ROOT) & (schedule.chunk_root != roots))
    if len(moved):
        raise UnsupportedError(f"chunk {moved[0]} is due at node {schedule.chunk_root[moved[0]]}, not at its tree's root")
    return roots
