"""Cells on workers, each kept as soon as it is done."""

import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from typing import Any

from certree.api.workers import Workers
from certree.extras.workers.store import Store
from certree.extras.workers.task import Outcome, Task
from certree.models.common.progress import Counted

_SECONDS_BETWEEN_LINES = 1.0


def run_cells(
    tasks: Iterable[Task],
    count: int,
    kept: Callable[[Task, Outcome], Mapping[str, Any]],
    workers: Workers,
    store: Store,
    tell: Callable[[str], None],
    before: int = 0,
    after: Callable[[], None] | None = None,
) -> None:
    """Run `count` tasks, and keep what `kept` makes of each outcome. `before`: cells that are there already, for progress; `after`
    is called when a cell is kept.

    On an interrupt what runs is ended, and what is done stays."""
    total = before + count
    if before:
        tell(Counted(f"{before:,} of {total:,} cells are there already", before, total))
    if not count:
        return
    began = last = time.monotonic()
    with closing(workers.at_most(count).run(tasks)) as outcomes:
        for done, (task, outcome) in enumerate(outcomes, 1):
            store.keep(task.key, kept(task, outcome), outcome)
            if after is not None:
                after()
            now = time.monotonic()
            if now - last >= _SECONDS_BETWEEN_LINES or done in (1, count) or outcome.error:
                last = now
                left = duration_words((now - began) / done * (count - done))
                said = outcome.error or f"{outcome.cpu_seconds:.1f} CPU s"
                tell(Counted(f"{before + done:,} of {total:,}, {left} left: {task.label}: {said}", before + done, total))


class Seldom:
    """Calls a function at most every SECONDS_BETWEEN_CALLS, and only for a small SHARE of the time."""

    SECONDS_BETWEEN_CALLS = 10.0
    SHARE = 20

    def __init__(self, function: Callable[[], None]) -> None:
        self._function, self._due = function, time.monotonic() + self.SECONDS_BETWEEN_CALLS

    def __call__(self) -> None:
        """Call the function, if it is due."""
        began = time.monotonic()
        if began >= self._due:
            self._function()
            ended = time.monotonic()
            self._due = ended + max(self.SECONDS_BETWEEN_CALLS, self.SHARE * (ended - began))


def duration_words(seconds: float) -> str:
    """`45 s`, `12 min`, `3.5 h`."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"
