"""All interpretations of GenModel's flow-level simulation compared with the numbers of a paper, and the nearest one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from certree.api.papers.experiment import EXPERIMENTS, Cell, Experiment
from certree.api.papers.experiments.costs.flow_times import FlowTimes
from certree.api.papers.target import Target, compared, load_target
from certree.api.workers.task import Task
from certree.models.common.fields import Fields
from certree.models.cost.flows.time import all_readings

NEAR = (Fraction(1, 20), Fraction(1, 10))


@dataclass(frozen=True)
class _FlowReadings(Experiment):
    target: Target
    times: FlowTimes

    def tasks(self) -> list[Task]:
        return self.times.tasks_read_as(all_readings())

    def cells(self, results: Sequence[Mapping[str, Any]]) -> list[Cell]:
        cells: list[Cell] = []
        means: dict[str, Fraction] = {}
        for number, reading in enumerate(all_readings()):
            found = compared(self.target, self.times.cells_of(results, number))
            off = [abs(entry.difference) for entry in found if entry.difference is not None]
            if not off:
                continue
            means[str(reading)] = sum(off, Fraction(0)) / len(off)
            for near in NEAR:
                within = sum(deviation <= near for deviation in off)
                cells.append(Cell(str(reading), f"within {100 * near} %", Fraction(within), more={"cells": len(off)}))
            cells.append(Cell(str(reading), "mean deviation", means[str(reading)]))
            cells.append(Cell(str(reading), "largest", max(off)))
        if means:
            cells.append(Cell("nearest", "mean deviation", min(means, key=lambda name: (means[name], name))))
        return cells

    def smoke(self) -> "_FlowReadings":
        return _FlowReadings(self.target, self.times.smoke())


@EXPERIMENTS.register("flow-readings")
def flow_readings(fields: Fields) -> Experiment:
    """All readings of the flow-level simulation on the cells that target `of` (experiment flow-times) has and its paper states.

    A row for each reading: of how many cells it comes within 5 and 10 %, its mean and its largest deviation. Of equally good ones
    the first by name is `nearest`.
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
