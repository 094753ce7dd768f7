"""Lengths for the bound on a demand, from the loads of a schedule: fast where a search from equal lengths is slow.

By complementary slackness, the links that a nearly optimal schedule fills most are those that every schedule fills. So the length
of a link grows with the 16th power of its fill. A few passes of multiplicative weights then make links longer where shortest paths
still meet, and rounding keeps only the links of a narrow cut.
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
    """Yield metric bounds on an alltoallv, by lengths that follow from the amounts that joined pairs of nodes carry (`load`)."""
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
            with suppress(WitnessError):  # every block has length 0
                yield make_bound(instance, "metric", {"length": length[topology.pair_of_link].tolist()})
