"""The Steiner witness: lengths of links bound all-reduces of some endpoints that make each sum once, by the shortest tree."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.models.common.budget import PYTHON, spend
from certree.models.network.topology import Topology
from certree.models.schedule.collective import CollectiveKind
from certree.verify.bounds.classes import assumes, no_coding, only_forwarding
from certree.verify.bounds.instance import Instance
from certree.verify.bounds.witness import WITNESSES, WitnessError, only_fields
from certree.verify.bounds.witnesses.metric import FAR, link_numbers, total

MOST_WORK = 1 << 27  # nodes times pairs of disjoint sets of members
MOST_NODES = 1 << 9  # for the distances of all pairs

Int64 = NDArray[np.int64]


def _made_once(_: Instance, __: Mapping[str, Any]) -> str:
    return "sums made once"


@WITNESSES.register("steiner")
@assumes("steiner", no_coding, only_forwarding, _made_once)
def steiner(instance: Instance, witness: Mapping[str, Any]) -> tuple[str, Fraction]:
    """{"length": [length of each link, in link order]}: twice the length of a shortest tree that joins all members / sum of
    capacity · length.

    Lengths are whole numbers from 0. An edge of the tree joins two nodes that hold chunks, endpoints or reducing switches, and has
    the length of a shortest path between them, on which a link counts in either direction; the tree may have any of these nodes.

    Proof. Take one chunk of an all-reduce that makes the sum of all contributions at one node r only. The messages that carry
    contributions to r join all members and r, and so do those that carry the sum from r to them. No message is of both kinds: one
    kind carries the whole sum, the other less. Each message goes from one node that holds chunks to another one, and takes each
    link of its route for itself. So the messages of the chunk cover the length of two trees or more, and one round offers the sum
    of capacity · length. It bounds a given schedule, never what other schedules can do: for an instance without a schedule it is
    refused. O(3^members · nodes + 2^members · nodes² + nodes³) time.
    """
    if instance.collective.kind is not CollectiveKind.ALL_REDUCE:
        raise WitnessError("witness-foreign", f"a steiner witness bounds an all-reduce, not an {instance.collective.kind}")
    only_fields("steiner", witness, ["length"])
    if not covers(instance):
        raise WitnessError("witness-foreign", "a steiner witness is for few members: trees among these are too many to compare")
    if instance.adds is None or isinstance(instance.adds, str):
        raise WitnessError("witness-foreign", "a steiner witness bounds a schedule that makes each sum at one node; here is none")
    if not instance.makes_sums_once:
        raise WitnessError(
            "witness-foreign",
            "a steiner witness bounds schedules that make each sum at one node; this one makes some at several",
        )
    length = link_numbers(instance.topology, "steiner", "length", witness["length"])
    members = instance.collective.members_of(instance.topology)
    need = int(tree_lengths(instance.topology, length, members)[0][-1].min())
    if not need:
        raise WitnessError("witness-wrong", "steiner witness: what has to travel has length 0, which bounds nothing")
    return "bandwidth", Fraction(2 * need, total(instance.topology.capacity.astype(np.int64) * length))


def covers(instance: Instance) -> bool:
    """Whether the shortest tree is found within MOST_WORK."""
    nodes = len(instance.topology.kind)
    return nodes <= MOST_NODES and instance.count <= 20 and nodes * 3 ** (instance.count - 1) <= MOST_WORK


def tree_lengths(topology: Topology, length: Int64, members: NDArray[np.int32]) -> tuple[Int64, Int64]:
    """(tree, far): `tree[s, v]` is the length of a shortest tree that joins node v and the members in s, bit i for the i-th, the
    last one left out. One more row has that of all members, at the last one only. `far`: distances between all nodes.

    Trees branch in nodes that hold chunks. Dreyfus and Wagner's recursion: a tree is a path to a node where trees of two parts of
    the set meet.
    """
    nodes, others = len(topology.kind), len(members) - 1
    work = nodes * (3**others + (nodes << others) + nodes * nodes) + PYTHON * 3**others // 2
    spend(work, f"shortest trees among {len(members)} members of {nodes} nodes")
    far = np.full((nodes, nodes), FAR >> 2, np.int64)
    for tail, head in ((topology.src, topology.dst), (topology.dst, topology.src)):
        np.minimum.at(far, (tail, head), length)
    np.fill_diagonal(far, 0)
    for node in range(nodes):
        np.minimum(far, far[:, node, None] + far[node], out=far)
    tree = np.full((1 << others, nodes), FAR >> 1, np.int64)
    for number, member in enumerate(members[:-1].tolist()):
        tree[1 << number] = far[member]
    for chosen in range(1, 1 << others):
        parts = np.array(parts_of(chosen), np.int64)
        if len(parts):
            met = np.where(topology.holds, (tree[parts] + tree[chosen ^ parts]).min(axis=0), FAR >> 1)
            tree[chosen] = (met[:, None] + far).min(axis=0)
    last = np.full((1, nodes), FAR >> 1, np.int64)
    last[0, members[-1]] = tree[-1, members[-1]]
    return np.concatenate((tree, last)), far


def parts_of(chosen: int) -> list[int]:
    """The proper subsets of a set that contain its lowest element, as bits."""
    lowest = chosen & -chosen
    rest = chosen ^ lowest
    found, part = [], rest
    while part:
        part = (part - 1) & rest
        found.append(part | lowest)
    return found
