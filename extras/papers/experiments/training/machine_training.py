"""Training on machines of several GPUs by NetReduce's equations: one bandwidth fitted on one row, everything else predicted."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from certree.extras.costs.model.formulas.netreduce import ClosedForm, Machines, flat_ring, hierarchical_netreduce, tencent
from certree.extras.papers.experiment import EXPERIMENTS, Cell, Experiment
from certree.extras.reports.make.figure import Panel, Plot, Series
from certree.models.common.fields import ABOVE_ZERO, Fields

FORMS: dict[str, Callable[[int, int], ClosedForm]] = {
    "flat ring": flat_ring, "Tencent": tencent, "NetReduce": hierarchical_netreduce,
}  # fmt: skip
PREDICTED, FITTED = "predicted", "fitted"
_CHANGE = Fraction(1, 5)
#: column -> factors of compute, bandwidth and latency
_VARIANTS = {
    f"{name} {sign * 20:+d} %": tuple(1 + sign * _CHANGE * (place == other) for other in range(3))
    for place, name in enumerate(("compute", "bandwidth", "latency"))
    for sign in (-1, 1)
}


@dataclass(frozen=True)
class Model:
    """A network: bytes of gradients, and seconds of computing, which are measured."""

    name: str
    gradient_bytes: int
    compute: Fraction


@dataclass(frozen=True)
class Fit:
    """The one measured time that the bandwidth between machines is fitted to."""

    model: str
    line: str
    seconds: Fraction
    gpus: int
    machine_gpus: int


@dataclass(frozen=True)
class _MachineTraining(Experiment):
    models: tuple[Model, ...]
    lines: tuple[str, ...]
    batch: int
    gpus: int
    machine_gpus: int
    alpha: Fraction
    inside: Fraction
    fit: Fit

    def _bandwidth(self) -> Fraction:
        """Bytes per second between machines with which the fitted row takes its measured time, exactly."""
        size = next(model.gradient_bytes for model in self.models if model.name == self.fit.model)
        form = FORMS[self.fit.line](self.fit.gpus, self.fit.machine_gpus)
        left = self.fit.seconds - form.steps * self.alpha - form.inside * size / self.inside
        return form.between * size / left

    def _communication(self, model: Model, line: str, bandwidth: Fraction, latency: Fraction) -> Fraction:
        form = FORMS[line](self.gpus, self.machine_gpus)
        machines = Machines("fitted", self.alpha * latency, self.inside * bandwidth, self._bandwidth() * bandwidth)
        return machines.closed_cost(form, model.gradient_bytes).seconds

    def _is_fitted(self, model: Model, line: str) -> bool:
        here = (model.name, line, self.gpus, self.machine_gpus)
        return here == (self.fit.model, self.fit.line, self.fit.gpus, self.fit.machine_gpus)

    def cells(self, results: Sequence[Mapping[str, Any]]) -> list[Cell]:
        row = "bandwidth between machines, GB/s"
        cells = [Cell(row, PREDICTED, None), Cell(row, FITTED, self._bandwidth() / 10**9)]
        for model in self.models:
            for column, factors in ((PREDICTED, (Fraction(1),) * 3), *_VARIANTS.items()):
                cells += self._cells_of(model, column, *factors)
        rows = {cell.row: number for number, cell in reversed(list(enumerate(cells)))}
        return sorted(cells, key=lambda cell: rows[cell.row])

    def _cells_of(self, model: Model, column: str, compute: Fraction, bandwidth: Fraction, latency: Fraction) -> Iterator[Cell]:
        rates = {}
        for line in self.lines:
            communication = self._communication(model, line, bandwidth, latency)
            total = model.compute * compute + communication
            rates[line] = self.batch / total
            place = FITTED if column == PREDICTED and self._is_fitted(model, line) else column
            more = {"model": model.name, "line": line, "kind": place}
            yield Cell(f"{model.name}, {line}: communication, ms", place, 1000 * communication, more=more)
            yield Cell(f"{model.name}, {line}: share of communication", place, communication / total, more=more)
            yield Cell(f"{model.name}, {line}: iteration, ms", place, 1000 * total, more=more)
            yield Cell(f"{model.name}, {line}: images a second", place, rates[line], more=more)
        last = self.lines[-1]
        for line in self.lines[:-1]:
            yield Cell(f"{model.name}: {last} over {line}", column, rates[last] / rates[line] - 1)
        order = sorted(self.lines, key=lambda line: rates[line])
        yield Cell(f"{model.name}: from the slowest", column, " < ".join(order))

    def plot(self, cells: Sequence[Cell]) -> Plot:
        points: dict[str, list[tuple[float | str, float]]] = {line: [] for line in self.lines}
        for cell in cells:
            if cell.row.endswith("images a second") and cell.column in (PREDICTED, FITTED) and isinstance(cell.ours, Fraction):
                points[cell.more["line"]].append((cell.more["model"], float(cell.ours)))
        panel = Panel("", tuple(Series(name, tuple(found)) for name, found in points.items()))
        return Plot((panel,), x_label="", y_label="images a second", x_scale="names")

    def smoke(self) -> "_MachineTraining":
        """The model of the fit."""
        return replace(self, models=tuple(model for model in self.models if model.name == self.fit.model))


@EXPERIMENTS.register("machine-training")
def machine_training(fields: Fields) -> Experiment:
    """Training on `gpus` GPUs in machines of `machine_gpus`, by NetReduce's Equations (1) to (3); no overlap.

    `models`: `name`, `gradients` (bytes), and the measured `iteration` and `communication` of a run in seconds, whose difference
    is the time of computing. `lines`: "flat ring", "Tencent", "NetReduce"; gains are of the last over the others. `batch`: samples
    of a GPU; `alpha` and `inside`: start-up, and bytes per second inside a machine. `fit`: `model`, `line`, `seconds`, `gpus` and
    `machine_gpus` of the communication that the bandwidth between machines is fitted to; its column is "fitted". Other columns
    change compute, bandwidth and latency by a fifth.
    """
    models = fields.each("models", _model, least=1, distinct="name")
    lines = fields.texts("lines", known=FORMS)
    fit = fields.table_of("fit")
    found = Fit(
        fit.text("model", known=[model.name for model in models]), fit.text("line", known=FORMS), fit.exact("seconds", ABOVE_ZERO),
        fit.whole("gpus", 2), fit.whole("machine_gpus", 1),
    )  # fmt: skip
    fit.done()
    experiment = _MachineTraining(
        models, lines, fields.whole("batch", 1), fields.whole("gpus", 2), fields.whole("machine_gpus", 1),
        fields.exact("alpha"), fields.exact("inside", ABOVE_ZERO), found,
    )  # fmt: skip
    FORMS[found.line](found.gpus, found.machine_gpus)
    for line in lines:
        FORMS[line](experiment.gpus, experiment.machine_gpus)
    if experiment._bandwidth() <= 0:
        fit.refuse(f"seconds is {found.seconds}; start-up and links inside machines take longer")
    return experiment


def _model(fields: Fields) -> Model:
    iteration, communication = fields.exact("iteration", ABOVE_ZERO), fields.exact("communication")
    if communication >= iteration:
        fields.refuse("communication takes as long as the iteration or longer")
    return Model(fields.text("name"), fields.size("gradients"), iteration - communication)
