"""Runs of the core with checks for signals and calls of a progress function."""

from collections.abc import Callable
from typing import Protocol


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
