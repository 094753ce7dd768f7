"""The parts of a network, their cost and their power."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from certree.extras.designs.model.floor_plan import FloorPlan
from certree.extras.designs.model.network_costs import NetworkCosts
from certree.models.machine.machine import Machine
from certree.models.network.topology import NodeKind, Topology


@dataclass(frozen=True)
class Line:
    """Equal parts of a bill: how many, and the cost and power of all of them. `metres`: of cables, all together."""

    group: str  # ports, switches, cables
    what: str
    count: int
    cost: Fraction
    watts: Fraction
    metres: Fraction = Fraction(0)
    medium: str = ""  # of cables


@dataclass(frozen=True)
class Bill:
    """The parts of a network at one rate of ports. `energy`: the cost of its power while it is used."""

    rate: Fraction  # Gb/s of a port
    lines: tuple[Line, ...]
    racks: int
    energy: Fraction

    def cost_of(self, group: str) -> Fraction:
        """The price of a group of parts."""
        return sum((line.cost for line in self.lines if line.group == group), Fraction(0))

    def count_of(self, group: str) -> int:
        """The number of parts of a group."""
        return sum(line.count for line in self.lines if line.group == group)

    def cables_of(self, medium: str) -> int:
        """The number of cables of a medium, such as copper."""
        return sum(line.count for line in self.lines if line.medium == medium)

    @property
    def watts(self) -> Fraction:
        """The power of all parts."""
        return sum((line.watts for line in self.lines), Fraction(0))

    @property
    def cost(self) -> Fraction:
        """Everything, with energy."""
        return sum((line.cost for line in self.lines), self.energy)

    def document(self) -> dict[str, Any]:
        """Plain JSON, exact numbers as texts."""
        return {
            "port_gigabits_per_second": str(self.rate),
            "racks": self.racks,
            "cost": str(self.cost),
            "energy_cost": str(self.energy),
            "watts": str(self.watts),
            "parts": [
                {
                    "group": line.group, "what": line.what, "count": line.count, "cost": str(line.cost), "watts": str(line.watts),
                    "metres": str(line.metres),
                }
                for line in self.lines
            ],
        }  # fmt: skip


def bill_of(topology: Topology, machine: Machine, costs: NetworkCosts) -> Bill:
    """The bill of a network whose full links have the rate of the machine's. InputError where the model has no part that fits.

    A link takes as many cables, and ports at both ends, as its rate needs; links of both directions share them. Every switch is
    the cheapest one with enough ports, every cable the cheapest one that is long enough. O(links).
    """
    full = Fraction(machine.flit_bytes * machine.clock_hz * 8, 10**9)
    rate = costs.rate(full)
    plan, cables = FloorPlan(topology, costs.floor), _cables(topology, full, rate)
    ports: Counter[int] = Counter()
    for (a, b), count in cables.items():
        ports[a] += count
        ports[b] += count
    lines = [*_port_lines(topology, ports, costs, rate), *_cable_lines(cables, plan, costs, rate)]
    watts = sum((line.watts for line in lines), Fraction(0))
    return Bill(rate, tuple(lines), plan.racks, costs.energy.cost(watts))


def _cables(topology: Topology, full: Fraction, rate: Fraction) -> dict[tuple[int, int], int]:
    """Cables between two nodes, the lower id first: for each link those of its rate, the more of the two directions."""
    directed: Counter[tuple[int, int]] = Counter()
    for tail, head, units in zip(topology.src.tolist(), topology.dst.tolist(), topology.capacity.tolist(), strict=True):
        directed[tail, head] += -(-(full * Fraction(units) / topology.scale) // rate)
    pairs = {(min(pair), max(pair)) for pair in directed}
    return {(a, b): max(directed[a, b], directed[b, a]) for a, b in sorted(pairs)}


def _port_lines(topology: Topology, ports: Mapping[int, int], costs: NetworkCosts, rate: Fraction) -> list[Line]:
    endpoint = costs.port(rate)
    count = sum(ports[int(node)] for node in topology.endpoints)
    lines = [Line("ports", f"{rate} Gb/s ports of endpoints", count, count * endpoint.cost, count * endpoint.watts)]
    switches = np.flatnonzero(topology.kind == NodeKind.SWITCH).tolist()
    kinds = Counter(costs.switch(ports[node], rate) for node in switches if ports[node])
    for kind, number in sorted(kinds.items(), key=lambda entry: entry[0].ports):
        what = f"switches of {kind.ports} x {rate} Gb/s"
        lines.append(Line("switches", what, number, number * kind.cost, number * kind.watts))
    return lines


def _cable_lines(cables: Mapping[tuple[int, int], int], plan: FloorPlan, costs: NetworkCosts, rate: Fraction) -> list[Line]:
    """A line for each medium and length in whole metres, rounded up."""
    found: dict[tuple[str, int], list[Fraction]] = {}
    for (a, b), count in cables.items():
        metres = plan.metres(a, b)
        cable = costs.cable(metres, rate)
        totals = found.setdefault((cable.medium, -(-metres // 1)), [Fraction(0)] * 4)
        each = (Fraction(1), cable.cost + metres * cable.cost_per_metre, cable.watts, metres)
        for index, value in enumerate(each):
            totals[index] += count * value
    return [
        Line("cables", f"{medium} cables up to {metres} m", int(count), cost, watts, length, medium)
        for (medium, metres), (count, cost, watts, length) in sorted(found.items())
    ]
