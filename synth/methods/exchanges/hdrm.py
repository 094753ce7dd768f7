"""HDRM: halving-doubling whose ranks are mapped to a BiGraph so that every exchange joins an upper and a lower switch.

Source: Dong et al., "EFLOPS: Algorithm and System Co-design for a High Performance Distributed Training Platform" (HPCA 2020), as
the MultiTree paper describes it (Sections I and II-C): one partner on an upper switch, the other on a lower one, no contention.
The mapping here is derived from these two properties.
"""

import numpy as np

from certree.models.common.errors import UnsupportedError
from certree.models.network.topology import Int32, NodeKind, Topology
from certree.models.schedule.collective import SYMMETRIC_KINDS
from certree.models.schedule.schedule import Schedule
from certree.synth.method import Options, Request, method
from certree.synth.phases import joined
from certree.synth.ranks.embedding import ROUNDS, embed
from certree.synth.ranks.exchange import butterfly, whole_log2


@method("hdrm", SYMMETRIC_KINDS, options=ROUNDS, order=14)
def hdrm(request: Request, options: Options) -> Schedule:
    """Halving-doubling on a BiGraph, every exchange between an upper and a lower switch, each message on its own path.

    One chunk per endpoint; 2 log2 N steps and 2(N - 1) rounds for an all-reduce. Needs a power of two of endpoints, equally many on
    every switch, and between any upper and any lower switch at least m / s links, with m endpoints per switch and s switches per
    side (and at least one); with fewer, messages take turns. Option: rounds=serialized|published.
    """
    order = positions(_sides(request.topology))
    if whole_log2(len(order)) is None:
        raise UnsupportedError(f"hdrm needs a power of two of endpoints; there are {len(order)}")
    gather = butterfly(order, nearest_last=True)
    columns = joined(request.collective, gather.reversed(), gather)
    return embed(request, order, columns, method="hdrm", options=options)


def positions(sides: Int32) -> Int32:
    """The node at each position of the butterfly; `sides`: shape (2, switches per side, endpoints per switch).

    Position p lies above when it has an even number of ones, so that partners, one bit apart, lie on different sides. With e = p
    div 2, upper switch e div m holds it, or lower switch e mod s. The m endpoints of an upper switch differ in the low bits of e
    only, and still do after any bit of all of them has flipped: their partners are on as many lower switches as exist, and
    conversely.
    """
    _, switches, below = sides.shape
    position = np.arange(sides.size)
    lower = np.bitwise_count(position).astype(np.int64) % 2
    half = position >> 1
    switch = np.where(lower, half % switches, half // below)
    port = np.where(lower, half // switches, half % below)
    return np.asarray(sides[lower, switch, port])


def _sides(topology: Topology) -> Int32:
    """The endpoints by side (upper first), switch and port; UnsupportedError unless the network is a BiGraph."""
    switches = np.flatnonzero(topology.kind == NodeKind.SWITCH)
    no_bigraph = UnsupportedError(
        f"hdrm needs a BiGraph, two equal sides of switches, each joined to all of the other side, and equally many endpoints on"
        f" each; {topology.name} is not one"
    )
    side = np.full(len(topology.kind), -1)
    if len(switches):
        side[topology.dst[topology.src == switches[0]]] = 1
        side[switches[side[switches] < 0]] = 0
    upper, lower = (switches[side[switches] == which] for which in (0, 1))
    pairs = topology.pair_index(*(grid.ravel() for grid in np.meshgrid(upper, lower)))
    back = topology.pair_index(*(grid.ravel() for grid in np.meshgrid(lower, upper)))
    if len(upper) != len(lower) or not len(upper) or (pairs < 0).any() or (back < 0).any():
        raise no_bigraph
    ends = topology.rank >= 0
    into = topology.pair_src[ends[topology.pair_src]], topology.pair_dst[ends[topology.pair_src]]
    count = np.bincount(into[1], minlength=len(topology.kind))[np.concatenate((upper, lower))]
    links = len(pairs) + len(back) + 2 * len(topology.endpoints)
    if len(set(count.tolist())) > 1 or count[0] * len(switches) != len(topology.endpoints) or links != len(topology.pair_capacity):
        raise no_bigraph
    order = np.lexsort((into[0], into[1], side[into[1]]))
    return into[0][order].reshape(2, len(upper), -1).astype(np.int32)
