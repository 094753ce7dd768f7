"""The least bandwidth time of a collective among some endpoints of a small network, by trees that are all listed.

It shares nothing with `certree.verify`: every set of links is looked at. Whatever packs trees can be repeated without contention
(each link has a slot for each tree that it is in), so no lower bound may exceed what is found here.
"""

from collections.abc import Sequence
from itertools import combinations

from ortools.linear_solver import pywraplp

Link = tuple[int, int]


def trees(links: Sequence[Link], root: int, members: Sequence[int]) -> list[frozenset[Link]]:
    """All smallest sets of links over which every member can be reached from the root."""
    found: list[frozenset[Link]] = []
    nodes = {node for link in links for node in link}
    for size in range(len(nodes)):
        for chosen in combinations(links, size):
            tree = frozenset(chosen)
            if set(members) <= reached(tree, root) and not any(smaller <= tree for smaller in found):
                found.append(tree)
    return found


def reached(links: frozenset[Link], root: int) -> set[int]:
    """The nodes that a root reaches over these links."""
    seen = {root}
    while more := {v for u, v in links if u in seen} - seen:
        seen |= more
    return seen


def least_time(kind: str, capacity: dict[Link, int], members: Sequence[int], root: int | None) -> float:
    """Rounds per chunk of the message, without end."""
    solver = pywraplp.Solver.CreateSolver("GLOP")
    rounds = solver.NumVar(0, solver.infinity(), "")
    load: dict[Link, list[pywraplp.Variable]] = {link: [] for link in capacity}
    links, back = sorted(capacity), sorted((v, u) for u, v in capacity)
    nodes = sorted({node for link in links for node in link})

    def packed(start: int, *, turned: bool) -> pywraplp.LinearExpr:
        """How much of the message goes along trees from a node to all members, or the other way."""
        amounts = []
        for tree in trees(back if turned else links, start, members):
            amounts.append(solver.NumVar(0, solver.infinity(), ""))
            for u, v in tree:
                load[(v, u) if turned else (u, v)].append(amounts[-1])
        return sum(amounts)

    if kind == "all-reduce":
        each = [(packed(node, turned=True), packed(node, turned=False)) for node in nodes]
        for there, forth in each:
            solver.Add(there == forth)
        solver.Add(sum(there for there, _ in each) == 1)
    else:
        for node in members if root is None else [root]:
            solver.Add(packed(node, turned=kind in ("reduce", "reduce-scatter")) == 1 / (1 if root is not None else len(members)))
    for link, amounts in load.items():
        solver.Add(sum(amounts) <= capacity[link] * rounds)
    solver.Minimize(rounds)
    assert solver.Solve() == solver.OPTIMAL
    return float(rounds.solution_value())


def least_flow(blocks: dict[tuple[int, int], float], capacity: dict[Link, int]) -> float:
    """Rounds, when so much goes from one node to another: a flow for each source, of as many variables as there are links."""
    solver = pywraplp.Solver.CreateSolver("GLOP")
    rounds, load = solver.NumVar(0, solver.infinity(), ""), {link: [] for link in capacity}
    nodes = sorted({node for link in capacity for node in link})
    for source in sorted({source for source, _ in blocks}):
        flow = {link: solver.NumVar(0, solver.infinity(), "") for link in capacity}
        for link in capacity:
            load[link].append(flow[link])
        for node in nodes:
            if node != source:
                into = sum(flow[link] for link in capacity if link[1] == node)
                out = sum(flow[link] for link in capacity if link[0] == node)
                solver.Add(into - out == blocks.get((source, node), 0))
    for link, width in capacity.items():
        solver.Add(sum(load[link]) <= width * rounds)
    solver.Minimize(rounds)
    assert solver.Solve() == solver.OPTIMAL
    return float(rounds.solution_value())
