"""Direct exchange: all endpoints send each other their parts directly, where routes pass no other endpoint.

Source: ACE, Section 5 (direct all-reduce, direct all-to-all: all messages at the same time); switch-fc, Section II-B and Fig. 5
(the all-to-all in N - 1 steps, by distance).
"""

import numpy as np

from certree.models.common.errors import UnsupportedError
from certree.models.schedule.collective import SYMMETRIC_KINDS, CollectiveKind
from certree.models.schedule.schedule import Schedule
from certree.synth.candidate_prices import pairs_price
from certree.synth.method import Options, Request, choice, method
from certree.synth.ranks.all_to_all import Movement, move_blocks
from certree.synth.ranks.embedding import ROUNDS, Rows, embed
from certree.synth.ranks.group_plans import by_distance_plan, direct_plan
from certree.synth.ranks.layout import Layout
from certree.synth.ranks.staged import scatter_and_gather


@method(
    "direct",
    [*SYMMETRIC_KINDS, CollectiveKind.ALL_TO_ALL],
    options={**ROUNDS, "steps": choice("together", "by-distance")},
    order=8,
    takes_members=True,
    takes_demand=True,
    side_by_side=True,
    price=pairs_price,
)
def direct(request: Request, options: Options) -> Schedule:
    """All-reduce, reduce-scatter, all-gather or all-to-all in one step per phase; steps=by-distance takes N - 1, as in Fig. 5.

    By distance, rank i sends to rank i + s in the s-th step, so that every endpoint sends and receives one chunk per step. Needs a
    network where each endpoint has a link to every other or shares switches with it: no endpoint forwards for others.
    One chunk for each endpoint, in an all-to-all for each ordered pair.
    """
    _require_paths(request)
    nodes, by_distance = request.members, options["steps"] == "by-distance"
    layout = Layout((len(nodes),), nodes)
    if request.collective.kind is CollectiveKind.ALL_TO_ALL:
        rows = Rows()
        roots, targets = move_blocks(layout, (0,), (Movement.BY_DISTANCE if by_distance else Movement.TOGETHER,), rows)
        return embed(request, roots, rows.columns, chunk_target=targets, method="direct", options=options)
    plan = by_distance_plan(len(nodes)) if by_distance else direct_plan(len(nodes))
    return scatter_and_gather(request, layout, [(0, plan)], method="direct", options=options)


def _require_paths(request: Request) -> None:
    """Raise UnsupportedError unless on a direct network any two endpoints are joined; elsewhere routes decide. O(endpoints^2)."""
    topology, members = request.topology, request.members
    if not topology.is_direct:
        return
    src, dst = np.meshgrid(members, members, indexing="ij")
    apart = np.argwhere((topology.pair_index(src, dst) < 0) & (src != dst))
    if len(apart):
        first, second = members[apart[0]].tolist()
        raise UnsupportedError(
            f"direct needs a link or switches between any two endpoints; {topology.name} has none between {first} and {second}"
        )
