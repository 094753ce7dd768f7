"""What waits for each other: the native search against networkx."""

import networkx as nx
import numpy as np
import pytest

from certree.synth._native import strong_parts
from certree.synth.fine.order import order_of
from certree.synth.fine.program import program_of
from tests.synth.execution import make


def test_parts_are_those_of_networkx():
    rng = np.random.default_rng(11)
    for nodes in (1, 2, 7, 40, 200):
        for edges in (0, nodes // 2, nodes, 3 * nodes):
            tail, head = rng.integers(nodes, size=(2, edges), dtype=np.int32)
            graph = nx.DiGraph()
            graph.add_nodes_from(range(nodes))
            graph.add_edges_from(zip(tail.tolist(), head.tolist(), strict=True))
            part = strong_parts(nodes, tail, head)
            found = {frozenset(np.flatnonzero(part == number).tolist()) for number in range(int(part.max()) + 1)}
            assert found == set(map(frozenset, nx.strongly_connected_components(graph)))


def test_edges_without_ends_are_refused():
    one, none = np.zeros(1, np.int32), np.zeros(0, np.int32)
    with pytest.raises(ValueError, match="as many heads as tails"):
        strong_parts(1, one, none)
    with pytest.raises(ValueError, match="not a node"):
        strong_parts(1, one, one + 1)


def test_exchanges_between_accumulators_are_groups_in_their_order():
    """Recursive doubling on four nodes: in each of two steps two pairs swap sums, every node with another one."""
    order = order_of(program_of(make("recursive-doubling", "full:4", message_bytes=1024)))
    assert order.groups == sorted(order.groups)
    assert {len(rows) for rows in order.groups} == {2}
    assert sorted(row for rows in order.groups for row in rows) == list(range(len(order.group)))
    assert all(order.group[row] == number for number, rows in enumerate(order.groups) for row in rows)
