"""The ring algorithm along a Hamiltonian cycle, or in the order of the ranks.

Source: Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations" (2009), Section 3; known from
Baidu's ring all-reduce. The MultiTree paper's example of four nodes (Section II-B, Fig. 1) is this one: segment c travels from node
c + 1 round to node c, which then holds its sum, and from there once more round.
"""

from dataclasses import replace

import numpy as np

from certree.models.common.errors import UnsupportedError
from certree.models.network.topology import Int32, Topology
from certree.models.schedule.collective import SYMMETRIC_KINDS
from certree.models.schedule.schedule import Schedule
from certree.synth.candidate_prices import step_price
from certree.synth.graphs.cycle import hamiltonian_cycle
from certree.synth.method import (
    Options,
    Request,
    Tier,
    Variant,
    choice,
    flag,
    method,
    require_shape,
    whole_number,
)
from certree.synth.phases import Phase, joined
from certree.synth.price import Price
from certree.synth.ranks.embedding import ROUNDS, embed

MOST_DELAY = 64


def _price(request: Request, options: Options) -> Price:
    """The price, exact in transfers."""
    nodes, delay = len(request.members), options["delay"]
    rings = delay * (1 + options["bidirectional"])
    return step_price(request, options, chunks=rings * nodes, steps=(nodes - 1) * delay, delay=delay)


@method(
    "ring",
    SYMMETRIC_KINDS,
    options={"bidirectional": flag(False), "order": choice("cycle", "natural"), "delay": whole_number(1, 1, MOST_DELAY), **ROUNDS},
    tier=Tier.ALWAYS,
    order=1,
    takes_members=True,
    side_by_side=True,
    price=_price,
    variants=[
        Variant({"bidirectional": "true"}),
        Variant({"delay": "2"}, in_auto=lambda request: not request.topology.is_direct),
        Variant({"order": "natural"}, in_auto=False),
    ],
)
def ring(request: Request, options: Options) -> Schedule:
    """Chunks travel round a ring of all endpoints: N-1 steps per phase; bidirectional=true uses both directions at once.

    One chunk per endpoint, rooted there, or two when bidirectional (the second in the other direction), which halves the length of
    every step where both directions have links of their own. On a direct network the ring is a Hamiltonian cycle, found by
    `certree.synth.graphs.cycle`; with switches it is the order of the ranks, along routes. order=natural takes the order of the
    ranks on a direct network too, over several links where neighbours in the ring have no link; rings of some endpoints only do
    likewise. Neighbours below one switch come after each other. delay=D takes D times as many chunks and runs D rings by turns,
    each on its part of the message, so that no step waits for data of the previous step. Option: rounds=serialized|published.
    """
    nodes, both_ways = len(request.members), options["bidirectional"]
    if both_ways and nodes == 2:
        raise UnsupportedError("a ring of 2 nodes has one direction: its two links join the same nodes")
    phases, delay = int(request.collective.reduces) + int(request.collective.gathers), options["delay"]
    require_shape(request, "ring", (2 * nodes if both_ways else nodes) * delay, phases * (nodes - 1) * delay)
    order = _order(request, natural=options["order"] == "natural", both_ways=both_ways)
    orders = ([order, order[::-1]] if both_ways else [order]) * delay
    roots, columns = round_trips(request, orders, delay)
    return embed(request, roots, columns, delay=delay, method="ring", options=options)


def round_trips(request: Request, orders: list[Int32], delay: int) -> tuple[Int32, dict[str, np.ndarray]]:
    """(`chunk_root`, columns) of rings of all members, side by side, in `delay` equal sets that take turns."""
    rank = np.searchsorted(request.members, np.arange(len(request.topology.kind))).astype(np.int32)  # of those that take part
    chunks = len(request.members) * len(orders) // delay
    first, second = (_by_turns(_around(orders, rank, behind), chunks, delay) for behind in (1, 0))
    return np.tile(request.members, len(orders)), joined(request.collective, first, second)


def _by_turns(phase: Phase, chunks: int, delay: int) -> Phase:
    """The phase run in `delay` sets of `chunks` chunks, which take every `delay`-th step in turn."""
    return replace(phase, step=phase.step * np.int32(delay) + phase.chunk // np.int32(chunks))


def _order(request: Request, *, natural: bool, both_ways: bool) -> Int32:
    """The endpoints in the order of the ring."""
    topology = request.topology
    if natural:
        return request.members
    if not topology.is_direct or request.collective.members is not None:
        return _by_switch(topology, request.members)
    try:
        return np.array(hamiltonian_cycle(request, both_ways=both_ways), np.int32)
    except UnsupportedError as error:
        raise UnsupportedError(f"{error}; order=natural sends over several links instead") from None


def _by_switch(topology: Topology, members: Int32) -> Int32:
    """The members, those below one switch after each other, where each has links to one node only."""
    low, high = np.full(len(topology.kind), len(topology.kind)), np.full(len(topology.kind), -1)
    np.minimum.at(low, topology.src, topology.dst)
    np.maximum.at(high, topology.src, topology.dst)
    if (low != high)[members].any():
        return members
    _, first, switch = np.unique(low[members], return_index=True, return_inverse=True)
    return members[np.argsort(first[switch], kind="stable")]


def _around(orders: list[Int32], rank: Int32, behind: int) -> Phase:
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
