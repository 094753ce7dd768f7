"""Double binary tree: two trees, each over all ranks and for half of the message, the inner nodes of one being leaves of the other.

Sources: Sanders, Speck and Träff, "Two-tree algorithms for full bandwidth broadcast, reduction and scan" (2009): the pair of trees,
and the colouring of their edges by even and odd steps in which no node sends or receives for both; Jeaugey, "Massively scale your
deep learning training with NCCL 2.4" (2019): the trees of an all-reduce, as its library builds them.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.models.common.errors import UnsupportedError
from certree.models.network.topology import Int32
from certree.models.schedule.collective import CollectiveKind
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import Op
from certree.synth.method import Options, Request, Variant, flag, method
from certree.synth.price import Price
from certree.synth.ranks.embedding import MOST_PIECES, ROUNDS, SERIALIZED, Rows, embed, shortest_pipeline

ROOT = -1
_ONE_WAY = (CollectiveKind.BROADCAST, CollectiveKind.REDUCE)


@method(
    "double-binary-tree",
    [CollectiveKind.ALL_REDUCE, *_ONE_WAY],
    options={"overlap": flag(False), **ROUNDS},
    order=13,
    side_by_side=True,
    is_sized=True,
    price=lambda request, _: Price(2 * len(request.members) * MOST_PIECES),
    variants=[Variant({"overlap": "true"}, in_auto=False)],
)
def double_binary_tree(request: Request, options: Options) -> Schedule:
    """Two binary trees of half the message each, pipelined, their edges by turns in even and odd steps.

    So no node sends, or receives, for both trees at once. All-reduce: the sum goes up, then down, on NCCL's trees. Broadcast and
    reduce: one of the two phases, on trees that both hang below the requested root, as in Sanders et al. In an all-reduce,
    overlap=true sends a chunk down as soon as it is summed, while later chunks go up; otherwise the second phase starts after the
    first. K, even, is half for either tree; by default the power of two, up to 256, from which twice as many take longer. Without
    overlap no two transfers of a step share a link of a single switch; on a torus routes meet. Option: rounds=serialized|published.
    """
    if options["overlap"] and request.collective.kind in _ONE_WAY:
        raise UnsupportedError(f"double-binary-tree: {request.collective.kind} has one phase; overlap=true needs two")
    count = len(request.topology.endpoints)
    parents = rooted_trees(count) if request.collective.has_one_root else nccl_trees(count)
    chunks = (
        request.chunks or shortest_pipeline(request, lambda k: _pipeline(request, parents, k, {**options, **SERIALIZED})).chunks
    )
    return _pipeline(request, parents, chunks, options)


def binary_tree(count: int) -> Int32:
    """Parent of each place 0 .. count - 1: ROOT at place 0, below it an in-order binary tree of the others, odd places leaves."""
    place = np.arange(count)
    low = place & -place
    up = (place ^ low) | (low << 1)
    parent = np.where(up < count, up, place ^ low)
    parent[0] = ROOT
    return parent.astype(np.int32)


def placed(tree: Int32, places: NDArray[Any]) -> Int32:
    """Parent of each rank where rank r stands at places[r] of a tree."""
    rank_at = np.argsort(places)
    above = tree[places]
    return np.where(above == ROOT, ROOT, rank_at[above]).astype(np.int32)


def nccl_trees(count: int) -> Int32:
    """Parents in the two trees, shape (2, ranks): ranks in order, and mirrored (even count) or moved on by one (odd count), so
    that odd ranks are leaves of the first and even ranks of the second.
    """
    tree, rank = binary_tree(count), np.arange(count)
    return np.stack((tree, placed(tree, (rank - 1) % count if count % 2 else count - 1 - rank)))


def rooted_trees(count: int) -> Int32:
    """Parents in the two trees, shape (2, places), both with place 0 as root. In the second the other places are mirrored (if even
    in number) or moved on by one (if odd), so that odd places are leaves of the first and even ones of the second.
    """
    tree, others = binary_tree(count), np.arange(1, count)
    moved = others[::-1] if len(others) % 2 == 0 else np.roll(others, 1)
    return np.stack((tree, placed(tree, np.concatenate(([0], moved)))))


def colours(parents: Int32) -> Int32:
    """0 or 1 for the edge above each rank in each tree, shape (2, ranks): edges that end at a node have different colours if both
    lead into it from below, or both out of it upwards.

    No node has more than two of either kind, so the edges that must differ form paths and even cycles, which two colours do.
    """
    import networkx as nx  # noqa: PLC0415 - slow to load, and all methods are loaded together

    edges = [(tree, rank) for tree, row in enumerate(parents.tolist()) for rank, parent in enumerate(row) if parent != ROOT]
    ends: dict[tuple[str, int], list[tuple[int, int]]] = {}
    for tree, rank in edges:
        ends.setdefault(("out of", rank), []).append((tree, rank))
        ends.setdefault(("into", int(parents[tree, rank])), []).append((tree, rank))
    conflicts = nx.Graph()
    conflicts.add_nodes_from(edges)
    conflicts.add_edges_from(pair for pair in ends.values() if len(pair) == 2)
    colour = np.zeros(parents.shape, np.int32)
    for (tree, rank), value in nx.bipartite.color(conflicts).items():
        colour[tree, rank] = value
    return colour


def _pipeline(request: Request, parents: Int32, chunks: int, options: Mapping[str, Any]) -> Schedule:
    """The schedule of `chunks` chunks, half of them on each tree, chunk after chunk every two steps."""
    if chunks % 2:
        raise UnsupportedError(f"double-binary-tree halves the message: {chunks} chunks were asked for; allowed: even numbers")
    collective, rows = request.collective, Rows()
    nodes = request.topology.endpoints
    if collective.root is not None:
        nodes = np.roll(nodes, -request.topology.rank[collective.root])
    up, down = edge_steps(parents, colours(parents))
    summed = [int(up[tree, row != ROOT].max()) + 1 for tree, row in enumerate(parents)]
    late = 2 * np.arange(chunks // 2)[:, None]
    start = summed if options["overlap"] else [max(summed) + int(late.max()) if collective.reduces else 0] * 2
    for tree, row in enumerate(parents):
        child = np.flatnonzero(row != ROOT)
        chunk = tree * (chunks // 2) + np.arange(chunks // 2)[:, None]
        begin = start[tree] + start[tree] % 2
        if collective.reduces:
            rows.add(chunk, Op.REDUCE, up[tree, child] + late, nodes[child], nodes[row[child]])
        if collective.gathers:
            rows.add(chunk, Op.COPY, begin + down[tree, child] + late, nodes[row[child]], nodes[child])
    roots = np.full(chunks, collective.root or 0, np.int32)
    return embed(request, roots, rows.columns, method="double-binary-tree", options=options)


def edge_steps(parents: Int32, colour: Int32) -> tuple[Int32, Int32]:
    """The steps of the edge above each rank, upwards and downwards, both from 0: the first of its colour after those it waits
    for."""
    up, down = np.full(parents.shape, -1, np.int32), np.full(parents.shape, -1, np.int32)
    for tree, row in enumerate(parents):
        depth = _depths(row)
        for rank in np.argsort(-depth, kind="stable").tolist():
            if row[rank] != ROOT:
                children = up[tree, row == rank]
                up[tree, rank] = _next(int(children.max(initial=-1)), int(colour[tree, rank]))
        for rank in np.argsort(depth, kind="stable").tolist():
            if row[rank] != ROOT:
                down[tree, rank] = _next(int(down[tree, row[rank]]), int(colour[tree, rank]))
    return up, down


def _next(step: int, colour: int) -> int:
    """The first step after `step` of that parity."""
    return step + 1 + (step + 1 + colour) % 2


def _depths(parents: Int32) -> Int32:
    """Edges from each rank to the root."""
    depth, above = np.zeros(len(parents), np.int32), parents.copy()
    while (alive := above != ROOT).any():
        depth += alive
        above = np.where(alive, parents[above], ROOT)
    return depth
