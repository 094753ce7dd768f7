"""All chunks in one order of additions: placings of its sums, chosen together so that links are evenly loaded."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from math import ceil
from typing import Any

from certree.extras.orders.make.bounds import best_rates, bound_of, shares_of
from certree.extras.orders.make.columns import Pricing
from certree.extras.orders.make.rates import Rates
from certree.extras.orders.make.shares import whole_shares
from certree.extras.orders.make.transfers import placed
from certree.models.common.errors import UnsupportedError
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.symmetric.symmetric_schedule import written_out
from certree.synth.deadlock_free_routes import with_channels
from certree.synth.method import Options, Request, Tier, choice, method
from certree.synth.packing.selection import Search, Trees
from certree.synth.packing.slotting import slowest_route
from certree.verify.bounds.instance import Instance
from certree.verify.bounds.witnesses.ordered import ORDERED
from certree.verify.certificates.certificate import make_certificate
from certree.verify.order.wanted import WantedOrder

PERIODS = (1, 2, 4, 8, 16, 32, 64, 96, 192)
_ROWS = 70_000  # transfers of an iteration, for one unit of effort
_SLACK = 1.015  # rounds of a period over those that the program needs
_SPARE = 2  # sums in a slot at a node, above what must be
#: bytes for each member below which no program is solved where another schedule is known: slots of one length took longer there
_SHORTEST = 1 << 15


@method(
    "ordered",
    ORDERED,
    options={"rate": choice("any", "optimal")},
    published=False,
    tier=Tier.ORDERS,
    order=78,
    is_sized=True,
    is_anytime=True,
    takes_members=True,
    compares=True,
)
def ordered(request: Request, options: Options) -> Schedule:
    """Each chunk is added in one order, its sums at nodes that a linear program chooses; in a repeating slotted table.

    The order is that of `--order`, by default any one: then the best of a few, by blocks of the network, by rank, in pairs and
    along a walk. The provenance names it, and the certificate has the bound of the program, which no schedule in this order can
    beat. For whole numbers of chunks placings are exchanged until links have room. Periods, repeats and delay are chosen by closed
    form at the given size. Switches that reduce only forward. Option: rate=optimal: the longest period alone, whose rate is the
    nearest to that of the program.
    """
    shortest = _SHORTEST * len(request.members)
    if request.monitor.best_cycles is not None and request.message_bytes < shortest:
        raise UnsupportedError(f"ordered is for messages of {shortest} bytes and more here, as another method has the order")
    shares = shares_of(request.topology, request.collective)
    wanted = request.order or WantedOrder("one")
    pricing, rates = best_rates(wanted, request.topology, request.collective, request.monitor)
    request.monitor.report(f"ordered: {rates.value:.4f} rounds per chunk by a linear program, at least {rates.bound:.4f}")

    def provenance(origin: Mapping[str, Any]) -> Mapping[str, Any]:
        return request.provenance("ordered", options, adds=wanted.name, **origin)

    made = Search(request, provenance).run(_families(request, pricing, rates, shares, is_optimal=options["rate"] == "optimal"))
    made = written_out(with_channels(made, request.machine))  # the certificate is of the routes as they stay
    bound = bound_of(Instance.of(made), pricing.expression, rates.length)
    return request.offer(made.with_certificate(make_certificate(made, [bound])))


def _families(
    request: Request, pricing: Pricing, rates: Rates, shares: Mapping[int, Fraction], *, is_optimal: bool
) -> Sequence[Trees]:
    """Families for periods that are not too long, or for the longest one."""
    each, multiple = 2 * len(request.members), max(1, len(shares))
    counts = [max(1, int(period / (rates.value * _SLACK)) // multiple) * multiple for period in PERIODS]
    counts = [count for count in dict.fromkeys(counts) if count == counts[0] or count * each <= _ROWS * request.effort]
    if is_optimal:
        counts = counts[-1:]
    elif request.chunks is not None:
        counts = [request.chunks]
        if request.chunks % multiple:
            raise UnsupportedError(f"ordered gives each of {multiple} roots as many chunks; {request.chunks} were asked for")
    if request.monitor.expired:  # the first will do
        counts = counts[:1]
    return [_family(request, pricing, rates, shares, chunks) for chunks in counts]


def _family(request: Request, pricing: Pricing, rates: Rates, shares: Mapping[int, Fraction], chunks: int) -> Trees:
    """Trees of a number of chunks by placings that load links evenly."""
    room = max(1, ceil(chunks * rates.value * _SLACK - 1e-9))
    columns = whole_shares(pricing, rates, shares, chunks, room, request.seed)
    trees = Trees.built(placed(request.topology, request.collective, pricing.expression, columns))
    has_routes = not request.topology.is_direct
    return replace(trees, is_summed=not has_routes, spare_sums=_SPARE, reach=slowest_route(request, 4) if has_routes else None)
