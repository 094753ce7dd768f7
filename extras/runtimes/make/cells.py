"""The chunk of a buffer in which each endpoint keeps each chunk of a schedule."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from certree.extras.runtimes.model.layout import Cell, Layout
from certree.extras.runtimes.model.program import Buffer
from certree.extras.runtimes.model.roles import Roles, members_of_ranks
from certree.models.common.errors import UnsupportedError
from certree.models.schedule.collective import CollectiveKind
from certree.models.schedule.schedule import Schedule

_TO_ALL = (CollectiveKind.ALL_REDUCE, CollectiveKind.BROADCAST, CollectiveKind.REDUCE)


@dataclass
class Cells:
    """Places of the data of a schedule. `layout` is that of its program; ranks are the endpoints in the order of their ids.

    `is_cut`: with a demand a chunk has as many places as the unit that divides all chunks; else it has one. UnsupportedError where
    endpoints have different numbers of chunks without a demand: buffers have blocks of one size.
    """

    schedule: Schedule
    is_cut: bool = True
    layout: Layout = field(init=False)
    scratch: list[int] = field(init=False)
    #: of each chunk its places
    sizes: list[int] = field(init=False)
    _index: list[int] = field(init=False)
    #: (input, output) of what an endpoint has and needs, and nobody sends to it
    kept: list[tuple[Cell, Cell]] = field(default_factory=list)
    _named: dict[tuple[int, int, int], Cell] = field(default_factory=dict)

    def __post_init__(self) -> None:
        schedule, kind = self.schedule, self.schedule.collective.kind
        self.rank = schedule.topology.rank
        self.scratch = [0] * len(schedule.topology.endpoints)
        granules = schedule.chunk_granules if self.is_cut else None
        self.sizes = [1] * schedule.chunks if granules is None else (granules // np.gcd.reduce(granules)).tolist()
        targets = schedule.chunk_root if schedule.chunk_target is None else schedule.chunk_target
        keys = list(zip(schedule.chunk_root.tolist(), targets.tolist(), strict=True))
        seen: defaultdict[tuple[int, int], int] = defaultdict(int)
        self._index = []
        for key, size in zip(keys, self.sizes, strict=True):
            self._index.append(seen[key])
            seen[key] += size
        self.layout = self._layout_of_demand(seen) if schedule.collective.demand is not None else self._layout(seen, kind)

    def _layout_of_demand(self, seen: Mapping[tuple[int, int], int]) -> Layout:
        """The layout of an alltoallv; `seen`: places by source and target."""
        ranks = range(len(self.scratch))
        nodes = self.schedule.topology.endpoints.tolist()
        blocks = tuple(tuple(seen.get((nodes[one], nodes[other]), 0) for other in ranks) for one in ranks)
        most = max([*map(sum, blocks), *(sum(row[rank] for row in blocks) for rank in ranks)])
        return Layout(CollectiveKind.ALL_TO_ALL, len(ranks), most, roles=Roles(blocks=blocks))

    def _layout(self, seen: Mapping[tuple[int, int], int], kind: CollectiveKind) -> Layout:
        """The layout of blocks of one size; `seen`: places by root and target."""
        collective, topology = self.schedule.collective, self.schedule.topology
        ranks = len(collective.members_of(topology))
        pairs = {
            CollectiveKind.ALL_TO_ALL: ranks * (ranks - 1),
            CollectiveKind.GATHER: ranks - 1,
            CollectiveKind.SCATTER: ranks - 1,
        }
        blocks = 1 if kind in _TO_ALL else pairs.get(kind, ranks)
        sizes = sorted(set(seen.values()))
        if len(seen) != blocks or len(sizes) != 1:
            raise UnsupportedError(
                f"{len(seen)} of {blocks} blocks have chunks, {sizes[0]} to {sizes[-1]} of them; a program has equally many in each"
            )
        whole = kind in (CollectiveKind.GATHER, CollectiveKind.SCATTER)
        chunks = sizes[0] * (1 if kind in _TO_ALL or whole else ranks)
        root = None if collective.root is None else int(self.rank[collective.root])
        return Layout(kind, len(topology.endpoints), chunks, root, Roles(members_of_ranks(collective, topology)))

    def source(self, rank: int, chunk: int) -> Cell | None:
        """The place of the contribution of a rank to a chunk in its input; None where it has none."""
        if rank not in self.layout.order:
            return None
        root = int(self.schedule.chunk_root[chunk])
        owner = int(self.rank[root]) if root >= 0 else -1
        kind, index, k = self.layout.kind, self._index[chunk], self.layout.block
        match kind:
            case CollectiveKind.ALL_REDUCE | CollectiveKind.REDUCE:
                return rank, Buffer.INPUT, index
            case CollectiveKind.REDUCE_SCATTER:
                return rank, Buffer.INPUT, self.layout.order[owner] * k + index
        if rank != owner:
            return None
        if kind is CollectiveKind.ALL_TO_ALL:
            return rank, Buffer.INPUT, self.layout.starts[0][rank, self._target(chunk)] + index
        if kind is CollectiveKind.SCATTER:
            return rank, Buffer.INPUT, self.layout.order[self._target(chunk)] * k + index
        return rank, Buffer.INPUT, index

    def result(self, rank: int, chunk: int) -> Cell | None:
        """The place in the output of a rank where a chunk must be at the end; None where it is not due."""
        if rank not in self.layout.order:
            return None
        root = int(self.schedule.chunk_root[chunk])
        owner = int(self.rank[root]) if root >= 0 else -1
        kind, index, k = self.layout.kind, self._index[chunk], self.layout.block
        match kind:
            case CollectiveKind.ALL_REDUCE | CollectiveKind.BROADCAST:
                return rank, Buffer.OUTPUT, index
            case CollectiveKind.REDUCE | CollectiveKind.REDUCE_SCATTER:
                return (rank, Buffer.OUTPUT, index) if rank == owner else None
            case CollectiveKind.ALL_GATHER:
                return rank, Buffer.OUTPUT, self.layout.order[owner] * k + index
        if rank != self._target(chunk):
            return None
        if kind is CollectiveKind.ALL_TO_ALL:
            return rank, Buffer.OUTPUT, self.layout.starts[1][owner, rank] + index
        return rank, Buffer.OUTPUT, (index if kind is CollectiveKind.SCATTER else self.layout.order[owner] * k + index)

    def held(self, rank: int, chunk: int, buffer: int) -> Cell:
        """The place where a rank keeps a buffer of a chunk while it works: buffer 0 in the output where the chunk is due there, all
        else in scratch, in the order in which they are asked for."""
        if buffer == 0 and (due := self.result(rank, chunk)) is not None:
            return due
        key = (rank, chunk, buffer)
        if key not in self._named:
            self._named[key] = (rank, Buffer.SCRATCH, self.scratch[rank])
            self.scratch[rank] += self.sizes[chunk]
        return self._named[key]

    def untouched(self) -> list[tuple[Cell, Cell]]:
        """(input, output) of the data that an endpoint has for itself, which no schedule moves: own blocks of an all-to-all, gather
        and scatter."""
        kind, k = self.layout.kind, self.layout.block
        if kind is CollectiveKind.ALL_TO_ALL:
            own = [
                (rank, at * k + index) for rank, at in self.layout.order.items() for index in range(self.layout.size(rank, rank))
            ]
            return [((rank, Buffer.INPUT, at), (rank, Buffer.OUTPUT, at)) for rank, at in own]
        root = self.layout.root
        if root is None or kind not in (CollectiveKind.GATHER, CollectiveKind.SCATTER):
            return []
        return [
            ((root, Buffer.INPUT, at[0]), (root, Buffer.OUTPUT, at[1]))
            for i in range(k)
            for begin in [self.layout.order[root] * k]
            for at in [(i, begin + i) if kind is CollectiveKind.GATHER else (begin + i, i)]
        ]

    def _target(self, chunk: int) -> int:
        assert self.schedule.chunk_target is not None
        return int(self.rank[self.schedule.chunk_target[chunk]])
