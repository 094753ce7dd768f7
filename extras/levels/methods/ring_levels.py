"""All-reduces of small and medium messages on tori, in fine slots; what translations take to each other is booked once.

certree's. Runs, swaps and pieces are those of `mixed-shot` (`certree.synth.fine.levels`), in more combinations.
"""

from certree.extras.levels.make.ring_pieces import RingEstimates, chunks_of_a_piece, ring_pieces
from certree.extras.levels.make.ring_schedules import fastest_on_rings
from certree.extras.levels.make.translated import Rings
from certree.models.common.errors import UnsupportedError
from certree.models.schedule.collective import CollectiveKind
from certree.models.schedule.schedule import Schedule
from certree.synth.candidate_prices import BOOKED
from certree.synth.method import Options, Request, Tier, method
from certree.synth.price import FREE, Price

SEARCHED = 1 << 14  # transfers that are booked many times, about
WRITTEN = 32  # of a node, about, for each of those that are booked that often


def _price(request: Request, _options: Options) -> Price:
    """About what it takes to book programs whose size hardly depends on that of the network, and to write one; with a bound below
    all others, to go before these."""
    if not request.topology.is_direct:
        return FREE
    return Price(SEARCHED + WRITTEN * len(request.members), BOOKED, cycles=1, searched=len(request.topology.src))


@method(
    "ring-levels",
    [CollectiveKind.ALL_REDUCE],
    published=False,
    tier=Tier.MANY,
    order=57,
    is_sized=True,
    is_anytime=True,
    price=_price,
)
def ring_levels(request: Request, options: Options) -> Schedule:
    """Sums along the rings of a torus, in shares along some of them and as a whole along the others; in fine slots.

    Shares come round both ways, along runs of neighbours who add them up; whole sums are exchanged after swaps among 2 or 4
    neighbours. Pieces of the message take the rings in different orders. Combinations of orders, runs, swaps and numbers of pieces
    are estimated in closed form, the best are booked, and turns of transfers are searched for those that end first. Only transfers
    that no translation of the torus takes to each other are booked, so that a thousand nodes take seconds; pieces are left out in
    which a message would meet translations of itself. UnsupportedError where the network is no torus with rings of 3 nodes or more
    and links of one width in each direction, where the machine takes none of the schedules, and for a stated order of sums.
    """
    if request.order is not None:
        raise UnsupportedError("ring-levels adds operands as they arrive; a stated order of sums is for other methods")
    rings = Rings(request.topology)
    estimates = RingEstimates(request, rings.sizes.tolist())
    choices = [(estimates.cycles(pieces), number, pieces) for number, pieces in enumerate(ring_pieces(estimates.sizes))]
    ordered = [pieces for *_, pieces in sorted(choices, key=lambda one: one[:2])]
    if request.chunks is not None:
        counts = [len(pieces) * chunks_of_a_piece(estimates.sizes, pieces) for pieces in ordered]
        ordered = [pieces for pieces, count in zip(ordered, counts, strict=True) if count == request.chunks]
        if not ordered:
            numbers = ", ".join(map(str, sorted(set(counts))))
            raise UnsupportedError(f"ring-levels makes {numbers} chunks here; {request.chunks} were asked for")
    apart = [pieces for pieces in ordered if not estimates.meet(pieces)]
    if not apart:
        raise UnsupportedError(f"messages of ring-levels would meet translations of themselves on links of {request.topology.name}")
    return fastest_on_rings(request, rings, apart, "ring-levels", options)
