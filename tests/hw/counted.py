"""Schedules that are not trees, to draw from: exchanges of sums, and blocks along paths, once or repeating."""

from itertools import pairwise
from random import Random

import networkx as nx
import numpy as np
from hypothesis import strategies as st

from certree.models.network.routing import routes_between
from certree.models.network.spec import parse_topology
from certree.models.network.topology import Topology
from certree.models.schedule.collective import WITH_TARGETS, Collective, CollectiveKind
from certree.models.schedule.schedule import Schedule, make_schedule
from certree.models.schedule.schedule_columns import NO_ROOT, Op
from tests.hw.trees import Slots, pairs_between

SPECS = ["ring:3", "mesh:2x2", "mesh:2x3", "full:4", "ring:4,capacity=2", "switch:4", "fattree:2x2", "bigraph:1x4"]
Row = tuple[int, int, int, int, int]


def _made(topology: Topology, collective: Collective, rows: list[Row], roots: list[int], **fields: object) -> Schedule:
    columns = dict(zip(("chunk", "op", "step", "src", "dst"), np.array(rows, np.int32).T, strict=True))
    columns["route"], routes = routes_between(topology, columns["src"], columns["dst"])
    return make_schedule(topology, collective, roots, columns, routes=routes, **fields)  # type: ignore[arg-type]


def exchanges(dimensions: int, chunks: int, delay: int, apart: int, repeats: int) -> Schedule:
    """Recursive doubling on a hypercube, all-reduce: one chunk in each slot, the next iteration `apart` slots behind the last."""
    topology = parse_topology(f"hypercube:{dimensions}")
    rows = [
        (chunk, Op.REDUCE, chunk + bit * delay, node, node ^ 1 << bit)
        for chunk in range(chunks)
        for bit in range(dimensions)
        for node in range(1 << dimensions)
    ]
    fields = {"delay": delay, "period": chunks + apart if repeats > 1 else None, "repeats": repeats}
    return _made(topology, Collective(CollectiveKind.ALL_REDUCE), rows, [NO_ROOT] * chunks, **fields)


def blocks(spec: str, kind: CollectiveKind, each: int, delay: int, repeats: int, seed: int) -> Schedule:
    """`each` chunks for every pair, each along one shortest path, hop by hop or over switches at once, in the first slots that are
    free. Iterations follow each other as closely as links allow, or up to two slots less closely."""
    topology, random = parse_topology(spec), Random(seed)
    endpoints = topology.endpoints.tolist()
    root = None if kind is CollectiveKind.ALL_TO_ALL else random.choice(endpoints)
    pairs = [(a, b) for a in endpoints for b in endpoints if a != b]
    if root is not None:
        pairs = [pair for pair in pairs if pair[kind is CollectiveKind.GATHER] == root]
    pairs = [pair for pair in pairs for _ in range(each)]
    random.shuffle(pairs)
    graph = nx.DiGraph(list(zip(topology.src.tolist(), topology.dst.tolist(), strict=True)))
    paths = [nx.shortest_path(graph, *pair) if topology.is_direct else list(pair) for pair in pairs]
    load = np.bincount([link for path in paths for hop in pairwise(path) for link in pairs_between(topology, *hop)])
    period = int(load.max()) * 2 + random.randrange(3) if repeats > 1 else None
    slots, rows = Slots(topology, period), []
    for chunk, path in enumerate(paths):
        ready = 0
        for hop in pairwise(path):
            step = slots.earliest(*hop, ready)
            rows.append((chunk, Op.COPY, step, *hop))
            ready = step + delay
    roots, targets = ([pair[end] for pair in pairs] for end in (0, 1))
    return _made(topology, Collective(kind, root), rows, roots, chunk_target=targets, delay=delay, period=period, repeats=repeats)


@st.composite
def counted_schedules(draw: st.DrawFn) -> Schedule:
    """Valid schedules that need `blocks` or `buffers`."""
    delay, repeats = draw(st.integers(1, 3)), draw(st.integers(1, 5))
    if draw(st.booleans()):
        return exchanges(draw(st.integers(1, 3)), draw(st.integers(1, 2)), delay, draw(st.integers(0, 2)), repeats)
    kind = draw(st.sampled_from(WITH_TARGETS))
    return blocks(draw(st.sampled_from(SPECS)), kind, draw(st.integers(1, 2)), delay, repeats, draw(st.integers(0, 2**32)))
