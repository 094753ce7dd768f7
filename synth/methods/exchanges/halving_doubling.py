"""Halving-doubling: recursive vector halving for the reduce-scatter, recursive doubling for the all-gather.

Source: Thakur, Rabenseifner and Gropp, "Optimization of Collective Communication Operations in MPICH" (2005);
beyond powers of two: Rabenseifner, "Optimization of Collective Reduction Operations" (2004).
"""

import numpy as np

from certree.models.common.errors import UnsupportedError
from certree.models.schedule.collective import SYMMETRIC_KINDS, CollectiveKind
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import Op
from certree.synth.candidate_prices import ROUTED, step_price
from certree.synth.method import Options, Request, Variant, choice, method
from certree.synth.phases import joined
from certree.synth.ranks.embedding import ROUNDS, Rows, embed
from certree.synth.ranks.exchange import butterfly, core_of, whole_log2


@method(
    "halving-doubling",
    SYMMETRIC_KINDS,
    options={"distance": choice("doubling", "halving"), "fold": choice("halves", "whole"), **ROUNDS},
    order=4,
    takes_members=True,
    side_by_side=True,
    price=lambda request, options: step_price(
        request, options, chunks=1 << _bits(request), steps=_bits(request), work=ROUTED
    ),  # exact in transfers for a power of two
    variants=[Variant({"distance": "halving"}, in_auto=False), Variant({"fold": "whole"}, in_auto=False)],
)
def halving_doubling(request: Request, options: Options) -> Schedule:
    """Partners exchange half of what is left, then a quarter, ...; back the same way: 2 log2 N steps, bandwidth-optimal per node.

    One chunk per endpoint. Option distance=doubling (default) has the largest exchange between ranks that differ by 1, as
    Rabenseifner's all-reduce; distance=halving between ranks N/2 apart. Beyond a power of two 2^k an all-reduce has 2^k chunks: of
    each of the first pairs one rank leaves after two steps in which the pair adds up its halves, and gets the result at the
    end; fold=whole has it hand over its whole vector in one step, as GenTree's RHD. Reduce-scatter and all-gather, where every
    endpoint has a chunk of its own, need a power of two. Option: rounds=serialized|published.
    """
    nodes, collective = request.members, request.collective
    if whole_log2(len(nodes)) is None and collective.kind is not CollectiveKind.ALL_REDUCE:
        raise UnsupportedError(f"halving-doubling makes {collective.kind} for a power of two of endpoints; there are {len(nodes)}")
    core, folded, partners = core_of(nodes)
    gather = butterfly(core, nearest_last=options["distance"] == "doubling")
    columns = joined(collective, gather.reversed(), gather)
    if len(folded):
        columns = (_folded if options["fold"] == "halves" else _folded_whole)(columns, len(core), folded, partners)
    return embed(request, core, columns, method="halving-doubling", options=options)


def _bits(request: Request) -> int:
    return len(request.members).bit_length() - 1


def _folded(columns: dict[str, np.ndarray], chunks: int, folded: np.ndarray, partners: np.ndarray) -> dict[str, np.ndarray]:
    """An all-reduce of the core, with two steps before it, in which each pair adds up one half on either side and one rank hands
    its half over, and one step after it."""
    low, high = np.arange(chunks // 2)[:, None], np.arange(chunks // 2, chunks)[:, None]
    rows = Rows()
    rows.add(low, Op.REDUCE, 0, folded, partners)
    rows.add(high, Op.REDUCE, 0, partners, folded)
    rows.add(high, Op.COPY, 1, folded, partners)
    rows.add(columns["chunk"], columns["op"], columns["step"] + 2, columns["src"], columns["dst"])
    rows.add(np.arange(chunks)[:, None], Op.COPY, int(columns["step"].max()) + 3, partners, folded)
    return rows.columns


def _folded_whole(columns: dict[str, np.ndarray], chunks: int, folded: np.ndarray, partners: np.ndarray) -> dict[str, np.ndarray]:
    """An all-reduce of the core, with a step before it, in which one rank of each pair adds up whole vectors, and one after it."""
    whole = np.arange(chunks)[:, None]
    rows = Rows()
    rows.add(whole, Op.REDUCE, 0, folded, partners)
    rows.add(columns["chunk"], columns["op"], columns["step"] + 1, columns["src"], columns["dst"])
    rows.add(whole, Op.COPY, int(columns["step"].max()) + 2, partners, folded)
    return rows.columns
