"""Workers of a cluster, through Dask: those of a scheduler that runs, or jobs of a batch system that are started and ended here.

A worker of Dask keeps hosts, as a local one does, so that a task that crashes costs no worker; where a worker is lost, its task is
given to another one. At most AHEAD tasks per thread are with the scheduler: it stays as fast for a million of them.
"""

import logging
import queue
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from typing import Any

from certree.extras.workers.slot import Slot
from certree.extras.workers.task import KILLED, Outcome, Outcomes, Task, program_digest
from certree.models.common.errors import InputError, ToolMissingError, UndecidedError

AHEAD = 4  # tasks for each thread of the workers that the scheduler knows of
LEAST_AHEAD = 64  # while none is known: jobs of a batch system may start later
CONNECT_SECONDS = 5
DEFAULT_MEMORY = "4GB"  # of a job with one core, where Dask's configuration states none
_INSTALL = "pip install 'certree[cluster]'"


class DaskPool:
    """The workers of a scheduler, or that many `jobs` of a batch system; a connection for each `run`."""

    def __init__(self, scheduler: str | None, cluster: str | None, jobs: int) -> None:
        self._scheduler, self._cluster, self._jobs = scheduler, cluster, jobs

    def run(self, tasks: Iterable[Task | None]) -> Outcomes:
        """Outcomes as tasks end; None among the tasks: no more before the next outcome.

        UndecidedError where the scheduler is lost."""
        with ExitStack() as stack:
            client = stack.enter_context(_client(self._scheduler, self._cluster, self._jobs))
            _require_same_program(client)
            try:
                yield from _outcomes(client, iter(tasks))
            except (OSError, TimeoutError) as error:
                raise UndecidedError(f"the connection to the scheduler is lost: {error}") from None


def _outcomes(client: Any, tasks: Iterator[Task | None]) -> Outcomes:
    from distributed import as_completed

    waiting: dict[Any, Task] = {}
    finished = as_completed(loop=client.loop)

    def submit() -> None:
        threads = sum(client.nthreads().values())
        for _ in range(max(LEAST_AHEAD, AHEAD * threads) - len(waiting)):
            task = next(tasks, None)
            if task is None:
                return
            future = client.submit(_run_there, task.request(), program_digest(), key=f"certree-{task.key}", pure=False)
            waiting[future] = task
            finished.add(future)

    submit()
    while waiting:
        for future in finished.next_batch(block=True):
            task = waiting.pop(future)
            yield task, _outcome(future)
            future.release()
        submit()


def _outcome(future: Any) -> Outcome:
    from distributed import KilledWorker

    try:
        found = future.result()
    except KilledWorker as error:
        return Outcome(error=f"several workers ended while they ran it, the last one {error.last_worker.address}", kind=KILLED)
    return Outcome(**found)


def _run_there(request: Mapping[str, Any], digest: str) -> dict[str, Any]:
    """On a worker of Dask: the fields of the outcome of one task."""
    if program_digest() != digest:
        return {"error": "this worker has another version of certree", "kind": InputError.__name__}
    idle = _idle_slots()
    try:
        slot = idle.get_nowait()
    except queue.Empty:
        slot = Slot()
    try:
        return vars(slot.run(request))
    finally:
        idle.put(slot)


def _digest_there() -> str:
    return program_digest()


@cache
def _idle_slots() -> "queue.SimpleQueue[Slot]":
    """Slots of this worker that run nothing: as many are made as tasks run at once."""
    return queue.SimpleQueue()


def _require_same_program(client: Any) -> None:
    """Raise InputError where a worker that is there already has no certree, or another one."""
    for address, digest in client.run(_digest_there, on_error="return").items():
        if isinstance(digest, BaseException):
            raise InputError(f"the worker {address} cannot run certree: {type(digest).__name__}: {digest}")
        if digest != program_digest():
            raise InputError(f"the worker {address} has another version of certree; install the same on all of them")


@contextmanager
def _client(scheduler: str | None, cluster: str | None, jobs: int) -> Iterator[Any]:
    """A client of the scheduler, or of a new one with jobs; its own messages are left out, since errors are told here."""
    try:
        import distributed
    except ImportError:
        raise ToolMissingError(f"sweeps on a cluster need distributed: {_INSTALL}") from None
    for name in ("distributed", "tornado", "asyncio", "dask_jobqueue"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    with ExitStack() as stack:
        address: Any = scheduler
        if cluster is not None:
            address = stack.enter_context(_started_jobs(cluster, jobs))
        try:
            client = stack.enter_context(distributed.Client(address, timeout=CONNECT_SECONDS))
        except (OSError, ValueError, TimeoutError) as error:
            reason = " ".join(str(error).split()) or type(error).__name__
            raise InputError(f"the scheduler {address} cannot be reached: {reason}") from None
        yield client


@contextmanager
def _started_jobs(name: str, count: int) -> Iterator[Any]:
    """A scheduler in this process, and that many jobs of one core each."""
    try:
        import dask
        import dask_jobqueue
    except ImportError:
        raise ToolMissingError(f"--cluster {name} needs dask-jobqueue: {_INSTALL}") from None
    kinds: dict[str, tuple[Callable[..., Any], str]] = {
        "slurm": (dask_jobqueue.SLURMCluster, "sbatch"),
        "pbs": (dask_jobqueue.PBSCluster, "qsub"),
        "lsf": (dask_jobqueue.LSFCluster, "bsub"),
    }
    kind, command = kinds[name]
    if shutil.which(command) is None:
        raise ToolMissingError(f"--cluster {name} needs {command}, which is not installed here")
    memory = dask.config.get(f"jobqueue.{name}.memory", None) or DEFAULT_MEMORY
    try:
        cluster = kind(cores=1, processes=1, memory=memory, scheduler_options={"dashboard_address": ":0"})
        cluster.scale(jobs=count)
    except (OSError, RuntimeError, ValueError) as error:
        raise InputError(f"--cluster {name}: {' '.join(str(error).split())}") from None
    try:
        yield cluster
    finally:
        with suppress(Exception):  # jobs that cannot be ended end when they find no scheduler
            cluster.close()
