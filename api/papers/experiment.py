"""Parts of a figure or table of a paper: tasks for worker processes, cells, a plot; and the registry of experiments."""

import functools
import hashlib
import importlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

from certree.api.pictures.figure import Plot
from certree.models.common.errors import InputError
from certree.models.common.fields import Fields
from certree.models.common.files import canonical_json, sha256
from certree.models.common.registry import Registry, import_folder

Value = Fraction | str


@dataclass(frozen=True)
class Task:
    """One piece of work: `function`, of a module's top level, gets `arguments` (plain JSON) in a worker and gives plain JSON.

    `arguments` must hold everything that the result depends on, contents of files included: results are stored under `key`.
    """

    label: str
    function: Callable[[Mapping[str, Any]], dict[str, Any]]
    arguments: Mapping[str, Any]

    @property
    def key(self) -> str:
        """The same for the same work by the same program."""
        name = f"{self.function.__module__}.{self.function.__qualname__}"
        return sha256(canonical_json([name, self.arguments, program_digest()]))[:24]


@functools.cache
def program_digest() -> str:
    """SHA-256 of certree's own code that synthesizes, checks, simulates or measures: results of another version are not reused."""
    digest = hashlib.sha256()
    for package in ("models", "synth", "verify", "hw", "api"):
        for folder in importlib.import_module(f"certree.{package}").__path__:
            for path in sorted(Path(folder).rglob("*.py")):
                digest.update(path.read_bytes())
    for native in ("certree.hw._core", "certree.synth._native"):
        digest.update(Path(importlib.import_module(native).__file__ or "").read_bytes())
    return digest.hexdigest()


@dataclass(frozen=True)
class Cell:
    """One value of a table: an exact number, or a text such as the name of a plan.

    `reason`: why `ours` is None, or how it came about where that is not as asked for. `more` (plain JSON) is what else is known of
    it, such as simulated cycles.
    """

    row: str
    column: str
    ours: Value | None
    reason: str | None = None
    more: Mapping[str, Any] = field(default_factory=dict)


class Experiment(ABC):
    """Computation and drawing of the cells of one target; made from the target's file by an entry of EXPERIMENTS."""

    @abstractmethod
    def tasks(self) -> Sequence[Task]:
        """All tasks; one that is given twice is run once."""

    @abstractmethod
    def cells(self, results: Sequence[Mapping[str, Any]]) -> list[Cell]:
        """The table, row by row, from the results in the order of `tasks`."""

    def plot(self, cells: Sequence[Cell]) -> Plot | None:
        """The plot of the paper's figure; None where the paper has a table."""
        return None

    @abstractmethod
    def smoke(self) -> "Experiment":
        """A subset that takes seconds."""

    def titled(self, title: str) -> str:
        """The title of the target for what is computed: with names in braces replaced, where the experiment has such."""
        return title

    def on(self, networks: Sequence[str]) -> "Experiment":
        """The same on other networks; InputError where that does not apply."""
        raise InputError(f"--topology {networks[0]}: this target has networks of its own")


#: `experiment` of a target file -> what reads the other fields; the first line of its docstring is its help text
EXPERIMENTS: Registry[Callable[[Fields], Experiment]] = Registry("experiment")


def load_experiments() -> Registry[Callable[[Fields], Experiment]]:
    """The registry, with every module of `certree.api.papers.experiments` imported."""
    import_folder("certree.api.papers.experiments")
    return EXPERIMENTS
