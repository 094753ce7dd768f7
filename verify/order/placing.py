"""The least length of a sum in one order: where its parts are made, and the tree along which it goes to all that need it.

Lengths of links are whole numbers. Every part of an expression is made at one node; f(e, v), the least length with which the value
of e comes to v, is the closure under shortest paths of f(a, .) + f(b, .) for e = (a, b). The result goes out along an arborescence.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from certree.verify.order.expressions import Expression

Int64 = NDArray[np.int64]
NEVER = 1 << 60  # no path


@dataclass(frozen=True)
class Placing:
    """The places of an expression's vertices (rows) and holders (columns): `made`, the least length with which a vertex is made
    there, and `source`, the holder at which it is made when it is needed there with the least length."""

    made: Int64
    source: Int64


def place_sums(expression: Expression, home: Int64, far: Int64, local: Int64 | int = 0) -> Placing:
    """The places where the sums of an expression are made. `home`: for each rank number the holder that has its contribution;
    `far`: the distances between holders, NEVER where there is no path; `local`: for each holder the cost of a sum there whose
    operands are both made there. O(N · holders²)."""
    holders, count = len(far), len(expression.ranks) + len(expression.parts)
    made, source = np.full((count, holders), NEVER, np.int64), np.empty((count, holders), np.int64)
    comes = np.empty_like(made)
    made[np.arange(len(home)), home] = 0
    source[: len(home)], comes[: len(home)] = home[:, None], far[home]
    across = np.arange(holders)
    for number, (a, b) in enumerate(expression.parts, len(home)):
        both = (source[a] == across) & (source[b] == across)
        made[number] = np.minimum(comes[a] + comes[b] + local * both, NEVER)
        routes = made[number][:, None] + far
        source[number] = routes.argmin(axis=0)
        comes[number] = np.minimum(routes[source[number], across], NEVER)
    return Placing(made, source)


def least_branching(length: Int64) -> tuple[int, Int64]:
    """(length, parents) of the shortest arborescence from node 0 by a matrix of lengths, NEVER where no link leads.

    Chu and Liu's algorithm, cycles of one level at once. The length is a lower bound whatever the code does with cycles: each level
    takes from all links into each set, which every arborescence enters, the least that is left of one of them.
    """
    count = len(length)
    if count == 1:
        return 0, np.zeros(1, np.int64)
    best = length.argmin(axis=0)
    best[0] = 0
    least = length[best, np.arange(count)]
    least[0] = 0
    label, groups = _groups(best)
    if groups == count:
        return int(least.sum()), best
    left = np.where(length >= NEVER, NEVER, length - least)
    order = np.argsort(label, kind="stable")
    first = np.searchsorted(label[order], np.arange(groups))
    rows = np.minimum.reduceat(left[order], first, axis=0)  # from each group to each node
    inner = np.minimum.reduceat(rows[:, order], first, axis=1)
    np.fill_diagonal(inner, NEVER)
    rest, parents = least_branching(inner)
    able = np.where(label[:, None] == parents[label], left, 2 * NEVER)  # by node from where the link into its group may come
    start = able.argmin(axis=0)
    cheap = np.lexsort((able[start, np.arange(count)], label))
    enters = cheap[np.searchsorted(label[cheap], np.arange(1, groups))]  # by group the node that it enters
    best[enters] = start[enters]
    return int(least.sum()) + rest, best


def _groups(best: Int64) -> tuple[Int64, int]:
    """A number for each cycle of a map of nodes and for each node outside of cycles, node 0, which is its own image, being 0."""
    reach = best
    for _ in range(len(best).bit_length()):
        reach = reach[reach]  # on a cycle, for certain
    on_cycle = np.zeros(len(best), np.bool_)
    on_cycle[reach] = True
    lowest = np.arange(len(best))
    for node in np.flatnonzero(on_cycle).tolist():
        around, at = node, int(best[node])
        while at != node:
            around, at = min(around, at), int(best[at])
        lowest[node] = around
    label: Int64 = np.unique(lowest, return_inverse=True)[1]
    return label, int(label.max()) + 1
