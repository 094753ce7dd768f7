"""Paths of blocks, each from its source to its target, that load the links of a network evenly.

An all-to-all is a multicommodity flow. Its paths are found by rerouting (`synth/native/pair_router.hpp`); the certificate says
how far they are from the bound. On Cayley graphs only the paths from node 0 are routed; those from node v are their images under
the translation that takes node 0 to v, and a link carries what its generator carries. Gather and scatter are flows of one
commodity (`root_paths`).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from certree.models.network.topology import Int32, Topology
from certree.synth import _native
from certree.synth.symmetric.cayley import Cayley

SWEEPS = 24  # of rerouting, for effort 1


@dataclass(frozen=True, eq=False)
class Paths:
    """Block i goes over the joined pairs `pair[offset[i] : offset[i + 1]]`; `period`: rounds in which every link can carry all."""

    offset: Int32
    pair: Int32
    period: int


def balanced_paths(topology: Topology, source: Int32, target: Int32, seed: int, sweeps: int) -> Paths:
    """Paths between the nodes `source[i]` and `target[i]`, found by rerouting. O(sweeps · blocks · links · log nodes) at worst."""
    kind = np.arange(len(topology.pair_src), dtype=np.int32)
    return _rerouted(topology, kind, topology.pair_capacity, source, target, seed, sweeps)


def translated_paths(cayley: Cayley, copies: int, seed: int, sweeps: int) -> Paths:
    """Paths of `copies` blocks from node 0 to each other node; translated to all nodes they load every link of a generator equally.

    Blocks are in the order of their targets, then of their copies. O(sweeps · copies · N · links · log N) at worst.
    """
    topology = cayley.topology
    target = np.repeat(np.arange(1, cayley.nodes, dtype=np.int32), copies)
    return _rerouted(topology, cayley.kind, cayley.capacity, np.zeros(len(target), np.int32), target, seed, sweeps)


def _rerouted(
    topology: Topology, kind: Int32, capacity: NDArray[np.int64], source: Int32, target: Int32, seed: int, sweeps: int
) -> Paths:
    offset = np.searchsorted(topology.pair_src, np.arange(len(topology.kind) + 1)).astype(np.int32)
    found, pairs, period = _native.route_pairs(
        offset,
        topology.pair_dst.astype(np.int32),
        kind,
        np.ascontiguousarray(capacity, np.int64),
        np.ascontiguousarray(source, np.int32),
        np.ascontiguousarray(target, np.int32),
        sweeps,
        least_period(topology, kind, capacity, source, target),
        seed,
    )
    return Paths(found, pairs, int(period))


def least_period(topology: Topology, kind: Int32, capacity: NDArray[np.int64], source: Int32, target: Int32) -> int:
    """Rounds that no paths can do without: all hops over all links, and what leaves or enters a node over its links.

    `kind`, `capacity`: class of each joined pair, and the capacity of each class. O(sources · links).
    """
    hops = sum(int(topology.distances(node)[target[source == node]].sum()) for node in np.unique(source).tolist())
    ends = [(source, topology.pair_src), (target, topology.pair_dst)] if len(kind) == len(capacity) else []
    needs = [-(-int(hops) // int(capacity.sum()))]
    for blocks, ends_of_pairs in ends:
        width = np.bincount(ends_of_pairs, topology.pair_capacity, len(topology.kind)).astype(np.int64)
        count = np.bincount(blocks, minlength=len(width))
        needs.append(int((-(-count // np.maximum(width, 1))).max()))
    return max(1, *needs)
