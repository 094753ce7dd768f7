"""Workers of this computer."""

import threading
from collections.abc import Iterable
from queue import SimpleQueue

from certree.api.workers.slot import Slot
from certree.api.workers.task import Outcome, Outcomes, Task


class LocalPool:
    """A number of slots on this computer."""

    def __init__(self, workers: int) -> None:
        self._slots = [Slot() for _ in range(workers)]

    def run(self, tasks: Iterable[Task]) -> Outcomes:
        """Outcomes as tasks end. Tasks are taken from the iterable when a slot is free. What still runs is ended when the caller
        stops asking, on Ctrl-C too."""
        left, lock, stopped = iter(tasks), threading.Lock(), threading.Event()
        done: SimpleQueue[tuple[Task, Outcome] | BaseException | None] = SimpleQueue()

        def work(slot: Slot) -> None:
            try:
                while True:
                    with lock:
                        task = None if stopped.is_set() else next(left, None)
                    if task is None:
                        break
                    done.put((task, slot.run(task.request())))
                done.put(None)
            except BaseException as error:  # of the iterable, or of starting a process: the caller gets it
                done.put(error)

        threads = [threading.Thread(target=work, args=(slot,), daemon=True) for slot in self._slots]
        for thread in threads:
            thread.start()
        try:
            working = len(threads)
            while working:
                found = done.get()
                if isinstance(found, BaseException):
                    raise found
                if found is None:
                    working -= 1
                else:
                    yield found
        finally:
            stopped.set()
            for slot in self._slots:
                slot.kill()
            for thread in threads:
                thread.join()
            for slot in self._slots:
                slot.close()
