"""Folded all-to-alls: groups that act freely on endpoints, and schedules of a few endpoints that stand for all."""

import numpy as np
import pytest

import certree.api as ct
from certree.models.network.spec import parse_topology
from certree.synth.flows.fold import fold_of

ORDERS = [("h100:4", 32), ("h100:4@leaf2/2", 32), ("hyperx:3x3@2", 9), ("nvl72", 72), ("fattree:4x4", 4), ("mi250:2@switch", 4)]


@pytest.mark.parametrize(("network", "order"), ORDERS)
def test_only_the_identity_fixes_an_endpoint(network, order):
    topology = parse_topology(network)
    fold = fold_of(topology)
    assert fold is not None
    assert len(fold.images) == len(np.unique(fold.images, axis=0)) == order
    ends = topology.endpoints
    assert (fold.images[0] == np.arange(len(topology.kind))).all()
    assert (fold.images[1:, ends] != ends).all()
    for image in fold.images:
        pair = topology.pair_index(image[topology.pair_src], image[topology.pair_dst])
        assert (topology.pair_capacity[pair] == topology.pair_capacity).all()
        assert (fold.kind[pair] == fold.kind).all()


@pytest.mark.parametrize("network", ["torus:4x4", "dgx2,without-link=0-16", "switch:4,without-node=1"])
def test_no_group(network):
    assert fold_of(parse_topology(network)) is None


@pytest.mark.parametrize(
    ("network", "rate"), [("h100:2", "1/4"), ("h100:4", "3/8"), ("h100:4@leaf2/2", "1/2"), ("hyperx:4x4@4", "1")]
)
def test_all_to_all_of_boxes_meets_its_bound(network, rate):
    """Three quarters of the blocks leave a box of four over two of four units; half leave two boxes, over half as many."""
    made = ct.synthesize(network, "all-to-all", method="flows", size="64MiB")
    assert str(made.bandwidth_time) == rate
    assert ct.verify(made).valid
    assert ct.bound(network, "all-to-all").bandwidth == made.bandwidth_time


def test_link_that_carries_several_images_of_a_transfer():
    """Shifts of the boxes on a leaf switch and of GPUs keep its link to the core, of 32 units: 16 of the 32 images are there."""
    topology = parse_topology("h100:4@leaf2")
    fold = fold_of(topology)
    assert fold is not None
    pair = topology.pair_index(np.array([36]), np.array([38]))
    assert topology.pair_capacity[pair].tolist() == [32]
    assert fold.capacity[fold.kind[pair]].tolist() == [2]
