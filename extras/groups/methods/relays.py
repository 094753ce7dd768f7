"""Trees over all endpoints of the network for a collective of some of them."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from certree.extras.groups.make.relayed_trees import RelayedNetwork
from certree.extras.groups.make.steiner_bounds import steiner_bound
from certree.models.common.errors import UnsupportedError
from certree.models.schedule.collective import CollectiveKind
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.symmetric.symmetric_schedule import written_out
from certree.synth.deadlock_free_routes import with_channels
from certree.synth.method import Options, Request, Tier, method
from certree.synth.packing.branchings import KINDS
from certree.synth.packing.selection import Search, Trees
from certree.synth.packing.slotting import slowest_way
from certree.verify.bounds.instance import Instance
from certree.verify.certificates.certificate import make_certificate

PERIODS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 14, 16, 24, 32)
_MOST_ROWS = 70_000  # transfers of an iteration, for one unit of effort
_MOST_WORK = 1 << 21  # trees times members times links, likewise


@method(
    "relays",
    [CollectiveKind.ALL_REDUCE, *KINDS],
    published=False,
    tier=Tier.GROUPS,
    order=79,
    is_anytime=True,
    compares=True,
    takes_members=True,
)
def relays(request: Request, options: Options) -> Schedule:
    """Steiner trees among some endpoints, in which the others hold, add and copy; in a repeating slotted table.

    For collectives with members. Trees are laid over links that cost the more the fuller they are, for several periods as many as
    are found, one root each or, in an all-reduce, any; the first sum that reaches an endpoint that takes no part is a copy. Where
    links lead through switches, edges of trees are paths. Period, repeats and delay are chosen by closed form at the given size. An
    all-reduce of few members has a bound in its certificate that no schedule that makes each sum once can beat. No options.
    """
    if request.collective.members is None:
        raise UnsupportedError("relays is for collectives of some endpoints; here all take part")
    network = RelayedNetwork(request.topology, request.collective)
    what = f"relays: trees for {request.collective.words} on {request.topology.name}"
    if _most(request) < network.multiple:
        raise UnsupportedError(f"{what} are too many to look for")
    families = [*_families(request, network)]
    if not families:
        raise UnsupportedError(f"{what} were not found")

    def provenance(origin: Mapping[str, Any]) -> Mapping[str, Any]:
        return request.provenance("relays", options, **origin)

    return request.offer(_with_bound(request, Search(request, provenance).run(families)))


def _with_bound(request: Request, made: Schedule) -> Schedule:
    """The schedule with the bound on all-reduces that make each sum once, where it makes them so and members are few."""
    if request.collective.kind is not CollectiveKind.ALL_REDUCE or request.monitor.expired:
        return made
    made = written_out(with_channels(made, request.machine))  # the certificate is of the routes as they stay
    instance = Instance.of(made)
    bound = steiner_bound(instance, lambda: request.monitor.expired) if instance.makes_sums_once else None
    return made if bound is None else made.with_certificate(make_certificate(made, [bound]))


def _most(request: Request) -> int:
    """The most trees that are looked for."""
    work = len(request.members) * len(request.topology.src)
    phases = int(request.collective.reduces) + int(request.collective.gathers)
    return min(_MOST_WORK // work, _MOST_ROWS // (phases * len(request.members))) * request.effort


def _families(request: Request, network: RelayedNetwork) -> Iterator[Trees]:
    """For each period the most trees that are found, where they are more than shorter periods have for their length."""
    best, most = Fraction(0), _most(request)
    for period in PERIODS:
        limit = min(most, int(network.most * period)) // network.multiple
        if request.chunks is not None:
            limit = min(limit, request.chunks // network.multiple)
        if limit * network.multiple <= best * period or (best and request.monitor.expired):
            continue
        low, high, found = int(best * period) // network.multiple, limit + 1, None
        while low + 1 < high:
            middle = (low + high) // 2 if found or low else high - 1
            packed = network.pack(middle * network.multiple, period, request.seed)
            low, high, found = (low, middle, found) if packed is None else (middle, high, packed)
        if found is not None and request.chunks in (None, found.chunks):
            best = Fraction(found.chunks, period)
            trees = Trees.built(found)
            yield replace(trees, reach=slowest_way(request, 2) if found.routes else None)
