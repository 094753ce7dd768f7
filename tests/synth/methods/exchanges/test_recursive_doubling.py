"""Recursive doubling: log2 N steps by formula, the way in and out beyond powers of two, and what it does not do."""

import pytest

from certree.verify.checker import verify_schedule
from tests.synth.execution import make


def test_on_links_of_its_own_nothing_waits() -> None:
    assert make("recursive-doubling", "hypercube:4").rounds.tolist() == [1] * 4
    assert make("recursive-doubling", "switch:16").rounds.tolist() == [1] * 4
    assert make("recursive-doubling", "full:8", "all-gather").rounds.tolist() == [1, 2, 4]


def test_on_a_ring_long_distances_meet() -> None:
    # 8 nodes in a circle: partners 2 apart meet twice on a link, partners 4 apart go all the same way round: 4 routes over each
    # link
    assert make("recursive-doubling", "ring:8").rounds.tolist() == [1, 2, 4]
    published = make("recursive-doubling", "ring:8", options={"rounds": "published"})
    assert published.rounds.tolist() == [1, 1, 1]
    assert verify_schedule(published).serialized_rounds == 7


@pytest.mark.parametrize(
    ("spec", "rounds"),
    [
        ("torus:4x4", [1] * 4),
        ("torus:3x3", [1, 1]),
        ("torus:2x3x4", [1] * 4),
        ("full:5", [1]),
        ("full:4", [1]),
        ("mesh:4x3", [2, 4]),
        ("torus:5x5", [3, 3]),
        ("switch:4", [3]),
        ("fattree:2x3", [2, 1]),
        ("mesh:2x2,without-link=0-1", [2, 1]),
    ],
)
def test_in_groups_a_dimension_takes_a_step(spec: str, rounds: list[int]) -> None:
    """Rings of 4 take two, between neighbours: a torus of fours is a hypercube."""
    made = make("recursive-doubling", spec, options={"exchange": "groups"})
    assert (made.rounds.tolist(), verify_schedule(made).valid) == (rounds, True)
