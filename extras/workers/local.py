"""Workers of this computer."""

from collections.abc import Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack

from certree.extras.workers.slot import Slot
from certree.extras.workers.task import Outcome, Outcomes, Task


class LocalPool:
    """A number of slots on this computer."""

    def __init__(self, workers: int) -> None:
        self._slots = [Slot() for _ in range(workers)]

    def run(self, tasks: Iterable[Task | None]) -> Outcomes:
        """Outcomes as tasks end. Tasks are taken from the iterable when a slot is free and the caller has all outcomes; None stands
        for one that depends on outcomes, and is asked for after the next. What still runs is ended when the caller stops asking, on
        Ctrl-C too."""
        left, idle = iter(tasks), list(self._slots)
        running: dict[Future[Outcome], tuple[Task, Slot]] = {}
        with ExitStack() as ended:
            for slot in self._slots:
                ended.callback(slot.close)
            threads = ended.enter_context(ThreadPoolExecutor(len(self._slots)))
            for slot in self._slots:
                ended.callback(slot.kill)
            while True:
                while idle and (task := next(left, None)) is not None:
                    slot = idle.pop()
                    running[threads.submit(slot.run, task.request())] = task, slot
                if not running:
                    return
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    task, slot = running.pop(future)
                    idle.append(slot)
                    yield task, future.result()
