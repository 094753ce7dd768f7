"""Halving-doubling: steps and rounds by formula, both orders of distance, Rabenseifner's way beyond powers of two."""

import pytest

from tests.synth.execution import make, rounds_of, valid

PHASES = {"all-reduce": 2, "reduce-scatter": 1, "all-gather": 1}


@pytest.mark.parametrize("distance", ["doubling", "halving"])
@pytest.mark.parametrize("collective", PHASES)
@pytest.mark.parametrize("spec", ["ring:2", "full:8", "torus:4x4", "mesh:2x4", "hypercube:5", "switch:16", "fattree:4x4", "dgx1"])
def test_powers_of_two(spec: str, collective: str, distance: str) -> None:
    made = valid("halving-doubling", spec, collective, options={"distance": distance})
    nodes, phases = len(made.topology.endpoints), PHASES[collective]
    assert (made.chunks, made.steps) == (nodes, phases * (nodes.bit_length() - 1))
    assert made.transfers == phases * nodes * (nodes - 1)


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


@pytest.mark.parametrize("spec", ["ring:3", "ring:5", "switch:6", "switch:7", "mesh:3x4", "torus:3x5", "torus:4x4,without-node=5"])
def test_any_number_of_endpoints_for_an_all_reduce(spec: str) -> None:
    made = valid("halving-doubling", spec)
    nodes = len(made.topology.endpoints)
    power = 1 << (nodes.bit_length() - 1)
    assert (made.chunks, made.steps) == (power, 2 * (nodes.bit_length() - 1) + 3)
    # each pair of the rest: half of the chunks each way, a half handed over, all of them back
    assert made.transfers == 2 * power * (power - 1) + (nodes - power) * (3 * power // 2 + power)
