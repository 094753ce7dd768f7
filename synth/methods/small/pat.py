"""PAT, parallel aggregated trees: a tree for each rank, which reaches the far half first, so that little data travels far.

Source: Jeaugey, "PAT: a new algorithm for all-gather and reduce-scatter operations at scale" (arXiv 2506.20252): Bruck's
algorithm, which works on any number of ranks, with the dimensions reversed. There, trees that do not fit in the buffers follow each
other; with fine slots each transfer leaves as soon as it can, and they overlap.
"""

import numpy as np

from certree.models.schedule.collective import CollectiveKind
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import Op
from certree.synth.fine.fine_routes import default_routes, even_routes
from certree.synth.fine.fine_schedule import in_fine_slots
from certree.synth.fine.program import Stages
from certree.synth.method import Options, Request, Tier, method


@method(
    "pat",
    [CollectiveKind.ALL_REDUCE, CollectiveKind.REDUCE_SCATTER, CollectiveKind.ALL_GATHER],
    tier=Tier.SMALL,
    order=70,
    is_sized=True,
    is_anytime=True,
    compares=True,
)
def pat(request: Request, options: Options) -> Schedule:
    """All-gather: data go first to the rank 2^k further, the largest power below N, then from both to those half as far, and so on.

    In fine slots. Reduce-scatter: the same backwards; all-reduce: one after the other. Any number of endpoints: transfers to ranks
    more than N - 1 further are left out. No options. N (N - 1) rows for each of them.
    """
    nodes, stages = request.members, Stages()
    ranks, collective = len(nodes), request.collective
    levels = (ranks - 1).bit_length()
    chunk = np.arange(ranks)
    for offset in range(1, ranks):
        bit = offset & -offset
        here, there = nodes[(chunk + offset - bit) % ranks], nodes[(chunk + offset) % ranks]
        stage = levels - bit.bit_length()
        if collective.gathers:
            stages.add(chunk, Op.COPY, here, there, stage=levels + stage)
        if collective.reduces:
            stages.add(chunk, Op.REDUCE, there, here, stage=levels - 1 - stage)
    routes = (("default routes", default_routes), ("even routes", even_routes))
    programs = ((name, stages.program(request.topology, collective, nodes, find(request.topology))) for name, find in routes)
    return in_fine_slots(request, programs, "pat", options)
