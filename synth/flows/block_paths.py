"""Paths of blocks, each from its source to its target, that load the links of a network evenly.

An all-to-all is a multicommodity flow. Its paths are found by rerouting (`native/flows/pair_router.hpp`); the certificate says
how far they are from the bound. On Cayley graphs only the paths from node 0 are routed; those from node v are their images under
the translation that takes node 0 to v, and a link carries what its generator carries. Gather and scatter are flows of one
commodity (`root_paths`).
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from certree.models.network.topology import Int32, Topology
from certree.models.schedule.collective import Collective
from certree.synth import _native
from certree.synth.bounds.weights import weighted_lengths
from certree.synth.graphs.lengths import best_rounded, length_value
from certree.synth.symmetric.translations import Cayley
from certree.verify.bounds.instance import Instance

SWEEPS = 24  # of rerouting, for effort 1
FEW_BLOCKS = 1 << 14  # up to this many blocks are first routed without a guide
EMPTY, LENGTH = 16, 1 << 15  # what an empty joined pair costs the router: at least, and more on average by the lengths of a guide

Int64 = NDArray[np.int64]
NO_LENGTH = np.zeros(0, np.int64)


@dataclass(frozen=True, eq=False)
class Paths:
    """Block i goes over the joined pairs `pair[offset[i] : offset[i + 1]]`; `period`: rounds in which every link can carry all."""

    offset: Int32
    pair: Int32
    period: int


@dataclass(frozen=True, eq=False)
class Guide:
    """A guide for paths from the bound on an all-to-all: the `length` of each joined pair, by which good paths are short, and the
    least rounds per block of any paths (`value`, as a coefficient of M/B, for N = `endpoints`)."""

    length: Int64
    value: Fraction
    endpoints: int

    @classmethod
    def of(cls, topology: Topology, collective: Collective) -> "Guide":
        """The guide from lengths by multiplicative weights (`synth.bounds.weights`)."""
        instance = Instance(topology, collective)
        found = best_rounded(instance, weighted_lengths(instance))
        of_pair = np.zeros(len(topology.pair_src), np.int64)
        of_pair[topology.pair_of_link] = found
        return cls(of_pair, length_value(instance, found), instance.count)

    @property
    def weight(self) -> Int64:
        """The cost of each joined pair for the router: LENGTH on average."""
        return EMPTY + self.length * LENGTH * len(self.length) // max(1, int(self.length.sum()))

    def period(self, copies: int) -> int:
        """The least rounds for `copies` blocks of each pair."""
        return math.ceil(self.value * self.endpoints * copies)


def balanced_paths(
    topology: Topology,
    source: Int32,
    target: Int32,
    seed: int,
    sweeps: int,
    guide: Guide | None = None,
    copies: int = 1,
    size: Int64 | None = None,
) -> Paths:
    """Paths between the nodes `source[i]` and `target[i]`, found by rerouting. O(sweeps · blocks · links · log nodes) at worst.

    With a `guide` for `copies` copies of all pairs, paths are also searched by its lengths, where they may have more hops, and the
    better result is kept. `size`: of each block, by default 1; in a round a link carries its capacity.
    """
    kind = np.arange(len(topology.pair_src), dtype=np.int32)
    size = np.ones(len(source), np.int64) if size is None else size
    least = least_period(topology, kind, topology.pair_capacity, source, target, size)
    goal = least if guide is None else max(least, guide.period(copies))
    network = (topology, kind, topology.pair_capacity, source, target, size, seed, sweeps, goal)
    if guide is None:
        return _rerouted(*network, NO_LENGTH)
    lengths = [NO_LENGTH, guide.weight] if len(source) <= FEW_BLOCKS else [guide.weight, NO_LENGTH]
    found = _rerouted(*network, lengths[0])
    return found if found.period == goal else min(found, _rerouted(*network, lengths[1]), key=lambda paths: paths.period)


def translated_paths(cayley: Cayley, copies: int, seed: int, sweeps: int) -> Paths:
    """Paths of `copies` blocks from node 0 to each other node; translated to all nodes they load every link of a generator equally.

    Blocks are in the order of their targets, then of their copies. O(sweeps · copies · N · links · log N) at worst.
    """
    topology = cayley.topology
    target = np.repeat(np.arange(1, cayley.nodes, dtype=np.int32), copies)
    return folded_paths(topology, cayley.kind, cayley.capacity, np.zeros(len(target), np.int32), target, seed, sweeps)


def folded_paths(topology: Topology, kind: Int32, capacity: Int64, source: Int32, target: Int32, seed: int, sweeps: int) -> Paths:
    """Paths between the nodes `source[i]` and `target[i]`, which load together all joined pairs of one `kind`; `capacity`: of each
    kind. O(sweeps · blocks · links · log nodes) at worst."""
    size = np.ones(len(source), np.int64)
    goal = least_period(topology, kind, capacity, source, target, size)
    return _rerouted(topology, kind, capacity, source, target, size, seed, sweeps, goal, NO_LENGTH)


def _rerouted(
    topology: Topology,
    kind: Int32,
    capacity: Int64,
    source: Int32,
    target: Int32,
    size: Int64,
    seed: int,
    sweeps: int,
    goal: int,
    length: Int64,
) -> Paths:
    offset = np.searchsorted(topology.pair_src, np.arange(len(topology.kind) + 1)).astype(np.int32)
    found, pairs, period = _native.route_pairs(
        offset,
        topology.pair_dst.astype(np.int32),
        kind,
        np.ascontiguousarray(capacity, np.int64),
        np.ascontiguousarray(source, np.int32),
        np.ascontiguousarray(target, np.int32),
        np.ascontiguousarray(size, np.int64),
        sweeps,
        goal,
        seed,
        np.ascontiguousarray(length, np.int64),
    )
    return Paths(found, pairs, int(period))


def least_period(topology: Topology, kind: Int32, capacity: Int64, source: Int32, target: Int32, size: Int64) -> int:
    """A lower bound on the rounds of any paths: all hops divided by all links, and blocks into or out of a node by its links.

    `kind`, `capacity`: class of each joined pair, and the capacity of each class; `size`: of each block. O(sources · links).
    """
    of_source = ((node, source == node) for node in np.unique(source).tolist())
    hops = sum(int(topology.distances(node)[target[own]].astype(np.int64) @ size[own]) for node, own in of_source)
    ends = [(source, topology.pair_src), (target, topology.pair_dst)] if len(kind) == len(capacity) else []
    needs = [-(-int(hops) // int(capacity.sum()))]
    for blocks, ends_of_pairs in ends:
        width = np.bincount(ends_of_pairs, topology.pair_capacity, len(topology.kind)).astype(np.int64)
        count = np.zeros(len(width), np.int64)
        np.add.at(count, blocks, size)
        needs.append(int((-(-count // np.maximum(width, 1))).max()))
    return max(1, *needs)
