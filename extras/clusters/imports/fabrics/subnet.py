"""The listing of an InfiniBand subnet by `ibnetdiscover`: a block for each switch and adapter, a line for each port with a cable.

A cable is listed at both of its ends, which must agree. Adapters (Ca) are endpoints. Rates are widths times the data rate of a
lane.
"""

import re
from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction

from certree.extras.clusters.imports import description
from certree.extras.clusters.imports.box import Box
from certree.extras.clusters.imports.options import Options, matching
from certree.extras.clusters.imports.texts import lines_of, start_of, text_of
from certree.models.common.errors import TopologyError, short
from certree.models.common.files import Opened

#: Gb/s of data on a lane
LANES = {
    "SDR": Fraction(2),
    "DDR": Fraction(4),
    "QDR": Fraction(8),
    "FDR10": Fraction(10),
    "FDR": Fraction(150, 11),
    "EDR": Fraction(25),
    "HDR": Fraction(50),
    "NDR": Fraction(100),
    "XDR": Fraction(200),
}
_BLOCK = re.compile(r'(Switch|Ca|Rt)\s+([0-9]{1,4})\s+"([SHR]-[0-9a-fA-F]{1,16})"\s*(?:#\s*"([^"]*)")?.*')
_END = r"(?:\[ext [0-9]+\])?(?:\([^)]*\))?"  # numbers on the outside of a chassis, and GUIDs
_PORT = re.compile(rf'\[([0-9]{{1,4}})\]{_END}\s+"([SHR]-[0-9a-fA-F]{{1,16}})"\[([0-9]{{1,4}})\]{_END}(.*)')
_RATE = re.compile(r"\b([0-9]{1,2})x([A-Z]{3}(?:10)?)\b")
_AGGREGATION = re.compile(r"aggregation node|SHARP", re.IGNORECASE)  # the part of a switch that adds, no adapter
_BEFORE = re.compile(
    r"(vendid|devid|sysimgguid|switchguid|caguid|rtguid)=\S+"
    r"|(Non-Chassis Nodes|Chassis (Switches|CAs|[0-9]+( \(guid \S+\))?)|(Spine|Line) Nodes)$"  # groups, with --grouping
)

Port = tuple[str, int]


@dataclass
class Subnet:
    """Names and kinds of nodes, and for every port its line, the port at the other end, and the rate that is stated."""

    names: dict[str, str] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)
    ports: dict[Port, tuple[int, Port, str | None]] = field(default_factory=dict)


@description("ibnetdiscover", lambda start: any(_BLOCK.fullmatch(line.strip()) for line in start_of(start)))
def read_subnet(file: Opened, options: Options) -> Box:
    """.txt - the listing of an InfiniBand subnet by `ibnetdiscover`; endpoints are its adapters, all or those of nics=NAME+NAME."""
    where = str(file)
    return box_of(_parsed(lines_of(text_of(file, "`ibnetdiscover`")), where), options, where)


def box_of(subnet: Subnet, options: Options, where: str) -> Box:
    """The adapters and switches of a subnet, joined by cables that both ends list; TopologyError where they do not agree."""
    adapters = _adapters(subnet, options, where)
    nodes = adapters + [guid for guid, kind in subnet.kinds.items() if kind == "Switch"]
    names = _unique(subnet)
    box = Box(len(adapters), [names[guid] for guid in nodes[len(adapters) :]], names=[names[guid] for guid in adapters])
    number = {guid: index for index, guid in enumerate(nodes)}
    cables: Counter[tuple[int, int, str | None]] = Counter()
    for port, (line, other, stated) in subnet.ports.items():
        back = subnet.ports.get(other)
        if back is None or back[1] != port:
            raise TopologyError(f"{where}: line {line}: {_shown(port)} leads to {_shown(other)}, whose block does not list it back")
        if back[2] != stated:
            raise TopologyError(f"{where}: line {line}: {_shown(port)} has {stated}, and its other end {back[2]} (line {back[0]})")
        if port < other and port[0] in number and other[0] in number:
            a, b = sorted((number[port[0]], number[other[0]]))
            cables[a, b, stated] += 1
    for (a, b, stated), count in sorted(cables.items(), key=lambda item: item[0][:2]):
        box.join(a, b, _rate(stated) if stated else options.speed("LINK", "a cable of the fabric"), count)
    options.tell("took", f"{len(adapters)} adapters as endpoints, {sum(cables.values())} cables, parallel ones as one link")
    return box


