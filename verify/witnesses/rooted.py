"""The witness that bounds every collective with roots: a cut."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from certree.verify.witness import WITNESSES, Instance, WitnessError, node_set, only_fields


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
