"""In-network reduction: switches add the data from below and multicast the sum.

Source: NetReduce, Appendices A (single: one level, cost alpha + M/B) and B, Equation (3) (hierarchical: scatter inside every
machine, in-network reduction of each share across machines, gather inside).
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from certree.models.common.errors import UnsupportedError
from certree.models.network.topology import Int32, Topology
from certree.models.schedule.collective import CollectiveKind
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import Op
from certree.synth.graphs.switch_tree import SwitchTree, central_switches, shortest_path_tree
from certree.synth.method import Options, Request, Variant, choice, method
from certree.synth.price import FREE
from certree.synth.ranks.embedding import ROUNDS, Rows, embed, shortest_pipeline
from certree.synth.ranks.group_plans import ring_plan
from certree.synth.ranks.layout import FACTORS, layout_of
from certree.synth.ranks.staged import every_place, gather, run_stages, scatter


@method(
    "netreduce",
    [CollectiveKind.ALL_REDUCE],
    options={**ROUNDS, "factors": FACTORS, "form": choice("single", "hierarchical")},
    order=5,
    is_sparse=True,
    is_sized=True,
    variants=[Variant({"form": "hierarchical"}, in_auto=False)],
    price=lambda *_: FREE,
)
def netreduce(request: Request, options: Options) -> Schedule:
    """Endpoints send to reducing switches, which add, pass on the sum to the next switch above, and multicast the total down.

    form=single (the default): every endpoint sends its whole vector; chunks follow each other up and down the tree, as many as
    are fastest at this size, or `chunks`. form=hierarchical: a ring reduce-scatter inside each machine first, then every share
    goes up from the endpoints of its place, and a ring all-gather last; machines are the first dimension of option factors=8x4, by
    default the network decides (`certree.synth.ranks.layout`). Chunks take the central switches in turn as roots. Needs switches
    marked reducing (`switch:8,reducing=switches`) above all endpoints.
    """
    trees = aggregations(request.topology)
    if options["form"] == "hierarchical":
        return _hierarchical(request, trees, options)
    if options["factors"] is not None:
        raise UnsupportedError("netreduce: factors=... goes with form=hierarchical")

    def make(chunks: int) -> Schedule:
        rows = Rows()
        for chunk in range(chunks):
            trees[chunk % len(trees)].add(request.topology.endpoints, chunk, chunk // len(trees), rows)
        return embed(request, np.zeros(chunks), rows.columns, method="netreduce", options=options)

    lanes = request.topology.lanes  # of a full link, each with a chunk
    if request.chunks is not None and request.chunks % lanes == 0:
        return make(request.chunks // lanes)
    return make(1) if request.chunks is not None else shortest_pipeline(request, make)


def _hierarchical(request: Request, trees: list["Aggregation"], options: dict[str, Any]) -> Schedule:
    """One chunk for each place of a machine."""
    layout = layout_of(request.topology, options["factors"]).flattened()
    size, machines = layout.sizes
    if machines == 1:
        raise UnsupportedError(
            f"netreduce: {size} endpoints make one machine, with nothing to reduce across; factors=... gives more"
        )
    options["factors"] = f"{size}x{machines}"
    shares, plan, rows = every_place((size, 1)), ring_plan(size), Rows()
    step = run_stages(layout.sizes, layout.nodes, shares, [scatter(0, plan)], rows)
    places = layout.nodes.reshape(machines, size)
    steps = [trees[place % len(trees)].add(places[:, place], place, step, rows) for place in range(size)]
    run_stages(layout.sizes, layout.nodes, shares, [gather(0, plan)], rows, first_step=step + max(steps))
    return embed(request, np.zeros(size), rows.columns, method="netreduce", options=options)


def aggregations(topology: Topology) -> list["Aggregation"]:
    """A tree for each central switch that reduces; where none does, one for the first, with the reducing switches below it."""
    central = central_switches(topology)
    roots = [switch for switch in central if topology.reducing[switch]] or [central[0]]
    return [Aggregation(shortest_path_tree(topology, root)) for root in roots]


@dataclass(frozen=True)
class Climb:
    """Paths from nodes (`lower`) to the reducing switches above them (`upper`), up to `top`; `level`: of each step, from 1."""

    lower: Int32
    upper: Int32
    level: Int32
    top: int

    @property
    def height(self) -> int:
        """Number of levels."""
        return int(self.level.max())


class Aggregation:
    """The reducing switch that each node of a tree sends to, on the path to the root; other switches only forward."""

    def __init__(self, tree: SwitchTree) -> None:
        self._name, self._reducing = tree.topology.name, tree.topology.reducing
        above = {child: switch for switch, below in tree.children.items() for child in below}
        self._parent: dict[int, int] = {}
        for node in (*above, tree.root):
            switch = above.get(node)
            while switch is not None and not self._reducing[switch]:
                switch = above.get(switch)
            if switch is not None:
                self._parent[node] = switch

    def add(self, members: Int32, chunk: int, first_step: int, rows: Rows) -> int:
        """Sum `chunk` of all members at the lowest switch above them all, and spread the sum; returns the number of steps: two for
        each level. Errors and cost as `climb`."""
        climb = self.climb(members)
        rows.add(chunk, Op.REDUCE, first_step + climb.level - 1, climb.lower, climb.upper)
        rows.add(chunk, Op.COPY, first_step + 2 * climb.height - climb.level, climb.upper, climb.lower)
        return 2 * climb.height

    def climb(self, members: Int32) -> "Climb":
        """The routes of some endpoints up to the lowest switch above them all. UnsupportedError where there is no such switch.
        O(members · levels)."""
        paths = [self._path(node) for node in members.tolist()]
        common = set(paths[0]).intersection(*paths[1:])
        if not self._reducing.any():
            raise UnsupportedError(f"{self._name} has no switch that can reduce; append ,reducing=switches to its name")
        if not common:
            apart = next(path for path in paths[1:] if not set(path) & set(paths[0]))
            raise UnsupportedError(
                f"netreduce: {self._name} has no reducing switch above both node {members[0]} and node {apart[0]};"
                " reducing=switches marks them all"
            )
        top = next(node for node in paths[0] if node in common)
        height: dict[int, int] = {}
        edges: dict[int, int] = {}
        for path in paths:
            for hop, (child, parent) in enumerate(pairwise(path[: path.index(top) + 1]), 1):
                edges[child] = parent
                height[parent] = max(height.get(parent, 0), hop)
        lower, upper = np.array(sorted(edges.items()), np.int32).T
        level = np.array([height[parent] for parent in upper.tolist()], np.int32)
        return Climb(lower, upper, level, top)

    def _path(self, node: int) -> list[int]:
        """The node and the reducing switches above it."""
        path = [node]
        while path[-1] in self._parent:
            path.append(self._parent[path[-1]])
        return path
