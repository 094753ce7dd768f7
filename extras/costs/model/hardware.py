"""Counts of wires, buffers and crossbars of a network; area and power follow from unit costs."""

from collections.abc import Mapping
from dataclasses import astuple, dataclass, fields
from fractions import Fraction

import numpy as np

from certree.models.common.errors import InputError
from certree.models.machine.machine import Machine
from certree.models.network.topology import NodeKind, Topology
from certree.models.schedule.paths import link_cycles


@dataclass(frozen=True)
class Hardware:
    """Counts of a whole network, each in units as wide as a flit.

    `wires`: lanes times their latency in cycles, which stands for their length. `buffers`: flit buffers at the input ports of
    routers. `crosspoints`: pairs of an input and an output lane that a router's crossbar can join. `endpoints`: nodes, for costs
    per node that do not depend on the network.
    """

    wires: int
    buffers: int
    crosspoints: int
    endpoints: int

    def price(self, prices: Mapping[str, Fraction]) -> Fraction:
        """The sum of all parts, each times its unit cost."""
        return sum((count * prices[part] for part, count in zip(PARTS, astuple(self), strict=True)), Fraction(0))


PARTS = tuple(field.name for field in fields(Hardware))


def hardware_of(topology: Topology, machine: Machine) -> Hardware:
    """Hardware of routers and links of a network on a machine; a router at every node, as in the simulator. O(nodes + links).

    An endpoint's router has an interface lane in and out for each lane of its links, or one where `interfaces` is "node".
    """
    topology.require_full_links("the hardware model")
    nodes, capacity = len(topology.kind), topology.capacity.astype(np.int64)
    incoming = np.bincount(topology.dst, capacity, nodes).astype(np.int64)
    outgoing = np.bincount(topology.src, capacity, nodes).astype(np.int64)
    is_endpoint = (topology.kind == NodeKind.ENDPOINT).astype(np.int64)
    interface = is_endpoint * (outgoing if machine.router.interfaces == "link" else 1)
    length = link_cycles(topology, machine)[topology.pair_of_link]
    return Hardware(
        wires=int((capacity * length).sum()),
        buffers=int((incoming + interface).sum()) * machine.vc_count * machine.vc_buffer_flits,
        crosspoints=int(((incoming + interface) * (outgoing + interface)).sum()),
        endpoints=len(topology.endpoints),
    )


def prices_from_shares(hardware: Hardware, shares: Mapping[str, Fraction]) -> dict[str, Fraction]:
    """Unit costs with which each part of a network has its share of a total of 1. InputError for a share of an absent part."""
    prices = {}
    for part, count in zip(PARTS, astuple(hardware), strict=True):
        if shares[part] and not count:
            raise InputError(f"{part} cannot have a share of {shares[part]}: the network has none")
        prices[part] = shares[part] / count if count else Fraction(0)
    return prices
