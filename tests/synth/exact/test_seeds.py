"""Where a search for a frontier starts: symmetric schedules, and copies backwards in time, which are checked like any other."""

import pytest

from certree.models.network.spec import parse_topology
from certree.models.schedule.collective import parse_collective
from certree.synth.exact.frontier import FrontierSearch
from certree.synth.exact.seeds import backwards, mirrored, symmetric_schedules
from certree.synth.method import Monitor
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
    """A torus of 7x7: as many rounds as the bound demands, 48 chunks into a node over 4 links."""
    (schedule,) = symmetric_schedules(parse_topology("torus:7x7"), parse_collective("all-gather"), 1, Monitor())
    assert (schedule.chunks, schedule.steps, schedule.delay) == (49, 12, 1)
    search = FrontierSearch(parse_topology("torus:7x7"), parse_collective("all-gather"), 1, 1, Monitor(), seeds=[schedule])
    assert (1, 12, 12) in search.result.points
    assert not list(symmetric_schedules(parse_topology("mesh:2x3"), parse_collective("all-gather"), 2, Monitor()))
