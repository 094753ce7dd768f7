"""The hierarchical all-to-all: blocks first move inside packages, then across them along each further dimension.

Source: ACE, Table 5 (3-D torus: rings in L, V and H; alltoall platform: ring in L, direct in P); switch-fc, Section III-C.
"""

from certree.models.schedule.collective import CollectiveKind
from certree.models.schedule.schedule import Schedule
from certree.synth.method import Options, Request, method
from certree.synth.methods.hierarchical.hierarchical import DIMENSION_PLANS, dimension_plans, outer_order
from certree.synth.ranks.all_to_all import Movement, move_blocks, ring_movement
from certree.synth.ranks.embedding import ROUNDS, Rows, embed
from certree.synth.ranks.layout import FACTORS, layout_of


@method(
    "hierarchical-all-to-all",
    [CollectiveKind.ALL_TO_ALL],
    options={**ROUNDS, "factors": FACTORS, "plans": DIMENSION_PLANS},
    order=9,
    takes_demand=True,
)
def hierarchical_all_to_all(request: Request, options: Options) -> Schedule:
    """Every block goes to its target's place inside the package, then along each further dimension, rows before columns.

    Where links join the neighbours of a dimension, by distance (n - 1 steps; hop by hop where routes cannot pass endpoints, as on
    networks with switches); along others directly (one step); option plans=ring,direct says otherwise. Option factors=8x4: n0 x n1
    x ...; by default the network decides (`certree.synth.ranks.layout`). One chunk for each ordered pair.
    """
    layout = layout_of(request.topology, options["factors"])
    words = dimension_plans(request.topology, layout, options["plans"])
    options |= {"factors": "x".join(map(str, layout.sizes)), "plans": ",".join(words)}
    joined = [word == "ring" for word in dimension_plans(request.topology, layout, None)]
    movements = [
        ring_movement(request.topology, size, ring) if word == "ring" else Movement.TOGETHER
        for word, size, ring in zip(words, layout.sizes, joined, strict=True)
    ]
    rows = Rows()
    roots, targets = move_blocks(layout, (0, *outer_order(len(layout.sizes))), movements, rows)
    return embed(request, roots, rows.columns, chunk_target=targets, method="hierarchical-all-to-all", options=options)
