"""A task for a worker process, the key of its result, and its outcome."""

import functools
import hashlib
import importlib
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from certree.api import api_errors
from certree.models.common import errors
from certree.models.common.errors import CertreeError, UndecidedError
from certree.models.common.files import canonical_json, sha256

KILLED, TIMED_OUT, INTERNAL = "killed", "timed out", "internal"


@dataclass(frozen=True)
class Task:
    """One piece of work: `function`, of a module's top level, gets `arguments` (plain JSON) in a worker and gives plain JSON.

    Results are stored under `key`: `stored_as`, or else a hash of the function, the arguments and the program. It must depend on
    everything that the result depends on, contents of files included. `time_limit`: seconds of wall time after which the task is
    ended.
    """

    label: str
    function: Callable[[Mapping[str, Any]], dict[str, Any]]
    arguments: Mapping[str, Any]
    stored_as: str | None = None
    time_limit: float | None = None

    @property
    def key(self) -> str:
        """A text that is the same for the same work by the same program."""
        return self.stored_as or key_of(self.function, self.arguments)

    def request(self) -> dict[str, Any]:
        """Plain JSON for a host: the function by name, its arguments and the limit."""
        name = [self.function.__module__, self.function.__qualname__]
        return {"function": name, "arguments": self.arguments, "time_limit": self.time_limit}


def key_of(function: Callable[..., Any], inputs: Mapping[str, Any]) -> str:
    """The key of what a function makes of these inputs, by this version of the program."""
    name = f"{function.__module__}.{function.__qualname__}"
    return sha256(canonical_json([name, inputs, program_digest()]))[:24]


@functools.cache
def program_digest() -> str:
    """SHA-256 of certree's own code that synthesizes, checks, simulates or measures: results of another version are not reused."""
    digest = hashlib.sha256()
    for package in ("models", "synth", "verify", "hw", "api", "extras"):
        for folder in importlib.import_module(f"certree.{package}").__path__:
            for path in sorted(Path(folder).rglob("*.py")):
                digest.update(path.read_bytes())
    for native in ("certree.hw._core", "certree.models._lists", "certree.synth._native"):
        digest.update(Path(importlib.import_module(native).__file__ or "").read_bytes())
    return digest.hexdigest()


@dataclass(frozen=True)
class Outcome:
    """The outcome of a task: its `result`, or the `error` and its `kind` (the name of an exception, KILLED, TIMED_OUT, INTERNAL);
    and what it took, on which computer."""

    result: dict[str, Any] | None = None
    error: str | None = None
    kind: str | None = None
    cpu_seconds: float = 0.0
    wall_seconds: float = 0.0
    host: str = ""

    def value(self) -> dict[str, Any]:
        """The result; otherwise the exception that the task raised, UndecidedError where its process was ended."""
        if self.result is not None:
            return self.result
        message = self.error or ""
        if self.kind == KILLED:
            raise UndecidedError(f"a worker process was killed ({message}; out of memory?); fewer --workers may help")
        if self.kind == TIMED_OUT:
            raise UndecidedError(message)
        kind = getattr(errors, self.kind or "", None) or getattr(api_errors, self.kind or "", None)
        if isinstance(kind, type) and issubclass(kind, CertreeError):
            raise kind(message)
        raise RuntimeError(message)


#: outcomes as tasks end; closing it ends what runs
Outcomes: TypeAlias = Generator[tuple[Task, Outcome], None, None]
