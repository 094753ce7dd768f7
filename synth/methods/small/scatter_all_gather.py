"""Broadcasts in shares: one relay passes each share on to all others. Reduces: the same backwards.

Source: Barnett, Gupta, Payne, Shuler, van de Geijn and Watts, "Interprocessor collective communication library (InterCom)" (SHPCC
1994), where an all-gather follows a scatter. Here each share leaves as soon as it can, and the two overlap. That shares come in
several pieces, and that some pieces go to each group of neighbours, is certree's.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import isqrt

import numpy as np

from certree.models.common.errors import UnsupportedError
from certree.models.network.topology import Int32
from certree.models.schedule.collective import CollectiveKind
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import Op
from certree.synth.fine.program import Program, Stages
from certree.synth.fine.schedule import in_fine_slots
from certree.synth.fine.ways import lighter_ways
from certree.synth.method import Options, Request, Tier, method, whole_number
from certree.synth.ranks.layout import layout_of

MOST_PIECES = 64  # of a share
MOST_ROWS = 1 << 12  # of a program that is tried where the number of pieces is not given
FEW = (1, 4, 8)  # pieces that all go to groups


@dataclass(frozen=True)
class Parts:
    """`shared`: rounds of pieces, in each of which every relay gets one and sends it to all others; `grouped`: pieces of which the
    root sends each to one relay of every group, which sends it to the others of its group. The latter leave last."""

    shared: int
    grouped: int

    def __str__(self) -> str:
        return f"{self.shared} piece(s) for each relay, {self.grouped} for groups"


@method(
    "scatter-all-gather",
    [CollectiveKind.BROADCAST, CollectiveKind.REDUCE],
    options={"pieces": whole_number(None, 0, MOST_PIECES), "grouped": whole_number(None, 0, MOST_PIECES)},
    tier=Tier.SMALL,
    order=74,
    is_sized=True,
    is_anytime=True,
    compares=True,
    takes_members=True,
)
def scatter_all_gather(request: Request, options: Options) -> Schedule:
    """The root sends each other endpoint shares of the message, which that one passes on to all others; in fine slots.

    A reduce is the same backwards. The more pieces, the earlier relays can begin; the last pieces go to one relay in each group of
    neighbours, which has few to send to. Among three endpoints or more. Options: pieces=P of each share, grouped=G further pieces
    that go to groups; without them numbers that suit the size are compared. (N - 1)² rows for each of the P pieces.
    """
    if len(request.members) < 3:
        raise UnsupportedError(f"scatter-all-gather needs three endpoints or more; there are {len(request.members)}")
    return in_fine_slots(request, _programs(request, options), "scatter-all-gather", options)


def _programs(request: Request, options: Options) -> Iterator[tuple[str, Program]]:
    root = request.collective.root
    others, group = request.members[request.members != root], _group(request)
    for parts in _choices(request, options["pieces"], options["grouped"], group is not None):
        stages = Stages()
        chunks = _shared(stages, request, others, parts.shared)
        for chunk in range(chunks, chunks + parts.grouped):
            _grouped(stages, request, others, group, chunk)
        roots = np.full(chunks + parts.grouped, root)
        yield str(parts), stages.program(request.topology, request.collective, roots, lighter_ways(request.topology))


def _choices(request: Request, pieces: int | None, grouped: int | None, has_groups: bool) -> Iterator[Parts]:
    """The parts to compare, those first that are likely to be fast. About √(granules / endpoints) pieces of each share keep headers
    and the work of the last piece in balance."""
    count = len(request.members) - 1
    if pieces is not None or grouped is not None:
        given = Parts(1 if pieces is None else pieces, grouped or 0)
        if given == Parts(0, 0):
            raise UnsupportedError("scatter-all-gather: pieces=0 and grouped=0 leave nothing to send")
        if given.grouped and not has_groups:
            raise UnsupportedError(f"scatter-all-gather: the endpoints of {request.topology.name} have no equal groups; grouped=0")
        yield given
        return
    granules = -(-request.message_bytes // request.machine.flit_bytes)
    near = max(1, min(isqrt(granules // count), MOST_ROWS // count**2))
    many = 1 << (near.bit_length() - 1)
    found = [Parts(many, -(-many // share)) for share in (1, 2, 4)] if has_groups else [Parts(2 * many, 0), Parts(many, 0)]
    if many <= FEW[-1]:
        found = [*(Parts(0, few) for few in reversed(FEW) if has_groups), *found, Parts(1, 0)]
    yield from dict.fromkeys(found)


def _group(request: Request) -> Int32 | None:
    """By node the number of its group: endpoints on one switch, or in one row. None where there is only one group, where groups
    differ in size, or where not all endpoints take part."""
    if request.collective.members is not None:
        return None
    try:
        layout = layout_of(request.topology, None)
    except UnsupportedError:
        return None
    if len(layout.sizes) < 2:
        return None
    group = np.zeros(len(request.topology.kind), np.int32)
    group[layout.nodes] = np.arange(len(layout.nodes)) // layout.sizes[0]
    return group


def _shared(stages: Stages, request: Request, others: Int32, rounds: int) -> int:
    """Rounds of pieces, one for each relay; each sends first to the one after it. Returns the number of chunks."""
    count = len(others)
    chunk, ahead = (side.ravel() for side in np.indices((rounds * count, count)))
    relay, first = chunk % count, ahead == 0
    _send(stages, request, chunk[first], None, others[relay[first]])
    _send(stages, request, chunk[~first], others[relay[~first]], others[(relay + ahead)[~first] % count])
    return rounds * count


def _grouped(stages: Stages, request: Request, others: Int32, group: Int32 | None, chunk: int) -> None:
    """A piece for groups; the members of a group take turns as relays."""
    assert group is not None
    for number in np.unique(group[others]).tolist():
        members = others[group[others] == number]
        relay = members[chunk % len(members)]
        _send(stages, request, np.array([chunk]), None, relay)
        _send(stages, request, np.full(len(members) - 1, chunk), relay, members[members != relay])


def _send(stages: Stages, request: Request, chunk: Int32, relay: Int32 | None, to: Int32) -> None:
    """From the root, or from a relay; a reduce has the messages turned round, in the opposite order."""
    if not len(chunk):
        return
    sender = np.int32(request.collective.root or 0) if relay is None else relay
    if request.collective.reduces:
        stages.add(chunk, Op.REDUCE, to, sender, stage=int(relay is None))
    else:
        stages.add(chunk, Op.COPY, sender, to, stage=int(relay is not None))
