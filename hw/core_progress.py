"""Runs of the core to their end, with a look at signals and at whoever wants to know how far they are."""

from collections.abc import Callable
from typing import Protocol


class Core(Protocol):
    """A run of the core: `advance` returns whether it has ended, after about `budget` events at the latest."""

    @property
    def cycle(self) -> int:
        """The point in time that it has come to."""

    def advance(self, budget: int) -> bool:
        """Go on."""


def run_to_end(core: Core, budget: int, progress: Callable[[int], None] | None) -> None:
    """Advance until the run has ended; `progress` is told the cycle after every `budget` events. Signals are looked at between."""
    while not core.advance(budget):
        if progress is not None:
            progress(core.cycle)
