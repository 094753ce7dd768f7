"""The network that spanning trees over endpoints can use: the common capacity of both directions, switches only forwarding."""

from dataclasses import dataclass, replace

import numpy as np

from certree.models.common.errors import TopologyError, UnsupportedError
from certree.models.network.topology import Int32, Topology
from certree.synth.packing.trees import TreeFamily
from certree.synth.phases import links_back


@dataclass(frozen=True, eq=False)
class BothWays:
    """`network`: every link has one of the same capacity that leads back, and no switch reduces. `link`: the link of `whole` that
    each of its links is a part of; None where the two have the same links."""

    whole: Topology
    network: Topology
    link: Int32 | None

    @classmethod
    def of(cls, topology: Topology) -> "BothWays":
        """The links there and back between two nodes are matched, the first ones first, for as much as both carry.

        UnsupportedError where that does not join all endpoints. O(links log links).
        """
        whole = topology
        if topology.reducing.any():
            topology = replace(topology, reducing=np.zeros(len(topology.kind), np.bool_))
        if links_back(topology) is not None:
            return cls(whole, topology, None)
        there, back, capacity = _matched(topology)
        link = np.concatenate((there, back))
        try:
            network = replace(
                topology,
                src=topology.src[link],
                dst=topology.dst[link],
                capacity=np.concatenate((capacity, capacity)),
                latency=topology.latency[link],
            )
        except TopologyError:
            raise UnsupportedError(
                f"packing through switches needs links in both directions between all endpoints; {topology.name} lacks them"
            ) from None
        return cls(whole, network, link)

    def lifted(self, family: TreeFamily) -> TreeFamily:
        """The trees on `network` as trees on `whole`."""
        if self.link is None:
            return replace(family, topology=self.whole)
        link = self.link.tolist()
        return replace(family, topology=self.whole, routes=tuple(tuple(link[part] for part in route) for route in family.routes))


def _matched(topology: Topology) -> tuple[Int32, Int32, Int32]:
    """(link, link back, common capacity) of the links in both directions."""
    waiting: dict[tuple[int, int], list[tuple[int, int]]] = {}  # by the ends: (link, what is left of it)
    for number, (src, dst, capacity) in enumerate(
        zip(topology.src.tolist(), topology.dst.tolist(), topology.capacity.tolist(), strict=True)
    ):
        waiting.setdefault((src, dst), []).append((number, capacity))
    found = []
    for (src, dst), links in waiting.items():
        others = list(reversed(waiting.get((dst, src), []))) if src < dst else []
        for number, capacity in links:
            left = capacity
            while left and others:
                other, room = others.pop()
                part = min(left, room)
                found.append((number, other, part))
                left -= part
                if room > part:
                    others.append((other, room - part))
    there, back, parts = np.array(found, np.int32).reshape(-1, 3).T
    return there, back, parts
