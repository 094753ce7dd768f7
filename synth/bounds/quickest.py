"""Search for time bounds: sources and sinks that are far apart or have few links, and labels that prove the most cycles.

Between two nodes the labels are the distances that shortest augmenting paths leave (Ford and Fulkerson's quickest flow), from the
source, or from the sink back where that is nearer; around one sink of several sources, or one source of several sinks, they are
distances from the sources, or to the sinks.
"""

from collections.abc import Iterator
from heapq import heappop, heappush
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.models.schedule.collective import CollectiveKind
from certree.synth.bounds.copies_bounds import best_copies
from certree.verify.bounds.classes import is_shared
from certree.verify.bounds.timed import Int64, TimeInstance, make_time_bound
from certree.verify.bounds.times.flow import granules_due, granules_taken
from certree.verify.bounds.witness import Bound
from certree.verify.bounds.witnesses.metric import FAR, distances

MOST_DISTANCES = 1 << 16  # of a search for the pair that is farthest apart; else from a few endpoints only
MOST_WORK = 1 << 20  # links that all shortest paths of one quickest flow may visit
MOST_PATHS = 64
MOST_SETS = 16  # of sources around one sink, or of sinks around one source

#: (sources, sinks, distances from the sources, from the sinks): the labels of a flow witness follow from them
_Candidate = tuple[list[int], list[int], Int64, Int64]


def time_bounds(of: TimeInstance) -> list[Bound]:
    """Time bounds: the best flow found; where nodes add, the additions and the best receptions found; for a broadcast the best
    copies; for an all-gather or reduce-scatter the radius. (A `load` follows from any bandwidth bound.)

    Up to MOST_PATHS shortest paths, and distances from up to MOST_DISTANCES / nodes endpoints; O(links · hops) each.
    """
    start, end = _slowest_pair(of)
    additions = [make_time_bound(of, "additions", {})] if of.addition else []
    return [_best_flow(of, start, end), *_best_receptions(of, end), *best_copies(of), *_radius(of), *additions]


def _radius(of: TimeInstance) -> list[Bound]:
    """The radius bound for any shares, on networks with up to MOST_DISTANCES pairs of an endpoint and a node."""
    topology = of.instance.topology
    if not is_shared(of.instance) or len(topology.endpoints) * len(topology.kind) > MOST_DISTANCES:
        return []
    return [make_time_bound(of, "radius", {})]


def _best_receptions(of: TimeInstance, end: int) -> list[Bound]:
    """The strongest receptions bound found, whose sources are all endpoints at some distance or more from the sink. The sinks tried
    are `end` and the endpoint with the least capacity into it, with up to MOST_SETS distances each, on networks with up to
    MOST_DISTANCES pairs of an endpoint and a node."""
    topology = of.instance.topology
    sources, sinks = topology.endpoints[of.instance.sources], topology.endpoints[of.instance.sinks]
    if not of.only_endpoints_add or len(topology.endpoints) * len(topology.kind) > MOST_DISTANCES:
        return []
    into, bounds = _capacity(of)[1], []
    for sink in dict.fromkeys((end, int(sinks[into[sinks].argmin()]))):
        others = sources[sources != sink].astype(np.int64)
        away = of.between[topology.rank[others], sink]
        for least in _some(away):
            bounds.append(make_time_bound(of, "receptions", {"to": sink, "from": others[away >= least].tolist()}))
    return [max(bounds, key=_cycles)]


def _cycles(bound: Bound) -> int:
    return int(bound["value"])


def _best_flow(of: TimeInstance, start: int, end: int) -> Bound:
    owing = [
        candidate for candidate in _candidates(of, start, end) if granules_due(of, *candidate[:2])
    ]  # some endpoints of a demand may owe nothing
    bounds = [make_time_bound(of, "flow", _widest(of, *candidate)) for candidate in owing]
    return max(bounds, key=_cycles)


def _candidates(of: TimeInstance, start: int, end: int) -> Iterator[_Candidate]:
    kind, targets = of.instance.collective.kind, of.instance.collective.has_targets
    yield from (([start], [end], far, back) for far, back in _augmented(of, start, end))
    if of.addition:  # the same cut at the source, for which an addition counts more often
        yield from _around_source(of, start, np.array([end]))
    ranks = of.instance.topology.endpoints.astype(np.int64)
    if kind is CollectiveKind.ALL_GATHER or (targets and of.instance.sources.sum() > 1):
        yield from _around_sink(of, ranks[of.instance.sources], end)
    if kind is CollectiveKind.REDUCE_SCATTER or (targets and of.instance.sinks.sum() > 1):
        yield from _around_source(of, start, ranks[of.instance.sinks])


