"""Schedules of version 2, moved as whole numbers in plain Python; and such schedules, drawn.

It shares nothing with `certree.verify` but the columns of a schedule. The contribution of the endpoint of rank r is 1000^r, so that
the digits of a number, to the base 1000, say how often each is in it.
"""

from collections import Counter, defaultdict
from random import Random

from certree.models.demand import Demand
from certree.models.network.spec import parse_topology
from certree.models.network.topology import Topology
from certree.models.schedule.collective import Collective, CollectiveKind
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import NO_ROOT
from tests.verify.build import COPY, REDUCE, build

BASE = 1000
Cell = tuple[int, int, int]  # node, chunk, buffer
Place = tuple[int, int]  # node, buffer


def fault(schedule: Schedule) -> str | None:
    """The first thing that is wrong with a schedule on a network of endpoints joined by single links of capacity 1; None if all is
    right."""
    moves = _moves(schedule)
    return _size_fault(schedule) or _link_fault(schedule, moves) or _data_fault(schedule, moves)


def _size_fault(schedule: Schedule) -> str | None:
    """Whether chunks are not what a demand asks for."""
    if schedule.collective.demand is None:
        return None
    asked = {(source, target): granules for source, target, granules in schedule.collective.demand.blocks}
    moved = Counter[tuple[int, int]]()
    for source, target, granules in zip(schedule.chunk_root, schedule.chunk_target, schedule.chunk_granules, strict=True):
        moved[int(source), int(target)] += int(granules)
    return None if dict(moved) == asked else "blocks are not those of the demand"


def _moves(schedule: Schedule) -> list[tuple[int, int, Cell, Cell]]:
    """(step, op, from, to) of one iteration: the others have chunks of their own."""
    names = ("step", "op", "src", "chunk", "src_buffer", "dst", "dst_buffer")
    columns = [getattr(schedule, name) for name in names]
    rows = zip(*([0] * schedule.transfers if column is None else column.tolist() for column in columns), strict=True)
    return sorted((step, op, (u, c, a), (v, c, b)) for step, op, u, c, a, v, b in rows)


def _link_fault(schedule: Schedule, moves: list[tuple[int, int, Cell, Cell]]) -> str | None:
    links = set(zip(schedule.topology.src.tolist(), schedule.topology.dst.tolist(), strict=True))
    load = Counter[tuple[int, int, int]]()
    for step, _, (u, chunk, a), (v, _, b) in moves:
        if (u, a) == (v, b):
            return "a cell sends to itself"
        if u != v and (u, v) not in links:
            return "no link"
        if u != v:
            size = 1 if schedule.chunk_granules is None else int(schedule.chunk_granules[chunk])
            for i in range(schedule.repeats):
                load[step + i * (schedule.period or 0), u, v] += size
    rounds = schedule.rounds.tolist()
    room = {at: rounds[at[0]] if schedule.period is None else 1 for at in load}
    return "a link is overfilled" if any(load[at] > room[at] for at in load) else None


def _data_fault(schedule: Schedule, moves: list[tuple[int, int, Cell, Cell]]) -> str | None:
    held, due = start_and_end(schedule)
    flying: list[tuple[int, int, Cell, int]] = []  # sent, op, into, carried
    sent = defaultdict(list)
    for step, *move in moves:
        sent[step].append(move)
    for now in range(schedule.steps + schedule.delay):
        landing = [one for one in flying if one[0] + schedule.delay == now]
        flying = [one for one in flying if one[0] + schedule.delay > now]
        for _, op, into, carried in landing:
            if op == COPY and sum(other[2] == into for other in landing) > 1:
                return "a copy and something else land in one cell at once"
            if op == REDUCE and not held.get(into):
                return "a reduce lands in an empty cell"
            held[into] = carried if op == COPY else held[into] + carried
            if any(digit > 1 for digit in digits(held[into])):
                return "a contribution is counted twice"
        leaving = []
        for op, source, into in sent[now]:
            if not held.get(source):
                return "an empty cell is read"
            if schedule.buffers > 1:
                if any(cell == source for _, _, cell, _ in flying):
                    return "a cell is read while something is in flight to it"
                if any(cell == into and not other == op == REDUCE for _, other, cell, _ in flying):
                    return "a copy and something else are in flight to one cell"
            leaving.append((now, op, into, held[source]))
        flying += leaving
    return None if all(held.get(cell) == value for cell, value in due.items()) else "a result is wrong"


