"""Schedules that extras add to `model-check schedule`: how one is recognized, and how it is checked."""

from collections.abc import Callable
from dataclasses import dataclass

from certree.extras.tla.check.model_runs import ModelResult
from certree.models.common.extras import import_plug_ins


@dataclass(frozen=True)
class ScheduleKind:
    """A kind of schedule with a model of its own: its name in words, whether a source, an object or a path, is one, and the result
    of its check in so many seconds."""

    words: str
    matches: Callable[[object], bool]
    check: Callable[[object, float], ModelResult]


SCHEDULE_KINDS: list[ScheduleKind] = []


def added_schedule(source: object) -> ScheduleKind | None:
    """The kind of a schedule that an extra checks; None for any other source."""
    import_plug_ins("models")
    return next((kind for kind in SCHEDULE_KINDS if kind.matches(source)), None)
