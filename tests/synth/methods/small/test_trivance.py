"""Trivance: log3 of N stages, on rings and tori."""

import pytest

from tests.synth.execution import valid


@pytest.mark.parametrize(
    ("network", "parts", "stages"), [("ring:3", 1, 1), ("ring:9", 1, 2), ("torus:3x9", 2, 3), ("switch:9", 1, 2)]
)
def test_it_is_valid(network, parts, stages):
    """Two messages from each node for each part and stage."""
    made = valid("trivance", network, message_bytes=1000)
    away = made.src != made.dst
    assert made.chunks == parts
    assert int(away.sum()) == 2 * stages * parts * len(made.topology.endpoints)
