"""Bandwidth used by packet headers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from certree.api.reports.text import size_words
from certree.extras.papers.experiment import EXPERIMENTS, Cell, Experiment
from certree.extras.reports.make.figure import Panel, Plot, Series
from certree.models.common.fields import Fields
from certree.models.machine.machine import Machine, load_machine


@dataclass(frozen=True)
class _PacketHeaders(Experiment):
    machine: Machine
    payloads: tuple[int, ...]

    def cells(self, results: Sequence[Mapping[str, Any]]) -> list[Cell]:
        head = self.machine.head_flits * self.machine.flit_bytes
        return [
            Cell("head over payload", size_words(size), Fraction(head, size), more={"payload_bytes": size})
            for size in self.payloads
        ]

    def plot(self, cells: Sequence[Cell]) -> Plot:
        points = tuple((cell.column, 100 * float(Fraction(cell.ours or 0))) for cell in cells)
        panel = Panel("", (Series("head over payload", points),))
        return Plot((panel,), x_label="payload of a packet", y_label="%", x_scale="names")

    def smoke(self) -> "_PacketHeaders":
        return replace(self, payloads=self.payloads[:2])


@EXPERIMENTS.register("packet-headers")
def packet_headers(fields: Fields) -> Experiment:
    """Head flits over payload flits, for packets of several `payloads` on a `machine`."""
    return _PacketHeaders(load_machine(fields.text("machine")), fields.sizes("payloads"))
