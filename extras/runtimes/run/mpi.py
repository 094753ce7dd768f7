"""Execution by the processes that `mpirun` started (mpi4py).

Every transfer is a point-to-point message, whose tag is its place among those of the two ranks, modulo the largest tag; barriers
and the gathering of results are MPI's collectives. A rank that fails or waits too long says why and aborts all.
"""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from certree.extras.runtimes.run.duties import Duties, Duty
from certree.extras.runtimes.run.local import Outcome
from certree.extras.runtimes.run.numbers import TYPES, Vector
from certree.extras.runtimes.run.work import Work
from certree.models.common.errors import InputError, ToolMissingError

_SIZES = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_SIZE")
_TAGS = 1 << 14  # every MPI has as many
_PAUSE = 50e-6  # seconds between two looks


def started_by_mpi() -> bool:
    """Whether this process is one of several that `mpirun` started."""
    return any(os.environ.get(name, "1") != "1" for name in _SIZES)


def world() -> Any:
    """MPI's communicator of all processes; ToolMissingError without mpi4py."""
    try:
        from mpi4py import MPI
    except ImportError:
        raise ToolMissingError("mpirun started this process, but mpi4py is not installed: pip install 'certree[mpi]'") from None
    return MPI.COMM_WORLD


@dataclass
class MpiRun:
    """The part of this process. `ranks`: for each rank of MPI the rank of the schedule. `fail` receives the fault of this rank; it
    says so and ends all processes."""

    communicator: Any
    duties: Duties
    kind: str
    operation: str
    deadline: float
    ranks: list[int]
    fail: Callable[[str], NoReturn]

    def execute(self, iterations: int) -> list[Outcome] | None:
        """The outcomes of all ranks in rank 0 of MPI, None in the others. Aborts all processes when one fails."""
        self.pending: list[Any] = []
        self.process = {rank: at for at, rank in enumerate(self.ranks)}
        self.tags = {duty.number: at % _TAGS for sent in self.duties.messages.values() for at, duty in enumerate(sent)}
        work = Work(self.ranks[self.communicator.Get_rank()], self.duties, self.kind, self.operation, self._send, self._receive)
        self.rank = work.rank
        seconds = []
        for _ in range(iterations + 1):
            work.load()
            self._wait(self.communicator.Ibarrier(), "the other ranks were not ready")
            start = time.perf_counter()
            work.run()
            for request in self.pending:
                self._wait(request, "a message was not taken")
            self.pending.clear()
            seconds.append(time.perf_counter() - start)
        found = self.communicator.gather((work.rank, Outcome(work.digests(), seconds[1:])), root=0)
        return None if found is None else [outcome for _, outcome in sorted(found, key=lambda entry: entry[0])]

    def all_reduce_seconds(self, message_bytes: int, iterations: int) -> float | None:
        """The fastest of as many of MPI's own all-reduces, on the slowest rank; None where MPI has not the type."""
        if self.kind not in ("float32", "int32"):
            return None
        values = np.ones(message_bytes // 4, TYPES[self.kind])
        result, best = np.empty_like(values), float("inf")
        for _ in range(iterations + 1):
            self._wait(self.communicator.Ibarrier(), "the other ranks were not ready")
            start = time.perf_counter()
            self._wait(self.communicator.Iallreduce(values, result), "MPI's all-reduce did not end")
            best = min(best, max(self.communicator.allgather(time.perf_counter() - start)))
        return best

    def _send(self, duty: Duty, values: Vector) -> None:
        data = np.ascontiguousarray(values).view(np.uint8)
        self.pending.append(self.communicator.Isend(data, dest=self.process[duty.peer], tag=self.tags[duty.number]))

    def _receive(self, duty: Duty) -> Vector:
        values = np.empty(self.duties.counts[duty.dst[0]], TYPES[self.kind])
        request = self.communicator.Irecv(values.view(np.uint8), source=self.process[duty.peer], tag=self.tags[duty.number])
        self._wait(request, f"message {duty.number} from rank {duty.peer} did not come")
        return values

    def _wait(self, request: Any, fault: str) -> None:
        while not request.Test():
            if time.monotonic() > self.deadline:
                self.fail(f"rank {self.rank}: {fault} within the time limit")
            time.sleep(_PAUSE)


def check_size(communicator: Any, ranks: int, who: str) -> None:
    """Raise InputError unless there are as many processes as ranks; `who` has one each, in words."""
    if communicator.Get_size() != ranks:
        raise InputError(f"mpirun started {communicator.Get_size()} processes; {who}")