def _widest(of: TimeInstance, sources: list[int], sinks: list[int], far: Int64, back: Int64) -> Bound:
    """The flow witness whose sinks have the highest label that proves something. The label of a node is the lesser of two numbers:
    its distance from the sources, `far`, and the label of the sinks plus its distance from them, `back`, which is negative for
    nodes before the sinks. Nothing reaches a node without a path from either, such as a switch that no link leads to: it has the
    highest of all labels, so that its links count nowhere."""
    due = granules_due(of, sources, sinks)

    def labels(latest: int) -> Int64:
        nearer = np.minimum(far, latest + back)
        highest = max(latest, int(nearer[nearer < FAR].max()))
        label: Int64 = of.first + np.maximum(np.where(nearer < FAR, nearer, highest), 0)
        label[sinks], label[sources] = of.first + latest, of.first
        return label

    high = 1
    while granules_taken(of, labels(high), sinks) < due:
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if granules_taken(of, labels(middle), sinks) < due else (low, middle)
    return {"from": sources, "to": sinks, "label": np.where(of.instance.exists, labels(low), -1).tolist()}


def _capacity(of: TimeInstance) -> tuple[Int64, Int64]:
    """The capacity of all links out of each node, and into it."""
    topology = of.instance.topology
    out, into = np.zeros((2, len(topology.kind)), np.int64)
    np.add.at(out, topology.src, topology.capacity)
    np.add.at(into, topology.dst, topology.capacity)
    return out, into


