"""Tasks that all have to succeed, with results that are kept, so that an interrupted run resumes where it stopped."""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from certree.api.workers import Workers
from certree.extras.workers.store import Store
from certree.extras.workers.task import Outcome, Outcomes, Task
from certree.models.common.progress import Counted


@dataclass(frozen=True)
class Done:
    """Results in the order of the tasks, and the CPU seconds that they took, those of earlier runs included."""

    results: tuple[Mapping[str, Any], ...]
    cpu_seconds: float


def run_tasks(tasks: Sequence[Task], workers: Workers, store: Store | None, tell: Callable[[str], None]) -> Done:
    """Run all tasks; one that is given twice is run once, and a single worker of this computer is this process.

    `store`: holds finished results, and those of earlier runs are reused. On an interrupt, or when a task raises, the processes
    end. UndecidedError when one of them was killed.
    """
    by_key = {task.key: task for task in tasks}
    kept = {} if store is None else {key: entry["result"] for key in by_key if "result" in (entry := store.load(key) or {})}
    known = store.cpu_seconds() if store is not None and kept else {}
    seconds = sum(known.get(key, 0.0) for key in kept)
    if kept:
        tell(Counted(f"{len(kept)} of {len(by_key)} cells are there already", len(kept), len(by_key)))
    left = [task for key, task in by_key.items() if key not in kept]
    with closing(outcomes_of(left, workers)) as outcomes:
        for task, outcome in outcomes:
            kept[task.key] = outcome.value()
            seconds += outcome.cpu_seconds
            if store is not None:
                store.keep(task.key, {"task": task.label, "arguments": task.arguments, "result": kept[task.key]}, outcome)
            said = f"{len(kept)} of {len(by_key)}: {task.label}, {outcome.cpu_seconds:.1f} CPU s"
            tell(Counted(said, len(kept), len(by_key)))
    return Done(tuple(kept[task.key] for task in tasks), seconds)


def outcomes_of(tasks: Sequence[Task], workers: Workers) -> Outcomes:
    """Outcomes as tasks end, of a single worker of this computer in this process: an exception of a task is then the caller's."""
    few = workers.at_most(len(tasks))
    return _here(tasks) if few.is_one else few.run(tasks)


def _here(tasks: Sequence[Task]) -> Outcomes:
    """One after the other, in this process; an exception is the caller's."""
    for task in tasks:
        before, began = time.process_time(), time.monotonic()
        result = task.function(task.arguments)
        used = round(time.process_time() - before, 3), round(time.monotonic() - began, 3)
        yield task, Outcome(result, cpu_seconds=used[0], wall_seconds=used[1])
