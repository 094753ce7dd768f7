"""Small correct schedules for tests: random trees over any topology, slotted greedily with delay and period."""

from collections import Counter
from random import Random

import numpy as np
from hypothesis import strategies as st

from certree.models.machine.machine import load_machine
from certree.models.network.routing import routes_between
from certree.models.network.spec import parse_topology
from certree.models.network.topology import Topology
from certree.models.schedule.collective import SYMMETRIC_KINDS, WITH_ONE_ROOT, Collective, CollectiveKind
from certree.models.schedule.schedule import Schedule, make_schedule
from certree.models.schedule.schedule_columns import NO_ROOT, Op

SPECS = ["ring:3", "ring:5", "mesh:2x2", "mesh:2x3", "torus:3x3", "torus:2x4", "full:4", "ring:4,capacity=2"]
SPECS += ["hypercube:3,without-link=0-1", "mesh:3x3,without-node=4"]
ROUTED_SPECS = ["switch:4", "fattree:2x3", "bigraph:1x4", "mesh:2x3,far", "torus:3x3,far"]
MULTITREE = load_machine("multitree")


def random_tree(topology: Topology, root: int, random: Random, *, far: bool) -> list[tuple[int, int]]:
    """(node, parent) of every node but the root, parents before children: neighbours, or any two endpoints if `far`."""
    tree, reached = [], [root]
    while len(reached) < len(topology.endpoints):
        parent = random.choice(reached)
        near = topology.endpoints.tolist() if far else topology.neighbours(parent)
        fresh = [node for node in near if node not in reached]
        if fresh:
            node = random.choice(fresh)
            tree.append((node, parent))
            reached.append(node)
    return tree


class Slots:
    """Greedy slotting: no link of a route carries more than its capacity in any slot modulo the period."""

    def __init__(self, topology: Topology, period: int | None) -> None:
        self.topology, self.period = topology, period
        self.used: Counter[tuple[int, int]] = Counter()

    def earliest(self, src: int, dst: int, ready: int) -> int:
        """The first slot from `ready` on in which the route src -> dst is free; it is taken."""
        pairs, slot = pairs_between(self.topology, src, dst), ready
        while any(self.used[pair, self._place(slot)] >= self.topology.pair_capacity[pair] for pair in pairs):
            slot += 1
        self.used.update((pair, self._place(slot)) for pair in pairs)
        return slot

    def _place(self, slot: int) -> int:
        return slot % self.period if self.period else slot


def pairs_between(topology: Topology, src: int, dst: int) -> list[int]:
    """The joined pairs that a message passes."""
    _, routes = routes_between(topology, np.array([src]), np.array([dst]))
    return topology.pair_of_link[list(routes[0])].tolist() if routes else [int(topology.pair_index(src, dst))]


def tree_schedule(spec: str | Topology, kind: CollectiveKind, trees: int, *, delay: int, repeats: int, seed: int) -> Schedule:
    """`trees` random trees a collective (one per root and multiple of it where chunks are rooted), `repeats` iterations; a
    broadcast is from the first endpoint."""
    topology = parse_topology(spec.removesuffix(",far")) if isinstance(spec, str) else spec
    random, far = Random(seed), not topology.is_direct or (isinstance(spec, str) and spec.endswith(",far"))
    endpoints = topology.endpoints.tolist()
    collective = Collective(kind, endpoints[0] if kind in WITH_ONE_ROOT else None)
    sources = endpoints if collective.root is None else endpoints[:1]
    roots = (sources * trees) if collective.is_rooted else [random.choice(endpoints) for _ in range(trees)]
    forest = [random_tree(topology, root, random, far=far) for root in roots]
    period = None
    if repeats > 1:
        edges = [edge for tree in forest for one_way in tree for edge in (one_way, one_way[::-1])]
        load = Counter(pair for edge in edges for pair in pairs_between(topology, *edge))
        # first fit finds a slot even when every other message on any link of the route has taken one of its own
        period = max(sum(load[pair] for pair in pairs_between(topology, *edge)) for edge in edges) + random.randrange(3)
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
    columns["route"], routes = routes_between(topology, columns["src"], columns["dst"])
    chunk_root = roots if collective.is_rooted else [NO_ROOT] * trees
    return make_schedule(topology, collective, chunk_root, columns, routes=routes, delay=delay, period=period, repeats=repeats)


@st.composite
def schedules(draw: st.DrawFn, *, repeating: bool = True, routed: bool = False) -> Schedule:
    """Correct, contention-free tree schedules; `routed`: over several links, too."""
    return tree_schedule(
        draw(st.sampled_from(SPECS + ROUTED_SPECS if routed else SPECS)),
        draw(st.sampled_from(SYMMETRIC_KINDS)),
        draw(st.integers(1, 4)),
        delay=draw(st.integers(1, 4)),
        repeats=draw(st.integers(1, 5)) if repeating else 1,
        seed=draw(st.integers(0, 2**32)),
    )


#: over links side by side, through switches
ROUTED = tree_schedule("fattree:2x3", CollectiveKind.ALL_REDUCE, 2, delay=1, repeats=1, seed=7)
