"""Valid schedules by construction, for property tests: random networks, a random tree per chunk, greedy slots."""

import itertools
from collections import Counter
from random import Random

import numpy as np

from certree.models.network.routing import DIRECT
from certree.models.network.topology import NodeKind, Topology
from certree.models.schedule.collective import WITH_ONE_ROOT, Collective, CollectiveKind
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import NO_ROOT
from tests.verify.build import COPY, REDUCE, build, network


def random_network(rng: Random) -> Topology:
    """2 to 6 endpoints joined by a random tree and a few more edges: direct, parallel or through a switch of their own; some
    joined to a common switch as well; some switches reducing; some ids removed; capacities 1 to 3, different by direction."""
    ends = rng.randint(2, 6)
    kinds = ["e"] * ends
    if rng.random() < 0.3:
        kinds.insert(rng.randrange(ends + 1), "-")
    ids = [node for node, kind in enumerate(kinds) if kind == "e"]
    rng.shuffle(ids)
    edges = [(ids[rng.randrange(place)], ids[place]) for place in range(1, ends)]
    edges += [tuple(rng.sample(ids, 2)) for _ in range(rng.randint(0, 3))]  # type: ignore[misc]
    links: list[tuple[int, int, int]] = []
    for u, v in edges:
        path = [u, v]
        if rng.random() < 0.25:
            kinds.append("s")
            path = [u, len(kinds) - 1, v]
        links += [(*edge, rng.randint(1, 3)) for a, b in itertools.pairwise(path) for edge in ((a, b), (b, a))]
    if rng.random() < 0.4:
        kinds.append("s")
        spokes = [(node, len(kinds) - 1) for node in rng.sample(ids, rng.randint(2, ends))]
        links += [(*edge, rng.randint(1, 3)) for a, b in spokes for edge in ((a, b), (b, a))]
    rng.shuffle(links)
    return network("".join(kinds), links, [node for node, kind in enumerate(kinds) if kind == "s" and rng.random() < 0.5])


def _hops(topology: Topology) -> list[tuple[int, int, tuple[int, ...]]]:
    """(from, to, route) between nodes that hold data: a link of any of the parallel ones (empty route), or two links through a
    switch, reducing or not."""
    links = list(enumerate(zip(topology.src.tolist(), topology.dst.tolist(), strict=True)))
    holds, switch = topology.holds.tolist(), (topology.kind == NodeKind.SWITCH).tolist()
    hops: list[tuple[int, int, tuple[int, ...]]] = [(u, v, ()) for _, (u, v) in links if holds[u] and holds[v]]
    for first, (u, s) in links:
        hops += [(u, v, (first, second)) for second, (t, v) in links if holds[u] and holds[v] and s == t and switch[s] and u != v]
    return sorted(set(hops))


def _tree(rng: Random, topology: Topology, root: int) -> list[tuple[int, int]]:
    """(parent, child) of a random tree that spans the endpoints, parents first. Every edge of these networks leads both ways."""
    reached, edges = [root], []
    around = {(u, v) for u, v, _ in _hops(topology)}
    while not set(topology.endpoints.tolist()) <= set(reached):
        u, v = rng.choice(sorted((u, v) for u, v in around if u in reached and v not in reached))
        reached.append(v)
        edges.append((u, v))
    while idle := {v for _, v in edges if topology.rank[v] < 0} - {u for u, _ in edges}:
        edges = [(u, v) for u, v in edges if v not in idle]  # reducing switches that nothing hangs on
    return edges


Move = tuple[int, int, int, int, tuple[int, ...]]  # chunk, op, src, dst, route


def _path(tree: list[tuple[int, int]], end: int) -> list[tuple[int, int]]:
    """The edges of a tree that lead from its root to `end`."""
    path: list[tuple[int, int]] = []
    for u, v in reversed(tree):
        if v == (path[0][0] if path else end):
            path.insert(0, (u, v))
    return path


def random_collective(rng: Random, topology: Topology) -> Collective:
    """Any of the eight, with a root where it has one."""
    kind = rng.choice(list(CollectiveKind))
    return Collective(kind, rng.choice(topology.endpoints.tolist()) if kind in WITH_ONE_ROOT else None)


def _chunks(rng: Random, topology: Topology, collective: Collective) -> tuple[list[int], list[int] | None]:
    """Root and target of each chunk; in an all-reduce the root is that of its tree."""
    ends, each = topology.endpoints.tolist(), rng.randint(1, 2)
    if not collective.has_targets:
        roots = [rng.choice(ends) for _ in range(rng.randint(1, 4))]
        return (roots if collective.root is None else [collective.root] * len(roots)), None
    blocks = [(source, target) for source in ends for target in ends if source != target] * each
    if collective.kind is not CollectiveKind.ALL_TO_ALL:
        side = 1 if collective.kind is CollectiveKind.GATHER else 0
        blocks = [block for block in blocks if block[side] == collective.root]
    rng.shuffle(blocks)
    return [source for source, _ in blocks], [target for _, target in blocks]


