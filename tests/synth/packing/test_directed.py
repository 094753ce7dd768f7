"""In-trees and out-trees where the two directions of a link differ: the best rate there is, and the bound by tolls."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from certree.models.common.errors import UnsupportedError
from certree.models.network.spec import parse_topology
from certree.models.network.topology import Topology
from certree.models.schedule.collective import parse_collective
from certree.synth.bounds.find import find_bounds
from certree.synth.methods.optimizing.packing import fabrics_of
from certree.synth.packing.directed import OpposedNetwork
from certree.synth.packing.spanning_trees import Network
from certree.synth.packing.undirected import BothWays
from certree.verify.bounds.instance import Instance
from certree.verify.bounds.witness import check_bound
from tests.drawn import examples, given_at_least
from tests.networks import one_way
from tests.synth.execution import ask, certified, make, valid
from tests.synth.packing.rates import packed
from tests.verify.build import network

ALL_REDUCE = parse_collective("all-reduce")


def best_rate(topology: Topology) -> float:
    """The linear program with the constraints of all sets, written anew."""
    from ortools.linear_solver import pywraplp

    nodes, capacity = len(topology.kind), topology.pair_capacity.tolist()
    program = pywraplp.Solver.CreateSolver("GLOP")
    roots = [program.NumVar(0, program.infinity(), "") for _ in range(nodes)]
    copies, reduces = ([program.NumVar(0, room, "") for room in capacity] for _ in range(2))
    for copied, reduced, room in zip(copies, reduces, capacity, strict=True):
        program.Add(copied + reduced <= room)
    ends = list(zip(topology.pair_src.tolist(), topology.pair_dst.tolist(), strict=True))
    for inside in product((False, True), repeat=nodes):
        if any(inside) and not all(inside):
            outside = sum(root for root, flag in zip(roots, inside, strict=True) if not flag)
            program.Add(sum(copies[pair] for pair, (u, v) in enumerate(ends) if inside[v] and not inside[u]) >= outside)
            program.Add(sum(reduces[pair] for pair, (u, v) in enumerate(ends) if inside[u] and not inside[v]) >= outside)
    program.Maximize(sum(roots))
    assert program.Solve() == program.OPTIMAL
    return float(program.Objective().Value())


@given_at_least(18, one_way(least=3))
@examples(20)
def test_the_best_rate_is_found_and_packed(topology: Topology) -> bool:
    """The bound is never beaten; on all but few of these it is met."""
    fabric = OpposedNetwork(topology)
    assert abs(float(fabric.strength) - best_rate(topology)) < 1e-6
    packed(fabric, ALL_REDUCE)
    bounds = find_bounds(topology, ALL_REDUCE)
    for bound in bounds:
        check_bound(Instance(topology, ALL_REDUCE), bound)
    assert 1 / fabric.strength >= Fraction(bounds[0]["value"])
    return 1 / fabric.strength == Fraction(bounds[0]["value"])


@pytest.mark.parametrize(
    ("spec", "time"),
    [
        ("dgx1,without-link=0>1", "14/47"),
        ("mesh:4x4,without-link=5>6,without-link=9>5", "15/23"),
    ],
)
def test_schedules_at_the_bound_where_links_lead_one_way(spec: str, time: str) -> None:
    quality = certified(make("packing", spec, message_bytes=1 << 26, options={"rate": "optimal"}))
    assert quality.bandwidth_time == Fraction(time)
    assert "bandwidth" in quality.optimal_in


def test_what_both_directions_have_is_packed_where_it_is_enough() -> None:
    (torus,) = fabrics_of(ask("torus:4x4,without-link=0>1"))
    assert isinstance(torus, Network)
    assert torus.strength == OpposedNetwork(torus.topology).strength == Fraction(31, 15)
    assert isinstance(fabrics_of(ask("dgx1,without-link=0>1"))[0], OpposedNetwork)
    circle = network("eee", [(0, 1, 1), (1, 2, 1), (2, 0, 1)])
    assert isinstance(fabrics_of(ask(circle))[0], OpposedNetwork)


def test_networks_too_large_for_the_program_need_links_both_ways(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("certree.synth.packing.directed.MAX_WORK", 8)
    assert isinstance(fabrics_of(ask("dgx1,without-link=0>1"))[0], Network)
    with pytest.raises(UnsupportedError, match="networks of this size need links in both directions"):
        fabrics_of(ask(network("eee", [(0, 1, 1), (1, 2, 1), (2, 0, 1)])))


@pytest.mark.parametrize("kind", ["all-reduce", "all-gather", "reduce-scatter", "broadcast"])
def test_paths_through_switches_use_what_leads_both_ways(kind: str) -> None:
    """One link of four faces two of two, and 1 reaches the switch faster than it is reached."""
    topology = network("eees", [(0, 3, 4), (3, 0, 2), (3, 0, 2), (1, 3, 2), (3, 1, 1), (2, 3, 2), (3, 2, 2)])
    both = BothWays.of(topology)
    assert sorted(both.network.capacity.tolist()) == [1, 1, 2, 2, 2, 2, 2, 2]
    assert valid("packing", topology, kind, root=0 if kind == "broadcast" else None).topology is topology


def test_switches_without_links_back_are_refused() -> None:
    circle = network("eees", [(0, 3, 1), (3, 1, 1), (1, 2, 1), (2, 0, 1)])
    with pytest.raises(UnsupportedError, match="needs links in both directions between all endpoints"):
        make("packing", circle)


def test_parallel_links_of_full_duplex_networks_stay_as_they_are() -> None:
    topology = parse_topology("dgx2")
    both = BothWays.of(topology)
    assert both.network is topology
    assert both.link is None
    assert np.array_equal(OpposedNetwork(parse_topology("ring:4")).topology.src, parse_topology("ring:4").src)
