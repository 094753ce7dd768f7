"""Witnesses that bound an all-reduce: partition, tolls, direction, and counting, which also bounds all-gather and reduce-scatter.

In an all-reduce each chunk ends at every endpoint as the sum of one contribution from each, so information of every endpoint must
reach every endpoint, chunk by chunk. In a collective of some endpoints only (`Collective.members`) *endpoint* means in this module
one that takes part; the others hold and forward data like switches that reduce, about which no proof here assumes anything.
"""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from certree.models.schedule.collective import CollectiveKind
from certree.verify.bounds.classes import assumes, is_shared, no_coding, only_forwarding
from certree.verify.bounds.instance import Instance
from certree.verify.bounds.witness import WITNESSES, WitnessError, node_numbers, node_set, only_fields
from certree.verify.bounds.witnesses.metric import MAX_LENGTH, link_numbers, total


def _require_all_reduce(instance: Instance, kind: str) -> None:
    if instance.collective.kind is not CollectiveKind.ALL_REDUCE:
        raise WitnessError("witness-foreign", f"a {kind} witness bounds an all-reduce, not an {instance.collective.kind}")


@WITNESSES.register("partition")
@assumes("partition", no_coding)
def partition(instance: Instance, witness: Mapping[str, Any]) -> tuple[str, Fraction]:
    """{"part": [part of each node id, -1 for removed ids]}: 2(p − 1) / capacity of all links between parts.

    p ≥ 2 is the number of parts that hold an endpoint; every existing node, switches too, is in one part.

    Proof. Take one chunk and its messages between different parts in an order that respects time (a hop of a route is a message;
    ties broken arbitrarily). Let A be the first part that contributions from all p parts have reached. By then each of the p
    parts other than A has sent at least one message: p − 1 messages. So far only A knows all contributions (a message informs one
    part), so each of the p parts other than A must still receive a message: p − 1 more. Operations inside a part (adding,
    forwarding, multicasting) do not matter, so the bound holds for any capacities and for switches of any kind, including
    reducing switches: a multicast is a separate message on each link by which it leaves.
    """
    _require_all_reduce(instance, "partition")
    only_fields("partition", witness, ["part"])
    part = node_numbers(instance, "partition", "part", witness["part"])
    parts = len(np.unique(part[instance.is_member]))
    if parts < 2:
        raise WitnessError("witness-wrong", f"partition witness: no two parts hold {instance.noun}; two are needed")
    crossing = part[instance.topology.src] != part[instance.topology.dst]
    capacity = int(instance.topology.capacity[crossing].sum(dtype=np.int64))
    return "bandwidth", Fraction(2 * (parts - 1), capacity)


@WITNESSES.register("tolls")
@assumes("tolls", no_coding)
def tolls(instance: Instance, witness: Mapping[str, Any]) -> tuple[str, Fraction]:
    """{"part": [as in `partition`], "price": [of each link, in link order]}: the sum of the tolls of all parts that hold an
    endpoint, except the largest toll / sum of capacity · price over all links.

    Prices are non-negative integers. The toll of a part is the price of the cheapest link that leaves it for another part, plus
    the price of the cheapest link that enters it from another part.

    Proof. Take one chunk and its messages as in the proof of `partition`, and let A be the first part that contributions from all
    p parts with an endpoint have reached. By then each of these parts other than A has sent a message to another part; afterwards
    each of them must still receive a message from another part. So each of these parts except A has paid its toll, and no message
    is counted twice: messages sent until A knows all contributions are counted for the part that they leave, later ones for the
    part that they enter. All other messages have non-negative prices. One round can pay at most the sum of capacity · price. This
    holds for any capacities and for switches of any kind.

    With the same price for all links between parts this is the partition bound; with the parts S and V∖S and a price only for
    leaving S it is the direction bound.
    """
    _require_all_reduce(instance, "tolls")
    only_fields("tolls", witness, ["part", "price"])
    topology = instance.topology
    part = node_numbers(instance, "tolls", "part", witness["part"])
    price = link_numbers(topology, "tolls", "price", witness["price"])
    paying = np.unique(part[instance.is_member])
    if len(paying) < 2:
        raise WitnessError("witness-wrong", f"tolls witness: no two parts hold {instance.noun}; two are needed")
    tail, head = part[topology.src], part[topology.dst]
    crossing = tail != head
    leaving, entering = np.full((2, int(part.max()) + 1), MAX_LENGTH, np.int64)  # every part that pays has links of both kinds
    np.minimum.at(leaving, tail[crossing], price[crossing])
    np.minimum.at(entering, head[crossing], price[crossing])
    toll = (leaving + entering)[paying]
    due = int(toll.sum()) - int(toll.max())
    if not due:
        raise WitnessError("witness-wrong", "tolls witness: all parts but one pay nothing, which bounds nothing")
    return "bandwidth", Fraction(due, total(topology.capacity.astype(np.int64) * price))


