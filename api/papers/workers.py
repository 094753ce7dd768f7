"""Tasks run in parallel processes. Results are stored at once, so that an interrupted run resumes where it stopped."""

import json
import multiprocessing
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from certree.api.papers.experiment import Task
from certree.models.common.errors import UndecidedError
from certree.models.common.files import canonical_json, write_atomically
from certree.models.common.progress import Counted


@dataclass(frozen=True)
class Done:
    """Results in the order of the tasks, and the CPU seconds that they took, those of earlier runs included."""

    results: tuple[Mapping[str, Any], ...]
    cpu_seconds: float


def run_tasks(tasks: Sequence[Task], workers: int, folder: Path | None, tell: Callable[[str], None]) -> Done:
    """Run all tasks, `workers` at a time; a task that is given twice is run once.

    `folder`: holds finished results, a file for each key, and those of earlier runs are reused. On an interrupt, or when a task
    raises, the processes end. UndecidedError when one of them was killed.
    """
    by_key = {task.key: task for task in tasks}
    kept = {} if folder is None else {key: entry for key in by_key if (entry := _load(folder / f"{key}.json")) is not None}
    if kept:
        tell(Counted(f"{len(kept)} of {len(by_key)} cells are there already", len(kept), len(by_key)))

    def keep(task: Task, entry: dict[str, Any]) -> None:
        kept[task.key] = entry
        if folder is not None:
            document = {"task": task.label, "arguments": task.arguments, **entry}
            write_atomically(folder / f"{task.key}.json", canonical_json(document), force=True)
        said = f"{len(kept)} of {len(by_key)}: {task.label}, {entry['cpu_seconds']:.1f} CPU s"
        tell(Counted(said, len(kept), len(by_key)))

    left = [task for key, task in by_key.items() if key not in kept]
    if min(workers, len(left)) > 1:
        _side_by_side(left, min(workers, len(left)), keep)
    else:
        for task in left:
            keep(task, _timed(task))
    return Done(tuple(kept[task.key]["result"] for task in tasks), sum(entry["cpu_seconds"] for entry in kept.values()))


def _side_by_side(tasks: list[Task], workers: int, keep: Callable[[Task, dict[str, Any]], None]) -> None:
    pool = ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"))
    try:
        with _deaf_to_interrupts():
            waiting = {pool.submit(_timed, task): task for task in tasks}
        for done in as_completed(waiting):
            keep(waiting[done], done.result())
    except BrokenProcessPool:
        raise UndecidedError("a worker process was killed (out of memory?); fewer --jobs may help") from None
    except BaseException:
        for process in multiprocessing.active_children():
            process.kill()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


@contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    """Let processes started in here ignore Ctrl-C, which a terminal sends to all of them: the parent ends them."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _timed(task: Task) -> dict[str, Any]:
    before = time.process_time()
    result = task.function(task.arguments)
    return {"result": result, "cpu_seconds": round(time.process_time() - before, 2)}


def _load(path: Path) -> dict[str, Any] | None:
    """The result of an earlier run; None where there is no readable one."""
    try:
        document = json.loads(path.read_bytes())
        return {name: document[name] for name in ("result", "cpu_seconds")}
    except (OSError, ValueError, KeyError, TypeError):
        return None
