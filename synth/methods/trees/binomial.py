"""Binomial trees for the collectives with a single root: broadcast, reduce, scatter, gather.

Source: Thakur, Rabenseifner and Gropp, "Optimization of Collective Communication Operations in MPICH" (2005), on short messages.
With ranks counted from the root, the parent of place v is v without its lowest bit b, and the subtree of v has the places v .. v +
2^b - 1.
"""

import numpy as np

from certree.models.schedule.collective import CollectiveKind
from certree.models.schedule.default_shares import chunk_owners
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import Op
from certree.synth.method import Options, Request, method
from certree.synth.ranks.embedding import ROUNDS, Rows, embed

_OUTWARD = (CollectiveKind.BROADCAST, CollectiveKind.SCATTER)
_WHOLE = (CollectiveKind.BROADCAST, CollectiveKind.REDUCE)


@method(
    "binomial",
    [*_OUTWARD, CollectiveKind.REDUCE, CollectiveKind.GATHER],
    options=ROUNDS,
    order=2,
    takes_members=True,
    side_by_side=True,
)
def binomial(request: Request, options: Options) -> Schedule:
    """A binomial tree: ceil(log2 N) steps, in which the endpoints reached double (broadcast, scatter) or the rest halves.

    Broadcast and reduce move one chunk over every edge; scatter and gather the chunks of all endpoints below it, one each. Any
    number of endpoints, any root. Option: rounds=serialized|published.
    """
    collective = request.collective
    first = int(np.flatnonzero(request.members == collective.root)[0])
    nodes = np.roll(request.members, -first)
    below = np.roll(np.arange(len(nodes)), -first)
    chunk = below - (below > first)  # of the endpoint at each place, in scatter and gather
    bits = (len(nodes) - 1).bit_length()
    rows, place = Rows(), np.arange(len(nodes))
    for bit in range(bits):
        size = 1 << bit
        # the places whose chunks pass an edge of this bit, and its lower end; the parent is 2^bit before that
        over = place[(place & size) > 0]
        end = over >> bit << bit
        if collective.kind in _WHOLE:
            over = end = np.unique(end)
        parent, child = nodes[end - size], nodes[end]
        src, dst = (parent, child) if collective.kind in _OUTWARD else (child, parent)
        rows.add(
            0 if collective.kind in _WHOLE else chunk[over],
            Op.REDUCE if collective.kind is CollectiveKind.REDUCE else Op.COPY,
            bits - 1 - bit if collective.kind in _OUTWARD else bit,
            src,
            dst,
        )
    root, target = chunk_owners(request.topology, collective, 1 if collective.kind in _WHOLE else len(nodes) - 1)
    return embed(request, root, rows.columns, chunk_target=target, method="binomial", options=options)
