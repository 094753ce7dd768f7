"""Members by themselves: the best schedule of the network without the other endpoints, on the whole network."""

from dataclasses import replace

import numpy as np

from certree.models.common.errors import TopologyError, UndecidedError, UnsupportedError
from certree.models.network.topology import Topology
from certree.models.relays import MEMBERS, relayed
from certree.models.schedule.collective import CollectiveKind
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.symmetric.symmetric_schedule import written_out
from certree.synth.bounds.quick import quick_time_bound
from certree.synth.method import METHODS, Options, Request, Tier, method

MOST_TRANSFERS = 1 << 21


@method(
    "apart", tuple(CollectiveKind), published=False, tier=Tier.GROUPS, order=80, is_anytime=True, compares=True, takes_members=True
)
def apart(request: Request, options: Options) -> Schedule:
    """What `auto` chooses for the members on the network without the other endpoints, so that relays never make it slower.

    For collectives with members that reach each other without the others. Left out where the time bound without relays is no less
    than the best schedule so far. No options.
    """
    if request.collective.members is None:
        raise UnsupportedError("apart is for collectives of some endpoints; here all take part")
    try:
        topology, collective = relayed(request.topology, request.collective, MEMBERS)
    except TopologyError:
        raise UnsupportedError("apart: members do not reach each other without the other endpoints") from None
    if (topology.scale, topology.rates) != (request.topology.scale, None):
        raise UnsupportedError(f"apart: without the other endpoints, links of {request.topology.name} have other units")
    inner = replace(request, topology=topology, collective=collective, form=None, monitor=request.monitor.watching())
    best, least = request.monitor.best_cycles, quick_time_bound(inner)
    if best is not None and best <= least:
        raise UnsupportedError(f"apart takes at least {least} cycles; {best} are known")
    try:
        made = METHODS["auto"](inner)
    except UndecidedError as error:
        raise UnsupportedError(f"apart: {error}") from None
    if made.transfers > MOST_TRANSFERS:
        raise UnsupportedError(f"apart: {made.transfers} transfers; allowed: up to {MOST_TRANSFERS}")
    return request.offer(_on_whole(request, topology, written_out(made), options))


def _on_whole(request: Request, part: Topology, made: Schedule, options: Options) -> Schedule:
    """The same transfers on the network that has the others, too; nodes keep their ids, and links their order."""
    whole = request.topology
    link = np.flatnonzero(
        (part.kind[whole.src] == whole.kind[whole.src]) & (part.kind[whole.dst] == whole.kind[whole.dst])
    ).tolist()
    return replace(
        made,
        topology=whole,
        collective=request.collective,
        routes=tuple(tuple(link[one] for one in route) for route in made.routes),
        certificate=None,
        provenance=request.provenance("apart", options, of=made.provenance),
    )
