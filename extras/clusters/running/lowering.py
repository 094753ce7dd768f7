"""The rings and trees of NCCL as schedules."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from certree.extras.clusters.running.channels import RING, TREE, Channels, depths
from certree.models.common.errors import InputError, UnsupportedError
from certree.models.network.topology import Int32
from certree.models.schedule.collective import SYMMETRIC_KINDS, CollectiveKind
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import Op
from certree.synth.method import Request
from certree.synth.methods.rings.ring_algorithm import round_trips
from certree.synth.methods.trees.double_binary_tree import ROOT
from certree.synth.ranks.embedding import MOST_CHANNELS, Rows, embed, shortest_pipeline
from certree.verify.rules.contention import claims

MAX_ROWS = 1 << 22


def running_schedule(channels: Channels, request: Request, kind: str | None, method: str) -> Schedule:
    """The schedule of rings or trees; of both, the one that is faster by closed form at the size of the request.

    Ranks are the endpoints in the order of their ids. UnsupportedError where neither makes the collective, InputError for another
    number of ranks than endpoints, and where the kind that is asked for is not in the file.
    """
    ends = len(request.topology.endpoints)
    if channels.ranks != ends:
        raise InputError(f"{method}: {channels.ranks} ranks; {request.topology.name} has {ends} endpoints")
    request.collective.require_no_members(f"{method}: rings and trees of all ranks")
    if kind is not None and kind not in channels.kinds:
        raise InputError(f"{method}: {channels.missing[kind]}")
    made = {RING: _rings, TREE: _trees}
    found, refused = [], []
    for one in [kind] if kind is not None else channels.kinds:
        try:
            found.append(made[one](channels, request, method))
        except UnsupportedError as error:
            refused.append(str(error))
    if not found:
        raise UnsupportedError("; ".join(refused))
    return min(found, key=request.rank)


def _parts(schedule: Schedule) -> int:
    """The number of parts in which a message goes side by side to fill wide links: the one with the fewest rounds for its size."""
    claimed = claims(schedule)
    links = len(claimed.capacity)
    key, load = np.unique(schedule.step[claimed.row].astype(np.int64) * links + claimed.resource, return_counts=True)
    step, first = np.unique(key // links, return_index=True)
    capacity = claimed.capacity[key % links]
    most = max(1, min(MOST_CHANNELS, MAX_ROWS // len(schedule.step)))

    def rounds(parts: int) -> Fraction:
        return Fraction(int(np.maximum.reduceat(-(-parts * load // capacity), first).sum()), parts)

    return min(range(1, most + 1), key=rounds) if len(step) else 1


def _rings(channels: Channels, request: Request, method: str) -> Schedule:
    """Each ring with its part of the message, in one set or in two that take turns; from or to a root a chain."""
    collective, ranks, nodes = request.collective, channels.ranks, request.topology.endpoints
    if collective.kind in (CollectiveKind.BROADCAST, CollectiveKind.REDUCE):
        root = int(request.topology.rank[collective.root])
        return _pipelined([_chain(ring, root, collective.kind) for ring in channels.rings], request, RING, method)
    if collective.kind not in SYMMETRIC_KINDS:
        raise UnsupportedError(f"{method}: rings make {', '.join(SYMMETRIC_KINDS)}, broadcast and reduce, not {collective.kind}")
    made = []
    for delay in (1, 2):
        _require_rows(delay * len(channels.rings) * ranks * 2 * (ranks - 1), method)
        roots, columns = round_trips(request, [nodes[list(ring)] for ring in channels.rings] * delay, delay)
        options: dict[str, object] = {"algorithm": RING, "found_channels": len(channels.rings), "delay": delay}
        once = embed(request, roots, columns, delay=delay, method=method, options=options)
        parts = _parts(once)
        more = options | {"channels": parts}
        made.append(once if parts == 1 else embed(request, roots, columns, delay=delay, method=method, options=more))
    return request.remember(min(made, key=request.rank))


def _chain(ring: Sequence[int], root: int, kind: CollectiveKind) -> Int32:
    """The parent of each rank where data go round a ring from a root, or to it."""
    start = ring.index(root)
    order = [*ring[start:], *ring[:start]]
    above = order[:-1] if kind is CollectiveKind.BROADCAST else [*order[2:], root]
    parents = np.full(len(ring), ROOT, np.int32)
    parents[order[1:]] = above
    return parents


def _trees(channels: Channels, request: Request, method: str) -> Schedule:
    """Each tree with its part of the message: the sum of a piece goes up, and then down."""
    if request.collective.kind is not CollectiveKind.ALL_REDUCE:
        raise UnsupportedError(f"{method}: trees make all-reduce, not {request.collective.kind}")
    return _pipelined([np.array(tree, np.int32) for tree in channels.trees], request, TREE, method)


def _pipelined(trees: list[Int32], request: Request, kind: str, method: str) -> Schedule:
    """The schedule in as many pieces as are fastest."""
    transfers = 2 * (len(trees[0]) - 1) * len(trees)
    _require_rows(transfers, method)
    most = min(256, MAX_ROWS // transfers)
    parts = _parts(_pieces(trees, request, min(most, 8), 1, kind, method))
    if most < 2 * parts:
        return request.remember(_pieces(trees, request, 1, parts, kind, method))
    made = shortest_pipeline(request, lambda pieces: _pieces(trees, request, pieces, parts, kind, method), most // parts)
    return request.remember(made)


def _pieces(trees: list[Int32], request: Request, pieces: int, parts: int, kind: str, method: str) -> Schedule:
    rows, nodes, collective = Rows(), request.topology.endpoints, request.collective
    for number, parents in enumerate(trees):
        depth = depths(parents)
        child = np.flatnonzero(parents != ROOT)
        piece = np.arange(pieces)[:, None]
        chunk, height = number * pieces + piece, _heights(parents, depth)
        if collective.reduces:
            rows.add(chunk, Op.REDUCE, height[child] + piece, nodes[child], nodes[parents[child]])
        if collective.gathers:
            start = int(height[parents == ROOT][0]) if collective.reduces else 0
            rows.add(chunk, Op.COPY, start + depth[child] - 1 + piece, nodes[parents[child]], nodes[child])
    roots = np.full(len(trees) * pieces, collective.root or 0, np.int32)
    options = {"algorithm": kind, "found_channels": len(trees), "pieces": pieces, "channels": parts}
    return embed(request, roots, rows.columns, method=method, options=options)


def _heights(parents: Int32, depth: Int32) -> Int32:
    """Edges from each rank to the farthest one below it: the step in which its sum is complete."""
    height = np.zeros(len(parents), np.int32)
    for rank in np.argsort(-depth, kind="stable").tolist():
        if parents[rank] != ROOT:
            height[parents[rank]] = max(height[parents[rank]], height[rank] + 1)
    return height


def _require_rows(rows: int, method: str) -> None:
    if rows > MAX_ROWS:
        raise UnsupportedError(f"{method}: {rows} transfers; allowed: up to {MAX_ROWS}")
