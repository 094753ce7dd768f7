"""Progress of long work on stderr: a bar with percent and time left in a terminal, lines elsewhere."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from certree.cli.words.terminal import note
from certree.models.common.errors import printable
from certree.models.common.progress import Counted

_SECONDS_BETWEEN_NOTES = 10


@contextmanager
def working(title: str) -> Iterator[Callable[[str], None]]:
    """While the body runs: `title` with the time taken where stderr is a terminal, and percent and time left from the first
    `Counted` line on. Yields the function that prints progress lines."""
    if not sys.stderr.isatty():
        yield note
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        SpinnerColumn,
        TaskProgressColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    counted = [BarColumn(bar_width=20), TaskProgressColumn(), TimeRemainingColumn()]
    start = [SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn()]
    console = Console(stderr=True, markup=False, highlight=False)
    with Progress(*start, console=console, transient=True) as progress:
        task = progress.add_task(title, total=None)

        def tell(text: str) -> None:
            if isinstance(text, Counted):
                if len(progress.columns) == len(start):
                    progress.columns = (*start, *counted)
                progress.update(task, completed=text.done, total=text.total, refresh=bool(text))
            if str(text):
                console.print(printable(str(text)))

        yield tell


def now_and_then(tell: Callable[[str], None], total: int | None = None) -> Callable[[int], None]:
    """A function that reports the cycle that a long run has reached, and `total` where that is known: as a line at most every ten
    seconds, more often as a percentage."""
    last = time.monotonic()

    def progress(cycle: int) -> None:
        nonlocal last
        due = time.monotonic() - last >= _SECONDS_BETWEEN_NOTES
        if due:
            last = time.monotonic()
        if total is not None and 0 < cycle <= total:
            of = f"cycle {cycle:,} of {total:,}, {100 * cycle // total} %"
            if due or sys.stderr.isatty():
                tell(Counted(of if due else "", cycle, total))
        elif due:
            tell(f"cycle {cycle:,}")

    return progress
