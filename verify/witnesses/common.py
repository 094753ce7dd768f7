"""Witnesses for every collective: degree and distance."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.verify.witness import WITNESSES, Bound, Instance, WitnessError, malformed, node_id, node_numbers, only_fields
from certree.verify.witnesses.all_reduce import crossing_once
from certree.verify.witnesses.rooted import crossing_share, positive
from certree.verify.wording import short


@WITNESSES.register("degree")
def degree(instance: Instance, witness: Mapping[str, Any]) -> tuple[str, Fraction]:
    """{"node": id}: the better of the bounds of one endpoint alone and of all the others together.

    Proof. It is the direction bound (all-reduce) of the set {node}, or the larger of the cut bounds of {node} and its complement.
    """
    only_fields("degree", witness, ["node"])
    node = node_id(instance, "degree", witness["node"])
    if not instance.is_endpoint[node]:
        raise WitnessError("witness-wrong", f"degree witness: node {node} is a switch; an endpoint is needed")
    return "bandwidth", positive("degree", _degree_value(instance, node))


def _degree_value(instance: Instance, node: int) -> Fraction:
    alone = np.zeros(len(instance.topology.kind), np.bool_)
    alone[node] = True
    if not instance.collective.is_rooted:
        return crossing_once(instance, alone)
    return max(crossing_share(instance, alone), crossing_share(instance, instance.exists & ~alone))


def best_node(instance: Instance) -> Bound:
    """The degree witness with the largest value; of equals the one with the smallest id. O(nodes + links)."""
    topology = instance.topology
    leaving, entering = np.zeros((2, len(topology.kind)), np.int64)
    np.add.at(leaving, topology.src, topology.capacity)
    np.add.at(entering, topology.dst, topology.capacity)
    into, out = entering[topology.endpoints].tolist(), leaving[topology.endpoints].tolist()
    if not instance.collective.is_rooted:
        values = [Fraction(1, min(pair)) for pair in zip(into, out, strict=True)]
    else:
        others, own = (into, out) if instance.collective.gathers else (out, into)
        values = [max((1 - s) / a, s / b) for s, a, b in zip(instance.shares, others, own, strict=True)]
    return {"node": int(topology.endpoints[values.index(max(values))])}


@WITNESSES.register("distance")
def distance(instance: Instance, witness: Mapping[str, Any]) -> tuple[str, Fraction]:
    """{"from", "to", "hops", "label": [label of each node id, -1 for removed ids]}: (hops − 1)·delay + 1 steps.

    `label` counts the transfers from `from`: label[from] = 0, and for every link u→v label[v] ≤ label[u] + 1 when v is an endpoint,
    label[v] ≤ label[u] when v is a switch (a route passes any number of switches in one step); hops = label[to].

    Proof. By induction no schedule brings anything of `from` to a node of label h with fewer than h transfers, one after the other:
    the first leaves in step 0 at the earliest, each next one `delay` steps after the one before, and the last takes a step. What
    `from` holds at the start is due at `to`: any two endpoints in an all-reduce; from an endpoint that roots a chunk in an
    all-gather, to one in a reduce-scatter.
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
    root = start if instance.collective.gathers else end
    if instance.collective.is_rooted and not instance.shares[topology.rank[root]]:
        raise WitnessError("witness-wrong", f"distance witness: node {root} is the root of no chunk")
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
    """The distance witness with the most hops; of equals the first by (from, to). One search per endpoint with data to send."""
    topology = instance.topology
    sends = np.ones(len(topology.endpoints), np.bool_)
    receives = sends
    if instance.collective.is_rooted:
        rooted = np.array([share > 0 for share in instance.shares])
        sends, receives = (rooted, sends) if instance.collective.gathers else (sends, rooted)
    best: tuple[int, int, int, NDArray[np.int32]] | None = None
    targets = topology.endpoints[receives]
    for start in topology.endpoints[sends].tolist():
        label = _labels(instance, start)
        far = label[targets]
        index = int(far.argmax())
        if best is None or far[index] > best[0]:
            best = (int(far[index]), start, int(targets[index]), label)
    if best is None:
        raise malformed("no endpoint has anything to send")
    hops, start, end, label = best
    return {"from": start, "to": end, "hops": hops, "label": label.tolist()}


def _labels(instance: Instance, start: int) -> NDArray[np.int32]:
    """Transfers from `start` to each node, switches costing none; nodes out of reach get the largest label.

    Nothing leads from a reached node to one out of reach, so that label breaks no condition.
    """
    topology = instance.topology
    if topology.is_direct:
        label = topology.distances(start)
    else:
        label = np.full(len(topology.kind), -1, np.int32)
        label[start] = hops = 0
        while True:
            _through_switches(instance, label, hops)
            fresh = topology.dst[(label[topology.src] == hops) & (label[topology.dst] < 0)]
            if not len(fresh):
                break
            hops += 1
            label[fresh] = hops
    unreached = instance.exists & (label < 0)
    label[unreached] = label.max()
    return label


def _through_switches(instance: Instance, label: NDArray[np.int32], hops: int) -> None:
    """Give the label `hops` to all switches that nodes of that label reach through switches alone."""
    topology = instance.topology
    while True:
        fresh = topology.dst[(label[topology.src] == hops) & (label[topology.dst] < 0) & ~instance.is_endpoint[topology.dst]]
        if not len(fresh):
            return
        label[fresh] = hops