@WITNESSES.register("direction")
@assumes("direction")
def direction(instance: Instance, witness: Mapping[str, Any]) -> tuple[str, Fraction]:
    """{"set": [ids]}: 1 / the smaller of the capacities out of the set and into it.

    Proof. With endpoints on both sides each chunk needs at least one message out of the set and one into it. This is the amount of
    information that crosses, so coding does not make it less.
    """
    _require_all_reduce(instance, "direction")
    only_fields("direction", witness, ["set"])
    return "bandwidth", crossing_once(instance, node_set(instance, "direction", witness["set"]))


def crossing_once(instance: Instance, inside: np.ndarray) -> Fraction:
    """Rounds per chunk when each chunk crosses the boundary of the set once in each direction."""
    return Fraction(1, min(instance.capacity(inside, ~inside), instance.capacity(~inside, inside)))


def counting_applies(instance: Instance) -> bool:
    """Whether the number of messages bounds this instance: an all-gather, a reduce-scatter, or an all-reduce where only endpoints
    add and copy."""
    return is_shared(instance) or (
        instance.collective.kind is CollectiveKind.ALL_REDUCE and not bool(instance.topology.reducing.any())
    )


def _of_transfers(instance: Instance, witness: Mapping[str, Any]) -> list[str]:
    """The assumptions of the proof of `counting`: with shares none, since it is then the proof of a subpartition."""
    if is_shared(instance):
        return []
    return [term for term in (no_coding(instance, witness), only_forwarding(instance, witness)) if term is not None]


@WITNESSES.register("counting")
@assumes("counting", _of_transfers)
def counting(instance: Instance, witness: Mapping[str, Any]) -> tuple[str, Fraction]:
    """{}: all-reduce 2(N − 1) / the smaller of the capacities of all links into endpoints and of all links out of endpoints;
    all-gather (N − 1) / the capacity of all links into the endpoints that take part; reduce-scatter out of them, for any shares.

    Proof for an all-gather and a reduce-scatter. It is the subpartition bound of sets of one endpoint each.

    Proof for an all-reduce. Treat each endpoint, whether it takes part or not, as a part of the partition proof: each chunk needs
    at least 2(N − 1) transfers, N being the number of those that take part. Where switches only forward, a transfer leaves one
    endpoint and enters another, so it uses a link out of an endpoint and a link into an endpoint, of all endpoints. With reducing
    switches one message of an endpoint can serve many endpoints, so such topologies are refused.
    """
    only_fields("counting", witness, [])
    if is_shared(instance):
        return "bandwidth", Fraction(instance.count - 1, _capacity_of_members(instance))
    _require_all_reduce(instance, "counting")
    if not counting_applies(instance):
        raise WitnessError("witness-foreign", "a counting witness does not apply to a topology with reducing switches")
    everything = instance.exists
    capacity = min(instance.capacity(instance.is_endpoint, everything), instance.capacity(everything, instance.is_endpoint))
    return "bandwidth", Fraction(2 * (instance.count - 1), capacity)


def _capacity_of_members(instance: Instance) -> int:
    """The capacity of all links into the endpoints that take part (all-gather), or out of them (reduce-scatter)."""
    topology = instance.topology
    ends = topology.dst if instance.collective.gathers else topology.src
    return int(topology.capacity[instance.is_member[ends]].sum(dtype=np.int64))
