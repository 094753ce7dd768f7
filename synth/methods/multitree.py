"""MultiTree: one spanning tree per node, all trees grown together, one link allocation at a time.

Source: "MultiTree", Section III-C, Algorithm 1 and its description; its authors' released program takes turns in another order.
"""

from dataclasses import dataclass

import numpy as np

from certree.models.collective import SYMMETRIC_KINDS
from certree.models.schedule import Schedule
from certree.models.topology import Topology
from certree.synth.method import METHODS, Request, read_options, require_collective, require_direct, require_shape
from certree.synth.phases import Phase, by_reversal, compose


@METHODS.register("multitree")
def multitree(request: Request) -> Schedule:
    """One tree per node, grown top-down in turns; the reverse of the all-gather is the reduce-scatter (Algorithm 1).

    One chunk per endpoint, rooted there. All-reduce takes twice the steps of one phase. No options.
    """
    require_collective(request, "multitree", SYMMETRIC_KINDS)
    require_direct(request, "multitree")
    options = read_options(request, "multitree", {})
    reduce, gather = by_reversal(request, grow_trees)
    schedule = compose(request, request.topology.endpoints, reduce, gather, request.provenance("multitree", options))
    require_shape(request, "multitree", schedule.chunks, schedule.steps)
    return request.offer(schedule)


@dataclass
class _Tree:
    """A tree that grows: who is in it, and the links that may still add a node, in the order of the paper's search."""

    inside: bytearray
    missing: int
    open_pairs: list[int]  # pair numbers p -> c: p in the order of adding, c in link order; c was outside when last looked at
    fresh: list[int]  # nodes added in this step, which cannot be parents before the next one
    position: int = 0  # no pair before this one can add a node in this step


def grow_trees(topology: Topology) -> Phase:
    """The all-gather of Algorithm 1: transfers p -> c of tree (chunk) number = rank of its root, steps from 0.

    As printed: in every step the link graph is fresh; trees take turns by ascending root; in its turn a tree adds one node, the
    first link p -> c in breadth-first order of the p that joined in *earlier* steps, and in link order at p (Y-, Y+, X-, X+ on
    grids), such that the link is free and c outside; line 7, "while there are free edges to add new nodes", ends the step when a
    whole round of turns added nothing. A pair of nodes joined by capacity c can be used c times a step.

    Within a step links only fill up and trees only grow, so each tree walks its list of pairs once a step.
    Time O(steps · N · links) at worst, in practice the frontier of each tree a step; memory O(N · frontier + N^2).
    """
    endpoints = topology.endpoints.tolist()
    heads: list[int] = topology.pair_dst.tolist()
    tails: list[int] = topology.pair_src.tolist()
    pairs_out = _pairs_in_link_order(topology)
    capacity: list[int] = topology.pair_capacity.tolist()
    trees = []
    for root in endpoints:
        inside = bytearray(len(topology.kind))
        inside[root] = 1
        trees.append(_Tree(inside, len(endpoints) - 1, list(pairs_out[root]), []))
    chunk: list[int] = []
    step: list[int] = []
    used: list[int] = []
    now = 0
    while growing := [index for index, tree in enumerate(trees) if tree.missing]:
        free = capacity.copy()
        while growing:
            growing = [index for index in growing if _add_one(trees[index], heads, free, chunk, used, index)]
        step += [now] * (len(chunk) - len(step))
        for tree in trees:
            _open_fresh(tree, heads, pairs_out)
        now += 1
    return Phase(
        chunk=np.array(chunk, np.int32),
        step=np.array(step, np.int32),
        src=np.array([tails[pair] for pair in used], np.int32),
        dst=np.array([heads[pair] for pair in used], np.int32),
    )


def _pairs_in_link_order(topology: Topology) -> list[list[int]]:
    """For each node its outgoing joined pairs, in the order of their first link."""
    out: list[dict[int, None]] = [{} for _ in topology.kind]
    for tail, pair in zip(topology.src.tolist(), topology.pair_of_link.tolist(), strict=True):
        out[tail][pair] = None
    return [list(pairs) for pairs in out]


def _add_one(tree: _Tree, heads: list[int], free: list[int], chunk: list[int], used: list[int], index: int) -> bool:
    """One turn of a tree: add the first node that it can; False when it can add no more in this step."""
    for position in range(tree.position, len(tree.open_pairs)):
        pair = tree.open_pairs[position]
        head = heads[pair]
        if free[pair] and not tree.inside[head]:
            free[pair] -= 1
            tree.inside[head] = 1
            tree.missing -= 1
            tree.fresh.append(head)
            chunk.append(index)
            used.append(pair)
            tree.position = position + 1
            return True
    return False


def _open_fresh(tree: _Tree, heads: list[int], pairs_out: list[list[int]]) -> None:
    """Between steps: the nodes just added become parents, and pairs into the tree are forgotten."""
    if tree.fresh:
        tree.open_pairs += [pair for node in tree.fresh for pair in pairs_out[node]]
        tree.open_pairs = [pair for pair in tree.open_pairs if not tree.inside[heads[pair]]]
        tree.fresh = []
    tree.position = 0
