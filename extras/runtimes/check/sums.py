"""The contents of places, and the order in which a program adds, as `certree.verify.order.additions` has it for schedules.

Programs have no slots. What fixes an order is what steps wait for: a valid program has no races, messages of a connection stay in
order, and so every run adds in one order. Three things leave it open: a semaphore that several thread blocks release or acquire, as
they come, a barrier that more thread blocks use than it lets pass, and a switch that adds more than two operands.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from certree.extras.runtimes.model.layout import Cell, Layout, Part
from certree.extras.runtimes.model.program import Buffer
from certree.models.schedule.collective import CollectiveKind
from certree.verify.order.additions import Additions, one_order

SUMS = (CollectiveKind.ALL_REDUCE, CollectiveKind.REDUCE, CollectiveKind.REDUCE_SCATTER)


@dataclass(frozen=True)
class Value:
    """The contributions in one chunk. `sum`: the number of their sum in `Sums`. `fault`: why it is of no use: it was read from a
    place that held nothing, or counts something twice."""

    parts: frozenset[Part] = frozenset()
    sum: int = -1
    fault: str = ""


@dataclass
class Sums:
    """Sums of two operands by number, equal ones once; the contribution of a rank has its number, sums follow from FIRST on."""

    numbers: dict[tuple[int, int], int] = field(default_factory=dict)

    FIRST = 1 << 20  # more than the ranks of a program

    def added(self, first: Value, second: Value, where: str) -> Value:
        """The sum of two values; it has a fault where they have a contribution in common. O(contributions)."""
        fault = first.fault or second.fault
        twice = first.parts & second.parts
        if twice and not fault:
            rank, offset = min(twice)
            fault = f"{where} adds chunk {offset} of rank {rank} a second time"
        pair = (first.sum, second.sum) if first.sum < second.sum else (second.sum, first.sum)
        return Value(first.parts | second.parts, self.numbers.setdefault(pair, self.FIRST + len(self.numbers)), fault)

    def in_order(self, values: Sequence[Value], where: str) -> int:
        """The number of the sum of values that are added one after the other."""
        total = values[0]
        for value in values[1:]:
            total = self.added(total, value, where)
        return total.sum


class Run(Protocol):
    """An execution that is over."""

    layout: Layout
    sums: Sums

    def held(self, cell: Cell) -> Value:
        """The contents of a place at the end."""
        ...


def program_additions(runs: Sequence[Run], open_sums: Iterable[tuple[int, int]] = (), slices: int = 1) -> Additions | None:
    """The orders in which a valid program adds, of runs with the same `sums`, one for each layout of the buffers; None where it
    does not add. `open_sums`: (rank, place in an input) of each operand that is added as it comes. `slices`: of each chunk.
    O(places of outputs)."""
    if runs[0].layout.kind not in SUMS:
        return None
    numbers, differs = set[int](), list[tuple[int, int]]()
    for run in runs:
        first, layout = dict[int, int](), run.layout
        for rank, chunk, offset in _outputs(layout):
            number = run.held((rank, Buffer.OUTPUT, offset)).sum
            numbers.add(number)
            if first.setdefault(chunk, number) != number:
                differs.append((rank, chunk // slices))
    pairs, tied = list(runs[0].sums.numbers), list(open_sums)
    left, right = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    expression, is_nested = one_order(sorted(numbers), runs[0].layout.members, left, right, Sums.FIRST)
    return Additions(
        orders=len(numbers),
        differs=differs[0] if differs else None,
        tied=(tied[0][0], tied[0][1] // slices) if tied else None,
        ties=len(tied),
        expression=expression,
        is_nested=is_nested,
        fixed_by="arrival" if tied else "waits",
    )


def _outputs(layout: Layout) -> Iterable[tuple[int, int, int]]:
    """(rank, chunk, offset) of the places of all outputs that get a sum."""
    for rank in layout.members:
        begin = layout.order[rank] * layout.block if layout.kind is CollectiveKind.REDUCE_SCATTER else 0
        for offset in range(layout.sizes(rank)[1]):
            yield rank, begin + offset, offset
