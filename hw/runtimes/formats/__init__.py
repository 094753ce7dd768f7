"""Formats of communication runtimes: one module each, registered by decorator and discovered in this folder."""

from collections.abc import Callable

from certree.models.common.registry import Registry, import_folder
from certree.models.programs.program import Program
from certree.models.schedule.schedule import Schedule

#: name -> the program that a schedule becomes, and the bytes of its file
RuntimeFormat = Callable[[Schedule], tuple[Program, bytes]]
RUNTIME_FORMATS: Registry[RuntimeFormat] = Registry("runtime format")


def load_runtime_formats() -> Registry[RuntimeFormat]:
    """The registry, with every module of this folder imported."""
    import_folder(__name__)
    return RUNTIME_FORMATS
