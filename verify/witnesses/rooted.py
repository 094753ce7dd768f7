"""The witness that bounds all-gather and reduce-scatter: a cut."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from certree.verify.witness import WITNESSES, Instance, WitnessError, node_set, only_fields


@WITNESSES.register("cut")
def cut(instance: Instance, witness: Mapping[str, Any]) -> tuple[str, Fraction]:
    """{"set": [ids]}: the share rooted outside the set / the capacity into it (all-gather) or out of it (reduce-scatter).

    Proof. The set S holds an endpoint. All-gather: each chunk rooted outside S is due at that endpoint, so it enters S at least
    once. Reduce-scatter: that endpoint contributes to each chunk rooted outside S, so at least one message of it leaves S. Holds
    for any capacities and switches.
    """
    if not instance.collective.is_rooted:
        raise WitnessError("witness-foreign", f"a cut witness bounds collectives with roots, not an {instance.collective.kind}")
    only_fields("cut", witness, ["set"])
    return "bandwidth", positive("cut", crossing_share(instance, node_set(instance, "cut", witness["set"])))


def crossing_share(instance: Instance, inside: np.ndarray) -> Fraction:
    """Rounds per chunk that the shares rooted outside the set need to cross its border."""
    outside = ~inside
    capacity = instance.capacity(outside, inside) if instance.collective.gathers else instance.capacity(inside, outside)
    return (1 - instance.share(inside)) / capacity


def positive(kind: str, value: Fraction) -> Fraction:
    """The value; WitnessError when nothing has to cross."""
    if value <= 0:
        raise WitnessError("witness-wrong", f"{kind} witness: no chunk has to cross, which bounds nothing")
    return value
