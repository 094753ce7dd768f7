"""Demands that change: paths are prepared once for a network, and a new matrix takes a few hundredths of a second."""

from fractions import Fraction

import numpy as np

from certree.models.schedule.collective import CollectiveKind
from certree.models.schedule.default_shares import chunk_owners
from certree.models.schedule.schedule import Schedule
from certree.synth.flows.demand_schedule import cut
from certree.synth.flows.message_slots import Chunks, Messages
from certree.synth.flows.prepared_paths import Prepared, prepared
from certree.synth.method import Options, Request, Tier, method, require_shape, whole_number

SWEEPS = 48  # of choosing again, for effort 1
FIRST_SWEEPS = 2  # of whole blocks, by which the size of chunks is chosen
STORED = 8  # a run takes at least this many times as long as a chunk on the longest path, link after link
MORE, LEAST_MORE = 4, 1 << 10  # chunks are at most 1 / MORE more than blocks, or LEAST_MORE, for effort 1
MOST_SLOTS = 1 << 15  # of a run
NEAR = Fraction(103, 100)  # times the load of the fullest link: while runs are longer, late chunks go earlier
SQUEEZES = 4  # and how often at most, for effort 1
MOST_PARTS = 1 << 10


@method(
    "prepared-paths",
    [CollectiveKind.ALL_TO_ALL],
    options={"copies": whole_number(None, 1, MOST_PARTS)},
    published=False,
    tier=Tier.DEMANDS,
    order=24,
    is_sized=True,
    takes_members=True,
    takes_demand=True,
    proved_within=Fraction(11, 10),
)
def prepared_paths(request: Request, options: Options) -> Schedule:
    """Blocks along paths that were prepared for the network: a new demand takes little time.

    For each pair of endpoints a few paths are found once and kept in the process. Large blocks are cut into chunks. Each chunk
    takes the path whose links have the least load, and chooses again a few times. Each transfer then leaves, in fine slots, when
    its chunk is there and its links are free, the one with the longest remaining path first. In a few more rounds, late chunks go
    earlier. Endpoints store and forward. Only a few quick bounds are tried, until one proves 11/10 of the least time (`certify`
    finds better ones). Option: copies=C, chunks of the largest block; by default enough for chunks to be stored on their routes.
    """
    paths = prepared(request.topology, request.seed)
    chunks = _chunks(request, paths, options["copies"])
    path, rounds = paths.chosen(*chunks, SWEEPS * request.effort)
    messages = Messages.of(request, chunks, paths.moves_along(path))
    enough, booked = int(NEAR * messages.fullest), messages.booked(-messages.pressing, patient=False, most_slots=MOST_SLOTS)
    if booked.end > enough:  # helps where links wait for messages that arrive soon
        first = messages.booked(booked.priority, patient=True, most_slots=MOST_SLOTS)
        booked = min(booked, messages.squeezed(first, SQUEEZES * request.effort, MOST_SLOTS, enough), key=lambda one: one.end)
    made = booked.schedule("prepared-paths", {}, load=rounds)
    require_shape(request, "prepared-paths", made.chunks, made.steps)
    return request.offer(made)


def _chunks(request: Request, paths: Prepared, copies: int | None) -> Chunks:
    """The blocks of the request, cut: those of a demand into chunks of about one size, others into `copies`."""
    demand = request.collective.demand
    if demand is not None:
        return cut(demand, -(-int(demand.columns[2].max()) // copies) if copies else _size(request, paths, demand.columns))
    pairs = len(request.members) * (len(request.members) - 1)
    if not copies:
        granules = -(-request.message_bytes // (request.machine.flit_bytes * len(request.members)))
        copies = -(-granules // _size(request, paths, _equal(request, pairs, granules)))
    return _equal(request, copies * pairs, 1)


def _equal(request: Request, chunks: int, size: int) -> Chunks:
    source, target = chunk_owners(request.topology, request.collective, chunks)
    assert target is not None
    return source.astype(np.int64), target.astype(np.int64), np.full(chunks, size)


def _size(request: Request, paths: Prepared, blocks: Chunks) -> int:
    """The number of granules of the largest chunk: small enough to be stored on the route, large enough to keep chunks few."""
    granules = blocks[2]
    path, rounds = paths.chosen(*blocks, FIRST_SWEEPS)
    size = max(1, min(int(granules.max()), rounds // (STORED * paths.most_hops(path))))
    most = len(granules) + max(len(granules) // MORE, LEAST_MORE) * request.effort
    while int((-(-granules // size)).sum()) > most:
        size += size // 2 + 1
    return size
