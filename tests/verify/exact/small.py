"""Small networks, and a second opinion on questions: exhaustive search that shares nothing with the encoder but the topology."""

from itertools import chain, combinations, pairwise, product

import networkx as nx
import numpy as np

from certree.models.network.topology import NodeKind, Topology
from certree.models.schedule.collective import CollectiveKind


def network(edges, capacity=1, switches=(), reducing=(), nodes=None, name="drawn") -> Topology:
    """Both directions of every edge; an edge may bring its own capacity."""
    links = [(a, b, c[0] if c else capacity) for edge in edges for a, b, *c in (edge, (edge[1], edge[0], *edge[2:]))]
    count = nodes or 1 + max(max(link[:2]) for link in links)
    kind = np.full(count, NodeKind.ENDPOINT, np.int8)
    kind[list(switches)] = NodeKind.SWITCH
    flags = np.zeros(count, np.bool_)
    flags[list(reducing)] = True
    src, dst, size = np.array(sorted(links), np.int32).T
    return Topology(name, kind, src, dst, size, np.full(len(src), -1, np.int32), flags)


def connected_graphs():
    """Every connected graph of 2 to 4 nodes, one of each shape."""
    for graph in nx.graph_atlas_g():
        if 2 <= graph.number_of_nodes() <= 4 and nx.is_connected(graph):
            yield network(sorted(graph.edges), name=f"atlas {sorted(graph.edges)}")


GRAPHS = list(connected_graphs())


def barbell(size: int) -> Topology:
    """Two complete graphs and one edge between them."""
    inside = [edge for low in (0, size) for edge in combinations(range(low, low + size), 2)]
    return network([*inside, (0, size)], name=f"barbell of two K{size}")


def compositions(total: int, parts: int):
    """All ways to split `total` rounds into `parts` steps of one or more."""
    for cuts in combinations(range(1, total), parts - 1):
        marks = (0, *cuts, total)
        yield [after - before for before, after in pairwise(marks)]


def links_of(topology: Topology):
    """(tail, head, capacity), parallel links as they are."""
    return list(zip(topology.src.tolist(), topology.dst.tolist(), topology.capacity.tolist(), strict=True))


def spreads(topology: Topology, chunks, steps: int, rounds: int) -> bool:
    """Whether chunks [(source, targets)] can be spread on a direct network; every state that maximal sends reach is looked at."""
    links = links_of(topology)
    goal = [(target, chunk) for chunk, (_, targets) in enumerate(chunks) for target in targets]
    start = frozenset((source, chunk) for chunk, (source, _) in enumerate(chunks))
    for lengths in compositions(rounds, steps):
        states = {start}
        for length in lengths[:-1]:
            states = set(chain.from_iterable(_after(state, links, length, len(chunks)) for state in states))
        if any(_ends_well(state, links, lengths[-1], goal) for state in states):
            return True
    return False


def _ends_well(state, links, length, goal) -> bool:
    """Whether one more step brings everything where it is due; links into different nodes do not compete."""
    missing: dict = {}
    for node, chunk in goal:
        if (node, chunk) not in state:
            missing.setdefault(node, []).append(chunk)
    return all(
        _assign(chunks, [[tail, capacity * length] for tail, head, capacity in links if head == node], state)
        for node, chunks in missing.items()
    )


def _assign(chunks, room, state) -> bool:
    """Whether every chunk can come over a link with room from a node that holds it."""
    if not chunks:
        return True
    for link in room:
        if link[1] and (link[0], chunks[0]) in state:
            link[1] -= 1
            if _assign(chunks[1:], room, state):
                return True
            link[1] += 1
    return False


def _after(state, links, length, chunks):
    options = []
    for tail, head, capacity in links:
        useful = [chunk for chunk in range(chunks) if (tail, chunk) in state and (head, chunk) not in state]
        options.append([[(head, chunk) for chunk in some] for some in combinations(useful, min(capacity * length, len(useful)))])
    return {state.union(*choice) for choice in product(*options)}


def sums(topology: Topology, chunks: int, steps: int, due) -> bool:
    """Whether `steps` steps of one round add up all contributions to every (node, chunk) of `due`; direct networks, one
    accumulator for each node and chunk, a set of contributions as a bit mask."""
    links = links_of(topology)
    nodes = len(topology.kind)
    everyone = (1 << nodes) - 1
    states = {tuple(tuple(1 << node for _ in range(chunks)) for node in range(nodes))}
    for _ in range(steps - 1):
        states = {
            state for before in states for state in product(*(_results(before, node, links, chunks) for node in range(nodes)))
        }
    return any(
        all(
            any(
                all(result[chunk] == everyone for owner, chunk in due if owner == node)
                for result in _results(state, node, links, chunks)
            )
            for node in range(nodes)
        )
        for state in states
    )


def _results(state, node, links, chunks):
    """What a node can hold after a step: links into different nodes do not compete."""
    into = [(tail, capacity) for tail, head, capacity in links if head == node]
    choices = []
    for tail, capacity in into:
        each = list(product((None, "reduce", "copy"), repeat=chunks))
        choices.append([(tail, ops) for ops in each if sum(op is not None for op in ops) <= capacity])
    results = set()
    for arrivals in product(*choices):
        held = [
            _landed(state, node, chunk, [(tail, ops[chunk]) for tail, ops in arrivals if ops[chunk]]) for chunk in range(chunks)
        ]
        if None not in held:
            results.add(tuple(held))
    return results


def _landed(state, node, chunk, arrivals):
    """The set after these arrivals, None where they are wrong."""
    if any(op == "copy" for _, op in arrivals):
        return state[arrivals[0][0]][chunk] if len(arrivals) == 1 else None
    held = state[node][chunk]
    for tail, _ in arrivals:
        if held & state[tail][chunk]:
            return None
        held |= state[tail][chunk]
    return held


def wanted(kind: CollectiveKind, ends, root, each: int):
    """The chunks [(source, targets)] of a collective that spreads."""
    others = [node for node in ends if node != root]
    table = {
        CollectiveKind.ALL_GATHER: [(node, [other for other in ends if other != node]) for node in ends],
        CollectiveKind.ALL_TO_ALL: [(node, [other]) for node in ends for other in ends if other != node],
        CollectiveKind.BROADCAST: [(root, others)],
        CollectiveKind.SCATTER: [(root, [node]) for node in others],
        CollectiveKind.GATHER: [(node, [root]) for node in others],
    }
    return [chunk for chunk in table[kind] for _ in range(each)]
