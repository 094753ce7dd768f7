"""The metric witness, which bounds every collective on every network, switches included, by lengths of links."""

from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.models.common.budget import hold, spend
from certree.models.common.columns import int_column
from certree.models.demand import Demand
from certree.models.network.topology import Topology
from certree.verify.bounds.classes import assumes, no_coding, only_forwarding
from certree.verify.bounds.instance import Instance
from certree.verify.bounds.witness import WITNESSES, WitnessError, malformed, only_fields

MAX_LENGTH = 1 << 20  # of a link: sums over all nodes stay within 64 bits
MAX_DISTANCES = 1 << 25  # distances that are kept at once
MAX_SHORT = 16  # length of links, for distances that are summed by sweeps in time
FAR = 1 << 61  # no path
_BLOCK = 1 << 19  # numbers that one sweep over the links may hold

Int64 = NDArray[np.int64]


def _switches(instance: Instance, witness: Mapping[str, Any]) -> str | None:
    """The assumptions of the proof about switches: none with targets, where each transfer brings a chunk on towards one sink."""
    return None if instance.collective.has_targets else only_forwarding(instance, witness)


@WITNESSES.register("metric")
@assumes("metric", no_coding, _switches)
def metric(instance: Instance, witness: Mapping[str, Any]) -> tuple[str, Fraction]:
    """{"length": [length of each link, in link order]}: the distance each chunk must travel / sum of capacity · length.

    Lengths are whole numbers from 0. d(u, v) is the length of the shortest path from u to v, over any nodes. *Holders* are the
    endpoints and the reducing switches; p(t) counts the classes with an endpoint in them when all holders u, v with d(u, v) <= t or
    d(v, u) <= t are joined, and so on transitively; linkage = sum of p(t) − 1 over t = 0, 1, 2, ... (without reducing switches the
    weight of a minimum spanning tree of the endpoints under the smaller of the two distances).

    - all-reduce: 2 · linkage
    - all-gather, broadcast, reduce-scatter, reduce: linkage
    - all-to-all, gather, scatter: the sum over sources s and sinks t of d(s, t), divided by N (a block is 1/N of the message)

    In a collective of some endpoints only (`Collective.members`) the others are holders, but p(t) counts classes with a member, and
    sources and sinks are members, N of them. With a demand the sum is over its blocks, each times its granules, divided by all
    granules.

    Proof. A transfer from u to v puts one message on each link of its route, so it uses at least d(u, v) of the sum of
    capacity · length that one round offers. So rounds · sum(capacity · length) is at least the total distance of all transfers of
    all chunks.

    With targets: the transfers that bring a chunk from s to t form a chain, and their distances add up to d(s, t) or more.

    All-reduce: count the transfers of a chunk between different classes of t. By the partition proof (`all_reduce.partition`),
    with all classes as its parts, there are at least 2(p(t) − 1) of them, and each covers a distance of more than t. A transfer
    over the distance d is counted for t = 0 ... d − 1, so the distances add up to at least the sum over t of 2(p(t) − 1).
    In the collectives with one phase, at least one transfer must enter (all-gather, broadcast) or leave (reduce-scatter, reduce)
    every class with an endpoint except that of the root: p(t) − 1 transfers for each t.

    The proofs cover reducing switches: they are holders, and what they add or multicast enters and leaves them as one transfer
    per link. O(holders · links · hops) time and O(holders · nodes) memory; O(links log links) time where every node is an endpoint
    and there are no targets.
    """
    only_fields("metric", witness, ["length"])
    length = link_numbers(instance.topology, "metric", "length", witness["length"])
    volume = total(instance.topology.capacity.astype(np.int64) * length)
    need = needed_length(instance, length)
    if not need:
        raise WitnessError("witness-wrong", "metric witness: what has to travel has length 0, which bounds nothing")
    return "bandwidth", need / volume


