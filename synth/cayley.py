"""Networks that look the same from every node: their translations, and trees at one node that stand for trees at all.

A Cayley graph is a group with some generators: a link leads from each v to each v·s. The group moves the network onto itself by
translation from the left, which keeps the generator of every link. So one tree rooted at the identity gives one at every node, and
when no generator has more than its capacity of the tree's edges in any round, no link has more than that of all trees together:
the link from v by s carries, for each of those edges, the one translate whose edge starts at v.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from certree.models.errors import UnsupportedError
from certree.models.topology import Int32, Topology
from certree.synth.symmetry import free_groups

NEEDS = "symmetric needs a network that looks the same from every node"
#: the tries at trees that take no round above the bound, for each unit of effort
TRIES = 200


@dataclass(frozen=True, eq=False)
class Cayley:
    """A network as a group with generators. Node 0 is the identity, node g the element that takes it to g.

    `moved`, shape (N, N): where element g takes node v. `generators`: the neighbours of node 0; `capacity`: of the links there.
    """

    moved: Int32
    generators: NDArray[np.int64]
    capacity: NDArray[np.int64]

    @property
    def nodes(self) -> int:
        """N, the order of the group."""
        return len(self.moved)

    @cached_property
    def degree(self) -> int:
        """d: what a node sends a round."""
        return int(self.capacity.sum())

    @property
    def exact_trees(self) -> int:
        """The fewest trees a node that can keep all links busy in every round."""
        return self.degree // int(np.gcd(self.degree, self.nodes - 1))

    @cached_property
    def radius(self) -> int:
        """Hops from node 0, and so from any node, to the farthest one."""
        reached = np.zeros(self.nodes, np.bool_)
        reached[0], hops = True, 0
        while not reached.all():
            reached[self.moved[np.ix_(reached, self.generators)]] = True
            hops += 1
        return hops

    def least_rounds(self, trees: int) -> int:
        """What an all-gather of so many chunks a node takes at least: ⌈trees·(N − 1)/d⌉ rounds to receive them, or the hops."""
        return max(self.radius, -(-trees * (self.nodes - 1) // self.degree))


def cayley_of(topology: Topology) -> Cayley:
    """The network as a Cayley graph; UnsupportedError, with the link that breaks the symmetry, where no group is found.

    Tried are the coordinates as a box that wraps around, the ids as a cycle, the bits of the ids, and for few nodes a search
    (`certree.synth.symmetry`); that none of them fits does not prove that the network is no Cayley graph. Every group that is
    tried acts regularly, one element for each node, and is accepted only if all links of all nodes are the translates of
    those of node 0, with their capacities. O(N^2 + links · log links) time and memory, without the search.
    """
    count = len(topology.kind)
    if not topology.is_direct or len(topology.endpoints) != count:
        raise UnsupportedError(f"{NEEDS}; {topology.name} has {'lost nodes' if topology.is_direct else 'switches'}")
    sent = np.zeros(count, np.int64)
    np.add.at(sent, topology.src, topology.capacity)
    other = np.flatnonzero(sent != sent[0])
    if len(other):
        raise UnsupportedError(
            f"{NEEDS}; on {topology.name} node 0 sends {sent[0]} chunks a round and node {other[0]} {sent[other[0]]}"
        )
    from_zero = topology.pair_src == 0
    generators, capacity = topology.pair_dst[from_zero], topology.pair_capacity[from_zero]
    reason = ""
    for moved in _groups(topology):
        broken = _broken_link(topology, moved, generators, capacity)
        if broken is None:
            return Cayley(moved, generators, capacity)
        reason = reason or f"link 0>{broken[0]} has no counterpart of its width {broken[2]}>{broken[1]} at node {broken[2]}"
    raise UnsupportedError(f"{NEEDS}; no group of translations was found for {topology.name}: {reason}")


def _groups(topology: Topology) -> Iterator[Int32]:
    """`Cayley.moved` of the groups that are tried, each acting regularly."""
    count = len(topology.kind)
    at = topology.coordinates
    if at is not None and at.shape[1] and (at >= 0).all():
        sizes = at.max(axis=0) + 1
        if int(np.prod(sizes.astype(object))) == count and len(np.unique(at, axis=0)) == count and not at[0].any():
            yield _box(at, sizes)
    ids = np.arange(count)
    yield _box(ids[:, None], np.array([count]))
    bits = count.bit_length() - 1
    if count == 1 << bits:
        yield _box((ids[:, None] >> np.arange(bits)) & 1, np.full(bits, 2))
    for group in free_groups(topology):
        if group.order == count:
            yield np.array(sorted(group.elements, key=lambda element: element[0]), np.int32)


def _box(at: NDArray[np.integer], sizes: NDArray[np.integer]) -> Int32:
    """Addition of coordinates that wrap around; each place of the box is one node's."""
    place = np.zeros((len(at), len(at)), np.int64)
    number = np.zeros(len(at), np.int64)
    for along, size in zip(at.T.astype(np.int64), sizes.tolist(), strict=True):
        place = place * size + (along[:, None] + along) % size
        number = number * size + along
    node_at = np.empty(len(at), np.int32)
    node_at[number] = np.arange(len(at))
    return node_at[place]


