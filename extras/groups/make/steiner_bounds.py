"""Bounds on all-reduces of groups whose sums are made once: lengths of links under which all trees are long.

They solve the dual of packing trees among the members: maximize z with sum(capacity · length) = 1 and z <= the length of each tree,
by cutting planes. The shortest tree for the current lengths is the next constraint. Any whole lengths prove a bound
(`certree.verify.bounds.witnesses.shortest_trees`), so floats decide nothing: solutions are rounded, and the best is kept.
"""

from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from certree.models.network.topology import Topology
from certree.models.schedule.collective import CollectiveKind
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.symmetric.symmetric_schedule import written_out
from certree.synth.deadlock_free_routes import with_channels
from certree.synth.graphs.lengths import Planes, best_rounding, classes_of_links
from certree.synth.method import Request
from certree.verify.bounds.instance import Instance
from certree.verify.bounds.witness import Bound, make_bound
from certree.verify.bounds.witnesses.metric import FAR
from certree.verify.bounds.witnesses.shortest_trees import covers, parts_of, tree_lengths
from certree.verify.certificates.certificate import make_certificate

MOST_ITERATIONS = 250
MOST_WORK = 1 << 26  # of all iterations: nodes times pairs of disjoint sets of members, and the cube of nodes
_SCALE = 1 << 12
_CONVERGED = 1 + 1e-6

Int64 = NDArray[np.int64]


def with_steiner_bound(request: Request, made: Schedule) -> Schedule:
    """The schedule with a bound on all-reduces that make each sum once, where it makes them so and members are few."""
    if request.collective.kind is not CollectiveKind.ALL_REDUCE or request.monitor.expired:
        return made
    made = written_out(with_channels(made, request.machine))  # the certificate is of the routes as they stay
    instance = Instance.of(made)
    bound = steiner_bound(instance, lambda: request.monitor.expired) if instance.makes_sums_once else None
    return made if bound is None else made.with_certificate(make_certificate(made, [bound]))


def steiner_bound(instance: Instance, is_late: Callable[[], bool] = lambda: False) -> Bound | None:
    """The best bound found; None where there are too many members or nodes.

    At most MOST_ITERATIONS linear programs with a variable for each class of equal links, as many with one for each pair
    of neighbours, and for each a shortest tree. `is_late`: whether to end with the best so far.
    """
    topology, members = instance.topology, instance.collective.members_of(instance.topology)
    if not covers(instance):
        return None
    work = len(topology.kind) * (3 ** (len(members) - 1) + len(topology.kind) ** 2)
    length = np.ones(len(topology.src), np.int64)
    if work * 2 > MOST_WORK:
        return None
    edge = np.unique(np.sort(np.stack((topology.src, topology.dst)), axis=0), axis=1, return_inverse=True)[1].ravel()
    best, value = length, Fraction(0)
    for class_of in (classes_of_links(topology, instance.is_member), edge):
        planes = Planes(topology, class_of, _SCALE, _CONVERGED)
        for _ in range(min(MOST_ITERATIONS, MOST_WORK // work)):
            if is_late():
                break
            used, need = shortest_tree(topology, length, members)
            reached = Fraction(need, int(topology.capacity.astype(np.int64) @ length))
            if reached > value:
                best, value = length, reached
            following = planes.following(np.bincount(used, minlength=len(length)), value)
            if following is None:
                break
            length = (following + _shared(class_of, best)) // 2  # half the way: cuts near the best lengths bring more
        length = best
    return best_rounding(best, lambda one: make_bound(instance, "steiner", {"length": one.tolist()}))


def _shared(class_of: Int64, length: Int64) -> Int64:
    """Lengths up to _SCALE, equal within each class."""
    mean = np.bincount(class_of, weights=length) / np.bincount(class_of)
    shared: Int64 = np.rint(mean / mean.max() * _SCALE).astype(np.int64)[class_of]
    return shared


def shortest_tree(topology: Topology, length: Int64, members: NDArray[np.int32]) -> tuple[Int64, int]:
    """(links, length) of a shortest tree that joins the members; a link stands there once for each path that takes it."""
    finer = length * len(topology.kind) + 1  # of equally long trees one with few links
    tree, far = tree_lengths(topology, finer, members)
    others = len(members) - 1
    near: dict[tuple[int, int], int] = {}
    for link, (tail, head) in enumerate(zip(topology.src.tolist(), topology.dst.tolist(), strict=True)):
        for ends in ((tail, head), (head, tail)):
            if ends not in near or finer[link] < finer[near[ends]]:
                near[ends] = link
    around: dict[int, list[tuple[int, int]]] = {}
    for (here, there), link in near.items():
        around.setdefault(here, []).append((there, link))
    used: list[int] = []

    def walk(start: int, end: int) -> None:
        while start != end:
            start, link = next((there, link) for there, link in around[start] if finer[link] + far[there, end] == far[start, end])
            used.append(link)

    todo = [((1 << others) - 1, int(members[-1]))]
    while todo:
        chosen, node = todo.pop()
        if chosen & (chosen - 1) == 0:
            walk(node, int(members[chosen.bit_length() - 1]))
            continue
        best = None
        for one in parts_of(chosen):
            met = np.where(topology.holds, tree[one] + tree[chosen ^ one] + far[node], FAR)
            place = int(met.argmin())
            if best is None or met[place] < best[0]:
                best = met[place], one, place
        assert best is not None
        walk(node, best[2])
        todo += [(best[1], best[2]), (chosen ^ best[1], best[2])]
    links = np.array(used, np.int64)
    return links, int(length[links].sum())
