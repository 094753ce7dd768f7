"""Schedules stored as base chunks and a group: checked on the base, after the group is shown to fit the network.

Given are permutations a_1 ... a_k of the N nodes. Let s_1 ... s_d be the neighbours of node 0. A walk by generators from node 0
gives for each node v one product g_v with g_v(0) = v, and with it the neighbours R_j(v) = g_v(s_j) of v. For all v is checked:

1. `automorphism`: every generator takes pairs of neighbours to pairs of neighbours with the same capacity and latency;
2. `regular`: the walk reaches every node, and a_i(R_j(v)) = R_j(a_i(v)) for all i and j.

*Then every node v has exactly one element g with g(0) = v.* The walk gives one. If g(0) = 0, then g, a product of generators that
therefore commutes with every R_j, fixes R_j(0), then R_i(R_j(0)), and so every node reachable from node 0: all of them, since the
network is connected. So g is the identity, and two elements that agree on node 0 are equal.

*Every link v>w has exactly one label j with w = R_j(v)*, since g_v is a bijection from the neighbours of node 0 to those of v, and
elements keep labels.

*What holds for a base chunk holds for its images.* The element of node v takes links to links, contributions to contributions, the
root 0 to v, and the obligations of a base chunk (at all nodes, at the root, or at its target) to those of its image: the contents
of the nodes after each step are the image of the contents that the base gives. So the whole schedule breaks `self`, `link`,
`write-conflict`, `not-held`, `duplicate`, `causality` or `missing` exactly when the base does.

*All blocks of an all-to-all have equally many chunks* (`shares`). The base is a scatter with equally many chunks for each target
(the form of the schedule says so), and for each v the images of the nodes other than 0 are the nodes other than v, each once.

*No link carries too much* (`capacity`). A base row u>w with label j puts one transfer on the link v>R_j(v): that of the chunk whose
element takes u to v, of which there is one; rows with other labels put none there. So in step t each link v>R_j(v) carries as many
transfers as the base has rows with label j in step t. Their number must not exceed the capacity of the pair 0>s_j.
"""

import numpy as np
from numpy.typing import NDArray

from certree.models.network.action import Action
from certree.models.network.topology import UNKNOWN_LATENCY, Topology
from certree.models.schedule.symmetric.symmetric_schedule import SymmetricSchedule, written_out
from certree.verify.rule import STRUCTURAL, Stage, Subject, checks, rule, run_checks
from certree.verify.verdict import Findings
from certree.verify.wording import list_text, network_text, row_text


@rule(
    "automorphism",
    "a generator of the group does not take links to links of the same capacity and latency",
    "action.permutations.0 = [1, 3, 0, 2]",
    Subject.SYMMETRIC,
)
@rule(
    "regular",
    "the group has no element, or two elements, that take node 0 to some node",
    "action.permutations.0 = [0, 3, 2, 1]",
    Subject.SYMMETRIC,
)
def check_action(topology: Topology, action: Action, findings: Findings) -> None:
    """Report why a group does not fit a network (rules `automorphism` and `regular`). O(generators · links) time and memory."""
    src, dst = topology.pair_src, topology.pair_dst
    latency = _latencies(topology)
    for number, images in enumerate(action.moves):
        pair = topology.pair_index(images[src], images[dst])
        changed = np.flatnonzero((pair < 0) | (topology.pair_capacity[pair] != topology.pair_capacity) | (latency[pair] != latency))
        if len(changed):
            at = changed[0]
            moved = f"generator {number} takes the link {src[at]}>{dst[at]} to {images[src[at]]}>{images[dst[at]]}"
            lacks = "there is no such link" if pair[at] < 0 else "it differs in capacity or latency"
            findings.add("automorphism", 0, (), f"action: {moved}: {lacks} in {network_text(topology)}")
    lost = np.flatnonzero(~action.orbit)
    if len(lost):
        findings.add("regular", 0, (), f"action: no element takes node 0 to node {lost[0]}; a group needs one for each node")
    if findings.rules & {"automorphism", "regular"}:
        return
    heads = action.carried(dst[src == 0])
    for number, images in enumerate(action.moves):
        v, j = np.nonzero(heads[images] != images[heads])
        if len(v):
            node, seen, other = images[v[0]], heads[images[v[0]], j[0]], images[heads[v[0], j[0]]]
            message = (
                f"action: two elements, one of them by generator {number}, take node 0 to node {node}, and node {heads[0, j[0]]}"
                f" to nodes {seen} and {other}; a group needs one for each node"
            )
            findings.add("regular", 0, (), message)
            return


def check_images(schedule: SymmetricSchedule, findings: Findings) -> None:
    """Report the violations of a schedule and all its images; rows are those of the base, or of all transfers where the base does
    not suffice for a check. `_check_labels` finds on the base what stage LOAD looks for on all transfers. Without a
    group that fits there are no images, and only the base is checked. Fine slots depend on the size of all chunks and on what all
    images bring to the reduction unit of a node: they are checked on all transfers, and without a group not at all.

    O(generators · links + base rows · log) for trees; otherwise the abstract machine executes the base chunks.
    """
    check_action(schedule.topology, schedule.action, findings)
    fits = not findings.rules
    if schedule.has_fine_slots:
        if fits:
            run_checks(Subject.SCHEDULES, written_out(schedule), findings)
        return
    for stage in Stage:
        if stage > Stage.WIRING and findings.rules & STRUCTURAL:
            return
        if stage is not Stage.LOAD:
            for entry in checks(Subject.SCHEDULES, stage):
                if entry.base_suffices:
                    entry.run(schedule.base, findings)
                elif fits:
                    entry.run(written_out(schedule), findings)
        elif fits:
            _check_labels(schedule, findings)


def _check_labels(schedule: SymmetricSchedule, findings: Findings) -> None:
    """Check rule `capacity`: rows of one step that their elements move onto the same links."""
    base, topology = schedule.base, schedule.topology
    linked = np.flatnonzero(base.pair >= 0)
    label, step = schedule.label[linked], base.step[linked].astype(np.int64)
    order = np.lexsort((linked, label, step))
    fresh = np.ones(len(order), np.bool_)
    fresh[1:] = (np.diff(step[order]) != 0) | (np.diff(label[order]) != 0)
    start = np.flatnonzero(fresh)
    load = np.diff(np.append(start, len(order)))
    capacity = topology.pair_capacity[topology.pair_src == 0]
    bad = np.flatnonzero(load > capacity[label[order[start]]])

    def tell(group: int) -> tuple[int, tuple[int, ...], str]:
        rows = linked[order[start[group] : start[group] + load[group]]].tolist()
        first = label[order[start[group]]]
        here, head = int(base.step[rows[0]]), schedule.heads[0, first]
        which = list_text([row_text(base, row) for row in rows], " and ")
        carries = f"link 0>{head} and its images carry {len(rows)} transfers (capacity {capacity[first]})"
        return here, tuple(rows), f"step {here}: {carries}: images of {which}"

    findings.add_each("capacity", bad.tolist(), tell)


def _latencies(topology: Topology) -> NDArray[np.int64]:
    """One number per pair of neighbours that its latency depends on: its slowest link, and whether a link has the machine's."""
    slowest = np.full(len(topology.pair_capacity), UNKNOWN_LATENCY, np.int64)
    np.maximum.at(slowest, topology.pair_of_link, topology.latency)
    unknown = np.zeros(len(slowest), np.int64)
    unknown[topology.pair_of_link[topology.latency == UNKNOWN_LATENCY]] = 1
    return 2 * slowest + unknown
