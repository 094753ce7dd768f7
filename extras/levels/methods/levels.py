"""Sums, all-gathers and broadcasts level by level: boxes, rails, leaves and groups, whatever consecutive endpoints form.

certree's: which levels there are, along how many of them there are shares, and in how many pieces, is chosen by estimates in closed
form from the loads of links.
"""

from certree.extras.levels.make.level_programs import sums_in_levels
from certree.models.common.errors import UnsupportedError
from certree.models.schedule.collective import SYMMETRIC_KINDS, CollectiveKind
from certree.models.schedule.schedule import Schedule
from certree.synth.candidate_prices import BOOKED
from certree.synth.fine.fine_schedule import in_fine_slots
from certree.synth.method import Options, Request, Tier, method
from certree.synth.price import Price
from certree.synth.ranks.layout import FACTORS

EACH = 128  # transfers of an endpoint in an order that is likely to be fast
KINDS = (*SYMMETRIC_KINDS, CollectiveKind.BROADCAST, CollectiveKind.REDUCE)


def _price(request: Request, _options: Options) -> Price:
    """About the transfers of one program, booked many times, and a bound below all others, to go before these.

    The work is too low: several programs are booked, which takes up to six times as much. With all of them it would exceed the
    budget of `auto` beyond about 370 endpoints.
    """
    count = len(request.members)
    return Price(count * min(EACH, 2 * (count - 1)), BOOKED, cycles=1)


@method(
    "levels",
    KINDS,
    options={"factors": FACTORS},
    published=False,
    tier=Tier.MANY,
    order=58,
    is_sized=True,
    is_anytime=True,
    compares=True,
    price=_price,
)
def levels(request: Request, options: Options) -> Schedule:
    """Everyone meets its group on one level after the other, the nearest endpoints first; in fine slots.

    Along the first levels everyone gets a share of the sum, along the others whole sums of shares are exchanged, and shares go back
    the way they came. In a broadcast the root's shares go to members of its groups, and from there to all; a reduce is the same
    backwards. The orders of levels that are booked are those with the lowest estimates of latency, load of links and work
    of reduction units. Option: factors=8x4x4: sizes of the levels, whose product is the number of endpoints; by default all are
    compared.
    """
    if len(request.members) < 4:
        raise UnsupportedError(f"levels needs four endpoints or more; there are {len(request.members)}")
    return in_fine_slots(request, sums_in_levels(request, options["factors"]), "levels", options)
