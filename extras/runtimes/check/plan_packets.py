"""Packets of protocol LL: data in scratch with flags, which a reader waits for, element by element.

Who reads an element of a packet knows that it was written, that what it was made of was read, and whatever the thread that wrote it
knew to be over. It does not know that other data which that thread wrote is there.
"""

from collections.abc import Set
from dataclasses import dataclass, field, replace

from certree.extras.runtimes.check.execution import cell_words
from certree.extras.runtimes.check.ordering import Clock
from certree.extras.runtimes.check.sums import Value
from certree.extras.runtimes.model.layout import Cell
from certree.extras.runtimes.model.plan import Operation

#: (place, number of the thread block, step) of accesses to one element of that place
Uses = frozenset[tuple[Cell, int, int]]


@dataclass(frozen=True)
class Packet:
    """The knowledge that a reader of a packet gains: the blocks' steps that are over, how many messages left before, and accesses
    to the same element."""

    clock: Clock
    level: int
    uses: Uses


@dataclass
class Packets:
    """The places that hold packets."""

    held: dict[Cell, Packet] = field(default_factory=dict)

    def missing(self, cells: list[Cell]) -> Cell | None:
        """The first of these places without a packet."""
        return next((cell for cell in cells if cell not in self.held), None)

    def uses(self, cells: list[Cell]) -> Uses:
        """The accesses that are over for a thread that read these packets."""
        return frozenset().union(*(self.held[cell].uses for cell in cells))

    def store(self, read: list[Cell], written: list[Cell], packed: list[Cell], packet: Packet, mark: tuple[int, int]) -> None:
        """Packets are written to `packed`, and data to the rest of what was written; `mark`: the thread block and its step."""
        for cell in written:
            self.held.pop(cell, None)
        own = {(cell, *mark) for cell in (*read, *packed)}
        self.held |= dict.fromkeys(packed, replace(packet, uses=packet.uses | own))

    def misread(self, cell: Cell, packed: Set[Cell], where: str) -> Value | None:
        """A fault where a packet is read as data."""
        if cell in self.held and cell not in packed:
            return Value(fault=f"{where}: {cell_words(cell)} has a packet, which is read as data")
        return None


def flagged(operation: Operation) -> tuple[list[bool], list[bool]]:
    """Whether each source, and each target, of an operation is a packet."""
    taken, made = operation.name.reads_packets, operation.name.writes_packets
    return [taken[at > 0] for at in range(len(operation.src))], [made[at > 0] for at in range(len(operation.dst))]


def with_uses(clock: Clock, cell: Cell, uses: Uses) -> Clock:
    """The steps that are known to be over where an element of a place is used."""
    steps = [(block, step) for place, block, step in uses if place == cell]
    if steps:
        clock = clock.copy()
        for block, step in steps:
            clock[block] = max(clock[block], step + 1)
    return clock
