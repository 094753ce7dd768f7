"""Training of workloads on networks, line by line: times, shares of communication, ratios, and their sensitivity."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from fractions import Fraction
from typing import Any

from certree.extras.endpoints.model.endpoint import load_endpoint
from certree.extras.papers.experiment import EXPERIMENTS, Cell, Experiment
from certree.extras.papers.experiments.training.lines import (
    COMMUNICATION,
    MODES,
    OVERLAP,
    TAKES,
    Aggregate,
    Layers,
    Line,
    Ratio,
    read_aggregate,
    read_layers,
    read_line,
    read_ratio,
)  # fmt: skip
from certree.extras.papers.experiments.training.running import VARIANTS, run_line
from certree.extras.reports.make.figure import Panel, Plot, Series
from certree.extras.training.model.queue import Order
from certree.extras.training.model.workload_file import load_workload, workload_document
from certree.extras.workers.task import Task
from certree.models.common.fields import ABOVE_ZERO, Fields
from certree.models.machine.machine import load_machine
from certree.models.network.spec import parse_topology


@dataclass(frozen=True)
class _TrainingRuns(Experiment):
    workloads: tuple[str, ...]
    accelerator: tuple[tuple[str, str], ...]
    networks: tuple[str, ...]
    labels: tuple[str, ...]
    modes: tuple[str, ...]
    iterations: int
    order: str
    pieces: int
    lines: tuple[Line, ...]
    ratios: tuple[Ratio, ...]
    aggregates: tuple[Aggregate, ...]
    layers: tuple[Layers, ...]
    sensitivity: Fraction
    sensitivity_on: tuple[str, ...]

    def _runs(self) -> Iterator[tuple[str, Line, str, int]]:
        for mode in self.modes:
            for line in self.lines:
                yield from ((mode, line, workload, place) for workload in self.workloads for place in range(len(self.networks)))

    def _column(self, workload: str, place: int) -> str:
        if len(self.networks) == 1:
            return workload
        return self.labels[place] if len(self.workloads) == 1 else f"{workload} {self.labels[place]}"

    def tasks(self) -> list[Task]:
        return [self._task(*run) for run in self._runs()]

    def _task(self, mode: str, line: Line, workload: str, place: int) -> Task:
        network = (line.networks or self.networks)[place]
        arguments = {
            "workload": workload_document(load_workload(workload, dict(self.accelerator))),
            "network": network,
            "network_digest": parse_topology(network).digest,  # it may be a file
            "groups": {group: networks[place] for group, networks in line.groups},
            "line": line.at(place) | {"machine": load_machine(line.machine).document()},
            "endpoint_contents": str(load_endpoint("ace")),
            "overlap": mode == OVERLAP,
            "iterations": self.iterations,
            "order": self.order,
            "pieces": self.pieces,
            "sensitivity": str(self.sensitivity if line.sensitivity and self.labels[place] in self.sensitivity_on else 0),
        }
        return Task(f"{line.name}, {self._column(workload, place)}, {mode}", run_line, arguments)

    def cells(self, results: Sequence[Mapping[str, Any]]) -> list[Cell]:
        found: dict[tuple[str, str], dict[str, Mapping[str, Any]]] = {}
        for (mode, line, workload, place), result in zip(self._runs(), results, strict=True):
            found.setdefault((mode, line.name), {})[self._column(workload, place)] = result
        cells = [cell for (mode, line), row in found.items() for cell in self._line_cells(mode, line, row)]
        cells += [cell for (mode, line), row in found.items() for cell in self._layer_cells(mode, line, row)]
        cells += [cell for ratio in self.ratios for cell in self._ratio_cells(ratio, found)]
        return cells + [cell for ratio in self.ratios for cell in self._layer_ratio_cells(ratio, found)]

    def _line_cells(self, mode: str, line: str, row: Mapping[str, Mapping[str, Any]]) -> Iterator[Cell]:
        for what, words in (("seconds", "ms an iteration"), ("exposed", "share of communication"), ("busy", "network busy")):
            values: dict[str, Fraction] = {}
            for column, result in row.items():
                reason, base = result.get("reason"), result.get("", {})
                ours = None
                if base:
                    seconds = Fraction(base["seconds"])
                    ours = seconds * 1000 if what == "seconds" else Fraction(base[what]) / seconds
                    values[column] = ours
                more = {"line": line, "mode": mode, "what": what, **base} if base else {}
                yield Cell(f"{mode} {line}: {words}", column, ours, reason, more)
            if what != "seconds":
                yield from self._aggregated(f"{mode} {line}: {words}", values)

    def _layer_cells(self, mode: str, line: str, row: Mapping[str, Mapping[str, Any]]) -> Iterator[Cell]:
        """Milliseconds in which each of `layers` is waited for, and how many times as long as the first."""
        for layers in self.layers:
            for column, result in row.items():
                if "" in result:
                    waits, first = layers.waits(result[""]), self.layers[0].waits(result[""])
                    yield Cell(f"{mode} {line}: ms of waiting, {layers.name}", column, 1000 * waits)
                    if layers is not self.layers[0] and first:
                        yield Cell(f"{mode} {line}: waiting, {layers.name} / {self.layers[0].name}", column, waits / first)

    def _layer_ratio_cells(self, ratio: Ratio, found: Mapping[tuple[str, str], Mapping[str, Mapping[str, Any]]]) -> Iterator[Cell]:
        for mode, layers in ((mode, layers) for mode in ratio.modes if mode != COMMUNICATION for layers in self.layers):
            for column, result in found[mode, ratio.of].items():
                other = found[mode, ratio.over][column]
                for variant in ("", *VARIANTS):
                    if variant in result and variant in other and layers.waits(result[variant]):
                        name = f"{mode} {ratio.over} / {ratio.of}: waiting, {layers.name}" + (f", {variant}" if variant else "")
                        yield Cell(name, column, layers.waits(other[variant]) / layers.waits(result[variant]))

    def _ratio_cells(self, ratio: Ratio, found: Mapping[tuple[str, str], Mapping[str, Mapping[str, Any]]]) -> Iterator[Cell]:
        for mode in ratio.modes:
            source, what = (self.modes[0], "busy") if mode == COMMUNICATION else (mode, "seconds")
            rows = found[source, ratio.of], found[source, ratio.over]
            for variant in ("", *VARIANTS) if self.sensitivity else ("",):
                name = f"{mode} {ratio.over} / {ratio.of}" + (f", {variant}" if variant else "")
                values = {
                    column: Fraction(rows[1][column][variant][what]) / Fraction(result[variant][what])
                    for column, result in rows[0].items()
                    if variant in result and variant in rows[1][column] and Fraction(result[variant][what])
                }
                if not variant:
                    yield from (Cell(name, column, value) for column, value in values.items())
                yield from self._aggregated(name, values)

    def _aggregated(self, row: str, values: Mapping[str, Fraction]) -> Iterator[Cell]:
        for aggregate in self.aggregates:
            taken = [value for column, value in values.items() if any(fnmatchcase(column, one) for one in aggregate.columns)]
            if taken:
                yield Cell(row, aggregate.name, TAKES[aggregate.take](taken))

    def plot(self, cells: Sequence[Cell]) -> Plot:
        panels = []
        for mode in self.modes:
            points: dict[str, list[tuple[float | str, float]]] = {line.name: [] for line in self.lines}
            for cell in cells:
                if cell.more.get("mode") == mode and cell.more.get("what") == "seconds" and isinstance(cell.ours, Fraction):
                    points[cell.more["line"]].append((cell.column, float(cell.ours)))
            panels.append(Panel(mode, tuple(Series(name, tuple(found)) for name, found in points.items())))
        return Plot(tuple(panels), x_label="", y_label="ms an iteration", x_scale="names", y_scale="log")

    def smoke(self) -> "_TrainingRuns":
        """The workload with the fewest layers and the first network, without sensitivity."""
        fewest = min(self.workloads, key=lambda name: len(load_workload(name, dict(self.accelerator)).layers))
        lines = tuple(replace(line, networks=line.networks[:1]) for line in self.lines)
        return replace(
            self, workloads=(fewest,), networks=self.networks[:1], labels=self.labels[:1], lines=lines, sensitivity=Fraction(0)
        )

    def on(self, networks: Sequence[str]) -> "_TrainingRuns":
        for network in networks:
            parse_topology(network)
        if any(line.networks for line in self.lines):
            return super().on(networks)  # type: ignore[return-value]
        lines = self.lines
        return replace(self, networks=tuple(networks), labels=tuple(networks), lines=lines)


@EXPERIMENTS.register("training-runs")
def training_runs(fields: Fields) -> Experiment:
    """Training of `workloads` on `networks`, a row for each of `lines`; `ratios` between them.

    `overlap`: "non-overlap" (one collective of all gradients behind each iteration), "overlap" (layer by layer), or a list of both.
    `iterations`, `order` and `pieces` as in `certree train`; `accelerator` changes fields of the systolic arrays of workloads that
    state shapes. `labels` name the networks.
    A line has `name`, and may have `method` (a text or a list, as `certree train --method`), `timing`, `flow`, `system` of ACE's
    endpoints and their `program` (messages, or tables on lanes), `machine`, and `sensitivity` = false to leave it out. Lists with
    an entry for each of the target's networks are `networks` in their place, those of `groups` (a table), and `settings`, for which
    {setting} in a method stands.
    A ratio has `of`, `over` and `modes`: those of `overlap`, or "communication", which compares how long networks are busy.
    An aggregate has a `name`, `columns` (patterns) and `take`: most, least or mean of them. `sensitivity` = "1/5" adds rows with
    compute, bandwidth and latency a fifth smaller and larger, for networks of the labels `sensitivity_on` (all by default).
    `layers`, each with `name`, `first` and `last`, add rows of waiting for the collectives of these layers.
    A line with timing = "measured" has `measured`: each a `size` and the `seconds` of an all-reduce; others lie on lines between.
    """
    networks, machine = fields.texts("networks"), fields.text("machine", default="multitree")
    labels = fields.texts("labels", default=list(networks))
    if len(labels) != len(networks):
        fields.refuse(f"{len(labels)} labels for {len(networks)} networks")
    for network in networks:
        parse_topology(network)
    lines = fields.each("lines", lambda entry: read_line(entry, machine, len(networks)), least=1, distinct="name")
    names, modes = [line.name for line in lines], fields.text_or_texts("overlap", known=MODES)
    accelerator = tuple(sorted(fields.mapping("accelerator").items()))
    workloads = fields.texts("workloads")
    fewest = min(len(load_workload(workload, dict(accelerator)).layers) for workload in workloads)
    return _TrainingRuns(
        workloads=workloads,
        accelerator=accelerator,
        networks=networks,
        labels=labels,
        modes=modes,
        iterations=fields.whole("iterations", 1, 1000, default=1),
        order=fields.text("order", default="fifo", known=Order),
        pieces=fields.whole("pieces", 1, 1000, default=1),
        lines=lines,
        ratios=fields.each("ratios", lambda entry: read_ratio(entry, names, modes)),
        aggregates=fields.each("aggregates", read_aggregate, distinct="name"),
        layers=fields.each("layers", lambda entry: read_layers(entry, fewest), distinct="name"),
        sensitivity=fields.exact("sensitivity", ABOVE_ZERO) if "sensitivity" in fields else Fraction(0),
        sensitivity_on=fields.texts("sensitivity_on", default=list(labels), known=labels),
    )
