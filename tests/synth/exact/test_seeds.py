"""Where a search for a frontier starts: symmetric schedules, and copies backwards in time, which are checked like any other."""

import pytest

import certree.api as ct
from certree.models.network.spec import parse_topology
from certree.models.schedule.collective import parse_collective
from certree.synth.exact.frontier_search import FrontierSearch
from certree.synth.exact.seeds import backwards, mirrored, symmetric_schedules
from certree.synth.monitor import Monitor
from certree.verify.checker import verify_schedule
from certree.verify.frontier.answers import rounds_of
from tests.synth.execution import make


@pytest.mark.parametrize(
    ("spec", "kind", "root", "method"),
    [("ring:5", "reduce-scatter", None, "multitree"), ("dgx1", "reduce-scatter", None, "multitree"),
     ("mesh:3x3", "reduce", 4, "binomial"), ("cayley:7@>1+>3", "reduce-scatter", None, "multitree"),
     ("ring:8", "reduce-scatter", None, "halving-doubling"), ("fattree:2x2", "reduce-scatter", None, "ring")],
)  # fmt: skip
def test_backwards(spec, kind, root, method):
    """On the network turned round, with routes and with copies that come twice: valid, as many steps and rounds."""
    topology, collective = parse_topology(spec), parse_collective(kind, root)
    turned, copying = mirrored(topology, collective)
    forward = make(method, turned, str(copying.kind), root=copying.root)
    found = backwards(forward, topology, collective)
    assert verify_schedule(found).valid, verify_schedule(found)
    assert (found.steps, rounds_of(found)) == (forward.steps, rounds_of(forward))


def test_only_sums_are_turned_round():
    topology = parse_topology("ring:4")
    assert mirrored(topology, parse_collective("all-gather")) is None
    assert mirrored(topology, parse_collective("all-reduce")) is None
    assert mirrored(topology, parse_collective("reduce", 2))[1] == parse_collective("broadcast", 2)


def test_reduce_scatter_starts_from_all_gather():
    """All points of the copying collective, each found again without a search."""
    topology, sums = parse_topology("dgx1"), parse_collective("reduce-scatter")
    copying = FrontierSearch(*mirrored(topology, sums), 3, 1, Monitor())
    copying.run()
    seeds = [backwards(schedule, topology, sums) for schedule in copying.result.points.values()]
    search = FrontierSearch(topology, sums, 3, 1, Monitor(), seeds=seeds)
    assert set(search.result.points) == set(copying.result.points)


def test_symmetric():
    """A torus of 7x7: as many rounds as the bound demands, 48 chunks into a node over 4 links, in as few steps as hops."""
    layered, plain = symmetric_schedules(parse_topology("torus:7x7"), parse_collective("all-gather"), 1, Monitor())
    assert (layered.chunks, layered.steps, rounds_of(layered), layered.delay) == (49, 6, 12, 1)
    assert (plain.chunks, plain.steps, plain.delay) == (49, 12, 1)
    search = FrontierSearch(parse_topology("torus:7x7"), parse_collective("all-gather"), 1, 1, Monitor(), seeds=[plain, layered])
    assert list(search.result.points) == [(1, 6, 12)]
    assert not list(symmetric_schedules(parse_topology("mesh:2x3"), parse_collective("all-gather"), 2, Monitor()))


@pytest.mark.parametrize(("collective", "sides"), [("all-gather", "8x8"), ("reduce-scatter", "6x6")])
def test_frontiers_of_tori_are_decided(collective, sides):
    """Without a search: every point meets a bound, for any number of chunks."""
    found = ct.frontier(f"torus:{sides}", collective, max_chunks=4)
    far, rounds = {"8x8": (8, 63), "6x6": (6, 35)}[sides]
    assert found.points == [(1, far, -(-rounds // 4)), (4, far, rounds)]
    assert found.complete
    assert found.verdict.document["all_chunks"]
