"""Bisection, paths and diameter: known networks, and every split of small ones."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from certree.api.settings import machine_for
from certree.extras.designs.model import bisection
from certree.extras.designs.model.bisection import bisection_of
from certree.extras.designs.model.structure import structure_of
from certree.models.network.spec import parse_topology
from certree.models.network.topology import NodeKind
from tests.verify.build import network


def structure(spec):
    topology = parse_topology(spec)
    return structure_of(topology, machine_for(topology, None))


@pytest.mark.parametrize(
    ("spec", "links"),
    [
        ("ring:8", 2),
        ("mesh:4x4", 4),
        ("torus:8x8", 16),
        ("full:6", 9),
        ("full:5", 6),
        ("switch:8", 4),
        ("fattree:4x4", 8),
        ("hyperx:4x4@4", 16),
        ("hypercube:6", 32),
        ("torus:4x4,capacity=1/2", 4),
    ],
)
def test_known(spec, links):
    found = bisection_of(parse_topology(spec))
    assert (found.is_exact, found.lower) == (True, links)


def test_rate_out_of_an_endpoint():
    """16 GB/s for each of two links at a corner of a mesh; 18 links of 25 GB/s into the box and two into the fabric of an H100."""
    assert structure("mesh:2x3").endpoint_rate == 32
    assert structure("torus:4x4,capacity=1/2").endpoint_rate == 32
    assert structure("h100:8").document()["endpoint_GBps"] == 500


def _every_split(topology):
    """The least cut over all halves of the endpoints and all places of switches, one by one."""
    nodes = np.flatnonzero(topology.kind != NodeKind.ABSENT).tolist()
    endpoints = topology.endpoints.tolist()
    switches = [node for node in nodes if node not in endpoints]
    best = None
    for half in combinations(endpoints, len(endpoints) // 2):
        for number in range(1 << len(switches)):
            side = {*half, *(switch for place, switch in enumerate(switches) if number >> place & 1)}
            sums = [0, 0]
            for tail, head, units in zip(topology.src.tolist(), topology.dst.tolist(), topology.capacity.tolist(), strict=True):
                if (tail in side) != (head in side):
                    sums[tail in side] += units
            best = min(sums) if best is None else min(best, *sums)
    return Fraction(best) / topology.scale


@pytest.mark.parametrize(
    "spec",
    [
        "mesh:2x3,link-capacity=0-1:1/2,without-link=3-4",
        "fattree:2x2,link-capacity=4-6:3",
        "ring:5,without-link=1>2",
        "dragonfly:3x2x1@1",
        "leafspine:3x1x2@3",
    ],
)
def test_all_splits(spec, monkeypatch):
    """The enumeration is right, and both bounds of larger networks are on the right side of it."""
    topology = parse_topology(spec)
    exact = _every_split(topology)
    assert bisection_of(topology).lower == exact
    monkeypatch.setattr(bisection, "ENUMERATED", 0)
    bounded = bisection_of(topology)
    assert bounded.lower <= exact <= bounded.upper


def test_all_endpoints_at_one_switch():
    """No route uses the links above it; the cables of half of the endpoints are the bisection."""
    found = bisection_of(parse_topology("leafspine:1x24x4"))
    assert (found.is_exact, found.lower) == (True, 2)


def test_cables_to_one_switch_and_from_another():
    """They are no part of either switch: endpoint 1 sends to switch 4 and hears from switch 5."""
    ends = [(0, 4), (4, 0), (1, 4), (5, 1), (2, 5), (5, 2), (3, 5), (5, 3)]
    topology = network("eeeess", [*((tail, head, 1) for tail, head in ends), (4, 5, 9), (5, 4, 9)])
    assert bisection_of(topology).lower == _every_split(topology)


def test_one_link_in_words():
    assert bisection_of(parse_topology("mesh:4")).words(Fraction(16)) == "16 GB/s (exact)"


def test_large_networks_have_a_bound_with_its_class():
    found = bisection_of(parse_topology("dragonfly:8x4x2@2"))
    assert found.words(Fraction(1)) == "11.2117 (embedding) to 16 (best found) GB/s"


def test_paths():
    torus = structure("torus:4x4")
    assert (torus.diameter_hops, torus.least_disjoint, torus.least_shortest) == (4, 4, 1)
    assert torus.mean_shortest == Fraction(64, 15)
    tree = structure("fattree:4x4")
    assert (tree.switches, tree.least_disjoint, tree.least_shortest, tree.mean_shortest) == (8, 1, 1, Fraction(51, 15))
    assert structure("full:4,without-link=0-1").least_disjoint == 2
