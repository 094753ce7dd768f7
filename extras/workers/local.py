"""Workers of this computer."""

import threading
from collections.abc import Iterable
from queue import SimpleQueue

from certree.extras.workers.slot import Slot
from certree.extras.workers.task import Outcome, Outcomes, Task

END = object()  # of the tasks


class LocalPool:
    """A number of slots on this computer."""

    def __init__(self, workers: int) -> None:
        self._slots = [Slot() for _ in range(workers)]

    def run(self, tasks: Iterable[Task | None]) -> Outcomes:
        """Outcomes as tasks end. Tasks are taken from the iterable when a slot is free and the caller has all outcomes; None stands
        for one that depends on outcomes, and is asked for after the next. What still runs is ended when the caller stops asking, on
        Ctrl-C too."""
        left, taken, stopped = iter(tasks), threading.Condition(), threading.Event()
        waiting: list[Task] = []  # that ended, and whose outcome the caller does not have yet
        done: SimpleQueue[tuple[Task, Outcome] | BaseException | None] = SimpleQueue()

        def following() -> Task | None:
            with taken:
                while not stopped.is_set():
                    if not waiting and (task := next(left, END)) is not None:
                        return task if isinstance(task, Task) else None
                    taken.wait()
            return None

        def work(slot: Slot) -> None:
            try:
                while (task := following()) is not None:
                    outcome = slot.run(task.request())
                    with taken:
                        waiting.append(task)
                    done.put((task, outcome))
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
                    with taken:
                        waiting.remove(found[0])
                        taken.notify_all()
        finally:
            stopped.set()
            with taken:
                taken.notify_all()
            for slot in self._slots:
                slot.kill()
            for thread in threads:
                thread.join()
            for slot in self._slots:
                slot.close()
