"""Relays: endpoints that take no part in a collective, and may hold, add and pass on data of those that do."""

from collections.abc import Iterable
from operator import index

from certree.models.common.errors import InputError, short
from certree.models.network.spec import modified
from certree.models.network.topology import Topology
from certree.models.schedule.collective import Collective, parse_members

ALL, MEMBERS = "all", "members"


def relayed(topology: Topology, collective: Collective, relay: str | Iterable[int]) -> tuple[Topology, Collective]:
    """The network that a collective of some endpoints may use, and the collective on it.

    `relay`: the endpoints through which its members may pass data: "all" of the network, "members" alone, or also those of a list
    (ids, or a text such as `0,2,4-7`). The others, with their links and routers, are not part of the network that is returned, so
    bounds and schedules are for what is left. InputError for other texts, for nodes that are not endpoints, where all take part,
    and for a demand; TopologyError where members, or endpoints of the list, cannot reach each other over what is left.
    """
    collective.require_fits(topology)
    if not isinstance(relay, str):
        relay = _listed(relay)
    if isinstance(relay, str) and relay == ALL:
        return topology, collective.fitted(topology)
    if collective.demand is not None:
        raise InputError(f"relay {_text(relay)}: not for {collective.name}, in which all endpoints may forward")
    others = _ids(topology, relay)
    if collective.members is None or collective.fitted(topology).members is None:
        raise InputError(f"relay {_text(relay)}: all endpoints take part; name the members of the collective")
    kept = sorted({*collective.members, *others})
    if len(kept) == len(topology.endpoints):
        return topology, collective
    modifier = f"only={_ranges(kept)}"
    network = modified(topology, f"{topology.name},{modifier}", [modifier])
    return network, collective.fitted(network)


def _listed(relay: Iterable[int]) -> tuple[int, ...]:
    """The ids of a list. InputError for anything else."""
    try:
        return tuple(map(index, relay))
    except TypeError:
        raise InputError(f"relay {short(repr(relay))}; allowed: {ALL}, {MEMBERS}, or ids of endpoints") from None


def _ids(topology: Topology, relay: str | Iterable[int]) -> tuple[int, ...]:
    """The endpoints that a list names."""
    if isinstance(relay, str):
        if relay == MEMBERS:
            return ()
        try:
            relay = parse_members(relay)
        except InputError:
            known = f"{ALL}, {MEMBERS}, or ids and ranges of ids, such as 0,2,4-7"
            raise InputError(f"relay {short(relay)}; allowed: {known}") from None
    found = tuple(relay)
    for node in found:
        if not 0 <= node < len(topology.kind) or topology.rank[node] < 0:
            first, last = int(topology.endpoints[0]), int(topology.endpoints[-1])
            raise InputError(f"relay {short(node)} is not an endpoint of {topology.name}; endpoints are in {first} to {last}")
    return found


def _text(relay: str | Iterable[int]) -> str:
    return relay if isinstance(relay, str) else ",".join(map(str, relay))


def _ranges(ids: list[int]) -> str:
    """Ascending ids as `0-3+8`."""
    runs: list[list[int]] = []
    for node in ids:
        if runs and runs[-1][-1] == node - 1:
            runs[-1] = [runs[-1][0], node]
        else:
            runs.append([node])
    return "+".join("-".join(map(str, run)) for run in runs)