def _parsed(lines: list[str], where: str) -> Subnet:
    subnet, block, allowed = Subnet(), None, 0
    for number, line in enumerate(lines, 1):
        text = line.strip()
        at = f"{where}: line {number}"
        if not text or text.startswith("#") or _BEFORE.match(text):
            block = None if text else block
        elif match := _BLOCK.fullmatch(text):
            block, allowed = match[3], int(match[2])
            expected = {"Switch": "S", "Ca": "H", "Rt": "R"}[match[1]]
            if block in subnet.kinds or block[0] != expected:
                raise TopologyError(f"{at}: {match[1]} {block} is listed twice, or its name does not begin with {expected}-")
            subnet.kinds[block], subnet.names[block] = match[1], match[4] or block
        elif match := _PORT.fullmatch(text):
            port = (block or "", int(match[1]))
            if block is None or not 1 <= port[1] <= allowed or port in subnet.ports:
                raise TopologyError(f"{at}: port {match[1]} outside a block, above its {allowed} ports, or listed twice")
            subnet.ports[port] = (number, (match[2], int(match[3])), _stated(match[4], at))
        else:
            raise TopologyError(f"{at}: {short(text)} is none of the lines of ibnetdiscover: Switch, Ca, [PORT], or GUIDs")
    if not subnet.ports:
        raise TopologyError(f"{where}: no cables")
    return subnet


def _stated(rest: str, at: str) -> str | None:
    """The rate at the end of a line, such as 4xNDR; None where it has none."""
    found = _RATE.findall(rest.rpartition('"')[2] or rest)
    if not found:
        if re.search(r"[0-9]+x", rest.rpartition('"')[2]):
            raise TopologyError(f"{at}: the rate {short(rest.rsplit(maxsplit=1)[-1])}; expected such as 4xNDR")
        return None
    width, lane = found[-1]
    if len(found) > 1 or int(width) not in (1, 2, 4, 8, 12) or lane not in LANES:
        raise TopologyError(f"{at}: the rate {width}x{lane}; allowed: 1, 2, 4, 8 or 12 lanes of {', '.join(LANES)}")
    return f"{width}x{lane}"


def _rate(stated: str) -> Fraction:
    width, _, lane = stated.partition("x")
    return int(width) * LANES[lane] * 10**9 / 8


def _adapters(subnet: Subnet, options: Options, where: str) -> list[str]:
    """The adapters that are endpoints."""
    found = [guid for guid, kind in subnet.kinds.items() if kind == "Ca" and not _AGGREGATION.search(subnet.names[guid])]
    adding = sum(kind == "Ca" for kind in subnet.kinds.values()) - len(found)
    if adding:
        options.tell("left out", f"{adding} aggregation nodes of switches")
    if routers := sum(kind == "Rt" for kind in subnet.kinds.values()):
        options.tell("left out", f"{routers} routers to other subnets")
    if not options.nics:
        return found
    chosen = matching([subnet.names[guid] for guid in found], options.nics, "nics", where)
    options.tell("left out", f"{len(found) - sum(chosen)} adapters that nics= does not name")
    return [guid for guid, is_chosen in zip(found, chosen, strict=True) if is_chosen]


def _unique(subnet: Subnet) -> dict[str, str]:
    """The names of the nodes by GUID; the name has the GUID where others have the same name."""
    often = Counter(subnet.names.values())
    return {guid: name if often[name] == 1 else f"{name} {guid}" for guid, name in subnet.names.items()}


def _shown(port: Port) -> str:
    return f"{port[0]}[{port[1]}]"
