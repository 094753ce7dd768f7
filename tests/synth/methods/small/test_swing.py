"""Swing: the partners of the paper, valid in both forms, as fast as written by hand."""

import pytest

from certree.models.fine.slots import fine_times
from tests.synth.execution import valid


def test_partners_on_a_ring_of_eight():
    """Fig. 3 of the paper: node 0 meets 1, 7 and 3; node 1 meets 0, 2 and 6."""
    made = valid("swing", "ring:8", message_bytes=256, options={"form": "vectors", "ports": "1"})
    met = {node: made.dst[made.src == node].tolist() for node in (0, 1)}
    assert met == {0: [1, 7, 3], 1: [0, 2, 6]}


@pytest.mark.parametrize("collective", ["all-reduce", "reduce-scatter", "all-gather"])
@pytest.mark.parametrize("network", ["ring:4", "torus:2x4", "hypercube:3", "fattree:2x4"])
def test_it_is_valid(network, collective):
    valid("swing", network, collective, message_bytes=1000)


def test_as_fast_as_written_by_hand():
    """1,764 cycles on torus 8x8 at 256 bytes (tests/end_to_end/by_hand)."""
    made = valid("swing", "torus:8x8", message_bytes=256, options={"form": "vectors", "ports": "1"})
    assert fine_times(made).cycles == 1764
    assert made.transfers == 6 * 64
