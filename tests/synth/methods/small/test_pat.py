"""PAT: far ranks first, any number of endpoints."""

import pytest

from tests.synth.execution import valid


@pytest.mark.parametrize("collective", ["all-reduce", "reduce-scatter", "all-gather"])
@pytest.mark.parametrize("network", ["ring:6", "switch:7", "fattree:2x4"])
def test_it_is_valid(network, collective):
    valid("pat", network, collective, message_bytes=1000)


def test_the_tree_of_a_rank():
    """The tree of 6 ranks: 0 to 4, then 0 to 2, then 0 to 1, 2 to 3, 4 to 5."""
    made = valid("pat", "full:6", "all-gather", message_bytes=1000)
    mine = made.chunk == 0
    assert set(zip(made.src[mine].tolist(), made.dst[mine].tolist(), strict=True)) == {(0, 4), (0, 2), (0, 1), (2, 3), (4, 5)}
