"""A box of accelerators or a fabric from its description, and the network of one or several of them.

The network has the exact rates of the description. Schedules count them in units, rounded down: in the common measure of all lanes
if no link then has more than MAX_UNITS of them, and otherwise in the slowest lane. A full link is a unit if that is a whole number
of bytes per second, and a rounder rate just above it otherwise; the network states its bandwidth, and is timed with it. Where a
description lacks a value, an error names the option that supplies it; nothing is guessed.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np

from certree.extras.clusters.imports.options import Options, matching
from certree.models.common.errors import TopologyError
from certree.models.network.capacities import in_units
from certree.models.network.rates import Rates, require_near
from certree.models.network.topology import MAX_CAPACITY, MAX_EXACT, MAX_LATENCY, MAX_NODES, UNKNOWN_LATENCY, NodeKind, Topology

MAX_UNITS = 64  # of the widest link, up to which the unit is chosen so that no capacity is rounded
_CYCLES = 10**9  # a second: about as many cycles has the clock of a network that states latencies


@dataclass(frozen=True)
class Cable:
    """A cable between nodes `a` and `b` with `lanes` lanes of speed `lane`, in bytes per second and direction. `latency`: seconds,
    or cycles in a box without bandwidth, where it is stated. `one_way`: a link from `a` to `b` only."""

    a: int
    b: int
    lane: Fraction
    lanes: int = 1
    latency: Fraction | None = None
    one_way: bool = False


@dataclass(frozen=True)
class Port:
    """A port of a network interface: its node, bytes per second, and the names by which it can be chosen."""

    node: int
    rate: Fraction
    names: tuple[str, ...] = ()


@dataclass
class Box:
    """Endpoints 0 .. gpus - 1, then switches (NVSwitches, PCIe bridges, sockets, network interfaces), joined by cables.

    `names`: those of the endpoints. `is_relative`: lanes are parts of a full link, whose bandwidth nothing states.
    """

    gpus: int
    switches: list[str] = field(default_factory=list)  # names
    cables: list[Cable] = field(default_factory=list)
    ports: list[Port] = field(default_factory=list)
    names: list[str] | None = None
    is_relative: bool = False

    def add_switch(self, name: str) -> int:
        """The number of a new switch."""
        self.switches.append(name)
        return self.gpus + len(self.switches) - 1

    def join(self, a: int, b: int, lane: Fraction, lanes: int = 1, latency: Fraction | None = None) -> None:
        """Add a cable with both directions."""
        self.cables.append(Cable(a, b, lane, lanes, latency))

    @property
    def labels(self) -> list[str]:
        """The names of the endpoints."""
        return self.names or [f"gpu{gpu}" for gpu in range(self.gpus)]

    def without_dead_ends(self, keep_ports: bool) -> "Box":
        """The box without switches that have a single cable, repeatedly: nothing passes through them. Ports count as cables."""
        cables, kept = list(self.cables), set(range(self.gpus + len(self.switches)))
        while True:
            ends = Counter(end for cable in cables if not cable.one_way for end in (cable.a, cable.b))
            ends.update(end for cable in cables if cable.one_way for end in {cable.a, cable.b} for _ in range(2))
            ends.update(port.node for port in self.ports if keep_ports)
            dead = {node for node in kept if node >= self.gpus and ends[node] < 2}
            if not dead:
                break
            kept -= dead
            cables = [cable for cable in cables if not dead & {cable.a, cable.b}]
        number = {node: index for index, node in enumerate(sorted(kept))}
        return Box(
            self.gpus,
            [name for index, name in enumerate(self.switches, start=self.gpus) if index in kept],
            [replace(cable, a=number[cable.a], b=number[cable.b]) for cable in cables],
            [replace(port, node=number[port.node]) for port in self.ports if port.node in kept],
            self.names,
            self.is_relative,
        )


def compose(box: Box, options: Options, where: str) -> Topology:
    """`options.boxes` copies of the box with a fabric between their network interfaces; a single box has none.

    Ranks run box by box; switches follow box by box, those of the fabric last. Labels name every node. TopologyError asks for all
    that the description and the options do not state.
    """
    boxes, found = options.boxes, len(box.switches)
    box = replace(box, ports=chosen_ports(box, options, where)).without_dead_ends(keep_ports=boxes > 1)
    planes = _planes(box, options, where)
    options.require_answers(where)
    if found > len(box.switches):
        options.tell("left out", f"{found - len(box.switches)} switches, bridges or interfaces with a single cable")
    nodes = boxes * (box.gpus + len(box.switches)) + planes
    if nodes > MAX_NODES:
        raise TopologyError(f"{where}: {nodes} nodes; allowed: up to {MAX_NODES}")
    prefix = [f"box{copy}/" if boxes > 1 else "" for copy in range(boxes)]
    labels = [f"{start}{name}" for names in (box.labels, box.switches) for start in prefix for name in names]
    options.tell("took", f"{boxes * box.gpus} endpoints, {nodes - boxes * box.gpus} switches, {len(box.cables) * boxes} cables")
    labels += [f"fabric{plane}" for plane in range(planes)]
    return _network(_all_cables(box, boxes, planes), nodes, boxes * box.gpus, labels, box.is_relative, options, where)


def chosen_ports(box: Box, options: Options, where: str) -> list[Port]:
    """The ports whose interfaces were chosen."""
    if not (options.nics and box.ports):
        return box.ports
    names = [name for port in box.ports for name in port.names]
    matches = dict(zip(names, matching(names, options.nics, "nics", where), strict=True))
    return [port for port in box.ports if any(matches[name] for name in port.names)]


def _all_cables(box: Box, boxes: int, planes: int) -> list[Cable]:
    """The cables of all copies, and those of the fabric."""

    def number(copy: int, node: int) -> int:
        if node < box.gpus:
            return copy * box.gpus + node
        return boxes * box.gpus + copy * len(box.switches) + node - box.gpus

    cables = [replace(cable, a=number(copy, cable.a), b=number(copy, cable.b)) for copy in range(boxes) for cable in box.cables]
    first = boxes * (box.gpus + len(box.switches))
    if planes:
        cables += [
            Cable(number(copy, port.node), first + index % planes, port.rate)
            for copy in range(boxes)
            for index, port in enumerate(box.ports)
        ]
    return cables


def _network(
    cables: list[Cable], nodes: int, endpoints: int, labels: Sequence[str], is_relative: bool, options: Options, where: str
) -> Topology:
    full, unit = units_of(cables, options.unit)
    clock = _clock(cables, full, is_relative)
    links = sorted(row for cable in cables for row in _links(cable, 1 if is_relative else clock))
    rates = [rate for _, _, rate, _ in links]
    require_near(where, min(rates, default=unit) / full, max(rates, default=unit) / full, MAX_CAPACITY, full)
    capacity, scale = in_units([rate / full for rate in rates], where, MAX_EXACT)
    if clock is not None and any(latency > MAX_LATENCY for _, _, _, latency in links):
        raise TopologyError(f"{where}: a latency of more than {MAX_LATENCY} cycles of {clock / 10**9:.6g} GHz")
    kind = np.full(nodes, NodeKind.SWITCH, np.int8)
    kind[:endpoints] = NodeKind.ENDPOINT
    topology = Topology(
        where,
        kind,
        np.array([src for src, _, _, _ in links], np.int32),
        np.array([dst for _, dst, _, _ in links], np.int32),
        np.array(capacity, np.int32),
        np.array([latency for _, _, _, latency in links], np.int32),
        labels=tuple(labels),
        bandwidth=None if is_relative else full,
        clock=None if is_relative else clock,
        scale=scale,
        rates=Rates(np.array(capacity, np.int64), scale),
        notes=tuple(options.talk.told),
    )
    return topology.in_units_of(unit / full)


def _clock(cables: Sequence[Cable], full: int, is_relative: bool) -> int | None:
    """The clock near 1 GHz at which a full link moves a whole number of bytes each cycle; None where no latency is stated."""
    if is_relative or all(cable.latency is None for cable in cables):
        return None
    return full // max(1, round(Fraction(full, _CYCLES)))


def _links(cable: Cable, clock: int | None) -> list[tuple[int, int, Fraction, int]]:
    """(node, node, bytes per second, cycles) of the links of a cable."""
    rate = cable.lane * cable.lanes
    latency = UNKNOWN_LATENCY if cable.latency is None or clock is None else round(cable.latency * clock)
    forth = (cable.a, cable.b, rate, latency)
    return [forth] if cable.one_way else [forth, (cable.b, cable.a, rate, latency)]


def without_interfaces(options: Options, where: str) -> TopologyError:
    """The error message for boxes that nothing can join."""
    why = ": links=nvlink leaves out PCIe, over which GPUs reach them" if options.nvlink_only else ""
    return TopologyError(f"{where}: no network interface that a GPU reaches; boxes cannot be joined{why}")


def _planes(box: Box, options: Options, where: str) -> int:
    """The number of switches of the fabric."""
    if options.boxes == 1:
        if options.fabric is not None:
            raise TopologyError(f"{where}: fabric={options.fabric} joins boxes; give boxes=N")
        return 0
    if not box.ports:
        raise without_interfaces(options, where)
    if options.fabric is None:
        options.ask("how boxes are connected; give fabric=switch or fabric=rails")
    return len(box.ports) if options.fabric == "rails" else 1


def units_of(cables: Sequence[Cable], chosen: Fraction | None) -> tuple[int, Fraction]:
    """Bytes per second of a full link, and of a unit of schedules, for cables of these speeds."""
    lanes, widest = {cable.lane for cable in cables}, max((cable.lane * cable.lanes for cable in cables), default=Fraction(1))
    base = math.lcm(*(lane.denominator for lane in lanes))
    measure = Fraction(math.gcd(*(int(lane * base) for lane in lanes)), base)
    unit = measure if widest <= MAX_UNITS * measure else min(lanes, default=Fraction(1))
    full = int(unit) if unit.denominator == 1 else _rounder(unit)
    return full, unit if chosen is None else chosen


def _rounder(rate: Fraction) -> int:
    """The least whole number of two significant digits that is no less than a rate, and at least 1."""
    step: int = 10 ** max(0, len(str(int(rate))) - 2)
    return max(1, math.ceil(rate / step) * step)
