"""Parts of a figure or table of a paper: tasks, cells, a plot; and the registry of experiments."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from certree.extras.reports.make.figure import Plot
from certree.extras.workers.task import Task
from certree.models.common.errors import InputError
from certree.models.common.fields import Fields
from certree.models.common.registry import Registry, import_folder

Value = Fraction | str


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

    def tasks(self) -> Sequence[Task]:
        """All tasks, none by default; one that is given twice is run once."""
        return ()

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
        """The experiment on other networks; InputError where that does not apply."""
        raise InputError(f"--topology {networks[0]}: this target has networks of its own")


#: `experiment` of a target file -> what reads the other fields; the first line of its docstring is its help text
EXPERIMENTS: Registry[Callable[[Fields], Experiment]] = Registry("experiment")


def load_experiments() -> Registry[Callable[[Fields], Experiment]]:
    """The registry, with every module of `certree.extras.papers.experiments` imported."""
    import_folder("certree.extras.papers.experiments")
    return EXPERIMENTS
