"""Schedules for a demand: its blocks, cut into chunks of about equal size, along paths that load links evenly.

`demanded_schedule` makes steps for large blocks, and `soonest_schedule` makes fine slots for small ones, message by message.
"""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from certree.models.common.columns import ranges
from certree.models.common.errors import UnsupportedError
from certree.models.demand import Demand
from certree.models.network.topology import NodeKind
from certree.models.schedule.schedule import Schedule, make_schedule
from certree.models.schedule.schedule_columns import Op
from certree.models.schedule.symmetric.symmetric_schedule import written_out
from certree.synth.deadlock_free_routes import with_channels
from certree.synth.flows.block_paths import SWEEPS as FEW_SWEEPS
from certree.synth.flows.block_paths import Paths, balanced_paths
from certree.synth.flows.block_slots import moves_of, slots_of
from certree.synth.flows.message_slots import Booked, Chunks, Messages
from certree.synth.flows.ordered_paths import ordered_paths
from certree.synth.flows.parallel_links import over_parallel_links
from certree.synth.method import Request, require_shape
from certree.verify.rules.contention import granule_rounds

MOST_CHUNKS = 1 << 17  # that are routed one by one
FEW_CHUNKS = 1 << 15  # up to which smaller chunks are tried, for one unit of effort
SWEEPS, LEAST_SWEEPS = 60, 6  # of rerouting, for effort 1: up to FEW_CHUNKS chunks, and of the most
SHARES = (8, 2, 1)  # the most chunks: FEW_CHUNKS over each of these
MOST_PARTS = 128  # of the largest block; its powers of two are tried where they make few chunks
ORDERED = "ordered"
PIECES = (1, 2, 4, 8)  # of the largest block, in fine slots
MOST_ROWS = 1 << 16  # transfers of a program in fine slots
MOST_ROUTES = 1 << 10  # through endpoints, not in the order of dimensions: virtual channels for more take seconds to find
MOST_FINE_SLOTS = 1 << 20
FINALISTS, SQUEEZES = 3, 12  # programs whose late chunks go earlier, and how often, for effort 1

Int64 = NDArray[np.int64]


def demanded_schedule(request: Request, demand: Demand, parts: int | None, delay: int) -> Schedule:
    """The fastest of the schedules whose chunks are as large as the largest block divided by one of `parts`.

    The time of a schedule is that of its transfers booked one after the other (`certree.models.fine.demand_slots`).
    UnsupportedError for more than MOST_CHUNKS chunks, and where the request wants other numbers of chunks or steps.
    """
    best: tuple[int, Schedule] | None = None
    for count in [parts] if parts else _choices(demand, FEW_CHUNKS * request.effort):
        chunks = cut(demand, _size(demand, count))
        if len(chunks[2]) > MOST_CHUNKS or request.chunks not in (None, len(chunks[2])):
            continue
        made = _in_chunks(request, chunks, delay)
        time = request.cycles(made)
        if best is None or time < best[0]:
            best = (time, made)
    if best is None:
        wanted = "" if request.chunks is None else f", or not into the {request.chunks} that were asked for"
        raise UnsupportedError(f"flows cuts a demand into up to {MOST_CHUNKS} chunks{wanted}")
    require_shape(request, "flows", best[1].chunks, best[1].steps)
    made = request.remember(best[1])
    request.monitor.offer(made, best[0])
    return made


