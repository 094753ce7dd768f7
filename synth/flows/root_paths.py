"""Paths of blocks between one root and all other endpoints, by maximum flow: as few rounds as the best cut allows."""

from collections import defaultdict

import numpy as np
from numpy.typing import NDArray

from certree.models.network.topology import Int32, Topology
from certree.synth.flows.block_paths import Paths


def root_paths(topology: Topology, root: int, members: Int32, copies: int, *, inwards: bool) -> Paths:
    """Paths of `copies` blocks between the root and each other of `members`, in the fewest rounds; all members once, then again.

    `inwards`: to the root (gather), otherwise from it (scatter). The number of rounds is found by bisection, a maximum flow for
    each step: a super-source gives each member its blocks, and a link carries as many as its capacity times the rounds (Ford
    and Fulkerson: the flow is integral, and decomposes into one path for each block).
    """
    tail, head = (topology.pair_src, topology.pair_dst) if inwards else (topology.pair_dst, topology.pair_src)
    others = members[members != root]
    low, high = 1, copies * len(others)  # one block in each round always fits
    flow = _flow(topology, tail, head, root, others, copies, high)
    while low < high:
        rounds = (low + high) // 2
        found = _flow(topology, tail, head, root, others, copies, rounds)
        if found is None:
            low = rounds + 1
        else:
            high, flow = rounds, found
    assert flow is not None
    paths = _decomposed(flow, tail, head, root, np.tile(others, copies).tolist())
    ordered = paths if inwards else [path[::-1] for path in paths]
    offset = np.concatenate(([0], np.cumsum([len(path) for path in ordered]))).astype(np.int32)
    return Paths(offset, np.array([pair for path in ordered for pair in path], np.int32), high)


def _flow(
    topology: Topology,
    tail: NDArray[np.int64],
    head: NDArray[np.int64],
    root: int,
    others: NDArray[np.int32],
    copies: int,
    rounds: int,
) -> NDArray[np.int64] | None:
    """Blocks over each joined pair when all reach the root in N rounds; None where they cannot."""
    from ortools.graph.python.max_flow import SimpleMaxFlow  # noqa: PLC0415

    solver, source = SimpleMaxFlow(), len(topology.kind)
    arcs = solver.add_arcs_with_capacity(tail, head, topology.pair_capacity * rounds)
    solver.add_arcs_with_capacity(np.full(len(others), source), others, np.full(len(others), copies))
    if solver.solve(source, root) != solver.OPTIMAL or solver.optimal_flow() < copies * len(others):
        return None
    flows: NDArray[np.int64] = np.asarray(solver.flows(arcs), np.int64)
    return flows


def _decomposed(
    flow: NDArray[np.int64], tail: NDArray[np.int64], head: NDArray[np.int64], root: int, starts: list[int]
) -> list[list[int]]:
    """A path of pairs to the root for each start, that together use no pair more often than the flow does. O(hops of the flow)."""
    left: dict[int, list[list[int]]] = defaultdict(list)  # by node: [pair, uses left]
    for pair in np.flatnonzero(flow).tolist():
        left[int(tail[pair])].append([pair, int(flow[pair])])
    paths = []
    for start in starts:
        path: list[int] = []
        place = {start: 0}  # how many pairs lead to a node that the path passes
        node = start
        while node != root:
            entry = left[node][-1]
            entry[1] -= 1
            if not entry[1]:
                left[node].pop()
            path.append(entry[0])
            node = int(head[entry[0]])
            if node in place:  # a cycle of the flow, which is not needed
                for pair in path[place[node] : -1]:
                    del place[int(head[pair])]
                path = path[: place[node]]
            place[node] = len(path)
        paths.append(path)
    return paths
