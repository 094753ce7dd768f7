"""The all-to-all on a ring, hop by hop.

Source: ACE, Section 5 (in step s every node sends the message that belongs to the node at distance s); switch-fc, Section III-A,
which counts N(N - 1)/2 steps on a one-way ring, because a message to distance s takes s hops.
"""

import numpy as np

from certree.models.common.errors import UnsupportedError
from certree.models.network.topology import Int32
from certree.models.schedule.collective import CollectiveKind
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import Op
from certree.synth.graphs.cycle import hamiltonian_cycle
from certree.synth.method import Options, Request, Variant, flag, method
from certree.synth.ranks.all_to_all import ordered_pairs
from certree.synth.ranks.embedding import ROUNDS, Rows, embed

MAX_ROWS = 1 << 21


@method(
    "ring-all-to-all",
    [CollectiveKind.ALL_TO_ALL],
    options={**ROUNDS, "bidirectional": flag(False)},
    order=21,
    variants=[Variant({"bidirectional": "true"})],
    takes_demand=True,
)
def ring_all_to_all(request: Request, options: Options) -> Schedule:
    """Messages to distance 1, then 2, ... round a ring, one hop per step: N(N-1)/2 steps in which every link carries one chunk.

    bidirectional=true uses the shorter direction for each message: distances up to N/2, floor(N/2)(floor(N/2)+1)/2 steps.
    The ring is a Hamiltonian cycle (`certree.synth.graphs.cycle`) where nodes are joined directly, the order of the ids
    where there are switches. One chunk for each ordered pair. UnsupportedError beyond MAX_ROWS transfers: there are N^2(N-1)/2.
    """
    nodes, both_ways = len(request.topology.endpoints), options["bidirectional"]
    ahead = nodes // 2 if both_ways else nodes - 1
    behind = nodes - 1 - ahead
    transfers = nodes * (ahead * (ahead + 1) + behind * (behind + 1)) // 2
    if transfers > MAX_ROWS:
        raise UnsupportedError(
            f"ring-all-to-all takes {transfers} transfers between {nodes} endpoints; at most {MAX_ROWS} are made"
        )
    if request.topology.is_direct:
        order = np.array(hamiltonian_cycle(request, both_ways=both_ways), np.int32)
    else:
        order = request.topology.endpoints
    rows = Rows()
    for distance in range(1, ahead + 1):
        _travel(order, distance, rows)
    for distance in range(1, behind + 1):
        _travel(order[::-1], distance, rows)
    roots, targets = ordered_pairs(request.topology.endpoints)
    return embed(request, roots, rows.columns, chunk_target=targets, method="ring-all-to-all", options=options)


def _travel(order: Int32, distance: int, rows: Rows) -> None:
    """Add the chunks of all nodes for the node `distance` places further in `order`, after those for nearer nodes."""
    nodes = len(order)
    start, hop = np.meshgrid(np.arange(nodes), np.arange(distance), indexing="ij")
    rank = np.argsort(np.argsort(order))
    root, target = rank[start], rank[(start + distance) % nodes]
    chunk = root * (nodes - 1) + target - (target > root)
    at = start + hop
    rows.add(chunk, Op.COPY, distance * (distance - 1) // 2 + hop, order[at % nodes], order[(at + 1) % nodes])
