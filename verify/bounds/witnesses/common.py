"""Witnesses for every collective: degree and distance."""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import lru_cache
from itertools import compress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.models.common.budget import spend
from certree.models.common.errors import short
from certree.models.network.topology import NodeKind, Topology
from certree.verify.bounds.classes import assumes, shares, shares_term
from certree.verify.bounds.instance import Instance
from certree.verify.bounds.witness import WITNESSES, Bound, WitnessError, malformed, node_id, node_numbers, only_fields
from certree.verify.bounds.witnesses.all_reduce import crossing_once
from certree.verify.bounds.witnesses.rooted import crossing_share, positive

SEARCH_WORDS = 1 << 23  # words that one search may hold for its links
SEARCH_WORK = 1 << 27  # words that all searches may look at
TURNS = 8  # searches where that is too little


@WITNESSES.register("degree")
@assumes("degree", shares)
def degree(instance: Instance, witness: Mapping[str, Any]) -> tuple[str, Fraction]:
    """{"node": id}: the better of the bounds of one endpoint (that takes part) alone and of all other endpoints together.

    Proof. It is the direction bound (all-reduce) of the set {node}, or the larger of the cut bounds of {node} and its complement.
    """
    only_fields("degree", witness, ["node"])
    node = node_id(instance, "degree", witness["node"])
    if not instance.is_member[node]:
        what = "takes no part" if instance.is_endpoint[node] else "is a switch"
        raise WitnessError("witness-wrong", f"degree witness: node {node} {what}; {instance.noun} is needed")
    return "bandwidth", positive("degree", _degree_value(instance, node))


def _degree_value(instance: Instance, node: int) -> Fraction:
    alone = np.zeros(len(instance.topology.kind), np.bool_)
    alone[node] = True
    if not instance.collective.is_rooted:
        return crossing_once(instance, alone)
    return max(crossing_share(instance, alone), crossing_share(instance, instance.exists & ~alone))


def best_node(instance: Instance) -> Bound:
    """The degree witness with the largest value; ties are broken by the smallest id. O(nodes + links)."""
    topology = instance.topology
    leaving, entering = np.zeros((2, len(topology.kind)), np.int64)
    np.add.at(leaving, topology.src, topology.capacity)
    np.add.at(entering, topology.dst, topology.capacity)
    members = instance.collective.members_of(topology)
    into, out = entering[members].tolist(), leaving[members].tolist()
    if not instance.collective.is_rooted:
        cases: Iterator[tuple[int, ...]] = zip(into, out, strict=True)
    elif instance.collective.has_targets:
        cases = zip(into, out, *_addressed_at(instance), strict=True)
    else:
        others, own = (into, out) if instance.collective.gathers else (out, into)
        cases = zip(others, own, compress(instance.parts[0], instance.members.tolist()), strict=True)
    first: dict[tuple[int, ...], int] = {}  # of equivalent nodes the one with the smallest id
    for place, case in enumerate(cases):
        first.setdefault(case, place)
    best = max(first, key=lambda case: (_alone(instance, case), -first[case]))
    return {"node": int(members[first[best]])}


def _alone(instance: Instance, case: tuple[int, ...]) -> Fraction:
    """The bound of a node with the given link capacities and, where chunks have roots, the given parts of the message."""
    if not instance.collective.is_rooted:
        return Fraction(1, min(case))
    if instance.collective.has_targets:
        into, out, arriving, leaving = case
        return max(Fraction(arriving, instance.blocks * into), Fraction(leaving, instance.blocks * out))
    others, own, part = case
    whole = instance.parts[1]
    return max(Fraction(whole - part, whole * others), Fraction(part, whole * own))


def _addressed_at(instance: Instance) -> tuple[list[int], list[int]]:
    """The number of blocks of the message addressed to each endpoint that takes part, and from each, by id, in a collective with
    targets; for a demand, the number of granules."""
    if instance.collective.demand is not None:
        amounts = np.zeros((2, len(instance.topology.kind)), np.int64)
        source, target, granules = instance.collective.demand.columns
        np.add.at(amounts[0], target, granules)
        np.add.at(amounts[1], source, granules)
        into, out = amounts[:, instance.topology.endpoints].tolist()
        return into, out
    from_source, to_sink = instance.sources.astype(np.int64), instance.sinks.astype(np.int64)
    arriving, leaving = to_sink * (from_source.sum() - from_source), from_source * (to_sink.sum() - to_sink)
    return arriving[instance.members].tolist(), leaving[instance.members].tolist()


def _of_steps(instance: Instance, witness: Mapping[str, Any]) -> list[str]:
    """The assumptions of the proof of `distance`: for a single hop only that a transfer takes a step."""
    if witness["hops"] == 1:
        return ["whole steps"]
    topology = instance.topology
    within = bool((topology.forwards & (topology.kind == NodeKind.ENDPOINT)).any())
    return [shares_term(instance), f"delay {instance.delay}", *["no routes through endpoints"] * within, "whole steps"]


