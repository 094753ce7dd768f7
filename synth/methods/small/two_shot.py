"""The two-shot all-reduce: everyone sums up a share of the message, and sends the sum to everyone.

Source: the two-shot kernels of TensorRT-LLM and vLLM for small messages. By dimensions: as hierarchical
algorithms do it. Fine slots, pieces and routes are certree's.
"""

from certree.models.schedule.collective import CollectiveKind
from certree.models.schedule.schedule import Schedule
from certree.synth.fine.fine_schedule import in_fine_slots
from certree.synth.fine.shots import in_groups, widest_first
from certree.synth.method import Options, Request, Tier, Variant, choice, method


@method(
    "two-shot",
    [CollectiveKind.ALL_REDUCE, CollectiveKind.REDUCE_SCATTER, CollectiveKind.ALL_GATHER],
    options={"groups": choice("best", "all", "dimensions", "widest")},
    variants=[Variant({"groups": "widest"}, is_first=True)],
    tier=Tier.SMALL,
    order=66,
    is_sized=True,
    is_anytime=True,
    compares=True,
)
def two_shot(request: Request, options: Options) -> Schedule:
    """Everyone sends each of its group the share that it adds up, and then its sum to all others; in fine slots.

    A reduce-scatter is the first half of it, an all-gather the second. Options: groups=all: all endpoints at once;
    groups=dimensions: one dimension of the network after the other and back, or first the endpoints of a switch; pieces of the
    message begin with different dimensions; groups=best takes the faster; groups=widest: all pieces begin with the dimension of the
    widest links, and narrower ones carry shares only. 2 N² rows at most.
    """
    groups = options["groups"]
    programs = widest_first(request, [None]) if groups == "widest" else in_groups(request, groups, None)
    return in_fine_slots(request, programs, "two-shot", options)
