"""Traces that extras add to `model-check trace`: how one is recognized, what is given with it, and how it is checked."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from certree.models.common.extras import import_plug_ins
from certree.verify.tla.model_runs import ModelResult


@dataclass(frozen=True)
class Takes:
    """What is given with a kind of trace: options by the names of their parameters, numbers of NAMES; and both in words."""

    options: frozenset[str]
    names: tuple[int, ...]
    words: str


@dataclass(frozen=True)
class TraceKind:
    """A kind of trace. `check`: the result for a file, NAMES, the bytes of the message, and a limit in seconds."""

    matches: Callable[[Path], bool]
    takes: Takes
    check: Callable[[Path, Sequence[str], int, float], ModelResult]


TRACE_KINDS: list[TraceKind] = []


def added_kind(trace: Path) -> TraceKind | None:
    """The kind of a trace that an extra checks; None for any other file."""
    import_plug_ins("traces")
    return next((kind for kind in TRACE_KINDS if kind.matches(trace)), None)
