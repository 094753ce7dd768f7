"""Placings of one order on a network: for lengths of links the cheapest, as the links that each value passes.

A *resource* is a link, by its number, or, numbered after the links, the copy unit of a node, which moves values between its buffers
where both operands of a sum are made.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from certree.models.network.topology import Topology
from certree.models.schedule.collective import Collective
from certree.verify.bounds.witnesses.metric import distances
from certree.verify.order.expressions import Expression
from certree.verify.order.placing import NEVER, Placing, least_branching, place_sums

Int64 = NDArray[np.int64]
ANYWHERE = -1
_LOCAL = 3  # links that a placing may pass more for each move within a node that it saves


@dataclass(frozen=True)
class Move:
    """A value that goes along links; `value`: a vertex of the expression."""

    value: int
    links: tuple[int, ...]


@dataclass(frozen=True)
class Column:
    """One way to add up a chunk and to bring it where it is due. `site`: by vertex the node at which it is made; `root`: where
    the result is due, or from where it goes to all; `moved`: the copy units that it uses; `moves`: of operands to where they are
    added; `out`: of the result, each after the one that brings it to its start."""

    site: tuple[int, ...]
    root: int
    moves: tuple[Move, ...]
    out: tuple[Move, ...]

    moved: tuple[int, ...]

    @cached_property
    def uses(self) -> NDArray[np.int64]:
        """The resources that it uses, each as often as it does: links, and those of `moved`."""
        return np.array([*(link for move in (*self.moves, *self.out) for link in move.links), *self.moved], np.int64)


class Pricing:
    """The cheapest placings of an expression under lengths of links. `hop`: what each link is longer by."""

    hop = 0

    def __init__(self, topology: Topology, collective: Collective, expression: Expression) -> None:
        self.topology, self.expression = topology, expression
        self.gathers = collective.gathers
        self.capacity = np.concatenate((topology.capacity.astype(np.int64), np.ones(len(topology.kind), np.int64)))
        self.members = collective.members_of(topology).astype(np.int64)
        self.holders = topology.endpoints.astype(np.int64)
        self.place = np.full(len(topology.kind), -1, np.int64)
        self.place[self.holders] = np.arange(len(self.holders))
        order = np.argsort(topology.dst, kind="stable")
        ends = np.searchsorted(topology.dst[order], np.arange(len(topology.kind) + 1))
        self._into = [order[low:high] for low, high in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)]

    def cheapest(self, length: Int64, roots: Sequence[int]) -> Iterator[tuple[int, Column]]:
        """(root, placing): for each of `roots` (node ids) the best with the result there; for none, ANYWHERE and the best of
        all."""
        longer = length + self.hop * (np.arange(len(length)) < len(self.topology.src))
        finer = longer * len(self.topology.kind) + 1  # of equally long paths the one with fewer links
        local = finer[len(self.topology.src) + self.holders] + _LOCAL
        far = np.minimum(distances(self.topology, finer, self.holders), NEVER)
        among = far[:, self.holders]
        placing = place_sums(self.expression, self.place[self.members], among, local)
        for root in roots:
            yield root, self._column(placing, far, finer, root, ())
        if not roots:
            root, edges = self._tree(placing.made[-1], far, finer)
            yield ANYWHERE, self._column(placing, far, finer, int(self.holders[root]), self._outward(root, edges))

    def _tree(self, made: Int64, far: Int64, finer: Int64) -> tuple[int, list[tuple[int, int]]]:
        """The holder at which a result is made and the edges between holders along which it goes to all, of the least length in
        all; `made`: by holder the length of the sum."""
        tree = np.full((len(self.holders) + 1,) * 2, NEVER, np.int64)
        tree[1:, 1:] = far[:, self.holders]
        np.fill_diagonal(tree, NEVER)
        base = int(finer.sum()) * len(self.holders) * 4
        tree[0, 1:] = np.minimum(made + base, NEVER)
        _, parents = least_branching(tree)
        edges = [(int(parents[node + 1]) - 1, node) for node in range(len(self.holders)) if parents[node + 1]]
        return int(np.flatnonzero(parents[1:] == 0)[0]), edges

    def _outward(self, root: int, edges: list[tuple[int, int]]) -> list[tuple[int, int]]:
        """The edges of a tree, as node ids, each after the one that leads to its start; those to no member cut off."""
        below: dict[int, list[int]] = {}
        for start, end in edges:
            below.setdefault(start, []).append(end)
        order = [root]
        for node in order:
            order += below.get(node, [])
        parent = {end: start for start, end in edges}
        needed = {int(self.place[node]) for node in self.members}
        for node in reversed(order):
            if node in needed and node != root:
                needed.add(parent[node])
        return [(int(self.holders[parent[node]]), int(self.holders[node])) for node in order[1:] if node in needed]

    def _column(self, placing: Placing, far: Int64, finer: Int64, root: int, tree: Sequence[tuple[int, int]]) -> Column:
        """The placing with the result at `root`, from where it goes along `tree`."""
        count, parts = len(self.expression.ranks), self.expression.parts
        at = {count + len(parts) - 1: self.place[root]}
        if not self.gathers:  # made anywhere, and brought to the root
            at[count + len(parts) - 1] = placing.source[-1, self.place[root]]
        moves = []
        for number in range(len(parts) - 1, -1, -1):
            vertex = count + number
            for part in parts[number]:
                at[part] = placing.source[part, at[vertex]]
                if at[part] != at[vertex]:
                    moves.append(Move(part, self._path(far, finer, at[part], int(self.holders[at[vertex]]))))
        top = int(self.holders[at[count + len(parts) - 1]])
        out = [Move(count + len(parts) - 1, self._path(far, finer, self.place[top], root))] if top != root else []
        out += [Move(count + len(parts) - 1, self._path(far, finer, self.place[start], end)) for start, end in tree]
        site = tuple(int(self.holders[at[vertex]]) for vertex in range(count + len(parts)))
        moved = moved_at(self.expression, site, in_data(self.expression, site), at_root=site[-1] == root)
        return Column(site, root, tuple(moves), tuple(out), tuple(len(self.topology.src) + node for node in moved))

    def _path(self, far: Int64, finer: Int64, start: int, node: int) -> tuple[int, ...]:
        links: list[int] = []
        while far[start, node]:
            into = self._into[node]
            link = int(into[np.argmin(far[start, self.topology.src[into]] + finer[into])])
            links.append(link)
            node = int(self.topology.src[link])
        return tuple(reversed(links))


def in_data(expression: Expression, site: Sequence[int]) -> list[bool]:
    """Whether each vertex is made in the data buffer of its node: a rank; a sum with such an operand at its node, or whose operands
    both come from elsewhere, after the contribution of the node itself, which one of them has, has left the buffer."""
    count, found = len(expression.ranks), [True] * len(expression.ranks)
    has = [{node} for node in site[:count]]
    for vertex, parts in enumerate(expression.parts, count):
        here = [part for part in parts if site[part] == site[vertex]]
        has.append(has[parts[0]] | has[parts[1]])
        found.append(any(found[part] for part in here) if here else site[vertex] in has[vertex])
    return found


def moved_at(expression: Expression, site: Sequence[int], is_data: Sequence[bool], *, at_root: bool) -> list[int]:
    """The nodes that move a value between their buffers: where both operands of a sum are made, and where the result is due and is
    not made in the data buffer."""
    pairs = enumerate(expression.parts, len(expression.ranks))
    moved = [site[vertex] for vertex, parts in pairs if all(site[part] == site[vertex] for part in parts)]
    return [*moved, *([site[-1]] if at_root and not is_data[-1] else [])]
