"""Rankings from rows: the order, its reasons, and networks without results."""

from dataclasses import replace
from fractions import Fraction

import pytest

from certree.api.settings import machine_for
from certree.extras.designs.make.ranking import Known, rank
from certree.extras.designs.model.bill import bill_of
from certree.extras.designs.model.network_costs import load_network_costs
from certree.extras.designs.model.rows import COLUMNS
from certree.extras.designs.model.structure import structure_of
from certree.models.network.spec import parse_topology

NETWORKS = ("ring:4", "full:4")


def row(network, size, seconds, **more):
    """A cell of the grid with that time, or without one."""
    found = dict.fromkeys(COLUMNS) | {"part": "grid", "network": network, "collective": "all-reduce", "size_bytes": size}
    if seconds is None:
        return found | {"status": "failed", "message": "its process was ended"} | more
    exact = Fraction(seconds)
    return found | {"status": "valid", "time_seconds_exact": str(exact), "seconds": float(exact)} | more


def known(rows):
    topologies = {name: parse_topology(name) for name in NETWORKS}
    costs = load_network_costs("assumed-200g")
    bills = {name: bill_of(one, machine_for(one, None), costs) for name, one in topologies.items()}
    return Known(rows, {name: structure_of(one, machine_for(one, None)) for name, one in topologies.items()}, bills, "USD")


def order(found):
    return [place.network for place in found.places]


def test_cost_turns_the_order():
    """The full mesh is 1.2 times as fast and 1.5 times as dear."""
    facts = known([row("ring:4", 1024, "6/5"), row("full:4", 1024, "1")])
    assert order(rank(facts, "endpoints", "x")) == ["full:4", "ring:4"]
    by_cost = rank(facts, "cost", "x")
    assert order(by_cost) == ["ring:4", "full:4"]
    ratio = facts.bills["ring:4"].cost / facts.bills["full:4"].cost * Fraction(6, 5)
    assert by_cost.places[1].score == float(ratio)
    assert by_cost.places[0].reasons[1] == "It is the fastest in 0 of 1 cell without the factor of cost."
    assert by_cost.places[0].reasons[0].startswith(f"ring:4 is first: it takes {float(ratio):.2f} of the time for the same cost")


def test_exact_times_decide():
    """Times that are the same as floats."""
    near = Fraction(1) + Fraction(1, 10**30)
    facts = known([row("ring:4", 1024, near), row("full:4", 1024, 1)])
    assert order(rank(facts, "endpoints", "x")) == ["full:4", "ring:4"]
    facts = known([row("ring:4", 1024, 1), row("full:4", 1024, near)])
    assert order(rank(facts, "endpoints", "x")) == ["ring:4", "full:4"]


def test_a_tie_is_for_the_cheaper_one():
    facts = known([row("full:4", 1024, 1), row("ring:4", 1024, 1)])
    places = rank(facts, "endpoints", "x").places
    assert [place.reasons[0] for place in places] == [
        "ring:4 is first: it takes the same time as full:4, the next one, in the geometric mean over 1 cell and costs less.",
        "full:4 takes the same time as ring:4, the first one, in the geometric mean over 1 cell.",
    ]


def test_cells_that_all_have_decide():
    rows = [row("ring:4", 1024, 1), row("ring:4", 2048, 1), row("full:4", 1024, 2), row("full:4", 2048, None)]
    found = rank(known(rows), "endpoints", "x")
    assert (order(found), found.cells) == (["ring:4", "full:4"], 1)
    assert found.basis == "1 of 2 cells decides"
    assert found.places[1].reasons[1] == "1 of its cells has no result (failed)."
    rows[0]["time_source"] = "closed form"
    assert rank(known(rows), "endpoints", "x").basis == "1 of 2 cells decides; 1 of 2 times is a closed form"


def test_products_of_many_cells_are_beyond_floats():
    rows = [row(name, 1024 + size, time) for size in range(200) for name, time in (("ring:4", "1/1000"), ("full:4", 10))]
    found = rank(known(rows), "endpoints", "x")
    assert found.places[1].score == pytest.approx(1e-4)
    assert found.places[1].reasons[0].startswith("full:4 takes 10000.00 times the time of ring:4")


def test_a_network_without_results_is_last_with_its_reason():
    found = rank(known([row("ring:4", 1024, None), row("full:4", 1024, 2)]), "endpoints", "x")
    assert (order(found), found.places[1].score) == (["full:4", "ring:4"], None)
    assert found.places[1].reasons[0] == (
        "ring:4 has no place: 1 cell has no result; the first one is failed: its process was ended."
    )


def test_sentences_of_failures_and_training():
    rows = [row("ring:4", 1024, 1), row("full:4", 1024, 1)]
    rows += [
        row("ring:4", 1024, time, part="failures", dead_links=dead, method="multitree") for dead, time in ((0, 1), (1, 2), (1, 4))
    ]
    rows.append(
        row(
            "ring:4",
            1024,
            1,
            part="training",
            workload="w",
            iteration_seconds=0.5,
            iteration_seconds_exact="1/2",
            exposed_seconds=0.1,
        )
    )
    words = " ".join(rank(known(rows), "endpoints", "x").places[0].reasons)
    assert (
        "With 1 dead link all-reduce of 1 KiB takes 3.00 times as long in the median of 2 draws, 4.00 times in the worst" in words
    )
    assert "An iteration of w takes 500 ms, of which 20% is exposed communication." in words


def test_sensitivity_compares_a_collective_with_itself():
    rows = [row("ring:4", 1024, 1), row("full:4", 1024, 1)]
    for collective, base in (("all-gather", 1), ("broadcast@0", 8)):
        for factor in (1.0, 2.0):
            more = {"part": "sensitivity", "rate_factor": factor, "latency_factor": 1.0, "collective": collective, "method": "ring"}
            rows.append(row("ring:4", 1024, Fraction(base) / int(factor), **more))
    words = " ".join(rank(known(rows), "endpoints", "x").places[0].reasons)
    assert "2 times the link rate takes 0.50 of the time of all-gather of 1 KiB, by ring." in words
    assert "2 times the link rate takes 0.50 of the time of broadcast@0 of 1 KiB, by ring." in words


def test_different_numbers_of_endpoints_are_stated():
    facts = known([row("ring:4", 1024, 1), row("full:4", 1024, 2)])
    larger = replace(facts, structures=facts.structures | {"ring:4": replace(facts.structures["ring:4"], endpoints=8)})
    reasons = [place.reasons[0] for place in rank(larger, "cost", "x").places]
    assert reasons[0].startswith("ring:4 (8 endpoints) is first: it takes ")
    assert " of full:4 (4 endpoints), the next one" in reasons[0]


def test_without_any_result():
    facts = replace(known([]), rows=[])
    assert [place.score for place in rank(facts, "endpoints", "x").places] == [None, None]
