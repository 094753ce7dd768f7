"""Area and power of networks by their parts, compared with a baseline."""

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from fractions import Fraction
from typing import Any

from certree.extras.costs.model.hardware import PARTS, Hardware, hardware_of, prices_from_shares
from certree.extras.papers.experiment import EXPERIMENTS, Cell, Experiment
from certree.extras.reports.make.figure import Panel, Plot, Series
from certree.extras.workers.task import Task
from certree.models.common.fields import Fields, Limits
from certree.models.machine.machine import Machine, load_machine, machine_from_document
from certree.models.network.spec import parse_topology

MEASURES = ("area", "power")


@dataclass(frozen=True)
class _Pair:
    """A network and its baseline."""

    name: str
    network: str
    over: str


@dataclass(frozen=True)
class _NetworkHardware(Experiment):
    """`shares`: measure -> part -> its share of the first baseline, which sets the prices for all networks."""

    machine: Machine
    pairs: tuple[_Pair, ...]
    shares: Mapping[str, Mapping[str, Fraction]]

    def tasks(self) -> list[Task]:
        tasks = []
        for pair in self.pairs:
            for network in (pair.over, pair.network):
                digest = parse_topology(network).digest  # it may be a file
                arguments = {"network": network, "network_digest": digest, "machine": self.machine.document()}
                tasks.append(Task(network, count_hardware, arguments))
        return tasks

    def cells(self, results: Sequence[Mapping[str, Any]]) -> list[Cell]:
        counted = [Hardware(**result) for result in results]
        bases, built = counted[::2], counted[1::2]
        rows: dict[str, list[Cell]] = {}
        for pair, base, network in zip(self.pairs, bases, built, strict=True):
            more = dict(zip(PARTS, astuple(network), strict=True)) | {"network": pair.network, "over": pair.over}
            for part, count, counted_now in zip(PARTS, astuple(base), astuple(network), strict=True):
                grown = Fraction(counted_now, count) - 1 if count else None
                rows.setdefault(part, []).append(Cell(f"more {part}", pair.name, grown, more=more))
            for measure, shares in self.shares.items():
                prices = prices_from_shares(bases[0], shares)
                before = base.price(prices)
                found = network.price(prices) / before - 1 if before else None
                rows.setdefault(measure, []).append(Cell(f"more {measure}", pair.name, found, more=more))
        return [cell for cells in rows.values() for cell in cells]

    def plot(self, cells: Sequence[Cell]) -> Plot:
        points: dict[str, list[tuple[float | str, float]]] = {}
        for cell in cells:
            if isinstance(cell.ours, Fraction):
                points.setdefault(cell.row, []).append((cell.column, 1 + float(cell.ours)))
        panel = Panel("", tuple(Series(row.removeprefix("more "), tuple(found)) for row, found in points.items()))
        return Plot((panel,), x_label="", y_label="times the baseline's", x_scale="names")

    def smoke(self) -> "_NetworkHardware":
        return replace(self, pairs=self.pairs[:1])


def count_hardware(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The parts of a network on a machine."""
    machine = machine_from_document(arguments["machine"], "machine")
    return vars(hardware_of(parse_topology(arguments["network"]), machine))


@EXPERIMENTS.register("network-hardware")
def network_hardware(fields: Fields) -> Experiment:
    """Ratios of wire, buffer, crossbar, area and power of `networks` to those of their baselines.

    Each of `networks` has `name`, `network` and `over`, its baseline. `area` and `power` give unit costs as shares of the first
    baseline's area and power: those of its wires, buffers and crosspoints, and `endpoints`, the part that does not depend on the
    network. The shares add up to 1.
    """
    experiment = _NetworkHardware(
        machine=load_machine(fields.text("machine")),
        pairs=fields.each("networks", _pair, least=1, distinct="name"),
        shares={measure: _shares(fields, measure) for measure in MEASURES},
    )
    experiment.tasks()  # an unknown network is an error before any work
    return experiment


def _pair(fields: Fields) -> _Pair:
    return _Pair(fields.text("name"), fields.text("network"), fields.text("over"))


def _shares(fields: Fields, measure: str) -> dict[str, Fraction]:
    entries = fields.table_of(measure).only(*PARTS)
    shares = {part: entries.exact(part, Limits(0, 1)) for part in PARTS}
    if sum(shares.values()) != 1:
        entries.refuse(f"shares are {', '.join(map(str, shares.values()))}; together they must be 1")
    return shares
