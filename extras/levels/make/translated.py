"""Sums along the rings of a torus, of which only what is not a translation of something else is written and booked.

Translations of a torus take the shares of a piece of the message to each other. So the transfers of one share are written, those
that translations along the other dimensions take to each other once, and booked on one node with its links, which stand for all.
Where neighbours swap in pairs, only translations by even distances do so, and 2 nodes along a ring stand for all.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.extras.levels.make.ring_pieces import chunks_of_a_piece, translated_by
from certree.models.common.errors import UnsupportedError
from certree.models.fine.list_jobs import Booked, Costs, Rows
from certree.models.fine.list_scheduler import ListScheduler
from certree.models.network.routing import DIRECT
from certree.models.network.topology import Topology
from certree.models.schedule.collective import Collective
from certree.models.schedule.schedule_columns import NO_ROOT, Op
from certree.synth.fine.booking import without_unread_copies
from certree.synth.fine.levels import Levels, Piece
from certree.synth.fine.order import order_of
from certree.synth.fine.program import Route, Stages, distinct
from certree.synth.fine.search import Trial
from certree.synth.ranks.layout import Layout, layout_of
from certree.synth.ranks.staged import every_place

Int64 = NDArray[np.int64]
NEEDS = "ring-levels needs a torus with rings of 3 nodes or more, whose links look the same from every node"


class Rings:
    """The rings along all dimensions of a torus, whose places are `layout`; UnsupportedError for any other network, for rings of
    fewer than 3 nodes, and where links of one direction differ. O(links)."""

    def __init__(self, topology: Topology) -> None:
        layout = _torus_of(topology)
        self.topology, self.layout = topology, layout
        self.sizes = np.array(layout.sizes, np.int64)
        self.strides = np.cumprod((1, *layout.sizes[:-1]))
        self.digits: Int64 = every_place(layout.sizes)
        self.place = np.empty(len(topology.kind), np.int64)
        self.place[layout.nodes] = np.arange(len(layout.nodes))
        first = np.unique(topology.pair_of_link, return_index=True)[1]
        #: link[p, d, b]: from place p to the next one along dimension d, ahead (b = 0) or back (1)
        self.link = np.empty((len(layout.nodes), len(layout.sizes), 2), np.int64)
        every = np.arange(len(layout.nodes))
        for dimension in range(len(layout.sizes)):
            for back, step in enumerate((1, -1)):
                to = layout.nodes[self.moved(every, dimension, step)]
                pair = topology.pair_index(layout.nodes, to)
                if (pair < 0).any():
                    raise UnsupportedError(f"{NEEDS}; on {topology.name} some neighbours are not joined")
                self.link[:, dimension, back] = first[pair]
        if self.link.size != len(topology.src):
            raise UnsupportedError(f"{NEEDS}; {topology.name} has other links, too")
        ports = np.stack((topology.capacity, topology.latency))[:, self.link]
        if (ports != ports[:, :1]).any():
            raise UnsupportedError(f"{NEEDS}; on {topology.name} links of one direction differ")

    def moved(self, place: Int64, dimension: int, shift: int | Int64) -> Int64:
        """Places that far along a dimension."""
        digit, size = self.digits[place, dimension], self.sizes[dimension]
        return np.asarray(place + ((digit + shift) % size - digit) * self.strides[dimension])

    def routes(self, src: NDArray[Any], dst: NDArray[Any]) -> list[Route]:
        """The links from each node to another one on a ring, the shorter way round. O(hops)."""
        if not len(src):
            return []
        tail, head = self.place[src], self.place[dst]
        away = (self.digits[head] - self.digits[tail]) % self.sizes
        dimension = np.argmax(away > 0, axis=1)
        ahead = away[np.arange(len(src)), dimension]
        size = self.sizes[dimension]
        back = (2 * ahead > size).astype(np.int64)
        hops = np.where(back > 0, size - ahead, ahead)
        row = np.repeat(np.arange(len(src)), hops)
        begin = np.concatenate(([0], np.cumsum(hops)))
        step = np.arange(len(row)) - begin[row]
        digit = self.digits[tail, dimension]
        moved = (digit[row] + step * (1 - 2 * back[row])) % size[row]
        at = tail[row] + (moved - digit[row]) * self.strides[dimension[row]]
        links = self.link[at, dimension[row], back[row]].tolist()
        return [tuple(links[low:high]) for low, high in pairwise(begin.tolist())]


def _torus_of(topology: Topology) -> Layout:
    """The grid of a direct network with coordinates."""
    if not topology.is_direct or not topology.forwards.all():
        raise UnsupportedError(
            f"{NEEDS}; {topology.name} has {'endpoints that do not forward' if topology.is_direct else 'switches'}"
        )
    layout = layout_of(topology, None)
    if min(layout.sizes, default=0) < 3:
        raise UnsupportedError(f"{NEEDS}; {topology.name} has smaller ones")
    return layout


@dataclass(frozen=True, eq=False)
class _Shares(Levels):
    """Levels of which rows are written for places whose digits are below `limit`."""

    limit: tuple[int, ...] = ()

    def add_first(self, stages: Stages, piece: Piece, chunk: Int64, share: Int64) -> None:
        """The transfers of some chunks of a piece, from or to such places."""
        self._add(stages, piece, chunk, share)

    def _holders(self, share: Int64, fixed: list[int]) -> tuple[Int64, Int64]:
        index, place = super()._holders(share, fixed)
        here = (self._places[place] < self.limit).all(axis=1)
        return index[here], place[here]


class Translated:
    """The transfers that stand for all of some pieces of a message: `trial` books them. `program`: these transfers.
    O(rows + hops) in Python."""

    def __init__(self, rings: Rings, collective: Collective, pieces: Sequence[Piece]) -> None:
        self.rings, self.pieces, sizes = rings, pieces, rings.layout.sizes
        #: by dimension (`translated_by`)
        self.apart: Int64 = np.array([translated_by(size, pieces) for size in sizes])
        stages, self.count = Stages(), chunks_of_a_piece(sizes, pieces)
        for number, piece in enumerate(pieces):
            share, stages.part, along = self._share(piece), number, piece.order[: piece.scattered]
            limit = tuple(size if one in along else int(self.apart[one]) for one, size in enumerate(sizes))
            first = np.flatnonzero((share < self.apart).all(axis=1))
            levels = _Shares(sizes, rings.layout.nodes, (piece,), turns=True, limit=limit)
            levels.add_first(stages, piece, first + number * self.count, share[first])
        roots = np.full(self.chunks, NO_ROOT, np.int32)
        self.program = stages.program(rings.topology, collective, roots, rings.routes)

    @property
    def chunks(self) -> int:
        """The number of chunks of the whole message."""
        return self.count * len(self.pieces)

    @property
    def transfers(self) -> int:
        """Transfers for which those of the program stand, local ones included."""
        return self.program.rows * len(self.rings.digits) // int(np.prod(self.apart))

    def _share(self, piece: Piece) -> Int64:
        """The digits of the share of each chunk of a piece; 0 along rings that are not scattered."""
        share, number = np.zeros((self.count, len(self.apart)), np.int64), np.arange(self.count)
        for dimension in piece.order[: piece.scattered]:
            share[:, dimension] = number % self.rings.sizes[dimension]
            number //= self.rings.sizes[dimension]
        return share

    def _cells(self) -> tuple[Int64, Int64]:
        """The cells that rows read and write, the same one for all that translations along exchanged rings take to each other."""
        rings, program = self.rings, self.program
        found: list[Int64] = []
        piece = program.chunk // self.count
        modulus = np.tile(rings.sizes, (len(self.pieces), 1))
        for number, one in enumerate(self.pieces):
            along = list(one.order[one.scattered :])
            modulus[number, along] = self.apart[along]
        for node, buffer in ((program.src, program.src_buffer), (program.dst, program.dst_buffer)):
            place = (rings.digits[rings.place[node]] % modulus[piece]) @ rings.strides
            cell = (program.chunk.astype(np.int64) * len(rings.digits) + place) * program.buffers + buffer
            found.append(cell.astype(np.int64))
        return found[0], found[1]

    def __str__(self) -> str:
        """Such as "4 piece(s) over 32x32, first rings 0 1 0 1, 1 in shares in runs of 12, groups of 4"."""
        first, piece = " ".join(str(one.order[0]) for one in self.pieces), self.pieces[0]
        words = f"{len(self.pieces)} piece(s) over {'x'.join(map(str, self.rings.layout.sizes))}, first rings {first}"
        words += f", {piece.scattered} in shares" + f" in runs of {piece.run}" * bool(piece.scattered)
        return words + f", groups of {2 * piece.swaps}" * bool(piece.swaps)

    def trial(self, costs: Costs) -> Trial:
        """The rows that are booked, with the costs of their links; errors as `ListScheduler.run`."""
        rings, program, apart = self.rings, self.program, self.apart
        kinds, classes = int(np.prod(apart)), np.cumprod((1, *apart[:-1]))
        of_place = (rings.digits % apart) @ classes
        of_node = of_place[rings.place]
        of_link = np.zeros(len(rings.topology.src), np.int64)
        ports = rings.link.shape[1] * 2
        of_link[rings.link.reshape(-1, ports)] = of_place[:, None] * ports + np.arange(ports)
        stands = np.unique(of_place, return_index=True)[1]
        links = rings.link[stands].reshape(-1)
        local = program.src == program.dst
        found = Rows(
            src=np.where(local, of_node[program.src], kinds),  # no message is local then
            dst=of_node[program.dst],
            adds=(program.op == Op.REDUCE).astype(np.uint8),
            routes=[tuple(of_link[list(route)].tolist()) for route in program.routes],
            lanes=rings.topology.capacity[links].astype(np.int32),
            parallel=[(number,) for number in range(len(links))],
            nodes=kinds + 1,
            links=np.arange(len(links)),
        )
        order, costs = order_of(program, self._cells()), replace(costs, hop=[costs.hop[link] for link in links.tolist()])
        few = ListScheduler(found, order)
        return Trial(program, costs, order, few, few.run(costs), few, np.arange(program.rows, dtype=np.int32))

    def written(self, trial: Trial, booked: Booked) -> dict[str, Any]:
        """All transfers as columns of a schedule, with their `routes` and its `buffers`. O(transfers)."""
        program, kept = without_unread_copies(trial.program, trial.order, booked)
        rings, count = self.rings, self.count
        by = rings.digits[(rings.digits % self.apart == 0).all(axis=1)]  # how far each translation goes

        def images(node: Any) -> Int64:
            """Shape (rows, translations)."""
            moved = (rings.digits[rings.place[node]][:, None, :] + by[None]) % rings.sizes
            return np.asarray(moved @ rings.strides)

        chunk = np.empty((program.rows, len(by)), np.int64)
        for number, piece in enumerate(self.pieces):
            here, along = np.flatnonzero(program.chunk // count == number), list(piece.order[: piece.scattered])
            own, sizes = program.chunk[here] % count, rings.sizes[along]
            moved = (self._share(piece)[own][:, None, along] + by[None][:, :, along]) % sizes
            others = own - own % prod(sizes.tolist()) + number * count
            chunk[here] = moved @ np.cumprod((1, *sizes[:-1]))[: len(along)] + others[:, None]
        src, dst = images(program.src), images(program.dst)
        route, routes = self._routes(program.routes, src)
        nodes = rings.layout.nodes
        columns: dict[str, Any] = {
            "chunk": chunk,
            "op": np.broadcast_to(program.op[:, None], src.shape),
            "step": np.broadcast_to(booked.fire[kept][:, None], src.shape),
            "src": nodes[src],
            "dst": nodes[dst],
            "route": route,
        }
        if program.buffers > 1:
            columns |= {name: np.broadcast_to(getattr(program, name)[:, None], src.shape) for name in ("src_buffer", "dst_buffer")}
        types = {name: np.int8 if name == "op" else np.int32 for name in columns}
        return {
            "columns": {name: np.ascontiguousarray(column, types[name]).ravel() for name, column in columns.items()},
            "routes": routes,
            "buffers": program.buffers,
        }

    def _routes(self, routes: Sequence[Route], src: Int64) -> tuple[Int64, tuple[Route, ...]]:
        """The number of the route of each row from each place, and the routes. O(routes · hops)."""
        rings, ports = self.rings, self.rings.link.shape[1] * 2
        port = np.empty(len(rings.topology.src), np.int64)
        port[rings.link.reshape(-1, ports)] = np.arange(ports)
        found = distinct((int(port[route[0]]), len(route)) for route in routes if len(route) > 1)
        number = np.array([found[int(port[route[0]]), len(route)] if len(route) > 1 else DIRECT for route in routes])
        every, routes = np.arange(len(rings.digits)), []
        numbers = np.arange(len(port)).astype(object)  # of links: one integer of Python for each
        for one, hops in found:
            dimension, back = divmod(one, 2)
            at = [rings.moved(every, dimension, hop * (1 - 2 * back)) for hop in range(hops)]
            routes += list(map(tuple, numbers[np.stack([rings.link[place, dimension, back] for place in at], axis=1)].tolist()))
        return np.where(number[:, None] == DIRECT, DIRECT, number[:, None] * len(every) + src), tuple(routes)
