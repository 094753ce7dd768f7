"""Executors of other extras: what else than processes of this computer or of MPI executes a schedule.

A class that is registered by `executor` is offered by `certree execute --on NAME` and by `execute(on=NAME)`.
"""

from dataclasses import dataclass, field
from typing import Any, Protocol

from certree.extras.runtimes.run.duties import Duties
from certree.extras.runtimes.run.local import Outcome
from certree.models.common.extras import import_plug_ins
from certree.models.common.registry import Registry
from certree.models.schedule.schedule import Schedule


@dataclass(frozen=True)
class Task:
    """The task of an executor: the duties of a valid schedule, with elements of a type. `devices`: how many were asked for, or
    None."""

    schedule: Schedule
    duties: Duties
    message_bytes: int
    type: str
    operation: str
    iterations: int
    seconds: float
    devices: int | None


@dataclass(frozen=True)
class Results:
    """Outcomes of all ranks. `more`: what else the executor reports, by key of the document `execute`; `words`: a line of it."""

    outcomes: list[Outcome]
    more: dict[str, Any] = field(default_factory=dict)
    words: str = ""


class Executor(Protocol):
    """An executor; the docstring of its class is its help text."""

    def execute(self, task: Task) -> Results:
        """Execute a task. InputError for another number of devices, ExecutionError where it fails, ToolMissingError."""
        ...


EXECUTORS: Registry[type[Executor]] = Registry("executor")


def load_executors() -> Registry[type[Executor]]:
    """The registry, with the executors of all extras imported."""
    import_plug_ins("executors")
    return EXECUTORS
