"""Halving-doubling: steps and rounds by formula, both orders of distance, Rabenseifner's way beyond powers of two."""

import pytest

from tests.synth.execution import make, rounds_of, valid


@pytest.mark.parametrize("spec", ["switch:16", "hypercube:4", "full:16", "fattree:4x4"])
def test_links_of_its_own_make_it_bandwidth_optimal_per_node(spec: str) -> None:
    for distance in ("doubling", "halving"):
        made = make("halving-doubling", spec, options={"distance": distance})
        assert rounds_of(made) == 2 * 15
        valid("halving-doubling", spec, options={"distance": distance, "rounds": "published"})


def test_the_order_of_distances() -> None:
    near, far = (make("halving-doubling", "full:8", options={"distance": name}) for name in ("doubling", "halving"))
    assert near.rounds.tolist() == far.rounds.tolist() == [4, 2, 1, 1, 2, 4]
    for made, first, last in ((near, 1, 1), (far, 4, 4)):
        assert set((made.src[made.step == 0] ^ made.dst[made.step == 0]).tolist()) == {first}
        assert set((made.src[made.step == 5] ^ made.dst[made.step == 5]).tolist()) == {last}
