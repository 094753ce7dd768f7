"""The gossip witness: lengths of links bound an all-reduce by the cheapest messages that tell all parts all contributions."""

from collections.abc import Mapping
from fractions import Fraction
from heapq import heappop, heappush
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.models.common.budget import PYTHON, spend
from certree.models.schedule.collective import CollectiveKind
from certree.verify.bounds.classes import assumes, no_coding, only_forwarding
from certree.verify.bounds.instance import Instance
from certree.verify.bounds.witness import WITNESSES, WitnessError, node_numbers, only_fields
from certree.verify.bounds.witnesses.metric import FAR, link_numbers, total

MOST_BITS = 16  # parts times parts with members: what a state of all parts takes

Int64 = NDArray[np.int64]


@WITNESSES.register("gossip")
@assumes("gossip", no_coding, only_forwarding)
def gossip(instance: Instance, witness: Mapping[str, Any]) -> tuple[str, Fraction]:
    """{"part": [part of each node id, -1 for removed ids], "length": [length of each link, in link order]}: the least cost of
    messages after which each part with a member knows the contributions of all such parts / sum of capacity · length.

    Lengths are whole numbers from 0. A message goes from one part to another; it costs the length of a shortest path from an
    endpoint or reducing switch of the first to one of the other, over any nodes, and hands on all that the first part knows. Parts
    of switches that only forward alone neither send nor receive.

    Proof. Take the messages of one chunk in an order that respects time, those between holders of different parts. A part can only
    know a contribution of another one by messages, and hands on no more than it knows. At the end every member has a sum of all
    contributions, so its part knows all. So these messages cost at least the least cost. Each takes the links of its route for
    itself, and one round offers the sum of capacity · length. With one length for all links that leave a part this is the bound by
    a partition, 2(p − 1) messages; it is more where parts without members have links, too, over which messages take longer.
    O(parts · links · hops + 2^(parts · parts with members) · parts²) time.
    """
    if instance.collective.kind is not CollectiveKind.ALL_REDUCE:
        raise WitnessError("witness-foreign", f"a gossip witness bounds an all-reduce, not an {instance.collective.kind}")
    only_fields("gossip", witness, ["part", "length"])
    part = node_numbers(instance, "gossip", "part", witness["part"])
    length = link_numbers(instance.topology, "gossip", "length", witness["length"])
    holding, having = len(np.unique(part[instance.topology.holds])), len(np.unique(part[instance.is_member]))
    if having < 2:
        raise WitnessError("witness-wrong", f"gossip witness: no two parts hold {instance.noun}; two are needed")
    if holding * having > MOST_BITS:
        raise WitnessError(
            "witness-foreign",
            f"a gossip witness covers up to {MOST_BITS} for parts with endpoints times parts with members,"
            f" not {holding} · {having}",
        )
    need, _ = least_messages(*costs_between(instance, part, length))
    if not need:
        raise WitnessError("witness-wrong", "gossip witness: messages of length 0 are enough, which bounds nothing")
    return "bandwidth", Fraction(need, total(instance.topology.capacity.astype(np.int64) * length))


def costs_between(instance: Instance, part: Int64, length: Int64) -> tuple[list[list[int]], list[int]]:
    """The cost of a message from each part that holds chunks to each other one, and which of these parts have members.
    O(parts · links · hops)."""
    topology = instance.topology
    holders = np.flatnonzero(topology.holds)
    numbers, place = np.unique(part[holders], return_inverse=True)
    costs = np.full((len(numbers), len(numbers)), FAR, np.int64)
    for number, row in enumerate(costs):
        far = np.full(len(topology.kind), FAR, np.int64)
        far[holders[place == number]] = 0
        while True:
            spend(len(topology.src), f"distances between {len(numbers)} parts")
            before = far.copy()
            np.minimum.at(far, topology.dst, before[topology.src] + length)
            if np.array_equal(far, before):
                break
        np.minimum.at(row, place, far[holders])
    return costs.tolist(), np.flatnonzero(np.isin(numbers, part[instance.is_member])).tolist()


def least_messages(costs: list[list[int]], members: list[int]) -> tuple[int, list[tuple[int, int]]]:
    """The least cost after which all of some parts know what each of them knew, and messages (from, to) of this cost, in order.

    Dijkstra's algorithm over what each part knows, as bits of one number: `len(members)` for each part.
    """
    parts, width = len(costs), len(members)
    everything = (1 << width) - 1
    start = sum(1 << (part * width + bit) for bit, part in enumerate(members))
    goal = sum(everything << (part * width) for part in members)
    cost_of, came, queue = {start: 0}, {start: (start, 0, 0)}, [(0, start)]
    while queue:
        cost, state = heappop(queue)
        if cost > cost_of[state]:
            continue
        if state & goal == goal:
            return cost, _messages(came, state, start)
        spend(PYTHON * parts * parts, f"messages between {parts} parts")
        known = [state >> (part * width) & everything for part in range(parts)]
        for source in range(parts):
            for target in range(parts):
                after = state | known[source] << (target * width)
                reached = cost + costs[source][target]
                if after != state and reached < cost_of.get(after, FAR):
                    cost_of[after], came[after] = reached, (state, source, target)
                    heappush(queue, (reached, after))
    raise WitnessError("witness-wrong", "gossip witness: some part cannot be reached")


def _messages(came: Mapping[int, tuple[int, int, int]], state: int, start: int) -> list[tuple[int, int]]:
    found = []
    while state != start:
        state, source, target = came[state]
        found.append((source, target))
    return found[::-1]
