"""Workers of this computer."""

from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from queue import SimpleQueue

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
        # `concurrent.futures.wait` would hold the locks of futures when Ctrl-C comes, and their threads wait for these without end
        finished: SimpleQueue[Future[Outcome]] = SimpleQueue()
        with ExitStack() as ended:
            for slot in self._slots:
                ended.callback(slot.close)
            threads = ended.enter_context(ThreadPoolExecutor(len(self._slots)))
            for slot in self._slots:
                ended.callback(slot.kill)
            while True:
                while idle and (task := next(left, None)) is not None:
                    slot = idle.pop()
                    future = threads.submit(slot.run, task.request())
                    running[future] = task, slot
                    future.add_done_callback(finished.put)
                if not running:
                    return
                done = [finished.get()]
                while not finished.empty():
                    done.append(finished.get())
                for future in done:
                    task, slot = running.pop(future)
                    idle.append(slot)
                    yield task, future.result()
