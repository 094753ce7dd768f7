"""Link lengths for the metric bound: a linear program by cutting planes, its solutions rounded to whole numbers.

The distance to travel (`certree.verify.bounds.witnesses.metric`) is concave in the lengths: it is the minimum over all routings. So
the best lengths solve

    maximize z   with  sum(capacity · length) = 1,  z <= (links that a routing uses) · lengths  for each routing,

and the routing that is shortest for the current lengths, a spanning tree over shortest paths or the shortest paths of all pairs, is
the next to be added. This is the dual of packing trees or flows. Links that look the same (colour refinement) share one length,
which loses nothing where a symmetry maps them to each other. Any whole lengths prove a bound, so floats decide nothing here: each
solution is rounded, the checker computes what it proves, and the best is kept. Where switches reduce, the function is not concave;
the result is still a bound.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.models.network.topology import Topology
from certree.models.schedule.collective import CollectiveKind
from certree.verify.bounds.instance import Instance
from certree.verify.bounds.witness import Bound, WitnessError, make_bound
from certree.verify.bounds.witnesses.metric import MAX_DISTANCES, MAX_LENGTH, distances, linkage, needed_length, total

MAX_ITERATIONS = 150  # linear programs
WORK = 1 << 28  # pairs of holder and link that all iterations may visit, times SWEEPS
SWEEPS = 16  # over the links, about, for one table of distances
MOST_CLASSES = 1 << 8  # of links, for cutting planes where there are further lengths
DUAL_SIZE = 1 << 12  # endpoints times links up to which the dual of all flows is solved as one program
_SCALE = 1 << 16  # of lengths while searching; the longest has about this
_DENOMINATORS = (1, 2, 6, 12, 64)  # of rounded solutions, relative to the longest length
_CONVERGED = 1 + 1e-9

Int64 = NDArray[np.int64]


def best_lengths(instance: Instance, further: Sequence[Int64] = ()) -> Bound | None:
    """The best metric bound found, also by `further` lengths from elsewhere; None where cuts are exact (one root or one
    phase), and for networks too large for distances.

    At most MAX_ITERATIONS linear programs, fewer where WORK says so, of as many variables as there are classes of links, each with
    a table of distances (`verify.bounds.witnesses.metric.distances`). Deterministic.
    """
    topology = instance.topology
    if instance.collective.kind not in (CollectiveKind.ALL_REDUCE, CollectiveKind.ALL_TO_ALL):
        return None
    holders = int(topology.holds.sum())
    if holders * len(topology.kind) > MAX_DISTANCES:
        return None
    iterations = min(MAX_ITERATIONS, max(2, WORK // (SWEEPS * holders * len(topology.src))))
    planes, targets = Planes(topology, _classes(instance)), instance.collective.has_targets
    iterations = 1 if targets and further and planes.classes > MOST_CLASSES else iterations
    searched = [*further, planes.search(lambda length: (length_value(instance, length), links_used(instance, length)), iterations)]
    if targets and holders * len(topology.src) <= DUAL_SIZE:
        searched.append(_dual_lengths(instance))
    found = best_rounded(instance, searched)
    return make_bound(instance, "metric", {"length": found.tolist()}) if length_value(instance, found) else None


def best_rounded(instance: Instance, searched: list[Int64]) -> Int64:
    """The lengths that prove most, of some lengths and their roundings."""
    distinct = {length.tobytes(): length for best in searched for length in roundings(best)}
    return max(distinct.values(), key=lambda length: length_value(instance, length))


def length_value(instance: Instance, length: Int64) -> Fraction:
    """The bound that these lengths prove; 0 for none."""
    volume = total(instance.topology.capacity.astype(np.int64) * length)
    return needed_length(instance, length) / volume if volume else Fraction(0)


def roundings(length: Int64) -> list[Int64]:
    """The lengths themselves, up to MAX_LENGTH, and small whole numbers close to them; simpler ones first."""
    longest = int(length.max())
    if not longest:
        return [length]
    found = []
    for denominator in _DENOMINATORS:
        parts = {value: Fraction(value, longest).limit_denominator(denominator) for value in np.unique(length).tolist()}
        scale = lcm(*(part.denominator for part in parts.values()))
        if scale <= MAX_LENGTH:
            found.append(np.array([int(parts[value] * scale) for value in length.tolist()], np.int64))
    return [*found, length]


def best_rounding(length: Int64, made: Callable[[Int64], Bound]) -> Bound | None:
    """The largest bound that is `made` from these lengths or their roundings; None where none proves anything (WitnessError)."""
    bounds = list[Bound]()
    for one in roundings(length):
        with suppress(WitnessError):  # lengths of very different links may be rounded to 0
            bounds.append(made(one))
    return max(bounds, key=lambda bound: Fraction(bound["value"]), default=None)


def owed_by(instance: Instance) -> dict[int, dict[int, int]]:
    """The blocks, or granules of a demand, that each source has for each other node."""
    demand = instance.collective.demand
    if demand is None:
        members = instance.collective.members_of(instance.topology).tolist()
        return {start: dict.fromkeys(members, 1) for start in members}
    owed: dict[int, dict[int, int]] = {}
    for source, target, granules in demand.blocks:
        owed.setdefault(source, {})[target] = granules
    return owed


def _dual_lengths(instance: Instance) -> Int64:
    """Lengths that solve the dual of the multicommodity flow between all pairs of endpoints that take part, each link for itself.

    The classes of `Planes` lose precision where links look the same but no symmetry maps one to the other. The program has
    endpoints times nodes variables, and endpoints times links constraints.
    """
    from ortools.linear_solver import pywraplp  # noqa: PLC0415

    program: Any = pywraplp.Solver.CreateSolver("GLOP")
    topology = instance.topology
    links = list(zip(topology.src.tolist(), topology.dst.tolist(), topology.capacity.tolist(), strict=True))
    lengths = [program.NumVar(0, program.infinity(), "") for _ in links]
    program.Add(sum(capacity * length for (_, _, capacity), length in zip(links, lengths, strict=True)) == 1)
    total_distance, owed = [], owed_by(instance)
    largest = max(max(ends.values()) for ends in owed.values())
    for start, ends in owed.items():
        far = [program.NumVar(0, 0 if node == start else program.infinity(), "") for node in range(len(topology.kind))]
        for (tail, head, _), length in zip(links, lengths, strict=True):
            program.Add(far[head] <= far[tail] + length)
        total_distance += [amount / largest * far[node] for node, amount in ends.items()]
    program.Maximize(sum(total_distance))
    if program.Solve() != program.OPTIMAL:
        return np.ones(len(links), np.int64)
    values = np.array([length.solution_value() for length in lengths])
    whole: Int64 = np.rint(values / values.max() * _SCALE).astype(np.int64)
    return whole


def _classes(instance: Instance) -> Int64:
    """The class of each link; a demand tells apart links that look the same."""
    if instance.collective.demand is not None:
        return np.arange(len(instance.topology.src), dtype=np.int64)
    return classes_of_links(instance.topology, instance.is_member)


class Planes:
    """A linear program for the lengths of classes of links, with one constraint for each routing found so far. Its solutions are
    rounded to whole numbers up to `scale`; a search ends where they prove less than `converged` times the best value."""

    def __init__(self, topology: Topology, class_of: Int64, scale: int = _SCALE, converged: float = _CONVERGED) -> None:
        from ortools.linear_solver import pywraplp  # noqa: PLC0415

        self._class_of, self._scale, self._converged = class_of, scale, converged
        volume = np.bincount(self._class_of, weights=topology.capacity).tolist()
        self.classes = len(volume)
        self._program: Any = pywraplp.Solver.CreateSolver("GLOP")
        self._lengths = [self._program.NumVar(0, self._program.infinity(), "") for _ in volume]
        self._program.Add(sum(part * variable for part, variable in zip(volume, self._lengths, strict=True)) == 1)
        self._need = self._program.NumVar(0, self._program.infinity(), "")
        self._program.Maximize(self._need)

    def search(self, routed: Callable[[Int64], tuple[Fraction, NDArray[Any]]], iterations: int) -> Int64:
        """The best lengths met, starting from equal ones. `routed`: the bound that lengths prove, and the uses of each link by the
        routing that is shortest under them."""
        best = length = np.ones(len(self._class_of), np.int64)
        if not self._class_of.any():  # one class: all lengths are equal
            return best
        value = Fraction(0)
        for _ in range(iterations):
            reached, used = routed(length)
            if reached > value:
                best, value = length, reached
            following = self.following(used, value)
            if following is None:
                break
            length = following
        return best

    def following(self, used: NDArray[Any], value: Fraction) -> Int64 | None:
        """The best lengths when a routing with these uses of each link counts, too; None where they are no better than `value`."""
        parts = zip(np.bincount(self._class_of, weights=used).tolist(), self._lengths, strict=True)
        self._program.Add(self._need <= sum(part * variable for part, variable in parts if part))
        if self._program.Solve() != self._program.OPTIMAL or self._need.solution_value() <= float(value) * self._converged:
            return None
        by_class = np.array([variable.solution_value() for variable in self._lengths])
        whole: Int64 = np.rint(by_class / by_class.max() * self._scale).astype(np.int64)[self._class_of]
        return whole


def links_used(instance: Instance, length: Int64) -> NDArray[np.float64]:
    """Uses of each link, per chunk of the message, by the routing that is shortest under these lengths."""
    topology = instance.topology
    finer = length * len(topology.kind) + 1  # of equally long paths the one with fewer links: no path has cycles
    if instance.collective.demand is not None:
        source, target, granules = instance.collective.demand.columns
        sources, row = np.unique(source, return_inverse=True)
        uses = along_paths(topology, finer, distances(topology, finer, sources), row, target, granules)
        return uses / instance.collective.demand.granules
    if instance.collective.has_targets:
        starts = instance.collective.members_of(topology)
        start, end = (grid.ravel() for grid in np.meshgrid(np.arange(len(starts)), starts, indexing="ij"))
        return along_paths(topology, finer, distances(topology, finer, starts), start, end) / len(starts)
    ends = np.array([(u, v) for _, u, v in linkage(instance, length)])
    starts, place = np.unique(ends, return_inverse=True)
    far, (here, there) = distances(topology, finer, starts), place.reshape(-1, 2).T
    forth = far[here, starts[there]] <= far[there, starts[here]]
    start, end = np.where(forth, here, there), starts[np.where(forth, there, here)]
    return 2 * along_paths(topology, finer, far, start, end)


def along_paths(
    topology: Topology, length: Int64, far: Int64, start: NDArray[Any], end: NDArray[Any], amount: NDArray[Any] | None = None
) -> NDArray[np.float64]:
    """The number of shortest paths from row `start` of `far` to node `end` that use each link, each counted `amount` times.
    O(pairs · hops + rows · links)."""
    before = np.full(far.shape, -1, np.int64)  # the last link of a shortest path from each start to each node
    for link, (tail, head, step) in enumerate(zip(topology.src.tolist(), topology.dst.tolist(), length.tolist(), strict=True)):
        before[far[:, tail] + step == far[:, head], head] = link
    used, at = np.zeros(len(length)), end
    amount = np.ones(len(end)) if amount is None else amount.astype(np.float64)
    while True:
        moving = before[start, at] >= 0
        start, at, amount = start[moving], at[moving], amount[moving]
        if not len(at):
            return used
        link = before[start, at]
        used += np.bincount(link, amount, minlength=len(length))
        at = topology.src[link]


def classes_of_links(topology: Topology, is_member: NDArray[np.bool_] | None = None) -> NDArray[np.int64]:
    """The class of each link: links differ when colour refinement separates their ends or capacities.

    Nodes start with the colours endpoint (that takes part, or not: `is_member`, by node id), switch and reducing switch, and are
    told apart by the colours and capacities around them until nothing changes. O(links · rounds).
    """
    kinds_of_nodes = topology.kind.astype(np.int64) * 4 + topology.reducing * 2
    if is_member is not None:
        kinds_of_nodes = kinds_of_nodes + is_member
    colour: list[Any] = np.unique(kinds_of_nodes, return_inverse=True)[1].tolist()
    links = list(zip(topology.src.tolist(), topology.dst.tolist(), topology.capacity.tolist(), strict=True))
    while True:
        around: list[list[tuple[int, int, int]]] = [[] for _ in colour]
        for tail, head, capacity in links:
            around[tail].append((0, capacity, colour[head]))
            around[head].append((1, capacity, colour[tail]))
        kinds: dict[Any, int] = {}
        finer = [kinds.setdefault((own, tuple(sorted(seen))), len(kinds)) for own, seen in zip(colour, around, strict=True)]
        if len(kinds) == len(set(colour)):
            break
        colour = finer
    classes: dict[Any, int] = {}
    return np.array([classes.setdefault((colour[u], colour[v], c), len(classes)) for u, v, c in links], np.int64)
