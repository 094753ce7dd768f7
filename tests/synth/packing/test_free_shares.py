"""Unequal shares: as many chunks as any shares allow, packed, verified, exported and simulated."""

import contextlib
import itertools
import re
from fractions import Fraction

import numpy as np
import pytest

from certree.hw.run import run as run_schedule
from certree.hw.tables.lowering import lower
from certree.models.machine.machine import load_machine
from certree.models.network.spec import parse_topology
from certree.models.network.topology import Topology
from certree.models.schedule.collective import parse_collective
from certree.synth.bounds.find import shares_bound
from certree.synth.packing.root_shares import FreeRoots
from certree.verify.bounds.instance import Instance
from certree.verify.bounds.witness import WitnessError, check_bound, make_bound
from certree.verify.checker import verify_schedule
from tests.cli.running import certree
from tests.drawn import examples, given_at_least
from tests.models.examples import network
from tests.networks import both_ways
from tests.synth.execution import make
from tests.verify.build import network as switched

ONE_WAY = network(4, [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2, 2)])


def fits(topology: Topology, chunks: int, period: int, held: tuple[int, ...], *, turned: bool) -> bool:
    """Edmonds' condition, set by set."""
    nodes = range(len(topology.kind))
    tail, head = (topology.dst, topology.src) if turned else (topology.src, topology.dst)
    for size in range(1, len(nodes)):
        for inside in itertools.combinations(nodes, size):
            entering = np.isin(head, inside) & ~np.isin(tail, inside)
            if period * int(topology.capacity[entering].sum()) < chunks - sum(held[node] for node in inside):
                return False
    return True


@pytest.mark.parametrize("kind", ["all-gather", "reduce-scatter"])
@pytest.mark.parametrize("topology", [parse_topology("mesh:1x4"), parse_topology("mesh:2x2"), ONE_WAY], ids=["path", "mesh", "own"])
def test_the_most_chunks_of_any_shares(topology, kind):
    """Against every vector of shares there is."""
    free, turned = FreeRoots(topology, parse_collective(kind)), kind == "reduce-scatter"
    nodes = len(topology.kind)
    for period in (1, 2):
        for chunks in range(1, 9):
            every = (held for held in itertools.product(range(chunks + 1), repeat=nodes) if sum(held) == chunks)
            possible = any(fits(topology, chunks, period, held, turned=turned) for held in every)
            found = free.shares(chunks, period)
            assert (found is not None) == possible, (chunks, period)
            if found is not None:
                assert found.sum() == chunks
                assert fits(topology, chunks, period, tuple(found.tolist()), turned=turned)


@pytest.mark.parametrize("kind", ["all-gather", "reduce-scatter"])
@pytest.mark.parametrize("topology", [parse_topology("mesh:1x4"), parse_topology("mesh:2x3"), ONE_WAY], ids=["path", "mesh", "own"])
def test_the_bound_on_any_shares_is_the_best_of_all_subpartitions(topology, kind):
    """Every way to put nodes into sets or none; and the rate of the bound is reached with some shares."""
    collective, nodes = parse_collective(kind), len(topology.kind)
    values = []
    for part in itertools.product(range(nodes + 1), repeat=nodes):  # 0: in no set; a set is named by its first node
        sets = [[node for node in range(nodes) if part[node] == name] for name in range(1, nodes + 1)]
        if [inside[0] + 1 for inside in sets if inside] == [name for name in range(1, nodes + 1) if name in part] and max(part):
            sets = [inside for inside in sets if inside]
            if len(sets) > 1:
                values.append(Fraction(make_bound(Instance(topology, collective), "subpartition", {"sets": sets})["value"]))
    bound = Fraction(shares_bound(topology, collective)["value"])
    assert bound == max(values)
    free = FreeRoots(topology, collective)
    assert free.shares(bound.denominator, bound.numerator) is not None
    assert free.shares(101 * bound.denominator, 100 * bound.numerator) is None