def _choices(demand: Demand, few: int) -> list[int]:
    """Numbers of parts of the largest block: powers of two up to the first of SHARES, and the largest within each share."""
    granules, found = demand.columns[2], {1}
    chunks = {parts: int((-(-granules // _size(demand, parts))).sum()) for parts in range(1, MOST_PARTS + 1)}
    for share in SHARES:
        found.add(max((parts for parts in chunks if chunks[parts] <= few // share), default=1))
    powers = (1 << power for power in range(MOST_PARTS.bit_length()))
    return sorted(found | {parts for parts in powers if chunks[parts] <= few // SHARES[0]})


def _size(demand: Demand, parts: int) -> int:
    return -(-int(demand.columns[2].max()) // parts)


def cut(demand: Demand, size: int) -> Chunks:
    """(source, target, granules) of chunks of up to `size` granules: as many of that size as a block has, then its rest."""
    source, target, granules = demand.columns
    count = -(-granules // size)
    block, place = ranges(0, count)
    return source[block], target[block], np.minimum(size, granules[block] - place * size)


def _in_chunks(request: Request, chunks: Chunks, delay: int) -> Schedule:
    topology, (source, target, granules) = request.topology, chunks
    sweeps = max(LEAST_SWEEPS, SWEEPS * request.effort * FEW_CHUNKS // max(FEW_CHUNKS, len(source)))
    paths = balanced_paths(topology, source.astype(np.int32), target.astype(np.int32), request.seed, sweeps, size=granules)
    moves = moves_of(topology, paths)
    own = np.arange(len(topology.pair_src), dtype=np.int32)
    slots = slots_of(moves, own, topology.pair_capacity, delay, 0, request.seed)
    assert slots is not None  # only a period may be too short
    route, routes = over_parallel_links(topology, slots, moves.route, moves.routes, size=granules[moves.block])
    columns = {"chunk": moves.block, "step": slots, "src": moves.src, "dst": moves.dst, "route": route}
    columns["op"] = np.full(len(slots), Op.COPY, np.int8)
    made = make_schedule(
        topology, request.collective, source, columns, target, routes=routes, delay=delay, chunk_granules=granules,
        provenance=request.provenance("flows", {}, chunk_granules=int(granules.max())),
    )  # fmt: skip
    return replace(made, rounds=granule_rounds(made).astype(np.int32))


def soonest_schedule(request: Request, demand: Demand, transport: str, method: str) -> Schedule:
    """The schedule in fine slots that ends first, of those that the machine takes, over several choices of paths and numbers of
    pieces. `transport`: each message is "routed" over all links of its path, "stored" at the endpoints on it, or the "best" of
    both.

    Those that end first are booked again, so that late chunks go earlier. UnsupportedError where there is none.
    """
    booked: list[tuple[_Program, Booked]] = []
    for program, messages in _programs(request, demand, transport):
        booked.append((program, messages.booked(-messages.rest, patient=program.is_patient, most_slots=MOST_FINE_SLOTS)))
        if request.monitor.expired:
            break
    booked.sort(key=lambda one: one[1].end)
    rounds, options = SQUEEZES * request.effort, {"transport": transport}
    tried = [(program, one.messages.squeezed(one, rounds, MOST_FINE_SLOTS)) for program, one in booked[:FINALISTS]]
    refused: set[tuple[str, str]] = set()  # paths and transports that the machine does not take
    for program, found in [*sorted(tried, key=lambda one: one[1].end), *booked[FINALISTS:]]:
        if (program.paths, program.transport) in refused:
            continue
        made = written_out(with_channels(found.schedule(method, options, program=program.label), request.machine))
        with suppress(UnsupportedError):
            request.require_runnable(made)
            require_shape(request, method, made.chunks, made.steps)
            return request.offer(made)
        refused.add((program.paths, program.transport))
    raise UnsupportedError(
        f"{method}: no routes of up to {MOST_ROWS} transfers suit the request and machine {request.machine.name}"
    )


class _Program(NamedTuple):
    """A choice for the pieces of blocks: their paths, routed or stored, booked at once or patiently."""

    pieces: int
    paths: str
    transport: str
    is_patient: bool

    @property
    def label(self) -> str:
        """The label of the schedule in its provenance."""
        patience = ", patient" if self.is_patient else ""
        return f"{self.pieces} piece(s) of the largest block, {self.paths} paths, {self.transport}{patience}"


def _programs(request: Request, demand: Demand, transport: str) -> Iterator[tuple[_Program, Messages]]:
    """Yield the messages for each number of pieces, choice of paths, and transport."""
    topology = request.topology
    stops = {"routed": ~topology.forwards, "stored": topology.kind == NodeKind.ENDPOINT}
    for pieces in PIECES:
        chunks = cut(demand, _size(demand, pieces))
        if request.chunks not in (None, len(chunks[0])):
            continue
        for name, paths in _routings(request, chunks):
            rows = 0
            for how, nodes in stops.items():
                moves = moves_of(topology, paths, nodes)
                if transport not in (how, "best") or len(moves.block) in (rows, 0) or len(moves.block) > MOST_ROWS:
                    continue
                if topology.is_direct and name != ORDERED and len(moves.routes) > MOST_ROUTES:
                    continue
                rows, messages = len(moves.block), Messages.of(request, chunks, moves)
                for is_patient in (False, True) if how == "stored" or not topology.is_direct else (False,):
                    yield _Program(pieces, name, how, is_patient), messages


def _routings(request: Request, chunks: Chunks) -> Iterator[tuple[str, Paths]]:
    """Yield paths in the order of dimensions, and those that load links evenly."""
    source, target = chunks[0].astype(np.int32), chunks[1].astype(np.int32)
    if (ordered := ordered_paths(request.topology, source, target)) is not None:
        yield ORDERED, ordered
    for name, sweeps in (("shortest", 0), ("even", FEW_SWEEPS * request.effort)):
        yield name, balanced_paths(request.topology, source, target, request.seed, sweeps, size=chunks[2])
