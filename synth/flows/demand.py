"""Schedules for a demand: its blocks, cut into chunks of about equal size, along paths that load links evenly."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from certree.models.common.errors import UnsupportedError
from certree.models.demand import Demand
from certree.models.schedule.paths import link_cycles, path_cycles
from certree.models.schedule.schedule import Schedule, make_schedule
from certree.models.schedule.schedule_columns import Op
from certree.synth.flows.paths import SWEEPS, balanced_paths
from certree.synth.flows.slots import moves_of, slots_of
from certree.synth.method import Request, require_shape
from certree.verify.rules.contention import granule_rounds

MOST_CHUNKS = 1 << 17  # that are routed one by one
FEW_CHUNKS = 1 << 13  # up to which smaller chunks are tried, for one unit of effort
LEAST_SWEEPS = 6
PARTS = (1, 2, 4, 8, 16, 32, 64)  # of the largest block, that are tried

Int64 = NDArray[np.int64]


def demanded_schedule(request: Request, demand: Demand, parts: int | None, delay: int) -> Schedule:
    """The schedule that takes least time of those whose chunks are as large as one of so many `parts` of the largest block.

    Time is estimated: each step lasts its rounds and as long as a flit over the longest path. UnsupportedError for more than
    MOST_CHUNKS chunks, and where the request wants other numbers of chunks or steps.
    """
    largest = int(demand.columns[2].max())
    best: tuple[int, Schedule] | None = None
    for count in [parts] if parts else PARTS:
        chunks = cut(demand, -(-largest // count))
        limit = MOST_CHUNKS if best is None else FEW_CHUNKS * request.effort
        if len(chunks[2]) > limit or (best is not None and len(chunks[2]) == best[1].chunks):
            break
        if request.chunks not in (None, len(chunks[2])):
            continue
        made = _in_chunks(request, chunks, delay)
        time = _estimate(request, made)
        if best is None or time < best[0]:
            best = (time, made)
    if best is None:
        wanted = "" if request.chunks is None else f", or not into the {request.chunks} that were asked for"
        raise UnsupportedError(f"flows cuts a demand into up to {MOST_CHUNKS} chunks{wanted}")
    require_shape(request, "flows", best[1].chunks, best[1].steps)
    return best[1]


def cut(demand: Demand, size: int) -> tuple[Int64, Int64, Int64]:
    """(source, target, granules) of chunks of up to `size` granules: as many of that size as a block has, then its rest."""
    source, target, granules = demand.columns
    count = -(-granules // size)
    block = np.repeat(np.arange(len(granules)), count)
    place = np.arange(len(block)) - np.repeat(np.cumsum(count) - count, count)
    return source[block], target[block], np.minimum(size, granules[block] - place * size)


def _in_chunks(request: Request, chunks: tuple[Int64, Int64, Int64], delay: int) -> Schedule:
    topology, (source, target, granules) = request.topology, chunks
    sweeps = max(LEAST_SWEEPS, SWEEPS * request.effort * FEW_CHUNKS // max(FEW_CHUNKS, len(source)))
    paths = balanced_paths(topology, source.astype(np.int32), target.astype(np.int32), request.seed, sweeps)
    moves = moves_of(topology, paths)
    own = np.arange(len(topology.pair_src), dtype=np.int32)
    slots = slots_of(moves, own, topology.pair_capacity, delay, 0, request.seed)
    assert slots is not None  # only a period may be too short
    columns = {"chunk": moves.block, "step": slots, "src": moves.src, "dst": moves.dst, "route": moves.route}
    columns["op"] = np.full(len(slots), Op.COPY, np.int8)
    made = make_schedule(
        topology, request.collective, source, columns, target, routes=moves.routes, delay=delay, chunk_granules=granules,
        provenance=request.provenance("flows", {}, chunk_granules=int(granules.max())),
    )  # fmt: skip
    return replace(made, rounds=granule_rounds(made).astype(np.int32))


def _estimate(request: Request, schedule: Schedule) -> int:
    """About how many cycles it takes: rounds of a granule each, and for each step the way of a head over the longest path."""
    machine, topology = request.machine, request.topology
    hops = max(map(len, schedule.routes), default=1)
    way = path_cycles(machine, int(link_cycles(topology, machine).max()), hops) + machine.head_flits
    return int(schedule.rounds.sum(dtype=np.int64)) * topology.scale + schedule.steps * way
