"""All-reduce over machines of several GPUs by closed forms: a flat ring, Tencent's, and reduction in the network."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from certree.cli.experiment import EXPERIMENTS, Cell, Experiment, Panel, Plot, Series, Task
from certree.cli.fields import Fields, exact_number
from certree.models.cost.netreduce import ClosedForm, Machines, flat_ring, hierarchical_netreduce, least_ratio_over_ring, tencent
from certree.models.files import parse_size

RING, TENCENT, NETREDUCE = "flat ring", "Tencent", "NetReduce"
FORMS: Mapping[str, Callable[[int, int], ClosedForm]] = {RING: flat_ring, TENCENT: tencent, NETREDUCE: hierarchical_netreduce}


@dataclass(frozen=True)
class _Point:
    """One place on the x axis of one panel."""

    panel: str
    x: Fraction
    words: str
    message_bytes: int
    gpus: int
    alpha_seconds: Fraction


@dataclass(frozen=True)
class _MachineRings(Experiment):
    """Times in milliseconds. What is not varied in a panel has the first of its values."""

    machine_gpus: int
    inside: tuple[Fraction, ...]  # bytes a second
    between: Fraction
    sizes: tuple[int, ...]
    gpus: tuple[int, ...]
    alphas: tuple[Fraction, ...]

    def tasks(self) -> list[Task]:
        return []

    def _points(self) -> list[_Point]:
        size, gpus, alpha = self.sizes[0], self.gpus[0], self.alphas[0]
        return [
            *(_Point("size", Fraction(x), f"{float(Fraction(x, 10**6)):g} MB", x, gpus, alpha) for x in sorted(self.sizes)),
            *(_Point("GPUs", Fraction(x), str(x), size, x, alpha) for x in sorted(self.gpus)),
            *(_Point("alpha", x, _microseconds(x), size, gpus, x) for x in sorted(self.alphas)),
        ]

    def _columns(self) -> Iterator[tuple[str, str, Fraction]]:
        """Name of the column, algorithm, bandwidth inside machines, which means nothing to a flat ring."""
        yield RING, RING, self.inside[0]
        for name in (TENCENT, NETREDUCE):
            for inside in self.inside:
                yield f"{name} {_gigabytes(inside)}", name, inside

    def _seconds(self, name: str, inside: Fraction, point: _Point) -> Fraction:
        machines = Machines(name, point.alpha_seconds, inside, self.between)
        return machines.closed_cost(FORMS[name](point.gpus, self.machine_gpus), point.message_bytes).seconds

    def cells(self, results: Sequence[Mapping[str, Any]]) -> list[Cell]:
        cells = []
        for point in self._points():
            for column, name, inside in self._columns():
                more = {"panel": point.panel, "x": str(point.x), "line": column}
                cells.append(Cell(f"{point.panel}: {point.words}", column, 1000 * self._seconds(name, inside, point), more=more))
        return cells + list(self._sentences())

    def _sentences(self) -> Iterator[Cell]:
        """What the paper's text says of the curves."""
        points = self._points()
        for column, name, inside in self._columns():
            times = {
                panel: [self._seconds(name, inside, point) for point in points if point.panel == panel]
                for panel in ("GPUs", "alpha")
            }
            for panel, found in times.items():
                yield Cell(f"{panel}: most over least", column, max(found) / min(found))
            if name == NETREDUCE:
                rings = all(
                    self._seconds(RING, inside, point) >= self._seconds(name, inside, point)
                    for point in points
                    if point.panel != "alpha"
                )
                yield Cell("never slower than the flat ring, by size and GPUs", column, "yes" if rings else "no")
        exact, relaxed = least_ratio_over_ring(self.gpus[0], self.machine_gpus)
        yield Cell("inside over between that suffices, from Equation 5", f"{NETREDUCE} {_gigabytes(self.inside[0])}", exact)
        yield Cell("inside over between that suffices, Equation 6", f"{NETREDUCE} {_gigabytes(self.inside[0])}", relaxed)

    def plot(self, cells: Sequence[Cell]) -> Plot:
        panels = []
        for name in ("size", "GPUs", "alpha"):
            lines: dict[str, list[tuple[float | str, float]]] = {}
            for cell in cells:
                if cell.more.get("panel") == name:
                    lines.setdefault(cell.more["line"], []).append(
                        (float(Fraction(cell.more["x"])), float(Fraction(cell.ours or 0)))
                    )
            panels.append(Panel(f"by {name}", tuple(Series(line, tuple(points)) for line, points in lines.items())))
        return Plot(tuple(panels), x_label="bytes, GPUs, seconds", y_label="ms", x_scale="log", y_scale="log")

    def smoke(self) -> "_MachineRings":
        return replace(self, sizes=self.sizes[:2], gpus=self.gpus[:2], alphas=self.alphas[:2])


def _gigabytes(rate: Fraction) -> str:
    return f"{float(rate / 10**9):g} GB/s"


def _microseconds(time: Fraction) -> str:
    return f"{float(time * 10**6):g} us"


@EXPERIMENTS.register("machine-rings")
def machine_rings(fields: Fields) -> Experiment:
    """All-reduce over machines of `machine_gpus` GPUs by closed forms, varied by `sizes`, `gpus` and `alphas` (seconds).

    Links of `inside` (a list) and `between` machines carry so many bytes a second. The first value of each list is what the other
    panels have.
    """
    counts = _numbers(fields, "gpus", whole=True)
    machine_gpus = _whole(fields, fields.text("machine_gpus"), "machine_gpus")
    for gpus in counts:
        if gpus % machine_gpus or gpus <= machine_gpus:
            fields.refuse(f"gpus has {gpus}; expected several whole machines of {machine_gpus}")
    return _MachineRings(
        machine_gpus,
        _numbers(fields, "inside"),
        _number(fields, fields.text("between"), "between"),
        tuple(map(parse_size, fields.texts("sizes"))),
        tuple(map(int, counts)),
        _numbers(fields, "alphas"),
    )


def _numbers(fields: Fields, name: str, *, whole: bool = False) -> tuple[Fraction, ...]:
    read = _whole if whole else _number
    return tuple(Fraction(read(fields, text, name)) for text in fields.texts(name))


def _whole(fields: Fields, text: str, name: str) -> int:
    value = _number(fields, text, name)
    if value.denominator != 1:
        fields.refuse(f"{name} has {text!r}; expected a whole number")
    return int(value)


def _number(fields: Fields, text: str, name: str) -> Fraction:
    value = exact_number(text)
    if value is None or value <= 0:
        fields.refuse(f"{name} has {text!r}; expected a number above 0, in quotes")
    return value
