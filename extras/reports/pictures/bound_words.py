"""Lower bounds in words: what their witness proves, and how."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from certree.api.reports.text import QUANTITIES, UNITS, counted
from certree.models.network.topology import Topology

_KINDS = {
    "partition": "Each part must give its contribution to the others and get the result, which takes {messages} messages per"
    " chunk between the {parts} parts; the links between them carry {capacity} per round: {messages}/{capacity} M/B.",
    "tolls": "Every part but the dearest pays at least its cheapest link out and its cheapest link in for each chunk; the prices of"
    " all links between parts bound what can be paid per round.",
    "direction": "Every chunk must leave the set and enter it; the smaller of the capacities out of it and into it bounds how"
    " many do so per round.",
    "steiner": "Among schedules that make each sum at one node: what carries contributions there, and what carries the sum back,"
    " joins all members, so the messages of a chunk cover the shortest tree that does so twice.",
    "counting": "Every chunk takes at least 2(N - 1) messages that endpoints send, and as many that they receive; the capacity out"
    " of all N endpoints, or into them, bounds how many there are per round.",
    "cut": "The data on one side that is due on the other must cross the channels between the sides; their capacity bounds how much"
    " does so per round.",
    "subpartition": "Data must enter (or leave) all of the sets but one for each chunk, whatever the shares of the endpoints.",
    "degree": "What the endpoint sends and receives must pass its own channels.",
    "metric": "With these lengths, moving a chunk to where it is due covers at least a certain distance; all links together cover"
    " at most the sum of capacity times length per round.",
    "gossip": "Each part with members must learn the contributions of all of them by messages between parts. With these lengths"
    " the cheapest of these messages cover a certain distance; all links together cover at most the sum of capacity times length"
    " per round.",
    "order": "With these lengths, adding a chunk in this order and bringing the sum to where it is due covers at least a certain"
    " distance; all links together cover at most the sum of capacity times length per round. For schedules of this order only.",
    "flow": "Granules that are due at the nodes with a red ring pass a cut through network and time: before the last label, the"
    " lanes across it can take fewer of them than there are, so one arrives no earlier.",
    "load": "The links carry no more than their capacity from the first flit to the last; by the bound on bandwidth time, shown"
    " here, the message needs that many cycles of them.",
    "receptions": "The node with a red ring receives the contributions of those with a black ring one by one, or as sums that"
    " another node has received and added first. Its lanes need that many cycles.",
    "copies": "The root and those to which it has sent have to send what leaves the root late once to each of the nodes with a red"
    " ring. The lanes out of all of them need that many cycles.",
    "additions": "The reduction units of all nodes together add a limited number of bytes per cycle, and one of them has at least"
    " its share of all additions.",
    "distance": "Data of one end is due at the other, and each step moves it over one hop between endpoints at most.",
}


def bound_words(topology: Topology, bound: Mapping[str, Any]) -> str:
    """Why the witness proves the bound, in a sentence or two."""
    words = _KINDS.get(bound["kind"], "The witness is checked by exact counting.")
    part = bound["witness"].get("part")
    if bound["kind"] != "partition" or part is None:
        return words
    with_endpoints = {part[node] for node in topology.endpoints.tolist()}
    crossing = [part[a] != part[b] for a, b in zip(topology.src.tolist(), topology.dst.tolist(), strict=True)]
    capacity = topology.exact.speed(int(topology.exact.capacity[crossing].sum()))
    return words.format(messages=2 * (len(with_endpoints) - 1), parts=len(with_endpoints), capacity=capacity)


def claim_words(topology: Topology, bound: Mapping[str, Any]) -> str:
    """`bandwidth time ≥ 9/16 M/B`, `latency ≥ 14 steps`, `time ≥ 2,972 cycles`."""
    if bound["quantity"] == "time":
        return f"time ≥ {int(bound['value']):,} cycles"
    value = Fraction(bound["value"]) * (topology.exact.scale if bound["quantity"] == "bandwidth" else 1)
    return f"{QUANTITIES[bound['quantity']]} ≥ {counted(str(value), UNITS[bound['quantity']])}"
