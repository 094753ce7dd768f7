"""The structure of a network: diameter, bisection, and paths between endpoints."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from certree.extras.designs.model.bisection import Bisection, bisection_of
from certree.models.machine.machine import Machine
from certree.models.network.topology import NodeKind, Topology


@dataclass(frozen=True)
class Structure:
    """`link_rate`: GB/s of a full link; `endpoint_links`: the full links out of the endpoint that has the fewest, in units of
    their rate; `least_disjoint`: paths that share no link, between the pair of endpoints that has the
    fewest; `least_shortest` and `mean_shortest`: shortest paths of a pair."""

    endpoints: int
    switches: int
    links: int
    link_rate: Fraction
    endpoint_links: Fraction
    diameter_hops: int
    bisection: Bisection
    least_disjoint: int
    least_shortest: int
    mean_shortest: Fraction

    @property
    def bisection_words(self) -> str:
        """The bisection in GB/s, with its class."""
        return self.bisection.words(self.link_rate)

    @property
    def endpoint_rate(self) -> Fraction:
        """GB/s out of the endpoint that has the least."""
        return self.endpoint_links * self.link_rate

    def document(self) -> dict[str, Any]:
        """Plain JSON, exact numbers as texts."""
        upper = self.bisection.upper
        return {
            "endpoints": self.endpoints,
            "switches": self.switches,
            "links": self.links,
            "endpoint_GBps": float(self.endpoint_rate),
            "diameter_hops": self.diameter_hops,
            "bisection": self.bisection_words,
            "bisection_lower_links": str(self.bisection.lower),
            "bisection_upper_links": None if upper is None else str(upper),
            "bisection_lower_GBps": float(self.bisection.lower * self.link_rate),
            "bisection_upper_GBps": None if upper is None else float(upper * self.link_rate),
            "bisection_class": "exact" if self.bisection.is_exact else self.bisection.lower_class,
            "least_disjoint_paths": self.least_disjoint,
            "least_shortest_paths": self.least_shortest,
            "mean_shortest_paths": str(self.mean_shortest),
        }


def structure_of(topology: Topology, machine: Machine) -> Structure:
    """The structure of a network whose full links have the rate of the machine's.

    O(nodes · links) for shortest paths, endpoints maximum flows for disjoint ones, and the costs of `bisection_of`."""
    least, mean = _shortest_paths(topology)
    out = np.zeros(len(topology.kind), np.int64)
    np.add.at(out, topology.src, topology.capacity)
    return Structure(
        endpoints=len(topology.endpoints),
        switches=int((topology.kind == NodeKind.SWITCH).sum()),
        links=len(topology.src),
        link_rate=Fraction(machine.flit_bytes * machine.clock_hz, 10**9),
        endpoint_links=int(out[topology.endpoints].min()) / Fraction(topology.scale),
        diameter_hops=topology.diameter[0],
        bisection=bisection_of(topology),
        least_disjoint=_least_disjoint(topology),
        least_shortest=least,
        mean_shortest=mean,
    )


def _shortest_paths(topology: Topology) -> tuple[int, Fraction]:
    """(least, mean) number of shortest paths between two endpoints, parallel links apart."""
    out_of: list[list[int]] = [[] for _ in topology.kind]
    for tail, head in zip(topology.src.tolist(), topology.dst.tolist(), strict=True):
        out_of[tail].append(head)
    endpoints, counts = topology.endpoints.tolist(), list[int]()
    for start in endpoints:
        far = topology.distances(start).tolist()
        paths = [0] * len(far)
        paths[start] = 1
        for node in sorted((one for one in range(len(far)) if far[one] >= 0), key=far.__getitem__):
            for head in out_of[node]:
                if far[head] == far[node] + 1:
                    paths[head] += paths[node]
        counts += [paths[node] for node in endpoints if node != start]
    return min(counts), Fraction(sum(counts), len(counts))


def _least_disjoint(topology: Topology) -> int:
    """The fewest link-disjoint paths between two endpoints. Every cut between two endpoints separates the first one from another,
    in one direction or the other."""
    import networkx as nx
    from networkx.algorithms.flow import edmonds_karp

    graph = nx.DiGraph()
    pairs, counts = np.unique(np.stack([topology.src, topology.dst]), axis=1, return_counts=True)
    for (tail, head), count in zip(pairs.T.tolist(), counts.tolist(), strict=True):
        graph.add_edge(tail, head, capacity=count)
    first, *others = topology.endpoints.tolist()
    least = int(np.bincount(topology.src, minlength=len(topology.kind))[topology.endpoints].min())
    for other in others:
        for pair in ((first, other), (other, first)):
            least = min(least, nx.maximum_flow_value(graph, *pair, flow_func=edmonds_karp, cutoff=least))
    return int(least)
