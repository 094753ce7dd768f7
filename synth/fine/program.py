"""Programs: transfers with their cells and routes, in stages. A stage reads first and then writes."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from certree.models.network.routing import DIRECT
from certree.models.network.topology import Int32, Topology
from certree.models.schedule.collective import Collective
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import NO_ROOT

Route = tuple[int, ...]
_Key = TypeVar("_Key", bound=tuple[Any, ...])
COLUMNS = ("chunk", "op", "src", "dst", "src_buffer", "dst_buffer", "reads", "writes", "block", "family", "part")


@dataclass(frozen=True, eq=False)
class Program:
    """Transfers, one row each, without times.

    `chunk`, `op`, `src`, `dst`, `src_buffer`, `dst_buffer`, `chunk_root`, `chunk_target` as in `Schedule`. A row reads its source
    in stage `reads`, before anything is written in that stage, and its destination changes at the end of stage `writes`. `block`:
    one number for rows that do the same at different nodes, and so can be moved together; `family`: one for similar ones of one
    `part` of the message. `routes`: the numbers of the links that each row passes; a local row has none. `in_order`: operands that
    are added to a cell between two reads land in the order of rows, not in any order.
    """

    topology: Topology
    collective: Collective
    chunk_root: Int32
    chunk: Int32
    op: NDArray[np.int8]
    src: Int32
    dst: Int32
    src_buffer: Int32
    dst_buffer: Int32
    reads: Int32
    writes: Int32
    block: Int32
    family: Int32
    part: Int32
    routes: tuple[Route, ...]
    chunk_target: Int32 | None = None
    in_order: bool = False

    @property
    def rows(self) -> int:
        """Number of transfers."""
        return len(self.chunk)

    @property
    def buffers(self) -> int:
        """The number of buffers of each node and chunk."""
        return 1 + int(max(self.src_buffer.max(initial=0), self.dst_buffer.max(initial=0)))

    def cut(self, pieces: int) -> "Program":
        """The program with each message in `pieces` consecutive pieces: chunk c becomes chunks c·pieces and following."""
        columns: dict[str, Any] = {name: np.repeat(getattr(self, name), pieces) for name in COLUMNS}
        number = np.tile(np.arange(pieces, dtype=np.int32), self.rows)
        for name in ("chunk", "block", "family", "part"):
            columns[name] = columns[name] * np.int32(pieces) + number
        root = np.repeat(self.chunk_root, pieces)
        target = None if self.chunk_target is None else np.repeat(self.chunk_target, pieces)
        routes = tuple(route for route in self.routes for _ in range(pieces))
        return replace(self, chunk_root=root, chunk_target=target, **columns, routes=routes)

    def cells(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The numbers of the cells that each row reads and that it writes."""
        nodes, buffers = len(self.topology.kind), self.buffers
        first, second = (
            (self.chunk * np.int64(nodes) + node) * buffers + buffer
            for node, buffer in ((self.src, self.src_buffer), (self.dst, self.dst_buffer))
        )
        return first, second


