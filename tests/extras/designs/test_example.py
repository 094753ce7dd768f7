"""The example of the documentation: its table is what certree computes, and its page says what the table says."""

import random
from fractions import Fraction
from pathlib import Path

import pytest

import certree.api as ct
from certree.extras.designs.model.rows import read_rows
from certree.extras.designs.run.running import read_compared

ROOT = Path(__file__).parents[3]
TABLE = ROOT / "examples" / "designs-cells.csv"
DRAWN = {"grid": 4, "failures": 6}


def drawn():
    """Ten cells at random, the same on every day."""
    rows, generator = read_rows(TABLE.read_text()), random.Random(49)
    return [row for part, count in DRAWN.items() for row in generator.sample([row for row in rows if row["part"] == part], count)]


@pytest.mark.parametrize("row", drawn(), ids=lambda row: f"{row['drawn']} {row['size_bytes']} {row['method']}")
def test_cells_are_those_of_synthesize_bound_and_simulate(row):
    size = row["size_bytes"]
    made = ct.synthesize(row["drawn"], row["collective"], method=row["method"], size=size)
    assert ct.verify(made).valid
    run = ct.simulate(made, size=size)
    assert run.cycles == row["time_cycles"]
    assert run.closed_form_cycles == row["closed_form_cycles"]
    assert Fraction(row["time_seconds_exact"]) == Fraction(run.cycles, 10**9)
    assert row["seconds"] == float(Fraction(run.cycles, 10**9))
    busbw = Fraction(size) / Fraction(row["time_seconds_exact"]) * Fraction(2 * 63, 64)
    assert row["busbw_GBps"] == float(busbw / 10**9)
    bound = ct.bound(row["drawn"], row["collective"], size=size).time_cycles
    if row["part"] == "failures":  # their bounds are the verifier's own, without a search
        assert row["time_bound_cycles"] <= bound
    else:
        assert row["time_bound_cycles"] == bound
    assert bound <= row["time_cycles"]


def test_the_page_says_what_the_table_says():
    found = read_compared(ROOT / "examples" / "designs.toml", TABLE)
    page = (ROOT / "docs" / "how-to" / "designs.md").read_text()
    scores = {(ranking.by, ranking.costs): {one.network: one.score for one in ranking.places} for ranking in found.rankings}
    by_endpoints = scores["endpoints", "assumed-200g"]
    by_cost = [scores["cost", costs] for costs in ("assumed-200g", "assumed-cheap-optics")]
    orders = zip(found.rankings[0].places, found.rankings[1].places, strict=True)
    for first, second in orders:
        one, other = first.network, second.network
        assert f"| {one} | {by_endpoints[one]:.3f} | | {other} | {by_cost[0][other]:.3f} | {by_cost[1][other]:.3f} |" in page
    words = " ".join(page.replace("\n> ", " ").split())
    for reason in found.rankings[0].places[0].reasons[:4]:
        assert reason in words
    assert f"{len(found.rows)} cells" in page
    assert found.counts == {"valid": 555}
