"""Small correct schedules for tests: random trees over any topology, slotted greedily with delay and period."""

from collections import Counter
from random import Random

import numpy as np
from hypothesis import strategies as st

from certree.models.collective import SYMMETRIC_KINDS, Collective, CollectiveKind
from certree.models.machine import load_machine
from certree.models.schedule import NO_ROOT, Op, Schedule, make_schedule
from certree.models.topology import Topology
from certree.models.topology_spec import parse_topology

SPECS = [
    "ring:3",
    "ring:5",
    "mesh:2x2",
    "mesh:2x3",
    "torus:3x3",
    "torus:2x4",
    "full:4",
    "ring:4,capacity=2",
    "hypercube:3,without-link=0-1",
    "mesh:3x3,without-node=4",
]
MULTITREE = load_machine("multitree")


def random_tree(topology: Topology, root: int, random: Random) -> list[tuple[int, int]]:
    """(node, parent) of every node but the root, parents before children; links exist in both directions."""
    tree, reached = [], [root]
    while len(reached) < len(topology.endpoints):
        parent = random.choice(reached)
        fresh = [node for node in topology.neighbours(parent) if node not in reached]
        if fresh:
            node = random.choice(fresh)
            tree.append((node, parent))
            reached.append(node)
    return tree


class Slots:
    """Greedy slotting: a link carries no more than its capacity in any slot modulo the period."""

    def __init__(self, topology: Topology, period: int | None) -> None:
        self.topology, self.period = topology, period
        self.used: Counter[tuple[int, int]] = Counter()

    def earliest(self, src: int, dst: int, ready: int) -> int:
        """The first slot from `ready` on in which the link src -> dst is free; it is taken."""
        pair = int(self.topology.pair_index(np.array([src]), np.array([dst]))[0])
        slot = ready
        while self.used[pair, slot % self.period if self.period else slot] >= self.topology.pair_capacity[pair]:
            slot += 1
        self.used[pair, slot % self.period if self.period else slot] += 1
        return slot


def tree_schedule(spec: str, kind: CollectiveKind, trees: int, *, delay: int, repeats: int, seed: int) -> Schedule:
    """`trees` random trees a collective (one per endpoint and multiple of it where chunks are rooted), `repeats` iterations."""
    topology, random = parse_topology(spec), Random(seed)
    collective = Collective(kind)
    endpoints = topology.endpoints.tolist()
    roots = (endpoints * trees) if collective.is_rooted else [random.choice(endpoints) for _ in range(trees)]
    forest = [random_tree(topology, root, random) for root in roots]
    period = None
    if repeats > 1:
        load = Counter(edge for tree in forest for edge in tree) + Counter(edge[::-1] for tree in forest for edge in tree)
        period = max(load.values()) + random.randrange(3)
    slots = Slots(topology, period)
    rows = []
    for chunk, (root, tree) in enumerate(zip(roots, forest, strict=True)):
        ready = dict.fromkeys(endpoints, 0)
        if collective.reduces:
            for node, parent in reversed(tree):
                step = slots.earliest(node, parent, ready[node])
                ready[parent] = max(ready[parent], step + delay)
                rows.append((chunk, Op.REDUCE, step, node, parent))
        if collective.gathers:
            ready = {root: ready[root]}
            for node, parent in tree:
                step = slots.earliest(parent, node, ready[parent])
                ready[node] = step + delay
                rows.append((chunk, Op.COPY, step, parent, node))
    columns = dict(zip(("chunk", "op", "step", "src", "dst"), np.array(rows, np.int32).T, strict=True))
    chunk_root = roots if collective.is_rooted else [NO_ROOT] * trees
    return make_schedule(topology, collective, chunk_root, columns, delay=delay, period=period, repeats=repeats)


@st.composite
def schedules(draw: st.DrawFn, *, repeating: bool = True) -> Schedule:
    """Correct, contention-free tree schedules."""
    return tree_schedule(
        draw(st.sampled_from(SPECS)),
        draw(st.sampled_from(SYMMETRIC_KINDS)),
        draw(st.integers(1, 4)),
        delay=draw(st.integers(1, 4)),
        repeats=draw(st.integers(1, 5)) if repeating else 1,
        seed=draw(st.integers(0, 2**32)),
    )
