"""The page of predictions next to measurements."""

from fractions import Fraction
from pathlib import Path

import pytest

from tools.tables.predictions import HEAD, MEASURED, TAIL, row

PAGE = (Path(__file__).parents[4] / "docs/benchmarks/predictions.md").read_text()


@pytest.mark.parametrize("measured", [one for one in MEASURED if one.method.startswith("ring")], ids=lambda one: one.what)
def test_quick_rows(measured):
    assert row(measured) in PAGE, "`python -m tools.tables.predictions > docs/benchmarks/predictions.md` writes the table anew"


def test_every_measurement_is_on_the_page():
    assert PAGE.startswith(HEAD)
    assert PAGE.endswith(TAIL)
    assert all(f"| {measured.what} | {measured.size} | {measured.source} |" in PAGE for measured in MEASURED)


def test_the_bus_bandwidth_of_nccl_tests():
    """2 (n - 1) / n of the size over the time."""
    ring = MEASURED[0]
    assert ring.seconds() == Fraction(14, 8) * 4 * 2**30 / (370 * 10**9)
