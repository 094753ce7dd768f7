"""Calls of the core: range checks of values, and runs with checks for signals and calls of a progress function."""

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from certree.models.common.errors import UnsupportedError

MAX_ENTRY = (1 << 32) - 1  # of the core's columns


def narrowed(name: str, column: NDArray[Any]) -> NDArray[np.uint32]:
    """The column in the type of the core. UnsupportedError where a number is too large, or negative. O(entries)."""
    check_fits(name, int(column.min(initial=0)))
    check_fits(name, int(column.max(initial=0)))
    return column.astype(np.uint32)


def check_fits(name: str, value: int, most: int = MAX_ENTRY) -> None:
    """Raise UnsupportedError unless the value is from 0 to `most`."""
    if not 0 <= value <= most:
        raise UnsupportedError(
            f"{name} would be {value}; the simulator has numbers up to {most} (rates are bytes in whole cycles, in lowest terms; "
            "messages and packets are as long as their parameters make them)"
        )


class Core(Protocol):
    """A run of the core: `advance` handles about `budget` events and returns whether the run has ended."""

    @property
    def cycle(self) -> int:
        """The current cycle."""

    def advance(self, budget: int) -> bool:
        """Continue the run."""


def run_to_end(core: Core, budget: int, progress: Callable[[int], None] | None) -> None:
    """Advance until the run has ended; `progress` gets the cycle after every `budget` events. Signals are checked in between."""
    while not core.advance(budget):
        if progress is not None:
            progress(core.cycle)
