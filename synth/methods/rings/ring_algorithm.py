"""The ring algorithm along a Hamiltonian cycle, or in the order of the ranks.

Source: Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations" (2009), Section 3; known from
Baidu's ring all-reduce. The MultiTree paper's example of four nodes (Section II-B, Fig. 1) is this one: segment c travels from node
c + 1 round to node c, which then holds its sum, and from there once more round.
"""

import numpy as np

from certree.models.common.errors import UnsupportedError
from certree.models.network.topology import Int32
from certree.models.schedule.collective import SYMMETRIC_KINDS
from certree.models.schedule.schedule import Schedule
from certree.synth.graphs.cycle import hamiltonian_cycle
from certree.synth.method import Options, Request, Tier, Variant, choice, flag, method, require_shape
from certree.synth.phases import Phase, joined
from certree.synth.ranks.embedding import ROUNDS, embed


@method(
    "ring",
    SYMMETRIC_KINDS,
    options={"bidirectional": flag(False), "order": choice("cycle", "natural"), **ROUNDS},
    tier=Tier.ALWAYS,
    order=1,
    takes_members=True,
    side_by_side=True,
    variants=[Variant({"bidirectional": "true"}), Variant({"order": "natural"}, in_auto=False)],
)
def ring(request: Request, options: Options) -> Schedule:
    """Chunks travel round a ring of all endpoints: N-1 steps per phase; bidirectional=true uses both directions at once.

    One chunk per endpoint, rooted there, or two when bidirectional (the second in the other direction), which halves the length of
    every step where both directions have links of their own. On a direct network the ring is a Hamiltonian cycle, found by
    `certree.synth.graphs.cycle`; with switches it is the order of the ranks, along routes. order=natural takes the order of the
    ranks on a direct network too, over several links where neighbours in the ring have no link, and so do rings of some endpoints
    only. Option:
    rounds=serialized|published.
    """
    nodes, both_ways = len(request.members), options["bidirectional"]
    if both_ways and nodes == 2:
        raise UnsupportedError("a ring of 2 nodes has one direction: its two links join the same nodes")
    phases = int(request.collective.reduces) + int(request.collective.gathers)
    require_shape(request, "ring", 2 * nodes if both_ways else nodes, phases * (nodes - 1))
    order = _order(request, natural=options["order"] == "natural", both_ways=both_ways)
    orders = [order, order[::-1]] if both_ways else [order]
    rank = np.searchsorted(request.members, np.arange(len(request.topology.kind))).astype(np.int32)  # of those that take part
    columns = joined(request.collective, around(orders, rank, behind=1), around(orders, rank, behind=0))
    roots = np.tile(request.members, len(orders))
    return embed(request, roots, columns, method="ring", options=options)


def _order(request: Request, *, natural: bool, both_ways: bool) -> Int32:
    """The endpoints in the order of the ring."""
    topology = request.topology
    if natural or not topology.is_direct or request.collective.members is not None:
        return request.members
    try:
        return np.array(hamiltonian_cycle(request, both_ways=both_ways), np.int32)
    except UnsupportedError as error:
        raise UnsupportedError(f"{error}; order=natural sends over several links instead") from None


def around(orders: list[Int32], rank: Int32, behind: int) -> Phase:
    """One trip of every chunk in each direction of the ring, N-1 hops; it starts `behind` nodes after its root.

    Copies start at the root (0); a partial sum starts one node after it (1) and ends there. O(N^2) rows.
    """
    nodes = len(orders[0])
    position, step = (grid.ravel() for grid in np.meshgrid(np.arange(nodes), np.arange(nodes - 1), indexing="ij"))
    at = position + step + behind
    return Phase(
        chunk=np.concatenate([rank[order[position]] + number * nodes for number, order in enumerate(orders)]).astype(np.int32),
        step=np.tile(step, len(orders)).astype(np.int32),
        src=np.concatenate([order[at % nodes] for order in orders]),
        dst=np.concatenate([order[(at + 1) % nodes] for order in orders]),
    )
