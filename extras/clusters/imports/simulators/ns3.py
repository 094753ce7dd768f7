"""Topology files of ns-3 as HPCC, ASTRA-sim and SimAI use them: counts, the switches, then a line for each cable.

NODES SWITCHES LINKS                                        (SimAI: NODES GPUS-A-SERVER NVSWITCHES SWITCHES LINKS GPU)
ids of the switches
SRC DST RATE DELAY ERROR-RATE
"""

import re
from fractions import Fraction

from certree.extras.clusters.imports import description
from certree.extras.clusters.imports.box import Box
from certree.extras.clusters.imports.options import Options
from certree.extras.clusters.imports.texts import decimal, decoded, entries, lines_of, start_of, text_of
from certree.models.common.errors import TopologyError, short
from certree.models.common.files import Opened
from certree.models.common.quantities import parse_bandwidth
from certree.models.network.topology import MAX_NODES

_COUNTS = re.compile(r"([0-9]{1,7}) ([0-9]{1,7}) ([0-9]{1,7})")
_SIMAI = re.compile(r"([0-9]{1,7}) ([0-9]{1,7}) ([0-9]{1,7}) ([0-9]{1,7}) ([0-9]{1,7}) (\S+)")
_CABLE = re.compile(r"([0-9]{1,7}) ([0-9]{1,7}) ([0-9.]+[KMGT]?[bB]ps) ([0-9.]+)([mun]?s) ([0-9.]+(?:e-?[0-9]+)?)")
_SECONDS = {"s": Fraction(1), "ms": Fraction(1, 10**3), "us": Fraction(1, 10**6), "ns": Fraction(1, 10**9)}


def _matches(start: bytes) -> bool:
    lines = [text for _, text in entries([" ".join(line.split()) for line in start_of(start)], "#")]
    is_counted = bool(lines) and (_COUNTS.fullmatch(lines[0]) or _SIMAI.fullmatch(lines[0])) is not None
    return is_counted and any(_CABLE.fullmatch(line) for line in lines[1:4])


@description("ns3", _matches)
def read_ns3(file: Opened, options: Options) -> Box:
    """.txt - a physical topology for ns-3 (HPCC, ASTRA-sim, SimAI): switches, and cables with rate and delay."""
    where = str(file)
    spaced = [" ".join(line.split()) for line in lines_of(text_of(file, "a topology for ns-3"))]
    (line, first), *rest = list(entries(spaced, "#")) or [(1, "")]
    nodes, switches, links = _counts(first, f"{where}: line {line}")
    names: list[int] = []
    while rest and len(names) < switches:
        line, text = rest.pop(0)
        if not re.fullmatch("[0-9]{1,7}(?: [0-9]{1,7})*", text):
            raise TopologyError(f"{where}: line {line}: {short(text)}; expected the ids of {switches} switches")
        names += map(int, text.split())
    if len(set(names)) < len(names) or len(names) != switches or any(name >= nodes for name in names):
        raise TopologyError(f"{where}: line {line}: {len(names)} ids of switches; expected {switches} different ones below {nodes}")
    if len(rest) != links:
        raise TopologyError(f"{where}: {len(rest)} cables; the first line says {links}")
    ends = [number for number in range(nodes) if number not in set(names)]
    box = Box(len(ends), [f"switch{number}" for number in names], names=[f"node{number}" for number in ends])
    place = {number: index for index, number in enumerate([*ends, *names])}
    for line, text in rest:
        _join(box, place, text, f"{where}: line {line}")
    options.tell("took", f"{len(ends)} nodes, {switches} switches, {links} cables")
    options.tell("left out", "error rates")
    return box


def _counts(text: str, at: str) -> tuple[int, int, int]:
    """Nodes, switches and links."""
    if match := _COUNTS.fullmatch(text):
        nodes, switches, links = map(int, match.groups())
    elif match := _SIMAI.fullmatch(text):
        nodes, links = int(match[1]), int(match[5])
        switches = int(match[3]) + int(match[4])
    else:
        raise TopologyError(f"{at}: {short(text)}; expected the numbers of nodes, switches and links")
    if not 2 <= nodes <= MAX_NODES or switches >= nodes:
        raise TopologyError(f"{at}: {nodes} nodes, of which {switches} are switches; allowed: 2 to {MAX_NODES} nodes")
    return nodes, switches, links


def _join(box: Box, place: dict[int, int], text: str, at: str) -> None:
    match = _CABLE.fullmatch(text)
    if match is None:
        raise TopologyError(f"{at}: {short(text)}; expected SRC DST RATE DELAY ERROR-RATE, such as 0 8 400Gbps 0.0005ms 0")
    a, b, delay = int(match[1]), int(match[2]), decimal(match[4])
    if a == b or a not in place or b not in place or delay is None:
        raise TopologyError(
            f"{at}: a cable from {a} to {b}, delay {match[4]}; expected two nodes below {len(place)}, and a decimal"
        )
    box.join(place[a], place[b], _rate(match[3], at), latency=delay * _SECONDS[match[5]])


def _rate(text: str, at: str) -> Fraction:
    """Bps are bytes a second, bps bits."""
    return parse_bandwidth(text.replace("Bps", "B/s").replace("bps", "b/s"), at, TopologyError)


def is_logical(start: bytes) -> bool:
    """Whether a file begins as the logical dimensions of ASTRA-sim, which state no links."""
    return re.match(r'\s*\{\s*"logical-dims"', decoded(start, "replace")) is not None


@description("ns3-logical", is_logical)
def read_logical(file: Opened, options: Options) -> Box:
    """.json - ASTRA-sim's logical dimensions for ns-3; refused: they state no links."""
    raise TopologyError(f"{file}: logical dimensions of ASTRA-sim, which state no links; give the physical topology for ns-3")
