"""2D-ring: steps and rounds by formula, both forms, and grids only."""

from fractions import Fraction

import pytest

from certree.verify.checker import verify_schedule
from tests.synth.execution import make, rounds_of, valid

NESTED = {"form": "nested"}


@pytest.mark.parametrize("side", [3, 4, 8])
def test_one_after_the_other_on_a_square_torus(side: int) -> None:
    made = valid("ring-2d", f"torus:{side}x{side}", options={"rounds": "published"})
    assert (made.chunks, made.steps, rounds_of(made)) == (4 * side, 4 * (side - 1), 4 * (side - 1))
    # 2N(N-1) shares of 1/N^2 a phase and node over four links, two phases: the MultiTree paper, Section II-C
    assert made.bandwidth_time == Fraction(2 * 2 * side * (side - 1), 4 * side**2)
    assert (made.rounds == 1).all()
    assert made.transfers == made.steps * len(made.topology.src)  # every link in every step


@pytest.mark.parametrize("side", [3, 4, 8])
def test_nested_it_is_bandwidth_optimal_on_a_square_torus(side: int) -> None:
    made = make("ring-2d", f"torus:{side}x{side}", options=NESTED)
    assert (made.chunks, made.steps) == (4 * side**2, 4 * (side - 1))
    verdict = verify_schedule(made)
    assert verdict.valid
    assert made.bandwidth_time == Fraction(side**2 - 1, 2 * side**2) == verdict.quality.bandwidth_bound


@pytest.mark.parametrize("form", ["sequential", "nested"])
@pytest.mark.parametrize(
    "spec",
    [
        "mesh:2x2",
        "mesh:4x4",
        "mesh:3x5",
        "torus:3x5",
        "torus:2x4",
        "torus:4x4x4",
        "torus:1x3x4",
        "hypercube:3",
        "dgx1",
        "hier-torus:2x4x2",
    ],
)
def test_any_whole_grid(spec: str, form: str) -> None:
    made = valid("ring-2d", spec, options={"form": form})
    sizes = [int(size) + 1 for size in made.topology.coordinates.max(axis=0)]
    assert made.steps == 2 * sum(size - 1 for size in sizes)


@pytest.mark.parametrize("collective", ["reduce-scatter", "all-gather"])
@pytest.mark.parametrize("spec", ["torus:4x4", "mesh:3x4", "torus:3x3x2"])
def test_halves_of_the_nested_form(spec: str, collective: str) -> None:
    made = valid("ring-2d", spec, collective)
    assert made.provenance["options"]["form"] == "nested"
    assert 2 * rounds_of(made) == rounds_of(make("ring-2d", spec, options=NESTED))


def test_on_a_mesh_the_way_back_meets_the_other_direction() -> None:
    assert rounds_of(make("ring-2d", "mesh:8x8")) == 2 * rounds_of(make("ring-2d", "torus:8x8"))
    refuted = verify_schedule(make("ring-2d", "mesh:8x8", options={"rounds": "published"}))
    assert set(refuted.counts) == {"capacity"}
    assert refuted.serialized_rounds == 2 * 28
