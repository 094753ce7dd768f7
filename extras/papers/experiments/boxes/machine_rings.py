"""All-reduce over machines of several GPUs: a flat ring, Tencent's, and reduction in the network, by closed forms and simulated."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from certree.extras.costs.model.formulas.netreduce import (
    ClosedForm,
    Machines,
    flat_ring,
    hierarchical_netreduce,
    least_ratio_over_ring,
    tencent,
)
from certree.extras.papers.experiment import EXPERIMENTS, Cell, Experiment
from certree.extras.papers.experiments.boxes.machine_phases import IN_SWITCHES, Phase
from certree.extras.reports.make.figure import Panel, Plot, Series
from certree.extras.workers.task import Task
from certree.models.common.fields import ABOVE_ZERO, Fields

RING, TENCENT, NETREDUCE = "flat ring", "Tencent", "NetReduce"
#: one GPU per machine, one switch; and two levels of switches above the machines
SINGLE, RACKS = "single NetReduce", "racks, NetReduce"
FORMS: Mapping[str, Callable[[int, int], ClosedForm]] = {
    RING: flat_ring,
    TENCENT: tencent,
    NETREDUCE: hierarchical_netreduce,
    SINGLE: lambda gpus, _: hierarchical_netreduce(gpus, 1),
    RACKS: hierarchical_netreduce,
}
PANELS = ("size", "GPUs", "alpha")
SIMULATED = "simulated"


@dataclass(frozen=True)
class _Point:
    """One position on the x axis of one panel."""

    panel: str
    x: Fraction
    words: str
    message_bytes: int
    gpus: int
    alpha_seconds: Fraction


@dataclass(frozen=True)
class _Column:
    """A line of the figure: its name, the algorithm, the bandwidth inside machines (which some know nothing of)."""

    name: str
    algorithm: str
    inside: Fraction


@dataclass(frozen=True)
class _MachineRings(Experiment):
    """Times in milliseconds. What is not varied in a panel has the first of its values."""

    machine_gpus: int
    inside: tuple[Fraction, ...]  # bytes per second
    between: Fraction
    sizes: tuple[int, ...]
    gpus: tuple[int, ...]
    alphas: tuple[Fraction, ...]
    flit_bytes: int
    packet_bytes: int
    racks: int
    most_in_ring: int
    most_at_switch: int

    def tasks(self) -> list[Task]:
        found: dict[str, Task] = {}
        for point in self._points():
            for column in self._columns():
                for phase in self._phases(column, point):
                    found.setdefault(phase.task.key, phase.task)
        return list(found.values())

    def _points(self) -> list[_Point]:
        size, gpus, alpha = self.sizes[0], self.gpus[0], self.alphas[0]
        return [
            *(_Point("size", Fraction(x), f"{float(Fraction(x, 10**6)):g} MB", x, gpus, alpha) for x in sorted(self.sizes)),
            *(_Point("GPUs", Fraction(x), str(x), size, x, alpha) for x in sorted(self.gpus)),
            *(_Point("alpha", x, _microseconds(x), size, gpus, x) for x in sorted(self.alphas)),
        ]

    def _columns(self) -> list[_Column]:
        several = [_Column(f"{name} {_gigabytes(rate)}", name, rate) for name in (TENCENT, NETREDUCE) for rate in self.inside]
        widest = max(self.inside)
        return [
            _Column(RING, RING, widest),
            *several,
            _Column(f"{RACKS} {_gigabytes(widest)}", RACKS, widest),
            _Column(SINGLE, SINGLE, widest),
        ]

    def _seconds(self, column: _Column, point: _Point) -> Fraction:
        machines = Machines(column.name, point.alpha_seconds, column.inside, self.between)
        form = FORMS[column.algorithm](point.gpus, self.machine_gpus)
        return machines.closed_cost(form, point.message_bytes).seconds

    def _too_large(self, column: _Column, point: _Point) -> str | None:
        if column.algorithm == RING and point.gpus > self.most_in_ring:
            return f"a ring of {point.gpus} is 2(P - 1)P messages; only up to {self.most_in_ring} GPUs are simulated"
        if column.algorithm == SINGLE and point.gpus > self.most_at_switch:
            return f"a switch of {point.gpus} hosts; only up to {self.most_at_switch} are simulated"
        return None

    def _phases(self, column: _Column, point: _Point) -> list[Phase]:
        """The phases that are simulated, one after the other; none where they are too large."""
        if self._too_large(column, point) is not None:
            return []
        n, machines = self.machine_gpus, point.gpus // self.machine_gpus

        def phase(network: str, method: str, collective: str, rate: Fraction, hops: int) -> Phase:
            return Phase(
                network,
                method,
                collective,
                point.message_bytes,
                rate,
                point.alpha_seconds,
                hops,
                self.flit_bytes,
                self.packet_bytes,
            )

        if column.algorithm == RING:
            return [phase(_ring(point.gpus), "ring", "all-reduce", self.between, 1)]
        if column.algorithm == TENCENT:
            # a machine's reduce and broadcast are Tencent's all-reduce of one machine
            inside = phase(f"switch:{n}", "tencent", "all-reduce", column.inside, 2)
            return [inside, phase(_ring(machines), "ring", "all-reduce", self.between, 1)]
        if column.algorithm == SINGLE:
            return [phase(f"switch:{point.gpus},reducing=switches", IN_SWITCHES, "all-reduce", self.between, 2)]
        tree = f"switch:{machines}" if column.algorithm == NETREDUCE else f"tree:{self.racks}x{machines // self.racks}"
        return [
            phase(_ring(n), "ring", "reduce-scatter", column.inside, 1),
            phase(f"{tree},reducing=switches", IN_SWITCHES, "all-reduce", self.between, 2),
            phase(_ring(n), "ring", "all-gather", column.inside, 1),
        ]

    def _simulated(
        self, column: _Column, point: _Point, results: Mapping[str, Mapping[str, Any]]
    ) -> tuple[Fraction | None, str | None]:
        """(seconds, None), or (None, why not)."""
        if (reason := self._too_large(column, point)) is not None:
            return None, reason
        seconds = Fraction(0)
        for phase in self._phases(column, point):
            result = results[phase.task.key]
            if result["cycles"] is None:
                return None, f"{phase.network}: {result['reason']}"
            seconds += result["cycles"] * phase.cycle_seconds
        return seconds, None

    def cells(self, results: Sequence[Mapping[str, Any]]) -> list[Cell]:
        by_key = {task.key: result for task, result in zip(self.tasks(), results, strict=True)}
        cells = []
        times: dict[tuple[str, bool], list[tuple[_Point, Fraction]]] = {}
        for point in self._points():
            closed, simulated = [], []
            for column in self._columns():
                more = {"panel": point.panel, "x": str(point.x), "line": column.name}
                row, by_form = f"{point.panel}: {point.words}", self._seconds(column, point)
                found, reason = self._simulated(column, point, by_key)
                closed.append(Cell(row, column.name, 1000 * by_form, more=more))
                shown = None if found is None else 1000 * found
                simulated.append(Cell(f"{row}, {SIMULATED}", column.name, shown, reason, more | {SIMULATED: True}))
                times.setdefault((column.name, False), []).append((point, by_form))
                if found is not None:
                    times.setdefault((column.name, True), []).append((point, found))
            cells += closed + simulated
        return [*cells, *self._sentences(times, False), *self._sentences(times, True), *self._ratios(times), *self._conditions()]

    def _sentences(self, times: Mapping[tuple[str, bool], list[tuple[_Point, Fraction]]], simulated: bool) -> Iterator[Cell]:
        """Statements of the paper's text about the curves."""
        suffix = f", {SIMULATED}" if simulated else ""
        ring = dict(times[RING, simulated])
        for column in self._columns():
            found = times[column.name, simulated]
            fewer = None if len(found) == len(self._points()) else f"{column.name}: of what is simulated"
            for panel in PANELS[1:]:
                values = [seconds for point, seconds in found if point.panel == panel]
                yield Cell(f"{panel}: most over least{suffix}", column.name, max(values) / min(values), fewer)
            if column.algorithm == NETREDUCE:
                never = all(ring[point] >= seconds for point, seconds in found if point.panel != "alpha" and point in ring)
                row = f"never slower than the flat ring, by size and GPUs{suffix}"
                yield Cell(row, column.name, "yes" if never else "no")

    def _ratios(self, times: Mapping[tuple[str, bool], list[tuple[_Point, Fraction]]]) -> Iterator[Cell]:
        """Ratios of the simulation to the closed forms."""
        for panel in PANELS:
            for name, choice in (("least", min), ("most", max)):
                for column in self._columns():
                    forms = dict(times[column.name, False])
                    ratios = [seconds / forms[point] for point, seconds in times[column.name, True] if point.panel == panel]
                    yield Cell(f"{panel}: {SIMULATED} over closed form, {name}", column.name, choice(ratios))

    def _conditions(self) -> Iterator[Cell]:
        exact, relaxed = least_ratio_over_ring(self.gpus[0], self.machine_gpus)
        column = f"{NETREDUCE} {_gigabytes(self.inside[0])}"
        yield Cell("inside over between that suffices, from Equation 5", column, exact)
        yield Cell("inside over between that suffices, Equation 6", column, relaxed)

    def plot(self, cells: Sequence[Cell]) -> Plot:
        panels = []
        for name in PANELS:
            lines: dict[str, list[tuple[float | str, float]]] = {}
            for cell in cells:
                if cell.more.get("panel") == name and SIMULATED in cell.more and isinstance(cell.ours, Fraction):
                    lines.setdefault(cell.more["line"], []).append((float(Fraction(cell.more["x"])), float(cell.ours)))
            panels.append(Panel(f"by {name}, simulated", tuple(Series(line, tuple(points)) for line, points in lines.items())))
        return Plot(tuple(panels), x_label="bytes, GPUs, seconds", y_label="ms", x_scale="log", y_scale="log")

    def smoke(self) -> "_MachineRings":
        return replace(self, sizes=tuple(sorted(self.sizes)[:2]), gpus=self.gpus[:2], alphas=self.alphas[:2])


