"""The listing of an InfiniBand subnet by `ibnetdiscover -p`: a line for each port, with what is at the other end of its cable.

Lines name ports, not adapters: those of adapters with one name and different numbers are ports of one adapter.
"""

import re
from collections import defaultdict
from dataclasses import dataclass

from certree.extras.clusters.imports import description
from certree.extras.clusters.imports.box import Box
from certree.extras.clusters.imports.fabrics.subnet import LANES, Subnet, box_of
from certree.extras.clusters.imports.options import Options
from certree.extras.clusters.imports.texts import lines_of, start_of, text_of
from certree.models.common.errors import TopologyError, short
from certree.models.common.files import Opened

_END = r"(SW|CA|RT)\s+([0-9]{1,5})\s+([0-9]{1,4})\s+(0x[0-9a-fA-F]{1,16})"
_NAMES = r"-\s+" + _END + r"\s+\( '(.*)' - '(.*)' \)|'(.*)'"
_LINE = re.compile(rf"{_END}\s+([0-9]{{1,2}}x|\?\?\?)\s+([A-Z0-9]{{3,5}}|\?\?\?)\s+(?:{_NAMES})")
_KINDS = {"SW": "Switch", "CA": "Ca", "RT": "Rt"}


@dataclass(frozen=True)
class _Port:
    """An end of a cable: kind, GUID, number and name."""

    kind: str
    guid: str
    number: int
    name: str


@description("ibnetdiscover-ports", lambda start: any(_LINE.fullmatch(line.strip()) for line in start_of(start)))
def read_ports(file: Opened, options: Options) -> Box:
    """.txt - the ports of an InfiniBand subnet by `ibnetdiscover -p`; endpoints are its adapters, or those of nics=NAME+NAME."""
    where = str(file)
    cables: list[tuple[int, _Port, _Port, str | None]] = []
    for number, line in enumerate(lines_of(text_of(file, "`ibnetdiscover -p`")), 1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        match = _LINE.fullmatch(text)
        if match is None:
            raise TopologyError(
                f"{where}: line {number}: {short(text)} is no line of ibnetdiscover -p: TYPE LID PORT GUID WIDTH SPEED ..."
            )
        if match[7] is not None:  # others have no cable
            port = _Port(match[1], match[4].lower(), int(match[3]), match[11])
            other = _Port(match[7], match[10].lower(), int(match[9]), match[12])
            cables.append((number, port, other, _stated(match[5], match[6], f"{where}: line {number}")))
    if not cables:
        raise TopologyError(f"{where}: no cables")
    return box_of(_subnet(cables, where), options, where)


def _stated(width: str, lane: str, at: str) -> str | None:
    """The rate of a line, such as 4xNDR; None where it is not known."""
    if "???" in (width, lane):
        return None
    if width not in ("1x", "2x", "4x", "8x", "12x") or lane not in LANES:
        raise TopologyError(f"{at}: the rate {width} {lane}; allowed: 1, 2, 4, 8 or 12 lanes of {', '.join(LANES)}")
    return f"{width}{lane}"


def _subnet(cables: list[tuple[int, _Port, _Port, str | None]], where: str) -> Subnet:
    """The nodes and ports of a subnet. A switch is known by its GUID, and ports of adapters with one name are of one node."""
    subnet, node = Subnet(), _nodes([end for _, port, other, _ in cables for end in (port, other)])
    for number, port, other, stated in cables:
        at = node[port], port.number
        if at in subnet.ports:
            raise TopologyError(f"{where}: line {number}: port {port.number} of {port.guid} is listed twice")
        subnet.ports[at] = number, (node[other], other.number), stated
        for end in (port, other):
            name = subnet.names.setdefault(node[end], end.name or end.guid)
            if name not in (end.name, end.guid) or subnet.kinds.setdefault(node[end], _KINDS[end.kind]) != _KINDS[end.kind]:
                raise TopologyError(
                    f"{where}: line {number}: {end.guid} is {end.kind} {end.name!r} here, and another node elsewhere"
                )
    return subnet


def _nodes(ports: list[_Port]) -> dict[_Port, str]:
    """The name of the node of each port. Ports of adapters with one name and one number are of different adapters, which GUIDs
    name."""
    numbers: dict[str, dict[int, set[str]]] = defaultdict(lambda: defaultdict(set))
    for port in ports:
        if port.kind == "CA":
            numbers[port.name][port.number].add(port.guid)
    shared = {name for name, found in numbers.items() if name and all(len(guids) == 1 for guids in found.values())}
    return {port: f"CA {port.name}" if port.kind == "CA" and port.name in shared else port.guid for port in ports}
