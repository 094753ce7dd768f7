"""Embedding of transfers between ranks in a network: routes, rounds of every step, provenance.

A published algorithm for ranks lists transfers by step, without links. Where transfers of one step meet on a link they take turns:
the step lasts as many rounds as its fullest link needs, which is free of contention by definition and is the shortest such step.
`rounds=published` gives a step the rounds that its messages would need if every pair of ranks had a separate link, as algorithms
are published: one round, or c where a message has c chunks. The verifier then reports contention.

With a demand the chunks of an all-to-all, one for each ordered pair, have the sizes of its blocks; those of no size are left out.

`channels=C` runs the algorithm C times in parallel, each time on its part of the message (NCCL's channels): messages between the
same two ranks can then take different routes, such as the six planes of a DGX-2. `stagger=S` starts each of them S steps after the
one before, so that phases on different links, such as those of hierarchical algorithms, overlap.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.models.common.errors import InputError, UnsupportedError
from certree.models.demand import Demand
from certree.models.network.topology import Int32, Topology
from certree.models.schedule.schedule import Schedule, make_schedule
from certree.models.schedule.schedule_columns import NO_ROOT
from certree.synth.method import Option, Request, choice, require_shape, whole_number
from certree.synth.phases import routes_along
from certree.synth.ranks.route_choice import spread_routes
from certree.synth.rounds import rounds_needed
from certree.verify.rules.contention import granule_rounds

MOST_CHANNELS = 64

MOST_STAGGER = 1 << 16

MOST_PIECES = 256  # of a pipeline whose number of chunks is not asked for

#: the options of every method that uses `embed`: the rounds of steps, the number of parallel channels, steps between their starts
ROUNDS: Mapping[str, Option] = {
    "rounds": choice("serialized", "published"),
    "channels": whole_number(1, 1, MOST_CHANNELS),
    "stagger": whole_number(0, 0, MOST_STAGGER),
}
SERIALIZED = {"rounds": "serialized"}

COLUMNS = ("chunk", "op", "step", "src", "dst")


class Rows:
    """Transfers collected block by block; the columns of a block are broadcast against each other, so each may be one number."""

    def __init__(self) -> None:
        self._blocks: list[tuple[NDArray[Any], ...]] = []

    def add(self, chunk: Any, op: Any, step: Any, src: Any, dst: Any) -> None:
        """One block. ValueError when the shapes do not fit together."""
        block = np.broadcast_arrays(chunk, op, step, src, dst)
        self._blocks.append(tuple(column.ravel() for column in block))

    @property
    def columns(self) -> dict[str, NDArray[Any]]:
        """`chunk`, `op`, `step`, `src`, `dst`, one row each, as `embed` and `make_schedule` take them."""
        types = {"op": np.int8}
        parts = zip(*self._blocks, strict=True) if self._blocks else [()] * len(COLUMNS)
        return {
            name: np.concatenate([np.zeros(0, np.int64), *part]).astype(types.get(name, np.int32))
            for name, part in zip(COLUMNS, parts, strict=True)
        }


def embed(
    request: Request,
    chunk_root: NDArray[Any],
    columns: Mapping[str, NDArray[Any]],
    *,
    chunk_target: NDArray[Any] | None = None,
    path: Int32 | None = None,
    delay: int = 1,
    method: str,
    options: Mapping[str, Any],
) -> Schedule:
    """The schedule of transfers between any two endpoints.

    `columns`: `chunk`, `op`, `step`, `src`, `dst`, ends named by node id; no links are assumed. `chunk_root` and `chunk_target` as
    in `Schedule`; the roots are ignored where the collective has none. A row whose ends are not neighbours takes the route of
    `models.network.routing`, or another as short where those crowd a link (`route_choice`); with `path` (as in `Phase`) the method
    has chosen the links itself. Data are used `delay` steps after they are sent at the earliest. Steps last as `rounds_needed`
    says, or as `rounds_published` with the option rounds=published: such a schedule may be invalid, and its provenance has
    `"published": true`. Raises UnsupportedError when the request wants other numbers of chunks or steps. O(rows log rows + hops).
    """
    published = options.get("rounds") == "published"
    topology, parts, stagger = request.topology, options.get("channels", 1), options.get("stagger", 0)
    demand = request.collective.demand
    if demand is not None and (published or parts > 1):
        raise UnsupportedError(f"{method}: blocks that differ in size go in one channel, in as many rounds as they need")
    if stagger and parts == 1:
        raise InputError(f"{method}: stagger={stagger} is for channels=2 or more, which start one after the other")
    channels = parts * (topology.lanes if demand is None else 1)  # a message over a full link is cut into as many as it has units
    if channels > 1:
        start = np.repeat(np.arange(parts, dtype=np.int32) * np.int32(stagger), topology.lanes)
        columns = _side_by_side(columns, len(chunk_root), start)
        chunk_root = np.tile(chunk_root, channels)
        chunk_target = None if chunk_target is None else np.tile(chunk_target, channels)
        path = None if path is None else np.concatenate([path] * channels)
    granules = None
    if demand is not None and chunk_target is not None:
        columns, chunk_root, chunk_target, granules, path = _demanded(demand, columns, chunk_root, chunk_target, path)
    route, routes = spread_routes(topology, columns) if path is None else routes_along(path)
    schedule = make_schedule(
        topology,
        request.collective,
        chunk_root if request.collective.is_rooted else np.full(len(chunk_root), NO_ROOT, np.int32),
        {**columns, "route": route},
        chunk_target=chunk_target,
        routes=routes,
        chunk_granules=granules,
        delay=delay,
        provenance=request.provenance(method, options, **({"published": True} if published else {})),
    )
    require_shape(request, method, schedule.chunks, schedule.steps)
    if granules is not None:
        return replace(schedule, rounds=granule_rounds(schedule).astype(np.int32))
    return replace(schedule, rounds=rounds_published(schedule) if published else rounds_needed(schedule))


def _demanded(
    demand: Demand, columns: Mapping[str, NDArray[Any]], root: NDArray[Any], target: NDArray[Any], path: Int32 | None
) -> tuple[Mapping[str, NDArray[Any]], NDArray[Any], NDArray[Any], NDArray[np.int64], Int32 | None]:
    """(`columns`, `chunk_root`, `chunk_target`, granules of each chunk, `path`) with the chunks of which the demand has any."""
    size = {(source, sink): granules for source, sink, granules in demand.blocks}
    granules = np.array([size.get(pair, 0) for pair in zip(root.tolist(), target.tolist(), strict=True)], np.int64)
    kept = granules > 0
    rows = kept[columns["chunk"]]
    left = {name: column[rows] for name, column in columns.items()}
    left["chunk"] = (np.cumsum(kept) - 1)[left["chunk"]].astype(np.int32)
    return left, root[kept], target[kept], granules[kept], None if path is None else path[rows]


def _side_by_side(columns: Mapping[str, NDArray[Any]], chunks: int, start: Int32) -> dict[str, NDArray[Any]]:
    """The columns of the same transfers in each channel, from its step of `start` on; channel c has the chunks from c·`chunks`."""
    channels, rows = len(start), len(columns["chunk"])
    copies = {name: np.tile(column, channels) for name, column in columns.items()}
    copies["chunk"] += np.repeat(np.arange(channels, dtype=np.int32) * np.int32(chunks), rows)
    copies["step"] += np.repeat(start, rows)
    return copies


def channels_that_fill(topology: Topology, *, also_narrow: bool = False) -> int:
    """Channels that use all lanes out of an endpoint, at most MOST_CHANNELS; 1 where a single message leaves none of them idle.

    A message leaves lanes idle where links are wide or several lead into switches. `also_narrow`: on routes through endpoints as
    well. O(links).
    """
    is_wide = not topology.is_direct or int(topology.pair_capacity.max()) > topology.lanes
    lanes = int(topology.capacity[topology.src == topology.endpoints[0]].sum()) // topology.lanes
    return max(1, min(lanes, MOST_CHANNELS)) if is_wide or also_narrow else 1


def rounds_published(schedule: Schedule) -> Int32:
    """For every step the chunks of its largest message, at least 1: its length if every pair of ranks had a unit link. O(rows)."""
    nodes = len(schedule.topology.kind)
    key = (schedule.step.astype(np.int64) * nodes + schedule.src) * nodes + schedule.dst
    message, chunks = np.unique(key, return_counts=True)
    rounds = np.ones(schedule.steps, np.int64)
    np.maximum.at(rounds, message // nodes**2, chunks)
    return rounds.astype(np.int32)


def shortest_pipeline(request: Request, make: Callable[[int], Schedule], most: int = MOST_PIECES) -> Schedule:
    """The best of 2, 4, 8, ... chunks, up to `most`, by closed form: the last number from which twice as many take longer."""
    best = make(2)
    fewest = request.cycles(best)
    chunks = 4
    while chunks <= most:
        longer = make(chunks)
        cycles = request.cycles(longer)
        if cycles > fewest:
            break
        best, fewest, chunks = longer, cycles, 2 * chunks
    return best