def _broken_link(
    topology: Topology, moved: Int32, generators: NDArray[np.int64], capacity: NDArray[np.int64]
) -> tuple[int, int, int] | None:
    """(s, head, g) of the first link 0>s that the element g takes to g>head, where no link as wide is; None when there is none
    and every link is the translate of one of node 0, which holds if nobody sends more than node 0.
    """
    count = len(moved)
    heads = moved[:, generators]
    pair = topology.pair_index(np.repeat(np.arange(count), len(generators)), heads.ravel()).reshape(heads.shape)
    wrong = (pair < 0) | (topology.pair_capacity[pair] != capacity)
    if not wrong.any():
        return None
    element, which = (int(index) for index in np.argwhere(wrong)[0])
    return int(generators[which]), int(heads[element, which]), element


@dataclass(frozen=True, eq=False)
class RootedTrees:
    """Spanning trees rooted at the identity, one row for each edge in order of rounds: `tree`, `round`, `parent`, `child`."""

    tree: Int32
    round: Int32
    parent: Int32
    child: Int32

    @property
    def rounds(self) -> int:
        """Rounds that the edges take."""
        return int(self.round.max()) + 1


def grow_trees(cayley: Cayley, trees: int, seed: int, effort: int) -> RootedTrees:
    """That many trees in the fewest rounds found: the first that meet `Cayley.least_rounds`, or the best of TRIES · effort tries.

    Deterministic. O(tries · trees · N · d).
    """
    best: RootedTrees | None = None
    chance = random.Random(seed)
    after = [cayley.moved[:, generator].tolist() for generator in cayley.generators.tolist()]
    ports = np.repeat(np.arange(len(after)), cayley.capacity).tolist()
    for _ in range(TRIES * effort):
        grown = _grown(after, ports, trees, chance)
        if best is None or grown.rounds < best.rounds:
            best = grown
        if best.rounds == cayley.least_rounds(trees):
            break
    assert best is not None
    return best


def _grown(after: list[list[int]], ports: list[int], trees: int, chance: random.Random) -> RootedTrees:
    """In every round each port, those with least choice first, adds a random node that it leads to from a tree as it was before.

    `after[s][v]`: the node that generator s leads to from v; `ports`: generators, each as often as it is wide. A node of a tree is
    numbered tree · N + node.
    """
    nodes = len(after[0])
    reached = bytearray(trees * nodes)
    fresh = [tree * nodes for tree in range(trees)]
    for root in fresh:
        reached[root] = 1
    waiting: list[list[int]] = [[] for _ in after]  # nodes that a generator has not been tried from
    edges: list[tuple[int, int, int]] = []
    now = 0
    while len(edges) < trees * (nodes - 1):
        for generator in range(len(after)):
            waiting[generator] += fresh
        fresh = []
        chance.shuffle(ports)
        ports.sort(key=lambda generator: len(waiting[generator]))
        for generator in ports:
            pool, lead = waiting[generator], after[generator]
            while pool:
                pick = int(chance.random() * len(pool))
                pool[pick], pool[-1] = pool[-1], pool[pick]
                parent = pool.pop()
                node = parent % nodes
                child = parent - node + lead[node]
                if not reached[child]:
                    reached[child] = 1
                    fresh.append(child)
                    edges.append((now, parent, child))
                    break
        now += 1
    at, parents, children = np.array(edges, np.int32).T
    return RootedTrees(tree=parents // nodes, round=at, parent=parents % nodes, child=children % nodes)