def _slowest_pair(of: TimeInstance) -> tuple[int, int]:
    """The source and the sink with the largest sum of distance and time for all data to leave the source or enter the sink."""
    topology, collective = of.instance.topology, of.instance.collective
    out, into = _capacity(of)
    starts, ends = topology.endpoints[of.instance.sources], topology.endpoints[of.instance.sinks]
    if len(starts) * len(topology.kind) > MOST_DISTANCES:
        few = max(1, MOST_DISTANCES // len(topology.kind))
        starts = np.sort(starts[np.argsort(out[starts], kind="stable")[:few]])
    far = distances(topology, of.hops, starts)[:, ends]
    narrow = np.minimum(out[starts][:, None], into[ends][None, :])
    if collective.kind is CollectiveKind.ALL_GATHER:
        narrow = np.broadcast_to(into[ends], far.shape)
    if collective.kind is CollectiveKind.REDUCE_SCATTER:
        narrow = np.broadcast_to(out[starts][:, None], far.shape)
    owed = starts[:, None] != ends[None, :]
    if collective.demand is not None:
        source, target, _ = collective.demand.columns
        known = np.isin(source, starts)
        owed[:] = False
        owed[np.searchsorted(starts, source[known]), np.searchsorted(ends, target[known])] = True
    slow = np.where(~owed, -1, far + of.scale * -(-of.granules // narrow))
    start, end = divmod(int(slow.argmax()), len(ends))
    return int(starts[start]), int(ends[end])


def _augmented(of: TimeInstance, start: int, end: int) -> Iterator[tuple[Int64, Int64]]:
    """Yield distances from `start` and from `end` in the network that is left after 0, 1, 2, ... shortest augmenting paths between
    them; only after 0 paths, where a few would visit MOST_WORK links."""
    topology, hops, nowhere = of.instance.topology, of.hops_towards([end]), np.zeros(len(of.instance.topology.kind), np.int64)
    if len(topology.src) > MOST_WORK // 16:
        yield _from_set(of, hops, [start]), nowhere
        return
    cost, tails, heads = hops.tolist(), topology.src.tolist(), topology.dst.tolist()
    left = [topology.capacity.tolist(), [0] * len(tails)]
    leaving: list[list[tuple[int, int, int]]] = [[] for _ in range(len(topology.kind))]
    for link, (tail, head) in enumerate(zip(tails, heads, strict=True)):
        leaving[tail].append((link, 0, head))
        leaving[head].append((link, 1, tail))
    far = [0] * len(leaving)
    for _ in range(max(1, min(MOST_PATHS, MOST_WORK // len(tails)))):
        far, came = _shortest(leaving, left, cost, far, start)
        yield np.array(far, np.int64), _left_from(of, left, hops, end)
        if far[end] >= FAR:
            return
        path, node = [], end
        while node != start:
            link, turn = came[node]
            path.append((link, turn))
            node = tails[link] if turn == 0 else heads[link]
        amount = min(left[turn][link] for link, turn in path)
        for link, turn in path:
            left[turn][link] -= amount
            left[1 - turn][link] += amount


def _left_from(of: TimeInstance, left: list[list[int]], hops: Int64, end: int) -> Int64:
    """The distance of each node from `end` over free capacity of links, and backwards over taken capacity; FAR without a path."""
    topology = of.instance.topology
    ahead, taken = (np.array(amount) > 0 for amount in left)
    tail = np.concatenate((topology.src[ahead], topology.dst[taken]))
    head = np.concatenate((topology.dst[ahead], topology.src[taken]))
    return _relaxed(tail, head, np.concatenate((hops[ahead], -hops[taken])), [end], len(topology.kind))


def _shortest(
    leaving: list[list[tuple[int, int, int]]], left: list[list[int]], cost: list[int], potential: list[int], start: int
) -> tuple[list[int], dict[int, tuple[int, int]]]:
    """Distances over the capacity that is left (Dijkstra's algorithm with the previous distances as potentials), and the last link
    to each node; turn 1 means that the link is used backwards."""
    reduced, came, queue = [FAR] * len(leaving), {}, [(0, start)]
    reduced[start] = 0
    while queue:
        sofar, node = heappop(queue)
        if sofar > reduced[node]:
            continue
        for link, turn, head in leaving[node]:
            if left[turn][link]:
                other = sofar + (-cost[link] if turn else cost[link]) + potential[node] - potential[head]
                if other < reduced[head]:
                    reduced[head], came[head] = other, (link, turn)
                    heappush(queue, (other, head))
    return [min(FAR, more + before) for more, before in zip(reduced, potential, strict=True)], came


def _around_sink(of: TimeInstance, sources: Int64, sink: int) -> Iterator[_Candidate]:
    """Yield, for each of a few distances, the sources that are at least that far from the sink, with the sink."""
    hops, others = of.hops_towards([sink]), sources[sources != sink]
    away = _from_set(of, hops, [sink], backward=True)[others]
    for least in _some(away):
        chosen = others[away >= least].tolist()
        far = _from_set(of, hops, chosen)
        yield chosen, [sink], far, np.zeros_like(far)


def _around_source(of: TimeInstance, source: int, sinks: Int64) -> Iterator[_Candidate]:
    """Yield, for each of a few distances, the source with the sinks that are at least that far from it."""
    others = sinks[sinks != source]
    away = _from_set(of, of.hops, [source])[others]
    for least in _some(away):
        chosen = others[away >= least].tolist()
        back = -_from_set(of, of.hops_towards(chosen), chosen, backward=True)
        yield [source], chosen, np.full_like(back, FAR), back


def _some(values: Int64) -> list[int]:
    """Up to MOST_SETS of the values, with the least and the greatest among them."""
    levels = np.unique(values)
    return [int(levels[place]) for place in np.unique(np.linspace(0, len(levels) - 1, MOST_SETS).astype(np.int64))]


def _from_set(of: TimeInstance, hops: Int64, nodes: list[int], *, backward: bool = False) -> Int64:
    """The distance of each node from the nearest of `nodes`, or to it; FAR without a path."""
    topology = of.instance.topology
    tail, head = (topology.dst, topology.src) if backward else (topology.src, topology.dst)
    return _relaxed(tail, head, hops, nodes, len(topology.kind))


def _relaxed(tail: NDArray[Any], head: NDArray[Any], cost: Int64, nodes: list[int], count: int) -> Int64:
    """Distances from the nearest of `nodes` over links without cycles of negative costs; FAR without a path. O(links · hops)."""
    far = np.full(count, FAR, np.int64)
    far[nodes] = 0
    while True:
        before = far.copy()
        reached = before[tail] < FAR
        np.minimum.at(far, head[reached], before[tail[reached]] + cost[reached])
        if np.array_equal(far, before):
            return far
