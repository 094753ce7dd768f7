"""Orders of the levels of GenTree's plans, and one kind of plan in a network."""

from fractions import Fraction

import numpy as np
import pytest

from certree.extras.costs.model.formulas.genmodel import load_genmodel
from certree.extras.costs.model.profile import factored_profile
from certree.extras.papers.experiments.costs.ordered_levels import Ordered
from certree.models.network.spec import parse_topology
from tests.cli.running import certree
from tests.extras.papers.cells import cells_of, published


def load_of(topology, flows):
    """The most that a link between two switches carries, in vectors."""
    between = np.zeros(len(topology.pair_src), np.int64)
    np.add.at(between, flows.hop_pair, flows.parts[flows.hop_flow])
    servers = len(topology.endpoints)
    inner = (topology.pair_src >= servers) & (topology.pair_dst >= servers)
    return Fraction(int(between[inner].max(initial=0)), flows.shares)


@pytest.mark.parametrize(
    ("steps", "uplinks"),
    [
        ([("middle", 0), ("root", 0)], [0, "1/2"]),  # a sum of the four servers, half of it
        ([("root", 0), ("middle", 0)], ["2", 0]),  # half of four vectors
        ([("middle", 2), ("root", 0), ("middle", 0)], [0, "1", 0]),
    ],
)
def test_what_passes_the_uplinks_by_order(steps, uplinks):
    """Every server adds up its share of the vector, in any order; the all-gather is the reversal."""
    topology = parse_topology("tree:2x4@10")
    flows = Ordered(topology).all_reduce(steps)
    assert [load_of(topology, step) for step in flows] == list(map(Fraction, uplinks + uplinks[::-1]))
    assert sum(step.additions.sum() for step in flows) == 7 * 8
    assert all((there.src == back.dst).all() for there, back in zip(flows, reversed(flows), strict=True))


def test_unequal_switches_lose_nothing():
    """Each block is added up from the terms of all eight servers, whichever level comes first."""
    tree = Ordered(parse_topology("tree:4+2+2"))
    for levels in (["middle", "root"], ["root", "middle"]):
        flows = tree.all_reduce([(level, 0) for level in levels])
        assert sum(step.additions.sum() for step in flows) == 7 * 8


def test_orders_on_the_first_tree():
    """With the root first SYM384 at 1e7 floats is 11.3 % below the table, not 43.4 %."""
    cells = cells_of("gentree-table7-orders", "--smoke")
    found = {row: round(float(Fraction(cell["ours"])), 3) for (row, column), cell in cells.items() if column == "1e7"}
    assert found["middle, root, crossing: SYM384 GenTree"] == -0.434
    assert found["root, middle, crossing: SYM384 GenTree"] == -0.113
    assert cells["nearest", "largest, all lines"]["ours"] == "root, middle, crossing"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (('"root 8"', '"root x"'), "steps has 'root x'; expected one of middle, root, crossing"),
        (('name = "SYM384 GenTree"', 'name = "SYM385"'), "name is 'SYM385'; expected a row whose times gentree-table7 states"),
        (('floats = ["1e7", "3.2e7", "1e8"]', 'floats = ["1e7"]'), "plans has 3 entries for 1 floats"),
    ],
)
def test_wrong_plans(tmp_path, change, message):
    outcome = certree("reproduce", published(tmp_path, "gentree-table7-orders", change))
    assert outcome.code == 2
    assert message in outcome.err


def test_one_kind_of_plan_gives_table_6():
    cells = cells_of("gentree-table6-one-kind")
    assert len(cells) == 42
    assert all(cell["agrees"] and cell["fitted"] for cell in cells.values())


def test_the_least_sum_gives_table_6_too():
    """CPS at every switch beyond the threshold or at none, by the sum of their costs, each row of a network once."""
    model = load_genmodel("gentree")
    alpha = 3 * Fraction("6.58e-3")

    def seconds(factors, floats):
        return factored_profile(factors).seconds(model.middle, model.server, alpha, Fraction(floats))

    best = {24: (8, 3), 32: (8, 4), 16: (8, 2)}
    networks = {"ss:24": [24], "ss:32": [32], "sym384": [24, 16], "sym512": [32, 16], "asy384": [32, 16], "cdc384": [32, 16]}
    for floats in ("1e7", "3.2e7", "1e8"):
        for network, switches in networks.items():
            direct = sum(seconds((size,), floats) for size in switches) < sum(seconds(best[size], floats) for size in switches)
            assert direct == (floats == "1e7" and network != "ss:32")
