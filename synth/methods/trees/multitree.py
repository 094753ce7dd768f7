"""MultiTree: one spanning tree per endpoint, all trees grown together, one link allocation at a time.

Source: "Communication Algorithm-Architecture Co-Design for Distributed Deep Learning" (MultiTree), Section III-C, Algorithm 1; with
switches III-C3, turns by remaining height III-C1, links of unequal width VII-B.

The authors' released program (order=authors) is not the printed algorithm. Only its first round of turns goes by ascending root,
all later ones by descending root; on meshes a priority comes before the root, the distance to the farthest corner with a slip
that leaves the column out; and a step ends as soon as the last tree of a round adds nothing. That costs nothing on square tori
from 4x4 to 16x16; on meshes an all-gather takes 10 steps instead of 8 (4x4), 34 instead of 32 (8x8), 132 instead of 128 (16x16).
On 8x8 the early end in ascending order takes 33 steps, and the program without the slip 32.
"""

from collections.abc import Mapping

from certree.models.common.errors import UnsupportedError
from certree.models.schedule.collective import SYMMETRIC_KINDS
from certree.models.schedule.schedule import Schedule
from certree.synth.method import Option, Options, Request, Tier, Variant, choice, method, require_shape, whole_number
from certree.synth.packing.growth import Turns, grow_trees
from certree.synth.phases import by_reversal, compose

MOST_K = 1024
#: options of the methods that grow these trees
ORDERS: Mapping[str, Option] = {"order": choice("paper", "authors"), "priority": choice("root", "remaining-height")}


@method(
    "multitree",
    SYMMETRIC_KINDS,
    options={**ORDERS, "k": whole_number(None, 1, MOST_K)},
    tier=Tier.ALWAYS,
    order=61,
    takes_members=True,
    variants=[Variant({"order": "authors"}), Variant({"priority": "remaining-height"}, in_auto=False)],
)
def multitree(request: Request, options: Options) -> Schedule:
    """One tree per endpoint, grown top-down in turns; the reverse of the all-gather is the reduce-scatter (Algorithm 1).

    One chunk per endpoint, rooted there; all-reduce takes twice the steps of one phase. No link is shared in a step, on routes
    through switches either. order=authors follows the released program. priority=remaining-height lets the trees go first that
    are farthest from their farthest missing node, for irregular networks (order=paper only). Where some endpoints take part, they
    alone have trees and are in them, and the others pass messages on as switches do. k=1 makes unary trees, as the ring algorithm
    has; k=2 trees that at most double in a step, as those of halving-doubling; k=3, 4, ... trees that grow to k times their size.
    """
    turns, arity = turns_of("multitree", options), options["k"]
    members = None if request.collective.members is None else request.members
    reduce, gather = by_reversal(request, lambda topology: grow_trees(topology, turns, members, arity))
    given = {name: value for name, value in options.items() if value is not None}
    schedule = compose(request, request.members, reduce, gather, request.provenance("multitree", given))
    require_shape(request, "multitree", schedule.chunks, schedule.steps)
    return request.offer(schedule)


def turns_of(method: str, options: Mapping[str, str]) -> Turns:
    """The turns that the options ORDERS request; UnsupportedError where they exclude each other."""
    if options["order"] == "authors":
        if options["priority"] != "root":
            raise UnsupportedError(
                f"{method}: order=authors has a priority of its own; priority=remaining-height needs order=paper"
            )
        return Turns.AUTHORS
    return Turns.REMAINING_HEIGHT if options["priority"] == "remaining-height" else Turns.ASCENDING
