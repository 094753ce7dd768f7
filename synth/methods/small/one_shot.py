"""The one-shot all-reduce: everyone sends its vector to everyone, and everyone adds.

Source: the one-shot kernels of TensorRT-LLM and vLLM for small messages. By dimensions: Ruefenacht, Bull and Booth,
"Generalisation of recursive doubling for AllReduce" (2017), with the dimensions of the network as groups. Fine slots, pieces and
routes are certree's.
"""

from certree.models.schedule.collective import CollectiveKind
from certree.models.schedule.schedule import Schedule
from certree.synth.fine.fine_schedule import in_fine_slots
from certree.synth.fine.shots import in_groups
from certree.synth.method import Options, Request, Tier, choice, method


@method(
    "one-shot",
    [CollectiveKind.ALL_REDUCE],
    options={"groups": choice("best", "all", "dimensions")},
    tier=Tier.SMALL,
    order=60,
    is_sized=True,
    is_anytime=True,
    compares=True,
)
def one_shot(request: Request, options: Options) -> Schedule:
    """Everyone sends its whole vector to everyone else of its group, and everyone adds; in fine slots.

    Originals are kept in a scratch buffer. Options: groups=all: all endpoints at once; groups=dimensions: one dimension of the
    network after the other, or first the endpoints of a switch; pieces of the message begin with different dimensions; groups=best
    takes the faster. N² rows at most.
    """
    return in_fine_slots(request, in_groups(request, options["groups"], 0), "one-shot", options)
