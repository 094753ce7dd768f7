"""The radius witness: whatever endpoint roots a part of the message, some other one is far from it."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from certree.verify.bounds.classes import assumes, is_shared, machine
from certree.verify.bounds.timed import TIME_WITNESSES, TimeInstance
from certree.verify.bounds.times.flow import coding_of_sums
from certree.verify.bounds.witness import WitnessError, only_fields


@TIME_WITNESSES.register("radius")
@assumes("radius", machine, coding_of_sums)
def radius(of: TimeInstance, witness: Mapping[str, Any]) -> int:
    """{}: first + the least distance, over all endpoints, to the farthest one (all-gather) or from it (reduce-scatter) + leave,
    and in a reduce-scatter + add.

    Distances are by `hops`, without the time in which the last node would fire again.

    Proof. Some endpoint r that takes part roots a granule. It is due at every other endpoint w that takes part (all-gather), or
    w contributes to it (reduce-scatter). By the `flow` witness from r to w, or from w to r, whose labels are the distances from its
    source, the granule is complete no earlier than first + distance + leave. In a reduce-scatter the addition comes on top: no
    lane takes anything across these labels, and a chain with an addition before r takes as long. The shares do not matter, since
    the least distance over all r is taken. O(endpoints · links · hops).
    """
    only_fields("radius", witness, [])
    instance = of.instance
    if not is_shared(instance):
        what = f"a radius witness bounds an all-gather or reduce-scatter, not a {instance.collective.words}"
        raise WitnessError("witness-foreign", what)
    topology = instance.topology
    ends = topology.endpoints[instance.members]
    far = of.between[np.ix_(topology.rank[ends], ends)] - of.stored[ends]
    np.fill_diagonal(far, 0)
    farthest = far.max(axis=1 if instance.collective.gathers else 0)
    return of.first + int(farthest.min()) + of.leave + of.addition
