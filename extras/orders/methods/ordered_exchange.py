"""Exchanges, and trees, in one order of additions, in fine slots, for short messages."""

from dataclasses import replace

from certree.extras.orders.make.exchanges import exchanges
from certree.extras.orders.make.pipelined import pipelined
from certree.models.schedule.collective import CollectiveKind
from certree.models.schedule.schedule import Schedule
from certree.synth.fine.fine_schedule import in_fine_slots
from certree.synth.method import Options, Request, Tier, method
from certree.verify.bounds.witnesses.ordered import ORDERED
from certree.verify.order.wanted import WantedOrder


@method(
    "ordered-exchange",
    [CollectiveKind.ALL_REDUCE, CollectiveKind.REDUCE_SCATTER],
    published=False,
    tier=Tier.SOME,
    order=76,
    is_sized=True,
    is_anytime=True,
    takes_members=True,
    compares=True,
)
def ordered_exchange(request: Request, options: Options) -> Schedule:
    """All chunks pass the dimensions of the network in one sequence, and every group adds in one order; in fine slots.

    Along a dimension a chunk is summed up in shares, or everyone sends its sum to all others of its group. What is to be added
    before something else waits for it in the cell, or in a buffer of its own. Dimensions are those of the network, or halves of
    them, in which two exchange their sums. Numbers of pieces, of dimensions with shares, and orders are compared by their bookings.
    No options.
    """
    inner = replace(request, order=request.order or WantedOrder("one"))
    return in_fine_slots(inner, exchanges(inner), "ordered-exchange", options)


@method(
    "ordered-trees",
    ORDERED,
    published=False,
    tier=Tier.SOME,
    order=77,
    is_sized=True,
    is_anytime=True,
    takes_members=True,
    compares=True,
)
def ordered_trees(request: Request, options: Options) -> Schedule:
    """All chunks in one order, each along its own trees, which share the links evenly; in fine slots.

    Placings as of method `ordered`, but with few links one after the other, and chosen chunk by chunk in place of a linear program.
    Orders and numbers of chunks are compared by their bookings. No options.
    """
    inner = replace(request, order=request.order or WantedOrder("one"))
    return in_fine_slots(inner, pipelined(inner), "ordered-trees", options)
