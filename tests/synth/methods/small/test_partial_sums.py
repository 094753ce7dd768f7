"""Partial sums: as many hops as half a ring, on rings of any size."""

import pytest

from tests.synth.execution import valid


@pytest.mark.parametrize("network", ["ring:2", "ring:3", "ring:4", "ring:5", "ring:8", "torus:3x4", "torus:2x2x3", "mesh:2x3"])
def test_it_is_valid(network):
    valid("partial-sums", network, message_bytes=1000)


@pytest.mark.parametrize("size", [5, 6])
def test_messages(size):
    """n - 1 from each node for each part of the message."""
    made = valid("partial-sums", f"ring:{size}", message_bytes=64)
    assert int((made.src != made.dst).sum()) == size * (size - 1) * made.chunks
