"""The hierarchical all-reduce: scatter inside a package, all-reduce across packages one dimension after the other, gather inside.

Source: ACE, Table 5 and Section 5: on its 3-D torus rings in all dimensions, on its alltoall platform a direct all-reduce between
packages.
"""

import numpy as np

from certree.models.common.errors import UnsupportedError
from certree.models.network.topology import Topology
from certree.models.schedule.collective import CollectiveKind
from certree.models.schedule.schedule import Schedule
from certree.synth.method import Option, Options, Request, Variant, flag, method
from certree.synth.ranks.embedding import ROUNDS, Rows, embed
from certree.synth.ranks.group_plans import GroupPlan, direct_plan, ring_plan
from certree.synth.ranks.layout import FACTORS, Layout, layout_of
from certree.synth.ranks.staged import Stage, even_shares, every_place, gather, run_stages, scatter

PLANS = {"ring": ring_plan, "direct": direct_plan}


def _read_plans(text: str) -> tuple[str, ...]:
    words = tuple(text.split(","))
    if not set(words) <= PLANS.keys():
        raise ValueError
    return words


#: the option `plans=ring,direct`: the algorithm along each dimension, the most local first; by default the network decides
DIMENSION_PLANS = Option(_read_plans, None, f"{' or '.join(sorted(PLANS))} for each dimension, such as ring,direct")


@method(
    "hierarchical",
    [CollectiveKind.ALL_REDUCE],
    options={**ROUNDS, "factors": FACTORS, "plans": DIMENSION_PLANS, "bidirectional": flag(True)},
    order=10,
    side_by_side=True,
    variants=[Variant({"bidirectional": "false"}, in_auto=False)],
)
def hierarchical(request: Request, options: Options) -> Schedule:
    """Reduce-scatter inside packages, all-reduce across them along each further dimension, all-gather inside.

    A dimension whose neighbours are joined by links uses a ring, any other uses direct exchange; option plans=ring,direct says
    otherwise. Option factors=8x4x2: sizes of the dimensions, the first for neighbouring ranks; by default the network decides
    (`certree.synth.ranks.layout`). The rows of a package grid come before its columns (ACE's V before H). bidirectional=true (the
    default) uses both directions of rings. The vector is cut into the fewest equal chunks.
    """
    layout = layout_of(request.topology, options["factors"])
    words = dimension_plans(request.topology, layout, options["plans"])
    options |= {"factors": "x".join(map(str, layout.sizes)), "plans": ",".join(words)}
    plans = [PLANS[word](size) for word, size in zip(words, layout.sizes, strict=True)]
    shares = even_shares(layout.sizes, 1)
    directions = [plans]
    if options["bidirectional"] and "ring" in words:
        directions.append([plan.mirrored() for plan in plans])
    rows = Rows()
    for number, direction in enumerate(directions):
        run_stages(layout.sizes, layout.nodes, shares, _stages(direction), rows, first_chunk=number * len(shares))
    roots = np.zeros(len(directions) * len(shares), np.int32)
    return embed(request, roots, rows.columns, method="hierarchical", options=options)


def _stages(plans: list[GroupPlan]) -> list[Stage]:
    stages = [scatter(0, plans[0])]
    for dimension in outer_order(len(plans)):
        stages += [scatter(dimension, plans[dimension]), gather(dimension, plans[dimension])]
    return [*stages, gather(0, plans[0])]


def outer_order(dimensions: int) -> range:
    """The dimensions after the local one in the papers' order: vertical (between the rows of a grid of packages) comes first."""
    return range(dimensions - 1, 0, -1)


def dimension_plans(topology: Topology, layout: Layout, words: tuple[str, ...] | None) -> tuple[str, ...]:
    """`words`, one for each dimension (UnsupportedError otherwise); without them a ring wherever each place is joined to the next
    along the dimension, direct exchange elsewhere. O(nodes · dimensions)."""
    if words is not None:
        if len(words) != len(layout.sizes):
            shape = "x".join(map(str, layout.sizes))
            raise UnsupportedError(f"plans={','.join(words)} names {len(words)} dimensions; {topology.name} has {shape} here")
        return words
    places, strides = every_place(layout.sizes), np.cumprod((1, *layout.sizes[:-1]))
    found = []
    for dimension, size in enumerate(layout.sizes):
        step = np.where(places[:, dimension] == size - 1, 1 - size, 1) * strides[dimension]
        ahead = layout.nodes[np.arange(len(places)) + step]
        joined = (topology.pair_index(layout.nodes, ahead) >= 0).all()
        found.append("ring" if joined else "direct")
    return tuple(found)
