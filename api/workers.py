"""The workers that a call asks for: processes of this computer, or of a cluster."""

import os
import re
from collections.abc import Generator, Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from certree.models.common.errors import InputError, unknown_name
from certree.models.common.extras import provided

Cluster: TypeAlias = Literal["slurm", "pbs", "lsf"]
CLUSTERS: tuple[Cluster, ...] = ("slurm", "pbs", "lsf")


def cores() -> int:
    """The number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(frozen=True)
class Workers:
    """`count` processes of this computer, by default one for each core; or the workers of a Dask scheduler at an address
    (`tcp://HOST:PORT`); or `count` jobs of a batch system, whose queue, memory and time Dask's configuration states.

    >>> import certree.api as ct
    >>> ct.Workers(4).number
    4
    """

    count: int | None = None
    scheduler: str | None = None
    cluster: Cluster | None = None

    def __post_init__(self) -> None:
        if self.count is not None and self.count < 1:
            raise InputError(f"workers is {self.count}; allowed: whole numbers from 1")
        if self.cluster is not None and self.cluster not in CLUSTERS:
            raise InputError(unknown_name("cluster", self.cluster, CLUSTERS))
        if self.scheduler is not None and not re.fullmatch(r"(tcp|tls)://\S+:[0-9]{1,5}", self.scheduler):
            raise InputError(f"scheduler {self.scheduler!r}: expected an address such as tcp://HOST:8786")
        if self.scheduler is not None and (self.cluster is not None or self.count is not None):
            other = "--cluster" if self.cluster is not None else "--workers"
            raise InputError(f"--scheduler and {other} exclude each other: a scheduler has workers of its own")
        if self.cluster is not None and self.count is None:
            raise InputError(f"--cluster {self.cluster} needs --workers: the number of jobs")

    @classmethod
    def of(cls, workers: "int | Workers | None", default: int | None = None) -> "Workers":
        """The workers themselves, or that many processes, by default `default` or one for each core."""
        return workers if isinstance(workers, Workers) else cls(default if workers is None else workers)

    @property
    def is_remote(self) -> bool:
        """Whether tasks go through Dask."""
        return self.scheduler is not None or self.cluster is not None

    @property
    def is_one(self) -> bool:
        """Whether there is one worker, of this computer."""
        return not self.is_remote and self.number == 1

    @property
    def number(self) -> int:
        """The number of processes of this computer, or jobs."""
        return self.count or cores()

    def at_most(self, tasks: int) -> "Workers":
        """These workers, with no more processes of this computer than there are tasks."""
        return self if self.is_remote else replace(self, count=max(1, min(self.number, tasks)))

    def run(self, tasks: Iterable[Any]) -> Generator[Any, None, None]:
        """Outcomes of tasks (`certree.extras.workers.task`) as they end. None among the tasks: the next one depends on outcomes,
        and is asked for after each. What still runs is ended when the caller stops asking.

        InputError, before anything runs, for a scheduler that cannot be reached, or one whose workers have another version of
        certree.
        """
        yield from provided("outcomes of workers")(self, tasks)
