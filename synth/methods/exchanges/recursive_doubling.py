"""Recursive doubling: partners exchange whole vectors in log2 N steps; and its generalization to larger groups with fewer steps.

Source: Thakur, Rabenseifner and Gropp, "Optimization of Collective Communication Operations in MPICH" (2005): its all-gather and
its all-reduce for short vectors, with extra steps for the processes beyond a power of two. Groups of any size: Ruefenacht, Bull and
Booth, "Generalisation of recursive doubling for AllReduce" (2017); the use of network dimensions as groups is certree's.
"""

import numpy as np

from certree.models.common.errors import UnsupportedError
from certree.models.network.topology import Topology
from certree.models.schedule.collective import CollectiveKind
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import Op
from certree.synth.candidate_prices import CROWDED, step_price
from certree.synth.method import Options, Request, Variant, choice, method
from certree.synth.phases import joined
from certree.synth.price import Price
from certree.synth.ranks.embedding import ROUNDS, Rows, embed
from certree.synth.ranks.exchange import butterfly, core_of, whole_log2
from certree.synth.ranks.layout import layout_of


def _price(request: Request, options: Options) -> Price:
    """The price: with exchange=groups that of one group, else exact in transfers for a power of two."""
    count = len(request.members)
    bits = count.bit_length() - 1
    if options["exchange"] == "groups":
        return Price(count * (count - 1) * options["channels"], CROWDED)
    if request.collective.kind is CollectiveKind.ALL_GATHER:
        return step_price(request, options, chunks=count, steps=bits)
    return step_price(request, options, chunks=1, steps=bits // 2, transfers=(1 << bits) * bits // 2)


@method(
    "recursive-doubling",
    [CollectiveKind.ALL_REDUCE, CollectiveKind.ALL_GATHER],
    options={**ROUNDS, "exchange": choice("pairs", "groups")},
    order=3,
    takes_members=True,
    side_by_side=True,
    price=_price,
    variants=[Variant({"exchange": "groups"}, lambda request: request.collective.kind is CollectiveKind.ALL_REDUCE)],
)
def recursive_doubling(request: Request, options: Options) -> Schedule:
    """Partners at rank distance 1, 2, 4, ... exchange whole vectors (all-reduce) or all they hold (all-gather): log2 N steps.

    All-reduce: one chunk, any number of endpoints; beyond a power of two, two more steps fold the rest in and out. All-gather: one
    chunk per endpoint, powers of two only. Options: rounds=serialized|published; exchange=groups, for an all-reduce: along each
    dimension of the network in turn every endpoint sends its vector to all others of its group at once; in a ring of 4, to one
    neighbour and then to the other.
    """
    nodes = request.members
    if request.collective.kind is CollectiveKind.ALL_REDUCE:
        if options["exchange"] == "groups":
            request.collective.require_everyone("recursive-doubling with exchange=groups")
        rows = _whole_vectors(nodes) if options["exchange"] == "pairs" else _in_groups(request.topology)
        root, columns = np.zeros(1, np.int32), rows.columns
    elif options["exchange"] == "groups":
        raise UnsupportedError("recursive-doubling: exchange=groups is for an all-reduce")
    elif whole_log2(len(nodes)) is not None:
        root, columns = nodes, joined(request.collective, None, butterfly(nodes, nearest_last=False))
    else:
        raise UnsupportedError(f"recursive-doubling gathers among a power of two of endpoints; there are {len(nodes)}")
    return embed(request, root, columns, method="recursive-doubling", options=options)


def _whole_vectors(nodes: np.ndarray) -> Rows:
    core, folded, partners = core_of(nodes)
    rows = Rows()
    start = int(len(folded) > 0)
    rows.add(0, Op.REDUCE, 0, folded, partners)
    position = np.arange(len(core))
    bits = len(core).bit_length() - 1
    for bit in range(bits):
        rows.add(0, Op.REDUCE, start + bit, core, core[position ^ (1 << bit)])
    rows.add(0, Op.COPY, start + bits, partners, folded)
    return rows


def _in_groups(topology: Topology) -> Rows:
    """A step for each dimension, two where it is a ring of 4; N · (sum of sizes) rows at most."""
    layout, rows = layout_of(topology, None), Rows()
    nodes, stride, step = layout.nodes, 1, 0
    place = np.arange(len(nodes))
    for size in layout.sizes:
        at = place // stride % size
        first = nodes[: 4 * stride : stride]  # the first group, to see whether a side of 4 is a ring
        halves = size == 4 and topology.pair_index(first[:1], first[3:])[0] >= 0 > topology.pair_index(first[:1], first[2:3])[0]
        exchanges = [at ^ 1, 3 - at] if halves else [(at + np.arange(1, size)[:, None]) % size]
        for other in exchanges:
            rows.add(0, Op.REDUCE, step, nodes, nodes[place + (other - at) * stride])
            step += 1
        stride *= size
    return rows
