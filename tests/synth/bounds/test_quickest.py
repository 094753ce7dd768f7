"""The flow bound of two ends against maximum flows over time: it is the quickest flow, whichever side is narrow."""

import networkx as nx
import pytest

from certree.models.machine.machine import load_machine
from certree.models.network.spec import parse_topology
from certree.models.schedule.collective import parse_collective
from certree.synth.bounds.quickest import time_bounds
from certree.verify.bounds.instance import Instance
from certree.verify.bounds.timed import TimeInstance, check_time_bound
from tests.verify.bounds.test_shortest_runs import QUICK
from tests.verify.build import network

NETWORKS = ["torus:3x3,without-link=0-1", "mesh:3x4", "mesh:3x3,without-link=0-1", "dgx1", "ace-torus:2x2x2", "leafspine:2x2x2"]


def entered(of: TimeInstance, source: int, sink: int, latest: int) -> int:
    """The most granules that could enter a lane at the sink up to a cycle, if the first enters one at the source in cycle 0."""
    topology, over_time = of.instance.topology, nx.DiGraph()
    ends = [column.tolist() for column in (topology.src, topology.dst, of.hops_towards([sink]), topology.capacity)]
    for cycle in range(latest + 1):
        for node in range(len(topology.kind)):
            over_time.add_edge((node, cycle - 1), (node, cycle))  # without a capacity: any number of granules may stay
        for src, dst, hop, lanes in zip(*ends, strict=True):
            if cycle >= hop:
                first, second = (src, cycle - hop), (dst, cycle)
                before = over_time.get_edge_data(first, second, {"capacity": 0})["capacity"]
                over_time.add_edge(first, second, capacity=before + lanes)
    return int(nx.maximum_flow_value(over_time, (source, -1), (sink, latest)))


@pytest.mark.parametrize("spec", NETWORKS)
@pytest.mark.parametrize("granules", [1, 7, 26])
def test_labels_prove_the_quickest_flow(spec: str, granules: int) -> None:
    topology = parse_topology(spec)
    of = TimeInstance(Instance(topology, parse_collective("broadcast", 1)), granules, QUICK)
    (bound,) = (one for one in time_bounds(of) if one["kind"] == "flow")
    (source,), (sink,) = bound["witness"]["from"], bound["witness"]["to"]
    latest = check_time_bound(of, bound) - of.first - of.leave
    assert entered(of, source, sink, latest - 1) < granules <= entered(of, source, sink, latest)


def test_a_root_with_fewer_links_than_the_others() -> None:
    """8 hops of 153 cycles and 5 before and behind them, a header, a third of 4,097 granules."""
    instance = Instance(parse_topology("torus:8x8,without-link=0-1"), parse_collective("broadcast", 1))
    of = TimeInstance(instance, 65537, load_machine("multitree"))
    (flow,) = (one for one in time_bounds(of) if one["kind"] == "flow")
    assert check_time_bound(of, flow) == 5 + 1 + 8 * 153 + -(-4097 // 3)


@pytest.mark.parametrize("collective", ["broadcast", "reduce"])
def test_a_switch_with_links_of_one_direction(collective: str) -> None:
    """No path leads to it, or from it: the bound is the same, that of the line of endpoints."""
    line, values = [(0, 1, 1), (1, 0, 1), (1, 2, 1), (2, 1, 1)], []
    for loose in [(0, 3, 1), (1, 3, 1)], [(3, 0, 1), (3, 1, 1)]:
        of = TimeInstance(Instance(network("eees", line + loose), parse_collective(collective, 0)), 100, QUICK)
        (flow,) = (one for one in time_bounds(of) if one["kind"] == "flow")
        values.append(check_time_bound(of, flow))
    assert values[0] == values[1]


@pytest.mark.parametrize("collective", ["broadcast", "reduce"])
def test_a_switch_that_no_link_leads_to_beside_the_path(collective: str) -> None:
    """The link to a switch beyond the path changes no bound, however near the ends are."""
    path, values = [(0, 2, 1), (2, 0, 1), (1, 2, 1), (2, 1, 1), (2, 3, 1), (3, 2, 1)], []
    for kinds, loose in ("eess", []), ("eesss", [(4, 3, 1)]):
        of = TimeInstance(Instance(network(kinds, path + loose), parse_collective(collective, 0)), 64, load_machine("multitree"))
        (flow,) = (one for one in time_bounds(of) if one["kind"] == "flow")
        values.append(check_time_bound(of, flow))
    assert values[0] == values[1]
