"""Lengths for the bound on all-to-alls by multiplicative weights: for large networks, where linear programs take too long."""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from certree.models.common.errors import UnsupportedError
from certree.models.network.topology import Int32, Topology
from certree.models.schedule.collective import Collective, CollectiveKind
from certree.synth import _native
from certree.synth.graphs.lengths import owed_by
from certree.synth.symmetric.translations import Cayley, cayley_of
from certree.verify.bounds.instance import Instance
from certree.verify.bounds.witnesses.metric import MAX_DISTANCES, MAX_LENGTH

PASSES, PASS_WORK = 160, 1 << 26  # of multiplicative weights; endpoints times links that all of them may visit
DEMAND_PASSES = 640  # where blocks differ in size
STEPS = (1, 4)  # of multiplicative weights that are tried: one part in N

Int64 = NDArray[np.int64]
NOWHERE = np.zeros(0, np.int64)  # no lengths to begin with


def weighted_lengths(instance: Instance) -> list[Int64]:
    """Lengths by multiplicative weights (`synth/native/flows/flow_lengths.hpp`), from large steps and from small ones; none for
    other collectives, and for networks too large for distances. O(PASS_WORK · log nodes) time at worst."""
    if instance.collective.kind is not CollectiveKind.ALL_TO_ALL or instance.count * len(instance.topology.kind) > MAX_DISTANCES:
        return []
    return list(_lengths(instance.topology, instance.collective))


@lru_cache(maxsize=2)  # a method and the certificate of its schedule ask for the same lengths
def _lengths(topology: Topology, collective: Collective) -> tuple[Int64, ...]:
    """The lengths for one network and collective."""
    instance = Instance(topology, collective)
    owed = owed_by(instance)
    kind, capacity = np.arange(len(topology.pair_src), dtype=np.int32), topology.pair_capacity
    cayley = _cayley(instance)
    if cayley is not None:  # one source stands for all, and a length for all links of a generator
        kind, capacity, owed = cayley.kind, cayley.capacity, {0: owed[0]}
    rows = [(source, target, amount) for source, ends in owed.items() for target, amount in ends.items() if target != source]
    source, target, amount = np.array(rows, np.int64).T
    most = PASSES if instance.collective.demand is None else DEMAND_PASSES
    passes = max(2, min(most, PASS_WORK // (len(owed) * len(topology.src))))
    ends = source.astype(np.int32), target.astype(np.int32), np.ascontiguousarray(amount)
    found = [grown(topology, kind, capacity, ends, NOWHERE, passes, parts) for parts in STEPS]
    return tuple(lengths[kind][topology.pair_of_link] for lengths in found)


def grown(
    topology: Topology, kind: Int32, capacity: Int64, ends: tuple[Int32, Int32, Int64], start: Int64, passes: int, parts: int
) -> Int64:
    """Lengths by class of joined pairs, up to MAX_LENGTH, that multiplicative weights find in `passes` passes. `ends`: the demand
    as (source, target, amount), sorted by source. `start`: the initial lengths; equal lengths where it is empty."""
    found = _native.flow_lengths(
        offset=np.searchsorted(topology.pair_src, np.arange(len(topology.kind) + 1)).astype(np.int32),
        head=topology.pair_dst.astype(np.int32),
        kind=kind,
        capacity=np.ascontiguousarray(capacity, np.int64),
        start=start,
        source=ends[0],
        target=ends[1],
        amount=ends[2],
        passes=passes,
        first_parts=parts,
    )
    lengths: Int64 = found * MAX_LENGTH // found.max()
    return lengths


def _cayley(instance: Instance) -> Cayley | None:
    """The network as a Cayley graph, where all endpoints take part and send the same amount to each other; None elsewhere."""
    if instance.collective.demand is not None or instance.collective.members is not None:
        return None
    try:
        return cayley_of(instance.topology)
    except UnsupportedError:
        return None
