"""MultiTree's construction: one spanning tree per endpoint, all grown together, one link allocation at a time.

Source: "Communication Algorithm-Architecture Co-Design for Distributed Deep Learning" (MultiTree), Algorithm 1 and Section III-C.
The loops are in `native/tree_growth.cpp`.
"""

from enum import IntEnum

import numpy as np

from certree.models.common.columns import numbered, ranges
from certree.models.common.errors import UnsupportedError
from certree.models.network.topology import Int32, Topology
from certree.synth import _native
from certree.synth.phases import Phase


class Turns(IntEnum):
    """The order in which trees take turns within a step, and the end of a step."""

    ASCENDING = 0  #: Algorithm 1: by root; a step ends when a whole round of turns adds nothing
    REMAINING_HEIGHT = 1  #: Section III-C1: the tree that is farthest from its farthest missing node first
    AUTHORS = 2  #: the released program: see `grow_trees`


def grow_trees(topology: Topology, turns: Turns = Turns.ASCENDING, members: Int32 | None = None, arity: int | None = None) -> Phase:
    """The all-gather of Algorithm 1: transfers p -> c of tree (chunk) number = rank of its root, steps from 0.

    As printed: in every step the link graph is fresh; trees take turns; in its turn a tree adds one node. The nodes p that joined
    in earlier steps, in the order of joining, look in link order (Y-, Y+, X-, X+ on grids) for a free link to a node c outside the
    tree; line 7, "while there are free edges to add new nodes", ends the step when a whole round of turns added nothing. With
    switches (Section III-C3) p looks breadth first over free links through switches, so nodes on its own switch come first, and the
    links of the path are taken together. Links wider than one unit, and parallel ones, count as several edges (Section VII-B).

    Turns.AUTHORS: the first round of all goes by root, every later one, of later steps too, by (priority, root) descending, and a
    step ends when the last tree of a round adds nothing, though others might have. Priorities are `corner_priority` on meshes,
    else 0.

    `members`: the endpoints that take part (Sections III-C1 and VII-B); each has a tree of them alone, and the others pass messages
    on as switches do. `arity`: the k of Section VII-A. With 1 a node has one child at most, so that trees are unary; with k > 1 it
    adds k - 1 in a step at most, so that a tree of n nodes takes log_k n steps at least. UnsupportedError for trees that get
    stuck.

    Time O(steps · N · (nodes + links)) at worst; memory O(N · nodes + N² · hops).
    """
    roots = topology.endpoints if members is None else members
    takes_part = np.zeros(len(topology.kind), np.uint8)
    takes_part[roots] = 1
    out = _pairs_in_link_order(topology)
    out = out[topology.forwards[topology.pair_src[out]] | (takes_part[topology.pair_src[out]] == 1)]
    tree, step, src, dst, pairs, offset = _native.grow_trees(
        endpoint=takes_part,
        offset=np.searchsorted(topology.pair_src[out], np.arange(len(topology.kind) + 1)).astype(np.int32),
        pair=out,
        tail=topology.pair_src.astype(np.int32),
        head=topology.pair_dst.astype(np.int32),
        capacity=topology.pair_capacity,
        roots=roots,
        turns=turns,
        priority=corner_priority(topology)[topology.rank[roots]],
        arity=arity or 0,
    )
    if len(tree) < len(roots) * (len(roots) - 1):
        why = (
            "no member has a free path to one"
            if arity is None
            else f"with k={arity} no member that may have a child has a path to one"
        )
        raise UnsupportedError(f"trees of {topology.name} get stuck before they have all members: {why}")
    path = None if topology.is_direct and len(roots) == len(topology.kind) else _links(topology, step, pairs, offset)
    return Phase(chunk=tree, step=step, src=src, dst=dst, path=path)


def _pairs_in_link_order(topology: Topology) -> Int32:
    """The joined pairs by source, those of one source in the order of their first link."""
    pair, first = np.unique(topology.pair_of_link, return_index=True)
    return np.asarray(pair[np.lexsort((first, topology.pair_src[pair]))], np.int32)


def _links(topology: Topology, step: Int32, pairs: Int32, offset: Int32) -> Int32:
    """The links of each path, shape (paths, hops), filled up with -1. The k-th use of a pair in a step takes the parallel link
    whose share of the pair's capacity, in link order, contains k."""
    hops = np.diff(offset)
    row, place = ranges(0, hops)
    key = step[row].astype(np.int64) * len(topology.pair_capacity) + pairs
    use = numbered(key)
    by_pair = np.argsort(topology.pair_of_link, kind="stable")
    filled = np.cumsum(topology.capacity[by_pair], dtype=np.int64)  # of all links up to each, pair after pair
    before = np.concatenate(([0], np.cumsum(topology.pair_capacity)))[pairs]
    path = np.full((len(step), int(hops.max(initial=1))), -1, np.int32)
    path[row, place] = by_pair[np.searchsorted(filled, before + use, side="right")]
    return path


def corner_priority(topology: Topology) -> Int32:
    """The released program's distance of each rank to the farthest corner of a mesh: |r - r'| + |r' - c'| of a node in row r and a
    corner (r', c'), in place of the intended |r - r'| + |c - c'|; zero on other networks.
    """
    none = np.zeros(len(topology.endpoints), np.int32)
    at = topology.coordinates
    if at is None or at.shape[1] != 2 or not topology.is_direct:
        return none
    steps = np.abs(at[topology.src] - at[topology.dst]).sum(axis=1)
    last = at.max(axis=0)
    sizes = last + 1
    if (steps != 1).any() or len(topology.src) != 2 * (2 * int(sizes.prod()) - int(sizes.sum())):
        return none
    corners = [(0, 0), (0, int(last[1])), (int(last[0]), 0), (int(last[0]), int(last[1]))]
    rows = at[topology.endpoints, 0]
    return np.asarray(np.max([np.abs(rows - row) + abs(row - column) for row, column in corners], axis=0), np.int32)
