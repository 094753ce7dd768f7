"""Checks: functions that compute numbers which a paper states, and their registry."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import certree.api as ct
from certree.models.common.registry import Registry, import_folder
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.symmetric.symmetric_schedule import written_out

Number = Fraction | int | str


@dataclass(frozen=True)
class Found:
    """A number of a paper, computed again; both are exact, and agree when they are equal."""

    what: str
    ours: Number
    paper: Number

    @property
    def agrees(self) -> bool:
        """Whether both are equal."""
        return self.ours == self.paper

    def __str__(self) -> str:
        return f"{self.what}: {shown(self.ours)}" + ("" if self.agrees else f", the paper has {shown(self.paper)}")


#: name of a check -> what it finds; a line of the scorecard names it
CHECKS: Registry[Callable[[], Sequence[Found]]] = Registry("check")


def load_checks() -> Registry[Callable[[], Sequence[Found]]]:
    """The registry, with every module of `checks` imported."""
    import_folder("certree.extras.papers.scorecard.checks")
    return CHECKS


def shown(number: Number) -> str:
    """A number as the scorecard prints it: four digits of what is not an integer."""
    if isinstance(number, str):
        return number
    exact = Fraction(number)
    return f"{exact.numerator:,}" if exact.denominator == 1 else f"{float(exact):.4g}"


def yes(holds: bool) -> str:
    """The word for a statement that holds or does not."""
    return "yes" if holds else "no"


def schedule_of(network: str, collective: str = "all-reduce", *, method: str, **options: str) -> Schedule:
    """The schedule of a method, row by row; `options` are those of the method."""
    return written_out(ct.synthesize(network, collective, method=method, options=options))
