"""All interpretations of GenModel's flow-level simulation compared with the numbers of a paper, and the nearest one."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from certree.extras.costs.model.flows.time import all_readings
from certree.extras.papers.experiment import EXPERIMENTS, Cell, Experiment
from certree.extras.papers.experiments.costs.flow_times import FlowTimes
from certree.extras.papers.target import Target, compared, load_target
from certree.extras.workers.task import Task
from certree.models.common.fields import Fields

NEAR = (Fraction(1, 20), Fraction(1, 10))
TEST = ", out of sample"
NONE = Fraction(0)


@dataclass(frozen=True)
class _FlowReadings(Experiment):
    target: Target
    times: FlowTimes

    def tasks(self) -> list[Task]:
        return self.times.tasks_read_as(all_readings())

    def cells(self, results: Sequence[Mapping[str, Any]]) -> list[Cell]:
        cells: list[Cell] = []
        means: dict[tuple[str, str], Fraction] = {}
        for number, reading in enumerate(all_readings()):
            found = [entry for entry in compared(self.target, self.times.cells_of(results, number)) if entry.difference is not None]
            fitted = [abs(entry.difference or NONE) for entry in found if entry.fitted]
            others = [abs(entry.difference or NONE) for entry in found if not entry.fitted]
            for words, off in (("", fitted or others), (TEST, others if fitted else [])):
                if off:
                    cells += _deviations(str(reading), words, off)
                    means[words, str(reading)] = sum(off, Fraction(0)) / len(off)
        for words in dict.fromkeys(words for words, _ in means):
            of_these = {reading: mean for (name, reading), mean in means.items() if name == words}
            cells.append(Cell("nearest", f"mean deviation{words}", min(of_these, key=lambda name: (of_these[name], name))))
        return cells

    def smoke(self) -> "_FlowReadings":
        return _FlowReadings(self.target, self.times.smoke())


def _deviations(reading: str, words: str, off: Sequence[Fraction]) -> Iterator[Cell]:
    """The deviations of a reading on some cells: how many are near, the mean and the largest deviation."""
    for near in NEAR:
        within = Fraction(sum(deviation <= near for deviation in off))
        yield Cell(reading, f"within {100 * near} %{words}", within, more={"cells": len(off)})
    yield Cell(reading, f"mean deviation{words}", sum(off, Fraction(0)) / len(off))
    yield Cell(reading, f"largest{words}", max(off))


@EXPERIMENTS.register("flow-readings")
def flow_readings(fields: Fields) -> Experiment:
    """All readings of the flow-level simulation on the cells that target `of` (experiment flow-times) has and its paper states.

    A row for each reading: of how many cells it comes within 5 and 10 %, its mean and its largest deviation. Of equally good ones
    the first by name is `nearest`. Cells that the target calls fitted and others, which test the choice, have columns of their own.
    """
    target = load_target(fields.text("of"))
    if not isinstance(target.experiment, FlowTimes):
        fields.refuse(f"of is {target.name!r}; expected a target with the experiment flow-times")
    stated = tuple(line for line in target.experiment.lines if _is_stated(target, line.name, target.experiment.floats))
    if not stated:
        fields.refuse(f"of is {target.name!r}, where the paper states nothing to compare with")
    return _FlowReadings(target, replace(target.experiment, lines=stated))


def _is_stated(target: Target, row: str, columns: Sequence[str]) -> bool:
    """Whether the paper states any cell of a row."""
    return any(entry.paper is not None for entry in compared(target, [Cell(row, column, None) for column in columns]))
