"""The parts of a network, their cost and their power."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import zip_longest

import numpy as np

from certree.extras.designs.model.floor_plan import FloorPlan
from certree.extras.designs.model.network_costs import NetworkCosts
from certree.models.common.errors import InputError
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
    """The parts of a network. `energy`: the cost of its power while it is used."""

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


def bill_of(topology: Topology, machine: Machine, costs: NetworkCosts) -> Bill:
    """The cheapest bill of a network whose full links have the rate of the machine's. InputError where the model has no part that
    fits.

    Either all ports have one rate of the model, and a link takes as many cables as it needs; or each link has ports of the least
    rate that carries it. Links of both directions share cables. Every switch is the cheapest one with enough ports, as fast as its
    fastest cable; a slower cable takes a whole port. Every cable is the cheapest one that is long enough. O(links · rates).
    """
    full = Fraction(machine.flit_bytes * machine.clock_hz * 8, 10**9)
    plan, rates = FloorPlan(topology, costs.floor), sorted({port.gigabits_per_second for port in costs.ports})
    bills, refused = [], list[InputError]()
    for allowed in (rates, *([rate] for rate in rates)):
        try:
            bills.append(_bill(topology, full, plan, costs, allowed))
        except InputError as error:
            refused.append(error)
    if not bills:
        raise refused[0]
    return min(bills, key=lambda bill: bill.cost)  # the first of those that cost the same


def _bill(topology: Topology, full: Fraction, plan: FloorPlan, costs: NetworkCosts, rates: Sequence[Fraction]) -> Bill:
    """The bill with ports of these rates, ascending."""
    cables = _cables(topology, full, rates)
    ports: dict[int, Counter[Fraction]] = {}
    for ends, each in cables.items():
        for node in ends:
            ports.setdefault(node, Counter()).update(each)
    lines = [*_port_lines(topology, ports, costs), *_cable_lines(cables, plan, costs)]
    watts = sum((line.watts for line in lines), Fraction(0))
    return Bill(tuple(lines), plan.racks, costs.energy.cost(watts))


def _cables(topology: Topology, full: Fraction, rates: Sequence[Fraction]) -> dict[tuple[int, int], list[Fraction]]:
    """The rates of the cables between two nodes, the lower id first, descending: each serves a link of both directions."""
    directed: dict[tuple[int, int], list[Fraction]] = {}
    for tail, head, units in zip(topology.src.tolist(), topology.dst.tolist(), topology.capacity.tolist(), strict=True):
        gigabits = full * Fraction(units) / topology.scale
        rate = next((rate for rate in rates if rate >= gigabits), rates[-1])
        directed.setdefault((tail, head), []).extend([rate] * -(-gigabits // rate))
    found = {}
    for a, b in sorted({(min(pair), max(pair)) for pair in directed}):
        out, back = (sorted(directed.get(pair, []), reverse=True) for pair in ((a, b), (b, a)))
        found[a, b] = [max(pair) for pair in zip_longest(out, back, fillvalue=Fraction(0))]
    return found


def _port_lines(topology: Topology, ports: Mapping[int, Mapping[Fraction, int]], costs: NetworkCosts) -> list[Line]:
    lines = []
    at_endpoints = Counter[Fraction]()
    for node in topology.endpoints.tolist():
        at_endpoints.update(ports.get(node, {}))
    for rate, count in sorted(at_endpoints.items()):
        endpoint = costs.port(rate)
        lines.append(Line("ports", f"{rate} Gb/s ports of endpoints", count, count * endpoint.cost, count * endpoint.watts))
    switches = np.flatnonzero(topology.kind == NodeKind.SWITCH).tolist()
    kinds = Counter(costs.switch(sum(ports[node].values()), max(ports[node])) for node in switches if node in ports)
    for kind, number in sorted(kinds.items(), key=lambda entry: (entry[0].gigabits_per_second, entry[0].ports)):
        what = f"switches of {kind.ports} x {kind.gigabits_per_second} Gb/s"
        lines.append(Line("switches", what, number, number * kind.cost, number * kind.watts))
    return lines


def _cable_lines(cables: Mapping[tuple[int, int], list[Fraction]], plan: FloorPlan, costs: NetworkCosts) -> list[Line]:
    """A line for each medium, rate and length in whole metres, rounded up."""
    found: dict[tuple[str, Fraction, int], list[Fraction]] = {}
    for (a, b), rates in cables.items():
        metres = plan.metres(a, b)
        for rate, count in Counter(rates).items():
            cable = costs.cable(metres, rate)
            totals = found.setdefault((cable.medium, rate, -(-metres // 1)), [Fraction(0)] * 4)
            each = (Fraction(1), cable.cost + metres * cable.cost_per_metre, cable.watts, metres)
            for index, value in enumerate(each):
                totals[index] += count * value
    several = len({rate for _, rate, _ in found}) > 1
    return [
        Line(
            "cables",
            f"{medium} cables {f'of {rate} Gb/s ' if several else ''}up to {metres} m",
            int(count),
            cost,
            watts,
            length,
            medium,
        )
        for (medium, rate, metres), (count, cost, watts, length) in sorted(found.items())
    ]
