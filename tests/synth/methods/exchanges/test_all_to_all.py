"""All-to-all: direct, round a ring, and dimension by dimension."""

import pytest

from certree.models.network.routing import DIRECT
from tests.synth.execution import make, rounds_of, valid


def test_by_distance_one_switch_is_busy_in_every_round() -> None:
    for nodes in (4, 7):
        for collective in ("all-to-all", "all-gather", "reduce-scatter"):
            made = make("direct", f"switch:{nodes}", collective, options={"steps": "by-distance"})
            assert rounds_of(made) == made.steps == nodes - 1


def test_hierarchical_moves_blocks_in_l_then_v_then_h() -> None:
    made = make("hierarchical-all-to-all", "ace-torus:4x2x3", "all-to-all")
    assert made.steps == 3 + 1 + 2
    for step, (stride, group) in enumerate([(1, 4)] * 3 + [(12, 2)] + [(4, 3)] * 2):
        now = made.step == step
        assert ((made.dst[now] - made.src[now]) % stride == 0).all()
        distance = (made.dst[now] // stride - made.src[now] // stride) % group
        assert set(distance.tolist()) == {{0: 1, 1: 2, 2: 3, 3: 1, 4: 1, 5: 2}[step]}


def test_blocks_are_relayed_round_rings_of_packages() -> None:
    """Distances 1 and 2 of 4 rows, both ways: 1 + 2 steps, each row to the one next to it."""
    for method in ("hierarchical-all-to-all", "switch-fc"):
        made = valid(method, "switch-fc:4x1x3x2", "all-to-all")
        local = 1 if method == "hierarchical-all-to-all" else 2
        assert made.steps == local + 3
        outer = made.step >= local
        rows = (made.dst[outer] // 3 - made.src[outer] // 3) % 4
        assert set(rows.tolist()) == {1, 3}
        assert (made.route[outer] == DIRECT).all()


@pytest.mark.parametrize("nodes", [2, 3, 6, 7])
def test_ring_takes_a_step_a_hop(nodes: int) -> None:
    """On a ring in one direction all links carry a chunk in every step, and the last step is N(N-1)/2."""
    cut = [f"without-link={(i + 1) % nodes}>{i}" for i in range(nodes)] if nodes > 2 else []
    made = valid("ring-all-to-all", ",".join([f"ring:{nodes}", *cut]), "all-to-all")
    assert made.steps == rounds_of(made) == nodes * (nodes - 1) // 2
    assert made.transfers == nodes * made.steps


@pytest.mark.parametrize("nodes", [3, 6, 7])
def test_a_ring_both_ways(nodes: int) -> None:
    made = valid("ring-all-to-all", f"ring:{nodes}", "all-to-all", options={"bidirectional": "true"})
    assert made.steps == rounds_of(made) == (nodes // 2) * (nodes // 2 + 1) // 2
