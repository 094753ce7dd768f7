"""Where the data of a collective is in the buffers of each rank: at the start, at the end, and in place.

L is `chunks_per_loop`, N the number of ranks, k = L / N in an all-gather, reduce-scatter and all-to-all, and k = L in the others.

| collective | input | output | in place |
|---|---|---|---|
| all-reduce | L, its contribution | L, the sums | input and output are one buffer |
| reduce-scatter | N blocks of k | k, the sums of its block | the output is its block of the input |
| all-gather | k | N blocks of k, by rank | the input is its block of the output |
| all-to-all | N blocks of k, by target | N blocks of k, by source | input and output are one buffer |
| broadcast, reduce | L (of the root; of all) | L (of all; of the root) | input and output are one buffer |
| gather | k | N blocks of k at the root | the input of the root is its block of the output |
| scatter | N blocks of k at the root | k | the output of the root is its block of the input |
"""

from dataclasses import dataclass

from certree.extras.runtimes.model.program import Buffer
from certree.models.common.errors import InputError
from certree.models.schedule.collective import CollectiveKind

#: one chunk of a buffer: (rank, buffer, offset)
Cell = tuple[int, Buffer, int]
#: a contribution: (rank, offset in the input)
Part = tuple[int, int]

_BLOCKS = (CollectiveKind.ALL_GATHER, CollectiveKind.REDUCE_SCATTER, CollectiveKind.ALL_TO_ALL)
_ONE_BUFFER = (CollectiveKind.ALL_REDUCE, CollectiveKind.ALL_TO_ALL, CollectiveKind.BROADCAST, CollectiveKind.REDUCE)
_FROM_ROOT = (CollectiveKind.BROADCAST, CollectiveKind.SCATTER)
_TO_ROOT = (CollectiveKind.REDUCE, CollectiveKind.GATHER)


@dataclass(frozen=True)
class Layout:
    """The layout of a collective on `ranks` ranks with `chunks` parts (L) and, where it has one, the rank `root`.

    InputError where L is not a multiple of N in a collective of blocks.
    """

    kind: CollectiveKind
    ranks: int
    chunks: int
    root: int | None = None

    def __post_init__(self) -> None:
        if self.kind in _BLOCKS and self.chunks % self.ranks:
            raise InputError(f"{self.chunks} chunks; {self.kind} among {self.ranks} ranks needs a multiple of {self.ranks}")

    @property
    def block(self) -> int:
        """k: the chunks of a block."""
        return self.chunks // self.ranks if self.kind in _BLOCKS else self.chunks

    def sizes(self, rank: int) -> tuple[int, int]:
        """(inputs, outputs) of a rank that the collective uses."""
        blocks = self.ranks * self.block
        many = {
            CollectiveKind.ALL_REDUCE: (self.chunks, self.chunks),
            CollectiveKind.BROADCAST: (self.chunks, self.chunks),
            CollectiveKind.REDUCE: (self.chunks, self.chunks),
            CollectiveKind.ALL_GATHER: (self.block, blocks),
            CollectiveKind.REDUCE_SCATTER: (blocks, self.block),
            CollectiveKind.ALL_TO_ALL: (blocks, blocks),
            CollectiveKind.GATHER: (self.block, blocks),
            CollectiveKind.SCATTER: (blocks, self.block),
        }
        inputs, outputs = many[self.kind]
        return (0 if self._lacks_input(rank) else inputs), (0 if self._lacks_output(rank) else outputs)

    def due_parts(self) -> int:
        """How many contributions the outputs of all ranks must hold at the end in all: the size of all that `due` returns."""
        outputs = sum(self.sizes(rank)[1] for rank in range(self.ranks))
        summed = self.kind in (CollectiveKind.ALL_REDUCE, CollectiveKind.REDUCE, CollectiveKind.REDUCE_SCATTER)
        return outputs * (self.ranks if summed else 1)

    def due(self, rank: int) -> list[frozenset[Part]]:
        """For each offset of the output of a rank the contributions that it must hold at the end."""
        blocks, k = range(self.ranks), self.block
        if self._lacks_output(rank):
            return []
        match self.kind:
            case CollectiveKind.ALL_REDUCE | CollectiveKind.REDUCE:
                return [frozenset((other, index) for other in blocks) for index in range(self.chunks)]
            case CollectiveKind.REDUCE_SCATTER:
                return [frozenset((other, rank * k + index) for other in blocks) for index in range(k)]
            case CollectiveKind.ALL_GATHER | CollectiveKind.GATHER:
                return [frozenset({(other, index)}) for other in blocks for index in range(k)]
            case CollectiveKind.ALL_TO_ALL:
                return [frozenset({(other, rank * k + index)}) for other in blocks for index in range(k)]
            case CollectiveKind.BROADCAST:
                return [frozenset({(self.root or 0, index)}) for index in range(self.chunks)]
            case CollectiveKind.SCATTER:
                return [frozenset({(self.root or 0, rank * k + index)}) for index in range(k)]

    def place(self, cell: Cell, *, in_place: bool) -> Cell:
        """The cell itself, or in place the one of two names that stands for both."""
        rank, buffer, offset = cell
        if not in_place or buffer is Buffer.SCRATCH:
            return cell
        inputs, outputs = self.sizes(rank)
        if buffer is Buffer.INPUT and self.kind in _ONE_BUFFER and offset < max(inputs, outputs):
            return rank, Buffer.OUTPUT, offset
        if buffer is Buffer.INPUT and self.kind in (CollectiveKind.ALL_GATHER, CollectiveKind.GATHER) and outputs:
            return rank, Buffer.OUTPUT, rank * self.block + offset
        if buffer is Buffer.OUTPUT and self.kind in (CollectiveKind.REDUCE_SCATTER, CollectiveKind.SCATTER) and inputs:
            return rank, Buffer.INPUT, rank * self.block + offset
        return cell

    def _lacks_input(self, rank: int) -> bool:
        return self.kind in _FROM_ROOT and rank != self.root

    def _lacks_output(self, rank: int) -> bool:
        return self.kind in _TO_ROOT and rank != self.root
