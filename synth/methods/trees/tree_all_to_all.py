"""All-to-all on MultiTree's trees: the chunks of a root travel down its tree.

Source: "Communication Algorithm-Architecture Co-Design for Distributed Deep Learning" (MultiTree), Section VII-B, which says that
the all-gather trees support an all-to-all and leaves the rest open. Here an edge carries, in the step that the all-gather has for
it, the chunks of all nodes below it as one message.
"""

from dataclasses import replace

import numpy as np

from certree.models.common.errors import UnsupportedError
from certree.models.network.topology import Int32, Topology
from certree.models.schedule.collective import CollectiveKind
from certree.models.schedule.default_shares import chunk_owners
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import Op
from certree.synth import _native
from certree.synth.method import Options, Request, choice, method
from certree.synth.methods.trees.multitree import ORDERS, turns_of
from certree.synth.packing.growth import grow_trees
from certree.synth.phases import Phase
from certree.synth.ranks.embedding import ROUNDS, Rows, embed

MOST_GREEDY = 1 << 19  # transfers for which greedy timing takes seconds


@method(
    "tree-all-to-all",
    [CollectiveKind.ALL_TO_ALL],
    options={"timing": choice("steps", "greedy"), **ORDERS, **ROUNDS},
    order=20,
    takes_demand=True,
)
def tree_all_to_all(request: Request, options: Options) -> Schedule:
    """Each endpoint's chunks for the others go down its MultiTree tree, in the steps of the all-gather on these trees.

    One chunk for each ordered pair. The rounds of a step are the chunks of its largest message, those of a whole subtree, per unit
    of its link. timing=greedy, on direct networks, sends every chunk on its own as soon as a link is free, the one with the longest
    remaining path first, in steps of one round. Options: order and priority as in multitree; rounds=serialized|published.
    """
    topology = request.topology
    count = len(topology.endpoints)
    trees = grow_trees(topology, turns_of("tree-all-to-all", options))
    moves, onward = _down_the_trees(trees, topology.rank[trees.src], topology.rank[trees.dst], count)
    if options["timing"] == "greedy":
        moves = replace(moves, step=_as_links_allow(topology, moves, onward))
    root, target = chunk_owners(topology, request.collective, count * (count - 1))
    rows = Rows()
    rows.add(moves.chunk, Op.COPY, moves.step, moves.src, moves.dst)
    return embed(request, root, rows.columns, chunk_target=target, path=moves.path, method="tree-all-to-all", options=options)


def _down_the_trees(trees: Phase, parent: np.ndarray, child: np.ndarray, count: int) -> tuple[Phase, np.ndarray]:
    """The edges on the path from every root to every other rank, one row for each; chunks are numbered by root, then by target. The
    second result is, for each row, the next row of its chunk, -1 at the target.

    `parent`, `child`: ends of the trees' edges, by rank. O(N² · depth) rows.
    """
    edge = np.full((count, count), -1, np.int64)  # by tree and rank: the edge above it
    edge[trees.chunk, child] = np.arange(len(child))
    tree, target = np.nonzero(edge >= 0)
    chunk = tree * (count - 1) + target - (target > tree)
    chunks, rows, onward, at = [], [], [], target
    after, first = np.full(len(tree), -1), 0
    while len(at):
        above = edge[tree, at]
        chunks.append(chunk)
        rows.append(above)
        onward.append(after)
        after, first = first + np.arange(len(at)), first + len(at)
        below_root = parent[above] != tree
        tree, chunk, at, after = tree[below_root], chunk[below_root], parent[above][below_root], after[below_root]
    row = np.concatenate(rows)
    moves = Phase(
        chunk=np.concatenate(chunks).astype(np.int32),
        step=trees.step[row],
        src=trees.src[row],
        dst=trees.dst[row],
        path=None if trees.path is None else trees.path[row],
    )
    return moves, np.concatenate(onward)


def _as_links_allow(topology: Topology, moves: Phase, onward: np.ndarray) -> Int32:
    """The step of every row by list scheduling, longest remaining path first. O(steps · links + rows log rows)."""
    if not topology.is_direct:
        raise UnsupportedError(f"tree-all-to-all: timing=greedy needs a direct network; {topology.name} has switches")
    if len(onward) > MOST_GREEDY:
        raise UnsupportedError(f"tree-all-to-all: timing=greedy covers up to {MOST_GREEDY} transfers; here are {len(onward)}")
    slots, _ = _native.schedule_jobs(
        link_offset=np.arange(len(onward) + 1, dtype=np.int32),
        link=topology.pair_index(moves.src, moves.dst).astype(np.int32),
        reducer=np.full(len(onward), -1, np.int32),
        group=moves.chunk,
        successor_offset=np.concatenate(([0], np.cumsum(onward >= 0))).astype(np.int32),
        successor=onward[onward >= 0].astype(np.int32),
        capacity=topology.pair_capacity,
        reducers=len(topology.kind),
        delay=1,
        period=0,
        reductions=0,
        tries=1,
        work=0,
        stagger=0,
        seed=0,
        turn=np.zeros(0, np.int32),
    )
    return slots
