"""A network as a tree of switches with endpoints as its leaves, for algorithms that work from the leaves to the root and back."""

from collections import deque
from dataclasses import dataclass

import numpy as np

from certree.models.common.errors import UnsupportedError
from certree.models.network.topology import NodeKind, Topology

CROSSING = -1  # in place of a node id: the root that stands for the link between two top switches


@dataclass(frozen=True)
class SwitchTree:
    """`children` of every switch, ascending by id; `order`: the switches, each after those below it, the root last.

    The root is a switch, or CROSSING when it represents the link between two top switches.
    """

    topology: Topology
    children: dict[int, tuple[int, ...]]
    order: tuple[int, ...]

    @property
    def root(self) -> int:
        """The root, which is the last of `order`."""
        return self.order[-1]

    def servers(self, node: int) -> tuple[int, ...]:
        """The endpoints below a node, ascending; an endpoint is below itself. O(nodes below)."""
        if node not in self.children:
            return (node,)
        return tuple(sorted(server for child in self.children[node] for server in self.servers(child)))

    def uplink(self, node: int, parent: int) -> int:
        """Capacity of the links from a child up to its parent (to the other top switch where the parent is CROSSING)."""
        if parent == CROSSING:
            parent = next(child for child in self.children[CROSSING] if child != node)
        pair = int(self.topology.pair_index(np.array([node]), np.array([parent]))[0])
        return int(self.topology.pair_capacity[pair])


def switch_tree(topology: Topology, root: int | None = None) -> SwitchTree:
    """The tree below switch `root`; by default below the centre: the switch, or two neighbouring ones, least far from all
    endpoints.

    Of several centres the one of least id is the root. Switches with no endpoint below them in this tree (the other top switches of
    a fat tree or leaf-spine) are left out, as GenTree does (Section 4.2). UnsupportedError where endpoints are not connected to a
    switch or the rest is not a tree. O(switches · (links + nodes)).
    """
    neighbours = _neighbours(topology)
    roots = _centre(topology, neighbours) if root is None else (_checked_root(topology, root),)
    tree = _tree_below(topology, neighbours, roots)
    _require_tree(tree, neighbours)
    return tree


def shortest_path_tree(topology: Topology, root: int) -> SwitchTree:
    """Shortest paths through switches from switch `root` to all endpoints; other cables are ignored. O(links + nodes)."""
    return _tree_below(topology, _neighbours(topology), (_checked_root(topology, root),))


def central_switches(topology: Topology) -> tuple[int, ...]:
    """The switches whose farthest endpoint is nearest, ascending. O(switches · (links + nodes))."""
    far = _eccentricities(topology, _neighbours(topology))
    return tuple(switch for switch in sorted(far) if far[switch] == min(far.values()))


def _tree_below(topology: Topology, neighbours: dict[int, list[int]], roots: tuple[int, ...]) -> SwitchTree:
    parent = _parents(topology, neighbours, roots)
    kept = set(roots)
    for server in topology.endpoints.tolist():
        if server not in parent:
            raise UnsupportedError(f"{topology.name}: endpoint {server} cannot be reached through switches from switch {roots[0]}")
        node = server
        while node not in kept:
            kept.add(node)
            node = parent[node]
    children: dict[int, list[int]] = {node: [] for node in sorted(kept) if topology.kind[node] == NodeKind.SWITCH}
    for node in sorted(kept - set(roots)):
        children[parent[node]].append(node)
    if len(roots) > 1:
        children[CROSSING] = list(roots)
    below = {node: tuple(found) for node, found in children.items()}
    return SwitchTree(topology, below, _bottom_up(below, CROSSING if len(roots) > 1 else roots[0]))


def _neighbours(topology: Topology) -> dict[int, list[int]]:
    """The nodes that each node is joined to in both directions, ascending; UnsupportedError without switches or cables."""
    if topology.is_direct:
        raise UnsupportedError(f"{topology.name} has no switches; a tree of switches with endpoints as leaves is needed")
    pairs = set(zip(topology.pair_src.tolist(), topology.pair_dst.tolist(), strict=True))
    found: dict[int, list[int]] = {node: [] for node in range(len(topology.kind))}
    for src, dst in sorted(pairs):
        if (dst, src) not in pairs:
            raise UnsupportedError(f"{topology.name}: the link {src}>{dst} has no counterpart; a tree of cables is needed")
        found[src].append(dst)
    return found


