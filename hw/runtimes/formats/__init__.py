"""Formats of communication runtimes: one module each, registered by decorator and discovered in this folder."""

from collections.abc import Callable
from dataclasses import dataclass

from certree.models.common.registry import Registry, import_folder
from certree.models.schedule.schedule import Schedule


@dataclass(frozen=True)
class RuntimeFormat:
    """`write`: a schedule to the bytes of a file whose name ends in `suffix`."""

    suffix: str
    write: Callable[[Schedule], bytes]

    def __post_init__(self) -> None:
        object.__setattr__(self, "__doc__", self.write.__doc__)


RUNTIME_FORMATS: Registry[RuntimeFormat] = Registry("runtime format")


def load_runtime_formats() -> Registry[RuntimeFormat]:
    """The registry, with every module of this folder imported."""
    import_folder(__name__)
    return RUNTIME_FORMATS
