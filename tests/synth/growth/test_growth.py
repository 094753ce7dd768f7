"""The kernel that grows trees, against a plain reference; its paths; the priority with a slip."""

from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certree.models.network.spec import parse_topology
from certree.models.network.topology import Topology
from certree.synth.packing.growth import Turns, corner_priority, grow_trees
from tests.drawn import examples, rngs
from tests.synth.growth.growth_reference import Reference
from tests.verify.build import network
from tests.verify.schedules import random_network


def rows(topology: Topology, turns: Turns) -> list[tuple]:
    grown = grow_trees(topology, turns)
    paths = [()] * len(grown.chunk) if grown.path is None else grown.path.tolist()
    found = []
    for step, tree, src, dst, path in zip(
        *(column.tolist() for column in (grown.step, grown.chunk, grown.src, grown.dst)), paths, strict=True
    ):
        nodes = [src, *(int(topology.dst[link]) for link in path if link >= 0)] if len(path) else [src, dst]
        found.append((step, tree, src, dst, tuple(nodes)))
    return found


SPECS = ["ring:2", "ring:5", "mesh:3x4", "mesh:4x4", "torus:3x3", "torus:3x3x2", "full:6", "mesh:3x3,without-node=4"]
SPECS += ["torus:3x3,capacity=3", "switch:7", "switch:6,capacity=2", "fattree:3x3", "bigraph:2x4", "dgx1"]
SPECS += ["leafspine:3x2x3", "ace-alltoall:2x3", "switch-fc:4x2", "switch-fc:2x2x2x2", "tree:2+3", "fattree:3x3,without-node=4"]


@pytest.mark.parametrize("turns", list(Turns))
@pytest.mark.parametrize("spec", SPECS)
def test_the_kernel_grows_what_the_reference_grows(spec: str, turns: Turns) -> None:
    topology = parse_topology(spec)
    assert rows(topology, turns) == Reference(topology, turns).rows


@given(rngs, st.sampled_from(Turns))
@examples(60)
def test_on_random_networks_with_switches_parallel_links_and_gaps(rng: Random, turns: Turns) -> None:
    topology = random_network(rng)
    assert rows(topology, turns) == Reference(topology, turns).rows


def test_parallel_links_of_a_path_are_taken_one_after_the_other() -> None:
    # 0 and 1 on switch 2; links 1 (capacity 2) and 3 run side by side into the switch
    topology = network("eeees", [(1, 4, 1), (0, 4, 2), (4, 0, 3), (0, 4, 1), (4, 1, 3), (2, 4, 1), (4, 2, 1), (3, 4, 1), (4, 3, 1)])
    grown = grow_trees(topology)
    from_0 = np.flatnonzero((grown.src == 0) & (grown.step == 0))
    assert grown.path is not None
    assert grown.path[from_0, 0].tolist() == [1, 1, 3]
    used = np.unique(np.stack((np.repeat(grown.step, 2), grown.path.ravel())), axis=1, return_counts=True)
    assert all(count <= topology.capacity[link] for (_, link), count in zip(used[0].T.tolist(), used[1].tolist(), strict=True))


def test_the_corner_priority_of_the_released_program() -> None:
    """|r - r'| + |r' - c'| leaves the node's column out: all nodes of a row are equal, the middle rows come last."""
    by_row = corner_priority(parse_topology("mesh:8x8")).reshape(8, 8)
    assert (by_row == by_row[:, :1]).all()
    assert by_row[:, 0].tolist() == [14, 13, 12, 11, 11, 12, 13, 14]  # 7 + max(r, 7 - r)
    for other in ("torus:8x8", "switch:4", "ring:8", "mesh:4x4x4", "full:4", "mesh:4x4,without-link=0-1", "dgx1", "bigraph:4x8"):
        assert not corner_priority(parse_topology(other)).any()
