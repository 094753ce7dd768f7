"""A broadcast along a chain: every endpoint passes each piece on to the next one. A reduce: the same backwards.

Source: the pipelined chains of MPI libraries, such as Open MPI's `coll/tuned`, and the rings of NCCL, both for long messages. Fine
slots are certree's.
"""

from collections.abc import Iterator
from math import isqrt

import numpy as np

from certree.models.common.errors import UnsupportedError
from certree.models.network.topology import Int32
from certree.models.schedule.collective import CollectiveKind
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import Op
from certree.synth.fine.fine_routes import lighter_routes
from certree.synth.fine.fine_schedule import in_fine_slots
from certree.synth.fine.program import Program, Stages
from certree.synth.method import Options, Request, Tier, method, whole_number
from certree.synth.ranks.layout import layout_of

MOST_PIECES = 1 << 12
MOST_ROWS = 1 << 13  # of a program that is tried where the number of pieces is not given


@method(
    "chain",
    [CollectiveKind.BROADCAST, CollectiveKind.REDUCE],
    options={"pieces": whole_number(None, 1, MOST_PIECES)},
    tier=Tier.SMALL,
    order=69,
    is_sized=True,
    is_anytime=True,
    compares=True,
    takes_members=True,
)
def chain(request: Request, options: Options) -> Schedule:
    """A broadcast from the root along a chain of all endpoints, which pass on one piece after the other; in fine slots.

    A reduce is the same backwards. Neighbours come after each other. Each endpoint sends the message once, so for long messages
    behind switches with one link to each endpoint it comes near the bandwidth bound. Option: pieces=P; without it numbers that suit
    the size are compared. N - 1 rows for each piece.
    """
    return in_fine_slots(request, _programs(request, options["pieces"]), "chain", options)


def _programs(request: Request, pieces: int | None) -> Iterator[tuple[str, Program]]:
    order, collective = _order(request), request.collective
    hops = len(order) - 1
    for count in (pieces,) if pieces else _numbers(request, hops):
        chunk, hop = (side.ravel() for side in np.indices((count, hops)))
        stages = Stages()
        if collective.reduces:
            stages.add(chunk, Op.REDUCE, order[hop + 1], order[hop], stage=hops - hop)
        else:
            stages.add(chunk, Op.COPY, order[hop], order[hop + 1], stage=hop)
        roots = np.full(count, order[0])
        yield f"{count} piece(s)", stages.program(request.topology, collective, roots, lighter_routes(request.topology))


def _numbers(request: Request, hops: int) -> list[int]:
    """Numbers of pieces to compare: about √(granules · hops) keeps headers and the time of a piece on its way in balance."""
    granules = -(-request.message_bytes // request.machine.flit_bytes)
    near = min(isqrt(granules * hops), granules, max(1, MOST_ROWS // hops))
    return sorted({near, -(-near // 2)}, reverse=True)


def _order(request: Request) -> Int32:
    """The root, the other endpoints of its group, then the next groups, where the network has equal groups; else by number."""
    members, root, topology = request.members, request.collective.root, request.topology
    try:
        layout = layout_of(topology, None)
        grid = layout.nodes.reshape(-1, layout.sizes[0])
    except UnsupportedError:
        grid = topology.endpoints[None, :]
    row, place = (int(side[0]) for side in np.nonzero(grid == root))
    order = np.concatenate((np.roll(grid[row], -place), np.roll(grid, -row, axis=0)[1:].ravel()))
    return order[np.isin(order, members)]
