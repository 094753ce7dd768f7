"""The collectives of the switch-based fully connected platform: log2 N steps inside a package, rings across packages.

Source: Hou et al., "Co-designing the topology/algorithm to accelerate distributed training" (switch-fc), Sections III-B and III-C,
Figs. 5, 7 and 8. The printed destination of step S, (i + 2(S - 1)) mod N, is right for N = 2, 4 and 8 only: see
`certree.synth.ranks.group_plans.printed_offsets`.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from certree.models.common.errors import UnsupportedError
from certree.models.schedule.collective import CollectiveKind
from certree.models.schedule.schedule import Schedule
from certree.synth.method import Options, Request, choice, method
from certree.synth.methods.hierarchical.hierarchical import dimension_plans, outer_order
from certree.synth.ranks.all_to_all import move_blocks, ring_movement
from certree.synth.ranks.embedding import ROUNDS, Rows, embed
from certree.synth.ranks.group_plans import doubling_offsets, exchange_plan, printed_offsets, ring_plan, spread_plan
from certree.synth.ranks.layout import FACTORS, Layout, layout_of
from certree.synth.ranks.staged import Kind, Stage, even_shares, every_place, gather, run_stages, scatter

KINDS = (CollectiveKind.ALL_REDUCE, CollectiveKind.ALL_GATHER, CollectiveKind.ALL_TO_ALL)
OFFSETS = {"corrected": doubling_offsets, "printed": printed_offsets}
LOCALS = ("exchange", "ring")  # the algorithm inside a package: the platform's own, or that of the hierarchical torus


@method(
    "switch-fc",
    KINDS,
    options={**ROUNDS, "factors": FACTORS, "formula": choice("corrected", "printed"), "local": choice(*LOCALS)},
    order=16,
)
def switch_fc(request: Request, options: Options) -> Schedule:
    """Nodes send whole vectors to the nodes 1, 2, 4, ... places on inside a package; rings along rows and columns of packages.

    All-reduce: log2 N steps for the N = 2^k nodes of a package (UnsupportedError for other N: a contribution would count twice),
    then ring all-reduces along the vertical and the horizontal dimension. All-gather: the same order, ceil(log2 N) steps for any N.
    All-to-all: N - 1 steps in each dimension, by distance (hop by hop round rings whose nodes no route can pass). Option
    formula=printed takes the paper's destinations, which are invalid from N = 16 on; formula=corrected is the default. Option
    local=ring runs the ring algorithm inside packages too, like the hierarchical torus in the paper's comparison; then N may be any
    number. Option factors=8x2: N x packages x ...; by default the network decides (`certree.synth.ranks.layout`).
    """
    layout = layout_of(request.topology, options["factors"])
    options["factors"] = "x".join(map(str, layout.sizes))
    rows = Rows()
    target: NDArray[np.int32] | None = None
    if request.collective.kind is CollectiveKind.ALL_TO_ALL:
        joined = [word == "ring" for word in dimension_plans(request.topology, layout, None)]
        movements = [ring_movement(request.topology, size, ring) for size, ring in zip(layout.sizes, joined, strict=True)]
        roots, target = move_blocks(layout, (0, *outer_order(len(layout.sizes))), movements, rows)
    else:
        offsets = None if options["local"] == "ring" else OFFSETS[options["formula"]](layout.sizes[0])
        roots = _in_dimensions(request, layout, offsets, rows)
    made = embed(request, roots, rows.columns, chunk_target=target, method="switch-fc", options=options)
    if options["formula"] == "corrected":
        return made
    return replace(made, provenance={**made.provenance, "published": True})


def _in_dimensions(request: Request, layout: Layout, offsets: tuple[int, ...] | None, rows: Rows) -> NDArray[np.int32]:
    """All-reduce or all-gather in the order local, vertical, horizontal, with rings inside packages too where there are no
    `offsets`; returns the root of every chunk."""
    sizes, outer = layout.sizes, outer_order(len(layout.sizes))
    if request.collective.kind is CollectiveKind.ALL_GATHER:
        spread = gather(0, ring_plan(sizes[0])) if offsets is None else Stage(0, spread_plan(sizes[0], offsets), Kind.GATHER)
        stages = [spread, *(gather(dimension, ring_plan(sizes[dimension])) for dimension in outer)]
        run_stages(sizes, layout.nodes, every_place(sizes), stages, rows)
        return layout.nodes
    if offsets is None:
        shares, stages = even_shares(sizes, 0), _ring_all_reduce(0, sizes[0])
    else:
        if sizes[0] & (sizes[0] - 1):
            raise UnsupportedError(
                f"switch-fc: {sizes[0]} nodes in a package; its all-reduce needs a power of 2, or contributions would count twice"
            )
        rings = even_shares(sizes[1:], 0)
        shares = np.hstack([np.zeros((len(rings), 1), np.int64), rings])
        stages = [Stage(0, exchange_plan(sizes[0], offsets), Kind.EXCHANGE)]
    for dimension in outer:
        stages += _ring_all_reduce(dimension, sizes[dimension])
    run_stages(sizes, layout.nodes, shares, stages, rows)
    return np.zeros(len(shares), np.int32)


def _ring_all_reduce(dimension: int, size: int) -> list[Stage]:
    return [scatter(dimension, ring_plan(size)), gather(dimension, ring_plan(size))]
