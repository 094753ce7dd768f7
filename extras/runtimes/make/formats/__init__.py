"""Formats of communication runtimes: one module each, registered by decorator and discovered in this folder."""

from collections.abc import Callable
from dataclasses import dataclass

from certree.models.common.registry import Registry, import_folder
from certree.models.machine.machine import Machine
from certree.models.schedule.schedule import Schedule

#: the smallest and the largest message, in bytes
Sizes = tuple[int, int]


@dataclass(frozen=True)
class RuntimeFormat:
    """`write`: a schedule, and the sizes that it is for (None: any), to the bytes of a file whose name ends in `suffix`.
    `write_folder`: (schedule, bytes of the message, machine, path of the folder) to the files of a folder, by name. One of the two
    is there.
    """

    suffix: str
    write: Callable[[Schedule, Sizes | None], bytes] | None = None
    write_folder: Callable[[Schedule, int, Machine, str], dict[str, bytes]] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "__doc__", (self.write or self.write_folder).__doc__)


RUNTIME_FORMATS: Registry[RuntimeFormat] = Registry("runtime format")


def load_runtime_formats() -> Registry[RuntimeFormat]:
    """The registry, with every module of this folder imported."""
    import_folder(__name__)
    return RUNTIME_FORMATS
