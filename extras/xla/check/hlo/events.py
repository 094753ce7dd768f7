"""Events of blocks of data while a program runs, as columns: each event makes one block on one device.

An event has at most two others that it comes from, which have lower numbers. Event 0 is the constant zero. A block that is read,
cut out or put elsewhere is the same event: what counts is what a device was given, received or added up. With `everything` these
moves are events, too, from which the history of a block can be told.
"""

from bisect import bisect_right
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.extras.xla.model.hlo import HloOperation
from certree.models.common.budget import hold, spend

Int64 = NDArray[np.int64]
ZERO = 0
TURN = 1 << 40  # a block that turn t of a loop gives is TURN * (t + 1) and the number of that of the first turn (`folds`)
Turn = tuple[HloOperation, int]


class UnfoldableError(Exception):
    """One turn of a loop does not stand for all of them."""


class Kind(IntEnum):
    """The kind of an event."""

    CONSTANT = 0
    INPUT = 1
    RECEIVED = 2
    SUM = 3
    MOVED = 4


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Events of one operation: numbers from `first` on. `turns`: the loops that it ran in, with their turns. `order`: how many
    operations on data came before. `sources`: the places of what computed the indices and conditions."""

    first: int
    kind: Kind
    operation: HloOperation | None
    turns: tuple[Turn, ...]
    order: int
    device: Int64
    one: Int64
    two: Int64
    sources: frozenset[str] = frozenset()

    def words(self) -> str:
        """The operation and its turn in words."""
        if self.operation is None:
            return "the input"
        turns = "".join(f" in turn {turn} of {loop.where}" for loop, turn in reversed(self.turns))
        return f"{self.operation}{turns}"


class Events:
    """The events so far, batch by batch."""

    def __init__(self, *, everything: bool) -> None:
        self.everything = everything
        self.turns: list[Turn] = []
        #: whether blocks have numbers with turns, from which no others can come
        self.is_folded = False
        self.sources: frozenset[str] = frozenset()
        self.batches: list[Batch] = []
        self.constants: dict[Any, int] = {}
        self.count = 0
        self._starts: list[int] = []
        none = np.zeros(1, np.int64)
        self.add(Kind.CONSTANT, None, none - 1, none, none)
        self.constants[0] = ZERO

    def add(self, kind: Kind, operation: HloOperation | None, device: Int64, one: Int64, two: Int64) -> Int64:
        """New events: their numbers. `one`, `two`: what they come from (of an input: its place)."""
        count = len(device)
        if self.is_folded and max(one.max(initial=0), two.max(initial=0)) >= TURN:
            raise UnfoldableError
        spend(4 * count, f"{self.count + count:,} blocks that devices receive, add and move")
        hold(32 * (self.count + count), f"{self.count + count:,} blocks that devices receive, add and move")
        turns = tuple(self.turns)
        self.batches.append(Batch(self.count, kind, operation, turns, len(self.batches), device, one, two, self.sources))
        self._starts.append(self.count)
        self.count += count
        return np.arange(self.count - count, self.count)

    def constant(self, operation: HloOperation, value: Any) -> int:
        """The event of a constant; the same one for the same number."""
        if value not in self.constants:
            none = np.zeros(1, np.int64)
            self.constants[value] = int(self.add(Kind.CONSTANT, operation, none - 1, none, none)[0])
        return self.constants[value]

    def moved(self, operation: HloOperation, found: Int64) -> Int64:
        """The blocks of a tensor after an operation that moves them: the same ones, or where everything is told new ones."""
        if not self.everything or not found.size:
            return found
        flat = np.ascontiguousarray(found).reshape(-1)
        device = np.repeat(np.arange(found.shape[0]), flat.size // found.shape[0])
        return self.add(Kind.MOVED, operation, device, flat, np.zeros_like(flat)).reshape(found.shape)

    def take_inputs(self, places: Int64, blocks: int) -> None:
        """Number the blocks of the input of each device anew: these places, in their order, and no others."""
        numbers = np.full(blocks, -1, np.int64)
        numbers[places] = np.arange(len(places))
        self.batches = [replace(one, one=numbers[one.one]) if one.kind is Kind.INPUT else one for one in self.batches]

    def batch(self, event: int) -> tuple[Batch, int]:
        """The batch that an event belongs to, and its place there."""
        found = self.batches[bisect_right(self._starts, event) - 1]
        return found, event - found.first

    def needed(self, ends: Int64) -> NDArray[np.bool_]:
        """Whether one of these events comes from each event, or is it. O(events)."""
        found = np.zeros(self.count, bool)
        found[ends.reshape(-1)] = True
        for batch in reversed(self.batches):
            if batch.kind <= Kind.INPUT:
                continue
            live = found[batch.first : batch.first + len(batch.device)]
            found[batch.one[live]] = True
            if batch.kind is Kind.SUM:
                found[batch.two[live]] = True
        return found
