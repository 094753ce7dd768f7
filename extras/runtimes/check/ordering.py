"""Accesses to one place of which nothing says which comes first.

Two accesses are ordered where one is over before the other starts, whatever the speed of the thread blocks: by the order of steps
in a thread block, by waits, and by messages. Two of which one writes and which are not ordered are a race. Steps have vector
clocks: for each thread block the steps of it that are over.
"""

from collections import defaultdict
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from certree.extras.runtimes.model.layout import Cell

Clock = NDArray[np.int32]
MOST_RACES = 1000  # that are kept


@dataclass(frozen=True)
class Race:
    """Two steps, as (thread block number, step), and the place that both use."""

    cell: Cell
    first: tuple[int, int]
    second: tuple[int, int]


@dataclass
class Accesses:
    """The accesses so far, in an order that the program allows."""

    blocks: int
    races: list[Race] = field(default_factory=list)
    _writer: dict[Cell, tuple[int, int]] = field(default_factory=dict)
    _readers: defaultdict[Cell, dict[int, int]] = field(default_factory=lambda: defaultdict(dict))

    def read(self, cell: Cell, block: int, step: int, clock: Clock) -> None:
        """A step with that clock reads a place."""
        self._compare(cell, self._writer.get(cell), (block, step), clock)
        self._readers[cell][block] = step

    def write(self, cell: Cell, block: int, step: int, clock: Clock) -> None:
        """A step with that clock writes a place."""
        self._compare(cell, self._writer.get(cell), (block, step), clock)
        for reader in self._readers.pop(cell, {}).items():
            self._compare(cell, reader, (block, step), clock)
        self._writer[cell] = (block, step)

    def _compare(self, cell: Cell, earlier: tuple[int, int] | None, later: tuple[int, int], clock: Clock) -> None:
        if earlier is not None and clock[earlier[0]] <= earlier[1] and len(self.races) < MOST_RACES:
            self.races.append(Race(cell, earlier, later))
