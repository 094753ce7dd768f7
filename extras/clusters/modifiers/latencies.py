"""Latencies of links, in cycles: of all links, of some, and of those between boxes."""

import numpy as np

from certree.extras.clusters.families.fabric import Boxes
from certree.models.common.errors import TopologyError
from certree.models.network.families import load_families
from certree.models.network.spec import MODIFIERS, Columns, links_named
from certree.models.network.topology import MAX_LATENCY, Topology


@MODIFIERS.register("latency")
def latency(topology: Topology, columns: Columns, value: str) -> None:
    """latency=C keeps data on every link for C cycles, whatever the machine says."""
    columns["latency"][:] = _cycles(topology, f"latency={value!r}", value)


@MODIFIERS.register("link-latency")
def link_latency(topology: Topology, columns: Columns, value: str) -> None:
    """link-latency=A-B:C keeps data on all parallel links in both directions for C cycles, A>B:C on those of one direction."""
    ends, colon, text = value.partition(":")
    if not colon:
        raise TopologyError(f"{topology.name}: link-latency={value!r}: expected A-B or A>B and cycles, such as 3-4:150")
    changed = links_named(topology, columns, "link-latency", value, ends)
    columns["latency"][changed] = _cycles(topology, f"link-latency={value!r}", text)


@MODIFIERS.register("fabric-latency")
def fabric_latency(topology: Topology, columns: Columns, value: str) -> None:
    """fabric-latency=C keeps data on every link outside of boxes such as h100:4 for C cycles."""
    boxes = Boxes.named(topology.name)
    if boxes is None or boxes.count == 1:
        raise TopologyError(f"{topology.name}: fabric-latency={value!r}: expected several boxes, such as h100:4; see link-latency")
    inside = boxes.count * len(load_families()[boxes.family]("").kind)
    fabric = np.maximum(columns["src"], columns["dst"]) >= inside
    columns["latency"][fabric] = _cycles(topology, f"fabric-latency={value!r}", value)


def _cycles(topology: Topology, where: str, text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 10 and int(text) <= MAX_LATENCY):
        raise TopologyError(f"{topology.name}: {where}: expected whole cycles from 0 to {MAX_LATENCY}")
    return int(text)
