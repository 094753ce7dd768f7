"""The best schedules along trees: against every tree of three servers, one by one; their schedules are valid and take as long."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from certree.extras.costs.make.along_trees import TreeSearch
from certree.extras.costs.make.priced_trees import NEVER, Costs, cheapest
from certree.extras.costs.model.flows.least import least_seconds
from certree.extras.costs.model.flows.time import Reading, schedule_time
from certree.extras.costs.model.formulas.genmodel import load_genmodel
from certree.models.common.errors import UnsupportedError
from certree.models.network.spec import parse_topology
from certree.models.schedule.schedule_columns import Op
from certree.verify.checker import verify_schedule
from tests.verify.build import build

MODEL = load_genmodel("gentree")
FLOATS = Fraction(10**7)


def sums(count, root, last):
    """Every way to sum up at the root by the end of step `last`: of every other server where it sends its sum, and when."""
    others = [server for server in range(count) if server != root]
    for targets in product(range(count), repeat=len(others)):
        for at in product(range(last), repeat=len(others)):
            parent, when = dict(zip(others, targets, strict=True)), dict(zip(others, at, strict=True))
            if all(parent[one] != one for one in others) and all(later(one, parent, when, root) for one in others):
                yield parent, when


def later(one, parent, when, root):
    """Whether each server between it and the root sends after it has received."""
    seen = set()
    while one != root:
        above = parent[one]
        if one in seen or (above != root and when[above] <= when[one]):
            return False
        seen.add(one)
        one = above
    return True


def paid(parent, when, costs, *, reverse=False):
    """The cost of a tree of sums, or, in reversed steps, of copies."""
    total, added = 0, set()
    for one, above in parent.items():
        step = costs[len(costs) - 1 - when[one] if reverse else when[one]]
        total += step.link[above, one] if reverse else step.link[one, above]
        if not reverse:
            total += step.more[above] if (above, when[one]) in added else step.first[above]
            added.add((above, when[one]))
    return total


def test_the_cheapest_tree_is_the_cheapest_of_all():
    draw = np.random.default_rng(7)
    for steps in (2, 3, 4):
        costs = []
        for _ in range(steps):
            link = draw.integers(1, 50, (3, 3)).astype(float)
            link[draw.random((3, 3)) < 0.2] = NEVER
            np.fill_diagonal(link, NEVER)
            costs.append(Costs(link, draw.integers(1, 9, 3).astype(float), draw.integers(0, 3, 3).astype(float)))
        found = min((one.cost for one in cheapest(costs)), default=NEVER)
        every = [
            paid(*down, costs) + paid(*up, costs, reverse=True)
            for root in range(3)
            for last in range(1, steps)
            for down in sums(3, root, last)
            for up in sums(3, root, steps - last)
        ]
        assert found == min(every)
        for one in cheapest(costs):
            assert len(one.tree.sums) == len(one.tree.copies) == 2


@pytest.mark.parametrize(("network", "steps", "trees"), [("tree:2x2", 2, 4), ("ss:4", 2, 4), ("tree:2+1", 2, 3)])
def test_the_best_is_a_valid_schedule_that_takes_as_long(network, steps, trees):
    """Equal shares are chunks; the flow-level model times the schedule."""
    topology = parse_topology(network)
    found = TreeSearch(topology, MODEL).best(FLOATS).best
    assert (len(found.start_ups), len(found.shares)) == (steps, trees)
    assert {share for share, _ in found.shares} == {Fraction(1, trees)}
    servers = topology.endpoints.tolist()
    rows = []
    for chunk, (_, tree) in enumerate(found.shares):
        rows += [(chunk, Op.REDUCE, step, servers[src], servers[dst]) for step, src, dst in tree.sums]
        rows += [(chunk, Op.COPY, step, servers[src], servers[dst]) for step, src, dst in tree.copies]
    schedule = build(topology, "all-reduce", rows, **routed(topology, rows))
    assert verify_schedule(schedule).valid
    assert schedule_time(schedule, MODEL, FLOATS, Reading("busiest")).seconds == found.seconds(FLOATS)


def routed(topology, rows):
    from certree.models.network.routing import routes_between

    src, dst = (np.array([row[column] for row in rows]) for column in (3, 4))
    route, routes = routes_between(topology, src, dst)
    load = {}
    for (_, _, step, *_), number in zip(rows, route.tolist(), strict=True):
        for link in routes[number]:
            load[step, link] = load.get((step, link), 0) + 1
    most = [max(count for (at, _), count in load.items() if at == step) for step in range(max(row[2] for row in rows) + 1)]
    return {"route": route.tolist(), "routes": routes, "rounds": most}


def test_bounds():
    """The proof is within a millionth of the best found, not above it, and not below the bound on schedules of any kind."""
    for network, floats in product(("tree:2x2", "tree:2+1", "tree:2+3"), map(Fraction, (10**6, 10**8))):
        topology = parse_topology(network)
        found = TreeSearch(topology, MODEL).best(floats)
        seconds = found.best.seconds(floats)
        assert seconds * (1 - Fraction(1, 10**6)) < found.at_least <= seconds
        assert found.at_least >= least_seconds(topology, MODEL, floats).seconds


def test_prices_are_weights():
    found = TreeSearch(parse_topology("tree:2+1"), MODEL).best(FLOATS).best
    for row in (*found.prices.links, *found.prices.servers):
        assert sum(row) <= 1
        assert min(row) >= 0


def test_too_many_servers():
    with pytest.raises(UnsupportedError, match="trees are searched for up to 8 servers that add up, too few for incast"):
        TreeSearch(parse_topology("ss:9"), MODEL)
