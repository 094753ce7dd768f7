"""Grids of ranks on a network for hierarchical algorithms, with the most local dimension first."""

from dataclasses import dataclass
from math import prod

import numpy as np

from certree.models.common.errors import UnsupportedError
from certree.models.network.topology import Int32, Topology
from certree.synth.method import Option

MAX_FACTORS = 20


@dataclass(frozen=True)
class Layout:
    """Places in mixed radix, first dimension fastest; `nodes`: the endpoint at every place. Every size is at least 2."""

    sizes: tuple[int, ...]
    nodes: Int32

    def flattened(self) -> "Layout":
        """The layout with all dimensions but the first as one; of size 1 when there is one dimension only."""
        return Layout((self.sizes[0], prod(self.sizes[1:])), self.nodes)


def _read_factors(text: str) -> tuple[int, ...]:
    parts = text.split("x")
    if (
        not all(part.isascii() and part.isdigit() and len(part) < 8 and int(part) >= 2 for part in parts)
        or len(parts) > MAX_FACTORS
    ):
        raise ValueError
    return tuple(int(part) for part in parts)


#: the option `factors=6x2`: sizes of the dimensions, the most local first; by default the network decides
FACTORS = Option(_read_factors, None, "whole numbers from 2, such as 6x2, the first for neighbouring ranks")


def layout_of(topology: Topology, factors: tuple[int, ...] | None) -> Layout:
    """The grid of `factors` over ranks in ascending order; without factors the one that the network suggests.

    A network with coordinates: its own grid, the last coordinate fastest. A network with switches: endpoints on the same switches
    are neighbours, in groups of equal size. Any other network: one dimension. UnsupportedError where the factors do not multiply to
    the number of endpoints, or the groups are of different sizes. O(links + endpoints log endpoints).
    """
    nodes = len(topology.endpoints)
    if factors is not None:
        if prod(factors) != nodes:
            shape = "x".join(map(str, factors))
            raise UnsupportedError(f"factors={shape} makes {prod(factors)} ranks; {topology.name} has {nodes} endpoints")
        return Layout(factors, topology.endpoints)
    return _by_coordinates(topology) or _by_switch(topology)


def _by_coordinates(topology: Topology) -> Layout | None:
    """The grid of the endpoints' coordinates, if they fill one; None otherwise."""
    if topology.coordinates is None or not topology.coordinates.shape[1]:
        return None
    at = topology.coordinates[topology.endpoints][:, ::-1].astype(np.int64)
    sizes = at.max(axis=0) + 1
    if at.min() < 0 or prod(sizes.tolist()) != len(at):
        return None
    place = at @ np.cumprod([1, *sizes[:-1]])
    if len(np.unique(place)) != len(at):
        return None
    real = [int(size) for size in sizes if size > 1]
    return Layout(tuple(real), topology.endpoints[np.argsort(place)])


def _by_switch(topology: Topology) -> Layout:
    """Endpoints on the same switches are neighbours; one dimension where there are no switches or all hang on the same."""
    groups: dict[tuple[int, ...], list[int]] = {}
    for node, switches in zip(topology.endpoints.tolist(), attachments(topology), strict=True):
        groups.setdefault(switches, []).append(node)
    members = list(groups.values())
    inside, across = len(members[0]), len(members)
    if across == 1 or inside == 1:
        return Layout((len(topology.endpoints),), topology.endpoints)
    odd = next((group for group in members if len(group) != inside), None)
    if odd is not None:
        raise UnsupportedError(
            f"{topology.name}: node {members[0][0]} shares its switches with {inside - 1} other endpoints and node {odd[0]} with"
            f" {len(odd) - 1}: no grid of equal groups; factors=... gives one"
        )
    return Layout((inside, across), np.array(members, np.int32).ravel())


def attachments(topology: Topology) -> list[tuple[int, ...]]:
    """The switches that each endpoint has a link to, by rank, ascending; empty for one that has none. O(links + endpoints)."""
    to_switch = (topology.rank[topology.src] >= 0) & (topology.rank[topology.dst] < 0)
    found: list[set[int]] = [set() for _ in topology.endpoints]
    for rank, switch in zip(topology.rank[topology.src[to_switch]].tolist(), topology.dst[to_switch].tolist(), strict=True):
        found[rank].add(switch)
    return [tuple(sorted(switches)) for switches in found]
