"""Trivance: in each stage everyone adds the sums of the two that are three times as far away as in the stage before.

Source: Jürß, Addanki and Schmid, "Trivance: Latency-Optimal AllReduce by Shortcutting Multiport Networks" (arXiv 2602.17254): log3
of the size of a ring steps, both ports at once, reach tripled from step to step. Here ranks exchange whole vectors along one
dimension after the other; parts of the message begin with different ones.
"""

import numpy as np

from certree.models.common.errors import UnsupportedError
from certree.models.schedule.collective import CollectiveKind
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import Op
from certree.synth.fine.fine_routes import default_routes
from certree.synth.fine.fine_schedule import in_fine_slots
from certree.synth.fine.levels import ORIGINAL
from certree.synth.fine.program import Stages
from certree.synth.method import Options, Request, Tier, method
from certree.synth.ranks.layout import layout_of
from certree.synth.ranks.staged import every_place


@method("trivance", [CollectiveKind.ALL_REDUCE], tier=Tier.SMALL, order=71, is_sized=True, is_anytime=True, compares=True)
def trivance(request: Request, options: Options) -> Schedule:
    """In stage s of a dimension every node sends its sum 3^s places ahead and back; a dimension of n nodes takes log3(n) stages.

    In fine slots. A sum is kept in a scratch buffer while the next one is made. For dimensions of powers of three. No options.
    """
    layout = layout_of(request.topology, None)
    sizes = layout.sizes
    if any(3 ** _stages(size) != size for size in sizes):
        raise UnsupportedError(
            f"trivance needs dimensions of powers of three; {request.topology.name} has {'x'.join(map(str, sizes))}"
        )
    stages, places = Stages(), every_place(sizes)
    for first in range(len(sizes)):
        stages.stage = 0
        for dimension in np.roll(np.arange(len(sizes)), -first).tolist():
            digit, stride = places[:, dimension], int(np.prod(sizes[:dimension]))
            for stage in range(_stages(sizes[dimension])):
                stages.add(first, Op.COPY, layout.nodes, layout.nodes, 0, ORIGINAL)
                stages.stage += 1
                for reach in (3**stage, -(3**stage)):
                    to = np.arange(len(places)) + ((digit + reach) % sizes[dimension] - digit) * stride
                    stages.add(first, Op.REDUCE, layout.nodes, layout.nodes[to], ORIGINAL, 0)
                stages.stage += 1
    program = stages.program(request.topology, request.collective, np.zeros(len(sizes)), default_routes(request.topology))
    return in_fine_slots(request, [(f"{len(sizes)} part(s)", program)], "trivance", options)


def _stages(size: int) -> int:
    """The number of stages that reach all of a ring of that size."""
    stages = 0
    while 3**stages < size:
        stages += 1
    return stages