def link_numbers(topology: Topology, kind: str, name: str, value: Any) -> Int64:
    """A list with one whole number for each link, in link order, from 0 to MAX_LENGTH."""
    return int_column(value, f"{kind} witness: {name}", 0, MAX_LENGTH, len(topology.src), malformed).astype(np.int64)


def total(values: Int64) -> int:
    """The sum of numbers below 2^62, whatever their count."""
    low = (1 << 20) - 1
    return (int((values >> 20).sum()) << 20) + int((values & low).sum())


def needed_length(instance: Instance, length: Int64) -> Fraction:
    """The total distance that the transfers of one chunk must cover. WitnessError on networks that are too large."""
    topology = instance.topology
    if instance.collective.demand is not None:
        return _demanded_length(topology, length.tobytes(), instance.collective.demand)
    if instance.collective.has_targets:
        sources, sinks = topology.endpoints[instance.sources], topology.endpoints[instance.sinks]
        summed = _summed_in_sweeps(topology, length, sources, sinks)
        if summed is None:
            far = distances(topology, length, sources)
            summed = sum(total(row) for row in far[:, sinks])
        return Fraction(summed, instance.count)
    phases = 1 if instance.collective.is_rooted else 2
    return Fraction(phases * sum(weight for weight, _, _ in linkage(instance, length)))


