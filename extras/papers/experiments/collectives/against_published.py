"""certree's all-reduce compared with published ones: cycles on each network at each size, and ratios of times."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from fractions import Fraction
from typing import Any

from certree.api.reports.text import size_words
from certree.extras.papers.experiment import EXPERIMENTS, Cell, Experiment
from certree.extras.papers.experiments.collectives.all_reduce_runs import (
    CLOSED_FORM,
    WITHOUT_ROUTERS,
    Line,
    all_reduce_task,
    routers_up_to,
)
from certree.extras.reports.make.figure import Panel, Plot, Series
from certree.extras.workers.task import Task
from certree.hw.engines.runs import FASTEST
from certree.models.common.fields import Fields
from certree.models.machine.machine import Machine, load_machine
from certree.models.network.spec import parse_topology
from certree.synth.method import load_methods

SMOKE_BYTES = 1 << 20


def rival_of(fields: Fields, machine: Machine) -> Line:
    """`name`, `method` (one or several, of which the fastest counts) and `options`: run both ways, the faster counts."""
    return Line(
        name=fields.text("name"),
        methods=fields.text_or_texts("method", known=load_methods()),
        flow="message",
        run=FASTEST,
        options=tuple(sorted(fields.mapping("options").items())),
        machine=machine,
        networks=("*",),
    )


@dataclass(frozen=True)
class _AgainstRivals(Experiment):
    networks: tuple[str, ...]
    sizes: tuple[int, ...]
    closed: tuple[str, ...]
    routers_up_to: int | None
    lines: tuple[Line, ...]  # certree's, then the others

    def _places(self) -> Iterator[tuple[str, int]]:
        yield from ((network, size) for network in self.networks for size in self.sizes)

    def tasks(self) -> list[Task]:
        return [
            all_reduce_task(replace(line, run=self._run(network)), network, size, self.routers_up_to)
            for network, size in self._places()
            for line in self.lines
        ]

    def _run(self, network: str) -> str:
        return CLOSED_FORM if any(fnmatchcase(network, pattern) for pattern in self.closed) else FASTEST

    def cells(self, results: Sequence[Mapping[str, Any]]) -> list[Cell]:
        cells, left = [], iter(results)
        for network, size in self._places():
            ours, *others = [next(left) for _ in self.lines]
            row = f"{network} {size_words(size)}"
            more = {"network": network, "message_bytes": size}
            if ours["cycles"] is None:
                cells.append(Cell(row, f"{self.lines[0].name}, cycles", None, ours["reason"]))
                continue
            cells += [
                Cell(row, "made by", ours["method"]),
                Cell(row, "closed form, cycles", f"{ours['closed_form_cycles']:,}"),
                Cell(row, "simulated, cycles", "-" if ours["run"] == CLOSED_FORM else f"{ours['cycles']:,}"),
            ]
            for line, other in zip(self.lines[1:], others, strict=True):
                times = None if other["cycles"] is None else Fraction(other["cycles"], ours["cycles"])
                known = {name: value for name, value in other.items() if name != "reason"}
                is_exact = ours.get("exact", True) and other.get("exact", True)
                reason = None if is_exact else WITHOUT_ROUTERS
                cells.append(Cell(row, line.name, times, reason if times else other["reason"], more | known | {"line": line.name}))
        return cells

    def plot(self, cells: Sequence[Cell]) -> Plot:
        """Time of the others divided by that of the first line, a panel for each network."""
        panels = []
        for network in self.networks:
            here = [cell for cell in cells if cell.more.get("network") == network and isinstance(cell.ours, Fraction)]
            series = [
                Series(
                    line.name,
                    tuple(
                        (cell.more["message_bytes"], float(Fraction(cell.ours or 0)))
                        for cell in here
                        if cell.more["line"] == line.name
                    ),
                )
                for line in self.lines[1:]
            ]
            panels.append(Panel(network, tuple(series)))
        label = f"time over that of {self.lines[0].name}"
        return Plot(tuple(panels), x_label="message size", y_label=label, x_scale="bytes", y_scale="log")

    def smoke(self) -> "_AgainstRivals":
        """The first network, and the first and the last size up to SMOKE_BYTES."""
        sizes = [size for size in self.sizes if size <= SMOKE_BYTES] or list(self.sizes[:1])
        return replace(self, networks=self.networks[:1], sizes=tuple(dict.fromkeys((sizes[0], sizes[-1]))))

    def on(self, networks: Sequence[str]) -> "_AgainstRivals":
        for network in networks:
            parse_topology(network)
        return replace(self, networks=tuple(networks))


@EXPERIMENTS.register("against-rivals")
def against_rivals(fields: Fields) -> Experiment:
    """All-reduces of `sizes` on `networks`: cycles of the first of `lines`, and the time of each other one divided by them.

    A line has `name`, `method` (of several the fastest counts) and may have `options`. Simulated, paced and in slots, the faster
    run counts, each method in the same way; on networks that match a pattern of `closed_form` by closed form instead. What no
    method makes is a cell with the reason. `routers_up_to` as in all-reduce-runs.
    """
    machine = load_machine(fields.text("machine"))
    lines = fields.each("lines", lambda entry: rival_of(entry, machine), least=2, distinct="name")
    closed, most = fields.texts("closed_form", default=[]), routers_up_to(fields)
    return _AgainstRivals((), fields.sizes("sizes"), closed, most, lines).on(fields.texts("networks"))
