"""Paths along one dimension after the other: as short as possible, and as even as rings of even size allow."""

import pytest

from certree.models.network.spec import parse_topology
from certree.models.schedule.collective import parse_collective
from certree.models.schedule.default_shares import chunk_owners
from certree.synth.flows.ordered_paths import ordered_paths
from tests.synth.flows.test_flows import ends


def pairs(topology):
    count = len(topology.endpoints)
    return chunk_owners(topology, parse_collective("all-to-all"), count * (count - 1))


@pytest.mark.parametrize(("network", "period"), [("torus:4x4", 8), ("torus:8x8", 64), ("mesh:4x4", 16), ("hypercube:3", 4)])
def test_load_of_the_fullest_link(network, period):
    """Half of the hops of all pairs on tori; the middle of a mesh."""
    topology = parse_topology(network)
    assert ordered_paths(topology, *pairs(topology)).period == period


@pytest.mark.parametrize("network", ["torus:3x4", "mesh:2x3", "torus:2x3x4", "ring:6"])
def test_shortest(network):
    topology = parse_topology(network)
    source, target = pairs(topology)
    paths = ordered_paths(topology, source, target)
    assert ends(topology, paths) == list(zip(source.tolist(), target.tolist(), strict=True))
    hops = [int(topology.distances(one)[other]) for one, other in zip(source.tolist(), target.tolist(), strict=True)]
    assert (paths.offset[1:] - paths.offset[:-1]).tolist() == hops


@pytest.mark.parametrize("network", ["torus:4x4,without-link=0-1", "torus:3x3,without-node=2", "fattree:2x2", "cayley:10@1+3"])
def test_no_grid(network):
    topology = parse_topology(network)
    assert ordered_paths(topology, *pairs(topology)) is None
