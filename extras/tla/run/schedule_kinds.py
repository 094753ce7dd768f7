"""Schedules that extras add to `model-check schedule`: how one is recognized, and how it is checked."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from certree.api.settings import Tell
from certree.extras.tla.check.model_runs import ModelResult
from certree.models.common.extras import import_plug_ins


@dataclass(frozen=True)
class ScheduleKind:
    """A kind of schedule with a model of its own: its name in words, whether a source, an object or a path, is one, the result of
    its check within N seconds, which tells before how large it is, and, by option, why it takes none since it `states` that
    itself."""

    words: str
    matches: Callable[[object], bool]
    check: Callable[[object, float, Tell], ModelResult]
    states: Mapping[str, str] = field(default_factory=dict)


SCHEDULE_KINDS: list[ScheduleKind] = []


def added_schedule(source: object) -> ScheduleKind | None:
    """The kind of a schedule that an extra checks; None for any other source."""
    import_plug_ins("models")
    return next((kind for kind in SCHEDULE_KINDS if kind.matches(source)), None)
