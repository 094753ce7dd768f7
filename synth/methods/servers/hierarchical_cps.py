"""Hierarchical co-located parameter servers f0 x f1 x ...

Source: GenTree, Section 3.3 (Fig. 5, 6 x 4) and Table 2.
"""

from certree.models.common.errors import UnsupportedError
from certree.models.schedule.collective import SYMMETRIC_KINDS
from certree.models.schedule.schedule import Schedule
from certree.synth.method import Options, Request, method
from certree.synth.ranks.embedding import ROUNDS
from certree.synth.ranks.group_plans import direct_plan
from certree.synth.ranks.layout import FACTORS, layout_of
from certree.synth.ranks.staged import scatter_and_gather


@method("hierarchical-cps", SYMMETRIC_KINDS, options={**ROUNDS, "factors": FACTORS}, order=12)
def hierarchical_cps(request: Request, options: Options) -> Schedule:
    """Reduce-scatter in groups of f0, then of f1 across them, and so on, each in one step; then all-gather in reverse.

    Option factors=6x2: f0 x f1 x ..., the first groups being neighbouring ranks; by default the network decides
    (`certree.synth.ranks.layout`). One chunk for each endpoint.
    """
    layout = layout_of(request.topology, options["factors"])
    if len(layout.sizes) == 1:
        raise UnsupportedError(
            f"hierarchical-cps: {request.topology.name} suggests no groups, and one group is cps; factors=AxB gives them"
        )
    options["factors"] = "x".join(map(str, layout.sizes))
    plans = [(dimension, direct_plan(size)) for dimension, size in enumerate(layout.sizes)]
    return scatter_and_gather(request, layout, plans, method="hierarchical-cps", options=options)
