"""The paths that are tried for all-to-alls, gathers and scatters: in how many copies of each block, and along which links."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

import numpy as np
from numpy.typing import NDArray

from certree.models.common.errors import UnsupportedError
from certree.models.network.topology import Int32, Topology
from certree.models.schedule.collective import CollectiveKind
from certree.models.schedule.default_shares import chunk_owners
from certree.synth.flows.block_paths import FEW_BLOCKS, SWEEPS, Guide, Paths, balanced_paths, translated_paths
from certree.synth.flows.fold import Fold
from certree.synth.flows.root_paths import root_paths
from certree.synth.graphs.cuts import best_cut
from certree.synth.method import Request
from certree.synth.symmetric.translations import Cayley, cayley_of

COPIES = (1, 2, 3)  # that are tried
MOST_COPIES = 32
MOST_BLOCKS = 1 << 17  # that are routed one by one
MOST_ROUTED = 1 << 19  # the same where the number of copies is given
FREE_BLOCKS = 1 << 11  # with switches: these are also routed one by one, in several copies, where a fold is above the bound
LEAST_SWEEPS = 6  # beyond FEW_BLOCKS, where there is one copy
MANY_BLOCKS = 1 << 15  # up to this many blocks, more copies are tried where their rounds are nearly whole
FEW_NODES, SEEDS = 256, 4  # with up to this many nodes that look the same, paths are searched several times
WRITTEN_TRANSFERS = 1 << 20  # of schedules that are written out if nothing else is asked for


@dataclass(frozen=True, eq=False)
class FlowPlan:
    """Paths of `copies` blocks for each pair. `cayley`: the group whose translations take the paths of node 0 to all others, or
    None; `fold`: the same for networks with switches."""

    copies: int
    paths: Paths
    kind: Int32
    capacity: NDArray[np.int64]
    cayley: Cayley | None = None
    fold: Fold | None = None


def plans(request: Request, copies: int | None) -> Iterator[FlowPlan]:
    """Yield the plans that are tried: for COPIES unless the request says otherwise, and, where the bound for one copy is not a
    whole number of rounds, for a number of copies with which it is whole or nearly so."""
    if request.collective.has_one_root:
        yield from _of_one_root(request, copies)
        return
    cayley = _cayley(request.topology) if request.collective.members is None else None
    yield from _of_all_pairs(request, copies) if cayley is None else _translated(request, cayley, copies)


def _of_one_root(request: Request, copies: int | None) -> Iterator[FlowPlan]:
    topology, collective = request.topology, request.collective
    own = np.arange(len(topology.pair_src), dtype=np.int32)
    root, inwards = int(collective.root or 0), collective.kind is CollectiveKind.GATHER
    rounds = Fraction(best_cut(topology, collective)["value"]) * len(request.members)
    for count in [copies] if copies else sorted({1, 2, whole_rounds(rounds, MOST_COPIES)}):
        yield FlowPlan(count, root_paths(topology, root, request.members, count, inwards=inwards), own, topology.pair_capacity)


def _translated(request: Request, cayley: Cayley, copies: int | None) -> Iterator[FlowPlan]:
    """Yield plans translated from one node; with other seeds where a plan takes more rounds than the bound."""
    sweeps = _sweeps(request)
    guide = Guide.of(request.topology, request.collective) if cayley.nodes <= FEW_NODES else None
    for count in [copies] if copies else COPIES:
        tries = (translated_paths(cayley, count, request.seed + turn, sweeps) for turn in range(SEEDS if guide else 1))
        paths = next(tries)
        for other in tries if guide and paths.period > guide.period(count) else ():
            paths = min(paths, other, key=lambda one: one.period)
            if guide and paths.period == guide.period(count):
                break
        if count == (copies or 1) or len(paths.pair) * cayley.nodes <= WRITTEN_TRANSFERS:
            yield FlowPlan(count, paths, cayley.kind, cayley.capacity, cayley)


def _of_all_pairs(request: Request, copies: int | None) -> Iterator[FlowPlan]:
    """Raise UnsupportedError where there are too many."""
    topology, collective = request.topology, request.collective
    endpoints = len(request.members)
    blocks, most = endpoints * (endpoints - 1), MOST_ROUTED if copies else MOST_BLOCKS
    if (copies or 1) * blocks > most:
        raise UnsupportedError(
            f"flows routes up to {MOST_BLOCKS} blocks, with option copies up to {MOST_ROUTED}; here are {(copies or 1) * blocks}"
        )
    own = np.arange(len(topology.pair_src), dtype=np.int32)
    guide = Guide.of(topology, collective)
    counts = {copies} if copies else {1}
    if copies is None and blocks <= (FEW_BLOCKS if topology.is_direct else FREE_BLOCKS):
        counts = {*COPIES, whole_rounds(guide.value * endpoints, min(MOST_COPIES, MANY_BLOCKS // blocks))}
    for count in sorted(counts):
        source, target = chunk_owners(topology, collective, count * blocks)
        assert target is not None
        paths = balanced_paths(topology, source, target, request.seed, _sweeps(request), guide, count)
        yield FlowPlan(count, paths, own, topology.pair_capacity)


def _sweeps(request: Request) -> int:
    blocks = len(request.members) * (len(request.members) - 1)
    return max(LEAST_SWEEPS, SWEEPS * request.effort * FEW_BLOCKS // max(FEW_BLOCKS, blocks))


def whole_rounds(rounds: Fraction, most: int) -> int:
    """The least number of copies, up to `most`, for which rounding up the rounds of all costs least; `rounds`: of one copy."""
    return min(range(1, most + 1), key=lambda count: Fraction(ceil(rounds * count), count))


def _cayley(topology: Topology) -> Cayley | None:
    """The network with a group that moves node 0 to every other; None where none is found."""
    try:
        return cayley_of(topology)
    except UnsupportedError:
        return None
