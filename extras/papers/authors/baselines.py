"""Schedules of the MultiTree authors' simulator for the paper's baseline algorithms; they differ from certree's schedules.

Written from observing and reading the simulator, as are `tables` and `interface`.
"""

from collections.abc import Iterator
from fractions import Fraction
from math import isqrt

from certree.extras.papers.authors.tables import GATHER, REDUCE, AuthorsTables, Entry, Steps, in_turns, without_end
from certree.models.common.errors import UnsupportedError
from certree.models.network.topology import Topology

DIRECTIONS = ((1, 0), (-1, 0), (0, 1), (0, -1))  # (columns, rows): there and back in each dimension


def pipelined_trees(topology: Topology, interfaces: int) -> AuthorsTables:
    """Two binary trees, one the mirror image of the other, each for half of as many chunks as there are nodes.

    The edges of a node to its two parents have different colours, as have the edges to its children in a tree; steps of the two
    colours alternate, and the next chunk of a tree follows two steps later. A node begins to gather when all chunks of all its
    children have arrived. Raises UnsupportedError for networks with fewer than four nodes or an odd number. O(nodes²).
    """
    nodes = len(topology.kind)
    if nodes < 4 or nodes % 2:
        raise UnsupportedError(
            f"the authors' double binary tree is for four nodes or more, an even number; {topology.name} has {nodes}"
        )
    trees = (_Tree(nodes, is_mirrored=False), _Tree(nodes, is_mirrored=True))
    reduce_steps = max(tree.reduce_steps for tree in trees) + nodes - 2
    gather_steps = max(tree.gather_steps for tree in trees) + nodes - 2
    reduce: list[list[list[Entry]]] = [[[] for _ in range(reduce_steps)] for _ in range(nodes)]
    gather: list[list[list[Entry]]] = [[[] for _ in range(gather_steps)] for _ in range(nodes)]
    own: list[set[tuple[int, int]]] = [set() for _ in range(nodes)]
    for number, tree in enumerate(trees):
        for node, parent in tree.parent.items():
            above = tree.parent.get(parent)
            for place in range(nodes // 2):
                flow = number * (nodes // 2) + place
                own[parent].add((flow, node))
                step = 2 * place + tree.reduce_step[node]
                reduce[node][step].append(Entry(flow, step, [parent], {(flow, child) for child in tree.children(node)}))
                step = 2 * place + tree.gather_step[node]
                waits = set() if above is None else {(flow, above)}
                gather[parent][step].append(Entry(flow, gather_steps + 1 + step, [node], waits))
    steps: list[tuple[Steps, Steps]] = []
    for node in range(nodes):
        last = Entry(node, reduce_steps, [], own[node])
        steps.append(([*(step or None for step in reduce[node]), [last]], without_end([step or None for step in gather[node]])))
    return AuthorsTables(topology, interfaces, nodes, steps, [frozenset(range(nodes))] * nodes, {}, None)


class _Tree:
    """A binary tree over all nodes, as NCCL builds it (its root has one child), and the steps of its edges.

    `reduce_step[node]` and `gather_step[node]` are those of the edge from a node to its parent, for the first chunk.
    """

    def __init__(self, nodes: int, *, is_mirrored: bool) -> None:
        place = [nodes - 1 - node if is_mirrored else node for node in range(nodes)]
        above = [_parent(number, nodes) for number in range(nodes)]
        self.root = place[0]
        self.parent = {place[number]: place[above[number]] for number in range(1, nodes)}
        self._children: dict[int, list[int]] = {node: [] for node in range(nodes)}
        for number in range(1, nodes):
            self._children[place[above[number]]].append(place[number])
        is_dark = {place[number]: _is_dark(number, nodes) != is_mirrored for number in range(1, nodes)}
        self.reduce_step, self.reduce_steps = self._reduce_steps(
            {place[number]: number & -number for number in range(1, nodes)}, is_dark
        )
        self.gather_step, self.gather_steps = self._gather_steps(is_dark)
        if not is_mirrored:  # an empty step evens out both trees
            self.reduce_steps += 1
            self.gather_steps += 1

    def children(self, node: int) -> list[int]:
        return self._children[node]

    def _reduce_steps(self, height: dict[int, int], is_dark: dict[int, bool]) -> tuple[dict[int, int], int]:
        """Level by level from the leaves, with alternating colours."""
        found: dict[int, int] = {}
        step, dark = 0, True
        for level in sorted(set(height.values())):
            left = {node for node in height if height[node] == level}
            while left:
                now = {node for node in left if is_dark[node] == dark}
                found |= dict.fromkeys(now, step)
                left -= now
                step, dark = step + 1, not dark
        return found, step

    def _gather_steps(self, is_dark: dict[int, bool]) -> tuple[dict[int, int], int]:
        """The step of each edge, by its lower node, and the number of steps. An edge has the first step of its colour after that of
        the edge above it."""
        found: dict[int, int] = {}
        step, dark, ready = 0, True, set(self.children(self.root))
        while ready:
            now = {node for node in ready if is_dark[node] == dark}
            found |= dict.fromkeys(now, step)
            ready = (ready - now).union(*(self.children(node) for node in now))
            step, dark = step + 1, not dark
        return found, step


def _parent(number: int, nodes: int) -> int:
    """The parent of a node of the tree that has its root at 0 and the leaves at odd numbers."""
    bit = number & -number
    parent = (number ^ bit) | bit << 1
    return parent if parent < nodes else number ^ bit


def _is_dark(number: int, nodes: int) -> bool:
    """Whether the edge from a node to its parent is of the colour that goes first.

    The edge of a leaf has the other colour than the same node's edge to its parent in the mirror image.
    """
    if number % 2:
        return _is_dark(nodes - 1 - number, nodes) if nodes - 1 - number else False
    parent = _parent(number, nodes)
    above = _is_dark(parent, nodes) if parent else False
    return above ^ (nodes // 2 % 2 == 1) ^ (parent < number)


def row_and_column_rings(topology: Topology, interfaces: int) -> AuthorsTables:
    """2D-ring, of which the simulator runs one pass: each node has four flows, one per direction around its row and its column.

    A flow is reduced along its row, or column, to its node, and gathered back along the same path, as in a ring; all four at
    once, each with a quarter of the data. An all-reduce needs a second pass, along the other dimension, and the reported totals
    are twice those of a pass (`counted`). Steps are not strict. Raises UnsupportedError except for square grids of side 3 or more.
    O(nodes^1.5).
    """
    nodes = len(topology.kind)
    side = isqrt(nodes)
    if side * side != nodes or side < 3:
        raise UnsupportedError(f"the authors' 2D-ring is for square grids, three nodes a side or more; {topology.name} has {nodes}")
    length = Fraction(side, len(DIRECTIONS))
    last = side - 1  # steps of a phase
    reduce: list[list[list[Entry]]] = [[[] for _ in range(last)] for _ in range(nodes)]
    gather: list[list[list[Entry]]] = [[[] for _ in range(last)] for _ in range(nodes)]
    transfers: list[tuple[tuple[int, int, int, int], int]] = []
    members: list[frozenset[int]] = []
    for flow in range(nodes * len(DIRECTIONS)):
        ring = list(_ring(flow // len(DIRECTIONS), flow % len(DIRECTIONS), side))
        members.append(frozenset(ring))
        for place in range(last):  # from the node at this place of the ring to the next
            here, there = ring[place], ring[place + 1]
            behind = {(flow, ring[place + 2])} if place + 2 < side else set()
            reduce[there][last - 1 - place].append(Entry(flow, 0, [here], behind, length))
            before = {(flow, ring[place - 1])} if place else set()
            gather[here][place].append(Entry(flow, 0, [there], before, length))
            transfers += [((REDUCE, flow, there, here), last - 1 - place), ((GATHER, flow, here, there), place)]
    steps: list[tuple[Steps, Steps]] = []
    for node in range(nodes):
        flows = range(node * len(DIRECTIONS), (node + 1) * len(DIRECTIONS))
        own = {(flow, _step(node, flow % len(DIRECTIONS), side)) for flow in flows}
        steps.append(([*reduce[node], [Entry(node, 0, [], own)]], [*gather[node]]))
    link_interface = {
        (node, _step(node, direction, side)): direction % interfaces
        for node in range(nodes)
        for direction in range(len(DIRECTIONS))
    }
    return AuthorsTables(
        topology, interfaces, nodes, steps, members, in_turns(transfers, interfaces), link_interface, is_strict=False, counted=2
    )


def _step(node: int, direction: int, side: int) -> int:
    columns, rows = DIRECTIONS[direction]
    return (node // side + rows) % side * side + (node % side + columns) % side


def _ring(node: int, direction: int, side: int) -> Iterator[int]:
    for _ in range(side):
        yield node
        node = _step(node, direction, side)
