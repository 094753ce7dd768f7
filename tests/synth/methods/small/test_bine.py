"""Bine trees and butterflies: the partners of the paper, valid from every root."""

import pytest

from tests.synth.execution import valid


def test_tree_of_eight():
    """Figure 3 of the paper: from 0 first to 3, then 0 to 7 and 3 to 4, then to the neighbours."""
    made = valid("bine", "full:8", "broadcast", message_bytes=256, root=0)
    sent = sorted(zip(made.step.tolist(), made.src.tolist(), made.dst.tolist(), strict=True))
    stages = sorted({step for step, _, _ in sent})
    found = [{(src, dst) for step, src, dst in sent if dst != 0 and (src, dst) in pairs} for pairs in PAIRS]
    assert found == PAIRS
    assert len(sent) == 7
    assert stages[0] == 0


PAIRS = [{(0, 3)}, {(0, 7), (3, 4)}, {(0, 1), (3, 2), (4, 5), (7, 6)}]


@pytest.mark.parametrize("root", [0, 5])
@pytest.mark.parametrize("collective", ["broadcast", "reduce"])
def test_trees_are_valid(collective, root):
    for network in ("ring:8", "fattree:2x4", "switch:16"):
        valid("bine", network, collective, message_bytes=1000, root=root)


@pytest.mark.parametrize("distance", ["doubling", "halving"])
@pytest.mark.parametrize("collective", ["all-reduce", "reduce-scatter", "all-gather"])
def test_butterflies_are_valid(collective, distance):
    for network in ("ring:8", "fattree:2x4", "full:2"):
        valid("bine", network, collective, message_bytes=1000, options={"distance": distance})
