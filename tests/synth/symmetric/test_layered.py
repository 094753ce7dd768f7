"""Trees in steps of several rounds: as few steps as hops, as few rounds as edges, on networks that look the same everywhere."""

import pytest

from certree.models.network.spec import parse_topology
from certree.synth.symmetric.layered import layered_schedule, step_rounds
from certree.synth.symmetric.translations import cayley_of
from certree.verify.checker import verify_schedule

#: network, chunks per node -> rounds of each step, counted by hand from the nodes at each distance
ROUNDS = [
    ("torus:7x7", 1, [1, 2, 3, 3, 2, 1]),
    ("torus:8x8", 4, [4, 8, 12, 14, 12, 8, 4, 1]),
    ("torus:8x8", 1, [1, 2, 3, 3, 3, 2, 1, 1]),
    ("hypercube:3", 3, [3, 3, 1]),
    ("ring:9", 1, [1, 1, 1, 1]),
    ("full:5", 2, [2]),
    ("torus:4x4x4", 2, [2, 5, 6, 5, 2, 1]),
]


@pytest.mark.parametrize(("network", "trees", "rounds"), ROUNDS)
def test_all_gather(network, trees, rounds):
    cayley = cayley_of(parse_topology(network))
    assert step_rounds(cayley, trees) == rounds
    made = layered_schedule(cayley, trees)
    assert made.rounds.tolist() == rounds
    assert verify_schedule(made).valid
    assert (layered_schedule(cayley, trees).digest) == made.digest


def test_fewer_rounds_than_hops():
    """Wide links: two rounds could carry all, but the farthest node is three hops away."""
    assert step_rounds(cayley_of(parse_topology("ring:6,capacity=3")), 1) is None