class Stages:
    """Rows of a program, added block by block; the columns of a block are broadcast against each other. `kinds(chunk, src)`: a
    number for each row; rows that are added together but have different numbers are in different blocks. `part`: the part of the
    message of the rows that are added; None: each chunk is one."""

    def __init__(self, kinds: Callable[[Any, Any], Any] | None = None) -> None:
        self._blocks: list[tuple[NDArray[Any], ...]] = []
        self._kinds, self._next = kinds, 0
        self.stage = 0
        self.part: int | None = None

    def add(
        self,
        chunk: Any,
        op: Any,
        src: Any,
        dst: Any,
        src_buffer: Any = 0,
        dst_buffer: Any = 0,
        *,
        stage: Any = None,
        via: Any = None,
    ) -> None:
        """Add a block, in the current stage unless another one is given; `via`: nodes that routes pass first where that adds no
        hop."""
        stage = self.stage if stage is None else stage
        number: Any = self._next
        if self._kinds is not None:
            kind = self._kinds(chunk, src)
            number = np.unique(kind, return_inverse=True)[1].reshape(np.shape(kind)) + self._next
        self._next = int(np.max(number, initial=self._next)) + 1
        part = chunk if self.part is None else self.part
        first = dst if via is None else via
        columns = (chunk, op, src, dst, src_buffer, dst_buffer, stage, stage, number, len(self._blocks), part, first)
        shape = np.broadcast(*columns).shape
        self._blocks.append(tuple(np.full(shape, column).ravel() for column in columns))

    def program(self, topology: Topology, collective: Collective, chunk_root: Any, routes: Any) -> Program:
        """The program of all blocks; `routes(src, dst)` gives the links of each row between two nodes."""
        columns: dict[str, Any] = {
            name: np.concatenate(parts).astype(np.int8 if name == "op" else np.int32)
            for name, parts in zip((*COLUMNS, "via"), zip(*self._blocks, strict=True), strict=True)
        }
        src, via, dst = columns["src"], columns.pop("via"), columns["dst"]
        moving, turning = np.flatnonzero(src != dst), np.flatnonzero(via != dst)
        found: list[Route] = [()] * len(src)
        for row, route in zip(moving.tolist(), routes(src[moving], via[moving]), strict=True):
            found[row] = route
        ahead, straight = routes(via[turning], dst[turning]), routes(src[turning], dst[turning])
        for row, rest, route in zip(turning.tolist(), ahead, straight, strict=True):
            found[row] = route if len(route) < len(found[row] + rest) else found[row] + rest
        root = chunk_root if collective.is_rooted else np.full(len(chunk_root), NO_ROOT)
        return Program(topology, collective, np.asarray(root, np.int32), **columns, routes=tuple(found))


def program_of(schedule: Schedule) -> Program:
    """All iterations of a schedule as one, in the order in which it reads and writes. O(rows · repeats)."""
    copies, rows = schedule.repeats, schedule.transfers
    number = np.repeat(np.arange(copies, dtype=np.int32), rows)
    step = np.tile(schedule.step, copies) + number * np.int32(schedule.period or 0)
    nothing = np.zeros(rows, np.int32)
    buffers = (nothing if column is None else column for column in (schedule.src_buffer, schedule.dst_buffer))
    src_buffer, dst_buffer = (np.tile(column, copies) for column in buffers)
    src, dst = np.tile(schedule.src, copies), np.tile(schedule.dst, copies)
    chunk = (np.tile(schedule.chunk, copies) + number * np.int32(schedule.chunks)).astype(np.int32)
    together = np.unique(step, return_inverse=True)[1].astype(np.int32)
    return Program(
        schedule.topology,
        schedule.collective,
        np.tile(schedule.chunk_root, copies),
        chunk,
        np.tile(schedule.op, copies),
        src,
        dst,
        src_buffer,
        dst_buffer,
        step,
        (step + np.int32(schedule.delay - 1)).astype(np.int32),
        together,
        together,
        chunk,
        _routes_of(schedule) * copies,
        None if schedule.chunk_target is None else np.tile(schedule.chunk_target, copies),
    )


def _routes_of(schedule: Schedule) -> tuple[Route, ...]:
    """The links of each row; for a row between neighbours without a route, the first link that joins them."""
    links = first_links(schedule.topology, schedule.src, schedule.dst)
    route = schedule.route.tolist()
    return tuple(
        schedule.routes[at] if at != DIRECT else (() if src == dst else (link,))
        for at, src, dst, link in zip(route, schedule.src.tolist(), schedule.dst.tolist(), links, strict=True)
    )


def first_links(topology: Topology, src: NDArray[Any], dst: NDArray[Any]) -> list[int]:
    """The lowest number of a link between each two nodes; -1 where none joins them. O(links + rows log links)."""
    first = np.full(len(topology.pair_src), len(topology.src), np.int64)
    np.minimum.at(first, topology.pair_of_link, np.arange(len(topology.src)))
    pair = topology.pair_index(src, dst)
    return list(map(int, np.where(pair < 0, -1, first[np.maximum(pair, 0)])))


def parallel_links(topology: Topology) -> list[Sequence[int]]:
    """For each link all links between the same two nodes in its direction, including itself. O(links)."""
    members: dict[int, list[int]] = {}
    for link, pair in enumerate(topology.pair_of_link.tolist()):
        members.setdefault(pair, []).append(link)
    return [members[pair] for pair in topology.pair_of_link.tolist()]


def distinct(routes: Iterable[_Key]) -> dict[_Key, int]:
    """A number for each distinct key: a route, or a route with further fields."""
    return {route: number for number, route in enumerate(dict.fromkeys(routes))}
