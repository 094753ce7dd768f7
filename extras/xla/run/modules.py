"""Modules of schedules, imported from memory."""

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

from certree.api.api_errors import InvalidScheduleError
from certree.api.inputs import schedule_of
from certree.extras.xla.make.permutes import lower_to_permutes
from certree.extras.xla.model.jax_module import written_module
from certree.extras.xla.model.template_module import function_name
from certree.models.common.errors import ToolMissingError
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule, written_out
from certree.verify.checker import verify_schedule

MOST_MODULES = 64  # modules that are kept
_KNOWN: dict[str, ModuleType] = {}


def require_jax() -> None:
    """Raise ToolMissingError where JAX is not installed."""
    if importlib.util.find_spec("jax") is None:
        raise ToolMissingError("JAX is not installed; pip install 'certree[jax]'")


def module_text(source: str | Path | AnySchedule) -> bytes:
    """The module of a valid schedule. InvalidScheduleError, and UnsupportedError as `lower_to_permutes`."""
    schedule = written_out(schedule_of(source))
    verdict = verify_schedule(schedule)
    if not verdict.valid:
        raise InvalidScheduleError(schedule, verdict)
    return written_module(lower_to_permutes(schedule))


def module_of(source: str | Path | AnySchedule) -> ModuleType:
    """The module of a schedule, imported; the same one for the same schedule. ToolMissingError where JAX is not installed."""
    require_jax()
    schedule = written_out(schedule_of(source))
    if schedule.digest not in _KNOWN:
        while len(_KNOWN) >= MOST_MODULES:
            del _KNOWN[next(iter(_KNOWN))]
        _KNOWN[schedule.digest] = executed(module_text(schedule), f"<certree-jax {schedule.digest[:12]}>")
    return _KNOWN[schedule.digest]


def executed(text: bytes, name: str) -> ModuleType:
    """The module that a text is."""
    made = ModuleType("certree_jax_module")
    exec(compile(text, name, "exec"), made.__dict__)  # the text is certree's own, of `written_module`
    return made


def function_of(made: ModuleType) -> Any:
    """The collective of a module."""
    return getattr(made, function_name(made.COLLECTIVE))
