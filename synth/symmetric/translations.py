"""Networks that look the same from every node: their translations, and trees at one node that represent those at all nodes.

A Cayley graph is a group with some generators: a link leads from each v to each v·s. The group moves the network onto itself by
translation from the left, which keeps the generator of every link. So one tree rooted at the identity gives one at every node, and
when no generator has more than its capacity of the tree's edges in any round, no link has more than that of all trees together:
the link from v by s carries, for each of those edges, the one translate whose edge starts at v.
"""

import random
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from certree.models.common.errors import UnsupportedError
from certree.models.network.action import Action, generating
from certree.models.network.topology import Int32, Topology
from certree.synth.symmetric.symmetry import free_groups
from certree.verify.rules.symmetry_rules import check_action
from certree.verify.verdict import Findings

NEEDS = "symmetric needs a network that looks the same from every node"
#: the most tries at trees that take no round above the bound
TRIES = 200
MAX_FIRST_LINKS = 64  # generators that are tried from the order of links


@dataclass(frozen=True, eq=False)
class Cayley:
    """A network and a group that has one element for each node, which takes node 0 there."""

    topology: Topology
    action: Action

    @property
    def nodes(self) -> int:
        """N, the order of the group."""
        return self.action.nodes

    @cached_property
    def generators(self) -> NDArray[np.int64]:
        """The neighbours of node 0."""
        return np.asarray(self.topology.pair_dst[self.topology.pair_src == 0])

    @cached_property
    def capacity(self) -> NDArray[np.int64]:
        """The capacity of the links to the generators."""
        return np.asarray(self.topology.pair_capacity[self.topology.pair_src == 0])

    @cached_property
    def heads(self) -> Int32:
        """Shape (N, d): where each generator leads from each node."""
        return self.action.carried(self.generators)

    @cached_property
    def kind(self) -> Int32:
        """The number of the generator of each joined pair."""
        kind = np.empty(len(self.topology.pair_src), np.int32)
        for number in range(len(self.generators)):
            kind[self.topology.pair_index(np.arange(self.nodes), self.heads[:, number])] = number
        return kind

    @cached_property
    def degree(self) -> int:
        """d: chunks that a node sends per round."""
        return int(self.capacity.sum())

    @property
    def exact_trees(self) -> int:
        """The fewest trees per node that can keep all links busy in every round."""
        return self.degree // int(np.gcd(self.degree, self.nodes - 1))

    @cached_property
    def radius(self) -> int:
        """The number of hops from node 0, and so from any node, to the farthest one."""
        return int(self.topology.distances(0).max())

    def least_rounds(self, trees: int, delay: int = 1) -> int:
        """A lower bound on the rounds of an all-gather with `trees` chunks per node: the hops, or the rounds of the trees' edges.

        In the first `delay` rounds only roots send, by each generator once per tree; later d edges per round. With delay 1 and
        links of capacity 1 that is ⌈trees·(N − 1)/d⌉.
        """
        first = min(trees * len(self.generators), delay * self.degree)
        return max((self.radius - 1) * delay + 1, delay - (first - trees * (self.nodes - 1)) // self.degree)


def cayley_of(topology: Topology) -> Cayley:
    """The network as a Cayley graph; UnsupportedError, with the link that breaks the symmetry, where no group is found.

    The search tries the coordinates as a box that wraps around, the ids as a cycle, the bits of the ids, the order of the links
    (those of each node by the same generators), and for few nodes a search (`certree.synth.symmetric.symmetry`). A failure of all
    does not prove that the network is not a Cayley graph. The result has passed the verifier's check. O(links · (generators + log))
    time and memory, without the search.
    """
    count = len(topology.kind)
    if not topology.is_direct or len(topology.endpoints) != count:
        raise UnsupportedError(f"{NEEDS}; {topology.name} has {'removed nodes' if topology.is_direct else 'switches'}")
    sent = np.zeros(count, np.int64)
    np.add.at(sent, topology.src, topology.capacity)
    other = np.flatnonzero(sent != sent[0])
    if len(other):
        raise UnsupportedError(
            f"{NEEDS}; on {topology.name} node 0 sends {sent[0]} chunks per round and node {other[0]} {sent[other[0]]}"
        )
    reason = ""
    for action in _actions(topology):
        findings = Findings()
        check_action(topology, action, findings)
        if not findings.rules:
            return Cayley(topology, action)
        reason = reason or findings.verdict().violations[0].message
    raise UnsupportedError(f"{NEEDS}; no group of translations was found for {topology.name}: {reason}")


def _actions(topology: Topology) -> Iterator[Action]:
    """Candidate groups."""
    count = len(topology.kind)
    at = topology.coordinates
    if at is not None and at.shape[1] and (at >= 0).all():
        sizes = at.max(axis=0) + 1
        if int(np.prod(sizes.astype(object))) == count and len(np.unique(at, axis=0)) == count and not at[0].any():
            yield _box_at(at, sizes.tolist())
    yield Action.of_box([count])
    bits = count.bit_length() - 1
    if count == 1 << bits:
        yield Action.of_box([2] * bits)
    by_links = _by_link_order(topology)
    if by_links is not None:
        yield by_links
    for group in free_groups(topology):
        if group.order == count:
            yield generating([np.array(element, np.int32) for element in group.elements[1:]])


def _box_at(at: NDArray[np.integer], sizes: list[int]) -> Action:
    """Shifts of coordinates that wrap around; each cell of the box is one node."""
    box = Action.of_box(sizes)
    place = np.ravel_multi_index(tuple(at.T), sizes)
    if (place == np.arange(len(place))).all():
        return box
    node_at = np.empty(len(place), np.int64)
    node_at[place] = np.arange(len(place))
    return Action(node_at[box.moves[:, place]].astype(np.int32))


def _by_link_order(topology: Topology) -> Action | None:
    """The group whose elements keep the position of every link among those of its node; None where there is none. O(d · links)."""
    count = len(topology.kind)
    _, pair = np.unique(topology.pair_of_link, return_index=True)
    pair = np.sort(pair)  # the first link of each joined pair, in link order
    order = pair[np.argsort(topology.src[pair], kind="stable")]
    degree = len(order) // count
    if degree * count != len(order) or (topology.src[order] != np.repeat(np.arange(count), degree)).any():
        return None
    heads = topology.dst[order].reshape(count, degree)
    first = heads[0][:MAX_FIRST_LINKS]
    images = np.full((len(first), count), -1, np.int32)
    images[:, 0] = first
    seen = np.zeros(count, np.bool_)
    seen[0], fresh = True, np.zeros(1, np.int64)
    while len(fresh):
        new, at = np.unique(heads[fresh].ravel().astype(np.int64), return_index=True)
        keep = ~seen[new]
        new, at = new[keep], at[keep]
        images[:, new] = heads[images[:, fresh[at // degree]], at % degree]
        seen[new], fresh = True, new
    if any((np.bincount(row, minlength=count) != 1).any() for row in images):
        return None
    return generating(list(images))


@dataclass(frozen=True, eq=False)
class RootedTrees:
    """Spanning trees rooted at the identity, one row for each edge in order of rounds: `tree`, `round`, `parent`, `child`."""

    tree: Int32
    round: Int32
    parent: Int32
    child: Int32

    @property
    def rounds(self) -> int:
        """The number of rounds that the edges take."""
        return int(self.round.max()) + 1


def grow_trees(cayley: Cayley, trees: int, seed: int, tries: int = TRIES, delay: int = 1) -> RootedTrees:
    """`trees` trees in the fewest rounds found: the first that meet `Cayley.least_rounds`, or the best of `tries` tries.

    A node sends on data that it got at least `delay` rounds before. Deterministic. O(tries · trees · N · d).
    """
    best: RootedTrees | None = None
    least = cayley.least_rounds(trees, delay)
    chance = random.Random(seed)
    after = cayley.heads.T.tolist()
    ports = np.repeat(np.arange(len(after)), cayley.capacity).tolist()
    for _ in range(tries):
        grown = _grown(after, ports, trees, delay, chance)
        if best is None or grown.rounds < best.rounds:
            best = grown
        if best.rounds == least:
            break
    assert best is not None
    return best


def _grown(after: list[list[int]], ports: list[int], trees: int, delay: int, chance: random.Random) -> RootedTrees:
    """In every round each port, those with least choice first, adds a random node that it leads to from a tree as it was `delay`
    rounds ago.

    `after[s][v]`: the node that generator s leads to from v; `ports`: generators, each as often as it is wide. A node of a tree is
    numbered tree · N + node.
    """
    nodes = len(after[0])
    reached = bytearray(trees * nodes)
    fresh = [tree * nodes for tree in range(trees)]
    for root in fresh:
        reached[root] = 1
    landing = deque([fresh, *([] for _ in range(delay - 1))], maxlen=delay)  # nodes that may send on now, in the next round, ...
    waiting: list[list[int]] = [[] for _ in after]  # nodes that a generator has not been tried from
    edges: list[tuple[int, int, int]] = []
    now = 0
    while len(edges) < trees * (nodes - 1):
        for generator in range(len(after)):
            waiting[generator] += landing[0]
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
        landing.append(fresh)
        now += 1
    at, parents, children = np.array(edges, np.int32).T
    return RootedTrees(tree=parents // nodes, round=at, parent=parents % nodes, child=children % nodes)
