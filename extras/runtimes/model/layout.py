"""Places of the data of a collective in the buffers of each rank: at the start, at the end, and in place.

L is `chunks_per_loop`, N the number of ranks that take part, k = L / N in an all-gather, reduce-scatter and all-to-all, and k = L
in the others.

| collective | input | output | in place |
|---|---|---|---|
| all-reduce | L, its contribution | L, the sums | input and output are one buffer |
| reduce-scatter | N blocks of k | k, the sums of its block | the output is its block of the input |
| all-gather | k | N blocks of k, by rank | the input is its block of the output |
| all-to-all | N blocks of k, by target | N blocks of k, by source | input and output are one buffer |
| broadcast, reduce | L (of the root; of all) | L (of all; of the root) | input and output are one buffer |
| gather | k | N blocks of k at the root | the input of the root is its block of the output |
| scatter | N blocks of k at the root | k | the output of the root is its block of the input |

Ranks that do not take part have scratch alone. Blocks of an alltoallv have sizes of their own, and there is none for oneself; L is
that of the largest buffer.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate, permutations

from certree.extras.runtimes.model.program import Buffer
from certree.extras.runtimes.model.roles import EVERYONE, Roles
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

    InputError where L is not a multiple of N in a collective of blocks, for `roles` that do not fit, and a root without part.
    """

    kind: CollectiveKind
    ranks: int
    chunks: int
    root: int | None = None
    roles: Roles = EVERYONE

    def __post_init__(self) -> None:
        self.roles.require_fit(self.kind, self.ranks)
        count = len(self.members)
        if self.kind in _BLOCKS and not self.roles.blocks and self.chunks % count:
            raise InputError(f"{self.chunks} chunks; {self.kind} among {count} ranks needs a multiple of {count}")
        if self.root is not None and self.root not in self.members:
            raise InputError(f"root {self.root} is not a rank that takes part; these are {', '.join(map(str, self.members))}")

    @cached_property
    def members(self) -> tuple[int, ...]:
        """The ranks that take part."""
        return tuple(range(self.ranks)) if self.roles.members is None else self.roles.members

    @cached_property
    def order(self) -> dict[int, int]:
        """The place of each of these ranks among them: that of its block."""
        return {rank: at for at, rank in enumerate(self.members)}

    def times(self, number: int) -> "Layout":
        """The layout where every chunk is cut into N chunks."""
        blocks = tuple(tuple(size * number for size in row) for row in self.roles.blocks)
        return replace(self, chunks=self.chunks * number, roles=replace(self.roles, blocks=blocks))

    @property
    def block(self) -> int:
        """k: the chunks of a block; not of an alltoallv, where they differ."""
        return self.chunks // len(self.members) if self.kind in _BLOCKS else self.chunks

    def size(self, source: int, target: int) -> int:
        """The number of chunks that one member of an all-to-all has for another one."""
        return self.roles.blocks[source][target] if self.roles.blocks else self.block

    @cached_property
    def starts(self) -> tuple[dict[tuple[int, int], int], dict[tuple[int, int], int]]:
        """The beginning of each block (source, target) of an all-to-all in the input of the source, and in the output of the
        other."""
        of_inputs: dict[tuple[int, int], int] = {}
        of_outputs: dict[tuple[int, int], int] = {}
        for one in self.members:
            of_inputs |= {(one, other): at for other, at in self._begins([self.size(one, other) for other in self.members])}
            of_outputs |= {(other, one): at for other, at in self._begins([self.size(other, one) for other in self.members])}
        return of_inputs, of_outputs

    def parts(self) -> Iterator[tuple[int, int, Part]]:
        """(source, target, contribution) of all that an all-to-all moves, by source, then target."""
        for one, other in permutations(self.members, 2):
            for index in range(self.size(one, other)):
                yield one, other, (one, self.starts[0][one, other] + index)

    def amounts(self, sizes: Mapping[Part, int]) -> Counter[tuple[int, int]]:
        """The amounts that each member has for each other one: the sizes of its chunks, 1 where none is stated."""
        found: Counter[tuple[int, int]] = Counter()
        for one, other, part in self.parts():
            found[one, other] += sizes.get(part, 1)
        return found

    def _begins(self, sizes: list[int]) -> Iterator[tuple[int, int]]:
        return zip(self.members, accumulate(sizes, initial=0), strict=False)

    def target(self, rank: int, offset: int) -> int:
        """The member of an all-to-all for which a place of the input of another one is."""
        if rank not in self._inputs:
            self._inputs[rank] = [self.starts[0][rank, other] for other in self.members]
        return self.members[bisect_right(self._inputs[rank], offset) - 1]

    @cached_property
    def _inputs(self) -> dict[int, list[int]]:
        """The offsets at which the blocks of an input begin."""
        return {}

    def sizes(self, rank: int) -> tuple[int, int]:
        """(inputs, outputs) of a rank that the collective uses."""
        if rank not in self.order:
            return 0, 0
        if self.roles.blocks:
            return sum(self.roles.blocks[rank]), sum(row[rank] for row in self.roles.blocks)
        blocks = len(self.members) * self.block
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
        return outputs * (len(self.members) if summed else 1)

    def due(self, rank: int) -> list[frozenset[Part]]:
        """For each offset of the output of a rank the contributions that it must hold at the end."""
        if rank not in self.order or self._lacks_output(rank):
            return []
        blocks, k, at = self.members, self.block, self.order[rank]
        match self.kind:
            case CollectiveKind.ALL_REDUCE | CollectiveKind.REDUCE:
                return [frozenset((other, index) for other in blocks) for index in range(self.chunks)]
            case CollectiveKind.REDUCE_SCATTER:
                return [frozenset((other, at * k + index) for other in blocks) for index in range(k)]
            case CollectiveKind.ALL_GATHER | CollectiveKind.GATHER:
                return [frozenset({(other, index)}) for other in blocks for index in range(k)]
            case CollectiveKind.ALL_TO_ALL:
                begin = self.starts[0]
                return [
                    frozenset({(other, begin[other, rank] + index)}) for other in blocks for index in range(self.size(other, rank))
                ]
            case CollectiveKind.BROADCAST:
                return [frozenset({(self.root or 0, index)}) for index in range(self.chunks)]
            case CollectiveKind.SCATTER:
                return [frozenset({(self.root or 0, at * k + index)}) for index in range(k)]

    def place(self, cell: Cell, *, in_place: bool) -> Cell:
        """The cell itself, or in place the one of two names that stands for both."""
        rank, buffer, offset = cell
        if not in_place or buffer is Buffer.SCRATCH or rank not in self.order:
            return cell
        inputs, outputs = self.sizes(rank)
        if buffer is Buffer.INPUT and self.kind in _ONE_BUFFER and offset < max(inputs, outputs):
            return rank, Buffer.OUTPUT, offset
        if buffer is Buffer.INPUT and self.kind in (CollectiveKind.ALL_GATHER, CollectiveKind.GATHER) and outputs:
            return rank, Buffer.OUTPUT, self.order[rank] * self.block + offset
        if buffer is Buffer.OUTPUT and self.kind in (CollectiveKind.REDUCE_SCATTER, CollectiveKind.SCATTER) and inputs:
            return rank, Buffer.INPUT, self.order[rank] * self.block + offset
        return cell

    def _lacks_input(self, rank: int) -> bool:
        return self.kind in _FROM_ROOT and rank != self.root

    def _lacks_output(self, rank: int) -> bool:
        return self.kind in _TO_ROOT and rank != self.root
