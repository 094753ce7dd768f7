"""A box of accelerators from its description, and the network of one or several of them.

Capacities are whole multiples of the unit, rounded down; the network states which rates were rounded (`rounded`). Where the
option `unit` is left out it is the common measure of all links if no link then has more than MAX_EXACT units, and the narrowest
link otherwise. The network states the bandwidth of the unit, in whole bytes per second, and is timed with it. Where a description
lacks a value, an error names the option that supplies it; nothing is guessed.
"""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from certree.models.common.errors import TopologyError
from certree.models.common.quantities import parse_bandwidth
from certree.models.network.rounding import RoundedRate, Rounding
from certree.models.network.topology import MAX_CAPACITY, MAX_NODES, UNKNOWN_LATENCY, NodeKind, Topology

FABRICS = ("switch", "rails")
NVLINKS = ("direct", "switched")
LEVELS = ("PIX", "PXB", "PHB", "NODE", "SYS")  # where PCIe paths meet, from near to far
KINDS = ("NV", "XGMI", "PCIE", *LEVELS, "NET")  # of links whose speed can be given
MAX_BOXES = 4096
MAX_EXACT = 64  # units of the widest link, up to which the unit is chosen so that no capacity is rounded


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
    "unit": "unit=BANDWIDTH of a link of capacity 1; the narrowest link or a measure of all by default; rounded down",
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


@dataclass
class Box:
    """GPUs 0 .. gpus - 1, then switches (NVSwitches, PCIe bridges, sockets, network interfaces), joined by full-duplex cables."""

    gpus: int
    switches: list[str] = field(default_factory=list)  # names
    cables: list[tuple[int, int, Fraction]] = field(default_factory=list)  # node, node, bytes per second in each direction
    ports: list[tuple[int, Fraction]] = field(default_factory=list)  # node of a network interface, bytes per second of its port

    def add_switch(self, name: str) -> int:
        """The number of a new switch."""
        self.switches.append(name)
        return self.gpus + len(self.switches) - 1

    def join(self, a: int, b: int, bandwidth: Fraction) -> None:
        """Lay a cable."""
        self.cables.append((a, b, bandwidth))

    def without_dead_ends(self, keep_ports: bool) -> "Box":
        """The box without switches that have a single cable, repeatedly: nothing passes through them. Ports count as cables."""
        cables, kept = list(self.cables), set(range(self.gpus + len(self.switches)))
        while True:
            ends = Counter(end for a, b, _ in cables for end in (a, b))
            ends.update(node for node, _ in self.ports if keep_ports)
            dead = {node for node in kept if node >= self.gpus and ends[node] < 2}
            if not dead:
                break
            kept -= dead
            cables = [cable for cable in cables if not dead & {cable[0], cable[1]}]
        number = {node: index for index, node in enumerate(sorted(kept))}
        return Box(
            self.gpus,
            [name for index, name in enumerate(self.switches, start=self.gpus) if index in kept],
            [(number[a], number[b], bandwidth) for a, b, bandwidth in cables],
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

    cables = [(number(copy, a), number(copy, b), bandwidth) for copy in range(boxes) for a, b, bandwidth in box.cables]
    first = nodes - planes
    if planes:
        cables += [
            (number(copy, node), first + index % planes, bandwidth)
            for copy in range(boxes)
            for index, (node, bandwidth) in enumerate(box.ports)
        ]
    unit = unit_of(box, options)
    links = [row for a, b, bandwidth in cables for row in _both_ways(a, b, bandwidth, unit, where)]
    columns = np.array(sorted(links), np.int32).reshape(-1, 3)
    kind = np.full(nodes, NodeKind.SWITCH, np.int8)
    kind[: boxes * box.gpus] = NodeKind.ENDPOINT
    prefix = [f"box{copy}/" if boxes > 1 else "" for copy in range(boxes)]
    labels = [f"{start}gpu{gpu}" for start in prefix for gpu in range(box.gpus)]
    labels += [f"{start}{name}" for start in prefix for name in box.switches]
    return Topology(
        where,
        kind,
        columns[:, 0],
        columns[:, 1],
        columns[:, 2],
        np.full(len(columns), UNKNOWN_LATENCY, np.int32),
        labels=(*labels, *(f"fabric{plane}" for plane in range(planes))),
        bandwidth=max(1, int(unit)),
        rounded=_rounding(Counter(bandwidth for *_, bandwidth in cables), unit),
    )


def _rounding(cables: Counter[Fraction], unit: Fraction) -> Rounding | None:
    """The rates of full-duplex cables that are not whole multiples of the unit; None where all are."""
    rates = [(rate, rate // unit * unit, 2 * count) for rate, count in sorted(cables.items(), reverse=True)]
    found = tuple(RoundedRate(*rate) for rate in rates if rate[0] != rate[1])
    return Rounding(unit, found) if found else None


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


def unit_of(box: Box, options: Options) -> Fraction:
    """Bytes per second of a link of capacity 1: the user's choice, or the common measure of all links, or the narrowest."""
    if options.unit is not None:
        return options.unit
    trimmed = box.without_dead_ends(keep_ports=options.boxes > 1)
    bandwidths = [bandwidth for _, _, bandwidth in trimmed.cables]
    bandwidths += [bandwidth for _, bandwidth in trimmed.ports if options.boxes > 1]
    base = math.lcm(*(bandwidth.denominator for bandwidth in bandwidths))
    measure = Fraction(math.gcd(*(int(bandwidth * base) for bandwidth in bandwidths)), base)
    narrowest, widest = min(bandwidths, default=Fraction(1)), max(bandwidths, default=Fraction(1))
    return measure if widest <= MAX_EXACT * measure else narrowest


def _both_ways(a: int, b: int, bandwidth: Fraction, unit: Fraction, where: str) -> list[tuple[int, int, int]]:
    capacity = bandwidth // unit
    if not 1 <= capacity <= MAX_CAPACITY:
        raise TopologyError(
            f"{where}: a link of {float(bandwidth):.4g} B/s is {capacity} units of {float(unit):.4g} B/s; allowed: 1 to"
            f" {MAX_CAPACITY} (choose another unit=BANDWIDTH)"
        )
    return [(a, b, int(capacity)), (b, a, int(capacity))]