def _ring(nodes: int) -> str:
    """The network of a ring; two nodes with one cable for a ring of two."""
    return f"ring:{nodes}" if nodes > 2 else "full:2"


def _gigabytes(rate: Fraction) -> str:
    return f"{float(rate / 10**9):g} GB/s"


def _microseconds(time: Fraction) -> str:
    return f"{float(time * 10**6):g} us"


@EXPERIMENTS.register("machine-rings")
def machine_rings(fields: Fields) -> Experiment:
    """All-reduce over machines of `machine_gpus` GPUs, by closed forms and simulated, by `sizes`, `gpus` and `alphas` (seconds).

    `inside` (a list) and `between`: bytes per second of links inside and between machines. The other panels use the first value of
    each list. The simulation has packets of `packet_bytes` and flits of `flit_bytes`, `racks` switches below a root where there
    are two levels, rings of at most `most_in_ring` GPUs and single switches of at most `most_at_switch` hosts.
    """
    counts, machine_gpus, racks = fields.wholes("gpus", 1), fields.whole("machine_gpus", 1), fields.whole("racks", 1)
    for gpus in counts:
        if gpus % machine_gpus or gpus <= machine_gpus:
            fields.refuse(f"gpus has {gpus}; expected several whole machines of {machine_gpus}")
        if gpus // machine_gpus % racks:
            fields.refuse(f"racks is {racks}; the {gpus // machine_gpus} machines of {gpus} GPUs do not fill them evenly")
    return _MachineRings(
        machine_gpus,
        fields.exacts("inside", ABOVE_ZERO),
        fields.exact("between", ABOVE_ZERO),
        fields.sizes("sizes"),
        counts,
        fields.exacts("alphas", ABOVE_ZERO),
        racks=racks,
        **{name: fields.whole(name, 1) for name in ("flit_bytes", "packet_bytes", "most_in_ring", "most_at_switch")},
    )
