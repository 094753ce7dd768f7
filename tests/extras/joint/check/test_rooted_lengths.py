"""How far data of a broadcast and a reduce must travel, against the cheapest of all sets of links."""

from itertools import product
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import certree.api as ct
from certree.extras.joint.check.joint_bounds import Together
from certree.extras.joint.check.joint_checks import verify_joint
from certree.extras.joint.check.rooted_lengths import rooted_length
from certree.extras.joint.make.joining import joint
from certree.models.network.topology import Topology
from certree.verify.bounds.witness import WitnessError

NETWORKS = ("ring:3", "mesh:2x2", "switch:3", "ring:4,without-link=0>1")


def _reached(links: list[tuple[int, int]], root: int) -> set[int]:
    seen, more = {root}, True
    while more:
        new = {b for a, b in links if a in seen} - seen
        seen |= new
        more = bool(new)
    return seen


def _cheapest(network: Topology, length: np.ndarray, root: int, members: list[int], *, inward: bool) -> int:
    """The least length of links over which the root reaches the members, or they the root; of all sets of links."""
    ends = list(zip(network.src.tolist(), network.dst.tolist(), strict=True))
    links = [(b, a) if inward else (a, b) for a, b in ends]
    found = []
    for kept in product((False, True), repeat=len(links)):
        if set(members) <= _reached([link for link, one in zip(links, kept, strict=True) if one], root):
            found.append(sum(int(one) for one, is_kept in zip(length, kept, strict=True) if is_kept))
    return min(found)


@pytest.mark.parametrize("name", NETWORKS)
def test_never_more_than_the_cheapest_links(name: str) -> None:
    """The lengths are exactly that where every node is a member."""
    network, draws = ct.topology(name), Random(name)
    ends = network.endpoints.tolist()
    for _ in range(4):
        length = np.array([draws.randint(0, 5) for _ in network.src], np.int64)
        for inward in (False, True):
            root = draws.choice(ends)
            found, least = (of(network, length, root, ends, inward=inward) for of in (rooted_length, _cheapest))
            assert found == least if network.is_direct else found <= least
            some = draws.sample(ends, 2)
            assert rooted_length(network, length, root, some, inward=inward) <= _cheapest(
                network, length, root, some, inward=inward
            )


def test_the_ports_of_a_root() -> None:
    """Only links out of the root have a length: a broadcast needs one of them for each granule, a reduce to it none."""
    network = ct.topology("ring:4")
    out = (network.src == 0).astype(np.int64)
    assert rooted_length(network, out, 0, [0, 1, 2, 3], inward=False) == 1
    assert rooted_length(network, out, 0, [0, 1, 2, 3], inward=True) == 0
    assert rooted_length(network, out, 0, [0], inward=False) == 0


def test_out_of_reach() -> None:
    one_way: Any = SimpleNamespace(kind=np.zeros(2), src=np.array([0]), dst=np.array([1]))
    assert rooted_length(one_way, np.array([3]), 0, [0, 1], inward=False) == 3
    with pytest.raises(WitnessError, match="a member cannot reach node 0, or is out of its reach"):
        rooted_length(one_way, np.array([3]), 0, [0, 1], inward=True)


def test_broadcasts_of_one_root() -> None:
    """Three of them leave the root over its two links: half of all bytes each, at 16 bytes a cycle."""
    entries = [ct.Entry(name, ct.collective("broadcast", 0), 1 << 14) for name in ("a", "b", "c")]
    made = joint("ring:5", entries)
    verdict = verify_joint(made)
    assert verdict.least is not None
    assert 3 * (1 << 14) / 16 / 2 < verdict.least.cycles <= made.cycles
    of = Together(made.topology, made.machine, made.entries)
    assert max(int(bound["value"]) for bound in made.bounds) >= of.value(["a", "b", "c"], (made.topology.src == 0).astype(np.int64))
