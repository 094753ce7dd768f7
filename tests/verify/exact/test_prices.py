"""Prices of links by step: what they prove is true, and nothing else is taken for proof."""

import random
from fractions import Fraction
from itertools import product

import pytest

from certree.models.network.spec import parse_topology
from certree.models.schedule.collective import parse_collective
from certree.synth.exact.price_search import best_prices
from certree.verify.exact.question import Question
from certree.verify.exact.refutations.prices import NEVER, Trees, payments, rounds_per_chunk
from certree.verify.exact.refutations.refutation import check_refutation
from certree.verify.exact.rup import ProofError
from tests.verify.exact.small import GRAPHS, barbell, network
from tests.verify.exact.trusted import answer

DGX1 = Question(parse_topology("dgx1"), parse_collective("all-gather"), 1, 2, 2)


def question(topology, kind: str, point=(1, 2, 2)) -> Question:
    root = 0 if kind in ("broadcast", "scatter", "gather", "reduce") else None
    return Question(parse_topology(topology) if isinstance(topology, str) else topology, parse_collective(kind, root), *point)


@pytest.mark.parametrize("graph", GRAPHS, ids=lambda graph: graph.name)
@pytest.mark.parametrize("kind", ["all-gather", "broadcast", "reduce-scatter", "all-to-all"])
def test_no_schedule_takes_fewer_rounds(graph, kind: str) -> None:
    for steps in (1, 2):
        found = best_prices(question(graph, kind, (1, steps, steps)))
        for chunks in (1, 2):
            asked = [question(graph, kind, (chunks, steps, steps + more)) for more in range(5)]
            fewest = next((one.rounds for one in asked if answer(one)), None)
            assert fewest is None or found is None or fewest >= chunks * found[0]


@pytest.mark.parametrize(
    ("topology", "kind", "steps", "rate"),
    [
        ("dgx1", "all-gather", 2, Fraction(3, 2)),
        ("dgx1", "all-gather", 3, Fraction(7, 6)),
        ("ring:4", "all-gather", 2, Fraction(3, 2)),
        ("hypercube:3", "reduce-scatter", 3, Fraction(7, 3)),
        ("switch:4", "all-gather", 1, Fraction(3)),
        ("ring:5", "all-to-all", 2, Fraction(3)),
        (barbell(3), "all-gather", 4, Fraction(11, 3)),
    ],
)
def test_the_best_prices(topology, kind: str, steps: int, rate: Fraction) -> None:
    found = best_prices(question(topology, kind, (1, steps, steps)))
    assert found[0] == rate
    assert rounds_per_chunk(question(topology, kind), found[1]) == rate


def test_where_prices_say_nothing() -> None:
    assert best_prices(question("ring:4", "all-reduce")) is None
    assert best_prices(question("ring:8", "all-gather")) is None  # too few steps for anything
    assert best_prices(question("torus:4x4", "all-gather", (1, 4, 4))) is None  # too many sets of nodes


def cheapest(asked: Question, demand, price) -> int:
    """The price of the cheapest tree, by every way to choose for each node when and from where it gets the chunk."""
    others = [cell for cell in asked.cells if cell != demand.source]
    routes = [None, *[(step, arc) for step in range(asked.steps) for arc in asked.arcs]]
    best = NEVER
    for chosen in product(*[[route for route in routes if route is None or route[1].dst == cell] for cell in others]):
        since = {demand.source: 0} | {cell: route[0] + 1 for cell, route in zip(others, chosen, strict=True) if route}
        moves = [route for route in chosen if route]
        if all(target in since for target in demand.targets) and all(since.get(arc.src, 99) <= step for step, arc in moves):
            best = min(best, sum(price[step][pair] for step, arc in moves for pair in arc.pairs))
    return best


@pytest.mark.parametrize("kind", ["all-gather", "all-to-all", "broadcast"])
def test_the_cheapest_trees_are_cheapest(kind: str) -> None:
    draw = random.Random(7)
    for graph in [*(graph for graph in GRAPHS if len(graph.src) <= 8), network([(0, 3), (1, 3), (2, 3)], switches=[3])]:
        asked = question(graph, kind)
        price = [[draw.randrange(9) for _ in graph.pair_capacity] for _ in range(2)]
        trees = Trees(asked, price)
        for demand in asked.demands:
            assert trees.cost(demand) == cheapest(asked, demand, price)
            if trees.cost(demand) < NEVER:
                paid = [min(sum(price[step][p] for p in arc.pairs) for arc in asked.arcs if (arc.src, arc.dst) == (src, dst))
                        for step, src, dst in trees.cheapest(demand)]  # fmt: skip
                assert sum(paid) == trees.cost(demand)


def refused(asked: Question, proof) -> str:
    with pytest.raises(ProofError) as error:
        check_refutation(asked, proof)
    return error.value.rule


def test_prices_refute_what_they_show_and_no_more() -> None:
    rows = best_prices(DGX1)[1]
    check_refutation(DGX1.at((3, 2, 4)), {"kind": "prices", "price": rows})
    assert refused(DGX1.at((2, 2, 3)), {"kind": "prices", "price": rows}) == "proof-weak"
    assert refused(DGX1.at((3, 3, 4)), {"kind": "prices", "price": rows}) == "proof-malformed"  # for two steps
    cheaper = [[0] * len(rows[0]), rows[1]]
    assert refused(DGX1.at((3, 2, 4)), {"kind": "prices", "price": cheaper}) == "proof-weak"
    paid, earned = payments(DGX1, rows)
    assert Fraction(paid, max(earned)) == Fraction(3, 2)


@pytest.mark.parametrize(
    "change",
    [
        lambda rows: rows[:1],
        lambda rows: [rows[0], rows[1][:-1]],
        lambda rows: [rows[0], [-1, *rows[1][1:]]],
        lambda rows: [rows[0], [True, *rows[1][1:]]],
        lambda rows: [rows[0], [1 << 40, *rows[1][1:]]],
        lambda rows: [rows[0], "prices"],
        lambda rows: None,
    ],
)
def test_what_is_no_list_of_prices(change) -> None:
    assert refused(DGX1.at((3, 2, 4)), {"kind": "prices", "price": change(best_prices(DGX1)[1])}) == "proof-malformed"


def test_prices_of_what_they_say_nothing_about() -> None:
    ring, torus = question("ring:4", "all-reduce"), question("torus:4x4", "all-gather")
    assert refused(ring, {"kind": "prices", "price": [[1] * 8] * 2}) == "proof-foreign"
    assert refused(torus, {"kind": "prices", "price": [[1] * 64] * 2}) == "proof-foreign"
    assert refused(DGX1.at((1, 2, 2)), {"kind": "prices", "price": [[1] * 48] * 2, "more": 1}) == "proof-malformed"
