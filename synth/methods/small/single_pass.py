"""Personalised collectives for small messages: each block leaves as soon as its links are free.

A block goes from its source to its target in one message over all links of its path (routed, as wormhole networks do), or each
endpoint on its path stores and forwards it. Which is faster depends on its size: a long message that holds all links of its path
leaves gaps on them, a short one saves the interfaces on its route.
"""

from certree.models.schedule.collective import WITH_TARGETS
from certree.models.schedule.schedule import Schedule
from certree.synth.fine.fine_schedule import in_fine_slots
from certree.synth.flows.block_programs import block_programs
from certree.synth.flows.demand_schedule import soonest_schedule
from certree.synth.method import Options, Request, Tier, choice, method


@method(
    "single-pass",
    WITH_TARGETS,
    options={"transport": choice("best", "routed", "stored")},
    published=False,
    tier=Tier.SMALL,
    order=23,
    is_sized=True,
    is_anytime=True,
    compares=True,
    takes_members=True,
    takes_demand=True,
)
def single_pass(request: Request, options: Options) -> Schedule:
    """All-to-all, gather and scatter in fine slots, without repetition: each block leaves as soon as its links are free.

    Paths are those of method flows, and shortest ones. Options: transport=routed: one message over all links of a path, where the
    endpoints on it forward; transport=stored: a message for each link, which endpoints store and forward; transport=best takes the
    faster. Blocks go in 1, 2, 4 or 8 pieces, those of a demand in pieces of one size. N² rows for each piece, stored N² times the
    hops.
    """
    if request.collective.demand is not None:
        return soonest_schedule(request, request.collective.demand, options["transport"], "single-pass")
    return in_fine_slots(request, block_programs(request, options["transport"]), "single-pass", options)
