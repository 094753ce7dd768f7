"""Broadcasts in shares: one relay passes each share on to all others. Reduces: the same backwards.

Source: Barnett, Gupta, Payne, Shuler, van de Geijn and Watts, "Interprocessor collective communication library (InterCom)" (SHPCC
1994), where an all-gather follows a scatter. Here each share leaves as soon as it can, and the two overlap. certree adds that
shares come in several pieces, and that some pieces go to each group of neighbours.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import isqrt
from typing import Any

import numpy as np

from certree.models.common.errors import UnsupportedError
from certree.models.network.topology import Int32
from certree.models.schedule.collective import CollectiveKind
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import Op
from certree.synth.fine.fine_routes import lighter_routes
from certree.synth.fine.fine_schedule import MOST_HOPS, in_fine_slots
from certree.synth.fine.program import Program, Stages
from certree.synth.method import Options, Request, Tier, method, whole_number
from certree.synth.ranks.layout import layout_of

MOST_PIECES = 64  # of a share
MOST_ROWS = 1 << 12  # of a program that is tried where the number of pieces is not given
DEPTHS = 2  # the most messages that a piece has taken to an endpoint that sends it on
FEW = (1, 4, 8)  # pieces that all go to groups


@dataclass(frozen=True)
class Parts:
    """Parts of the message. `shared`: rounds of pieces, in each of which every relay gets one and sends it to all others.
    `crossing`: rounds in which every member of the root's group gets one and sends it to its counterparts in the other groups; they
    all send it to their own group. `grouped`: pieces that the root sends to one relay of every group, which sends it to the others.
    """

    shared: int = 0
    crossing: int = 0
    grouped: int = 0

    def __str__(self) -> str:
        crossing = f", {self.crossing} for each neighbour" if self.crossing else ""
        return f"{self.shared} piece(s) for each relay{crossing}, {self.grouped} for groups"


@method(
    "scatter-all-gather",
    [CollectiveKind.BROADCAST, CollectiveKind.REDUCE],
    options={name: whole_number(None, 0, MOST_PIECES) for name in ("pieces", "crossing", "grouped")},
    tier=Tier.SMALL,
    order=74,
    is_sized=True,
    is_anytime=True,
    compares=True,
    takes_members=True,
)
def scatter_all_gather(request: Request, options: Options) -> Schedule:
    """The root sends each other endpoint shares of the message, which it passes on to all others; in fine slots.

    A reduce is the same backwards. The more pieces, the earlier relays can begin. Among three endpoints or more. Options: pieces=P
    of each share; crossing=C pieces for each neighbour in the root's group (endpoints on one switch, or in one row), which sends
    them to its counterparts in the other groups, and these to their neighbours; grouped=G pieces that the root sends to one
    endpoint of each group. Without options numbers that suit the network and the size are compared. (N - 1)² rows for each of the P
    pieces, and N - 1 for each of the others.
    """
    if len(request.members) < 3:
        raise UnsupportedError(f"scatter-all-gather needs three endpoints or more; there are {len(request.members)}")
    return in_fine_slots(request, _programs(request, options), "scatter-all-gather", options)


def _programs(request: Request, options: Options) -> Iterator[tuple[str, Program]]:
    root, grid = request.collective.root, _grid(request)
    others = request.members[request.members != root]
    for parts in _choices(request, options, grid):
        stages = Stages()
        chunks = _shared(stages, request, others, parts.shared)
        if grid is not None:
            chunks = _crossing(stages, request, grid, range(chunks, chunks + parts.crossing * len(grid[0])))
            chunks = _grouped(stages, request, grid, range(chunks, chunks + parts.grouped))
        roots = np.full(chunks, root)
        yield str(parts), stages.program(request.topology, request.collective, roots, lighter_routes(request.topology))


def _choices(request: Request, options: Options, grid: Int32 | None) -> Iterator[Parts]:
    """Yield the parts to compare, the likely fastest first. About √(granules / relays) pieces of each share keep headers and the
    work of the last piece in balance."""
    if any(value is not None for value in options.values()):
        yield _given(request, options, grid)
        return
    count = len(request.members) - 1
    many = _pieces(request, count, count**2)
    if grid is None:
        found = [Parts(2 * many), Parts(many)]
    elif request.topology.is_direct:
        across = _pieces(request, len(grid[0]), len(grid[0]) * count)
        found = [Parts(crossing=across), Parts(crossing=2 * across), Parts(many)]
    else:
        found = [Parts(many, grouped=-(-many // share)) for share in (1, 2, 4)]
    if many <= FEW[-1]:
        found = [*(Parts(grouped=few) for few in reversed(FEW) if grid is not None), *found, Parts(1)]
    fitting = [parts for parts in dict.fromkeys(found) if parts.shared * count**2 <= MOST_HOPS]
    if not fitting:
        raise UnsupportedError(f"scatter-all-gather would pass {count**2} links here; fine slots are made for up to {MOST_HOPS}")
    yield from fitting


def _given(request: Request, options: Options, grid: Int32 | None) -> Parts:
    given = Parts(*(options[name] or 0 for name in ("pieces", "crossing", "grouped")))
    if given == Parts():
        raise UnsupportedError("scatter-all-gather: pieces, crossing and grouped are 0, which leaves nothing to send")
    if grid is None and (given.crossing or given.grouped):
        name = request.topology.name
        raise UnsupportedError(f"scatter-all-gather: the endpoints of {name} have no equal groups; crossing=0 and grouped=0")
    return given


def _pieces(request: Request, relays: int, rows: int) -> int:
    """The number of pieces, a power of two, for that many relays, where each piece of a relay takes `rows` rows."""
    granules = -(-request.message_bytes // request.machine.flit_bytes)
    near = max(1, min(isqrt(granules // relays), MOST_ROWS // rows, MOST_PIECES // 2))
    return 1 << (near.bit_length() - 1)


def _grid(request: Request) -> Int32 | None:
    """A row for each group of neighbours, the root's first, and in it the root; None where there is only one group, where groups
    differ in size, or where not all endpoints take part."""
    if request.collective.members is not None:
        return None
    try:
        layout = layout_of(request.topology, None)
    except UnsupportedError:
        return None
    grid = layout.nodes.reshape(-1, layout.sizes[0])
    row, place = (int(side[0]) for side in np.nonzero(grid == request.collective.root))
    return None if len(grid) < 2 else np.roll(grid, (-row, -place), axis=(0, 1))


def _shared(stages: Stages, request: Request, others: Int32, rounds: int) -> int:
    """Add rounds of pieces, one for each relay, which sends first to the relay after it. Returns the number of chunks."""
    count = len(others)
    chunk, ahead = (side.ravel() for side in np.indices((rounds * count, count)))
    relay, first = chunk % count, ahead == 0
    _send(stages, request, chunk[first], request.collective.root, others[relay[first]], 0)
    _send(stages, request, chunk[~first], others[relay[~first]], others[(relay + ahead)[~first] % count], 1)
    return rounds * count


def _crossing(stages: Stages, request: Request, grid: Int32, chunks: range) -> int:
    """Add pieces for the members of the root's group in turn, the root last. Returns the number of the next chunk."""
    root, size = request.collective.root, grid.shape[1]
    depth = np.minimum(np.arange(1, len(grid) + 1), DEPTHS)  # in which the members of each group that have a piece send it
    for chunk in chunks:
        place = (chunk + 1 - chunks.start) % size
        column = grid[:, place]
        if place:
            _send(stages, request, chunk, root, column[:1], 0)
        _send(stages, request, chunk, column[0], column[1:], 1)
        for ahead in range(1, size):
            to = grid[:, (place + ahead) % size]
            needs = to != root
            _send(stages, request, chunk, column[needs], to[needs], depth[needs])
    return chunks.stop


def _grouped(stages: Stages, request: Request, grid: Int32, chunks: range) -> int:
    """Add pieces for groups, whose members take turns as relays. Returns the number of the next chunk."""
    for chunk in chunks:
        for members in (grid[0, 1:], *grid[1:]):
            relay = members[chunk % len(members)]
            _send(stages, request, chunk, request.collective.root, relay, 0)
            _send(stages, request, chunk, relay, members[members != relay], 1)
    return chunks.stop


def _send(stages: Stages, request: Request, chunk: Any, sender: Any, to: Any, depth: Any) -> None:
    """Add messages that leave their sender after it got the piece in a message of smaller depth; for a reduce they are reversed."""
    if not np.size(to):
        return
    if request.collective.reduces:
        stages.add(chunk, Op.REDUCE, to, sender, stage=DEPTHS - depth)
    else:
        stages.add(chunk, Op.COPY, sender, to, stage=depth)
