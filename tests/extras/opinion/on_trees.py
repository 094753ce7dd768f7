"""Schedules of all collectives on random networks: trees over links and routes, members, scratch buffers, sizes, fine slots."""

from dataclasses import replace
from random import Random
from typing import Any

import numpy as np

from certree.models.common.errors import CertreeError
from certree.models.demand import Demand
from certree.models.network.topology import Topology
from certree.models.schedule.collective import Collective, CollectiveKind
from certree.models.schedule.made_for import MadeFor
from certree.models.schedule.schedule import Schedule
from tests.verify.build import COPY, REDUCE, build
from tests.verify.fine_moved import MACHINE

#: source, destination, links of the route or None
Edge = tuple[int, int, tuple[int, ...] | None]


def drawn_on_trees(rng: Random) -> Schedule:
    """Each chunk goes up and down trees of its own, each transfer about when what it needs should be there."""
    while True:
        try:
            return _Drawn(rng).schedule()
        except (CertreeError, IndexError, ValueError):  # a network that is not connected, no tree
            continue


class _Drawn:
    def __init__(self, rng: Random) -> None:
        self.rng, self.rows = rng, list[tuple[int, ...]]()
        self.routes: list[tuple[int, ...]] = []
        self.topology = self._network()
        ends = self.topology.endpoints.tolist()
        members = sorted(rng.sample(ends, rng.randint(2, len(ends))))
        kind = rng.choice(list(CollectiveKind))
        root = rng.choice(members) if kind in ("broadcast", "reduce", "gather", "scatter") else None
        self.is_fine, self.has_sizes = rng.random() < 0.4, kind == "all-to-all" and rng.random() < 0.6
        self.members = ends if self.has_sizes else members
        self.collective = Collective(kind, root, None if self.has_sizes else tuple(members))
        self.buffers, self.delay = rng.choice((1, 1, 2, 3)), 1 if self.is_fine else rng.choice((1, 1, 2, 3))

    def _network(self) -> Topology:
        rng = self.rng
        kind = [0] * rng.randint(2, 4) + [1] * rng.choice((0, 0, 1, 2))
        nodes = len(kind)
        links = [(u, v) for u in range(nodes) for v in range(nodes) if u != v and rng.random() < 0.7]
        links += rng.sample(links, rng.choice((0, 0, 1, 2)))
        src, dst = np.array(links, np.int32).T
        capacity, latency = ([rng.choice(of) for _ in links] for of in ((1, 1, 1, 2), (-1, -1, 2, 5)))
        reducing = np.array([one == 1 and rng.random() < 0.5 for one in kind])
        return Topology("drawn", np.array(kind, np.int8), src, dst, np.array(capacity), np.array(latency), reducing=reducing)

    def _edge(self, node: int, *, inwards: bool) -> Edge:
        """A link, or a route of two or three, from a node or to it."""
        rng, topology = self.rng, self.topology
        links = list(zip(topology.src.tolist(), topology.dst.tolist(), strict=True))
        here, path, seen = node, list[int](), {node}
        while True:
            out = [n for n, pair in enumerate(links) if pair[inwards] == here and pair[not inwards] not in seen]
            path.append(rng.choice(out))
            here = links[path[-1]][not inwards]
            seen.add(here)
            if topology.holds[here] and (rng.random() < 0.8 or not topology.forwards[here]):
                break
            if not topology.forwards[here]:
                raise IndexError
        route = None if len(path) == 1 and rng.random() < 0.7 else tuple(path[::-1] if inwards else path)
        return (here, node, route) if inwards else (node, here, route)

    def _tree(self, root: int, goal: set[int], *, inwards: bool) -> list[Edge]:
        """Edges of a tree that reaches all of `goal`, those next to the root first."""
        known, edges, tries = [root], list[Edge](), 0
        while not goal.issubset(known):
            tries += 1
            if tries > 60:
                raise IndexError
            edge = self._edge(self.rng.choice(known), inwards=inwards)
            new = edge[0] if inwards else edge[1]
            if new not in known:
                known.append(new)
                edges.append(edge)
        return edges

    def _land(self, edge: Edge | None, op: int) -> int:
        if not self.is_fine:
            return self.delay
        return (12 if edge is None or edge[2] is None else 4 + 8 * len(edge[2])) + (8 if op == REDUCE else 0)

    def _send(self, chunk: int, op: int, edge: Edge, ready: int, reads: int = 0, writes: int = 0) -> int:
        """Add a transfer; returns when it should have landed."""
        step = max(0, ready + self.rng.choice((-1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3)))
        src, dst, links = edge
        route = -1
        if links is not None:
            self.routes.append(links)
            route = len(self.routes) - 1
        self.rows.append((chunk, op, step, src, dst, route, reads, writes))
        return step + self._land(edge, op)

    def _move(self, chunk: int, edge: Edge, ready: int) -> int:
        """A copy, sometimes by way of scratch buffers."""
        reads = writes = 0
        src, dst, _ = edge
        if self.buffers > 1 and self.topology.kind[src] == 0 and self.rng.random() < 0.3:
            reads = self.rng.randrange(1, self.buffers)
            ready = self._send(chunk, COPY, (src, src, None), ready, 0, reads)
        if self.buffers > 1 and self.topology.kind[dst] == 0 and self.rng.random() < 0.3:
            writes = self.rng.randrange(1, self.buffers)
        landed = self._send(chunk, COPY, edge, ready, reads, writes)
        return self._send(chunk, COPY, (dst, dst, None), landed, writes, 0) if writes else landed

    def _up(self, chunk: int, root: int, ready: int) -> int:
        edges = self._tree(root, set(self.members), inwards=True)
        at = dict.fromkeys([root, *(edge[0] for edge in edges)], ready)
        empty = set(at) - set(self.members)
        for edge in reversed(edges):
            src, dst, _ = edge
            if src in empty:
                continue
            copies = dst in empty and self.topology.kind[dst] == 0
            landed = self._send(chunk, COPY if copies else REDUCE, edge, max(at[src], at[dst] if copies or dst in empty else 0))
            empty.discard(dst)
            at[dst] = max(at[dst], landed + self.is_fine * self.rng.choice((0, 0, 4)))
        return at[root]

    def _down(self, chunk: int, root: int, goal: set[int], ready: int) -> None:
        edges, at = self._tree(root, goal, inwards=False), {root: ready}
        needed = set(goal)
        for src, dst, _ in reversed(edges):
            if dst in needed:
                needed.add(src)
        for edge in edges:
            if edge[1] in needed:
                at[edge[1]] = self._move(chunk, edge, at[edge[0]])

    def schedule(self) -> Schedule:
        """The schedule."""
        rng, members = self.rng, self.members
        roots, targets, granules = self._chunks()
        for chunk, root in enumerate(roots):
            ready = rng.randrange(3) * (15 if self.is_fine else 1)
            if targets is not None:
                self._down(chunk, root, {targets[chunk]}, ready)
                continue
            start = root if root >= 0 else rng.choice(members)
            if self.collective.reduces:
                ready = self._up(chunk, start, ready)
            if self.collective.gathers:
                self._down(chunk, start, set(members), ready)
        fields: dict[str, Any] = {"buffers": self.buffers}
        if self.buffers > 1:
            fields |= {"src_buffer": [row[6] for row in self.rows], "dst_buffer": [row[7] for row in self.rows]}
        steps = max(row[2] for row in self.rows) + 1
        many = rng.choice((1, 2))
        rounds = [many if rng.random() < 0.5 else 1 for _ in range(steps)]
        if self.has_sizes:
            fields["chunk_granules"], rounds = granules, [rng.choice((2, 3, 4)) for _ in range(steps)]
        elif rng.random() < 0.4:
            rounds = [1] * steps
            fields |= {"period": max(1, rng.choice((steps, steps - 1, steps // 2 + 1))), "repeats": rng.randint(1, 3)}
        if self.is_fine:
            rounds = [1] * steps
            size = MACHINE.flit_bytes * max(1, len(roots)) * fields.get("repeats", 1) * rng.randint(1, 2)
            fields |= {"slot_cycles": rng.choice((1, 1, 1, 2)), "made_for": MadeFor(size, MACHINE)}
            if self.routes and rng.random() < 0.3:
                waits = tuple(tuple(rng.choice((0, 0, 0, 1, 2)) for _ in route[1:]) for route in self.routes)
                fields |= {"waits": waits, "virtual_channel": [rng.randrange(2) for _ in self.routes]}
        made = build(
            self.topology, self.collective, [row[:5] for row in self.rows], roots=roots, targets=targets,
            route=[row[5] for row in self.rows], routes=self.routes, rounds=rounds, delay=self.delay, **fields,
        )  # fmt: skip
        return replace(made, provenance={})

    def _chunks(self) -> tuple[list[int], list[int] | None, list[int]]:
        """Roots, targets and sizes."""
        rng, kind, members = self.rng, self.collective.kind, self.members
        root = self.collective.root
        pairs = [(u, v) for u in members for v in members if u != v]
        if self.has_sizes:
            blocks = [(*pair, rng.randint(1, 3)) for pair in rng.sample(pairs, rng.randint(1, min(3, len(pairs))))]
            self.collective = Collective(CollectiveKind.ALL_TO_ALL, demand=Demand(tuple(blocks)))
            parts = [
                (u, v, part) for u, v, size in blocks for part in ([size] if rng.random() < 0.6 or size < 2 else [1, size - 1])
            ]
            return [one[0] for one in parts], [one[1] for one in parts], [one[2] for one in parts]
        if kind == "all-to-all":
            return [u for u, _ in pairs], [v for _, v in pairs], []
        others = [node for node in members if node != root]
        if kind == "gather":
            return others, [root or 0] * len(others), []
        if kind == "scatter":
            return [root or 0] * len(others), others, []
        count = rng.randint(1, 2)
        return [-1 if kind == "all-reduce" else root if root is not None else rng.choice(members) for _ in range(count)], None, []
