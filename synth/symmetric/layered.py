"""Trees at one node that reach all others in the fewest steps, which last several rounds each.

`cayley.grow_trees` makes steps of one round. Here a step has as many rounds as the nodes at its distance fill; a node is reached
later than its distance says only where a round would not be full.
"""

import random

import numpy as np
from numpy.typing import NDArray

from certree.models.schedule.collective import Collective, CollectiveKind
from certree.models.schedule.schedule import Schedule, make_schedule
from certree.models.schedule.schedule_columns import Op
from certree.synth.symmetric.translations import Cayley

TRIES = 20
FAR = 1 << 10  # the cost of reaching a node in place of one that is a hop nearer; random costs are less


def layered_schedule(cayley: Cayley, trees: int) -> Schedule | None:
    """An all-gather of `trees` chunks per node in as many steps as hops to the farthest node, and the rounds of the trees' edges;
    None where TRIES tries find none. Delay 1. O(TRIES · trees · links · nodes) at worst."""
    rounds = step_rounds(cayley, trees)
    if rounds is None:
        return None
    chance = random.Random(0)
    for _ in range(TRIES):
        edges = _grown(cayley, trees, rounds, chance)
        if edges is not None:
            return _written_out(cayley, trees, rounds, edges)
    return None


def step_rounds(cayley: Cayley, trees: int) -> list[int] | None:
    """The rounds of each step, at least one: as early as nodes are near enough to fill them, and in all as few as the edges of the
    trees need; None where these are fewer than the steps."""
    steps, edges = cayley.radius, trees * (cayley.nodes - 1)
    total = -(-edges // cayley.degree)
    near = np.cumsum(np.bincount(cayley.topology.distances(0))[1:]) * trees
    until = [min(total - steps + step, max(step, int(near[step - 1]) // cayley.degree)) for step in range(1, steps)]
    until.append(total)
    rounds = np.diff([0, *until]).tolist()
    return rounds if min(rounds) > 0 else None


def _grown(cayley: Cayley, trees: int, rounds: list[int], chance: random.Random) -> NDArray[np.int64] | None:
    """(tree, step, parent, child) of each edge, or None. In every step a flow of least cost gives each generator as many nodes as
    it can reach in the rounds of the step, the nearest to the root first, in any tree."""
    distance = cayley.topology.distances(0).astype(np.int64)
    step_of = np.full((trees, cayley.nodes), -1)  # the step in which a node is reached; that of the root is not counted
    step_of[:, 0] = 0
    found = []
    for step, width in enumerate(rounds, 1):
        tree, parent, generator = _open(cayley, step_of)
        child = cayley.heads[parent, generator].astype(np.int64)
        cell = tree * cayley.nodes + child
        taken = _chosen(cayley.capacity * width, generator, cell, distance[child] * FAR, chance)
        step_of.ravel()[cell[taken]] = step
        found.append(np.stack((tree[taken], np.full(len(taken), step - 1), parent[taken], child[taken])))
    return None if (step_of < 0).any() else np.concatenate(found, axis=1)


def _open(cayley: Cayley, step_of: NDArray[np.int64]) -> tuple[NDArray[np.int64], ...]:
    """(tree, parent, generator) of each edge from a node that has been reached to one that has not."""
    reached = step_of >= 0
    tree, parent, generator = np.nonzero(reached[:, :, None] & ~reached[:, cayley.heads])
    return tree, parent, generator


def _chosen(
    room: NDArray[np.int64], generator: NDArray[np.int64], cell: NDArray[np.int64], cost: NDArray[np.int64], chance: random.Random
) -> NDArray[np.int64]:
    """Edges, one for each of as many cells as possible, no more than `room` of a generator, of least cost."""
    from ortools.graph.python.min_cost_flow import SimpleMinCostFlow  # noqa: PLC0415

    cells, place = np.unique(cell, return_inverse=True)
    solver = SimpleMinCostFlow()
    source, sink = len(room) + len(cells), len(room) + len(cells) + 1
    drawn = np.array([chance.randrange(FAR) for _ in cell], np.int64)
    first = solver.add_arcs_with_capacity_and_unit_cost(generator, len(room) + place, np.ones(len(cell), np.int64), cost + drawn)
    generators, ends = np.arange(len(room)), np.arange(len(cells)) + len(room)
    solver.add_arcs_with_capacity_and_unit_cost(np.full(len(room), source), generators, room, 0 * room)
    ones = np.ones(len(cells), np.int64)
    solver.add_arcs_with_capacity_and_unit_cost(ends, np.full(len(cells), sink), ones, 0 * ones)
    solver.set_node_supply(source, int(room.sum()))
    solver.set_node_supply(sink, -int(room.sum()))
    solver.solve_max_flow_with_min_cost()
    return np.flatnonzero(np.asarray(solver.flows(first)))


def _written_out(cayley: Cayley, trees: int, rounds: list[int], edges: NDArray[np.int64]) -> Schedule:
    """The images of all edges: chunk c·N + v is tree c at node v."""
    tree, step, parent, child = edges
    nodes = cayley.nodes
    image = cayley.action.carried(np.arange(nodes))  # [v, w]: where the translation of 0 to v takes w
    columns = {
        "chunk": (tree * nodes + np.arange(nodes)[:, None]).ravel(),
        "step": np.tile(step, nodes),
        "src": image[:, parent].ravel(),
        "dst": image[:, child].ravel(),
    }
    columns = {name: column.astype(np.int32) for name, column in columns.items()}
    columns["op"] = np.full(len(columns["step"]), Op.COPY, np.int8)
    root = np.tile(np.arange(nodes, dtype=np.int32), trees)
    provenance = {"method": "symmetric", "trees_per_node": trees}
    collective = Collective(CollectiveKind.ALL_GATHER)
    return make_schedule(cayley.topology, collective, root, columns, rounds=rounds, provenance=provenance)