def test_the_report_says_what_any_shares_allow():
    """On a damaged torus 8/33 is the best of the shares taken, and not of all."""
    asked = ("synthesize", "torus:4x4,without-link=0-1", "--collective", "all-gather", "--method", "free-shares", "--size", "64MiB")
    told = certree(*asked).out
    assert "bound 8/33 (cut, stated shares): optimal" in told
    assert re.search(r"with any shares: bandwidth time ≥ \S+ \(\S+\) M/B: gap [0-9.]+ %", told)
    assert (
        "bandwidth time: 0.375 (3/8) M/B, bound 0.375 (3/8, subpartition): optimal"
        in certree(*asked[:1], "mesh:4x4", *asked[2:]).out
    )


@pytest.mark.parametrize(
    ("spec", "time", "equal"),
    [("mesh:4x4", "3/8", "15/32"), ("mesh:8x8", "3/8", "63/128"), ("torus:4x4", "15/64", "15/64"), ("mesh:1x4", "1/2", "3/4")],
)
def test_the_rate_of_long_messages(spec, time, equal):
    """A mesh's four corners together hold back less than one with an equal share; on a torus nothing is gained."""
    for kind in ("all-gather", "reduce-scatter")[: 1 if spec == "mesh:8x8" else 2]:
        made = make("free-shares", spec, kind, message_bytes=1 << 26)
        verdict = verify_schedule(made)
        assert verdict.valid
        assert verdict.quality.bandwidth_time <= Fraction(time) * Fraction(101, 100)
        assert spec.startswith("torus") or verdict.quality.bandwidth_time < Fraction(equal)


def test_the_corners_root_what_they_cannot_receive():
    made = make("free-shares", "mesh:4x4", "all-gather", message_bytes=1 << 26)
    held = np.bincount(made.chunk_root, minlength=16)
    assert (held[[0, 3, 12, 15]] * 4 >= made.chunks).all()


@pytest.mark.parametrize("kind", ["all-gather", "reduce-scatter"])
def test_tables_of_unequal_shares_run(kind):
    machine = load_machine("multitree")
    result = run_schedule(lower(make("free-shares", "mesh:3x3", kind, message_bytes=1 << 16), 1 << 16, machine))
    assert result.data_ok
    assert result.cycles == result.closed_form_cycles
    assert not result.late
    assert not result.contention_cycles


def star(*capacities):
    """Endpoints on one switch, their links of these capacities."""
    switch = len(capacities)
    links = [link for node, capacity in enumerate(capacities) for link in ((node, switch, capacity), (switch, node, capacity))]
    return switched("e" * switch + "s", links)


@pytest.mark.parametrize(
    ("topology", "time", "kind"),
    [
        (star(1, 4, 4, 4), "1/2", "all-gather"),
        (star(1, 4, 4, 4), "1/2", "reduce-scatter"),
        (star(1, 1, 3, 3, 3), "1/2", "reduce-scatter"),
        (parse_topology("tree:3+4@10"), "6/7", "all-gather"),
        (parse_topology("dgx2"), "5/32", "all-gather"),
    ],
    ids=["star", "star backwards", "two slow", "tree", "dgx2"],
)
def test_shares_through_switches(topology, time, kind):
    """A slow endpoint roots half of the message; with equal shares it receives three or four parts of it by one link."""
    bound = shares_bound(topology, parse_collective(kind))
    assert check_bound(Instance(topology, parse_collective(kind)), bound) == Fraction(time)
    made = make("free-shares", topology, kind, message_bytes=1 << 22)
    verdict = verify_schedule(made)
    assert verdict.valid, verdict.violations
    assert made.bandwidth_time <= Fraction(time) * Fraction(16, 15)
    if topology.name == "hand-made":
        assert made.bandwidth_time == Fraction(time)


@given_at_least(10, both_ways(3, least=3, switches=2))
@examples(12)
def test_bounds_on_any_shares_through_switches_are_bounds(topology):
    """Every way to put the nodes of small networks into sets or none; the search need not find the best, and mostly does."""
    of, values, nodes = Instance(topology, parse_collective("all-gather")), [], range(len(topology.kind))
    for part in itertools.product(range(4), repeat=len(nodes)):
        sets = [[node for node in nodes if part[node] == name] for name in (1, 2, 3)]
        with contextlib.suppress(WitnessError):
            values.append(Fraction(make_bound(of, "subpartition", {"sets": [inside for inside in sets if inside]})["value"]))
    bound = Fraction(shares_bound(topology, of.collective)["value"])
    assert bound <= max(values)
    return bound == max(values)