@WITNESSES.register("distance")
@assumes("distance", _of_steps)
def distance(instance: Instance, witness: Mapping[str, Any]) -> tuple[str, Fraction]:
    """{"from", "to", "hops", "label": [label of each node id, -1 for removed ids]}: (hops − 1)·delay + 1 steps.

    `label` counts the transfers from `from`: label[from] = 0, and for every link u→v label[v] ≤ label[u] + 1 when v is an endpoint,
    label[v] ≤ label[u] when v is a switch (a route passes any number of switches in one step); hops = label[to].

    Proof. By induction no schedule brings data of `from` to a node of label h with fewer than h transfers in sequence: the first
    leaves in step 0 at the earliest, each of the others at least `delay` steps after the one before, and the last takes one step.
    Transfers that start or end at a reducing switch only increase their number. The initial data of `from` is due at `to`: any two
    endpoints in an all-reduce or all-to-all; from an endpoint that roots a chunk in an all-gather or broadcast, to such an
    endpoint in a reduce-scatter or reduce; to the root in a gather, from the root in a scatter; with a demand from a source of
    it to a target that it has data for. Where transfers may pass endpoints
    (`passing`), a single transfer may reach any node, and only hops = 1 is proved.
    """
    only_fields("distance", witness, ["from", "to", "hops", "label"])
    start, end = (node_id(instance, "distance", witness[key]) for key in ("from", "to"))
    label = node_numbers(instance, "distance", "label", witness["label"])
    hops = witness["hops"]
    if type(hops) is not int or hops < 1:
        raise malformed(f"distance witness: hops is {short(hops)}; allowed: whole numbers from 1")
    topology = instance.topology
    if not (instance.is_endpoint[start] and instance.is_endpoint[end]):
        raise WitnessError("witness-wrong", f"distance witness: from {start} and to {end} must both be endpoints")
    for node, flags, what in (
        (start, instance.sources, "nothing of node {} is due at"),
        (end, instance.sinks, "nothing is due at node {} from"),
    ):
        if not flags[topology.rank[node]]:
            raise WitnessError(
                "witness-wrong", f"distance witness: {what.format(node)} other nodes in a {instance.collective.words}"
            )
    if not instance.owes(start, end):
        raise WitnessError("witness-wrong", f"distance witness: nothing of node {start} is due at node {end}")
    if instance.passing and hops > 1:
        raise WitnessError("witness-wrong", "distance witness: routes that pass endpoints take one step, however far they lead")
    if label[start] != 0 or label[end] != hops:
        raise WitnessError("witness-wrong", f"distance witness: label[{start}] must be 0 and label[{end}] the hops, {hops}")
    leap = np.flatnonzero(label[topology.dst] > label[topology.src] + instance.is_endpoint[topology.dst])
    if len(leap):
        u, v = int(topology.src[leap[0]]), int(topology.dst[leap[0]])
        raise WitnessError(
            "witness-wrong", f"distance witness: label {label[v]} of node {v} is too far from {label[u]} of node {u}: link {u}>{v}"
        )
    return "latency", Fraction((hops - 1) * instance.delay + 1)


