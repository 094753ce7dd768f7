"""A box of accelerators from its description, and the network of one or several of them.

The network has the exact rates of the description. Schedules count them in units, rounded down: in the common measure of all lanes
if no link then has more than MAX_UNITS of them, and otherwise in the slowest lane. A full link is a unit if that is a whole number
of bytes per second, and a rounder rate just above it otherwise; the network states its bandwidth, and is timed with it. Where a
description lacks a value, an error names the option that supplies it; nothing is guessed.
"""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np

from certree.models.common.errors import TopologyError
from certree.models.common.quantities import parse_bandwidth
from certree.models.network.capacities import in_units
from certree.models.network.rates import Rates, require_near
from certree.models.network.topology import MAX_CAPACITY, MAX_EXACT, MAX_NODES, UNKNOWN_LATENCY, NodeKind, Topology

FABRICS = ("switch", "rails")
NVLINKS = ("direct", "switched")
LEVELS = ("PIX", "PXB", "PHB", "NODE", "SYS")  # where PCIe paths meet, from near to far
KINDS = ("NV", "XGMI", "PCIE", *LEVELS, "NET")  # of links whose speed can be given
MAX_BOXES = 4096
MAX_UNITS = 64  # of the widest link, up to which the unit is chosen so that no capacity is rounded


@dataclass(frozen=True)
class Options:
    """The user's options for a file. Speeds by kind of link, in bytes per second; see `OPTION_HELP`."""

    speeds: Mapping[str, Fraction] = field(default_factory=dict)
    unit: Fraction | None = None
    boxes: int = 1
    fabric: str | None = None
    nvlinks: str | None = None
    nvlink_only: bool = False

    def speed(self, kind: str, where: str, what: str) -> Fraction:
        """The speed of a kind of link; TopologyError names the option when it was not given."""
        if kind not in self.speeds:
            raise TopologyError(
                f"{where} does not say how fast {what} is; give speed={kind}:BANDWIDTH, such as speed={kind}:25GB/s"
            )
        return self.speeds[kind]


#: name -> help text of the options that may follow the name of an imported file
OPTION_HELP = {
    "speed": "speed=KIND:BANDWIDTH, such as NV:25GB/s (one NVLink), NET:200Gb/s; may repeat",
    "unit": "unit=BANDWIDTH in which schedules count link rates, rounded down; every method has this option, too",
    "boxes": "boxes=N composes N boxes with a fabric between their network interfaces",
    "fabric": "fabric=switch joins all network interfaces, fabric=rails those of the same number, one switch each",
    "nvlinks": "nvlinks=direct or switched, where every two GPUs show the same number of NVLinks",
    "links": "links=nvlink leaves out PCIe and sockets",
}


def read_options(pairs: Sequence[tuple[str, str]], where: str) -> Options:
    """Options from (name, value) pairs; TopologyError names a wrong one and what is allowed."""
    speeds: dict[str, Fraction] = {}
    values: dict[str, str] = {}
    for name, value in pairs:
        if name == "speed":
            kind, colon, text = value.partition(":")
            if not (kind and colon) or kind in speeds:
                raise TopologyError(f"{where}: speed={value!r}: expected KIND:BANDWIDTH, once for each kind")
            if kind not in KINDS:
                raise TopologyError(f"{where}: speed of {kind!r}; allowed: {', '.join(KINDS)}")
            speeds[kind] = parse_bandwidth(text, f"{where}: speed={kind}", TopologyError)
            if speeds[kind] < 1:
                raise TopologyError(f"{where}: speed={kind}: bandwidth {text!r}; allowed: from 1B/s")
        elif name in values:
            raise TopologyError(f"{where}: option {name} is given twice")
        else:
            values[name] = value
    for name, allowed in (("fabric", FABRICS), ("nvlinks", NVLINKS), ("links", ("nvlink",))):
        if values.get(name, allowed[0]) not in allowed:
            raise TopologyError(f"{where}: {name}={values[name]!r}; allowed: {', '.join(allowed)}")
    boxes = values.get("boxes", "1")
    if not re.fullmatch("[0-9]{1,5}", boxes) or not 1 <= int(boxes) <= MAX_BOXES:
        raise TopologyError(f"{where}: boxes={boxes!r}; allowed: whole numbers from 1 to {MAX_BOXES}")
    return Options(
        speeds=speeds,
        unit=parse_bandwidth(values["unit"], f"{where}: unit", TopologyError) if "unit" in values else None,
        boxes=int(boxes),
        fabric=values.get("fabric"),
        nvlinks=values.get("nvlinks"),
        nvlink_only="links" in values,
    )