def _moves(rng: Random, topology: Topology, collective: Collective, roots: list[int], targets: list[int] | None) -> list[Move]:
    """Up and down a random tree for each chunk, or along it to the target, as far as the collective has these phases; senders
    after what they wait for."""
    hops, moves = _hops(topology), []
    for chunk, root in enumerate(roots):
        tree = _tree(rng, topology, root)
        ends = [(REDUCE, v, u) for u, v in reversed(tree)] if collective.reduces else []
        ends += [(COPY, u, v) for u, v in tree] if collective.gathers else []
        ends += [(COPY, u, v) for u, v in _path(tree, targets[chunk])] if targets else []
        moves += [(chunk, op, u, v, rng.choice([r for a, b, r in hops if (a, b) == (u, v)])) for op, u, v in ends]
    return moves


def _pairs(topology: Topology, move: Move) -> list[int]:
    """The joined pairs that a move passes."""
    *_, src, dst, route = move
    return topology.pair_of_link[list(route)].tolist() if route else topology.pair_index(np.array([src]), np.array([dst])).tolist()


def _tight_period(rng: Random, topology: Topology, moves: list[Move]) -> int:
    """The shortest period in which every link carries its load, or a little more."""
    load = Counter(pair for move in moves for pair in _pairs(topology, move))
    return max(-(-load[pair] // int(topology.pair_capacity[pair])) for pair in load) + rng.choice((0, 0, 1, 3))


def _slots(rng: Random, topology: Topology, moves: list[Move], delay: int, period: int | None) -> list[int] | None:
    """The first slot that is free for every move, or a later one; None when its links are never free together in that period."""
    used, slots = Counter[tuple[int, int]](), []
    ready = Counter[tuple[int, int]]()  # (node, chunk) -> first slot in which it may send
    for chunk, _, src, dst, route in moves:
        first = ready[src, chunk] + rng.choice((0, 0, 0, 1))
        pairs, width = _pairs(topology, (chunk, 0, src, dst, route)), period or len(moves) + first + 1
        for slot in range(first, first + width):
            if all(used[pair, slot % (period or 1 << 30)] < topology.pair_capacity[pair] for pair in pairs):
                break
        else:
            return None
        used.update((pair, slot % (period or 1 << 30)) for pair in pairs)
        ready[dst, chunk] = max(ready[dst, chunk], slot + delay)
        slots.append(slot)
    return slots


def random_schedule(rng: Random) -> Schedule:
    """A valid schedule of any collective, with any delay, repeating or not: every move in the first slot that is free."""
    topology, delay = random_network(rng), rng.randint(1, 3)
    collective = random_collective(rng, topology)
    roots, targets = _chunks(rng, topology, collective)
    moves = _moves(rng, topology, collective, roots, targets)
    period = None if rng.random() < 0.4 else _tight_period(rng, topology, moves)
    while (slots := _slots(rng, topology, moves, delay, period)) is None:
        period = (period or 0) + 1
    routes: dict[tuple[int, ...], int] = {}
    rows = [(chunk, op, slot, src, dst) for (chunk, op, src, dst, _), slot in zip(moves, slots, strict=True)]
    column = [routes.setdefault(route, len(routes)) if route else DIRECT for *_, route in moves]
    order = rng.sample(range(len(rows)), len(rows))
    return build(
        topology,
        collective,
        [rows[place] for place in order],
        roots=roots if collective.is_rooted else [NO_ROOT] * len(roots),
        targets=targets,
        route=[column[place] for place in order],
        routes=tuple(routes),
        delay=delay,
        period=period,
        repeats=rng.randint(1, 5) if period else 1,
    )


def mutated(rng: Random, schedule: Schedule) -> Schedule:
    """The schedule with one row changed in one field, dropped or doubled, or other targets; itself when it has no rows."""
    if not schedule.transfers:
        return schedule
    rows = list(zip(*(getattr(schedule, name).tolist() for name in ("chunk", "op", "step", "src", "dst")), strict=True))
    route, place = schedule.route.tolist(), rng.randrange(schedule.transfers)
    what = rng.choice(("chunk", "op", "step", "step", "src", "dst", "drop", "double", "route", "target"))
    row, targets = list(rows[place]), None if schedule.chunk_target is None else schedule.chunk_target.tolist()
    if what == "target":
        targets = _other_targets(rng, schedule)
    elif what == "drop":
        del rows[place], route[place]
    elif what == "double":
        rows.append(rows[place])
        route.append(route[place])
    elif what == "route":
        route[place] = rng.randrange(-1, len(schedule.routes))
    else:
        column = ("chunk", "op", "step", "src", "dst").index(what)
        near = max(0, row[2] + rng.choice((-2, -1, 1, 2, rng.randint(-20, 20))))
        nodes = len(schedule.topology.kind)
        row[column] = {"chunk": rng.randrange(schedule.chunks), "op": 1 - row[1], "step": near}.get(what, rng.randrange(nodes))
        rows[place] = tuple(row)
    return build(
        schedule.topology, schedule.collective, rows, roots=schedule.chunk_root.tolist(), targets=targets, route=route,
        **{name: getattr(schedule, name) for name in ("routes", "delay", "period", "repeats")},
    )  # fmt: skip


def _other_targets(rng: Random, schedule: Schedule) -> list[int] | None:
    """The targets with one of them changed, or two exchanged, where there may be several."""
    if schedule.chunk_target is None:
        return None
    targets = schedule.chunk_target.tolist()
    if schedule.collective.kind is not CollectiveKind.GATHER:
        one, other = rng.randrange(len(targets)), rng.randrange(len(targets))
        targets[one], targets[other] = targets[other], targets[one]
        if rng.random() < 0.5:
            targets[one] = rng.choice(schedule.topology.endpoints.tolist())
    return targets
