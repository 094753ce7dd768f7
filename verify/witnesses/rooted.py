"""Witnesses that bound collectives with roots: a cut, and a subpartition, which holds whatever the shares."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from certree.models.collective import CollectiveKind
from certree.verify.witness import WITNESSES, Instance, WitnessError, malformed, node_set, only_fields


@WITNESSES.register("cut")
def cut(instance: Instance, witness: Mapping[str, Any]) -> tuple[str, Fraction]:
    """{"set": [ids]}: the share rooted outside the set / the capacity into it (all-gather, broadcast) or out of it
    (reduce-scatter, reduce); what is addressed from outside the set to its inside / the capacity into it (with targets).

    Proof. The set S holds an endpoint. All-gather, broadcast: each chunk rooted outside S is due at that endpoint, so it enters
    S at least once. Reduce-scatter, reduce: that endpoint contributes to each chunk rooted outside S, so at least one message of it
    leaves S. With targets: a chunk from outside S to its inside enters S at least once. Holds for any capacities and for
    switches of any kind: adding and multicasting happen at nodes, and neither brings data over a border without a message.
    """
    if not instance.collective.is_rooted:
        raise WitnessError("witness-foreign", f"a cut witness bounds collectives with roots, not an {instance.collective.kind}")
    only_fields("cut", witness, ["set"])
    return "bandwidth", positive("cut", crossing_share(instance, node_set(instance, "cut", witness["set"])))


@WITNESSES.register("subpartition")
def subpartition(instance: Instance, witness: Mapping[str, Any]) -> tuple[str, Fraction]:
    """{"sets": [[ids], ...]}: (t − 1) / the sum of the capacities into t ≥ 2 sets (all-gather) or out of them (reduce-scatter).

    The sets are disjoint, each holds an endpoint; other nodes may be in none.

    Proof. The endpoint that roots a chunk lies in one of the sets at most. Each of the t − 1 others, at least, holds an endpoint
    that the chunk is due at (all-gather) or that contributes to it (reduce-scatter), so at least one message of the chunk enters
    that set, or leaves it. No link enters two disjoint sets, and none leaves two. What part of the message an endpoint roots does
    not matter, so this bounds all schedules of the collective, however they share the message out.
    """
    if instance.collective.kind not in (CollectiveKind.ALL_GATHER, CollectiveKind.REDUCE_SCATTER):
        raise WitnessError(
            "witness-foreign",
            f"a subpartition witness bounds an all-gather or reduce-scatter, where endpoints share out the message,"
            f" not a {instance.collective.words}",
        )
    only_fields("subpartition", witness, ["sets"])
    if not isinstance(witness["sets"], list):
        raise malformed("subpartition witness: sets must be a list of lists of node ids")
    sets = [node_set(instance, "subpartition", ids) for ids in witness["sets"]]
    if len(sets) < 2:
        raise WitnessError("witness-wrong", "subpartition witness: two sets or more are needed")
    shared = np.flatnonzero(np.sum(sets, axis=0) > 1)
    if len(shared):
        raise WitnessError("witness-wrong", f"subpartition witness: node {shared[0]} is in two of the sets")
    gathers = instance.collective.gathers
    capacity = sum(instance.capacity(~inside, inside) if gathers else instance.capacity(inside, ~inside) for inside in sets)
    return "bandwidth", Fraction(len(sets) - 1, capacity)


def crossing_share(instance: Instance, inside: np.ndarray) -> Fraction:
    """Rounds per chunk of the message for what needs to cross the border of the set, as in `cut`."""
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
