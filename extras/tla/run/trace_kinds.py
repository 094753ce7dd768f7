"""Traces that extras add to `model-check trace`: how one is recognized, what is given with it, and how it is checked."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from certree.api.settings import Tell
from certree.extras.tla.check.model_runs import ModelResult
from certree.models.common.extras import import_plug_ins
from certree.models.machine.machine import Machine


@dataclass(frozen=True)
class Takes:
    """The arguments of a kind of trace: options by the names of their parameters, numbers of NAMES; and both in words."""

    options: frozenset[str]
    names: tuple[int, ...]
    words: str


@dataclass(frozen=True)
class Asked:
    """The arguments of `model_check` for a trace; `time_limit` in seconds."""

    trace: Path
    names: Sequence[str]
    size: int | str | None
    machine: str | Path | Machine | None
    window: int | None
    aggregators: int | None
    time_limit: float
    tell: Tell
    endpoint_params: str | None = None
    run: str | None = None


@dataclass(frozen=True)
class TraceKind:
    """A kind of trace: whether a file is one, what is given with it, and the results of its check."""

    matches: Callable[[Path], bool]
    takes: Takes
    check: Callable[[Asked], list[ModelResult]]


TRACE_KINDS: list[TraceKind] = []


def added_kind(trace: Path) -> TraceKind | None:
    """The kind of a trace that an extra checks; None for any other file."""
    import_plug_ins("traces")
    return next((kind for kind in TRACE_KINDS if kind.matches(trace)), None)
