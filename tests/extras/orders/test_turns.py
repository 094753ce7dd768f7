"""Turns of messages through switches: no link is overfilled in any turn, in as few turns as endpoints have messages."""

import numpy as np
import pytest

from certree.extras.orders.make.turns import turned
from certree.models.network.spec import parse_topology


@pytest.mark.parametrize("network", ["switch:5", "fattree:4x4", "h100:1", "leafspine:3x4x4"])
@pytest.mark.parametrize("seed", range(3))
def test_turns(network: str, seed: int) -> None:
    topology, rng = parse_topology(network), np.random.default_rng(seed)
    nodes = topology.endpoints.tolist()
    ends = [(int(a), int(b)) for a, b in rng.choice(nodes, (200, 2)) if a != b]
    found = turned(topology, ends)
    assert found is not None
    period, chosen = found
    lanes = int(np.bincount(topology.src, topology.capacity)[nodes[0]])
    busiest = max(np.bincount([pair[side] for pair in ends]).max() for side in (0, 1))
    assert period == -(-busiest // lanes)
    used = np.zeros((period, len(topology.src)), np.int64)
    for (start, end), (turn, route) in zip(ends, chosen, strict=True):
        assert (topology.src[route[0]], topology.dst[route[-1]]) == (start, end)
        assert (topology.dst[list(route[:-1])] == topology.src[list(route[1:])]).all()
        used[turn, list(route)] += 1
    assert (used <= topology.capacity).all()


def test_not_known() -> None:
    assert turned(parse_topology("mesh:2x2"), [(0, 1)]) is None
