"""The monitor of a synthesis: progress, the best schedule so far, and the wall-clock limit."""

import time
from collections.abc import Callable

from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule


def _silent(_text: str) -> None:
    """A sink that ignores progress."""


class Monitor:
    """Progress out, best schedule so far, and the wall-clock limit, for one synthesis.

    `deadline` is a reading of `time.monotonic()`, or None for no limit; `sink` receives each progress line. Only a limit makes
    the result depend on the speed of the machine. `bar`: cycles of a schedule that was found elsewhere; only better ones are kept.
    """

    def __init__(self, deadline: float | None = None, sink: Callable[[str], None] = _silent, bar: int | None = None) -> None:
        self.deadline = deadline
        self._sink, self._bar = sink, bar
        self._best: AnySchedule | None = None
        self._rank = (False, 0)

    @classmethod
    def within(cls, seconds: float, sink: Callable[[str], None] = _silent) -> "Monitor":
        """A monitor whose limit lies `seconds` from now."""
        return cls(time.monotonic() + seconds, sink)

    def watching(self) -> "Monitor":
        """A monitor with the same limit and sink that has seen no schedule yet."""
        return Monitor(self.deadline, self._sink)

    def report(self, text: str) -> None:
        """Report one line of progress."""
        self._sink(text)

    def offer(self, schedule: AnySchedule, cycles: int, *, waits: bool = False) -> None:
        """Keep `schedule` when it takes fewer cycles than the best so far; of equal ones the first offered stays. `waits`: its
        messages wait for credits (`waits_for_credits`), so it takes longer; it is kept only where there is no other."""
        is_better = self._best is None or (waits, cycles) < self._rank
        if is_better and (self._bar is None or cycles < self._bar):
            self._best, self._rank = schedule, (waits, cycles)

    def withdraw(self, others: "Monitor") -> None:
        """Go back to the best schedule of `others`, a copy from before an offer that is not to count."""
        self._best, self._rank = others._best, others._rank

    @property
    def best(self) -> AnySchedule | None:
        """The schedule of fewest cycles offered so far."""
        return self._best

    @property
    def best_cycles(self) -> int | None:
        """The number of cycles of `best`, or the bar until a schedule takes no more than that."""
        return self._bar if self._best is None or self._rank[0] else self._rank[1]

    @property
    def remaining(self) -> float | None:
        """Wall seconds until the limit (0 when it has passed); None without one."""
        return None if self.deadline is None else max(0.0, self.deadline - time.monotonic())

    @property
    def expired(self) -> bool:
        """Whether the limit has passed."""
        return self.deadline is not None and time.monotonic() >= self.deadline
