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
from certree.synth.bounds.weights import weighted_lengths
from certree.synth.graphs.lengths import best_lengths
from certree.synth.method import METHODS, Options, Request, Tier, method
from certree.verify.bounds.instance import Instance
from certree.verify.bounds.timed import TimeInstance, make_time_bound

MOST_TRANSFERS = 1 << 21


@method(
    "apart", tuple(CollectiveKind), published=False, tier=Tier.GROUPS, order=81, is_anytime=True, compares=True, takes_members=True
)
def apart(request: Request, options: Options) -> Schedule:
    """The choice of `auto` for the members on the network without the other endpoints, so that relays never make it slower.

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
    best = request.monitor.best_cycles
    if best is not None:
        for bound in (quick_time_bound, _bound_by_lengths):
            if best <= (least := bound(inner)):
                raise UnsupportedError(f"apart takes at least {least} cycles; {best} are known")
    try:
        made = METHODS["auto"](inner)
    except UndecidedError as error:
        raise UnsupportedError(f"apart: {error}") from None
    if made.transfers > MOST_TRANSFERS:
        raise UnsupportedError(f"apart: {made.transfers} transfers; allowed: up to {MOST_TRANSFERS}")
    return request.offer(_on_whole(request, topology, written_out(made), options))


def _bound_by_lengths(request: Request) -> int:
    """A time bound on an all-to-all by lengths of links that grow with their loads (`weighted_lengths`), which takes a part of the
    time that its paths take; 0 for other collectives."""
    if request.collective.kind is not CollectiveKind.ALL_TO_ALL:
        return 0
    of = TimeInstance(Instance(request.topology, request.collective), request.message_bytes, request.machine)
    bound = best_lengths(of.exact, weighted_lengths(of.exact))
    return 0 if bound is None else int(make_time_bound(of, "load", {"bound": bound})["value"])


def _on_whole(request: Request, part: Topology, made: Schedule, options: Options) -> Schedule:
    """A schedule with the same transfers on the network that has the others, too; nodes keep their ids, and links their order."""
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
