"""Lengths of links for the gossip bound on an all-reduce among few parts, by cutting planes.

The least cost (`certree.verify.bounds.witnesses.gossip`) is the minimum over sequences of messages of a linear function of the
lengths. So the best lengths are those of a linear program to which one sequence after the other is added (`synth.graphs.lengths`).
"""

from collections.abc import Iterator
from contextlib import suppress
from fractions import Fraction
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from certree.models.common.errors import UndecidedError
from certree.models.schedule.collective import CollectiveKind
from certree.synth.bounds.parts import parts_by_capacity
from certree.synth.graphs.lengths import Planes, along_paths, best_rounding
from certree.verify.bounds.instance import Instance
from certree.verify.bounds.witness import Bound, WitnessError, make_bound
from certree.verify.bounds.witnesses.gossip import MOST_BITS, costs_between, least_messages
from certree.verify.bounds.witnesses.metric import distances, total

MOST_PLANES = 40
MOST_HOLDERS = 1 << 9
MOST_TRIED = 4  # different parts

Int64 = NDArray[np.int64]


def best_gossip(instance: Instance) -> Bound | None:
    """The best gossip bound that is found, among parts that links of at least some capacity join; None for other collectives than
    all-reduces, and where such parts are too many.

    Up to MOST_PLANES linear programs, distances between all endpoints, and searches of the checker for each number of parts.
    """
    if instance.collective.kind is not CollectiveKind.ALL_REDUCE or instance.topology.holds.sum() > MOST_HOLDERS:
        return None
    bounds = list[Bound | None]()
    for part in islice(few_parts(instance), MOST_TRIED):
        with suppress(WitnessError, UndecidedError):
            bounds.append(_bound_among(instance, part))
    return max(filter(None, bounds), key=lambda bound: Fraction(bound["value"]), default=None)


def few_parts(instance: Instance) -> Iterator[Int64]:
    """Yield different parts by node id, some of them without members; where all have members, parts prove as much by
    `lengths_of_parts`."""
    for part in parts_by_capacity(instance.topology):
        holding, members = np.unique(part[instance.topology.holds]), np.unique(part[instance.is_member])
        if 1 < len(members) < len(holding) <= MOST_BITS // len(members):
            yield part


def _bound_among(instance: Instance, part: Int64) -> Bound | None:
    """The bound by the best lengths that are found for these parts, as they are or rounded."""
    topology, holders = instance.topology, np.flatnonzero(instance.topology.holds)
    place = np.unique(part[holders], return_inverse=True)[1]
    outside = np.flatnonzero(~np.isin(part, part[holders]))  # switches that neither send nor receive: one part for all
    part = part.copy()
    part[outside] = outside[:1]
    named = np.where(instance.exists, part, -1)
    kind = np.unique(np.stack((part[topology.src], part[topology.dst])), axis=1, return_inverse=True)[1].ravel()

    def routed(length: Int64) -> tuple[Fraction, NDArray[np.float64]]:
        need, messages = least_messages(*costs_between(instance, named, length))
        volume = total(topology.capacity.astype(np.int64) * length)
        finer = length * len(topology.kind) + 1
        far = distances(topology, finer, holders)
        starts, ends = [], []
        for source, target in messages:
            here, there = np.flatnonzero(place == source), holders[place == target]
            near = far[here][:, there]
            at, to = np.unravel_index(int(near.argmin()), near.shape)
            starts.append(int(here[at]))
            ends.append(int(there[to]))
        return Fraction(need, volume or 1), along_paths(topology, finer, far, np.array(starts), np.array(ends))

    best = Planes(topology, kind).search(routed, MOST_PLANES)
    return best_rounding(best, lambda one: make_bound(instance, "gossip", {"part": named.tolist(), "length": one.tolist()}))
