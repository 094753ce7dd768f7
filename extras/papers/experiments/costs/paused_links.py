"""Exchanges of all with all on one switch whose links pause (GenTree, Fig. 3, Section 3.2)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from certree.extras.costs.model.flows.flows import flows_of
from certree.extras.costs.model.flows.pauses import parse_pauses
from certree.extras.costs.model.flows.time import FlowTimer, Reading
from certree.extras.costs.model.formulas.genmodel import load_genmodel
from certree.extras.papers.experiment import EXPERIMENTS, Cell, Experiment
from certree.extras.papers.experiments.costs.gentree_picks import read_floats
from certree.extras.papers.experiments.costs.plan_costs import trend
from certree.extras.papers.scorecard.check import schedule_of
from certree.extras.reports.make.figure import Panel, Plot, Series
from certree.extras.workers.task import Task
from certree.models.common.fields import Fields

PAUSES, LOST, INCAST = "pauses", "more time", "more time by Equation (7)"


@dataclass(frozen=True)
class _PausedLinks(Experiment):
    communicators: tuple[int, ...]
    floats: str
    model: str
    pauses: str

    def tasks(self) -> list[Task]:
        """One for each number of communicators."""
        return [Task(f"{count} communicators", time_exchange, self._arguments(count)) for count in self.communicators]

    def _arguments(self, count: int) -> dict[str, Any]:
        return {"communicators": count, "floats": self.floats, "model": self.model, "pauses": self.pauses}

    def cells(self, results: Sequence[Mapping[str, Any]]) -> list[Cell]:
        found = [
            Cell(f"{count} communicators", column, Fraction(result[column]))
            for count, result in zip(self.communicators, results, strict=True)
            for column in (PAUSES, LOST, INCAST)
        ]
        ours = {column: [Fraction(result[column]) for result in results] for column in (PAUSES, LOST, INCAST)}
        return [*found, *(Cell("from first to last", column, trend(values)) for column, values in ours.items())]

    def plot(self, cells: Sequence[Cell]) -> Plot:
        """Pauses, and the additional time by them and by Equation (7)."""
        panels = []
        for columns in ((PAUSES,), (LOST, INCAST)):
            lines = [[cell.ours for cell in cells if cell.column == column][:-1] for column in columns]
            points = [tuple(zip(map(float, self.communicators), map(float, line), strict=True)) for line in lines]  # type: ignore[arg-type]
            panels.append(Panel("", tuple(Series(name, line) for name, line in zip(columns, points, strict=True))))
        return Plot(tuple(panels), x_label="communicators", y_label="")

    def smoke(self) -> "_PausedLinks":
        """The fewest and the most communicators, with a hundredth of the floats."""
        few = (self.communicators[0], self.communicators[-1])
        return replace(self, communicators=tuple(dict.fromkeys(few)), floats=str(max(Fraction(self.floats) / 100, 1000)))


def time_exchange(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Pauses of an exchange of all with all on a switch, in which everyone receives `floats`; by what part longer it takes because
    of them, and by incast (Equation 7)."""
    count, model = arguments["communicators"], load_genmodel(arguments["model"])
    step = flows_of(schedule_of(f"switch:{count}", "reduce-scatter", method="cps"))[0]
    message = Fraction(arguments["floats"]) * count / (count - 1)  # of which everyone receives all parts but its own
    paused = FlowTimer(step.topology, model, message, Reading(), parse_pauses(arguments["pauses"])).step(step)
    incast = FlowTimer(step.topology, model, message, Reading()).step(step)
    plain = paused.transfer - paused.lost
    return {PAUSES: str(paused.pauses), LOST: str(paused.lost / plain), INCAST: str(incast.transfer / plain - 1)}


@EXPERIMENTS.register("paused-links")
def paused_links(fields: Fields) -> Experiment:
    """Exchanges of all `communicators` (numbers from 2) on one switch, over links that pause.

    Each receives `floats` (one length). `pauses`: OFF/ON/LATE/FRAME, as in `certree simulate --engine flow`. `model`: GenModel
    parameters.

    Columns: the number of pauses; by what part longer the exchange takes because of them, and by Equation (7), for incast, with the
    threshold and the slope of `model`. Row `from first to last`: how they change.
    """
    communicators, floats, model = fields.wholes("communicators", 2, 64), read_floats(fields), fields.text("model")
    if len(floats) != 1:
        fields.refuse(f"floats has {len(floats)} entries; expected one")
    load_genmodel(model)
    pauses = fields.text("pauses")
    parse_pauses(pauses)
    return _PausedLinks(communicators, floats[0], model, pauses)