def longest_distance(instance: Instance) -> Bound:
    """The distance witness with the most hops; ties are broken by the smallest (from, to).

    Searches from 64 endpoints at a time, one bit each: O(links · hops · endpoints / 64). Where that exceeds SEARCH_WORK, a few
    single searches, O(links) each on a direct network, find a distant pair; it may be closer than the farthest pair.
    """
    topology = instance.topology
    if instance.passing:
        return _one_hop(instance)
    if instance.collective.demand is not None:
        return _farthest_block(instance)
    senders, receivers = topology.endpoints[instance.sources], topology.endpoints[instance.sinks]
    if len(receivers) == 1:
        senders = senders[senders != receivers[0]]
        if topology.is_direct:
            far = topology.distances(int(receivers[0]), backward=True)
            senders = senders[[far[senders].argmax()]]
    label = _labels(instance, int(senders[0]))
    if len(senders) == 1 or int(label.max()) * len(topology.src) * -(-len(senders) // 64) > SEARCH_WORK:
        return _by_turns(instance, int(senders[0]), label, receivers)
    words = max(1, SEARCH_WORDS // len(topology.src))
    batches = [senders[low : low + 64 * words] for low in range(0, len(senders), 64 * words)]
    farthest = [_farthest(instance, batch, receivers) for batch in batches]
    hops, start, end = max(farthest, key=lambda found: found[0])
    return {"from": start, "to": end, "hops": hops, "label": _labels(instance, start).tolist()}


def _by_turns(instance: Instance, start: int, label: NDArray[np.int32], receivers: NDArray[np.int32]) -> Bound:
    """Repeated searches, each from the farthest sink of the one before, while the distance grows and the sink is a source."""
    best: Bound = {"hops": 0}
    for _ in range(TURNS):
        end = int(receivers[label[receivers].argmax()])
        if label[end] <= best["hops"]:
            break
        best = {"from": start, "to": end, "hops": int(label[end]), "label": label}
        if not instance.sources[instance.topology.rank[end]]:
            break
        start, label = end, _labels(instance, end)
    return {**best, "label": best["label"].tolist()}


def _one_hop(instance: Instance) -> Bound:
    """The distance witness of one hop between a source and another node that is a sink."""
    endpoints = instance.topology.endpoints
    sources, sinks = (endpoints[flags][:2].tolist() for flags in (instance.sources, instance.sinks))
    start, end = next((source, sink) for source in sources for sink in sinks if source != sink)
    if instance.collective.demand is not None:
        start, end, _ = instance.collective.demand.blocks[0]
    label = np.where(instance.exists, 1, -1)
    label[start] = 0
    return {"from": start, "to": end, "hops": 1, "label": label.tolist()}


def _farthest_block(instance: Instance) -> Bound:
    """The distance witness for the block of a demand that has the longest path; ties are broken by (from, to). Searches from as
    many sources as SEARCH_WORK allows: the bound also holds if other pairs are farther apart."""
    demand, best = instance.collective.demand, (0, 0, 0)
    assert demand is not None
    source, target, _ = demand.columns
    for start in np.unique(source)[: max(1, SEARCH_WORK // (16 * len(instance.topology.src)))].tolist():
        ends = target[source == start]
        label = _labels(instance, start)[ends]
        if label.max() > best[0]:
            best = (int(label.max()), start, int(ends[label.argmax()]))
    hops, start, end = best
    return {"from": start, "to": end, "hops": hops, "label": _labels(instance, start).tolist()}


class _Spread:
    """Propagates sets of nodes over some of the links, all sets at once."""

    def __init__(self, topology: Topology, links: NDArray[np.int64]) -> None:
        order = links[np.argsort(topology.dst[links], kind="stable")]
        self._tails = topology.src[order]
        self._heads, self._first = np.unique(topology.dst[order], return_index=True)

    def __call__(self, reached: NDArray[np.uint64]) -> bool:
        """Whether any set grew when the set at each link's tail was added to the set at its head."""
        if not len(self._heads):
            return False
        spend((len(self._tails) + len(self._heads)) * reached.shape[1], f"distances over {len(self._tails):,} links")
        before = reached[self._heads]
        reached[self._heads] |= np.bitwise_or.reduceat(reached[self._tails], self._first, axis=0)
        return not np.array_equal(before, reached[self._heads])


def _farthest(instance: Instance, starts: NDArray[np.int32], targets: NDArray[np.int32]) -> tuple[int, int, int]:
    """(hops, from, to): the pair that is farthest apart; ties are broken by order."""
    topology, place = instance.topology, np.arange(len(starts))
    reached = np.zeros((len(topology.kind), -(-len(starts) // 64)), np.uint64)
    reached[starts, place // 64] = np.uint64(1) << (place % 64).astype(np.uint64)
    everyone = np.bitwise_or.reduce(reached, axis=0)
    into_endpoint = instance.is_endpoint[topology.dst]
    hop, through_switches = (_Spread(topology, np.flatnonzero(links)) for links in (into_endpoint, ~into_endpoint))
    hops, lacking = 0, everyone & ~reached[targets]
    last = lacking
    while lacking.any():
        while through_switches(reached):
            pass
        hop(reached)
        hops, last, lacking = hops + 1, lacking, everyone & ~reached[targets]
    bits = np.unpackbits(last.view(np.uint8), axis=1, bitorder="little")
    start = int(bits.any(axis=0).argmax())
    return hops, int(starts[start]), int(targets[int(bits[:, start].argmax())])


def _labels(instance: Instance, start: int) -> NDArray[np.int32]:
    """Transfers from `start` to each node, where switches cost nothing; unreachable nodes get the largest label.

    No link leads from a reachable node to an unreachable one, so that label breaks no condition.
    """
    return _labels_in(instance.topology, start)


@lru_cache(maxsize=256)
def _labels_in(topology: Topology, start: int) -> NDArray[np.int32]:
    """The labels of `_labels`, cached for some nodes of the latest networks."""
    is_endpoint = topology.kind == NodeKind.ENDPOINT
    if topology.is_direct:
        label = topology.distances(start)
    else:
        label = np.full(len(topology.kind), -1, np.int32)
        label[start] = hops = 0
        while True:
            _through_switches(topology, is_endpoint, label, hops)
            fresh = topology.dst[(label[topology.src] == hops) & (label[topology.dst] < 0)]
            if not len(fresh):
                break
            hops += 1
            label[fresh] = hops
    unreached = (topology.kind != NodeKind.ABSENT) & (label < 0)
    label[unreached] = label.max()
    label.setflags(write=False)
    return label


def _through_switches(topology: Topology, is_endpoint: NDArray[np.bool_], label: NDArray[np.int32], hops: int) -> None:
    """Give the label `hops` to all switches that nodes of that label reach through switches alone."""
    while True:
        spend(4 * len(topology.src), f"routes through switches over {len(topology.src):,} links")
        fresh = topology.dst[(label[topology.src] == hops) & (label[topology.dst] < 0) & ~is_endpoint[topology.dst]]
        if not len(fresh):
            return
        label[fresh] = hops