def digits(number: int) -> list[int]:
    """The digits of a number to the base BASE, the last first."""
    return [number // BASE**place % BASE for place in range(8)]


def start_and_end(schedule: Schedule) -> tuple[dict[Cell, int], dict[Cell, int]]:
    """What cells hold at the start, those that hold anything; and what those must hold at the end that must hold anything."""
    ends, roots = schedule.topology.endpoints.tolist(), schedule.chunk_root.tolist()
    taking_part = ends if schedule.collective.members is None else list(schedule.collective.members)
    own = {node: BASE**rank for rank, node in enumerate(ends) if node in taking_part}
    kind = str(schedule.collective.kind)
    start, end = {}, {}
    for chunk, root in enumerate(roots):
        sums = kind in ("all-reduce", "reduce-scatter", "reduce")
        start |= {(node, chunk, 0): own[node] for node in taking_part if sums or node == root}
        result = sum(own.values()) if sums else own[root]
        due = [root] if kind in ("reduce-scatter", "reduce") else taking_part
        if schedule.chunk_target is not None:
            due = [int(schedule.chunk_target[chunk])]
        end |= {(node, chunk, 0): result for node in due}
    return start, end


def drawn(rng: Random) -> Schedule:
    """A valid schedule of two to four endpoints with several buffers: random moves among scratch buffers, each possible when it
    leaves, then to every endpoint what its result lacks, from wherever exactly one such contribution lies."""
    nodes, buffers, delay = rng.randint(2, 4), rng.randint(2, 4), rng.choice((1, 1, 2, 3))
    kind = rng.choice(("all-reduce", "all-reduce", "reduce-scatter", "all-gather"))
    root = NO_ROOT if kind == "all-reduce" else rng.randrange(nodes)
    at_start, _ = start_and_end(build(f"full:{nodes}", kind, "", roots=[root], buffers=buffers))
    held = {(node, buffer): number for (node, _, buffer), number in at_start.items()}
    rows: list[tuple[int, int, Place, Place]] = []
    step = 0
    for _ in range(rng.randint(0, 6)):
        moves = _possible(rng, held, nodes, buffers)
        rows += [(step, *move) for move in moves]
        landed = {into: held[source] + (held[into] if op == REDUCE else 0) for op, source, into in moves}
        held |= landed
        step += delay
    if kind != "all-gather":
        lacking = [node for node in range(nodes) if all(held.get((node, b)) != BASE**node for b in range(1, buffers))]
        kept = [(COPY, (node, 0), (node, rng.randrange(1, buffers))) for node in lacking]
        rows += [(step, *move) for move in kept]
        held |= {into: held[source] for _, source, into in kept}
        step += delay
    for shift in range(1, nodes):
        rows += _last(rng, held, nodes, shift, step, kind, root)
        step += delay if kind == "all-gather" else 1
    table = [(0, op, at, source[0], into[0]) for at, op, source, into in rows]
    fields = {"src_buffer": [source[1] for *_, source, _ in rows], "dst_buffer": [into[1] for *_, into in rows]}
    return build(f"full:{nodes}", kind, table, roots=[root], buffers=buffers, delay=delay, **fields)


def _possible(rng: Random, held: dict[Place, int], nodes: int, buffers: int) -> list[tuple[int, Place, Place]]:
    """Moves of one step into different scratch buffers, over different links."""
    moves, written, used = [], set(), set()
    for _ in range(rng.randint(0, 4)):
        source, into = rng.choice(sorted(held)), (rng.randrange(nodes), rng.randrange(1, buffers))
        link = (source[0], into[0])
        apart = into in held and all(a + b <= 1 for a, b in zip(digits(held[source]), digits(held[into]), strict=True))
        if source == into or into in written or (link in used and link[0] != link[1]):
            continue
        moves.append((REDUCE if apart and rng.random() < 0.7 else COPY, source, into))
        written.add(into)
        used.add(link)
    return moves


def _last(
    rng: Random, held: dict[Place, int], nodes: int, shift: int, step: int, kind: str, root: int
) -> list[tuple[int, int, Place, Place]]:
    """The moves of one of the last steps: the contribution of the node `shift` before it to every node that lacks it, from there or
    from a scratch buffer of its own. Scratch buffers stay as they are, and can be read in any step; the data buffer only in the
    first."""
    moves = []
    for node in range(nodes):
        other = (node - shift) % nodes
        if (kind == "reduce-scatter" and node != root) or (kind == "all-gather" and other != root):
            continue
        readable = kind == "all-gather" or shift == 1
        alone = [
            cell for cell, number in held.items() if number == BASE**other and cell[0] in (other, node) and (readable or cell[1])
        ]
        moves.append((step, COPY if kind == "all-gather" else REDUCE, rng.choice(sorted(alone)), (node, 0)))
    return moves


def drawn_among_members(rng: Random) -> Schedule:
    """A valid schedule among some endpoints of a small network: every chunk up and down trees that may lead through the others, one
    move in each step. Where a node that takes no part gets something first, that is a copy."""
    network = parse_topology(rng.choice(("ring:5", "mesh:2x3", "full:4", "mesh:1x4")))
    nodes, delay = len(network.kind), rng.randint(1, 2)
    members = sorted(rng.sample(range(nodes), rng.randint(2, nodes - 1)))
    kind = rng.choice(("all-reduce", "all-reduce", "reduce-scatter", "all-gather", "broadcast", "reduce", "gather", "scatter"))
    one_root = kind in ("broadcast", "reduce", "gather", "scatter")
    centre = rng.choice(members)
    roots, targets = [centre if one_root else rng.choice(members) for _ in range(2)], None
    if kind in ("gather", "scatter"):
        others = [node for node in members if node != centre]
        roots, targets = [centre] * len(others), others
        if kind == "gather":
            roots, targets = targets, roots
    rows: list[tuple[int, int, int, int, int]] = []
    for chunk, root in enumerate(roots):
        keep = members if targets is None else [targets[chunk]]
        tree, filled = _pruned_tree(rng, network, root, keep), set(members)
        moves = []
        if kind in ("all-reduce", "reduce-scatter", "reduce"):
            for parent, child in reversed(tree):
                moves.append((REDUCE if parent in filled else COPY, child, parent))
                filled.add(parent)
        if kind not in ("reduce-scatter", "reduce"):
            moves += [(COPY, parent, child) for parent, child in tree]
        rows += [(chunk, op, (len(rows) + place) * delay, src, dst) for place, (op, src, dst) in enumerate(moves)]
    given = [NO_ROOT] * len(roots) if kind == "all-reduce" else roots
    collective = Collective(CollectiveKind(kind), centre if one_root else None, tuple(members))
    return build(network, collective, rows, roots=given, targets=targets, delay=delay)


def _pruned_tree(rng: Random, network: Topology, root: int, keep: list[int]) -> list[tuple[int, int]]:
    """(parent, child) of a random tree from a root, parents first, without branches that lead to none of some nodes."""
    links = sorted(zip(network.src.tolist(), network.dst.tolist(), strict=True))
    reached, edges = {root}, []
    while not set(keep) <= reached:
        u, v = rng.choice([(u, v) for u, v in links if u in reached and v not in reached])
        reached.add(v)
        edges.append((u, v))
    while idle := {v for _, v in edges if v not in keep} - {u for u, _ in edges}:
        edges = [(u, v) for u, v in edges if v not in idle]
    return edges


def drawn_demand(rng: Random) -> Schedule:
    """A valid alltoallv on a small network: blocks cut into chunks at random, each along a random path, every step as long as it
    must be."""
    name = rng.choice(("ring:5", "mesh:2x3", "full:4", "mesh:1x4"))
    topology, sizes = parse_topology(name), dict[tuple[int, int], int]()
    nodes = len(topology.kind)
    for _ in range(rng.randint(1, 4)):
        source, target = rng.sample(range(nodes), 2)
        sizes[source, target] = rng.randint(1, 9)
    chunks = []
    for (source, target), whole in sizes.items():
        left = whole
        while left:
            part = rng.randint(1, left)
            chunks.append((source, target, part))
            left -= part
    rows: list[tuple[int, int, int, int, int]] = []
    load = Counter[tuple[int, int, int]]()
    for chunk, (source, target, granules) in enumerate(chunks):
        step = 0
        for u, v in _pruned_tree(rng, topology, source, [target]):
            step += rng.choice((0, 0, 1))
            rows.append((chunk, COPY, step, u, v))
            load[step, u, v] += granules
            step += 1
    steps = 1 + max(row[2] for row in rows)
    rounds = [max([1, *(load[at] for at in load if at[0] == step)]) + rng.choice((0, 0, 1)) for step in range(steps)]
    demand = Demand(tuple((source, target, granules) for (source, target), granules in sizes.items()))
    roots, targets, granules = (list(column) for column in zip(*chunks, strict=True))
    collective = Collective(CollectiveKind.ALL_TO_ALL, demand=demand)
    return build(topology, collective, rows, roots=roots, targets=targets, chunk_granules=granules, rounds=rounds)


def changed(rng: Random, schedule: Schedule) -> Schedule:
    """The schedule with one entry of one row changed, or a row left out or doubled; itself when it has no rows."""
    if not schedule.transfers:
        return schedule
    names = ("chunk", "op", "step", "src", "dst", "src_buffer", "dst_buffer")
    found = {name: getattr(schedule, name) for name in names}
    columns = {name: [0] * schedule.transfers if column is None else column.tolist() for name, column in found.items()}
    row, what = rng.randrange(schedule.transfers), rng.choice((*names[1:], "drop", "double"))
    if what in ("drop", "double"):
        for column in columns.values():
            column[row : row + 1] = [column[row]] * (2 * (what == "double"))
    else:
        nodes = len(schedule.topology.kind)
        choices = {"op": 2, "step": schedule.steps, "src": nodes, "dst": nodes}
        columns[what][row] = rng.randrange(choices.get(what, schedule.buffers))
    rows = list(zip(*(columns[name] for name in names[:5]), strict=True))
    return build(
        schedule.topology, schedule.collective, rows, roots=schedule.chunk_root.tolist(), buffers=schedule.buffers,
        targets=None if schedule.chunk_target is None else schedule.chunk_target.tolist(), delay=schedule.delay,
        chunk_granules=schedule.chunk_granules, rounds=None if schedule.chunk_granules is None else schedule.rounds.tolist(),
        src_buffer=columns["src_buffer"], dst_buffer=columns["dst_buffer"],
    )  # fmt: skip
