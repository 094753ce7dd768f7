"""BlueConnect: a ring reduce-scatter along every dimension of the network in turn, and the all-gathers in reverse.

Source: Cho et al., "BlueConnect: decomposing all-reduce for deep learning on heterogeneous network hierarchy" (MLSys 2019), as
GenTree describes it in Section 6.
"""

from certree.models.schedule.collective import SYMMETRIC_KINDS
from certree.models.schedule.schedule import Schedule
from certree.synth.method import Options, Request, Variant, flag, method
from certree.synth.ranks.embedding import ROUNDS
from certree.synth.ranks.group_plans import ring_plan
from certree.synth.ranks.layout import FACTORS, layout_of
from certree.synth.ranks.staged import scatter_and_gather


@method(
    "blueconnect",
    SYMMETRIC_KINDS,
    options={**ROUNDS, "factors": FACTORS, "bidirectional": flag(False)},
    order=11,
    variants=[Variant({"bidirectional": "true"})],
)
def blueconnect(request: Request, options: Options) -> Schedule:
    """Ring reduce-scatters along each dimension in turn, the most local first, then the all-gathers in reverse.

    Option factors=8x4x2: sizes of the dimensions, the first for neighbouring ranks; by default the network decides
    (`certree.synth.ranks.layout`), and one dimension makes it the ring algorithm. bidirectional=true sends half of the data in
    the other direction. One chunk for each endpoint, or two.
    """
    layout = layout_of(request.topology, options["factors"])
    options["factors"] = "x".join(map(str, layout.sizes))
    plans = [(dimension, ring_plan(size)) for dimension, size in enumerate(layout.sizes)]
    return scatter_and_gather(request, layout, plans, method="blueconnect", options=options)