def _checked_root(topology: Topology, root: int) -> int:
    if not 0 <= root < len(topology.kind) or topology.kind[root] != NodeKind.SWITCH:
        switches = np.flatnonzero(topology.kind == NodeKind.SWITCH).tolist()
        raise UnsupportedError(f"root={root} is not a switch of {topology.name}; its switches are {switches[0]} to {switches[-1]}")
    return root


def _hops(topology: Topology, neighbours: dict[int, list[int]], starts: tuple[int, ...]) -> dict[int, int]:
    """Hops from the nearest of `starts`, through switches, to every node that is reached."""
    is_switch = (topology.kind == NodeKind.SWITCH).tolist()
    hops = dict.fromkeys(starts, 0)
    queue = deque(starts)
    while queue:
        node = queue.popleft()
        if not is_switch[node]:
            continue
        for other in neighbours[node]:
            if other not in hops:
                hops[other] = hops[node] + 1
                queue.append(other)
    return hops


def _eccentricities(topology: Topology, neighbours: dict[int, list[int]]) -> dict[int, int]:
    """Hops to the farthest endpoint of every switch that reaches them all through switches; UnsupportedError when none does."""
    far: dict[int, int] = {}
    switches = np.flatnonzero(topology.kind == NodeKind.SWITCH).tolist()
    between = {node: [other for other in neighbours[node] if topology.kind[other] == NodeKind.SWITCH] for node in switches}
    hung = {tuple(neighbours[server]) for server in topology.endpoints.tolist()}  # the distinct sets of switches of endpoints
    for switch in switches:
        hops = _hops(topology, between, (switch,))
        nearest = [min((hops[other] for other in beside if other in hops), default=None) for beside in hung]
        if None not in nearest:
            far[switch] = 1 + max(hop for hop in nearest if hop is not None)
    if not far:
        raise UnsupportedError(f"{topology.name}: no switch reaches every endpoint through switches")
    return far


def _centre(topology: Topology, neighbours: dict[int, list[int]]) -> tuple[int, ...]:
    """The switch whose farthest endpoint is nearest, or two of them that are joined."""
    far = _eccentricities(topology, neighbours)
    first = min(far, key=lambda switch: (far[switch], switch))
    beside = [other for other in neighbours[first] if far.get(other) == far[first]]
    return (first, beside[0]) if beside else (first,)


def _parents(topology: Topology, neighbours: dict[int, list[int]], roots: tuple[int, ...]) -> dict[int, int]:
    """For every node that the roots reach the least of its neighbours that are one hop nearer to them."""
    hops = _hops(topology, neighbours, roots)
    return {
        node: min(o for o in neighbours[node] if hops.get(o) == away - 1 and topology.kind[o] == NodeKind.SWITCH)
        for node, away in hops.items()
        if away
    }


def _require_tree(tree: SwitchTree, neighbours: dict[int, list[int]]) -> None:
    """Raise UnsupportedError for a cable between nodes of the tree that is not part of it."""
    cables = {frozenset((switch, child)) for switch, below in tree.children.items() for child in below}
    cables.add(frozenset(tree.children.get(CROSSING, ())))
    kept = {node for cable in cables for node in cable}
    for node in sorted(kept - {CROSSING}):
        for other in neighbours[node]:
            if other in kept and frozenset((node, other)) not in cables:
                name = tree.topology.name
                raise UnsupportedError(f"{name} is not a tree: link {node}-{other} is not on a shortest path to its root")


def _bottom_up(children: dict[int, tuple[int, ...]], root: int) -> tuple[int, ...]:
    """The switches, each after those below it: breadth-first from the root, backwards."""
    order = [root]
    for node in order:
        order += [child for child in children[node] if child in children]
    return tuple(reversed(order))
