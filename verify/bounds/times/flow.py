"""The flow witness: the cycles that data of some endpoints take to reach others, by a cut through network and time."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from certree.models.common.columns import whole_column
from certree.models.schedule.collective import CollectiveKind
from certree.verify.bounds.classes import assumes, machine, no_coding, shares
from certree.verify.bounds.instance import Instance
from certree.verify.bounds.timed import TIME_WITNESSES, Int64, TimeInstance
from certree.verify.bounds.witness import WitnessError, malformed, node_id, only_fields
from certree.verify.bounds.witnesses.metric import distances

MAX_LABEL = 1 << 60


def coding_of_sums(instance: Instance, witness: Mapping[str, Any]) -> str | None:
    """The term `no coding` for sums, whose contributions the proof follows; without sums it is a cut, and holds with coding."""
    return no_coding(instance, witness) if instance.collective.reduces else None


@TIME_WITNESSES.register("flow")
@assumes("flow", shares, machine, coding_of_sums)
def flow(of: TimeInstance, witness: Mapping[str, Any]) -> int:
    """{"from": [ids], "to": [ids], "label": [cycle for each node id, -1 for removed ids]}: the last label of "to" + leave (+ add).

    A granule is *early* at a node up to the cycle before the node's label. Labels of "from" are at most `first`, the cycle in which
    the first granule of a run can enter a lane, so data of "from" are never early at these nodes. A lane of a link u→v can take
    ceil((label[v] − hop − label[u]) / scale) granules that enter it when they are no longer early at u and can leave v when they
    are early there. All lanes together must take fewer than there are granules of "from" due at "to".

    Proof. The granules are different ones. With one node in "from" and one in "to", they are what one endpoint contributes to
    another or has for it. Several nodes are in "from" where data of each are due at the one node in "to" (all-gather), several in
    "to" where each is due its own part (reduce-scatter), and several in both where each pair has data of its own (all-to-all,
    gather, scatter). The messages that bring a granule from its source to its sink form a chain. If all of them were early at their
    sinks, each chain would at some lane change from not early to early, so the lanes would take all of them. So one of them reaches
    a sink no earlier than its label, the least of "to", and its message is complete `leave` cycles later.

    Where contributions are added there is one source, and its granules are to be added to others, which takes `addition` cycles at
    an endpoint or a switch. Chains whose granules are added only at their sinks or later end as late as those above, and their runs
    as much later. A chain with an addition before its sink may lead past the narrow lanes while others wait for them: the run takes
    at least `first`, the addition, and the shortest path to a sink. Where all lanes that take anything leave the source itself,
    that is so only of chains that leave it for the last time as a sum, after something was received (`received`) and added: for
    what leaves it alone the labels of all that follows hold as much later. The bound is the smaller of bound + addition and that
    time, and never less than without. O(links) and, where contributions are added, a search for shortest paths from one node.
    """
    only_fields("flow", witness, ["from", "to", "label"])
    sources, sinks = (endpoints_of(of, "flow", name, witness[name]) for name in ("from", "to"))
    due = granules_due(of, sources, sinks)
    label = _labels(of, witness["label"])
    late = [node for node in sources if label[node] > of.first]
    if late:
        what = f"label[{late[0]}] is {label[late[0]]}, but node {late[0]} can send from cycle {of.first} on"
        raise WitnessError("witness-wrong", f"flow witness: {what}")
    taken = granules_taken(of, label, sinks)
    if taken >= due:
        raise WitnessError("witness-wrong", f"flow witness: {taken} granules can be in time, and only {due} have to be")
    return time_shown(of, sources, sinks, label)


def granules_taken(of: TimeInstance, label: Int64, sinks: Sequence[int]) -> int:
    """The number of granules that all lanes can take across the labels."""
    topology, room = of.instance.topology, _room(of, label, sinks)
    counted = np.flatnonzero(room > 0)
    each = -(-room[counted] // of.scale)
    return sum(flits * lanes for flits, lanes in zip(each.tolist(), topology.capacity[counted].tolist(), strict=True))


def _room(of: TimeInstance, label: Int64, sinks: Sequence[int]) -> Int64:
    """The cycles in which granules that cross the labels can enter each link; 0 or less where there are none."""
    topology = of.instance.topology
    room: Int64 = label[topology.dst] - of.hops_towards(sinks) - label[topology.src]
    return room


def granules_due(of: TimeInstance, sources: Sequence[int], sinks: Sequence[int]) -> int:
    """The number of different granules of `sources` that are due at `sinks`; WitnessError for ends that the collective lacks."""
    instance, topology = of.instance, of.instance.topology
    kind, shares = instance.collective.kind, instance.shares
    for nodes, flags, what in (
        (sources, instance.sources, "nothing of node {} is due"),
        (sinks, instance.sinks, "nothing is due at node {}"),
    ):
        wrong = [node for node in nodes if not flags[topology.rank[node]]]
        if wrong:
            raise WitnessError("witness-wrong", f"flow witness: {what.format(wrong[0])} in a {instance.collective.words}")
    if set(sources) & set(sinks):
        raise WitnessError("witness-wrong", f"flow witness: node {min(set(sources) & set(sinks))} is at both ends")
    many = (len(sources) > 1, len(sinks) > 1)
    if instance.collective.demand is not None:
        source, target, granules = instance.collective.demand.columns
        owed = granules[np.isin(source, sources) & np.isin(target, sinks)].tolist()
        return sum(of.granules_of(Fraction(amount, instance.blocks)) for amount in owed)
    if instance.collective.has_targets:
        return of.granules_of(Fraction(1, instance.blocks)) * len(sources) * len(sinks)
    allowed = {CollectiveKind.ALL_GATHER: (True, False), CollectiveKind.REDUCE_SCATTER: (False, True)}.get(kind, (False, False))
    for count, may, name in zip(many, allowed, ("from", "to"), strict=True):
        if count and not may:
            raise WitnessError(
                "witness-foreign", f"flow witness: several nodes in {name!r} prove nothing of a {instance.collective.words}"
            )
    if kind is CollectiveKind.ALL_GATHER:
        return sum(of.granules_of(shares[topology.rank[node]]) for node in sources)
    if kind is CollectiveKind.REDUCE_SCATTER:
        return sum(of.granules_of(shares[topology.rank[node]]) for node in sinks)
    return of.granules


def time_shown(of: TimeInstance, sources: Sequence[int], sinks: Sequence[int], label: Int64) -> int:
    """Cycles of a run in which a granule from `sources` reaches one of `sinks` no earlier than its label, as in `flow`."""
    plain, add = int(label[sinks].min()) + of.leave, of.addition
    if not add:
        return plain
    topology = of.instance.topology
    far = int(distances(topology, of.hops_towards(sinks), np.array(sources))[0, sinks].min())
    at_source = np.isin(topology.src[_room(of, label, sinks) > 0], sources).all()
    leaves = of.received + of.inject + of.header if at_source else of.first
    return max(plain, min(plain + add, leaves + add + far + of.leave))


def endpoints_of(of: TimeInstance, kind: str, name: str, value: Any) -> list[int]:
    """A list of endpoints, each once; WitnessError for anything else."""
    if not isinstance(value, list) or not value:
        raise malformed(f"{kind} witness: {name} must be a list of node ids")
    nodes = [node_id(of.instance, kind, entry) for entry in value]
    if len(set(nodes)) < len(nodes):
        raise malformed(f"{kind} witness: {name} names a node twice")
    switches = [node for node in nodes if not of.instance.is_endpoint[node]]
    if switches:
        raise WitnessError("witness-wrong", f"{kind} witness: node {switches[0]} is a switch; {name!r} takes endpoints")
    return nodes


def _labels(of: TimeInstance, value: Any) -> Int64:
    exists = of.instance.exists
    if not isinstance(value, list) or not set(map(type, value)) <= {int}:  # numpy would take flags for numbers
        raise malformed("flow witness: label must be a list of whole numbers")
    label = whole_column(value, "flow witness: label", np.int64, malformed)
    if len(label) != len(exists):
        raise malformed(f"flow witness: label has {len(label)} rows; expected {len(exists)}")
    wrong = np.flatnonzero(np.where(exists, (label < 0) | (label > MAX_LABEL), label != -1))
    if len(wrong):
        raise malformed(
            f"flow witness: label of node {wrong[0]} is {label[wrong[0]]}; allowed: 0 to {MAX_LABEL}, -1 for removed nodes"
        )
    return label
