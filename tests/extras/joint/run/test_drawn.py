"""Drawn workloads are valid, run to the cycle, and are not slower than one collective after the other."""

import pytest

from tests.bench.small.joints import NETWORKS, measured


@pytest.mark.parametrize("network", ["ring:4", "torus:2x2x2", "fattree:2x2", "dgx1"])
def test_drawn(network: str) -> None:
    assert network in NETWORKS
    for line in measured(network, 2, seed=7):
        assert line.valid
        assert line.exact
        assert line.routed
        assert line.share <= 1
        assert line.over >= 1
