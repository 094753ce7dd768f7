"""Recursive multiplying: any number of endpoints, groups of the sizes asked for."""

import pytest

from tests.synth.execution import valid


@pytest.mark.parametrize("network", ["ring:6", "switch:7", "fattree:2x4", "mesh:3x3"])
def test_it_is_valid(network):
    valid("recursive-multiplying", network, message_bytes=1000)


def test_factors():
    """Three messages from each of 16 for each factor of 4."""
    made = valid("recursive-multiplying", "switch:16", message_bytes=256, options={"factors": "4x4"})
    assert int((made.src != made.dst).sum()) == 16 * 3 * 2
