"""Partial sums that are passed on round rings: an all-reduce in half a ring's hops, each hop one message.

certree's. Node i sends right the sum R_s of its own and the s - 1 contributions left of it, R_s(i) = R_{s-1}(i - 1) + x_i, and left
likewise. The last sum from each side and its own contribution are the result.
"""

import numpy as np

from certree.models.common.errors import UnsupportedError
from certree.models.schedule.collective import CollectiveKind
from certree.models.schedule.schedule import Schedule
from certree.synth.fine.partial import PassedSums
from certree.synth.fine.program import Program
from certree.synth.fine.schedule import in_fine_slots
from certree.synth.fine.ways import default_ways
from certree.synth.method import Options, Request, Tier, method
from certree.synth.ranks.layout import layout_of

MOST_BUFFERS = 1 << 10


@method("partial-sums", [CollectiveKind.ALL_REDUCE], published=False, tier=Tier.NAMED, order=68, is_sized=True, is_anytime=True)
def partial_sums(request: Request, options: Options) -> Schedule:
    """Sums of neighbours' contributions go round the rings of one dimension after the other, both ways, half a ring far.

    In fine slots: a ring of n is done after n // 2 hops, a torus after its diameter. Each node keeps as many copies of its
    contribution as there are sums that it passes on. Parts of the message begin with different dimensions. No options. For grids
    of rings.
    """
    layout = layout_of(request.topology, None)
    dimensions = len(layout.sizes)
    if max(layout.sizes) > MOST_BUFFERS:
        raise UnsupportedError(f"partial-sums goes round rings of up to {MOST_BUFFERS}; here is one of {max(layout.sizes)}")

    def program(parts: int) -> Program:
        sums = PassedSums(layout.sizes, layout.nodes)
        for part in range(parts):
            sums.add(part, np.roll(np.arange(dimensions), -part).tolist())
        ways = default_ways(request.topology)
        return sums.stages.program(request.topology, request.collective, np.zeros(parts), ways)

    choices = dict.fromkeys((1, dimensions, 2 * dimensions))
    return in_fine_slots(request, ((f"{parts} part(s)", program(parts)) for parts in choices), "partial-sums", options)
