"""Reduce-broadcast: all vectors to one parameter server, and the sum back to all.

Source: GenTree, Section 2.1 (Fig. 1a) and Tables 1 and 2.
"""

import numpy as np

from certree.models.common.errors import UnsupportedError
from certree.models.schedule.collective import CollectiveKind
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import Op
from certree.synth.method import Options, Request, method, node_of
from certree.synth.ranks.embedding import ROUNDS, Rows, embed

KINDS = (CollectiveKind.ALL_REDUCE, CollectiveKind.REDUCE, CollectiveKind.BROADCAST)


@method("reduce-broadcast", KINDS, options=lambda request: {**ROUNDS, "server": node_of(request)}, order=19, takes_members=True)
def reduce_broadcast(request: Request, options: Options) -> Schedule:
    """All endpoints send their whole vectors to one server, which adds them and sends the sum to all: one step each.

    An all-reduce is both, at the server of option server=NODE (by default the first endpoint); a reduce or a broadcast is one of
    them, at its root. One chunk.
    """
    nodes, root = request.members, request.collective.root
    if root is not None and options["server"] not in (None, root):
        raise UnsupportedError(
            f"reduce-broadcast: server={options['server']}, but the root of the {request.collective.kind} is {root}"
        )
    if root is None:
        root = int(nodes[0]) if options["server"] is None else options["server"]
    if root not in nodes:
        who = f"an endpoint of {request.topology.name}" if request.collective.members is None else "a member"
        raise UnsupportedError(f"reduce-broadcast: server={root} is not {who}")
    options["server"] = root
    others = nodes[nodes != root]
    rows = Rows()
    if request.collective.reduces:
        rows.add(0, Op.REDUCE, 0, others, root)
    if request.collective.gathers:
        rows.add(0, Op.COPY, int(request.collective.reduces), root, others)
    return embed(request, np.array([root]), rows.columns, method="reduce-broadcast", options=options)
