"""Outcomes of tasks on the workers that a call asks for: processes of this computer, or of a cluster."""

from collections.abc import Iterable

from certree.api.workers import Workers
from certree.extras.workers.task import Outcomes, Task


def outcomes(workers: Workers, tasks: Iterable[Task | None]) -> Outcomes:
    """Outcomes as tasks end; see `certree.api.workers.Workers.run`."""
    if workers.is_remote:
        from certree.extras.workers.cluster import DaskPool

        yield from DaskPool(workers.scheduler, workers.cluster, workers.number).run(tasks)
    else:
        from certree.extras.workers.local import LocalPool

        yield from LocalPool(workers.number).run(tasks)
