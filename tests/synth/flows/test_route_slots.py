"""Routes and slots through switches: what they must keep, the bounds that they meet, and periods that are too short."""

import numpy as np
import pytest

import certree.api as ct
from certree.models.network.spec import parse_topology
from certree.models.schedule.collective import parse_collective
from certree.models.schedule.default_shares import chunk_owners
from certree.synth.flows.block_paths import balanced_paths
from certree.synth.flows.block_slots import moves_of
from certree.synth.flows.route_slots import routed, steps_of

SWITCHED = ["switch:8", "dgx2", "dgx2,without-link=0-16", "fattree:4x4", "fattree:4x4,without-link=16-20", "leafspine:3x2x4@2"]
SWITCHED += ["leafspine:4x2x8@2", "ace-alltoall:4x2", "bigraph:4x4"]


def moves(network: str, copies: int):
    """The transfers of an all-to-all over balanced paths."""
    topology = parse_topology(network)
    count = len(topology.endpoints)
    source, target = chunk_owners(topology, parse_collective("all-to-all"), copies * count * (count - 1))
    paths = balanced_paths(topology, source, target, 0, 24)
    return topology, moves_of(topology, paths), len(source), paths.period


@pytest.mark.parametrize("copies", [1, 2])
@pytest.mark.parametrize("network", SWITCHED)
def test_no_link_has_more_than_it_can_carry_in_any_slot(network, copies):
    topology, given, blocks, period = moves(network, copies)
    kind = np.arange(len(topology.pair_src), dtype=np.int32)
    found = routed(topology, given, kind, topology.pair_capacity, blocks, period, 0)
    assert found is not None
    paths, place = found
    made = moves_of(topology, paths)
    assert (made.block == given.block).all()
    assert (made.src == given.src).all()
    assert (made.dst == given.dst).all()
    for wait in (1, 3):
        slots = steps_of(made, place, wait, period)
        assert (slots % period == place).all()
        onward = np.flatnonzero(~made.is_last)
        assert (slots[onward + 1] >= slots[onward] + wait).all()
        assert (slots[onward + 1] < slots[onward] + wait + period).all()
    load = np.zeros((len(topology.pair_src), period), np.int64)
    np.add.at(load, (made.pair, np.repeat(place, np.diff(made.offset))), 1)
    assert (load <= topology.pair_capacity[:, None]).all()


@pytest.mark.parametrize("network", ["dgx2", "fattree:4x4,without-link=16-20", "leafspine:3x2x4@2"])
def test_all_to_all_meets_its_bound(network):
    made = ct.synthesize(network, "all-to-all", method="flows", size="64MiB")
    assert made.bandwidth_time == ct.bound(network, "all-to-all").bandwidth


def test_a_period_below_the_load_of_a_link_has_no_slots():
    topology, given, blocks, period = moves("fattree:2x3", 1)
    assert period == 5
    kind = np.arange(len(topology.pair_src), dtype=np.int32)
    assert routed(topology, given, kind, topology.pair_capacity, blocks, period - 1, 0) is None
