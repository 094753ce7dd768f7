"""Lengths for the bound on a demand from the loads of a schedule: quick, where a search from equal lengths takes long.

Where a schedule is nearly as good as any, the links that it fills most are those that any schedule fills, as complementary
slackness has it. So long links are those that carry much, by the 16th power of their fill; a few passes of multiplicative weights
then make them longer where shortest paths still meet, and roundings leave the links of a narrow cut alone.
"""

from collections.abc import Iterator
from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

from certree.synth.bounds.weights import grown
from certree.verify.bounds.instance import Instance
from certree.verify.bounds.witness import Bound, WitnessError, make_bound

Int64 = NDArray[np.int64]

PASSES, PARTS = (8, 32), 4  # of multiplicative weights: quickly, and then more; and the part by which links grow
_BITS, _SQUARINGS = 12, 4  # of fills, and of them: the 16th power


def bounds_by_loads(instance: Instance, load: Int64) -> Iterator[Bound]:
    """Metric bounds on an alltoallv by lengths that follow from what joined pairs of nodes carry (`load`), one after the other."""
    topology, demand = instance.topology, instance.collective.demand
    assert demand is not None
    fill = (load << _BITS) // topology.pair_capacity
    fill = (fill << _BITS) // max(1, int(fill.max()))
    for _ in range(_SQUARINGS):
        fill = fill * fill >> _BITS
    source, target, granules = demand.columns
    ends = source.astype(np.int32), target.astype(np.int32), np.ascontiguousarray(granules)
    own, start = np.arange(len(topology.pair_src), dtype=np.int32), np.maximum(1, (fill << _BITS) // topology.pair_capacity)
    for passes in PASSES:
        found = grown(topology, own, topology.pair_capacity, ends, start, passes, PARTS)
        longest = int(found.max())
        for length in (found, *((2 * whole * found + longest) // (2 * longest) for whole in (1, 2))):
            with suppress(WitnessError):  # no block is as long
                yield make_bound(instance, "metric", {"length": length[topology.pair_of_link].tolist()})
