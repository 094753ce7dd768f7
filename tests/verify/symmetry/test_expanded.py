"""Symmetric schedules on random networks of random groups, against all transfers as the whole group's elements make them.

The expansion here multiplies permutations until nothing is new; it shares nothing with walks, labels or `written_out`.
"""

from collections import Counter
from contextlib import suppress
from random import Random

import numpy as np
import pytest

from certree.models.common.errors import TopologyError
from certree.models.network.action import Action
from certree.models.schedule.collective import parse_collective
from certree.models.schedule.schedule_columns import NO_ROOT, Op
from certree.models.schedule.symmetric.symmetric_schedule import WHOLE, SymmetricSchedule
from certree.verify.checker import verify_schedule
from tests.models.examples import network
from tests.verify.build import build

#: permutations that make Z2, Z5, Z2 x Z2, Z6, S3, the symmetries of a square, and the quaternions
GROUPS = [
    [(1, 0)],
    [(1, 2, 3, 4, 0)],
    [(1, 0, 2, 3), (0, 1, 3, 2)],
    [(1, 2, 3, 4, 5, 0)],
    [(1, 0, 2), (1, 2, 0)],
    [(1, 2, 3, 0), (0, 3, 2, 1)],
    [(1, 2, 3, 0, 5, 6, 7, 4), (4, 7, 6, 5, 2, 1, 0, 3)],
]


def closure(generators, limit: int) -> set[tuple[int, ...]]:
    """All products of permutations, or a few more than `limit` of them."""
    found = {tuple(range(len(generators[0])))}
    fresh = list(found)
    while fresh and len(found) <= limit:
        one = fresh.pop()
        new = {tuple(generator[place] for place in one) for generator in generators} - found
        found |= new
        fresh += new
    return found


def cayley(rng: Random):
    """A network of a group, with one-way and parallel links, and moves of its nodes that keep it, but for a wider link."""
    elements = sorted(closure(rng.choice(GROUPS), 100))
    rng.shuffle(elements)
    number = {element: place for place, element in enumerate(elements)}
    count = len(elements)
    product = [[number[tuple(a[i] for i in b)] for b in elements] for a in elements]
    others = [place for place in range(count) if product[place][place] != place]
    complete = rng.random() < 0.2  # every permutation keeps it
    links = []
    for step in others if complete else rng.sample(others, rng.randint(1, min(3, count - 1))):
        widths, latency = ([1], -1) if complete else rng.choice((([1], -1), ([2], -1), ([1, 1], 5), ([1, 2], -1)))
        links += [(node, product[node][step], width, latency) for node in range(count) for width in widths]
    if rng.random() < 0.1:
        tail, head, width, latency = links[0]
        links[0] = (tail, head, width + 1, latency)
    rng.shuffle(links)
    return network(count, links), rng.sample(product, rng.randint(1, min(4, count)))


def tree(rng: Random, nodes: int, leading: dict[int, list[int]], delay: int):
    """(step, from, to): a tree from node 0, along which each transfer leaves when the one before has landed, or later."""
    since, rows = {0: 0}, []
    while len(since) < nodes:
        tail = rng.choice(sorted(since))
        head = rng.choice(leading[tail])
        if head not in since:
            step = since[tail] + rng.randint(0, 2)
            since[head] = step + delay
            rows.append((step, tail, head))
    return rows


def base_rows(rng: Random, topology, kind: str, chunks: int, delay: int) -> list[list[int]]:
    """Reduces, copies or both along trees; now and then with a changed row, one twice, or one missing."""
    nodes, ends = len(topology.kind), list(zip(topology.src.tolist(), topology.dst.tolist(), strict=True))
    out = {node: [head for tail, head in ends if tail == node] for node in range(nodes)}
    into = {node: [tail for tail, head in ends if head == node] for node in range(nodes)}
    rows: list[list[int]] = []
    for chunk in range(chunks):
        start = rng.choice((30,) if kind == "scatter" else (0, 0, 3, 30)) * chunk
        if kind in ("reduce", "all-reduce"):
            reduces = tree(rng, nodes, into, delay)
            last = max(step for step, _, _ in reduces)
            rows += [[chunk, Op.REDUCE, start + last - step, head, tail] for step, tail, head in reduces]
            start += last + delay
        if kind != "reduce":
            rows += [[chunk, Op.COPY, start + step, tail, head] for step, tail, head in tree(rng, nodes, out, delay)]
    limits = (chunks, 2, max(row[2] for row in rows) + 1, nodes, nodes)
    for _ in range(rng.choice((0, 0, 1, 2))):
        column = rng.randrange(5)
        rng.choice(rows)[column] = rng.randrange(limits[column])
    if rng.random() < 0.1:
        rows.append(list(rng.choice(rows)))
    if rng.random() < 0.1 and len(rows) > 1:
        rows.pop(rng.randrange(len(rows)))
    return rows


def keeps(topology, moves) -> bool:
    """Whether permutations take links to links of the same width and latency."""
    width, latency = Counter[tuple[int, int]](), {}
    for tail, head, size, wire in zip(
        *(getattr(topology, name).tolist() for name in ("src", "dst", "capacity", "latency")), strict=True
    ):
        width[tail, head] += size
        latency[tail, head] = wire
    images = [((tail, head), (move[tail], move[head])) for move in moves for tail, head in latency]
    return all(width[one] == width[other] and latency[one] == latency.get(other) for one, other in images)


def compare(rng: Random) -> str:
    """The result of one random schedule, after both verdicts agree."""
    topology = None
    while topology is None:
        with suppress(TopologyError):  # not connected
            topology, moves = cayley(rng)
    nodes, kind, chunks, delay = len(topology.kind), rng.choice(sorted(WHOLE)), rng.randint(1, 3), rng.choice((1, 1, 2))
    rooted = kind != "all-reduce"
    if kind == "scatter":
        chunks = (nodes - 1) * rng.randint(1, 2)
    targets = [1 + chunk % (nodes - 1) for chunk in range(chunks)] if kind == "scatter" else None
    rows = base_rows(rng, topology, kind, chunks, delay)
    if rng.random() < 0.15:
        moves = [*moves, rng.sample(range(nodes), nodes)]
    collective = parse_collective(kind, 0 if rooted else None)
    base = build(topology, collective, rows, roots=[0 if rooted else NO_ROOT] * chunks, targets=targets, delay=delay)
    short = verify_schedule(SymmetricSchedule(base, Action(np.array(moves))))
    group = closure(moves, nodes)
    if not keeps(topology, moves) or len(group) != nodes or {element[0] for element in group} != set(range(nodes)):
        assert short.counts.keys() & {"automorphism", "regular"}
        return "no group for it"
    whole = [[chunk * nodes + to[0], op, step, to[src], to[dst]] for chunk, op, step, src, dst in rows for to in group]
    roots = list(range(nodes)) * chunks if rooted else [NO_ROOT] * nodes * chunks
    by_root = sorted(group, key=lambda to: to[0])
    ends = None if targets is None else [to[target] for target in targets for to in by_root]
    long = verify_schedule(build(topology, WHOLE[collective.kind], whole, roots=roots, targets=ends, delay=delay))
    assert short.valid == long.valid
    assert set(short.counts) - {"missing", "causality"} == set(long.counts) - {"missing", "causality"}
    assert short.quality == long.quality
    return "valid" if short.valid else "wrong"


@pytest.mark.parametrize("part", range(4))
def test_base_and_group_say_what_all_elements_say(part: int) -> None:
    met = Counter(compare(Random(f"{part} {seed}")) for seed in range(60))
    assert min(met[what] for what in ("no group for it", "valid", "wrong")) >= 5
