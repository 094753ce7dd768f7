"""Kinds of links in a tree of switches, and the switches that transfers pass; GenModel's parameters depend on both."""

from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from certree.models.network.topology import NodeKind, Topology

Int64 = NDArray[np.int64]


class LinkKind(IntEnum):
    """The position of a link in a tree of switches; GenModel's parameters depend on it (GenTree, Table 5)."""

    SERVER = 0  # an end is an endpoint: "Middle SW"
    SWITCH = 1  # between switches: "Root SW"
    CROSS = 2  # between two switches in the middle of the network: "Cross DC"


def switches_passed(topology: Topology, kinds: Int64, row: Int64, pair: Int64, rows: int) -> Int64:
    """The switches with endpoints, other switches, and cross links that each row passes, shape (rows, 3).

    `row` and `pair`: hops, rows ascending, those of a row in the order of its route (`paths.hops`); `kinds`: `link_kinds`.
    A cross link counts for itself and the two switches that it joins (GenTree, Table 5, "Cross DC"); between neighbours, where no
    switch is passed, the link has the start-up of a switch with endpoints. O(nodes + links + hops).
    """
    switch = topology.kind == NodeKind.SWITCH
    beside = np.zeros(len(switch), np.bool_)
    beside[topology.pair_src[~switch[topology.pair_dst]]] = True
    leaves = topology.pair_src[pair]
    crosses = kinds[pair] == LinkKind.CROSS
    counted = switch[leaves] | crosses
    counted[1:] &= ~(crosses[:-1] & (row[1:] == row[:-1]))
    what = np.where(crosses, 2, np.where(beside[leaves], 0, 1))
    passed = np.zeros((rows, len(LinkKind)), np.int64)
    np.add.at(passed, (row[counted], what[counted]), 1)
    passed[~passed.any(axis=1), 0] = 1
    return passed


def link_kinds(topology: Topology) -> Int64:
    """The LinkKind of every joined pair, in `pair_index` order. O(switches · links)."""
    switch = topology.kind == NodeKind.SWITCH
    src, dst = topology.pair_src, topology.pair_dst
    between = switch[src] & switch[dst]
    kinds = np.where(between, LinkKind.SWITCH, LinkKind.SERVER).astype(np.int64)
    if between.any():
        inner = np.unique(src[between])
        far = np.full(len(topology.kind), len(topology.kind))
        far[inner] = [int(topology.distances(node)[topology.endpoints].max()) for node in inner.tolist()]
        central = far == far.min()
        kinds[between & central[src] & central[dst]] = LinkKind.CROSS
    return kinds


def full_link(topology: Topology) -> tuple[Int64, int]:
    """The capacity of each joined pair, in units that divide exact rates, and that of a full link.

    Costs are those of a full link, or of the narrowest links of a kind where all of these are wider. Where links are named as parts
    of a full link (`link-capacity=0-1:1/2`) that is the full one; descriptions of machines state rates and no full link.
    """
    exact = topology.exact
    return exact.pair_capacity.astype(np.int64), int(topology.scale) if topology.rates is None else 1
