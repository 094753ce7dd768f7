"""Which message of a Chakra trace is received by which node."""

from collections import defaultdict
from itertools import pairwise

from certree.extras.runtimes.model.algorithm import Act, Algorithm
from certree.extras.runtimes.model.chakra import NodeType
from certree.models.common.budget import PYTHON, spend
from certree.verify.verdict import Findings

#: (rank, place of the node in its file)
Place = tuple[int, int]
Connection = tuple[int, int, int]  # source, destination, tag


def message_edges(algorithm: Algorithm, findings: Findings) -> dict[Place, Place]:
    """The sending node of each receiving one. Messages between two ranks with one tag are received in their order where waits order
    both their sends and their receives. Rule `unmatched` for messages that only one side knows, whose sizes differ, or whose order
    is open."""
    sent: defaultdict[Connection, list[Place]] = defaultdict(list)
    received: defaultdict[Connection, list[Place]] = defaultdict(list)
    for rank, acts in enumerate(algorithm.ranks):
        for at, act in enumerate(acts):
            if act.type is NodeType.SEND:
                sent[rank, act.peer, act.tag].append((rank, at))
            elif act.type is NodeType.RECEIVE:
                received[act.peer, rank, act.tag].append((rank, at))
    found: dict[Place, Place] = {}
    before: dict[int, list[int]] = {}
    for key in sorted({*sent, *received}):
        words = f"from rank {key[0]} to rank {key[1]} with tag {key[2]}"
        out, into = sent[key], received[key]
        if len(out) != len(into):
            findings.add("unmatched", 0, (), f"{words}: {len(out)} sent, {len(into)} received")
            continue
        out, into = (_in_order(algorithm, places, before) for places in (out, into))
        if not (out and into):
            findings.add("unmatched", 0, (), f"{words}: {len(sent[key])} messages with one tag that no waits order")
        for source, target in zip(out, into, strict=False):
            sizes = [algorithm.ranks[rank][at].bytes for rank, at in (source, target)]
            if sizes[0] != sizes[1]:
                findings.add("unmatched", 0, (), f"{words}: {sizes[0]} bytes sent, {sizes[1]} received")
            found[target] = source
    return found


def _in_order(algorithm: Algorithm, places: list[Place], before: dict[int, list[int]]) -> list[Place]:
    """Nodes of one rank in the order of their waits; none where some two are not ordered."""
    if len(places) < 2:
        return places
    rank = places[0][0]
    if rank not in before:
        before[rank] = _predecessors(algorithm.ranks[rank])
    sets = before[rank]
    ordered = sorted(places, key=lambda place: sets[place[1]].bit_count())
    is_chain = all(sets[second] >> first & 1 for (_, first), (_, second) in pairwise(ordered))
    return ordered if is_chain else []


def _predecessors(acts: tuple[Act, ...]) -> list[int]:
    """For each node of a rank the set of those that are over before it, as bits; none for nodes in a circle of waits."""
    spend(PYTHON * len(acts) + len(acts) ** 2, f"the order of {len(acts):,} nodes of a rank")
    number = {act.id: at for at, act in enumerate(acts)}
    missing = [len(set(act.waits)) for act in acts]
    followers: defaultdict[int, list[int]] = defaultdict(list)
    for at, act in enumerate(acts):
        for other in set(act.waits):
            followers[number[other]].append(at)
    found = [0] * len(acts)
    ready = [at for at, count in enumerate(missing) if not count]
    for at in ready:  # grows while it is read
        for other in followers[at]:
            found[other] |= found[at] | 1 << at
            missing[other] -= 1
            if not missing[other]:
                ready.append(other)
    return found