def _summed_in_sweeps(topology: Topology, length: Int64, sources: NDArray[Any], sinks: NDArray[Any]) -> int | None:
    """The sum of all distances from sources to sinks where links have lengths from 1 to MAX_SHORT; None otherwise, and where some
    sink is out of reach.

    A distance is the number of times t = 0, 1, 2, ... at which the sink is farther than t. The sources that have reached a node by
    t are those that had reached it before, and those that had reached the tail of a link into it earlier by the length of the link;
    one word holds 64 sources. O(longest distance · links · sources / 64).
    """
    if length.min() < 1 or length.max() > MAX_SHORT:
        return None
    order = np.argsort(topology.dst, kind="stable")
    tail, long = topology.src[order], length[order]
    head, first = np.unique(topology.dst[order], return_index=True)
    words = -(-len(sources) // 64)
    hold(8 * (int(length.max()) + 1) * len(topology.kind) * words, f"distances from {len(sources):,} endpoints")
    reached = np.zeros((int(length.max()) + 1, len(topology.kind), words), np.uint64)  # by t modulo its length
    number = np.arange(len(sources))
    np.bitwise_or.at(reached[0], (sources, number // 64), np.uint64(1) << (number % 64).astype(np.uint64))
    summed, now, still = 0, 0, 0
    missing = len(sources) * len(sinks) - int(np.bitwise_count(reached[0][sinks]).sum())
    while missing:
        spend((2 * len(topology.kind) + len(tail)) * words, f"distances from {len(sources):,} endpoints over {len(tail):,} links")
        summed += missing
        now += 1
        here, before = reached[now % len(reached)], reached[(now - 1) % len(reached)]
        here[:] = before
        came = reached[(now - long) % len(reached), tail]
        came[long > now] = 0
        here[head] |= np.bitwise_or.reduceat(came, first, axis=0)
        missing = len(sources) * len(sinks) - int(np.bitwise_count(here[sinks]).sum())
        still = still + 1 if np.array_equal(here, before) else 0
        if still == len(reached):
            return None
    return summed


@lru_cache(maxsize=8)
def _demanded_length(topology: Topology, lengths: bytes, demand: Demand) -> Fraction:
    """The average distance of the granules of a demand. Cached, since certificates are checked as they are made."""
    source, target, granules = demand.columns
    starts, row = np.unique(source, return_inverse=True)
    far = distances(topology, np.frombuffer(lengths, np.int64), starts)[row, target]
    if int(far.max()) < FAR // demand.granules:
        return Fraction(int(far @ granules), demand.granules)
    return Fraction(sum(amount * route for amount, route in zip(granules.tolist(), far.tolist(), strict=True)), demand.granules)


def linkage(instance: Instance, length: Int64) -> list[tuple[int, int, int]]:
    """The joins (weight, u, v), by weight, that merge two classes with endpoints that take part: one join fewer than there are such
    endpoints.

    u and v are holders, and the weight is the smaller distance between them.
    """
    topology = instance.topology
    joins = _joins_by_link(topology, length) if topology.is_direct else _joins_by_distance(topology, length)
    return _merged(instance, joins)


def _joins_by_link(topology: Topology, length: Int64) -> list[tuple[int, int, int]]:
    """All links by length. Where every node is an endpoint, a path no longer than t joins endpoints by links no longer than t."""
    order = np.argsort(length, kind="stable")
    return list(zip(length[order].tolist(), topology.src[order].tolist(), topology.dst[order].tolist(), strict=True))


def _joins_by_distance(topology: Topology, length: Int64) -> list[tuple[int, int, int]]:
    """The edges of a minimum spanning tree of the holders under the smaller distance, by weight (Prim's algorithm)."""
    holders = np.flatnonzero(topology.holds)
    far = distances(topology, length, holders)[:, holders]
    near = np.minimum(far, far.T)
    weight, parent, out = near[0].copy(), np.zeros(len(holders), np.int64), np.ones(len(holders), np.bool_)
    out[0] = False
    joins = []
    for _ in range(len(holders) - 1):
        place = int(np.where(out, weight, FAR + 1).argmin())
        joins.append((int(weight[place]), int(holders[parent[place]]), int(holders[place])))
        out[place] = False
        closer = out & (near[place] < weight)
        weight[closer], parent[closer] = near[place, closer], place
    return sorted(joins)


def _merged(instance: Instance, joins: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """The joins that merge two classes, each of which has a member. Joins are taken in order."""
    leader = list(range(len(instance.topology.kind)))
    has_endpoint = instance.is_member.tolist()
    found = []
    for weight, u, v in joins:
        a, b = _find(leader, u), _find(leader, v)
        if a == b:
            continue
        if has_endpoint[a] and has_endpoint[b]:
            found.append((weight, u, v))
        leader[a] = b
        has_endpoint[b] = has_endpoint[a] or has_endpoint[b]
    return found


def _find(leader: list[int], node: int) -> int:
    while leader[node] != node:
        leader[node] = leader[leader[node]]
        node = leader[node]
    return node


def distances(topology: Topology, length: Int64, starts: NDArray[Any]) -> Int64:
    """Length of the shortest path from each of `starts` to each node id, FAR where there is none: shape (starts, nodes).

    Bellman's sweeps over all links until nothing changes. WitnessError when the table would have more than MAX_DISTANCES entries.
    """
    nodes = len(topology.kind)
    if len(starts) * nodes > MAX_DISTANCES:
        many = f"{len(starts)} x {nodes}"
        raise WitnessError("witness-foreign", f"a metric witness covers up to {MAX_DISTANCES} distances, not {many}")
    order = np.argsort(topology.dst, kind="stable")
    tail, long, far = topology.src[order], length[order][:, None], np.full((len(starts), nodes), FAR, np.int64)
    head, first, into = np.unique(topology.dst[order], return_index=True, return_counts=True)
    step = max(1, _BLOCK // len(tail))
    for low in range(0, len(starts), step):
        block = np.full((nodes, len(starts[low : low + step])), FAR, np.int64)
        block[starts[low : low + step], np.arange(block.shape[1])] = 0
        while True:
            spend(len(tail) * block.shape[1], f"distances from {len(starts):,} nodes over {len(tail):,} links")
            before = block[head]
            reached = before.copy()
            for place in range(int(into.max())):  # the links into each node in turn: faster than np.minimum.reduceat
                having = np.flatnonzero(into > place)
                link = first[having] + place
                reached[having] = np.minimum(reached[having], block[tail[link]] + long[link])
            if np.array_equal(reached, before):
                break
            block[head] = reached
        far[low : low + step] = block.T
    return far