@dataclass(frozen=True)
class Cable:
    """A full-duplex cable between nodes `a` and `b` with `lanes` lanes of speed `lane`, in bytes per second and direction."""

    a: int
    b: int
    lane: Fraction
    lanes: int = 1


@dataclass
class Box:
    """GPUs 0 .. gpus - 1, then switches (NVSwitches, PCIe bridges, sockets, network interfaces), joined by full-duplex cables."""

    gpus: int
    switches: list[str] = field(default_factory=list)  # names
    cables: list["Cable"] = field(default_factory=list)
    ports: list[tuple[int, Fraction]] = field(default_factory=list)  # node of a network interface, bytes per second of its port

    def add_switch(self, name: str) -> int:
        """The number of a new switch."""
        self.switches.append(name)
        return self.gpus + len(self.switches) - 1

    def join(self, a: int, b: int, lane: Fraction, lanes: int = 1) -> None:
        """Add a cable."""
        self.cables.append(Cable(a, b, lane, lanes))

    def without_dead_ends(self, keep_ports: bool) -> "Box":
        """The box without switches that have a single cable, repeatedly: nothing passes through them. Ports count as cables."""
        cables, kept = list(self.cables), set(range(self.gpus + len(self.switches)))
        while True:
            ends = Counter(end for cable in cables for end in (cable.a, cable.b))
            ends.update(node for node, _ in self.ports if keep_ports)
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
            [(number[node], bandwidth) for node, bandwidth in self.ports if node in kept],
        )


def compose(box: Box, options: Options, where: str) -> Topology:
    """`options.boxes` copies of the box with a fabric between their network interfaces; a single box has none.

    Ranks run box by box; switches follow box by box, those of the fabric last. Labels name every node.
    """
    boxes = options.boxes
    box = box.without_dead_ends(keep_ports=boxes > 1)
    planes = _planes(box, options, where)
    nodes = boxes * (box.gpus + len(box.switches)) + planes
    if nodes > MAX_NODES:
        raise TopologyError(f"{where}: {nodes} nodes; allowed: up to {MAX_NODES}")

    def number(copy: int, node: int) -> int:
        if node < box.gpus:
            return copy * box.gpus + node
        return boxes * box.gpus + copy * len(box.switches) + node - box.gpus

    cables = [replace(cable, a=number(copy, cable.a), b=number(copy, cable.b)) for copy in range(boxes) for cable in box.cables]
    first = nodes - planes
    if planes:
        cables += [
            Cable(number(copy, node), first + index % planes, bandwidth)
            for copy in range(boxes)
            for index, (node, bandwidth) in enumerate(box.ports)
        ]
    full, unit = units_of(cables, options.unit)
    links = sorted(row for cable in cables for row in _both_ways(cable))
    rates = [rate for _, _, rate in links]
    require_near(where, min(rates, default=unit) / full, max(rates, default=unit) / full, MAX_CAPACITY, full)
    capacity, scale = in_units([rate / full for rate in rates], where, MAX_EXACT)
    kind = np.full(nodes, NodeKind.SWITCH, np.int8)
    kind[: boxes * box.gpus] = NodeKind.ENDPOINT
    prefix = [f"box{copy}/" if boxes > 1 else "" for copy in range(boxes)]
    labels = [f"{start}gpu{gpu}" for start in prefix for gpu in range(box.gpus)]
    labels += [f"{start}{name}" for start in prefix for name in box.switches]
    topology = Topology(
        where,
        kind,
        np.array([src for src, _, _ in links], np.int32),
        np.array([dst for _, dst, _ in links], np.int32),
        np.array(capacity, np.int32),
        np.full(len(links), UNKNOWN_LATENCY, np.int32),
        labels=(*labels, *(f"fabric{plane}" for plane in range(planes))),
        bandwidth=full,
        scale=scale,
        rates=Rates(np.array(capacity, np.int64), scale),
    )
    return topology.in_units_of(unit / full)


def _both_ways(cable: Cable) -> list[tuple[int, int, Fraction]]:
    """(node, node, bytes per second) of the links of a cable."""
    rate = cable.lane * cable.lanes
    return [(cable.a, cable.b, rate), (cable.b, cable.a, rate)]


def _planes(box: Box, options: Options, where: str) -> int:
    """Switches of the fabric."""
    if options.boxes == 1:
        if options.fabric is not None:
            raise TopologyError(f"{where}: fabric={options.fabric} joins boxes; give boxes=N")
        return 0
    if options.fabric is None:
        raise TopologyError(f"{where} does not say how boxes are connected; give fabric=switch or fabric=rails")
    if not box.ports:
        raise TopologyError(f"{where}: no network interface that a GPU reaches; boxes cannot be joined")
    return 1 if options.fabric == "switch" else len(box.ports)


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
