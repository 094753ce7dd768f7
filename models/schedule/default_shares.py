"""Default owners of chunks."""

import numpy as np

from certree.models.common.errors import InputError
from certree.models.network.topology import Int32, Topology
from certree.models.schedule.collective import Collective, CollectiveKind
from certree.models.schedule.schedule_columns import NO_ROOT


def chunk_owners(topology: Topology, collective: Collective, chunks: int) -> tuple[Int32, Int32 | None]:
    """(root, target) of chunks 0 ... K − 1 in the conventional order, target None where a collective has none.

    All-gather and reduce-scatter: chunk c belongs to endpoint number c mod N. Gather and scatter: to endpoint number c mod (N − 1)
    of those other than the root. All-to-all: to pair number c mod N(N − 1) of the ordered pairs, by source, then destination.
    InputError when K is not a multiple of that number. With `members` endpoints are those that take part.
    """
    collective.require_fits(topology)
    endpoints, count = collective.members_of(topology), np.arange(chunks)
    everywhere = np.full(chunks, NO_ROOT if collective.root is None else collective.root, np.int32)
    if not collective.is_rooted or collective.kind in (CollectiveKind.BROADCAST, CollectiveKind.REDUCE):
        return everywhere, None
    others = endpoints[endpoints != collective.root]
    each = len(others) * (len(others) - 1) if collective.kind is CollectiveKind.ALL_TO_ALL else len(others)
    if chunks % each:
        what = "ordered pairs" if collective.kind is CollectiveKind.ALL_TO_ALL else "endpoints"
        without = " without the root" if collective.has_one_root else ""
        raise InputError(f"{chunks} chunks; {collective.kind} needs a multiple of the {each} {what}{without}")
    if collective.kind is CollectiveKind.ALL_TO_ALL:
        source, target = np.divmod(count % each, len(endpoints) - 1)
        return endpoints[source], endpoints[target + (target >= source)]
    owner = others[count % each]
    if not collective.has_targets:
        return owner, None
    return (owner, everywhere) if collective.kind is CollectiveKind.GATHER else (everywhere, owner)
