"""A second checker, slow and simple: it expands the repeats and really moves integers and tokens, one dictionary entry per cell.

It shares nothing with `certree.verify` but the columns of the schedule. Memory that no one has written holds garbage.
"""

import itertools
from collections import Counter, defaultdict
from dataclasses import dataclass, field

from certree.models.network.routing import DIRECT
from certree.models.network.topology import NodeKind
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import Op

GARBAGE = "garbage"


@dataclass
class Opinion:
    """`broken`: links or cells cannot do what is asked. `wrong`: an endpoint ends with other data than promised. `tainted`: garbage
    or a sum that counts something twice was made on the way, even if it was overwritten later."""

    broken: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    tainted: list[str] = field(default_factory=list)

    @property
    def harmless(self) -> bool:
        """Whether every run of the schedule is possible and ends with the right data."""
        return not self.broken and not self.wrong

    @property
    def clean(self) -> bool:
        """Harmless, and nothing wrong on the way either."""
        return self.harmless and not self.tainted


def brute_force(schedule: Schedule) -> Opinion:
    opinion = Opinion()
    moves = _expanded(schedule)
    _check_links(schedule, moves, opinion)
    _check_blocks(schedule, opinion)
    if not opinion.broken:
        _move_data(schedule, moves, opinion)
    return opinion


def _holds(topology, node):
    return topology.kind[node] == NodeKind.ENDPOINT or (topology.kind[node] == NodeKind.SWITCH and bool(topology.reducing[node]))


def _expanded(schedule):
    names = ("chunk", "op", "step", "src", "dst", "route")
    rows = list(zip(*(getattr(schedule, name).tolist() for name in names), strict=True))
    return [
        (iteration * schedule.chunks + chunk, op, iteration * (schedule.period or 0) + step, src, dst, route)
        for iteration in range(schedule.repeats)
        for chunk, op, step, src, dst, route in rows
    ]


def _check_links(schedule, moves, opinion):
    topology = schedule.topology
    links = list(zip(topology.src.tolist(), topology.dst.tolist(), topology.capacity.tolist(), strict=True))
    named, anywhere = Counter(), Counter()
    for _, _, step, src, dst, route in moves:
        if src == dst or not (_holds(topology, src) and _holds(topology, dst)):
            opinion.broken.append(f"{src}>{dst}: ends")
        elif route == DIRECT:
            anywhere[step, src, dst] += 1
        else:
            path = [links[link] for link in schedule.routes[route]]
            forwarding = {NodeKind.SWITCH} if NodeKind.SWITCH in topology.kind else {NodeKind.ENDPOINT}
            chained = all(a[1] == b[0] and topology.kind[a[1]] in forwarding for a, b in itertools.pairwise(path))
            visited = [path[0][0], *(link[1] for link in path)]
            if not chained or path[0][0] != src or path[-1][1] != dst or len(set(visited)) < len(visited):
                opinion.broken.append(f"{src}>{dst}: route")
            for link in schedule.routes[route]:
                named[step, link] += 1
    rounds = schedule.rounds.tolist()

    def room(step, link):
        length = rounds[step] if schedule.period is None else 1
        return links[link][2] * length - named[step, link]

    for step, link in named:
        if room(step, link) < 0:
            opinion.broken.append(f"step {step}: link {link}")
    for (step, src, dst), count in anywhere.items():
        free = sum(room(step, number) for number, link in enumerate(links) if link[:2] == (src, dst))
        if count > free:
            opinion.broken.append(f"step {step}: {src}>{dst}")


def _move_data(schedule, moves, opinion):
    ends = schedule.topology.endpoints.tolist()
    switches = [node for node in range(len(schedule.topology.kind)) if node not in ends and _holds(schedule.topology, node)]
    number = {node: 1_000_003 * (rank + 1) ** 5 + 17 * rank for rank, node in enumerate(ends)}
    summed = schedule.collective.kind in ("all-reduce", "reduce-scatter", "reduce")
    tokens, value, wanted = {}, {}, {}
    for iteration in range(schedule.repeats):
        for base, root in enumerate(schedule.chunk_root.tolist()):
            chunk = iteration * schedule.chunks + base
            for node in switches:  # accumulators start empty
                tokens[node, chunk], value[node, chunk] = Counter(), 0
            for node in ends:
                own = summed or node == root
                tokens[node, chunk] = Counter([node if own else GARBAGE])
                value[node, chunk] = number[node] if own else -7
                if node in _due(schedule, base, ends):
                    wanted[node, chunk] = ends if summed else [root]
    landings, departures = defaultdict(list), defaultdict(list)
    for chunk, op, step, src, dst, _ in moves:
        departures[step].append((chunk, op, src, dst))
    for now in sorted({*departures, *(step + schedule.delay for step in departures)}):
        _land(landings.pop(now, []), tokens, value, opinion)
        for chunk, op, src, dst in departures[now]:
            if GARBAGE in tokens[src, chunk] or not tokens[src, chunk]:
                opinion.tainted.append(f"step {now}: node {src} sends garbage")
            landings[now + schedule.delay].append((dst, chunk, op, Counter(tokens[src, chunk]), value[src, chunk]))
    for cell, due in wanted.items():
        if tokens[cell] != Counter(due) or value[cell] != sum(number[node] for node in due):
            opinion.wrong.append(f"node {cell[0]}, chunk {cell[1]}: {dict(tokens[cell])}")


def _due(schedule, chunk, ends):
    """Where a chunk must be in the end."""
    match schedule.collective.kind:
        case "all-reduce" | "all-gather" | "broadcast":
            return ends
        case "reduce-scatter" | "reduce":
            return [schedule.chunk_root[chunk]]
        case "all-to-all" | "gather" | "scatter":
            return [schedule.chunk_target[chunk]]


def _check_blocks(schedule, opinion):
    """Everyone that is to send something to someone sends equally much."""
    ends, root = schedule.topology.endpoints.tolist(), schedule.collective.root
    wanted = {
        "all-to-all": [(a, b) for a in ends for b in ends if a != b],
        "gather": [(a, root) for a in ends if a != root],
        "scatter": [(root, b) for b in ends if b != root],
    }.get(schedule.collective.kind)
    if wanted is not None:
        blocks = list(zip(schedule.chunk_root.tolist(), schedule.chunk_target.tolist(), strict=True))
        if sorted(blocks) != sorted(wanted * blocks.count(wanted[0])):
            opinion.broken.append(f"unequal blocks: {blocks}")


def _land(arrivals, tokens, value, opinion):
    reached = Counter((dst, chunk) for dst, chunk, *_ in arrivals)
    for dst, chunk, op, carried, amount in arrivals:
        if op == Op.COPY:
            if reached[dst, chunk] > 1:
                opinion.broken.append(f"node {dst}, chunk {chunk}: a copy and something else at once")
            tokens[dst, chunk], value[dst, chunk] = carried, amount
        else:
            tokens[dst, chunk] = tokens[dst, chunk] + carried
            value[dst, chunk] += amount
            if max(tokens[dst, chunk].values()) > 1 or GARBAGE in tokens[dst, chunk]:
                opinion.tainted.append(f"node {dst}, chunk {chunk}: {dict(tokens[dst, chunk])}")
