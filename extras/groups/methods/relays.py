"""Trees over all endpoints of the network for a collective of some of them."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from certree.extras.groups.make.packed_families import packed
from certree.extras.groups.make.relayed_family import RelayedFamily
from certree.extras.groups.make.relayed_trees import RelayedNetwork
from certree.extras.groups.make.steiner_bounds import with_steiner_bound
from certree.models.common.errors import UnsupportedError
from certree.models.schedule.collective import CollectiveKind
from certree.models.schedule.schedule import Schedule
from certree.synth.method import Options, Request, Tier, method
from certree.synth.packing.branchings import KINDS
from certree.synth.packing.selection import Search, Trees
from certree.synth.packing.slotting import slowest_route

PERIODS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 14, 16, 24, 32)


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
    families = [_trees(request, family) for family in packed(request, network, PERIODS)]
    if not families:
        raise UnsupportedError(f"relays: trees for {request.collective.words} on {request.topology.name} were not found")

    def provenance(origin: Mapping[str, Any]) -> Mapping[str, Any]:
        return request.provenance("relays", options, **origin)

    return request.offer(with_steiner_bound(request, Search(request, provenance).run(families)))


def _trees(request: Request, family: RelayedFamily) -> Trees:
    """A family with the reach of its routes."""
    return replace(Trees.built(family), reach=slowest_route(request, 2) if family.routes else None)
