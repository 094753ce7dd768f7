"""Forms of networks and machines."""

import re
from fractions import Fraction
from typing import Annotated, Literal, NotRequired, TypedDict

from certree.models.common.fields import Limits
from certree.models.machine.machine import Machine
from certree.models.network.topology import MAX_CAPACITY, MAX_LATENCY, MAX_NODES, UNKNOWN_LATENCY
from certree.models.network.topology_file import MAX_COORDINATE
from certree.models.schemas.form import Entries, form

Node = Annotated[int, Limits(0, MAX_NODES - 1)]
FromOne = Annotated[int, Limits(1)]
Digest = Annotated[str, re.compile("[0-9a-f]{64}")]
_Capacity = Annotated[int, Limits(1, MAX_CAPACITY)] | Annotated[str, re.compile(r"[0-9]{1,10}(/[0-9]{1,10}|\.[0-9]{1,9})?")]
_Latency = None | Annotated[int, Limits(UNKNOWN_LATENCY, MAX_LATENCY)]
_Coordinate = Annotated[int, Limits(-MAX_COORDINATE, MAX_COORDINATE)]

form("machine")(Machine)


class _Nodes(TypedDict):
    kind: Annotated[list[Literal["endpoint", "switch", "absent"]], Entries(2, MAX_NODES)]
    reducing: NotRequired[Annotated[list[Node], "ids of switches that can add"]]
    coordinates: NotRequired[list[list[_Coordinate]] | None]
    labels: NotRequired[list[str] | None]


class _Links(TypedDict):
    src: list[Node]
    dst: list[Node]
    capacity: Annotated[list[_Capacity], 'in full links (chunk units per round); a part of one as a string, such as "1/2"']
    latency: NotRequired[Annotated[list[_Latency] | None, "cycles; null or -1: the machine parameters decide"]]
    unit: NotRequired[Annotated[Fraction, "of a full link, in which a schedule counts capacities, rounded down; 1 by default"]]


@form("topology")
class Topology(TypedDict):
    """Topology.

    Nodes and directed links of a network. Node id = position in nodes.kind, link number = position in links.src.
    """

    name: str
    bandwidth: NotRequired[Annotated[FromOne | None, "bytes per second of a link of capacity 1"]]
    clock: NotRequired[Annotated[FromOne | None, "Hz"]]
    nodes: _Nodes
    links: _Links
