"""The rings and trees of NCCL as schedules."""

from fractions import Fraction

import numpy as np

from certree.extras.clusters.running.channels import RING, TREE, Channels, depths
from certree.models.common.errors import InputError, UnsupportedError
from certree.models.network.topology import Int32
from certree.models.schedule.collective import SYMMETRIC_KINDS, CollectiveKind
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import Op
from certree.synth.method import Request
from certree.synth.methods.rings.ring_algorithm import around
from certree.synth.methods.trees.double_binary_tree import ROOT
from certree.synth.phases import joined
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
    """In how many parts a message goes side by side to fill wide links: the number with the fewest rounds for its size."""
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
    """Each ring with its part of the message: N - 1 steps per phase."""
    collective, nodes = request.collective, request.topology.endpoints
    if collective.kind not in SYMMETRIC_KINDS:
        raise UnsupportedError(f"{method}: rings make {', '.join(SYMMETRIC_KINDS)}, not {collective.kind}")
    _require_rows(len(channels.rings) * len(nodes) * 2 * (len(nodes) - 1), method)
    orders = [nodes[list(ring)] for ring in channels.rings]
    rank = np.searchsorted(nodes, np.arange(len(request.topology.kind))).astype(np.int32)
    columns = joined(collective, around(orders, rank, behind=1), around(orders, rank, behind=0))
    roots, options = np.tile(nodes, len(orders)), {"algorithm": RING, "found_channels": len(orders)}
    once = embed(request, roots, columns, method=method, options=options)
    parts = _parts(once)
    made = once if parts == 1 else embed(request, roots, columns, method=method, options=options | {"channels": parts})
    return request.remember(made)


def _trees(channels: Channels, request: Request, method: str) -> Schedule:
    """Each tree with its part of the message, in as many pieces as are fastest: the sum of a piece goes up, and then down."""
    if request.collective.kind is not CollectiveKind.ALL_REDUCE:
        raise UnsupportedError(f"{method}: trees make all-reduce, not {request.collective.kind}")
    transfers = 2 * (channels.ranks - 1) * len(channels.trees)
    _require_rows(transfers, method)
    most = min(256, MAX_ROWS // transfers)
    parents = [np.array(tree, np.int32) for tree in channels.trees]
    parts = _parts(_pieces(parents, request, min(most, 8), 1, method))
    if most < 2 * parts:
        return request.remember(_pieces(parents, request, 1, parts, method))
    made = shortest_pipeline(request, lambda pieces: _pieces(parents, request, pieces, parts, method), most // parts)
    return request.remember(made)


def _pieces(trees: list[Int32], request: Request, pieces: int, parts: int, method: str) -> Schedule:
    rows, nodes = Rows(), request.topology.endpoints
    for number, parents in enumerate(trees):
        depth = depths(parents)
        child = np.flatnonzero(parents != ROOT)
        piece = np.arange(pieces)[:, None]
        chunk, height = number * pieces + piece, _heights(parents, depth)
        rows.add(chunk, Op.REDUCE, height[child] + piece, nodes[child], nodes[parents[child]])
        start = int(height[parents == ROOT][0])
        rows.add(chunk, Op.COPY, start + depth[child] - 1 + piece, nodes[parents[child]], nodes[child])
    roots = np.zeros(len(trees) * pieces, np.int32)
    options = {"algorithm": TREE, "found_channels": len(trees), "pieces": pieces, "channels": parts}
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
