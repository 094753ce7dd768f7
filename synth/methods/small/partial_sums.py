"""Partial sums that are passed on round rings: an all-reduce in half a ring's hops, each hop one message.

The method is certree's. Node i sends right the sum R_s of its own and the s - 1 contributions left of it, R_s(i) = R_{s-1}(i - 1) +
x_i, and left likewise. The last sum from each side and its own contribution are the result.
"""

from certree.models.common.errors import UnsupportedError
from certree.models.schedule.collective import CollectiveKind
from certree.models.schedule.schedule import Schedule
from certree.synth.fine.fine_schedule import in_fine_slots
from certree.synth.fine.shots import passed_sums
from certree.synth.method import Options, Request, Tier, method
from certree.synth.ranks.layout import layout_of

LONGEST_RING = 1 << 9  # a buffer for each sum that is passed on


@method(
    "partial-sums",
    [CollectiveKind.ALL_REDUCE],
    published=False,
    tier=Tier.SMALL,
    order=72,
    is_sized=True,
    is_anytime=True,
    compares=True,
)
def partial_sums(request: Request, options: Options) -> Schedule:
    """Sums of neighbours' contributions go round the rings of one dimension after the other, both ways, half a ring far.

    In fine slots: a ring of n nodes takes n // 2 hops, a torus as many as its diameter. Each node keeps as many copies of its
    contribution as there are sums that it passes on. Parts of the message begin with different dimensions. No options. On any
    network; good on rings.
    """
    layout = layout_of(request.topology, None)
    if max(layout.sizes) > LONGEST_RING:
        raise UnsupportedError(f"partial-sums goes round rings of up to {LONGEST_RING}; here is one of {max(layout.sizes)}")
    return in_fine_slots(request, passed_sums(request, layout), "partial-sums", options)
