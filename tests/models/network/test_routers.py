"""Networks with few hops: sizes, degrees, diameters and regularity that their papers state, and twists that make tori shorter."""

from collections import Counter

import numpy as np
import pytest

from certree.models.network.spec import parse_topology
from certree.models.network.topology import NodeKind
from certree.synth.symmetric.translations import cayley_of

#: spec -> (endpoints, routers, cables between routers of each router, most hops between routers)
ROUTERS = {
    "slimfly:3": (18, 18, {5}, 2),
    "slimfly:5": (50, 50, {7}, 2),  # Hoffman and Singleton
    "slimfly:5@4": (200, 50, {7}, 2),
    "slimfly:7": (98, 98, {11}, 2),
    "slimfly:13@1": (338, 338, {19}, 2),
    "hyperx:2x3@2": (12, 6, {3}, 2),
    "hyperx:12x8@7": (672, 96, {18}, 2),
    "full-mesh:8x8": (64, 64, {14}, 2),
    "full-mesh:4x3x2": (24, 24, {6}, 3),
    "dragonfly:9x4x2@2": (72, 36, {5}, 3),
    "dragonfly:5x2x2": (10, 10, {3}, 3),
    "dragonfly:3x4x2": (12, 12, {5}, 2),  # four cables between two groups
    "jellyfish:50x7x1@4": (200, 50, {7}, 3),
    "jellyfish:32x4x1": (32, 32, {4}, 4),
    "kautz:2x3": (12, 12, {2}, 3),
    "kautz:3x6": (972, 972, {3}, 6),
    "twisted-torus:4x4x8": (128, 128, {6}, 6),  # the torus has 8 hops
    "twisted-torus:4x8x8": (256, 256, {6}, 6),  # 10
    "twisted-torus:4x8": (32, 32, {4}, 4),  # 6
}


@pytest.mark.parametrize("spec", ROUTERS)
def test_sizes_degrees_and_hops(spec: str) -> None:
    endpoints, routers, degrees, hops = ROUTERS[spec]
    topology = parse_topology(spec)
    hung = endpoints != routers or "@" in spec
    ids = np.arange(endpoints, endpoints + routers) if hung else np.arange(endpoints)
    assert topology.endpoints.tolist() == list(range(endpoints))
    assert len(topology.kind) == int(ids[-1]) + 1
    inside = np.isin(topology.src, ids) & np.isin(topology.dst, ids)
    assert set(np.bincount(topology.src[inside])[ids].tolist()) == degrees
    assert topology.diameter[0] == hops + 2 * hung
    if spec.partition(":")[0] != "kautz":
        assert topology.is_full_duplex


def test_hoffman_and_singleton() -> None:
    """Degree 7, no triangles, and exactly one common neighbour of any two routers that are not joined."""
    topology = parse_topology("slimfly:5")
    joined = np.zeros((50, 50), np.int64)
    joined[topology.src, topology.dst] = 1
    assert (joined @ joined == 7 * np.eye(50, dtype=np.int64) + 1 - np.eye(50, dtype=np.int64) - joined).all()


def test_groups_of_a_dragonfly_are_joined_evenly() -> None:
    """Each pair by as many cables, and no router has more than H."""
    for spec, copies, most in (("dragonfly:9x4x2", 1, 2), ("dragonfly:3x4x2", 4, 2), ("dragonfly:4x4x2", 2, 2)):
        inside = int(spec.split("x")[1])
        topology = parse_topology(spec)
        far = topology.src // inside != topology.dst // inside
        pairs = Counter(zip((topology.src[far] // inside).tolist(), (topology.dst[far] // inside).tolist(), strict=True))
        assert set(pairs.values()) == {copies}
        assert np.bincount(topology.src[far]).max() <= most


def test_seeds() -> None:
    """A random network is the same whenever it is made, and another for another seed; no two cables join the same routers."""
    digests = [parse_topology(f"jellyfish:20x4x{seed}").digest for seed in (1, 1, 2)]
    assert digests[0] == digests[1] != digests[2]
    topology = parse_topology("jellyfish:20x4x1")
    assert len(topology.pair_src) == len(topology.src) == 80


@pytest.mark.parametrize("spec", ["twisted-torus:2x4", "twisted-torus:4x4x8", "full-mesh:3x4", "twisted-torus:2x4x4"])
def test_these_look_the_same_from_every_node(spec: str) -> None:
    assert cayley_of(parse_topology(spec)).nodes == len(parse_topology(spec).kind)


#: spec -> (GPUs, switches, cables, units out of a GPU)
BOXES = {
    "a100": (8, 1, 8, 12),
    "a100:2": (16, 2 + 8, 32, 13),
    "h100:16": (128, 16 + 8, 256, 20),
    "h100:16@switch": (128, 16 + 1, 256, 20),
    "h100:16@leaf4": (128, 16 + 4 + 1, 256 + 4, 20),
    "nvl72": (72, 18, 72 * 18, 18),
    "mi250": (16, 0, 8 + 20, 175),
    "mi250:2@switch": (32, 1, 56 + 32, 183),
    "mi300x:2": (16, 8, 56 + 16, 249),
}


@pytest.mark.parametrize("spec", BOXES)
def test_boxes(spec: str) -> None:
    gpus, switches, cables, units = BOXES[spec]
    topology = parse_topology(spec)
    assert topology.endpoints.tolist() == list(range(gpus))
    assert int((topology.kind == NodeKind.SWITCH).sum()) == switches
    assert len(topology.src) == 2 * cables
    out = np.bincount(topology.src, topology.capacity)
    assert set(out[:gpus].tolist()) == {units}
    assert topology.bandwidth in (2_000_000_000, 25_000_000_000, 50_000_000_000)


def test_fabrics() -> None:
    """Which GPUs share a switch, and how wide the links of leaf switches are."""
    rails, leaves = parse_topology("h100:4"), parse_topology("h100:4@leaf2/2")
    first = 4 * 8 + 4
    assert rails.src[rails.dst == first].tolist() == [0, 8, 16, 24]
    assert leaves.src[leaves.dst == first].tolist() == [*range(16), first + 2]
    assert leaves.capacity[(leaves.src == first) & (leaves.dst == first + 2)].tolist() == [16]
