"""Witnesses that bound collectives with roots: a cut, and a subpartition, which is valid for all shares.

In a collective of some endpoints only (`Collective.members`) *endpoint* means in this module one that takes part.
"""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.verify.bounds.classes import assumes, is_shared, shares
from certree.verify.bounds.instance import Instance
from certree.verify.bounds.witness import WITNESSES, WitnessError, malformed, node_id, node_set, only_fields

_NO_SET = -1


@WITNESSES.register("cut")
@assumes("cut", shares)
def cut(instance: Instance, witness: Mapping[str, Any]) -> tuple[str, Fraction]:
    """{"set": [ids]}: the share rooted outside the set / the capacity into it (all-gather, broadcast) or out of it
    (reduce-scatter, reduce); what is addressed from outside the set to its inside / the capacity into it (with targets).

    Proof. The set S holds an endpoint. All-gather, broadcast: each chunk rooted outside S is due at that endpoint, so it enters
    S at least once. Reduce-scatter, reduce: that endpoint contributes to each chunk rooted outside S, so at least one message of it
    leaves S. With targets: a chunk from outside S to its inside enters S at least once. This holds for any capacities and for
    switches of any kind: nodes add and multicast, and neither moves data across the boundary without a message. It is the amount
    of information that crosses, so coding does not make it less.
    """
    if not instance.collective.is_rooted:
        raise WitnessError("witness-foreign", f"a cut witness bounds collectives with roots, not an {instance.collective.kind}")
    only_fields("cut", witness, ["set"])
    return "bandwidth", positive("cut", crossing_share(instance, node_set(instance, "cut", witness["set"])))


@WITNESSES.register("subpartition")
@assumes("subpartition")
def subpartition(instance: Instance, witness: Mapping[str, Any]) -> tuple[str, Fraction]:
    """{"sets": [[ids], ...]}: (t − 1) / the sum of the capacities into t ≥ 2 sets (all-gather) or out of them (reduce-scatter).

    The sets are disjoint, each holds an endpoint; other nodes may be in none.

    Proof. The endpoint that roots a chunk lies in at most one of the sets. Each of the other sets (t − 1 or more) holds an endpoint
    at which the chunk is due (all-gather) or that contributes to it (reduce-scatter), so at least one message of the chunk enters
    that set, or leaves it. No link enters two disjoint sets, and none leaves two. The shares of the endpoints do not matter, so
    this bounds all schedules of the collective, however the message is shared out; with coding, too, since all sets together take
    at least (t − 1) times the information of the message.
    """
    if not is_shared(instance):
        raise WitnessError(
            "witness-foreign",
            f"a subpartition witness bounds an all-gather or reduce-scatter, where endpoints share out the message,"
            f" not a {instance.collective.words}",
        )
    only_fields("subpartition", witness, ["sets"])
    if not isinstance(witness["sets"], list):
        raise malformed("subpartition witness: sets must be a list of lists of node ids")
    owner = _owners(instance, witness["sets"])
    tail, head = owner[instance.topology.src], owner[instance.topology.dst]
    crossing = (tail != head) & ((head if instance.collective.gathers else tail) != _NO_SET)
    capacity = int(instance.topology.capacity[crossing].sum(dtype=np.int64))
    return "bandwidth", Fraction(len(witness["sets"]) - 1, capacity)


def _owners(instance: Instance, sets: list[Any]) -> NDArray[np.int64]:
    """The number of the set that each node is in, or _NO_SET; WitnessError unless there are two sets or more, disjoint, each with
    an endpoint. O(nodes), however many sets."""
    if len(sets) < 2:
        raise WitnessError("witness-wrong", "subpartition witness: two sets or more are needed")
    for ids in sets:
        if not isinstance(ids, list) or not ids:
            raise malformed("subpartition witness: each set must be a list of node ids")
    nodes = [node_id(instance, "subpartition", entry) for ids in sets for entry in ids]
    number = np.repeat(np.arange(len(sets)), [len(ids) for ids in sets])
    owner = np.full(len(instance.topology.kind), _NO_SET, np.int64)
    owner[nodes] = number
    overwritten = np.flatnonzero(owner[nodes] != number)
    if len(overwritten):
        raise WitnessError("witness-wrong", f"subpartition witness: node {nodes[overwritten[0]]} is in two of the sets")
    if len(np.unique(nodes)) < len(nodes):
        raise malformed("subpartition witness: a set names a node twice")
    held = owner[instance.is_member]
    empty = np.flatnonzero(np.bincount(held[held != _NO_SET], minlength=len(sets)) == 0)
    if len(empty):
        raise WitnessError("witness-wrong", f"subpartition witness: set {empty[0]} does not hold {instance.noun}")
    return owner


def crossing_share(instance: Instance, inside: np.ndarray) -> Fraction:
    """Rounds per chunk for the data that must cross the boundary of the set, as in `cut`."""
    outside = instance.exists & ~inside
    if instance.collective.has_targets:
        return instance.addressed(outside, inside) / instance.capacity(outside, inside)
    capacity = instance.capacity(outside, inside) if instance.collective.gathers else instance.capacity(inside, outside)
    return (1 - instance.share(inside)) / capacity


def positive(kind: str, value: Fraction) -> Fraction:
    """The value; WitnessError when nothing has to cross."""
    if value <= 0:
        raise WitnessError("witness-wrong", f"{kind} witness: no chunk has to cross, which bounds nothing")
    return value
