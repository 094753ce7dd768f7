"""All-to-all on MultiTree's trees: what a root has for a node travels down the root's tree.

Source: "Communication Algorithm-Architecture Co-Design for Distributed Deep Learning" (MultiTree), Section VII-B, which says that
the all-gather trees support an all-to-all and leaves the rest open. Here an edge carries, in the step that the all-gather has for
it, the chunks of all nodes below it as one message.
"""

import numpy as np

from certree.models.chunks import chunk_owners
from certree.models.collective import CollectiveKind
from certree.models.schedule import Op, Schedule
from certree.synth.embedding import ROUNDS, embed
from certree.synth.growth import grow_trees
from certree.synth.method import METHODS, Request, read_options, require_collective
from certree.synth.methods.multitree import ORDERS, turns_of
from certree.synth.phases import Phase


@METHODS.register("tree-all-to-all")
def tree_all_to_all(request: Request) -> Schedule:
    """Each endpoint's chunks for the others go down its MultiTree tree, in the steps of the all-gather on these trees.

    One chunk for each ordered pair. A step lasts as many rounds as its largest message, the chunks of a whole subtree, has chunks a
    unit of its link. Options: order and priority as in multitree; rounds=serialized|published.
    """
    require_collective(request, "tree-all-to-all", [CollectiveKind.ALL_TO_ALL])
    options = read_options(request, "tree-all-to-all", {**ORDERS, **ROUNDS})
    topology = request.topology
    count = len(topology.endpoints)
    trees = grow_trees(topology, turns_of("tree-all-to-all", options))
    moves = _down_the_trees(trees, topology.rank[trees.src], topology.rank[trees.dst], count)
    root, target = chunk_owners(topology, request.collective, count * (count - 1))
    return embed(
        request,
        root,
        {
            "chunk": moves.chunk,
            "op": np.full(len(moves.chunk), Op.COPY, np.int8),
            "step": moves.step,
            "src": moves.src,
            "dst": moves.dst,
        },
        chunk_target=target,
        path=moves.path,
        method="tree-all-to-all",
        options=options,
        published=options["rounds"] == "published",
    )


def _down_the_trees(trees: Phase, parent: np.ndarray, child: np.ndarray, count: int) -> Phase:
    """The edges on the way from every root to every other rank, one row for each; chunks numbered by root, then by target.

    `parent`, `child`: ends of the trees' edges, by rank. O(N² · depth) rows.
    """
    edge = np.full((count, count), -1, np.int64)  # by tree and rank: the edge above it
    edge[trees.chunk, child] = np.arange(len(child))
    tree, target = np.nonzero(edge >= 0)
    chunk = tree * (count - 1) + target - (target > tree)
    chunks, rows, at = [], [], target
    while len(at):
        above = edge[tree, at]
        chunks.append(chunk)
        rows.append(above)
        below_root = parent[above] != tree
        tree, chunk, at = tree[below_root], chunk[below_root], parent[above][below_root]
    row = np.concatenate(rows)
    return Phase(
        chunk=np.concatenate(chunks).astype(np.int32),
        step=trees.step[row],
        src=trees.src[row],
        dst=trees.dst[row],
        path=None if trees.path is None else trees.path[row],
    )
