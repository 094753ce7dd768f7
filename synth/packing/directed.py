"""All-reduces where the two directions of a link differ: in-trees that reduce and out-trees that copy, packed separately.

A chunk is reduced to its root along one branching and copied from there along another. Let k_v of K chunks have the root v, and let
the copies take y_e of link e's L · capacity units and the reduces what is left. By Edmonds' theorem both packings exist just when,
for every set S of nodes with an endpoint inside, the copies have room for the K − k(S) chunks that must enter S, and the reduces
for as many that must leave it. The best rate K/L is a linear program; sets that lack room are found by maximum flows and added
one after the other (cutting planes). Floating point proposes K, L, k and y; maximum flows in whole numbers decide.

The sets that limit the best solution also lead to the bound that no schedule can beat (`certree.synth.bounds.tolls`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import floor, lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.models.common.errors import UndecidedError
from certree.models.network.topology import Int32, Topology
from certree.models.schedule.collective import Collective
from certree.synth import _native
from certree.synth.packing.spanning_trees import AllReduceNetwork
from certree.synth.packing.trees import NONE, TreeFamily, depths

MAX_WORK = 1 << 19  # endpoints times joined pairs for which the program is solved: some seconds
MAX_PERIOD = 1024  # of a solution in whole numbers
_ROUNDS = 100  # of cutting planes
_BRANCHES = 200  # of the search for whole numbers, in each round
_SCALE = 1 << 20  # of solutions while sets are looked for

Int64 = NDArray[np.int64]
Side = tuple[bool, bytes]  # whether copies must enter the set, or reduces leave it, and the set as flags by node id


@dataclass(frozen=True)
class Shares:
    """The shares in a period: the number of chunks with their root at each node id, and the capacity of each pair for copies."""

    roots: Int64
    copies: Int64


@dataclass(frozen=True)
class Relaxed:
    """The best solution for one round in floating point, and the sets whose room limits it."""

    rate: float
    roots: NDArray[np.float64]
    copies: NDArray[np.float64]
    limiting: tuple[Side, ...]


class Split:
    """Splits of the capacity of a network between copies and reduces. Sets that lack room are kept for later calls."""

    def __init__(self, topology: Topology) -> None:
        from ortools.graph.python import max_flow  # noqa: PLC0415

        self._topology, self._nodes = topology, len(topology.kind)
        self._flows: dict[bool, tuple[Any, Any]] = {}
        ends = topology.endpoints
        for copying in (True, False):
            tail, head = topology.pair_src, topology.pair_dst
            tail, head = (tail, head) if copying else (head, tail)
            flow: Any = max_flow.SimpleMaxFlow()
            tails, heads = np.concatenate((tail, np.full(len(ends), self._nodes))), np.concatenate((head, ends))
            self._flows[copying] = flow, flow.add_arcs_with_capacity(tails, heads, np.zeros(len(tails), np.int64))
        alone = [np.arange(self._nodes) == node for node in ends.tolist()]
        self._known: dict[Side, None] = dict.fromkeys(
            (copying, inside.tobytes()) for one in alone for inside in (one, ~one) for copying in (True, False)
        )

    def best(self) -> Relaxed:
        """The most chunks per round. At most _ROUNDS linear programs, each with two maximum flows for each endpoint."""
        program, roots, copies = self._program("GLOP", 1)
        program.Maximize(sum(roots.values()))
        rows = {side: self._add(program, roots, copies, side, 1) for side in self._known}
        for _ in range(_ROUNDS):
            if program.Solve() != program.OPTIMAL:
                raise UndecidedError("undecided: the linear program of an all-reduce ended without a solution")
            found = np.zeros(self._nodes)
            found[list(roots)] = [variable.solution_value() for variable in roots.values()]
            taken = np.array([variable.solution_value() for variable in copies])
            whole = Shares(np.rint(found * _SCALE).astype(np.int64), np.rint(taken * _SCALE).astype(np.int64))
            fresh = self._lacking(whole, _SCALE, spare=self._nodes + len(taken)) - rows.keys()
            if not fresh:
                break
            rows |= {side: self._add(program, roots, copies, side, 1) for side in sorted(fresh)}
        self._known |= dict.fromkeys(rows)
        limiting = tuple(side for side, row in rows.items() if abs(row.dual_value()) > 1e-9)
        return Relaxed(float(program.Objective().Value()), found, taken, limiting)

    def whole(self, chunks: int, period: int) -> Shares | None:
        """Shares for `chunks` chunks in `period` rounds, with roots in the middle of the network where possible; None where none
        are found within _BRANCHES branches per round, which proves nothing."""
        program, roots, copies = self._program("SCIP", period)
        program.SetSolverSpecificParametersAsString(f"limits/nodes = {_BRANCHES}\nrandomization/randomseedshift = 0\n")
        program.Add(sum(roots.values()) == chunks)
        for side in self._known:
            self._add(program, roots, copies, side, period)
        far = self.far
        program.Minimize(sum(int(far[node]) * variable for node, variable in roots.items()))
        for _ in range(_ROUNDS):
            if program.Solve() not in (program.OPTIMAL, program.FEASIBLE):
                return None
            held = np.zeros(self._nodes, np.int64)
            held[list(roots)] = [round(variable.solution_value()) for variable in roots.values()]
            shares = Shares(held, np.array([round(variable.solution_value()) for variable in copies], np.int64))
            lacking = self._lacking(shares, period)
            if not lacking:
                return shares if int(held.sum()) == chunks else None
            if lacking <= self._known.keys():
                return None
            for side in sorted(lacking - self._known.keys()):
                self._add(program, roots, copies, side, period)
                self._known[side] = None
        return None

    def fits(self, shares: Shares, period: int) -> bool:
        """Whether branchings for copies and for reduces fit, exactly (Edmonds)."""
        return not self._lacking(shares, period)

    @cached_property
    def far(self) -> Int64:
        """The sum of the hops from the farthest endpoint and to the farthest one, by node id, for endpoints."""
        topology, far = self._topology, np.zeros(self._nodes, np.int64)
        for node in topology.endpoints.tolist():
            both = topology.distances(node), topology.distances(node, backward=True)
            far[node] = sum(int(hops[topology.endpoints].max()) for hops in both)
        return far

    def _program(self, solver: str, period: int) -> tuple[Any, dict[int, Any], list[Any]]:
        """An empty program, and its variables: chunks by root, and capacity of each pair for copies."""
        from ortools.linear_solver import pywraplp  # noqa: PLC0415

        program: Any = pywraplp.Solver.CreateSolver(solver)
        new = program.NumVar if solver == "GLOP" else program.IntVar
        roots = {node: new(0, program.infinity(), "") for node in self._topology.endpoints.tolist()}
        return program, roots, [new(0, capacity * period, "") for capacity in self._topology.pair_capacity.tolist()]

    def _add(self, program: Any, roots: dict[int, Any], copies: Sequence[Any], side: Side, period: int) -> Any:
        """The constraint that a set has the room that it needs."""
        copying, flags = side
        inside = np.frombuffer(flags, np.bool_)
        tail, head = inside[self._topology.pair_src], inside[self._topology.pair_dst]
        outside = sum(variable for node, variable in roots.items() if not inside[node])
        pairs = np.flatnonzero(~tail & head if copying else tail & ~head)
        taken = sum(copies[pair] for pair in pairs.tolist())
        room = int(self._topology.pair_capacity[pairs].sum()) * period
        return program.Add(taken >= outside) if copying else program.Add(room - taken >= outside)

    def _lacking(self, shares: Shares, period: int, spare: int = 0) -> set[Side]:
        """Sets that lack more than `spare` of the room that they need, at least one if there are any."""
        capacity = self._topology.pair_capacity * period
        copies = np.clip(shares.copies, 0, capacity)
        roots, found = shares.roots[self._topology.endpoints], set()
        for copying, room in ((True, copies), (False, capacity - copies)):
            flow, arcs = self._flows[copying]
            flow.set_arcs_capacity(arcs, np.concatenate((room, roots)))
            for node in self._topology.endpoints.tolist():
                if (status := flow.solve(self._nodes, node)) != flow.OPTIMAL:
                    raise UndecidedError(f"undecided: a maximum flow ended with {status}")
                if flow.optimal_flow() < int(roots.sum()) - spare:
                    inside = np.zeros(self._nodes, np.bool_)
                    inside[flow.get_sink_side_min_cut()] = True
                    found.add((copying, inside.tobytes()))
        return found


class OpposedNetwork(AllReduceNetwork):
    """A direct network whose links may differ by direction, for an all-reduce; the counterpart of
    `synth.packing.spanning_trees.Network`."""

    @staticmethod
    def covers(topology: Topology) -> bool:
        """Whether the network is small enough."""
        return len(topology.endpoints) * len(topology.pair_src) <= MAX_WORK

    @cached_property
    def _split(self) -> Split:
        return Split(self.topology)

    @cached_property
    def _best(self) -> Relaxed:
        return self._split.best()

    @cached_property
    def _exact(self) -> tuple[int, Shares] | None:
        """The best solution in whole numbers, with its period; None where the period is too long."""
        found = np.concatenate((self._best.roots, self._best.copies)).tolist()
        parts = [Fraction(value).limit_denominator(MAX_PERIOD) for value in found]
        period = lcm(*(part.denominator for part in parts))
        if period > MAX_PERIOD:
            return None
        numbers = np.array([int(part * period) for part in parts], np.int64)
        shares = Shares(*np.split(numbers, [len(self._best.roots)]))
        return (period, shares) if self._split.fits(shares, period) else None

    @cached_property
    def strength(self) -> Fraction:
        """The most trees per round, each an in-tree and an out-tree with one root; a little less where its period is too long."""
        if self._exact is not None:
            return Fraction(int(self._exact[1].roots.sum()), self._exact[0])
        return Fraction(floor(self._best.rate * MAX_PERIOD), MAX_PERIOD)

    @cached_property
    def tight(self) -> tuple[int, int]:
        """(K, L) of the highest rate: the shortest period for which whole numbers are found."""
        trees, period = self.strength.numerator, self.strength.denominator
        exact = self._exact
        times = range(1, 5) if exact is None else range(1, min(5, exact[0] // period))
        for many in times:
            if self._split.whole(trees * many, period * many) is not None:
                return trees * many, period * many
        return (trees, period) if exact is None else (int(exact[1].roots.sum()), exact[0])

    @property
    def edge_capacity(self) -> Fraction:
        """The most tree edges per round, each in both directions."""
        return Fraction(int(self.topology.pair_capacity.sum()), 2)

    @property
    def is_even(self) -> bool:
        """Whether reduces and copies share both directions."""
        return True

    def least_height(self, period: int) -> int:
        """Half of the hops to and from the most central node, for any period."""
        return int(self._split.far[self.topology.endpoints].min()) // 2

    def pack(self, collective: Collective, trees: int, period: int, *, moves: int, seed: int) -> TreeFamily | None:
        """`trees` in-trees and as many out-trees with the same roots, each link in at most capacity · `period` of them; None when
        none are found. For each root, shallow in-trees are paired with deep out-trees.

        A maximum flow of `trees` units for each branching and link; `moves` and `seed` change nothing.
        """
        shares = self._split.whole(trees, period)
        if (
            shares is None
            and self._exact is not None
            and (trees * self._exact[0], trees % self.strength.numerator)
            == (
                period * int(self._exact[1].roots.sum()),
                0,
            )
        ):
            many = period // self._exact[0]
            shares = Shares(self._exact[1].roots * many, self._exact[1].copies * many) if many else None
        if shares is None:
            return None
        topology = self.topology
        root = np.repeat(np.arange(len(topology.kind), dtype=np.int32), shares.roots)
        down = self._branchings(topology.pair_src, topology.pair_dst, shares.copies, root)
        up = self._branchings(topology.pair_dst, topology.pair_src, topology.pair_capacity * period - shares.copies, root)
        up = up[np.lexsort((depths(up).max(axis=1), root))]
        down = down[np.lexsort((-depths(down).max(axis=1), root))]
        origin = {"trees": "in-trees and out-trees", "packed": f"{trees}/{period}"}
        return TreeFamily(topology, collective, root=root, up=up, down=down, origin=origin)

    def _branchings(self, src: Int64, dst: Int64, room: Int64, root: Int32) -> Int32:
        """Parents by tree and node id."""
        topology, ids = self.topology, self.topology.endpoints
        tail, head = topology.rank[src], topology.rank[dst]
        order = np.lexsort((head, tail))
        parents = _native.pack_branchings(
            nodes=self.size, tail=tail[order], head=head[order], capacity=room[order], roots=topology.rank[root]
        )
        if not len(parents):
            raise AssertionError("branchings fit where every set has the room that it needs")
        table = np.full((len(root), len(topology.kind)), NONE, np.int32)
        table[:, ids] = np.where(parents == NONE, NONE, ids[np.maximum(parents, 0)])
        return table
