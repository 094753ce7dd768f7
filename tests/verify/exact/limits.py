"""A second opinion on questions with limited room: walks and states tried one by one; shares nothing with the encoder."""

from itertools import pairwise, product

from certree.models.network.topology import Topology
from tests.verify.exact.small import compositions, links_of


def carried(topology: Topology, pairs, steps: int, rounds: int, *, memory=None, scratch=None) -> bool:
    """Whether chunks [(source, target)] can be carried on a direct network where nodes have little room.

    Every chunk takes a walk: where its newest copy is when each step begins, and at the end. `memory` limits the copies at a node,
    `scratch` those of chunks that neither start nor end there.
    """
    room = {(tail, head): 0 for tail, head, _ in links_of(topology)}
    for tail, head, capacity in links_of(topology):
        room[tail, head] += capacity
    walks = [[walk for walk in _walks(room, source, steps) if walk[-1] == target] for source, target in pairs]
    for lengths in compositions(rounds, steps):
        free = {(ends, step): size * lengths[step] for ends, size in room.items() for step in range(steps)}
        spaces = {}
        for node in range(len(topology.kind)):
            for time in range(steps + 1):
                spaces["memory", node, time] = memory
                spaces["scratch", node, time] = scratch
        if _fit(walks, free, {place: most for place, most in spaces.items() if most is not None}):
            return True
    return False


def _walks(room, source: int, steps: int):
    """All ways to stay or hop that come to no node twice."""
    if steps == 0:
        return [(source,)]
    longer = []
    for walk in _walks(room, source, steps - 1):
        hops = [head for tail, head in room if tail == walk[-1] and head not in walk]
        longer += [(*walk, node) for node in (walk[-1], *hops)]
    return longer


def _fit(walks, free, spaces) -> bool:
    """Whether each chunk can take one of its walks."""
    if not walks:
        return True
    for walk in walks[0]:
        used = [((a, b), step) for step, (a, b) in enumerate(pairwise(walk)) if a != b]
        stored = [("memory", node, time) for time, node in enumerate(walk)]
        stored += [("scratch", node, time) for time, node in enumerate(walk) if node not in (walk[0], walk[-1])]
        taken = [(free, key) for key in used] + [(spaces, key) for key in stored if key in spaces]
        if all(table[key] > 0 for table, key in taken):
            for table, key in taken:
                table[key] -= 1
            if _fit(walks[1:], free, spaces):
                return True
            for table, key in taken:
                table[key] += 1
    return False


def sums_with_slots(topology: Topology, slots: int, steps: int) -> bool:
    """Whether `steps` steps of one round sum up one chunk everywhere; a node has an accumulator and `slots` slots.

    A state is, for each node, what its cells hold as bit masks, None for a slot in which nothing has landed.
    """
    links = links_of(topology)
    nodes = range(len(topology.kind))
    everyone = (1 << len(nodes)) - 1
    sources = {node: [tail for tail, head, capacity in links if head == node for _ in range(capacity)] for node in nodes}
    known: dict = {}

    def after(state, node):
        around = (state[node], tuple(state[tail] for tail in sources[node]))
        if around not in known:
            known[around] = _cells_after(*around)
        return known[around]

    states = {tuple((1 << node, *[None] * slots) for node in nodes)}
    for _ in range(steps - 1):
        states = {one for state in states for one in product(*(after(state, node) for node in nodes))}
    return any(all(any(cells[0] == everyone for cells in after(state, node)) for node in nodes) for state in states)


def _cells_after(own, tails):
    """What the cells of a node can hold after a step: over each link comes what one cell of its tail holds, or nothing."""
    cells = range(len(own))
    moves = [(op, cell) for op in ("add", "replace") for cell in cells]
    options = [[None, *[(held, *move) for held in set(tail) - {None} for move in moves]] for tail in tails]
    for source in cells:
        for target in cells:
            if source != target and own[source] is not None:
                options.append([None, (own[source], "add", target), (own[source], "replace", target)])
    results = set()
    for chosen in product(*options):
        landed = tuple(_landed(own[cell], [(held, op) for held, op, to in filter(None, chosen) if to == cell]) for cell in cells)
        if "wrong" not in landed:
            results.add(landed)
    return results


def _landed(held, arrivals):
    """What a cell holds after these arrivals."""
    if any(op == "replace" for _, op in arrivals):
        return arrivals[0][0] if len(arrivals) == 1 else "wrong"
    for brought, _ in arrivals:
        if held is None or held & brought:
            return "wrong"
        held |= brought
    return held
