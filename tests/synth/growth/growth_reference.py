"""MultiTree's construction once more, plainly: every turn looks at everything again, and nothing is remembered between turns."""

from collections import deque
from itertools import pairwise

import numpy as np

from certree.models.network.topology import NodeKind, Topology
from certree.synth.packing.growth import Turns, corner_priority

Row = tuple[int, int, int, int, tuple[int, ...]]  # step, tree, parent, child, nodes of the path


class Reference:
    """Grows the trees; `rows` afterwards."""

    def __init__(self, topology: Topology, turns: Turns) -> None:
        self.topology, self.turns = topology, turns
        self.ends = topology.endpoints.tolist()
        self.next: dict[int, list[int]] = {node: topology.neighbours(node) for node in range(len(topology.kind))}
        self.members = {root: [root] for root in self.ends}
        self.rows: list[Row] = []
        pairs = zip(topology.pair_src.tolist(), topology.pair_dst.tolist(), strict=True)
        self.capacity = dict(zip(pairs, topology.pair_capacity.tolist(), strict=True))
        priority = corner_priority(topology).tolist()
        self.later = sorted(self.ends, key=lambda root: (priority[self.ends.index(root)], root), reverse=True)
        order = self.ends
        step = 0
        while any(self.missing(root) for root in self.ends):
            self.step, self.room = step, dict(self.capacity)
            self.parents = {root: list(members) for root, members in self.members.items()}
            order = self.add_round(order)
            step += 1

    def missing(self, root: int) -> set[int]:
        return set(self.ends) - set(self.members[root])

    def add_round(self, order: list[int]) -> list[int]:
        if self.turns is Turns.AUTHORS:
            while True:
                added = [self.add_one(root) for root in order]
                order = self.later
                if not added[-1] or not any(self.missing(root) for root in self.ends):
                    return order
        order = self.ends
        if self.turns is Turns.REMAINING_HEIGHT:
            order = sorted(self.ends, key=lambda root: -self.height(root))
        added = [True]
        while any(added):
            added = [self.add_one(root) for root in order]
        return order

    def height(self, root: int) -> int:
        far = np.min([self.topology.distances(member) for member in self.members[root]], axis=0)
        return max((int(far[node]) for node in self.missing(root)), default=0)

    def add_one(self, root: int) -> bool:
        for parent in self.parents[root]:
            path = self.search(root, parent)
            if path is not None:
                for hop in pairwise(path):
                    self.room[hop] -= 1
                self.members[root].append(path[-1])
                self.rows.append((self.step, self.ends.index(root), parent, path[-1], tuple(path)))
                return True
        return False

    def search(self, root: int, parent: int) -> list[int] | None:
        """Breadth first; a switch is passed when it is the parent's own or has no room towards endpoints."""
        queue, seen = deque([[parent]]), {parent}
        missing = self.missing(root)
        while queue:
            path = queue.popleft()
            heads = [head for head in self.next[path[-1]] if self.room[path[-1], head]]
            found = [head for head in heads if head in missing]
            if found:
                return [*path, found[0]]
            if len(path) > 2 and any(self.is_end(head) for head in heads):
                continue
            for head in heads:
                if not self.is_end(head) and head not in seen:
                    seen.add(head)
                    queue.append([*path, head])
        return None

    def is_end(self, node: int) -> bool:
        return bool(self.topology.kind[node] == NodeKind.ENDPOINT)
