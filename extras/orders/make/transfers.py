"""Transfers of placings: each operand is sent into the cell where it is added, once that cell has what comes before it.

A sum with an operand that is made at its node is made in the buffer of that operand; one whose operands both come from elsewhere,
in an empty scratch buffer, into which the operand that is ready first is copied; or in the data buffer, where one of the operands
has the contribution that stood there. So no two operands come to a cell together.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from certree.extras.orders.make.columns import Column, in_data
from certree.extras.orders.make.turns import turned
from certree.models.network.routing import DIRECT
from certree.models.network.topology import Topology
from certree.models.schedule.collective import Collective
from certree.models.schedule.schedule_columns import Op
from certree.synth.packing.trees import Transfers, TreeFamily
from certree.verify.order.expressions import Expression

_LOCAL = 1  # moves within a node in a slot


@dataclass(frozen=True)
class _Cell:
    """A buffer of a node, and the rows that have to land before it has its value."""

    node: int
    buffer: int
    ready: tuple[int, ...] = ()


class PlacedChunk:
    """The rows of one placing: (op, source node and buffer, destination node and buffer, links); and what has to land before each,
    in the cell that it reads and in that to which it goes."""

    def __init__(self, topology: Topology, expression: Expression, column: Column, *, gathers: bool) -> None:
        self._topology = topology
        self.rows: list[tuple[int, int, int, int, int, tuple[int, ...]]] = []
        self.ready: list[tuple[tuple[int, ...], tuple[int, ...]]] = []
        self._used: dict[int, int] = {}
        count, routes = len(expression.ranks), {move.value: move.links for move in column.moves}
        is_data, has = in_data(expression, column.site), [{node} for node in column.site[:count]]
        held, depth = [_Cell(node, 0) for node in column.site[:count]], [0] * count
        for vertex, parts in enumerate(expression.parts, count):
            node = column.site[vertex]
            first, second = sorted(
                parts, key=lambda part: (part in routes, held[part].buffer if part not in routes else depth[part])
            )
            if first in routes and is_data[vertex] and node not in has[first]:
                first, second = second, first
            cell = held[first]
            if first in routes:
                empty = _Cell(node, 0) if is_data[vertex] else self._scratch(node)
                cell = replace(empty, ready=(self._send(Op.COPY, held[first], routes[first], empty),))
            held.append(replace(cell, ready=(self._send(Op.REDUCE, held[second], routes.get(second, ()), cell),)))
            has.append(has[first] | has[second])
            depth.append(1 + max(depth[first] + (first in routes), depth[second]))
        self._spread(held[-1], column, gathers=gathers)

    def _spread(self, result: _Cell, column: Column, *, gathers: bool) -> None:
        """Bring the result into the data buffers of its root, and of all where it is due."""
        if result.buffer and (gathers or not column.out):
            self._send(Op.COPY, result, (), _Cell(result.node, 0))
        have = {result.node: result}
        for move in column.out:
            start, end = (int(self._topology.src[move.links[0]]), int(self._topology.dst[move.links[-1]]))
            have[end] = _Cell(end, 0, (self._send(Op.COPY, have[start], move.links, _Cell(end, 0)),))

    def _send(self, op: Op, start: _Cell, links: Sequence[int], end: _Cell) -> int:
        """The last of the rows that bring a value along links, by scratch buffers of the endpoints between; `end.ready` lands
        before."""
        legs = _legs(self._topology, links)
        for part in legs[:-1]:
            stop = self._scratch(int(self._topology.dst[part[-1]]))
            self._row(Op.COPY, start, stop, part)
            start = replace(stop, ready=(len(self.rows) - 1,))
        self._row(op, start, end, legs[-1] if legs else ())
        return len(self.rows) - 1

    def _row(self, op: Op, start: _Cell, end: _Cell, links: tuple[int, ...]) -> None:
        self.rows.append((int(op), start.node, start.buffer, end.node, end.buffer, links))
        self.ready.append((start.ready, end.ready))

    def _scratch(self, node: int) -> _Cell:
        self._used[node] = self._used.get(node, 0) + 1
        return _Cell(node, self._used[node])


def _legs(topology: Topology, links: Sequence[int]) -> list[tuple[int, ...]]:
    """Links in parts that end at endpoints, where a value is stored and sent on."""
    legs, leg = list[tuple[int, ...]](), list[int]()
    for link in links:
        leg.append(link)
        if topology.rank[topology.dst[link]] >= 0:
            legs.append(tuple(leg))
            leg = []
    return legs


@dataclass(frozen=True, eq=False)
class Placed(TreeFamily):
    """Chunks that are added and spread by placings of one order, one each; `up` and `down` are not used."""

    expression: Expression | None = None
    placings: tuple[Column, ...] = ()
    chosen: tuple[tuple[int, tuple[int, ...]], ...] = ()  # by transfer its turn and its links, where `turns` are known

    @cached_property
    def transfers(self) -> Transfers:
        """All transfers and their dependencies. O(K · N · hops)."""
        assert self.expression is not None
        known: dict[Column, PlacedChunk] = {}
        rows = list[tuple[int, int, int, int, int, tuple[int, ...]]]()
        chunk, before, after = list[int](), list[int](), list[int]()
        for number, column in enumerate(self.placings):
            if column not in known:
                known[column] = PlacedChunk(self.topology, self.expression, column, gathers=self.collective.gathers)
            made, first = known[column], len(rows)
            rows += made.rows
            chunk += [number] * len(made.rows)
            for row, (read, there) in enumerate(made.ready, first):
                waits = {*read, *there}
                before += [first + other for other in waits]
                after += [row] * len(waits)
        op, src, src_buffer, dst, dst_buffer, links = zip(*rows, strict=True)
        turn = [one for one, _ in self.chosen]
        links = tuple(route for _, route in self.chosen) if self.chosen else links
        number_of = {route: number for number, route in enumerate(self.routes)}
        pair = self.topology.pair_index(np.array(src), np.array(dst)).tolist()
        local = len(self.topology.pair_capacity) + len(self.topology.src)
        channels = [
            [len(self.topology.pair_capacity) + link for link in route]
            if len(route) > 1
            else [pair[row]]
            if route
            else [local + src[row]]
            for row, route in enumerate(links)
        ]
        offset = np.cumsum([0, *map(len, channels)])
        columns = {
            name: np.array(values, np.int32)
            for name, values in {"src": src, "dst": dst, "chunk": chunk, "before": before, "after": after}.items()
        }
        buffers = {"src_buffer": np.array(src_buffer, np.int32), "dst_buffer": np.array(dst_buffer, np.int32)}
        return Transfers(
            **columns,
            op=np.array(op, np.int8),
            route=np.array([number_of.get(route, DIRECT) for route in links], np.int32),
            channel_offset=offset.astype(np.int32),
            channel=np.array([one for entry in channels for one in entry], np.int32),
            turn=np.array(turn, np.int32),
            buffers=buffers if max(map(int, (max(src_buffer), max(dst_buffer)))) else {},
        )

    @cached_property
    def period(self) -> int:
        """The shortest period in which links can carry their transfers, as far as turns are known."""
        uses = np.bincount(self.transfers.channel, minlength=len(self.channel_capacity))
        return self.turns or max(1, int((-(-uses // self.channel_capacity)).max()))

    @cached_property
    def channel_capacity(self) -> NDArray[np.int64]:
        """The capacity of each channel: of joined pairs, single links, and moves within nodes."""
        links = self.topology.capacity.astype(np.int64)
        return np.concatenate((self.topology.pair_capacity, links, np.full(len(self.topology.kind), _LOCAL)))

    @cached_property
    def chain(self) -> int:
        """The number of transfers on the longest chain of dependencies. O(K · N · hops)."""
        rows, length = self.transfers, np.ones(len(self.transfers.chunk), np.int64)
        while True:
            longer = length.copy()
            np.maximum.at(longer, rows.after, length[rows.before] + 1)
            if np.array_equal(longer, length):
                return int(length.max())
            length = longer


def placed(topology: Topology, collective: Collective, expression: Expression, placings: Sequence[Column]) -> Placed:
    """The family of these placings, one chunk each."""
    moves = dict.fromkeys(move.links for column in placings for move in (*column.moves, *column.out))
    routes = dict.fromkeys(leg for links in moves for leg in _legs(topology, links))
    none = np.full((len(placings), 0), -1, np.int32)
    family = Placed(
        topology,
        collective,
        root=np.array([column.root for column in placings], np.int32),
        up=none,
        down=none,
        origin={},
        routes=tuple(route for route in routes if len(route) > 1),
        expression=expression,
        placings=tuple(placings),
    )
    return _in_turns(family) if family.routes else family


def _in_turns(family: Placed) -> Placed:
    """The family with a turn and a route for each transfer; itself where none are known."""
    rows = family.transfers
    ends = list(zip(rows.src.tolist(), rows.dst.tolist(), strict=True))
    moving = [row for row, (start, end) in enumerate(ends) if start != end]
    found = turned(family.topology, [ends[row] for row in moving])
    if found is None:
        return family
    period, chosen = found
    moved = np.bincount([start for start, end in ends if start == end], minlength=1)
    period, next_turn = max(period, int(moved.max(initial=0))), np.zeros(len(family.topology.kind), np.int64)
    turns: list[tuple[int, tuple[int, ...]]] = [(0, ())] * len(ends)
    for row, one in zip(moving, chosen, strict=True):
        turns[row] = one
    for row, (start, end) in enumerate(ends):
        if start == end:
            turns[row] = (int(next_turn[start]), ())
            next_turn[start] += 1
    return replace(
        family, chosen=tuple(turns), turns=period, routes=tuple(dict.fromkeys(route for _, route in chosen if len(route) > 1))
    )
